/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gather.h - the cache that gathers a packet's postcards (dta.md 3).
 *
 * Row of a key: CRC-32C (the checksum's polynomial, whatever the table's hash
 * family) of its bytes, modulo the rows. The row has no bearing on what memory
 * holds in the end; it decides only which postcards travel together.
 *
 * A row belongs to one key until its hops are all there (path_len of them; all
 * of the chunk's, if no postcard told), or another key wants it. What was in it
 * is an emission then, on its way to memory. Emissions wait, in the order of
 * the postcards that caused them.
 */
#ifndef GATHER_GATHER_H
#define GATHER_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "hash/crc.h"
#include "hash/family.h"
#include "hash/keys.h"
#include "wire/key.h"

enum {
	EMISSIONS = 512, /* hashed together */
};

struct postcard {
	const uint8_t *key;
	uint32_t value;
	uint16_t sequence;
	uint8_t hop, path_len; /* hop < path_len, if that is not 0 */
	uint8_t copies, immediate;
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
	uint8_t own[KEY_MAX];
	const uint8_t *key; /* own, or in a packet, which has headroom, too */
	uint16_t sequence;
	uint16_t at; /* the postcard that caused it */
	uint8_t held, path_len, copies, immediate;
	bool whole; /* all hops are there */
};

_Static_assert(sizeof(uint32_t[HASH_HOPS]) >= CRC_HEADROOM, "key's headroom");

struct groups; /* groups.h */

struct gather {
	uint8_t *rows;
	bool shared; /* the rows are another's */
	uint32_t row_size;
	uint64_t nrows;
	unsigned key_len, hops;
	unsigned n, max; /* emissions */
	struct emission *emission;
	struct groups *groups; /* of a worker in a team, else NULL */
	bool grouped;	       /* emissions come by groups, in no order */
	/* Since somebody asked: emissions, whole and not; and postcards of a
	 * hop that the row held. */
	uint64_t chunks, early, repeats;
};

/* A power of two. */
unsigned gather_row_size(unsigned key_len);

/* Of so many rows, key_len and hops, which are set, all else 0. 0 or -ENOMEM;
 * to be closed either way. */
int gather_open(struct gather *g);

/* What a worker of a team needs: with grouped, groups, and room for their
 * emissions. of: whose rows they are, NULL: its own; g need not be open else.
 * Returns the same. */
int gather_team(struct gather *g, const struct gather *of, bool grouped);
void gather_alone(struct gather *g); /* needs that no more */
void gather_close(struct gather *g);

/* Hashes of n keys; modulo the rows, they are the numbers of theirs. Keys have
 * CRC_HEADROOM before them. */
void gather_hash(const struct gather *g, const uint8_t *const *key, unsigned n,
		 uint32_t *hash);

/* Takes all rows out that hold something, as there is room for emissions; from:
 * the first row. Returns the first that is left. */
uint64_t gather_flush(struct gather *g, uint64_t from);

static inline unsigned mask_of(unsigned hops)
{
	return (1u << hops) - 1;
}

/* The hops of a path, of which there are so many at most. */
static inline unsigned path_mask(unsigned path_len, unsigned hops)
{
	return mask_of(path_len ? path_len : hops);
}

/* The hops that an emission tells of: those which it holds, and those behind
 * the path's end, if that is known. */
static inline unsigned emission_hops(const struct emission *e, unsigned hops)
{
	return e->held | (mask_of(hops) & ~path_mask(e->path_len, hops));
}

/* The first hops side by side: how many, from *at on. */
static inline unsigned run_of_hops(unsigned which, unsigned *at)
{
	*at = (unsigned)__builtin_ctz(which);
	return (unsigned)__builtin_ctz(~(which >> *at));
}

static inline struct row *gather_row(const struct gather *g, uint64_t number)
{
	return (struct row *)(g->rows + number * g->row_size);
}

static inline struct emission *emission_new(struct gather *g, unsigned at,
					    bool whole)
{
	struct emission *e = &g->emission[g->n++];

	e->at = (uint16_t)at;
	e->whole = whole;
	if (whole)
		g->chunks++;
	else
		g->early++;
	return e;
}

/* Takes a row out of the cache. */
static inline void row_emit(struct gather *g, struct row *r, unsigned at,
			    bool whole)
{
	struct emission *e = emission_new(g, at, whole);

	memcpy(e->value, r->value, sizeof(e->value));
	key_copy(e->own, r->key, g->key_len);
	e->key = e->own;
	e->sequence = r->sequence;
	e->held = r->held;
	e->path_len = r->path_len;
	e->copies = r->copies;
	e->immediate = r->immediate;
	r->held = 0;
}

static inline void row_begin(const struct gather *g, struct row *r,
			     const uint8_t *key)
{
	key_copy(r->key, key, g->key_len);
	r->path_len = 0;
	r->copies = 0;
	r->immediate = 0;
}

/* Postcard number i to its row. There is room for two emissions. */
static inline __attribute__((always_inline)) void
row_take(struct gather *g, struct row *r, const struct postcard *p, unsigned i)
{
	unsigned want;

	if (r->held && !keys_equal(r->key, p->key, g->key_len))
		row_emit(g, r, i, false);
	if (!r->held)
		row_begin(g, r, p->key);
	if (r->held >> p->hop & 1)
		g->repeats++;
	r->held |= (uint8_t)(1u << p->hop);
	r->value[p->hop] = p->value;
	if (r->path_len < p->path_len)
		r->path_len = p->path_len;
	if (r->copies < p->copies)
		r->copies = p->copies;
	r->immediate |= p->immediate;
	r->sequence = p->sequence;
	want = path_mask(r->path_len, g->hops);
	if ((r->held & want) == want)
		row_emit(g, r, i, true);
}

#endif
