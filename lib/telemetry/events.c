/* SPDX-License-Identifier: BSD-2-Clause */
/* events.c - thresholds and what passes them; what goes out by time, and at the
 * end. */
#include "telemetry/private.h"

static const struct threshold *threshold_of(const struct telemetry *t,
					    uint64_t node, unsigned m)
{
	for (unsigned i = t->node_thresholds; i; i--) {
		const struct node_threshold *n = &t->node_threshold[i - 1];

		if (n->node == node && n->metric == m)
			return &n->threshold;
	}
	return &t->all[m];
}

static void set_node_thresholds(const struct telemetry *t, struct node *n)
{
	for (unsigned m = 0; m < METRIC_OF_HOP; m++)
		n->threshold[m] = *threshold_of(t, n->id, m);
}

void events_node(void *ctx, struct node *n)
{
	uint64_t hash = n->id * 0x9e3779b97f4a7c15;
	struct telemetry *t = ctx;

	set_node_thresholds(t, n);
	n->owner = (uint32_t)((hash >> 32) * t->o.owners >> 32);
	for (unsigned m = 0; m < METRIC_OF_HOP; m++)
		n->dist[m] = t->none;
}

void telemetry_event_put(struct telemetry *t, enum telemetry_kind kind,
			 struct telemetry_event *what)
{
	t->ledger.events++;
	if (!(t->o.kinds >> kind & 1))
		return;
	what->kind = (uint8_t)kind;
	telemetry_row_event(&t->rows, what);
}

unsigned telemetry_event_check(struct telemetry *t, struct threshold_state *w,
			       unsigned flags, const struct threshold *th,
			       uint32_t v, struct telemetry_event *what)
{
	static const uint8_t kind[] = {EVENT_NEW_KEY, EVENT_CHANGE, EVENT_RISE,
				       EVENT_FALL};
	const uint64_t passed[] = {0, th->change, th->high, th->low};
	unsigned events;

	what->value = v;
	what->has_value = true;
	what->reference = w->ref;
	what->has_reference = flags & THRESHOLD_KNOWN;
	events = threshold_check(w, &flags, th, v);
	for (unsigned i = 0; events >> i; i++) {
		if (!(events >> i & 1))
			continue;
		what->threshold = passed[i];
		what->has_threshold = 1U << i != THRESHOLD_NEW;
		telemetry_event_put(t, kind[i], what);
	}
	return flags;
}

void events_renew(struct telemetry *t, struct flow_entry *f)
{
	struct flow_end *end = flow_ends(&t->flows, f);

	f->generation = t->generation;
	if (f->flags & THRESHOLD_KNOWN)
		threshold_set_reference(&f->watch, f->flags,
					&t->all[METRIC_FLOW_LATENCY],
					f->watch.ref);
	for (unsigned m = 0; end && m < METRIC_ENDS; m++)
		if (end[m].flags & THRESHOLD_KNOWN)
			threshold_set_reference(&end[m].watch, end[m].flags,
						&t->end[m], end[m].watch.ref);
	for (unsigned i = 0; i < f->kept; i++) {
		struct flow_hop *h = flow_hop(&t->flows, f, i);
		const struct node *n = t->objects.place[h->place].node;

		if (h->flags & THRESHOLD_KNOWN)
			threshold_set_reference(
				&h->watch, h->flags,
				&n->threshold[METRIC_HOP_LATENCY],
				h->watch.ref);
	}
}

static void renew_port_thresholds(struct telemetry *t)
{
	for (uint64_t i = 0; i < t->objects.counters.objects; i++) {
		struct port_state *o = &t->objects.object[i];

		if (o->flags & THRESHOLD_KNOWN)
			threshold_set_reference(&o->watch, o->flags,
						&o->node->threshold[o->metric],
						o->watch.ref);
	}
}

void events_set(struct telemetry *t)
{
	set_node_thresholds(t, &t->objects.nobody);
	for (uint64_t i = 1; i <= t->objects.counters.nodes; i++)
		set_node_thresholds(t, &t->objects.node[i]);
	renew_port_thresholds(t);
	/* Flows follow when they are met next: their generation is another. */
	t->generation++;
}

static void put_value(struct telemetry *t, const struct telemetry_event *what)
{
	t->ledger.pushed++;
	telemetry_row_value(&t->rows, what);
}

static struct telemetry_event latest_value(const struct flow_entry *f,
					   enum metric m, uint32_t latest)
{
	struct telemetry_event what = telemetry_event_of_flow(f, m);

	what.has_value = true;
	what.value = latest;
	return what;
}

/* Of a node that is twice on the path the later hop tells the latest. */
static bool is_later_on_path(const struct telemetry *t, struct flow_entry *f,
			     unsigned i, uint64_t node)
{
	while (node != NODE_UNKNOWN && ++i < f->hops && i < f->kept) {
		uint32_t place = flow_hop(&t->flows, f, i)->place;

		if (place && t->objects.place[place].node_id == node)
			return true;
	}
	return false;
}

static void push_hop(struct telemetry *t, struct flow_entry *f, unsigned i)
{
	struct flow_hop *h = flow_hop(&t->flows, f, i);
	const struct hop_key *p = &t->objects.place[h->place];
	const struct meter *m = &h->meter[METRIC_HOP_LATENCY];
	struct telemetry_event what;

	if ((i >= f->hops && !(h->flags & FLOW_HOP_SEEN)) || !m->n ||
	    is_later_on_path(t, f, i, p->node_id))
		return;
	h->flags &= ~(unsigned)FLOW_HOP_SEEN & 0xff;
	what = latest_value(f, METRIC_HOP_LATENCY, m->latest);
	what.node = p->node_id;
	put_value(t, &what);
	h = value_key(t, f, h);
	threshold_set_reference(&h->watch, h->flags,
				&p->node->threshold[METRIC_HOP_LATENCY],
				m->latest);
}

static void push_path_metrics(struct telemetry *t, struct flow_entry *f)
{
	struct flow_end *end = flow_ends(&t->flows, f);

	for (unsigned m = 0; m < METRIC_ENDS; m++, end++) {
		struct telemetry_event what = latest_value(
			f, METRIC_FLOW_QUEUE_OCCUPANCY + m, end->latest);

		if (!(t->ends >> m & 1) || !(end->flags & THRESHOLD_KNOWN))
			continue;
		put_value(t, &what);
		threshold_set_reference(&end->watch, end->flags, &t->end[m],
					end->latest);
	}
}

static void push_flow_values(struct telemetry *t, struct flow_entry *f)
{
	uint64_t room[PATH_NODES_MAX];
	struct telemetry_event what;

	if (!(f->flags & FLOW_MET))
		return;
	f->flags &= ~(unsigned)FLOW_MET & 0xff;
	if (f->generation != t->generation)
		events_renew(t, f);
	if (f->hops) {
		what = telemetry_event_of_flow(f, METRIC_PATH);
		what.path = track_nodes(t, f, room);
		put_value(t, &what);
	}
	if (f->latency.n) {
		what = latest_value(f, METRIC_FLOW_LATENCY, f->latency.latest);
		what.path = track_nodes(t, f, room);
		put_value(t, &what);
		threshold_set_reference(&f->watch, f->flags,
					&t->all[METRIC_FLOW_LATENCY],
					f->latency.latest);
	}
	if (t->ends)
		push_path_metrics(t, f);
	for (unsigned i = 0; i < f->kept; i++)
		push_hop(t, f, i);
}

static void push_port(struct telemetry *t, struct port_state *o)
{
	struct telemetry_event what = telemetry_event_none;

	if (o->last_ns <= o->pushed_ns)
		return;
	o->pushed_ns = o->last_ns;
	what.ts_ns = o->last_ns;
	telemetry_event_set_port(&what, o);
	what.has_value = true;
	what.value = o->latest;
	put_value(t, &what);
	threshold_set_reference(&o->watch, o->flags,
				&o->node->threshold[o->metric], o->latest);
}

static void push_flow_row(struct telemetry *t, const struct flow_bucket *row)
{
	for (uint32_t i = 0; i < t->flows.o.buckets && row[i].at; i++)
		push_flow_values(t, flows_entry(&t->flows, row[i].at));
}

/* Whose turn it is: when that is depends on the key and the time, not on other
 * objects. One whose slot was taken is in the next that was free. */
static void push_ports(struct telemetry *t)
{
	const struct objects *os = &t->objects;
	uint64_t from, to = sweep_due(&t->push_objects, t->now_ns,
				      os->object_mask + 1ULL, &from);

	if (from == to || !os->counters.objects)
		return;
	for (uint64_t i = from;; i++) {
		uint32_t nr = os->object_slot[i & os->object_mask];
		uint32_t home = nr ? objects_port_slot(os, &os->object[nr - 1])
				   : 0;

		if (nr && home >= from && home < to)
			push_port(t, &os->object[nr - 1]);
		if (!nr && i >= to)
			break;
	}
}

void push_values(struct telemetry *t)
{
	uint64_t from, to;

	to = sweep_due(&t->push_flows, t->now_ns, t->flows.o.rows, &from);
	while ((from = flows_next(&t->flows, from, to)) < to)
		push_flow_row(t, flows_row_at(&t->flows, from++));
	push_ports(t);
}

static void settle_losses(struct telemetry *t, struct reporter_state *r,
			  bool all)
{
	struct loss_change news;

	if ((!r->missing && !r->run) ||
	    (!all && r->heard_ns + t->settle.period_ns > t->now_ns))
		return;
	news = loss_settle(r);
	ingest_loss_change(t, r, &news, t->now_ns);
}

void push_losses(struct telemetry *t, bool all)
{
	uint64_t from = 0, to = t->losses.mask + 1ULL;

	if (!all)
		to = sweep_due(&t->settle, t->now_ns, to, &from);
	/* As objects. */
	for (uint64_t i = from; from < to; i++) {
		struct reporter_state *r = &t->losses.at[i & t->losses.mask];
		uint32_t home = losses_home(&t->losses, r);

		if (r->used && home >= from && home < to)
			settle_losses(t, r, all);
		if (!r->used && i >= to)
			break;
	}
}

void push_flow(void *ctx, struct flow_entry *f, enum flow_leaves why)
{
	struct telemetry *t = ctx;
	uint64_t room[PATH_NODES_MAX];

	telemetry_row_flow(&t->rows, t->now_ns, f, why,
			   track_nodes(t, f, room));
	for (unsigned i = 0; i < f->kept && t->rows.of[ROWS_HOP]; i++) {
		const struct flow_hop *h = flow_hop(&t->flows, f, i);
		const struct hop_key *p = &t->objects.place[h->place];

		if (h->place)
			telemetry_row_hop(&t->rows, t->now_ns, f,
					  i < f->hops ? i + 1 : 0, p->node_id,
					  p->id[FIELD_EGRESS],
					  p->id[FIELD_QUEUE], h,
					  flow_wide(&t->flows, f, i));
	}
}

void push_distributions(struct telemetry *t)
{
	const struct dist *none = t->none;

	for (uint64_t i = 1; i <= t->objects.counters.nodes; i++) {
		const struct node *n = &t->objects.node[i];

		for (unsigned m = 0; m < METRIC_OF_HOP; m++)
			if (n->dist[m] != none)
				telemetry_row_distribution(
					&t->rows, t->now_ns, (enum metric)m,
					n->id, (struct nodes){0}, n->dist[m]);
	}
	for (uint32_t i = 1; i <= t->paths.used; i++) {
		const struct path *p = &t->paths.path[i];

		if (p->dist != none)
			telemetry_row_distribution(
				&t->rows, t->now_ns, METRIC_FLOW_LATENCY,
				NODE_UNKNOWN,
				(struct nodes){path_nodes(&t->paths, i), p->n},
				p->dist);
	}
}
