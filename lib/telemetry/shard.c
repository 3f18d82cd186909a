/* SPDX-License-Identifier: BSD-2-Clause */
#include "telemetry/shard_private.h"

#include <errno.h>
#include <stdlib.h>

#include "telemetry/events.h"
#include "telemetry/take.h"
#include "telemetry/track.h"
#include "telemetry/train.h"

enum {
	ALONE = 128, /* bytes that move together: two lines */
};

static void enter(struct telemetry_shard *s)
{
	s->o.enter(s->o.ctx);
}

static void leave(struct telemetry_shard *s)
{
	s->o.leave(s->o.ctx);
}

/* Told within enter(): who fills a table has waited for all that comes before
 * its view. So to see that it is full is to come behind that view. */
static void tell_full(struct telemetry *whole)
{
	const struct objects *os = &whole->objects;
	const struct paths *ps = &whole->paths;
	unsigned full = 0;

	if (os->counters.places == os->o.places)
		full |= SHARD_FULL_PLACES;
	if (os->counters.nodes == os->o.nodes)
		full |= SHARD_FULL_NODES;
	if (ps->used == ps->max)
		full |= SHARD_FULL_PATHS;
	if (full != whole->full)
		__atomic_store_n(&whole->full, full, __ATOMIC_RELEASE);
}

static unsigned full_of(const struct telemetry *t)
{
	return __atomic_load_n(&t->shard->whole->full, __ATOMIC_ACQUIRE);
}

/* flows.share; ctx: the telemetry. Blocks that are in use are counted by the
 * whole one, whose own cache is empty. */
static bool share(void *ctx, bool taken)
{
	struct telemetry_shard *s = ((struct telemetry *)ctx)->shard;
	struct flows *fl = &s->whole->flows;
	bool there;

	enter(s);
	there = !taken || fl->blocks_used < fl->o.blocks;
	if (there)
		fl->blocks_used += taken ? 1 : UINT32_MAX;
	leave(s);
	return there;
}

/* Where no more places can come: whether it is one of the whole's (*nr) or
 * none, known without waiting. A place of a node that there was no room for is
 * none. */
static bool is_settled(struct telemetry *t, uint64_t node,
		       const uint32_t id[FIELD_IDS], uint32_t *nr)
{
	const struct objects *whole = &t->shard->whole->objects;
	unsigned full = full_of(t);

	if (full & SHARD_FULL_PLACES) {
		*nr = place_find(whole, node, id);
		t->objects.counters.no_place += !*nr;
		return true;
	}
	if (!(full & SHARD_FULL_NODES) || node_find(whole, node))
		return false;
	t->objects.counters.no_node++;
	*nr = 0;
	return true;
}

static uint32_t place(struct telemetry *t, uint64_t node,
		      const uint32_t id[FIELD_IDS])
{
	struct telemetry_shard *s = t->shard;
	uint32_t nr = place_find(&t->objects, node, id);

	if (nr)
		return nr;
	if (!is_settled(t, node, id, &nr)) {
		enter(s);
		nr = place_of(&s->whole->objects, node, id, events_node,
			      s->whole);
		tell_full(s->whole);
		leave(s);
	}
	if (nr)
		place_put(&t->objects, nr, node, id, events_node, t);
	return nr;
}

/* A part of one of the whole's distributions, which is none if there was no
 * room for it: then there never will be, for one of its shape. */
static struct dist *part_of(struct telemetry *t, const struct dist *d,
			    const struct dist_shape *shape)
{
	struct dist *own = NULL;

	if (d != t->shard->whole->none)
		own = dists_new(&t->dists, shape);
	return own ? own : t->shard->never;
}

static struct dist *dist(struct telemetry *t, uint64_t node, enum metric m)
{
	struct telemetry_shard *s = t->shard;
	const struct dist *d = s->whole->none;
	struct node *n;

	enter(s);
	if ((n = node_find(&s->whole->objects, node))) {
		track_dist(s->whole, n, m);
		d = n->dist[m];
	}
	leave(s);
	return part_of(t, d, &t->o.shape[m]);
}

static uint32_t path(struct telemetry *t, struct nodes now)
{
	struct telemetry_shard *s = t->shard;
	uint32_t nr = path_find(&t->paths, now.at, now.n);
	const struct dist *d;
	bool fresh;

	if (nr)
		return nr;
	if (full_of(t) & SHARD_FULL_PATHS) {
		nr = path_find(&s->whole->paths, now.at, now.n);
		t->paths.no_room += !nr;
	} else {
		enter(s);
		nr = track_path_of(s->whole, now);
		tell_full(s->whole);
		leave(s);
	}
	if (!nr)
		return 0;
	d = s->whole->paths.path[nr].dist;
	nr = path_of(&t->paths, now.at, now.n, &fresh);
	t->paths.path[nr].dist = part_of(t, d,
					 &t->o.shape[METRIC_FLOW_LATENCY]);
	return nr;
}

/* On lines that no other shard writes. */
static void *alone(size_t size)
{
	void *p = aligned_alloc(ALONE, (size + ALONE - 1) / ALONE * ALONE);

	return p ? memset(p, 0, size) : NULL;
}

static struct dist *none_of(const struct telemetry *t)
{
	size_t size = sizeof(*t->none) +
		      (t->none->shape.bins + 2) * sizeof(uint64_t);
	struct dist *d = alone(size);

	if (d)
		d->shape = t->none->shape;
	return d;
}

static int begin(struct telemetry *t, struct telemetry *whole,
		 const struct telemetry_shard_options *o)
{
	struct telemetry_shard *s = alone(sizeof(*s));

	if (!s)
		return -ENOMEM;
	t->shard = s;
	s->whole = whole;
	s->o = *o;
	s->place = place;
	s->dist = dist;
	s->path = path;
	s->never = none_of(t);
	t->flows.share = share;
	t->now_ns = whole->now_ns;
	t->keep_ns = UINT64_MAX; /* it is told when */
	if (!s->never || copies_init(&s->copies, &t->objects, &whole->objects))
		return -ENOMEM;
	whole->copies[whole->shards++] = &s->copies;
	return 0;
}

int telemetry_shard_open(struct telemetry **out, struct telemetry *whole,
			 const struct telemetry_sinks *sinks,
			 const struct telemetry_shard_options *o)
{
	struct telemetry_sinks own = *sinks;
	struct telemetry_options to = whole->o;
	struct telemetry_thresholds th = {.ends = whole->ends,
					  .node = whole->node_threshold,
					  .nodes = whole->node_thresholds};
	int rc;

	memcpy(th.all, whole->all, sizeof(th.all));
	memcpy(th.end, whole->end, sizeof(th.end));
	own.distribution = own.bin = own.snapshot = NULL;
	to.reporters = to.states = 1;
	to.flows.shards = o->shards;
	rc = telemetry_open(out, &to, &th, &own);
	if (!rc && (rc = begin(*out, whole, o)))
		telemetry_shard_close(*out);
	return rc;
}

/* The whole has it no longer. */
static void take_back(struct telemetry *whole, const struct copies *c)
{
	unsigned left = 0;

	for (unsigned i = 0; i < whole->shards; i++)
		if (whole->copies[i] != c)
			whole->copies[left++] = whole->copies[i];
	whole->shards = left;
}

void telemetry_shard_close(struct telemetry *t)
{
	if (t && t->shard) {
		take_back(t->shard->whole, &t->shard->copies);
		free(t->shard->never);
		copies_fini(&t->shard->copies);
		free(t->shard);
	}
	telemetry_close(t);
}

unsigned telemetry_shard_of(const struct telemetry *whole, uint64_t hash,
			    unsigned shards)
{
	uint64_t row = flows_row_of(&whole->flows, hash);

	return (unsigned)(row * shards / whole->flows.o.rows);
}

void telemetry_shard_find(const struct telemetry *t, uint64_t hash)
{
	__builtin_prefetch(flows_row(&t->flows, hash), 1);
}

void telemetry_shard_want(const struct telemetry *t, const struct int_view *v,
			  uint64_t hash)
{
	take_want(t, v, hash);
}

size_t telemetry_shard_take(struct telemetry *t, const struct int_view *v,
			    const struct telemetry_turn *turn, size_t n,
			    uint32_t **telling)
{
	struct telemetry_shard *s = t->shard;
	uint32_t *begin = *telling;
	size_t k = 0;

	t->now_ns = turn->now_ns;
	s->turn = turn;
	s->told = begin;
	if (n >= TRAIN_LEAST)
		k = train_take(t, v, n, turn->hash);
	if (!k) {
		s->copies.number = turn->number;
		s->told = begin + 1;
		take_view(t, v, turn->hash);
		*begin = (uint32_t)(s->told - begin - 1);
		k = 1;
	}
	*telling = s->told;
	return k;
}

void telemetry_shard_time(struct telemetry *t, uint64_t now_ns, bool look)
{
	t->now_ns = now_ns;
	if (look)
		telemetry_keep(t);
}

int telemetry_shard_error(const struct telemetry *t)
{
	return t->rows.err ? t->rows.err
	       : t->shard  ? t->shard->copies.error
			   : 0;
}

void telemetry_shard_snapshots(struct telemetry *whole,
			       const struct int_view *v)
{
	if (v->stack.at && whole->rows.snapshot)
		take_snapshots_of(whole, v);
}

static void move(const struct telemetry *t, struct dist *to, struct dist *from)
{
	if (from != t->none && from != t->shard->never)
		dist_move(to, from);
}

void telemetry_shard_fold(struct telemetry *t)
{
	struct telemetry *whole = t->shard->whole;

	for (uint64_t i = 1; i <= t->objects.counters.nodes; i++) {
		struct node *n = &t->objects.node[i];
		struct node *to = node_find(&whole->objects, n->id);

		for (unsigned m = 0; m < METRIC_OF_HOP; m++)
			move(t, to->dist[m], n->dist[m]);
	}
	for (uint32_t i = 1; i <= t->paths.used; i++) {
		const struct path *p = &t->paths.path[i];
		uint32_t nr = path_find(&whole->paths, path_nodes(&t->paths, i),
					p->n);

		move(t, whole->paths.path[nr].dist, p->dist);
	}
}
