/* SPDX-License-Identifier: BSD-2-Clause */
/* hops.c - what a view says hop by hop; a flow's hops in the order of its path.
 */
#include "base/rng.h"
#include "telemetry/private.h"

enum {
	SECOND = 1000000000,
};

static void make(struct made *m, const struct int_plan *plan)
{
	fields_of(&m->fields, plan);
	picks_of(&m->picks, &m->fields);
}

static const struct made *made_of(struct made_plans *ps,
				  const struct int_plan *plan)
{
	struct made *m;

	if (fields_are(&ps->latest->fields, plan))
		return ps->latest;
	m = &ps->plan[rng_mix((uintptr_t)plan->words ^ plan->bitmap) % PLANS];
	if (!fields_are(&m->fields, plan))
		make(m, plan);
	return ps->latest = m;
}

/* Of the reporter's plan: a copy if both plans want one place. */
static const struct fields *own_fields(struct made_plans *ps,
				       const struct int_view *v)
{
	const struct made *m = made_of(ps, v->own.plan);

	if (!v->stack.plan || v->stack.plan == v->own.plan ||
	    made_of(ps, v->stack.plan) != m)
		return &m->fields;
	make(&ps->own, v->own.plan);
	return &ps->own.fields;
}

/* A reporter that has pushed its metadata on the stack as well is there once.
 */
static bool adds_hop(const struct view_hops *vh)
{
	return !vh->stacked || view_node(vh, vh->stacked) == NODE_UNKNOWN ||
	       view_node(vh, vh->stacked) != view_node(vh, vh->stacked - 1);
}

void view_hops_of(struct made_plans *ps, struct view_hops *vh,
		  const struct int_view *v)
{
	*vh = (struct view_hops){.v = v, .reporter = NODE_UNKNOWN};
	if (v->from.has_node)
		vh->reporter = v->from.node;
	if (v->own.plan && v->own.n)
		vh->own = own_fields(ps, v);
	if (v->stack.plan && v->stack.n) {
		vh->stack = &made_of(ps, v->stack.plan)->fields;
		vh->n = vh->stacked = v->stack.n;
	}
	if (vh->own)
		vh->n += adds_hop(vh);
}

uint64_t view_node(const struct view_hops *vh, unsigned i)
{
	const struct fields *f = view_fields(vh, i);

	if (i == vh->stacked && f->node.width == FIELD_NONE)
		return vh->reporter;
	return field_node(&f->node, view_hop(vh, i));
}

static void ids_of(const struct view_hops *vh, unsigned i,
		   uint32_t id[FIELD_IDS])
{
	const struct fields *f = view_fields(vh, i);
	const uint8_t *hop = view_hop(vh, i);

	for (unsigned k = 0; k < FIELD_IDS; k++)
		id[k] = field_id(&f->id[k], hop);
}

uint32_t view_place(struct telemetry *t, const struct view_hops *vh, unsigned i)
{
	uint32_t id[FIELD_IDS];

	ids_of(vh, i, id);
	return place_of(&t->objects, view_node(vh, i), id, events_node, t);
}

/* The same of ids that are words of 4 bytes, as almost all are. */
static inline bool is_at(const struct fields *fs, const uint8_t *hop,
			 const struct place *p)
{
	uint64_t node = fs->node.width ? be32_load(hop + fs->node.word)
				       : NODE_UNKNOWN;
	uint64_t differ = node ^ p->node_id;

	for (unsigned k = 0; k < FIELD_IDS; k++)
		differ |= field_narrow(&fs->id[k], hop) ^ p->id[k];
	return !differ && node != UINT32_MAX;
}

bool view_is_at(const struct view_hops *vh, unsigned i, const struct place *p)
{
	const struct fields *fs = view_fields(vh, i);
	uint32_t id[FIELD_IDS];

	if (fs->narrow && fs->node_narrow && i < vh->stacked)
		return is_at(fs, view_hop(vh, i), p);
	ids_of(vh, i, id);
	return p->node_id == view_node(vh, i) && !memcmp(id, p->id, sizeof(id));
}

/* later - earlier, of as many bits; in ns. */
static bool difference(struct telemetry *t, const struct hop_field *f,
		       uint64_t later, uint64_t earlier, uint64_t *ns)
{
	uint64_t by = (later - earlier) & f->mask;

	if (by > f->mask / 2) {
		t->ledger.skewed++;
		return false;
	}
	*ns = int_scaled(by, f->scale);
	return true;
}

/* IOAM: seconds and a fraction, of one clock at each node (RFC 9197, 5.4.2.3).
 */
static bool stamp_of(const struct fields *f, const uint8_t *hop, uint64_t *ns)
{
	bool one, two;
	uint64_t s = field_raw(&f->seconds, hop, &one);

	*ns = s * SECOND + field_number(&f->fraction, hop, &two);
	return one && two;
}

static bool between(struct telemetry *t, const struct fields *f,
		    const uint8_t *from, const uint8_t *to, uint64_t *ns)
{
	static const struct hop_field whole = {.mask = UINT64_MAX, .scale = 1};
	uint64_t a, b;

	return stamp_of(f, from, &a) && stamp_of(f, to, &b) &&
	       difference(t, &whole, b, a, ns);
}

bool view_latency(struct telemetry *t, const struct view_hops *vh, unsigned i,
		  uint64_t *ns)
{
	const struct int_from *from = &vh->v->from;
	const struct fields *f = view_fields(vh, i);
	const uint8_t *hop = view_hop(vh, i);
	bool in, out;
	uint64_t a, b;

	if (f->egress_time.width) {
		a = field_raw(&f->ingress_time, hop, &in);
		b = field_raw(&f->egress_time, hop, &out);
		/* Reports 0.5 and 1.0 have it in their headers. */
		if (!in && i == vh->stacked && from->has_time &&
		    f->egress_time.mask == UINT32_MAX) {
			a = from->time;
			in = true;
		}
		return in && out && difference(t, &f->egress_time, b, a, ns);
	}
	/* The time to the next node. */
	return f->seconds.width && i + 1 < vh->stacked &&
	       between(t, f, hop, view_hop(vh, i + 1), ns);
}

bool view_end_to_end(struct telemetry *t, const struct view_hops *vh,
		     uint64_t *ns)
{
	const struct fields *first = view_fields(vh, 0);
	const struct fields *last = view_fields(vh, vh->n - 1);
	const uint8_t *from = view_hop(vh, 0), *to = view_hop(vh, vh->n - 1);
	bool in, out;
	uint64_t a, b;

	if (first->ingress_time.width && last->egress_time.width &&
	    first->ingress_time.mask == last->egress_time.mask) {
		a = field_raw(&first->ingress_time, from, &in);
		b = field_raw(&last->egress_time, to, &out);
		return in && out && difference(t, &last->egress_time, b, a, ns);
	}
	return first->seconds.width && first == last && vh->n > 1 &&
	       between(t, first, from, to, ns);
}

void track_dist(struct telemetry *t, struct node *n, enum metric m)
{
	struct dist *d;

	if (n->dist[m] != t->none || n->id == NODE_UNKNOWN)
		return;
	d = dists_new(&t->dists);
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

uint32_t track_path_of(struct telemetry *t, struct nodes now)
{
	bool fresh;
	uint32_t nr = path_of(&t->paths, now.at, now.n, &fresh);
	struct dist *d;

	if (!fresh)
		return nr;
	d = dists_new(&t->dists);
	t->paths.path[nr].dist = d ? d : t->none;
	return nr;
}

static void change_path(struct telemetry *t, struct flow_entry *f,
			struct nodes now)
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

	for (unsigned i = 0; i < now.n; i++)
		at[i] = view_node(vh, i);
	if (!same_nodes(t, f, now))
		change_path(t, f, now);
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
