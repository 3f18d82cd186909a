/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keywrite.c - Key-Write and Key-Increment: N operations for a report.
 *
 * Operations stand in the order of the reports, a report's copies side by side.
 * So a later report wins every slot that it shares with an earlier one of the
 * batch, whichever copies meet there.
 */
#include "translate/private.h"

#include "wire/be.h"

/* The most copies that a report of the stage in hand wants. */
static unsigned copies_max(const struct translator *t)
{
	return 31 - (unsigned)__builtin_clz(t->copies_seen | 1);
}

/* Hashes the n keys in t->key: t->slot, and t->sum if wanted. */
static void hash_bucket(struct translator *t, const struct lane *l, unsigned n,
			bool sum)
{
	uint32_t *slot[HASH_COPIES] = {t->slot[0], t->slot[1], t->slot[2],
				       t->slot[3]};

	hash_slots(l->t.hash, copies_max(t), t->key, l->key_len, n, slot,
		   sum ? t->sum : NULL);
}

/* A slot's bytes: checksum, value, zeros to len. The published system keeps
 * its checksum little-endian (wire-facts 2.4). */
static inline void slot_fill(uint8_t *p, const struct lane *l, uint32_t sum,
			     const uint8_t *value, uint32_t value_len,
			     uint32_t len)
{
	uint32_t v = l->t.hash == HASH_DTA0 ? htole32(sum) : htobe32(sum);

	memcpy(p, &v, 4);
	memcpy(p + 4, value, value_len);
	memset(p + 4 + value_len, 0, len - 4 - value_len);
}

/* Reports that are made into operations at once: as many as have room. */
static unsigned block_of(struct translator *t, unsigned n, uint32_t len)
{
	unsigned most = ARENA / ((len + 7) & ~7u);

	if (n > most)
		n = most;
	ops_reserve(t, n * HASH_COPIES, n * (size_t)((len + 7) & ~7u));
	return n;
}

/*
 * Jobs first to end, with counters and cursors in registers. Inlined twice:
 * value_len and len are constants for the usual 8-byte slot.
 */
static inline __attribute__((always_inline)) void
keywrite_block(struct translator *t, const struct lane *l,
	       const struct job *jobs, unsigned first, unsigned end,
	       uint32_t value_len, uint32_t len)
{
	const uint64_t units = l->t.units, stride = l->t.stride;
	struct op *op = &t->op[t->nops];
	uint8_t *p = t->arena + t->used;

	for (unsigned i = first; i < end; i++) {
		const struct job *j = &jobs[i];
		unsigned copies = job_copies(j), c = 0;

		slot_fill(p, l, t->sum[i], j->key + l->key_len, value_len, len);
		do
			*op++ = (struct op){
				.offset = hash_mod(t->slot[c][i], units) *
					  stride,
				.data = p,
				.length = len,
				.table = l->index,
				.verb = OP_WRITE,
			};
		while (++c < copies);
		if (job_immediate(j))
			op_make_immediate(t, l, op - 1, job_sequence(j));
		p += (len + 7) & ~7u;
	}
	t->ctr.bytes += (uint64_t)(op - &t->op[t->nops]) * len;
	t->nops = (unsigned)(op - t->op);
	t->used = (size_t)(p - t->arena);
}

void keywrite_run(struct translator *t, struct lane *l, const struct job *jobs,
		  unsigned n)
{
	uint32_t value_len = l->t.value_len, len = l->write_len;

	hash_bucket(t, l, n, true);
	for (unsigned i = 0, end; i < n; i = end) {
		end = i + block_of(t, n - i, len);
		if (value_len == 4 && len == 8)
			keywrite_block(t, l, jobs, i, end, 4, 8);
		else
			keywrite_block(t, l, jobs, i, end, value_len, len);
	}
}

/*
 * A fetch-and-add carries no immediate (InfiniBand has no such operation), so
 * the flag is without effect here.
 */
void keyinc_run(struct translator *t, struct lane *l, const struct job *jobs,
		unsigned n)
{
	const uint64_t units = l->t.units;
	struct op *op;

	hash_bucket(t, l, n, false);
	ops_reserve(t, n * HASH_COPIES, 0);
	op = &t->op[t->nops];
	for (unsigned i = 0; i < n; i++) {
		const struct job *j = &jobs[i];
		uint64_t add = be64_load(j->key + l->key_len);
		unsigned copies = job_copies(j), c = 0;

		do
			*op++ = (struct op){
				.offset = hash_mod(t->slot[c][i], units) * 8,
				.add = add,
				.length = 8,
				.table = l->index,
				.verb = OP_FETCH_ADD,
			};
		while (++c < copies);
	}
	t->ctr.bytes += (uint64_t)(op - &t->op[t->nops]) * 8;
	t->nops = (unsigned)(op - t->op);
}
