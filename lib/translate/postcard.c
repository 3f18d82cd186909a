/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * postcard.c - the cache that gathers a packet's postcards (dta.md 3).
 *
 * Row of a key: CRC-32C (the checksum's polynomial, whatever the table's hash
 * family) of its bytes, modulo the rows. The row has no bearing on what memory
 * holds in the end; it decides only which postcards travel together.
 *
 * A row whose hops are all there (path_len of them; all of the chunk's, if no
 * postcard told) is written whole, blanks behind the path, in one operation a
 * copy. A row that must make room, or is flushed, is written to its own key's
 * chunk: only the hops that it holds, and the blanks behind a known path_len.
 * So an early emission never erases what is stored already.
 *
 * What is to be written gathers in emissions, which are hashed together.
 */
#include "translate/private.h"

#include <errno.h>
#include <stdlib.h>

#include "hash/crc.h"
#include "hash/keys.h"
#include "wire/be.h"

enum {
	EMISSIONS = 512,
	ROWS_ASKED = 32,	  /* at once */
	RUNS_MAX = HASH_HOPS / 2, /* of adjacent hops in a row */
};

struct row {
	uint8_t held;	  /* bit i: hop i is here; 0: the row is free */
	uint8_t path_len; /* the largest that was told; 0: unknown */
	uint8_t copies;	  /* the most that was asked for */
	uint8_t immediate;
	uint16_t sequence; /* of the last report: the one that completes */
	uint8_t unused[2];
	uint32_t value[HASH_HOPS];
	uint8_t key[]; /* key_len bytes */
};

/* A row on its way to memory. */
struct emission {
	uint32_t value[HASH_HOPS]; /* also the key's CRC_HEADROOM */
	uint8_t key[KEY_MAX];
	uint16_t sequence;
	uint8_t held, path_len, copies, immediate;
	bool whole;
};

_Static_assert(sizeof(uint32_t[HASH_HOPS]) >= CRC_HEADROOM, "key's headroom");

struct postcards {
	uint8_t *rows;
	bool shared;	 /* the rows are another's */
	size_t row_size; /* a power of two */
	uint64_t nrows;
	unsigned n;	 /* emissions */
	unsigned copies; /* the most that one of them wants */
	const uint8_t *key[EMISSIONS];
	uint32_t chunk[HASH_COPIES][EMISSIONS], hop[HASH_HOPS][EMISSIONS];
	struct emission emission[EMISSIONS];
};

static inline unsigned mask_of(unsigned hops)
{
	return (1u << hops) - 1;
}

/* Hops from the path's end on, if it is known. */
static inline unsigned blanks_of(const struct lane *l, unsigned path_len)
{
	return path_len ? mask_of(l->hops) & ~mask_of(path_len) : 0;
}

/* One operation for each run of hops in which, to the chunk at offset. */
static void write_runs(struct translator *t, const struct lane *l,
		       uint64_t offset, const uint8_t *entries, unsigned which)
{
	while (which) {
		unsigned first = (unsigned)__builtin_ctz(which);
		unsigned n = (unsigned)__builtin_ctz(~(which >> first));

		op_write(t, l, offset + 4u * first, entries + 4u * first,
			 4 * n);
		which &= ~(mask_of(n) << first);
	}
}

static void emit_one(struct translator *t, const struct lane *l, unsigned k)
{
	struct postcards *pc = l->postcards;
	const struct emission *e = &pc->emission[k];
	unsigned which = e->held | blanks_of(l, e->path_len);
	uint32_t room = l->write_len > 4u * HASH_HOPS ? l->write_len
						      : 4u * HASH_HOPS;
	uint8_t *p;

	ops_reserve(t, RUNS_MAX * e->copies, room);
	p = made_take(t->made, room);
	for (unsigned i = 0; i < l->hops; i++)
		be32_store(p + 4 * i,
			   pc->hop[i][k] ^ (e->held >> i & 1 ? e->value[i]
							     : TABLE_BLANK));
	memset(p + 4u * l->hops, 0, room - 4u * l->hops);
	for (unsigned c = 0; c < e->copies; c++) {
		uint64_t offset = hash_mod(pc->chunk[c][k], l->t.units) *
				  l->t.stride;

		if (e->whole)
			op_write(t, l, offset, p, l->write_len);
		else
			write_runs(t, l, offset, p, which);
	}
	if (e->immediate)
		op_make_immediate(t, l, &t->made->op[t->made->n - 1],
				  e->sequence);
}

void postcard_emit(struct translator *t, const struct lane *l)
{
	struct postcards *pc = l->postcards;
	uint32_t *chunk[HASH_COPIES], *hop[HASH_HOPS];

	for (unsigned c = 0; c < HASH_COPIES; c++)
		chunk[c] = pc->chunk[c];
	for (unsigned i = 0; i < HASH_HOPS; i++)
		hop[i] = pc->hop[i];
	hash_chunks(l->t.hash, pc->copies, l->hops, pc->key, l->key_len, pc->n,
		    chunk, hop);
	for (unsigned k = 0; k < pc->n; k++)
		emit_one(t, l, k);
	pc->n = 0;
	pc->copies = 0;
}

/* Takes a row out of the cache. */
static void row_emit(struct translator *t, const struct lane *l, struct row *r,
		     bool whole)
{
	struct postcards *pc = l->postcards;
	struct emission *e;

	if (pc->n == EMISSIONS)
		postcard_emit(t, l);
	e = &pc->emission[pc->n++];
	memcpy(e->value, r->value, sizeof(e->value));
	key_copy(e->key, r->key, l->key_len);
	e->sequence = r->sequence;
	e->held = r->held;
	e->path_len = r->path_len;
	e->copies = r->copies;
	e->immediate = r->immediate;
	e->whole = whole;
	if (pc->copies < r->copies)
		pc->copies = r->copies;
	if (whole)
		t->ctr.chunks++;
	else
		t->ctr.early++;
	r->held = 0;
}

static inline void row_begin(struct row *r, const struct lane *l,
			     const uint8_t *key)
{
	key_copy(r->key, key, l->key_len);
	r->path_len = 0;
	r->copies = 0;
	r->immediate = 0;
}

/* Adds a postcard; returns whether the row is complete. */
static inline bool row_add(struct translator *t, const struct lane *l,
			   struct row *r, const uint8_t *key, uint64_t head)
{
	unsigned hop = head_hop(head), path_len = head_path_len(head), want;

	if (r->held >> hop & 1)
		t->ctr.duplicates++;
	r->held |= (uint8_t)(1u << hop);
	r->value[hop] = be32_load(key + head_data_at(head));
	if (r->path_len < path_len)
		r->path_len = (uint8_t)path_len;
	if (r->copies < head_copies(head))
		r->copies = (uint8_t)head_copies(head);
	r->immediate |= head_immediate(head);
	r->sequence = head_sequence(head);
	want = mask_of(r->path_len ? r->path_len : l->hops);
	return (r->held & want) == want;
}

/* Asks for the rows of the next jobs; returns the first behind them. */
static unsigned find_rows(struct translator *t, const struct lane *l,
			  const struct jobs *j, unsigned from)
{
	static const enum crc_id id = CRC_CHECKSUM;
	const struct postcards *pc = l->postcards;
	unsigned n = j->n - from < ROWS_ASKED ? j->n - from : ROWS_ASKED;
	uint32_t sum[ROWS_ASKED], *to = sum;

	crc_batch(&id, 1, j->key + from, l->key_len, n, &to);
	for (unsigned i = 0; i < n; i++) {
		void *row = pc->rows +
			    hash_mod(sum[i], pc->nrows) * pc->row_size;

		t->work.row[from + i] = row;
		__builtin_prefetch(row, 1);
	}
	return from + n;
}

void postcard_run(struct translator *t, struct lane *l, const struct jobs *j)
{
	unsigned found = find_rows(t, l, j, 0);

	for (unsigned i = 0; i < j->n; i++) {
		const uint8_t *key = j->key[i];
		struct row *r;

		if (i + ROWS_ASKED >= found && found < j->n)
			found = find_rows(t, l, j, found);
		r = t->work.row[i];
		if (r->held && !keys_equal(r->key, key, l->key_len))
			row_emit(t, l, r, false);
		if (!r->held)
			row_begin(r, l, key);
		if (row_add(t, l, r, key, j->head[i]))
			row_emit(t, l, r, true);
	}
	if (t->pass == PASS_WHOLE)
		postcard_emit(t, l);
}

void postcard_flush(struct translator *t, struct lane *l)
{
	struct postcards *pc = l->postcards;

	for (uint64_t i = 0; i < pc->nrows; i++) {
		struct row *r = (struct row *)(pc->rows + i * pc->row_size);

		if (r->held)
			row_emit(t, l, r, false);
	}
	postcard_emit(t, l);
}

static void keys_place(struct postcards *pc)
{
	for (unsigned k = 0; k < EMISSIONS; k++)
		pc->key[k] = pc->emission[k].key;
}

int postcard_twin(struct lane *l)
{
	const struct postcards *of = l->postcards;
	struct postcards *pc;

	if (!of)
		return 0;
	l->postcards = pc = calloc(1, sizeof(*pc));
	if (!pc)
		return -ENOMEM;
	pc->rows = of->rows;
	pc->shared = true;
	pc->row_size = of->row_size;
	pc->nrows = of->nrows;
	keys_place(pc);
	return 0;
}

int postcard_open(struct lane *l, size_t *room, struct fault *f)
{
	size_t row_size = 64, need;
	struct postcards *pc;

	if (l->t.hash == HASH_DTA0 && l->copies > 1)
		return fault_set(
			f, -EINVAL,
			"%s: copies: hash dta0 has one chunk for a key",
			l->t.name);
	while (row_size < sizeof(struct row) + l->key_len)
		row_size *= 2;
	need = sizeof(*pc) + l->t.cache_rows * row_size;
	if (!l->t.cache_rows || need > *room)
		return fault_set(f, -EINVAL,
				 "%s: cache: %u rows of %zu bytes; there is "
				 "room for 1 to %zu",
				 l->t.name, l->t.cache_rows, row_size,
				 *room > sizeof(*pc)
					 ? (*room - sizeof(*pc)) / row_size
					 : 0);
	pc = calloc(1, sizeof(*pc));
	l->postcards = pc;
	if (!pc || !(pc->rows = aligned_alloc(64, l->t.cache_rows * row_size)))
		return fault_set(f, -ENOMEM, "%s: no memory for the cache",
				 l->t.name);
	memset(pc->rows, 0, l->t.cache_rows * row_size);
	pc->row_size = row_size;
	pc->nrows = l->t.cache_rows;
	keys_place(pc);
	*room -= need;
	return 0;
}

void postcard_close(struct lane *l)
{
	if (l->postcards && !l->postcards->shared)
		free(l->postcards->rows);
	free(l->postcards);
	l->postcards = NULL;
}
