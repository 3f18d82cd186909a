/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keywrite.c - Key-Write and Key-Increment: N operations for a report; and
 * Key-Write as DART's switches do it: one write for a report.
 *
 * Operations are in the order of the reports, a report's copies adjacent. So a
 * later report overwrites an earlier one in every slot that both use, whichever
 * copies these are.
 *
 * DART_ONE: writes one random copy n in [0, N) to its slot (DART, section 6).
 * Switches report a key repeatedly, which fills its other slots. The copy
 * depends only on the seed and the packet's number: one seed and one capture
 * leave the same memory by every transport, on any number of cores.
 *
 * DART_CAS: for N = 2, a write to slot 0 and a compare-and-swap that takes slot
 * 1 only if it is empty (DART, section 7). A slot whose checksum and value are
 * both 0 counts as empty; queries agree.
 */
#include "dta/private.h"

#include <endian.h>
#include <errno.h>

#include "base/rng.h"
#include "rdma/message.h"
#include "threads/threads.h"
#include "net/be.h"

enum {
	PAIRS_HASHED = 512, /* reports, whose hashes fit into the L1 cache */
};

/* Whether all reports have the same N and none an immediate. */
static bool is_uniform(const struct report_batch *j)
{
	return desc_copies(j->all) == desc_copies(j->any) &&
	       !desc_immediate(j->any);
}

/* The largest N of the reports. */
static unsigned copies_max(const struct report_batch *j)
{
	unsigned max = 1;

	if (is_uniform(j))
		return desc_copies(j->any);
	for (unsigned i = 0; i < j->n; i++)
		if (max < desc_copies(j->desc[i]))
			max = desc_copies(j->desc[i]);
	return max;
}

/* Hashes the keys: t->work.slot, and t->work.sum if wanted. */
static void slots_hash(struct translator *t, const struct table_state *l,
		       const struct report_batch *j, bool sum)
{
	uint32_t *slot[HASH_COPIES] = {t->work.slot[0], t->work.slot[1],
				       t->work.slot[2], t->work.slot[3]};

	hash_slots(l->t.hash, copies_max(j), j->key, l->t.key_len, j->n, slot,
		   sum ? t->work.sum : NULL);
}

/* A slot's bytes: checksum, value, zeros to len. The published DTA translator
 * keeps its checksum little-endian. */
static inline void slot_fill(uint8_t *p, const struct table_state *l,
			     uint32_t sum, const uint8_t *value,
			     uint32_t value_len, uint32_t len)
{
	uint32_t v = l->t.hash == HASH_DTA0 ? htole32(sum) : htobe32(sum);

	memcpy(p, &v, 4);
	memcpy(p + 4, value, value_len);
	memset(p + 4 + value_len, 0, len - 4 - value_len);
}

/* Reserves room for a block of reports. Returns the one behind its last. */
static unsigned slot_block(struct translator *t, const struct report_batch *j,
			   unsigned first, uint32_t len)
{
	uint32_t each = (len + 7) & ~7u;
	unsigned n = j->n - first;

	if (n > ARENA / each)
		n = ARENA / each;
	ops_reserve(t, n * HASH_COPIES, n * (size_t)each);
	if (t->transport->stamped)
		ops_stamp(t, j, first, first + n, t->dart == DART_ONE);
	return first + n;
}

/* DART_ONE: which copy to write for the report in packet `at' of the stage. */
static inline unsigned draw_copy(const struct translator *t, unsigned at,
				 uint64_t desc)
{
	uint64_t drawn = rng_mix(t->seed + t->first + at) >> 32;

	return (unsigned)(drawn * desc_copies(desc) >> 32);
}

/*
 * Makes the writes of reports [first, end): all N copies, or one of them (one).
 * uniform: the N of all reports, or 0 if they differ. Inlined for each case, so
 * that its constants cost nothing.
 */
static inline __attribute__((always_inline)) void
keywrite_block(struct translator *t, const struct table_state *l,
	       const struct report_batch *j, unsigned first, unsigned end,
	       uint32_t value_len, uint32_t len, unsigned uniform, bool one)
{
	const struct hash_units units = hash_units_of(l->t.units);
	const unsigned key_len = l->t.key_len, stride = l->t.stride;
	const uint8_t *const *key = j->key;
	const uint64_t *descs = j->desc;
	struct op *op = &t->ops->op[t->ops->n];
	uint8_t *p = t->ops->arena + t->ops->used;

	for (unsigned i = first; i < end; i++) {
		uint64_t desc = descs[i];
		unsigned copies = uniform ? uniform : desc_copies(desc), c = 0;

		slot_fill(p, l, t->work.sum[i], key[i] + key_len, value_len,
			  len);
		if (one) {
			c = draw_copy(t, j->at[i], desc);
			copies = c + 1;
		}
		for (; c < copies; c++)
			op_fill(op++, l->index,
				hash_mod_of(t->work.slot[c][i], units) * stride,
				p, len);
		if (!uniform && desc_immediate(desc))
			op_make_immediate(t, l, op - 1, desc_sequence(desc));
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
pairs_send(struct translator *t, const struct table_state *l,
	   const struct report_batch *j, unsigned copies, enum op_verb verb)
{
	const struct hash_units units = hash_units_of(l->t.units);
	const uint64_t kind = op_message_kind(l->index, 8, verb);
	const uint64_t part = t->part[l->index];
	const unsigned key_len = l->t.key_len;
	struct threads_out *out = t->out;

	for (unsigned i = 0; i < j->n; i++) {
		const uint8_t *value = j->key[i] + key_len;
		uint64_t word = verb == OP_FETCH_ADD
					? be64_load(value)
					: join_words(htobe32(t->work.sum[i]),
						     load32(value));

		for (unsigned c = 0; c < copies; c++) {
			uint64_t offset = 8 * hash_mod_of(t->work.slot[c][i],
							  units);
			uint64_t *m = threads_send(out + op_part(offset, part),
						   2);

			m[0] = kind | offset;
			m[1] = word;
		}
	}
	t->ctr.ops += j->n * copies;
	t->ctr.bytes += (uint64_t)j->n * copies * 8;
}

/* Hashes and sends PAIRS_HASHED reports at a time. */
static void pairs_run(struct translator *t, const struct table_state *l,
		      const struct report_batch *j, enum op_verb verb)
{
	unsigned copies = desc_copies(j->any);

	for (unsigned i = 0; i < j->n; i += PAIRS_HASHED) {
		unsigned left = j->n - i;
		struct report_batch part = report_batch_part(
			j, i, i + (left < PAIRS_HASHED ? left : PAIRS_HASHED));

		slots_hash(t, l, &part, verb == OP_WRITE);
		if (verb == OP_FETCH_ADD)
			pairs_send(t, l, &part, copies, OP_FETCH_ADD);
		else if (copies == 1)
			pairs_send(t, l, &part, 1, OP_WRITE);
		else
			pairs_send(t, l, &part, copies, OP_WRITE);
	}
}

/* Whether operations can be sent to their owners as pairs of words. */
static bool can_send_pairs(const struct translator *t,
			   const struct report_batch *j)
{
	return t->out && !t->transport->stamped && is_uniform(j);
}

void keywrite_run(struct translator *t, struct table_state *l,
		  const struct report_batch *j)
{
	uint32_t value_len = l->t.value_len, len = l->write_len;
	bool small = value_len == 4 && len == 8; /* the common slot */
	unsigned copies = is_uniform(j) ? desc_copies(j->any) : 0;
	bool one = t->dart == DART_ONE && desc_copies(j->any) != 1;

	if (small && !one && l->t.hash == HASH_DTA1 && can_send_pairs(t, j)) {
		pairs_run(t, l, j, OP_WRITE);
		return;
	}
	slots_hash(t, l, j, true);
	for (unsigned i = 0, end; i < j->n; i = end) {
		end = slot_block(t, j, i, len);
		if (small && one)
			keywrite_block(t, l, j, i, end, 4, 8, 0, true);
		else if (one)
			keywrite_block(t, l, j, i, end, value_len, len, 0,
				       true);
		else if (small && copies == 1)
			keywrite_block(t, l, j, i, end, 4, 8, 1, false);
		else if (small && copies == 2)
			keywrite_block(t, l, j, i, end, 4, 8, 2, false);
		else
			keywrite_block(t, l, j, i, end, value_len, len, 0,
				       false);
	}
}

/*
 * A fetch-and-add carries no immediate (InfiniBand has no such operation), so
 * the flag is without effect here.
 */
void keyinc_run(struct translator *t, struct table_state *l,
		const struct report_batch *j)
{
	const struct hash_units u = hash_units_of(l->t.units);
	const unsigned key_len = l->t.key_len;
	struct op *op;

	if (can_send_pairs(t, j)) {
		pairs_run(t, l, j, OP_FETCH_ADD);
		return;
	}
	slots_hash(t, l, j, false);
	ops_reserve(t, j->n * HASH_COPIES, 0);
	if (t->transport->stamped)
		ops_stamp(t, j, 0, j->n, false);
	op = &t->ops->op[t->ops->n];
	for (unsigned i = 0; i < j->n; i++) {
		uint64_t add = be64_load(j->key[i] + key_len);
		unsigned copies = desc_copies(j->desc[i]), c = 0;

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
	t->ctr.bytes += (uint64_t)(op - &t->ops->op[t->ops->n]) * 8;
	t->ops->n = (unsigned)(op - t->ops->op);
}

enum {
	SLOT_CAS = 8, /* bytes: the operand of an RDMA atomic operation */
};

int dart_check(const struct translate_options *o, const struct table_state *l,
	       struct error *err)
{
	const char *name = l->t.name;

	if (o->dart != DART_CAS)
		return 0;
	if (l->t.stride != SLOT_CAS || l->t.value_len != SLOT_CAS - 4)
		return error_set(err, -EINVAL,
				 "%s: slots of %u bytes: a compare-and-swap "
				 "reaches 8, a checksum and 4 bytes of value",
				 name, l->t.stride);
	if (l->t.qp != TABLE_QP_RC)
		return error_set(err, -EINVAL,
				 "%s: qp: a compare-and-swap needs RC; UC has "
				 "no atomics",
				 name);
	if (l->t.copies != 2)
		return error_set(err, -EINVAL,
				 "%s: copies: %u: DART with compare-and-swap "
				 "is for 2",
				 name, l->t.copies);
	return 0;
}

/*
 * A compare-and-swap's payload is two numbers in the host's byte order: compare
 * (0, an empty slot) and swap (the slot's 8 bytes, read as a number). The write
 * comes last, because only a write can carry the immediate.
 */
static void cas_one(struct translator *t, const struct table_state *l,
		    const uint8_t *key, uint64_t desc, unsigned i)
{
	uint64_t units = l->t.units;
	uint8_t *p = op_buffer_alloc(t->ops, 2 * SLOT_CAS);
	struct op *op;

	memset(p, 0, SLOT_CAS);
	slot_fill(p + SLOT_CAS, l, t->work.sum[i], key + l->t.key_len,
		  SLOT_CAS - 4, SLOT_CAS);
	if (desc_copies(desc) > 1)
		op_write(t, l, hash_mod(t->work.slot[1][i], units) * SLOT_CAS,
			 p, SLOT_CAS)
			->verb = OP_CMP_SWAP;
	op = op_write(t, l, hash_mod(t->work.slot[0][i], units) * SLOT_CAS,
		      p + SLOT_CAS, SLOT_CAS);
	if (desc_immediate(desc))
		op_make_immediate(t, l, op, desc_sequence(desc));
}

void dart_cas_run(struct translator *t, struct table_state *l,
		  const struct report_batch *j)
{
	slots_hash(t, l, j, true);
	for (unsigned i = 0, end; i < j->n;) {
		end = slot_block(t, j, i, 2 * SLOT_CAS);
		for (; i < end; i++) {
			if (t->transport->stamped)
				t->stamp_ns = t->pkts[j->at[i]].ts_ns;
			cas_one(t, l, j->key[i], j->desc[i], i);
		}
	}
}
