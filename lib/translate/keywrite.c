/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keywrite.c - Key-Write and Key-Increment: N operations for a report.
 *
 * Operations stand in the order of the reports, a report's copies side by side.
 * So a later report wins every slot that it shares with an earlier one of the
 * batch, whichever copies meet there.
 */
#include "translate/private.h"

#include "translate/slot_private.h"
#include "wire/be.h"

/* Whether all jobs want the same N, and no CPU is to be told. */
static bool is_uniform(const struct jobs *j)
{
	return head_copies(j->all) == head_copies(j->any) &&
	       !head_immediate(j->any);
}

/* The most copies that one of the jobs wants. */
static unsigned copies_max(const struct jobs *j)
{
	unsigned max = 1;

	if (is_uniform(j))
		return head_copies(j->any);
	for (unsigned i = 0; i < j->n; i++)
		if (max < head_copies(j->head[i]))
			max = head_copies(j->head[i]);
	return max;
}

void slots_hash(struct translator *t, const struct lane *l,
		const struct jobs *j, bool sum)
{
	uint32_t *slot[HASH_COPIES] = {t->work.slot[0], t->work.slot[1],
				       t->work.slot[2], t->work.slot[3]};

	hash_slots(l->t.hash, copies_max(j), j->key, l->key_len, j->n, slot,
		   sum ? t->work.sum : NULL);
}

/*
 * Jobs first to end. Inlined for each case, so that what is a constant there
 * (lengths, a uniform N) costs nothing.
 */
static inline __attribute__((always_inline)) void
keywrite_block(struct translator *t, const struct lane *l, const struct jobs *j,
	       unsigned first, unsigned end, uint32_t value_len, uint32_t len,
	       unsigned uniform)
{
	const struct hash_units units = hash_units_of(l->t.units);
	const unsigned key_len = l->key_len, stride = l->t.stride;
	const uint8_t *const *key = j->key;
	const uint64_t *heads = j->head;
	struct op *op = &t->made->op[t->made->n];
	uint8_t *p = t->made->arena + t->made->used;

	for (unsigned i = first; i < end; i++) {
		uint64_t head = heads[i];
		unsigned copies = uniform ? uniform : head_copies(head);

		slot_fill(p, l, t->work.sum[i], key[i] + key_len, value_len,
			  len);
		for (unsigned c = 0; c < copies; c++)
			op_fill(op++, l->index,
				hash_mod_of(t->work.slot[c][i], units) * stride,
				p, len);
		if (!uniform && head_immediate(head))
			op_make_immediate(t, l, op - 1, head_sequence(head));
		p += (len + 7) & ~7u;
	}
	t->ctr.bytes += (uint64_t)(op - &t->made->op[t->made->n]) * len;
	t->made->n = (unsigned)(op - t->made->op);
	t->made->used = (size_t)(p - t->made->arena);
}

void keywrite_run(struct translator *t, struct lane *l, const struct jobs *j)
{
	uint32_t value_len = l->t.value_len, len = l->write_len;
	bool usual = value_len == 4 && len == 8;
	unsigned copies = is_uniform(j) ? head_copies(j->any) : 0;

	slots_hash(t, l, j, true);
	for (unsigned i = 0, end; i < j->n; i = end) {
		end = slot_block(t, j, i, len);
		if (usual && copies == 1)
			keywrite_block(t, l, j, i, end, 4, 8, 1);
		else if (usual && copies == 2)
			keywrite_block(t, l, j, i, end, 4, 8, 2);
		else
			keywrite_block(t, l, j, i, end, value_len, len, 0);
	}
}

/*
 * A fetch-and-add carries no immediate (InfiniBand has no such operation), so
 * the flag is without effect here.
 */
void keyinc_run(struct translator *t, struct lane *l, const struct jobs *j)
{
	const struct hash_units u = hash_units_of(l->t.units);
	const unsigned key_len = l->key_len;
	struct op *op;

	slots_hash(t, l, j, false);
	ops_reserve(t, j->n * HASH_COPIES, 0);
	if (t->road->stamped)
		ops_stamp(t, j, 0, j->n, false);
	op = &t->made->op[t->made->n];
	for (unsigned i = 0; i < j->n; i++) {
		uint64_t add = be64_load(j->key[i] + key_len);
		unsigned copies = head_copies(j->head[i]), c = 0;

		do
			*op++ = (struct op){
				.offset = 8 *
					  hash_mod_of(t->work.slot[c][i], u),
				.add = add,
				.length = 8,
				.table = l->index,
				.verb = OP_FETCH_ADD,
			};
		while (++c < copies);
	}
	t->ctr.bytes += (uint64_t)(op - &t->made->op[t->made->n]) * 8;
	t->made->n = (unsigned)(op - t->made->op);
}
