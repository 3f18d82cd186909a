/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * take.c - what a view tells is compared with what its flow and its nodes told
 * before, and counted. In this order: values that may be events; hops; views.
 */
#include <errno.h>
#include <stdlib.h>

#include "int/ioam.h"
#include "telemetry/private.h"

enum {
	FAR_HOPS = 256, /* room at first */
	/* Not of the whole path. */
	TAKE_PARTIAL = INT_DROPPED | INT_INTERMEDIATE | INT_MTU_EXCEEDED |
		       INT_HOPS_EXCEEDED,
};

/* Means forget by half each so many packets: counts stay below 2^32. */
#define HALVE_PACKETS (1U << 31)

struct flow_hop *value_key(const struct telemetry *t, struct flow_entry *f,
			   struct flow_hop *h)
{
	const struct place *at = t->objects.place;
	uint64_t node = at[h->place].node_id;

	if (h->flags & WATCH_KNOWN || !h->place || node == NODE_UNKNOWN)
		return h;
	for (unsigned i = 0; i < f->kept; i++) {
		struct flow_hop *k = flow_hop(&t->flows, f, i);

		if (k->flags & WATCH_KNOWN && at[k->place].node_id == node)
			return k;
	}
	return h;
}

void value_latency(struct telemetry *t, struct flow_entry *f,
		   struct flow_hop *h, uint32_t v)
{
	struct telling what;
	const struct place *p = &t->objects.place[h->place];

	track_dist(t, p->node, METRIC_HOP_LATENCY);
	if (!f)
		return;
	h = value_key(t, f, h);
	if (!watch_out(&h->watch, v))
		return;
	what = telling_flow(f, METRIC_HOP_LATENCY);
	what.node = p->node_id;
	h->flags = event_judge(t, &h->watch, h->flags,
			       &p->node->threshold[METRIC_HOP_LATENCY], v,
			       &what) &
		   0xff;
}

bool value_far_room(struct telemetry *t, struct far_hops *l)
{
	size_t room = l->room ? 2 * l->room : FAR_HOPS;
	void *hop = realloc(l->hop, room * sizeof(*l->hop));

	if (!hop) {
		t->rows.err = t->rows.err ? t->rows.err : -ENOMEM;
		return false;
	}
	l->hop = hop;
	l->room = room;
	return true;
}

static void value_far_one(struct telemetry *t, struct place *p, enum metric m,
			  uint32_t v)
{
	unsigned first = (m - METRIC_QUEUE_OCCUPANCY) & ~1U;
	unsigned at = (m - METRIC_QUEUE_OCCUPANCY) & 1;
	uint32_t two[2] = {v, v};

	track_dist(t, p->node, m);
	value_far(t, p, METRIC_QUEUE_OCCUPANCY + first, 1U << at, two);
}

struct object *value_object(struct telemetry *t, uint64_t ts_ns,
			    struct place *p, enum metric m, uint32_t v)
{
	struct telling what = telling_nothing;
	struct object *o;

	track_dist(t, p->node, m);
	if (p->node->id == NODE_UNKNOWN)
		return &t->objects.nothing;
	o = object_of(&t->objects, p, m);
	if (o == &t->objects.unplaced)
		return o;
	what.ts_ns = ts_ns;
	event_of_object(&what, o);
	o->flags = (uint8_t)event_judge(t, &o->watch, o->flags,
					&p->node->threshold[m], v, &what);
	return o;
}

/* Of a flow from end to end. */
static void value_flow(struct telemetry *t, struct flow_entry *f, uint32_t v)
{
	struct telling what = telling_flow(f, METRIC_FLOW_LATENCY);
	uint64_t room[PATH_NODES_MAX];

	what.path = track_nodes(t, f, room);
	f->flags = (uint8_t)event_judge(t, &f->watch, f->flags,
					&t->all[METRIC_FLOW_LATENCY], v, &what);
}

/* False: no hop tells it. */
static bool largest(const struct view_hops *vh, enum metric m, uint32_t *out)
{
	uint64_t most = 0;
	bool any = false;

	for (unsigned i = 0; i < vh->n; i++) {
		bool told;
		uint64_t v = field_number(&view_fields(vh, i)->metric[m],
					  view_hop(vh, i), &told);

		any |= told;
		if (told && v > most)
			most = v;
	}
	/* That it is above 32 bits was counted with the hop. */
	*out = most > UINT32_MAX ? UINT32_MAX : (uint32_t)most;
	return any;
}

/* What else is watched of a flow from end to end: of each metric the largest
 * that the hops of its path tell now, whoever of them tells it. */
static void value_ends(struct telemetry *t, struct flow_entry *f,
		       const struct int_view *view)
{
	struct flow_end *end = flow_ends(&t->flows, f);
	struct view_hops vh;
	struct telling what;
	uint32_t v;

	view_hops_of(&t->plans, &vh, view);
	for (unsigned m = 0; m < METRIC_ENDS; m++, end++) {
		if (!(t->ends >> m & 1) ||
		    !largest(&vh, METRIC_QUEUE_OCCUPANCY + m, &v))
			continue;
		if (watch_out(&end->watch, v)) {
			what = telling_flow(f, METRIC_FLOW_QUEUE_OCCUPANCY + m);
			end->flags = (uint8_t)event_judge(t, &end->watch,
							  end->flags,
							  &t->end[m], v, &what);
		}
		end->latest = v;
		t->ledger.values++;
	}
}

/* What the hops of a view told of their latencies. */
struct latencies {
	uint64_t sum;
	unsigned n; /* hops */
};

struct taking {
	struct telemetry *t;
	const struct int_view *v;
	struct flow_entry *f; /* NULL: not known */
	struct view_hops hops;
	bool whole; /* the path is */
	struct latencies latency;
};

/* A hop that is being taken: of a flow, or the scratch one. */
struct standing {
	struct flow_hop *hop;
	struct flow_wide *wide;
	struct place *place;
	bool kept;
};

static inline void take_latency(struct taking *c, struct standing *s,
				uint64_t number)
{
	uint32_t v = value_of(c->t, number);

	c->latency.sum += v;
	c->latency.n++;
	if (watch_out(&s->hop->watch, v))
		value_latency(c->t, s->kept ? c->f : NULL, s->hop, v);
	meter_add(&s->hop->meter[METRIC_HOP_LATENCY], v);
	dist_add(s->place->node->dist[METRIC_HOP_LATENCY], v);
	c->t->ledger.values++;
}

static inline void take_metric(struct taking *c, struct standing *s, unsigned m,
			       uint64_t number)
{
	uint32_t v = value_of(c->t, number);

	if (c->t->far)
		value_far_one(c->t, s->place, (enum metric)m, v);
	else
		value_take(c->t, c->v->ts_ns, s->place, (enum metric)m, v);
	meter_add(m < FLOW_METERS ? &s->hop->meter[m]
				  : &s->wide->meter[m - FLOW_METERS],
		  v);
	dist_add(s->place->node->dist[m], v);
	c->t->ledger.values++;
}

/* Its own latency, or else what its time stamps say. */
static void take_hop(struct taking *c, unsigned i, struct standing *s)
{
	const struct fields *fs = view_fields(&c->hops, i);
	const struct hop_field *f = fs->metric;
	const uint8_t *hop = view_hop(&c->hops, i);
	uint64_t number;
	bool told;

	number = field_number(f, hop, &told);
	if (!told && f->width != FIELD_NONE)
		c->t->ledger.unavailable++;
	if (told || view_latency(c->t, &c->hops, i, &number))
		take_latency(c, s, number);
	for (unsigned m = 1; m < METRIC_OF_HOP; m++) {
		if ((++f)->width == FIELD_NONE)
			continue;
		number = field_number(f, hop, &told);
		if (told)
			take_metric(c, s, m, number);
		else
			c->t->ledger.unavailable++;
	}
}

/* Hop i of a flow; most have no blocks. */
static inline struct flow_hop *hop_of(const struct taking *c, unsigned i)
{
	const struct flows *fl = &c->t->flows;

	return i < fl->o.hops ? &flow_hops(c->f)[i] : flow_hop(fl, c->f, i);
}

/* Where hop i is kept: with the flow, or not at all. */
static inline struct standing stand(struct taking *c, unsigned i)
{
	struct telemetry *t = c->t;
	struct standing s = {&t->scratch_hop, &t->scratch_wide, NULL, false};
	int k = -1;

	if (c->f && c->whole)
		k = i < c->f->kept ? (int)i : -1;
	else if (c->f)
		k = track_hop(t, c->f, &c->hops, i);
	if (k >= 0) {
		s.kept = true;
		s.hop = hop_of(c, (unsigned)k);
		s.wide = flow_wide(&t->flows, c->f, (unsigned)k);
		if (!s.wide)
			s.wide = &t->scratch_wide;
	} else {
		s.hop->place = view_place(t, &c->hops, i) & 0xffffff;
		for (unsigned m = 0; m < METRIC_OF_HOP; m++)
			track_dist(t, t->objects.place[s.hop->place].node,
				   (enum metric)m);
	}
	s.place = &t->objects.place[s.hop->place];
	return s;
}

static void take_hops(struct taking *c)
{
	for (unsigned i = 0; i < c->hops.n; i++) {
		struct standing s = stand(c, i);

		take_hop(c, i, &s);
	}
}

static bool where_it_was(const struct taking *c)
{
	if (c->f->hops != c->hops.n)
		return false;
	for (unsigned i = 0; i < c->hops.n && i < c->f->kept; i++) {
		uint32_t place = hop_of(c, i)->place;

		if (!view_is_at(&c->hops, i, &c->t->objects.place[place]))
			return false;
	}
	return true;
}

static inline void end_to_end(struct telemetry *t, struct flow_entry *f,
			      uint64_t ns)
{
	uint32_t v = value_of(t, ns);

	if (watch_out(&f->watch, v))
		value_flow(t, f, v);
	meter_add(&f->latency, v);
	if (f->path)
		dist_add(t->paths.path[f->path].dist, v);
}

static void take_end_to_end(struct taking *c)
{
	uint64_t ns = c->latency.sum;

	if (c->latency.n == c->hops.n || view_end_to_end(c->t, &c->hops, &ns)) {
		end_to_end(c->t, c->f, ns);
		c->t->ledger.values++;
	}
}

static __attribute__((noinline)) void halve(struct telemetry *t,
					    struct flow_entry *f)
{
	for (unsigned i = 0; i < f->kept; i++) {
		struct flow_hop *h = flow_hop(&t->flows, f, i);
		struct flow_wide *w = flow_wide(&t->flows, f, i);

		for (unsigned m = 0; m < FLOW_METERS; m++)
			meter_halve(&h->meter[m]);
		for (unsigned m = 0; w && m < FLOW_WIDE; m++)
			meter_halve(&w->meter[m]);
	}
	meter_halve(&f->latency);
}

/*
 * Whether a view is a packet that no other view is. Where nodes report one by
 * one (INT-XD, MX), packets are those of the node that was heard first: a drop
 * is not where that node has reported the packet before, nor is what a node
 * says of its queue, if packets tell their path themselves.
 */
static inline bool is_packet(struct flow_entry *f, const struct int_view *v)
{
	const struct int_from *from = &v->from;

	if (v->flags & INT_INTERMEDIATE)
		return false;
	if (v->stack.n || !from->has_node)
		return true;
	if (f->hops && !(v->flags & (INT_DROPPED | INT_TRACKED)))
		return false;
	if (!(f->flags & FLOW_REPORTED) && !(v->flags & INT_DROPPED)) {
		f->flags |= FLOW_REPORTED;
		f->reporter = from->node;
	}
	return !(f->flags & FLOW_REPORTED) || f->reporter == from->node;
}

static inline void take_flow(struct telemetry *t, const struct int_view *v,
			     struct flow_entry *f)
{
	if (!f->generation) {
		f->first_ns = v->ts_ns;
		f->generation = t->generation;
	}
	f->flags |= FLOW_MET;
	f->last_ns = v->ts_ns;
	if (is_packet(f, v)) {
		f->bytes += v->ip_len;
		if (++f->packets % HALVE_PACKETS == 0)
			halve(t, f);
	}
	if (f->generation != t->generation)
		events_renew(t, f);
}

static void tell_reporter(struct telemetry *t, const struct reporter *r,
			  enum telemetry_kind kind,
			  const struct loss_news *news, uint64_t ts_ns)
{
	struct telling what = telling_nothing;

	what.ts_ns = ts_ns;
	if (r->has_node)
		what.node = r->node;
	what.hw_id = r->hw_id;
	if (kind == EVENT_REPORT_LOSS) {
		what.has_value = what.has_reference = true;
		what.value = news->lost;
		what.reference = news->from;
	}
	event_tell(t, kind, &what);
}

void take_news(struct telemetry *t, const struct reporter *r,
	       const struct loss_news *news, uint64_t ts_ns)
{
	if (news->lost)
		tell_reporter(t, r, EVENT_REPORT_LOSS, news, ts_ns);
	if (news->restart)
		tell_reporter(t, r, EVENT_RESTART, news, ts_ns);
	t->ledger.reports_lost += news->lost;
	t->ledger.restarts += news->restart;
}

/* Not the number after the last one. */
static __attribute__((noinline)) void take_other_number(struct telemetry *t,
							struct reporter *r,
							uint32_t number,
							uint64_t ts_ns)
{
	struct loss_news news;
	uint64_t late, repeated;

	if (!r) {
		t->ledger.unnumbered++;
		return;
	}
	late = r->late;
	repeated = r->repeated;
	news = loss_take(r, number, ts_ns);
	t->ledger.reports_late += r->late - late;
	t->ledger.reports_repeated += r->repeated - repeated;
	if (news.lost || news.restart)
		take_news(t, r, &news, ts_ns);
}

static inline struct reporter *take_reporter(struct telemetry *t,
					     const struct int_from *from)
{
	return losses_of(&t->losses, from->has_node, from->node, from->hw_id,
			 from->sequence_bits);
}

static inline void take_number(struct telemetry *t, struct reporter *r,
			       uint32_t number, uint64_t ts_ns)
{
	if (!r || !loss_next(r, number))
		take_other_number(t, r, number, ts_ns);
}

void take_numbers(struct telemetry *t, uint64_t ts_ns,
		  const struct int_from *from, uint32_t n)
{
	uint32_t mask = UINT32_MAX >> (32 - from->sequence_bits);
	struct reporter *r = take_reporter(t, from);

	for (uint32_t i = 0; i < n; i++)
		take_number(t, r, (from->sequence + i) & mask, ts_ns);
}

static void take_metadata(struct taking *c)
{
	struct telemetry_ledger *l = &c->t->ledger;

	c->whole = c->hops.stacked && !(c->v->flags & TAKE_PARTIAL);
	l->hops += c->hops.n;
	l->keyless += !c->f;
	l->partial += !c->whole;
	if (c->f && c->whole && !where_it_was(c))
		track_path(c->t, c->f, &c->hops);
	take_hops(c);
	if (c->f && c->whole) {
		l->values++; /* the path */
		take_end_to_end(c);
		if (c->t->ends)
			value_ends(c->t, c->f, c->v);
	}
}

/* The opaque snapshot of hop i, if it differs from what its node told before;
 * not of nodes that say there is none. */
static void compare_snapshot(struct telemetry *t, const struct view_hops *vh,
			     unsigned i)
{
	const struct int_hops *h = &vh->v->stack;
	struct ioam_snapshot s;
	uint64_t node;

	if (!h->at || !t->rows.of[ROWS_SNAPSHOT] || i >= vh->stacked)
		return;
	s = ioam_snapshot_of(h, h->n - 1 - i);
	if (!s.len && s.schema == IOAM_NO_SCHEMA)
		return;
	t->ledger.snapshots++;
	node = view_node(vh, i);
	/* Of one that is not known, it is not known what was the last. */
	if (node != NODE_UNKNOWN &&
	    !states_differ(&t->states, node, vh->v->domain, s.schema, s.data,
			   s.len))
		return;
	t->ledger.snapshots_told++;
	row_snapshot(&t->rows, vh->v, i + 1, node, s.schema, s.data, s.len);
}

void take_snapshot(struct telemetry *t, const struct int_view *v, unsigned i)
{
	struct view_hops vh;

	view_hops_of(&t->plans, &vh, v);
	compare_snapshot(t, &vh, i);
}

/* A number that the reporter tells of itself. */
static uint32_t own_number(const struct int_view *v, enum int_field field)
{
	uint64_t number;

	if (!v->own.n || !int_get(v->own.plan, v->own.data, field, &number))
		return METRIC_NONE;
	return (uint32_t)number;
}

static void tell_drop(struct telemetry *t, const struct int_view *v)
{
	struct telling what = telling_nothing;

	what.ts_ns = v->ts_ns;
	what.key = v->key_len ? v->key : NULL;
	what.key_len = v->key_len;
	if (v->from.has_node)
		what.node = v->from.node;
	what.hw_id = v->from.hw_id;
	what.ingress = own_number(v, INT_INGRESS);
	what.egress = own_number(v, INT_EGRESS);
	what.queue = own_number(v, INT_QUEUE);
	what.value = own_number(v, INT_DROP_REASON);
	what.has_value = what.value != METRIC_NONE;
	event_tell(t, EVENT_DROP, &what);
}

/* Not inlined, so that the short way keeps no registers for it. */
static __attribute__((noinline)) void
take_any(struct telemetry *t, const struct int_view *v, struct flow_entry *f)
{
	struct taking c = {.t = t, .v = v, .f = f};

	view_hops_of(&t->plans, &c.hops, v);
	if (v->flags & INT_DROPPED)
		tell_drop(t, v);
	if (!c.hops.n && !f) {
		t->ledger.empty++;
		return;
	}
	t->ledger.used++;
	for (unsigned i = 0; i < c.hops.stacked && !t->far; i++)
		compare_snapshot(t, &c.hops, i);
	if (c.hops.n)
		take_metadata(&c);
	else
		t->ledger.hopless++;
}

/* A stack of the plan that was seen last, along the path that the flow took.
 * False: it is not, or not to be taken so; nothing was done. */
static inline bool take_next(struct telemetry *t, const struct int_view *v,
			     struct flow_entry *f)
{
	const struct made *m = t->plans.latest;
	unsigned values;
	uint64_t latency;

	if (!t->vector || !v->stack.n || !v->stack.plan || v->own.n ||
	    v->flags & TAKE_PARTIAL || !fields_are(&m->fields, v->stack.plan) ||
	    !vector_take(t, f, v, &m->picks, &latency))
		return false;
	values = v->stack.n * m->picks.metrics_n + 1u; /* and the path */
	if (m->fields.metric[METRIC_HOP_LATENCY].width) {
		end_to_end(t, f, latency);
		values++;
	}
	if (t->ends)
		value_ends(t, f, v);
	t->ledger.used++;
	t->ledger.hops += v->stack.n;
	t->ledger.values += values;
	return true;
}

void take_view(struct telemetry *t, const struct int_view *v, uint64_t hash)
{
	struct flow_entry *f = NULL;

	t->ledger.views++;
	if (v->from.numbered && !t->o.no_numbers)
		take_number(t, take_reporter(t, &v->from), v->from.sequence,
			    v->ts_ns);
	if (v->key_len) {
		f = flows_get(&t->flows, hash, v->key, v->key_len);
		take_flow(t, v, f);
		if (take_next(t, v, f))
			return;
	}
	take_any(t, v, f);
}
