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

/* Inlined twice: value_len and len are constants for the usual 8-byte slot. */
static inline __attribute__((always_inline)) void
keywrite_ops(struct translator *t, const struct lane *l, const struct job *jobs,
	     unsigned n, uint32_t value_len, uint32_t len)
{
	uint64_t units = l->t.units, stride = l->t.stride;

	for (unsigned i = 0; i < n; i++) {
		const struct job *j = &jobs[i];
		unsigned copies = job_copies(j);
		uint8_t *p;

		ops_reserve(t, copies, len);
		p = arena_take(t, len);
		slot_fill(p, l, t->sum[i], j->key + l->key_len, value_len, len);
		for (unsigned c = 0; c < copies; c++)
			op_write(t, l, hash_mod(t->slot[c][i], units) * stride,
				 p, len);
		if (job_immediate(j))
			op_make_immediate(t, l, job_sequence(j));
	}
}

void keywrite_run(struct translator *t, struct lane *l, const struct job *jobs,
		  unsigned n)
{
	hash_bucket(t, l, n, true);
	if (l->t.value_len == 4 && l->write_len == 8)
		keywrite_ops(t, l, jobs, n, 4, 8);
	else
		keywrite_ops(t, l, jobs, n, l->t.value_len, l->write_len);
}

/*
 * A fetch-and-add carries no immediate (InfiniBand has no such operation), so
 * the flag is without effect here.
 */
void keyinc_run(struct translator *t, struct lane *l, const struct job *jobs,
		unsigned n)
{
	uint64_t units = l->t.units;

	hash_bucket(t, l, n, false);
	for (unsigned i = 0; i < n; i++) {
		const struct job *j = &jobs[i];
		uint64_t add = be64_load(j->key + l->key_len);
		unsigned copies = job_copies(j);

		ops_reserve(t, copies, 0);
		for (unsigned c = 0; c < copies; c++)
			t->op[t->nops++] = (struct op){
				.offset = hash_mod(t->slot[c][i], units) * 8,
				.add = add,
				.length = 8,
				.table = l->index,
				.verb = OP_FETCH_ADD,
			};
		t->ctr.bytes += 8ull * copies;
	}
}
