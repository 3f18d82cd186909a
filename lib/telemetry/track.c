/* SPDX-License-Identifier: BSD-2-Clause */
#include "telemetry/track.h"

#include "telemetry/events.h"

void track_dist(struct telemetry *t, struct node *n, enum metric m)
{
	struct dist *d;

	if (n->dist[m] != t->none || !t->o.shape[m].bins ||
	    n->id == NODE_UNKNOWN)
		return;
	d = dists_new(&t->dists, &t->o.shape[m]);
	if (d)
		n->dist[m] = d;
}

static unsigned kept_of_path(const struct flow_entry *f)
{
	return f->kept < f->hops ? f->kept : f->hops;
}

struct nodes track_nodes(const struct telemetry *t, struct flow_entry *f,
			 uint64_t *room)
{
	unsigned n = kept_of_path(f);

	if (f->path)
		return (struct nodes){path_nodes(&t->paths, f->path),
				      t->paths.path[f->path].n};
	for (unsigned i = 0; i < n; i++) {
		uint32_t place = flow_hop(&t->flows, f, i)->place;

		room[i] = place ? t->objects.place[place].node_id
				: NODE_UNKNOWN;
	}
	return (struct nodes){room, n};
}

/* Whether the flow's path is this one, as far as it is known. */
static bool same_nodes(const struct telemetry *t, struct flow_entry *f,
		       struct nodes now)
{
	unsigned kept = kept_of_path(f);

	if (f->hops != now.n)
		return false;
	if (f->path)
		return !memcmp(path_nodes(&t->paths, f->path), now.at,
			       now.n * sizeof(*now.at));
	for (unsigned i = 0; i < kept; i++) {
		uint32_t place = flow_hop(&t->flows, f, i)->place;

		if (place && t->objects.place[place].node_id != now.at[i])
			return false;
	}
	return true;
}

/* The flow's hop of a node, from number i on; kept: there is none. */
static unsigned find_hop(const struct telemetry *t, struct flow_entry *f,
			 unsigned i, uint64_t node)
{
	for (; i < f->kept; i++)
		if (t->objects.place[flow_hop(&t->flows, f, i)->place]
			    .node_id == node)
			break;
	return i;
}

/* A hop that was met longest ago, or is at least not on the path, gives way to
 * number i. */
static bool give_way(struct telemetry *t, struct flow_entry *f, unsigned i)
{
	struct flow_wide *wide;

	t->ledger.forgotten++;
	if (i >= f->kept)
		return false;
	*flow_hop(&t->flows, f, f->kept - 1) = (struct flow_hop){0};
	if ((wide = flow_wide(&t->flows, f, f->kept - 1)))
		*wide = (struct flow_wide){0};
	return true;
}

/* Hop i is that of the node: met before, new, or not kept. */
static bool take_up(struct telemetry *t, struct flow_entry *f, unsigned i,
		    uint64_t node)
{
	unsigned k = find_hop(t, f, i, node);

	if (k == f->kept) {
		if (!flow_grow(&t->flows, f) && !give_way(t, f, i))
			return false;
		k = f->kept - 1u;
	}
	if (k != i)
		flow_swap(&t->flows, f, i, k);
	return true;
}

static struct telling telling_path(const struct flow_entry *f, struct nodes now)
{
	struct telling what = telling_flow(f, METRIC_PATH);

	what.path = now;
	return what;
}

static void tell_path(struct telemetry *t, const struct flow_entry *f,
		      struct nodes old, struct nodes now)
{
	struct telling what = telling_path(f, now);

	what.old_path = old;
	event_tell(t, old.n ? EVENT_PATH_CHANGE : EVENT_NEW_KEY, &what);
	what.old_path = (struct nodes){0};
	if (f->path ? t->paths.path[f->path].loop : path_loops(now.at, now.n))
		event_tell(t, EVENT_LOOP, &what);
}

/* Whether what is known of it is kept elsewhere. */
static bool path_judged(struct telemetry *t, const struct flow_entry *f,
			struct nodes now)
{
	struct telling what;

	if (!t->o.judge)
		return false;
	what = telling_path(f, now);
	return t->o.judge(t->o.judge_ctx, &what);
}

uint32_t track_path_of(struct telemetry *t, struct nodes now)
{
	const struct dist_shape *shape = &t->o.shape[METRIC_FLOW_LATENCY];
	bool fresh;
	uint32_t nr = path_of(&t->paths, now.at, now.n, &fresh);
	struct dist *d = NULL;

	if (!fresh)
		return nr;
	if (shape->bins)
		d = dists_new(&t->dists, shape);
	t->paths.path[nr].dist = d ? d : t->none;
	return nr;
}

static void change_path(struct telemetry *t, struct flow_entry *f,
			struct nodes now, bool judged)
{
	uint64_t room[PATH_NODES_MAX];
	struct nodes old = track_nodes(t, f, room);

	for (unsigned i = 0; i < kept_of_path(f); i++)
		flow_hop(&t->flows, f, i)->flags |= FLOW_HOP_SEEN;
	for (unsigned i = 0; i < now.n; i++)
		if (!take_up(t, f, i, now.at[i]))
			break;
	f->hops = (uint16_t)now.n;
	f->path = track_path_of(t, now);
	if (!judged)
		tell_path(t, f, old, now);
}

/* A hop whose latency is watched, and so is looked at no more, may come from a
 * place that there was no room for: to a node that is new. */
static void set_place(struct telemetry *t, struct flow_hop *h, uint32_t place)
{
	h->place = place & 0xffffff;
	if (h->flags & WATCH_KNOWN)
		track_dist(t, t->objects.place[h->place].node,
			   METRIC_HOP_LATENCY);
}

void track_path(struct telemetry *t, struct flow_entry *f,
		const struct view_hops *vh)
{
	uint64_t at[PATH_NODES_MAX];
	struct nodes now = {at, vh->n};
	bool judged;

	for (unsigned i = 0; i < now.n; i++)
		at[i] = view_node(vh, i);
	judged = path_judged(t, f, now);
	if (!same_nodes(t, f, now))
		change_path(t, f, now, judged);
	for (unsigned i = 0; i < kept_of_path(f); i++) {
		struct flow_hop *h = flow_hop(&t->flows, f, i);

		if (!view_is_at(vh, i, &t->objects.place[h->place]))
			set_place(t, h, view_place(t, vh, i));
	}
}

int track_hop(struct telemetry *t, struct flow_entry *f,
	      const struct view_hops *vh, unsigned i)
{
	unsigned k = find_hop(t, f, 0, view_node(vh, i));
	struct flow_hop *h;

	if (k == f->kept && !flow_grow(&t->flows, f)) {
		t->ledger.forgotten++;
		return -1;
	}
	h = flow_hop(&t->flows, f, k);
	h->flags |= FLOW_HOP_SEEN;
	if (!view_is_at(vh, i, &t->objects.place[h->place]))
		set_place(t, h, view_place(t, vh, i));
	return (int)k;
}
