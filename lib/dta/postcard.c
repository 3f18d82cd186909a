/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * postcard.c - the postcard cache (DTA, section 3) and its evictions:
 * operations for chunks in memory (dta(7), MEMORY).
 *
 * A key's row is the CRC-32C of its bytes (the checksum's polynomial, whatever
 * the table's hash family), modulo the number of rows. The row does not affect
 * what memory holds in the end, only which postcards are written together.
 *
 * A row belongs to one key until it is complete (path_len hops; all hops of the
 * chunk, if no postcard had a path_len) or another key needs it. Then it is
 * evicted. Evictions are kept, in the order of the postcards that caused them,
 * until there are enough to hash at once.
 *
 * A complete eviction writes the chunk whole, with blanks behind the path, in
 * one operation for each copy. A partial one, for another key or a flush,
 * writes only the hops that the row holds, and the blanks behind a known
 * path_len; so it never erases what is stored already.
 *
 * On several cores a row's owner evicts it, and the worker whose packet caused
 * the eviction makes its operations, between those of its other packets
 * (cores.c).
 */
#include "dta/private.h"

#include <errno.h>
#include <stdlib.h>

#include "hash/crc.h"
#include "hash/bytes.h"
#include "threads/threads.h"

enum {
	CACHE_LINE = 64,
	ROWS_AHEAD = 32,	  /* prefetched at once */
	RUNS_MAX = HASH_HOPS / 2, /* of adjacent hops in a row */
	EVICTIONS = 512,	  /* hashed together */
	CAUSES = 4 * STAGE,	  /* values of cause_of() in a batch */
	NO_PACKET = UINT16_MAX,	  /* `at' of an eviction by a flush */
};

struct row {
	uint8_t held;	  /* bit i: hop i is here; 0: the row is free */
	uint8_t path_len; /* the largest reported; 0: unknown */
	uint8_t copies;	  /* the largest N reported */
	uint8_t immediate;
	uint16_t sequence; /* of the last report: the one that completes */
	uint8_t unused[2];
	uint32_t value[HASH_HOPS];
	uint8_t key[]; /* key_len bytes */
};

/* With the usual keys, one cache line. */
struct eviction {
	uint32_t value[HASH_HOPS]; /* also the key's CRC_HEADROOM */
	uint16_t sequence;
	uint16_t at;	/* the packet that caused it, of the stage */
	uint16_t index; /* its table's, on the way back to a worker */
	uint8_t held, path_len, copies, immediate; /* as in the row */
	bool complete;				   /* holds all hops */
	uint8_t key[KEY_MAX];
} __attribute__((aligned(CACHE_LINE)));

_Static_assert(offsetof(struct eviction, key) >= CRC_HEADROOM, "headroom");

struct postcards {
	uint8_t *rows;
	bool shared; /* the rows are another's */
	uint32_t row_size;
	uint64_t nrows;
	unsigned n; /* evictions */
	struct eviction eviction[EVICTIONS];
	/* Those of which operations are made, and their keys' hashes. */
	const struct eviction *which[EVICTIONS];
	const uint8_t *key[EVICTIONS];
	uint32_t chunk[HASH_COPIES][EVICTIONS], hop[HASH_HOPS][EVICTIONS];
};

/* A batch's evictions, each at its cause_of(). bits: which there are, for each
 * owner that put them there. */
struct returned {
	unsigned owners;
	uint64_t bits[THREADS_MAX][CAUSES / 64];
	struct eviction eviction[CAUSES];
};

static inline unsigned mask_of(unsigned hops)
{
	return (1u << hops) - 1;
}

/* The hops of a path; path_len 0: unknown, so all that a chunk has. */
static inline unsigned path_mask(unsigned path_len, unsigned hops)
{
	return mask_of(path_len ? path_len : hops);
}

/* The hops that an eviction writes: those it holds, and those behind the path's
 * end, if that is known. */
static unsigned eviction_hops(const struct eviction *e, unsigned hops)
{
	return e->held | (mask_of(hops) & ~path_mask(e->path_len, hops));
}

/* Writes some hops of the chunk at offset: an operation for each run of
 * adjacent ones. */
static void write_runs(struct translator *t, const struct table_state *state,
		       uint64_t offset, const uint8_t *entries, unsigned hops)
{
	while (hops) {
		unsigned at = (unsigned)__builtin_ctz(hops);
		unsigned n = (unsigned)__builtin_ctz(~(hops >> at));

		op_write(t, state, offset + 4u * at, entries + 4u * at, 4 * n);
		hops &= ~(mask_of(n) << at);
	}
}

static void emit_one(struct translator *t, const struct table_state *state,
		     unsigned k)
{
	const struct postcards *pc = state->postcards;
	const struct eviction *e = pc->which[k];
	unsigned hops = eviction_hops(e, state->t.hops);
	uint32_t room = state->write_len > 4u * HASH_HOPS ? state->write_len
							  : 4u * HASH_HOPS;
	uint8_t *p;

	ops_reserve(t, RUNS_MAX * e->copies, room);
	if (t->transport->stamped && e->at != NO_PACKET)
		t->stamp_ns = t->pkts[e->at >> t->mirror].ts_ns;
	p = op_buffer_alloc(t->ops, room);
	for (unsigned i = 0; i < state->t.hops; i++)
		be32_store(p + 4 * i,
			   pc->hop[i][k] ^ (e->held >> i & 1 ? e->value[i]
							     : TABLE_BLANK));
	memset(p + 4u * state->t.hops, 0, room - 4u * state->t.hops);
	for (unsigned c = 0; c < e->copies; c++) {
		uint64_t offset = hash_mod(pc->chunk[c][k], state->t.units) *
				  state->t.stride;

		if (e->complete)
			op_write(t, state, offset, p, state->write_len);
		else
			write_runs(t, state, offset, p, hops);
	}
	if (e->immediate)
		op_make_immediate(t, state, &t->ops->op[t->ops->n - 1],
				  e->sequence);
}

/* Makes operations of the first n of which[]. */
static void emit_evictions(struct translator *t,
			   const struct table_state *state, unsigned n)
{
	struct postcards *pc = state->postcards;
	uint32_t *chunk[HASH_COPIES], *hop[HASH_HOPS];
	unsigned copies = 0;

	for (unsigned c = 0; c < HASH_COPIES; c++)
		chunk[c] = pc->chunk[c];
	for (unsigned i = 0; i < HASH_HOPS; i++)
		hop[i] = pc->hop[i];
	for (unsigned k = 0; k < n; k++) {
		pc->key[k] = pc->which[k]->key;
		if (copies < pc->which[k]->copies)
			copies = pc->which[k]->copies;
	}
	hash_chunks(state->t.hash, copies, state->t.hops, pc->key,
		    state->t.key_len, n, chunk, hop);
	for (unsigned k = 0; k < n; k++)
		emit_one(t, state, k);
}

/* A packet may cause two evictions: a partial and a complete one. With mirrors,
 * at is twice its number, and one more at the mirror. */
static inline unsigned cause_of(unsigned at, bool complete)
{
	return 2u * at + complete;
}

/* Makes operations of all evictions but those that go back to a worker. */
static void drain_evictions(struct translator *t,
			    const struct table_state *state)
{
	struct postcards *pc = state->postcards;

	for (unsigned k = 0; k < pc->n; k++)
		pc->which[k] = &pc->eviction[k];
	emit_evictions(t, state, pc->n);
	pc->n = 0;
}

/* Where the next eviction goes. */
static inline struct eviction *eviction_new(struct translator *t,
					    const struct table_state *state,
					    unsigned at, bool complete)
{
	unsigned cause = cause_of(at, complete);

	if (!t->returned || at == NO_PACKET)
		return &state->postcards->eviction[state->postcards->n++];
	t->returned->bits[t->owner][cause / 64] |= UINT64_C(1) << cause % 64;
	return &t->returned->eviction[cause];
}

static inline struct row *row_of(const struct postcards *pc, uint64_t number)
{
	return (struct row *)(pc->rows + number * pc->row_size);
}

static inline void evict_row(struct translator *t,
			     const struct table_state *state, struct row *r,
			     unsigned at, bool complete)
{
	struct eviction *e = eviction_new(t, state, at, complete);

	if (complete)
		t->ctr.chunks++;
	else
		t->ctr.early_emissions++;
	memcpy(e->value, r->value, sizeof(e->value));
	key_copy(e->key, r->key, state->t.key_len);
	e->sequence = r->sequence;
	e->at = (uint16_t)at;
	e->held = r->held;
	e->path_len = r->path_len;
	e->copies = r->copies;
	e->immediate = r->immediate;
	e->complete = complete;
	e->index = state->index;
	r->held = 0;
}

static inline void row_begin(struct row *r, const uint8_t *key,
			     unsigned key_len)
{
	key_copy(r->key, key, key_len);
	r->path_len = 0;
	r->copies = 0;
	r->immediate = 0;
}

/* Puts a postcard into its row. There is room for two evictions. */
static inline __attribute__((always_inline)) void
row_take(struct translator *t, const struct table_state *state, struct row *r,
	 const uint8_t *key, uint64_t desc, unsigned at)
{
	unsigned key_len = state->t.key_len, want, hop = desc_hop(desc);

	at = at << t->mirror | desc_mirrored(desc);
	if (r->held && !keys_equal(r->key, key, key_len))
		evict_row(t, state, r, at, false);
	if (!r->held)
		row_begin(r, key, key_len);
	if (r->held >> hop & 1)
		t->ctr.duplicates++;
	r->held |= (uint8_t)(1u << hop);
	r->value[hop] = be32_load(key + desc_data_at(desc));
	if (r->path_len < desc_path_len(desc))
		r->path_len = (uint8_t)desc_path_len(desc);
	if (r->copies < desc_copies(desc))
		r->copies = (uint8_t)desc_copies(desc);
	r->immediate |= desc_immediate(desc);
	r->sequence = desc_sequence(desc);
	want = path_mask(r->path_len, state->t.hops);
	if ((r->held & want) == want)
		evict_row(t, state, r, at, true);
}

static void hash_rows(const struct table_state *state,
		      const uint8_t *const *key, unsigned n, uint32_t *hash)
{
	static const enum crc_id id = CRC_CHECKSUM;

	crc_batch(&id, 1, key, state->t.key_len, n, &hash);
}

/* Finds and prefetches the rows of the next reports. Returns their end. */
static unsigned find_rows(struct translator *t, const struct table_state *state,
			  const struct report_batch *reports, unsigned from)
{
	const struct postcards *pc = state->postcards;
	unsigned n = reports->n - from < ROWS_AHEAD ? reports->n - from
						    : ROWS_AHEAD;
	uint32_t sum[ROWS_AHEAD];

	hash_rows(state, reports->key + from, n, sum);
	for (unsigned i = 0; i < n; i++) {
		t->work.row[from + i] = row_of(pc, hash_mod(sum[i], pc->nrows));
		__builtin_prefetch(t->work.row[from + i], 1);
	}
	return from + n;
}

void postcard_run(struct translator *t, struct table_state *state,
		  const struct report_batch *reports)
{
	const struct report_batch in = *reports; /* kept in registers */
	unsigned found = find_rows(t, state, &in, 0);

	for (unsigned i = 0; i < in.n; i++) {
		if (i + ROWS_AHEAD >= found && found < in.n)
			found = find_rows(t, state, &in, found);
		if (state->postcards->n + 2 > EVICTIONS)
			drain_evictions(t, state);
		row_take(t, state, t->work.row[i], in.key[i], in.desc[i],
			 in.at[i]);
	}
	drain_evictions(t, state);
}

void postcard_flush(struct translator *t, struct table_state *state)
{
	struct postcards *pc = state->postcards;

	for (uint64_t at = 0; at < pc->nrows; at++) {
		struct row *r = row_of(pc, at);

		if (r->held)
			evict_row(t, state, r, NO_PACKET, false);
		if (pc->n == EVICTIONS)
			drain_evictions(t, state);
	}
	drain_evictions(t, state);
}

/* A message: the descriptor; the row and the packet's number; the key and the
 * value. The rows of an owner are adjacent. */
void postcard_send(struct translator *t, const struct table_state *state,
		   const struct report_batch *reports, unsigned owners)
{
	const struct hash_units rows = hash_units_of(state->postcards->nrows);
	const uint64_t factor = ((uint64_t)owners << 32) / rows.units;
	const unsigned len = state->t.key_len + 4u, words = 2 + (len + 7) / 8;

	for (unsigned from = 0; from < reports->n; from += ROWS_AHEAD) {
		unsigned left = reports->n - from;
		unsigned n = left < ROWS_AHEAD ? left : ROWS_AHEAD;
		uint32_t sum[ROWS_AHEAD];

		hash_rows(state, reports->key + from, n, sum);
		for (unsigned i = from; i < from + n; i++) {
			uint64_t row = hash_mod_of(sum[i - from], rows);
			uint64_t *message = threads_send(
				&t->out[row * factor >> 32], words);

			message[0] = desc_with_table(reports->desc[i],
						     state->index);
			message[1] = row | (uint64_t)reports->at[i] << 32;
			key_copy((uint8_t *)(message + 2), reports->key[i],
				 len);
		}
	}
}

size_t postcard_receive(struct translator *t, const struct table_state *state,
			const uint64_t *word, size_t words)
{
	const size_t each = 2 + (state->t.key_len + 4u + 7) / 8;
	struct postcards *pc = state->postcards;
	size_t n = 0;

	for (; n < words && desc_table(word[n]) == state->index; n += each)
		__builtin_prefetch(row_of(pc, (uint32_t)word[n + 1]), 1);
	for (size_t i = 0; i < n; i += each) {
		const uint64_t *message = word + i;

		if (pc->n + 2 > EVICTIONS)
			drain_evictions(t, state);
		row_take(t, state, row_of(pc, (uint32_t)message[1]),
			 (const uint8_t *)(message + 2), message[0],
			 (unsigned)(message[1] >> 32));
	}
	drain_evictions(t, state);
	return n;
}

/* Makes operations of this table's evictions among which[]. */
static void emit_some(struct translator *t, const struct table_state *state,
		      unsigned n)
{
	struct postcards *pc = state->postcards;
	unsigned ours = 0;

	for (unsigned k = 0; k < n; k++)
		if (pc->which[k]->index == state->index)
			pc->which[ours++] = pc->which[k];
	emit_evictions(t, state, ours);
}

void postcard_emit_returned(struct translator *t,
			    const struct table_state *state,
			    const struct returned *r)
{
	struct postcards *pc = state->postcards;
	unsigned n = 0;

	for (unsigned at = 0; at < CAUSES / 64; at++) {
		uint64_t bits = 0;

		for (unsigned i = 0; i < r->owners; i++)
			bits |= r->bits[i][at];
		if (n + 64 > EVICTIONS) {
			emit_some(t, state, n);
			n = 0;
		}
		for (; bits; bits &= bits - 1) {
			pc->which[n] =
				&r->eviction[64 * at +
					     (unsigned)__builtin_ctzll(bits)];
			__builtin_prefetch(pc->which[n++]);
		}
	}
	emit_some(t, state, n);
}

struct returned *returned_new(unsigned owners)
{
	struct returned *r = aligned_alloc(CACHE_LINE, sizeof(*r));

	if (r) {
		r->owners = owners;
		returned_clear(r);
	}
	return r;
}

void returned_clear(struct returned *r)
{
	memset(r->bits, 0, r->owners * sizeof(r->bits[0]));
}

int postcard_clone(struct table_state *state)
{
	const struct postcards *from = state->postcards;

	state->postcards = aligned_alloc(CACHE_LINE, sizeof(*from));
	if (!state->postcards)
		return -ENOMEM;
	*state->postcards = *from;
	state->postcards->shared = true;
	return 0;
}

static uint32_t row_size_of(unsigned key_len)
{
	uint32_t size = CACHE_LINE;

	while (size < sizeof(struct row) + key_len)
		size *= 2;
	return size;
}

int postcard_open(struct table_state *state, size_t *room, struct error *err)
{
	const size_t own = sizeof(struct postcards);
	size_t row_size = row_size_of(state->t.key_len), need;
	struct postcards *pc;

	if (state->t.hash == HASH_DTA0 && state->t.copies > 1)
		return error_set(
			err, -EINVAL,
			"%s: copies: hash dta0 has one chunk for a key",
			state->t.name);
	need = own + state->t.cache_rows * row_size;
	if (!state->t.cache_rows || need > *room)
		return error_set(err, -EINVAL,
				 "%s: cache: %u rows of %zu bytes; there is "
				 "room for 1 to %zu",
				 state->t.name, state->t.cache_rows, row_size,
				 *room > own ? (*room - own) / row_size : 0);
	state->postcards = pc = aligned_alloc(CACHE_LINE, own);
	if (pc) {
		*pc = (struct postcards){.row_size = (uint32_t)row_size,
					 .nrows = state->t.cache_rows};
		pc->rows = aligned_alloc(CACHE_LINE, pc->nrows * row_size);
	}
	if (!pc || !pc->rows)
		return error_set(err, -ENOMEM, "%s: no memory for the cache",
				 state->t.name);
	memset(pc->rows, 0, pc->nrows * row_size);
	*room -= need;
	return 0;
}

void postcard_close(struct table_state *state)
{
	if (state->postcards && !state->postcards->shared)
		free(state->postcards->rows);
	free(state->postcards);
	state->postcards = NULL;
}
