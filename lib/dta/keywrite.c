/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keywrite.c - Key-Write and Key-Increment: N operations for a report; and
 * Key-Write as DART's switches do it: one write for a report.
 *
 * Operations are in the order of the reports, a report's copies adjacent. So a
 * later report overwrites an earlier one in every slot that both use, whichever
 * copies these are.
 *
 * With dart: writes one random copy n in [0, N) to its slot (DART, section 6).
 * Switches report a key repeatedly, which fills its other slots. The copy
 * depends only on the seed and the packet's number: one seed and one capture
 * leave the same memory by every transport, on any number of cores.
 */
#include "dta/private.h"

#include <endian.h>

#include "rdma/message.h"
#include "threads/threads.h"
#include "net/be.h"

enum {
	PAIRS_HASHED = 512, /* reports, whose hashes fit into the L1 cache */
};

/* Whether all reports have the same N and none an immediate. */
static bool is_uniform(const struct report_batch *reports)
{
	return desc_copies(reports->all) == desc_copies(reports->any) &&
	       !desc_immediate(reports->any);
}

/* The largest N of the reports. */
static unsigned copies_max(const struct report_batch *reports)
{
	unsigned max = 1;

	if (is_uniform(reports))
		return desc_copies(reports->any);
	for (unsigned i = 0; i < reports->n; i++)
		if (max < desc_copies(reports->desc[i]))
			max = desc_copies(reports->desc[i]);
	return max;
}

/* Hashes the keys: t->work.slot, and t->work.sum if wanted. */
static void slots_hash(struct translator *t, const struct table_state *state,
		       const struct report_batch *reports, bool sum)
{
	uint32_t *slot[HASH_COPIES] = {t->work.slot[0], t->work.slot[1],
				       t->work.slot[2], t->work.slot[3]};

	hash_slots(state->t.hash, copies_max(reports), reports->key,
		   state->t.key_len, reports->n, slot,
		   sum ? t->work.sum : NULL);
}

/* A slot's bytes: checksum, value, zeros to len. The published DTA translator
 * keeps its checksum little-endian. */
static inline void slot_fill(uint8_t *p, const struct table_state *state,
			     uint32_t sum, const uint8_t *value,
			     uint32_t value_len, uint32_t len)
{
	uint32_t v = state->t.hash == HASH_DTA0 ? htole32(sum) : htobe32(sum);

	memcpy(p, &v, 4);
	memcpy(p + 4, value, value_len);
	memset(p + 4 + value_len, 0, len - 4 - value_len);
}

/* Reserves room for a block of reports from first on. Returns its end. */
static unsigned slot_block(struct translator *t,
			   const struct report_batch *reports, unsigned first,
			   uint32_t len)
{
	uint32_t each = (len + 7) & ~7u;
	unsigned n = reports->n - first;

	if (n > ARENA / each)
		n = ARENA / each;
	ops_reserve(t, n * HASH_COPIES, n * (size_t)each);
	if (t->transport->stamped)
		ops_stamp(t, reports, first, first + n, t->dart);
	return first + n;
}

/* With dart: which copy to write for the report in packet `at' of the stage. */
static inline unsigned draw_copy(const struct translator *t, unsigned at,
				 uint64_t desc)
{
	uint64_t drawn = rng_mix(t->seed + t->first + at) >> 32;

	return (unsigned)(drawn * desc_copies(desc) >> 32);
}

/* Makes the writes of reports [first, end): all N copies, or one of them (one).
 * uniform: the N of all reports, or 0 if they differ. Inlined for each case, so
 * that its constants cost nothing. */
static inline __attribute__((always_inline)) void
keywrite_block(struct translator *t, const struct table_state *state,
	       const struct report_batch *reports, unsigned first, unsigned end,
	       uint32_t value_len, uint32_t len, unsigned uniform, bool one)
{
	const struct hash_units units = hash_units_of(state->t.units);
	const unsigned key_len = state->t.key_len, stride = state->t.stride;
	const uint8_t *const *key = reports->key;
	const uint64_t *descs = reports->desc;
	struct op *op = &t->ops->op[t->ops->n];
	uint8_t *p = t->ops->arena + t->ops->used;

	for (unsigned i = first; i < end; i++) {
		uint64_t desc = descs[i];
		unsigned copies = uniform ? uniform : desc_copies(desc), c = 0;

		slot_fill(p, state, t->work.sum[i], key[i] + key_len, value_len,
			  len);
		if (one) {
			c = draw_copy(t, reports->at[i], desc);
			copies = c + 1;
		}
		for (; c < copies; c++)
			op_fill(op++, state->index,
				hash_mod_of(t->work.slot[c][i], units) * stride,
				p, len);
		if (!uniform && desc_immediate(desc))
			op_make_immediate(t, state, op - 1,
					  desc_sequence(desc));
		p += (len + 7) & ~7u;
	}
	t->ctr.bytes += (uint64_t)(op - &t->ops->op[t->ops->n]) * len;
	t->ops->n = (unsigned)(op - t->ops->op);
	t->ops->used = (size_t)(p - t->ops->arena);
}

/* The number whose 8 bytes in memory are first's and then second's. */
static inline uint64_t join_words(uint32_t first, uint32_t second)
{
	if (htole32(1) == 1)
		return first | (uint64_t)second << 32;
	return second | (uint64_t)first << 32;
}

/*
 * On several cores, writes and additions of 8 bytes go to their owners as pairs
 * of words (rdma/message.h): they are never a struct op. Inlined for each case.
 */
static inline __attribute__((always_inline)) void
pairs_send(struct translator *t, const struct table_state *state,
	   const struct report_batch *reports, unsigned copies,
	   enum op_verb verb)
{
	const struct hash_units units = hash_units_of(state->t.units);
	const uint64_t kind = op_message_kind(state->index, 8, verb);
	const uint64_t part = t->part[state->index];
	const unsigned key_len = state->t.key_len;
	struct threads_out *out = t->out;

	for (unsigned i = 0; i < reports->n; i++) {
		const uint8_t *value = reports->key[i] + key_len;
		uint64_t word = verb == OP_FETCH_ADD
					? be64_load(value)
					: join_words(htobe32(t->work.sum[i]),
						     load32(value));

		for (unsigned c = 0; c < copies; c++) {
			uint64_t offset = 8 * hash_mod_of(t->work.slot[c][i],
							  units);
			uint64_t *pair = threads_send(
				out + op_part(offset, part), 2);

			pair[0] = kind | offset;
			pair[1] = word;
		}
	}
	t->ctr.ops += reports->n * copies;
	t->ctr.bytes += (uint64_t)reports->n * copies * 8;
}

/* Hashes and sends PAIRS_HASHED reports at a time. */
static void pairs_run(struct translator *t, const struct table_state *state,
		      const struct report_batch *reports, enum op_verb verb)
{
	unsigned copies = desc_copies(reports->any);

	for (unsigned i = 0; i < reports->n; i += PAIRS_HASHED) {
		unsigned left = reports->n - i;
		struct report_batch part = report_batch_part(
			reports, i,
			i + (left < PAIRS_HASHED ? left : PAIRS_HASHED));

		slots_hash(t, state, &part, verb == OP_WRITE);
		if (verb == OP_FETCH_ADD)
			pairs_send(t, state, &part, copies, OP_FETCH_ADD);
		else if (copies == 1)
			pairs_send(t, state, &part, 1, OP_WRITE);
		else
			pairs_send(t, state, &part, copies, OP_WRITE);
	}
}

/* Whether operations can be sent to their owners as pairs of words. */
static bool can_send_pairs(const struct translator *t,
			   const struct report_batch *reports)
{
	return t->out && !t->transport->stamped && is_uniform(reports);
}

void keywrite_run(struct translator *t, struct table_state *state,
		  const struct report_batch *reports)
{
	uint32_t value_len = state->t.value_len, len = state->write_len;
	bool small = value_len == 4 && len == 8; /* the common slot */
	unsigned copies = is_uniform(reports) ? desc_copies(reports->any) : 0;
	bool one = t->dart && desc_copies(reports->any) != 1;

	if (small && !one && state->t.hash == HASH_DTA1 &&
	    can_send_pairs(t, reports)) {
		pairs_run(t, state, reports, OP_WRITE);
		return;
	}
	slots_hash(t, state, reports, true);
	for (unsigned i = 0, end; i < reports->n; i = end) {
		end = slot_block(t, reports, i, len);
		if (small && one)
			keywrite_block(t, state, reports, i, end, 4, 8, 0,
				       true);
		else if (one)
			keywrite_block(t, state, reports, i, end, value_len,
				       len, 0, true);
		else if (small && copies == 1)
			keywrite_block(t, state, reports, i, end, 4, 8, 1,
				       false);
		else if (small && copies == 2)
			keywrite_block(t, state, reports, i, end, 4, 8, 2,
				       false);
		else
			keywrite_block(t, state, reports, i, end, value_len,
				       len, 0, false);
	}
}

/* A fetch-and-add carries no immediate (InfiniBand has no such operation), so
 * the flag is without effect here. */
void keyinc_run(struct translator *t, struct table_state *state,
		const struct report_batch *reports)
{
	const struct hash_units units = hash_units_of(state->t.units);
	const unsigned key_len = state->t.key_len;
	struct op *op;

	if (can_send_pairs(t, reports)) {
		pairs_run(t, state, reports, OP_FETCH_ADD);
		return;
	}
	slots_hash(t, state, reports, false);
	ops_reserve(t, reports->n * HASH_COPIES, 0);
	if (t->transport->stamped)
		ops_stamp(t, reports, 0, reports->n, false);
	op = &t->ops->op[t->ops->n];
	for (unsigned i = 0; i < reports->n; i++) {
		uint64_t add = be64_load(reports->key[i] + key_len);
		unsigned copies = desc_copies(reports->desc[i]), c = 0;

		do
			*op++ = (struct op){
				.offset = 8 * hash_mod_of(t->work.slot[c][i],
							  units),
				.add = add,
				.length = 8,
				.table = state->index,
				.verb = OP_FETCH_ADD,
			};
		while (++c < copies);
	}
	t->ctr.bytes += (uint64_t)(op - &t->ops->op[t->ops->n]) * 8;
	t->ops->n = (unsigned)(op - t->ops->op);
}
