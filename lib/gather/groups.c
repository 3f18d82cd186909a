/* SPDX-License-Identifier: BSD-2-Clause */
#include "gather/groups.h"

#include <stdlib.h>

#include "base/rng.h"
#include "store/prefetch.h"

enum {
	AHEAD = 16, /* groups between asking for a row and using it */
};

struct groups *groups_new(void)
{
	struct groups *gs = aligned_alloc(64, sizeof(*gs));

	if (!gs)
		return NULL;
	memset(gs, 0, sizeof(*gs));
	gs->salt = rng_mix(rng_seed()) | 1;
	return gs;
}

void groups_clear(struct groups *gs)
{
	gs->n = gs->postcards = 0;
	memset(gs->slot, 0, sizeof(gs->slot));
}

/* Postcards of a hop that the group had. */
static unsigned repeats_of(const struct group *g)
{
	unsigned left = g->n;

	for (unsigned held = g->held; held; held &= held - 1)
		left--;
	return left;
}

/*
 * Whether a group may be joined to what its row holds, of the same key. It may
 * complete that before its last postcard, and begin it anew with the others;
 * but not if every postcard brings a hop that is new, and all have said the
 * same of the path's length: each of those hops is wanted, so the last one is
 * what was missing.
 */
static bool may_join(const struct group *g, const struct row *r)
{
	return g->path_len == r->path_len && !(g->held & r->held) &&
	       !repeats_of(g);
}

static void values_join(uint32_t *to, const struct group *g)
{
	for (unsigned i = 0; i < HASH_HOPS; i++)
		to[i] = g->held >> i & 1 ? g->value[i] : to[i];
}

/* A path that is never in its row. */
static void group_pass(struct gather *to, const struct group *g)
{
	struct emission *e = emission_new(to, g->last, true);

	memcpy(e->value, g->value, sizeof(e->value));
	e->key = g->key;
	e->sequence = g->sequence;
	e->held = g->held;
	e->path_len = g->path_len;
	e->copies = g->copies;
	e->immediate = g->immediate;
}

static void group_join(struct gather *to, const struct group *g, struct row *r)
{
	values_join(r->value, g);
	r->held |= g->held;
	r->path_len = g->path_len;
	if (r->copies < g->copies)
		r->copies = g->copies;
	r->immediate |= g->immediate;
	r->sequence = g->sequence;
	if ((r->held & g->want) == g->want)
		row_emit(to, r, g->last, true);
}

/* What a group does to its row; false: one has to look at each postcard. */
static bool group_go(struct gather *to, const struct group *g)
{
	struct row *r = gather_row(to, g->row);

	if (!g->same)
		return false;
	if (r->held && keys_equal(r->key, g->key, to->key_len)) {
		if (!may_join(g, r))
			return false;
		group_join(to, g, r);
		return true;
	}
	to->repeats += repeats_of(g);
	if (r->held)
		row_emit(to, r, g->first, false);
	if (g->whole) {
		group_pass(to, g);
		return true;
	}
	row_begin(to, r, g->key);
	group_join(to, g, r);
	return true;
}

static void take_apart(const struct groups *gs, struct gather *to,
		       const struct group *g,
		       struct postcard (*of)(const void *ctx, unsigned i),
		       const void *ctx)
{
	unsigned i = g->first;

	for (unsigned left = g->n; left; left--, i = gs->next[i]) {
		const struct postcard p = of(ctx, i);

		row_take(to, gather_row(to, g->row), &p, i);
	}
}

void groups_go(struct gather *to,
	       struct postcard (*of)(const void *ctx, unsigned i),
	       const void *ctx)
{
	const struct groups *gs = to->groups;

	to->grouped = true;
	for (unsigned k = 0; k < gs->n + AHEAD; k++) {
		if (k < gs->n)
			prefetch_line(gather_row(to, gs->group[k].row));
		if (k >= AHEAD && !group_go(to, &gs->group[k - AHEAD]))
			take_apart(gs, to, &gs->group[k - AHEAD], of, ctx);
	}
}

/* A postcard's emissions: a row that it pushed out, then its own. */
static unsigned cause_of(const struct emission *e)
{
	return 2u * e->at + e->whole;
}

void groups_order(struct groups *gs, const struct gather *g)
{
	const struct emission *e = g->emission;
	unsigned k = 1;

	while (k < g->n && cause_of(&e[k - 1]) < cause_of(&e[k]))
		k++;
	gs->ordered = k >= g->n; /* most times */
	if (gs->ordered)
		return;
	memset(gs->order, 0, sizeof(gs->order));
	for (k = 0; k < g->n; k++)
		gs->order[cause_of(&e[k])] = (uint16_t)(k + 1);
}

const struct emission *groups_next(const struct groups *gs,
				   const struct gather *g, unsigned *at)
{
	if (gs->ordered)
		return &g->emission[(*at)++];
	while (!gs->order[*at])
		++*at;
	return &g->emission[gs->order[(*at)++] - 1];
}
