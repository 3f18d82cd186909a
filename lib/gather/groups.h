/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * groups.h - a batch of postcards, by rows, before anybody looks at the rows: a
 * worker finds out alone what it can, so that little is left for its turn.
 *
 * Postcards have numbers in their order. A group is some of one key that follow
 * each other in their row, and ends where they are a path, or with the last hop
 * of one. In the order of their first postcards groups do to the rows what the
 * postcards would: most of them at once, as if they were one postcard; the
 * others are taken apart.
 */
#ifndef GATHER_GROUPS_H
#define GATHER_GROUPS_H

#include "gather/gather.h"

enum {
	GROUPS_MAX = 4096, /* postcards, too */
	GROUPS_SLOT_BITS = 13,
	GROUPS_SLOTS = 1 << GROUPS_SLOT_BITS,
	/* A postcard pushes one row out, and completes another. */
	GROUPS_EMISSIONS = 2 * GROUPS_MAX,
};

struct group {
	const uint8_t *key;
	uint32_t row;
	uint16_t first, last, n; /* postcards */
	uint16_t sequence;	 /* of the last */
	uint8_t held, want;	 /* hops; those of the path */
	uint8_t path_len, copies, immediate;
	bool same;  /* of path_len, copies and immediate, so far */
	bool whole; /* a path */
	bool over;  /* no more are added */
	uint32_t value[HASH_HOPS];
};

_Static_assert(sizeof(struct group) == 64, "a line");

struct groups {
	unsigned n, postcards;
	uint64_t salt; /* odd: which slots rows have, unknown to who sends */
	struct group group[GROUPS_MAX];
	uint16_t next[GROUPS_MAX];   /* postcard of the same group */
	uint16_t slot[GROUPS_SLOTS]; /* a row's last group, counted from 1 */
	bool ordered;		     /* emissions are, as they are */
	uint16_t order[GROUPS_EMISSIONS]; /* else by cause, counted from 1 */
} __attribute__((aligned(64)));

struct groups *groups_new(void); /* NULL: no memory; to be freed */
void groups_clear(struct groups *gs);

/* In turn: all groups of g to its rows. It has room for GROUPS_EMISSIONS. of:
 * postcard number i. */
void groups_go(struct gather *g,
	       struct postcard (*of)(const void *ctx, unsigned i),
	       const void *ctx);

/*
 * Emissions that groups_go() left, in order, one after the other: as many as
 * there are. *at is 0 for the first. groups_order() goes before.
 */
void groups_order(struct groups *gs, const struct gather *g);
const struct emission *groups_next(const struct groups *gs,
				   const struct gather *g, unsigned *at);

_Static_assert((int)GROUPS_SLOTS == 2 * (int)GROUPS_MAX, "half are free");

/* Where a row's last group is, or will be. Keys can be chosen so that their
 * rows lie side by side: these are not to. */
static inline uint16_t *groups_slot(struct groups *gs, uint32_t row)
{
	unsigned at = (unsigned)(row * gs->salt >> (64 - GROUPS_SLOT_BITS));

	while (gs->slot[at] && gs->group[gs->slot[at] - 1].row != row)
		at = (at + 1) % GROUPS_SLOTS;
	return &gs->slot[at];
}

static inline struct group *group_begin(struct groups *gs, uint32_t row,
					const struct postcard *p, unsigned hops)
{
	struct group *g = &gs->group[gs->n++];

	g->key = p->key;
	g->row = row;
	g->first = (uint16_t)gs->postcards;
	g->n = 0;
	g->held = 0;
	g->want = (uint8_t)path_mask(p->path_len, hops);
	g->path_len = p->path_len;
	g->copies = p->copies;
	g->immediate = p->immediate;
	g->same = true;
	return g;
}

/* The next postcard, up to GROUPS_MAX, and its row. */
static inline void groups_add(const struct gather *of, uint32_t row,
			      const struct postcard *p)
{
	struct groups *gs = of->groups;
	uint16_t *slot = groups_slot(gs, row);
	struct group *g = *slot ? &gs->group[*slot - 1] : NULL;

	if (!g || g->over || !keys_equal(g->key, p->key, of->key_len)) {
		g = group_begin(gs, row, p, of->hops);
		*slot = (uint16_t)gs->n;
	} else {
		gs->next[g->last] = (uint16_t)gs->postcards;
	}
	g->last = (uint16_t)gs->postcards++;
	g->n++;
	g->same = g->same &
		  !((g->path_len ^ p->path_len) | (g->copies ^ p->copies) |
		    (g->immediate ^ p->immediate));
	g->held |= (uint8_t)(1u << p->hop);
	g->value[p->hop] = p->value;
	g->sequence = p->sequence;
	g->whole = g->same && (g->held & g->want) == g->want;
	g->over = g->whole || g->want >> p->hop <= 1;
}

#endif
