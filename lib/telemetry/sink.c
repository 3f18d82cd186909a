/* SPDX-License-Identifier: BSD-2-Clause */
/* sink.c - in this order: thresholds and events; what is pushed with time, and
 * at the end; opening and closing; batches of records; the state to be read. */

#include <errno.h>
#include <stdlib.h>

#include "telemetry/private.h"

enum {
	/* When a reporter has been silent for this long, or up to twice that,
	 * its missing reports count as lost. */
	SETTLE_NS = 1000000000,
	CHUNK = 64, /* records that are hashed at once */
	AHEAD = 4,  /* records between the prefetch of a flow and its use */
};

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
	for (unsigned m = 0; m < HOP_METRICS; m++)
		n->threshold[m] = *threshold_of(t, n->id, m);
}

void node_init(struct telemetry *t, struct node *n)
{
	uint64_t hash = n->id * 0x9e3779b97f4a7c15;

	set_node_thresholds(t, n);
	n->owner = (uint32_t)((hash >> 32) * t->o.owners >> 32);
	for (unsigned m = 0; m < HOP_METRICS; m++)
		n->dist[m] = t->dist_none;
}

void telemetry_event_put(struct telemetry *t, enum telemetry_event_kind kind,
			 struct telemetry_event *event)
{
	t->ledger.events++;
	if (!(t->o.kinds >> kind & 1))
		return;
	event->kind = (uint8_t)kind;
	telemetry_row_event(&t->rows, event);
}

unsigned telemetry_event_check(struct telemetry *t, struct threshold_state *w,
			       unsigned flags, const struct threshold *th,
			       uint32_t v, struct telemetry_event *event)
{
	static const uint8_t kind[] = {EVENT_NEW_KEY, EVENT_CHANGE, EVENT_RISE,
				       EVENT_FALL};
	const uint64_t crossed[] = {0, th->change, th->high, th->low};
	unsigned events;

	event->value = v;
	event->has_value = true;
	event->reference = w->ref;
	event->has_reference = flags & THRESHOLD_KNOWN;
	events = threshold_check(w, &flags, th, v);
	for (unsigned i = 0; events >> i; i++) {
		if (!(events >> i & 1))
			continue;
		event->threshold = crossed[i];
		event->has_threshold = 1U << i != THRESHOLD_NEW;
		telemetry_event_put(t, kind[i], event);
	}
	return flags;
}

void flow_renew_thresholds(struct telemetry *t, struct flow_entry *f)
{
	struct flow_end_metric *end = flow_end_metrics(&t->flows, f);

	f->generation = t->generation;
	if (f->flags & THRESHOLD_KNOWN)
		threshold_set_reference(&f->watch, f->flags,
					&t->all[METRIC_FLOW_LATENCY],
					f->watch.ref);
	for (unsigned m = 0; end && m < END_METRICS; m++)
		if (end[m].flags & THRESHOLD_KNOWN)
			threshold_set_reference(&end[m].watch, end[m].flags,
						&t->end[m], end[m].watch.ref);
	for (unsigned i = 0; i < f->kept; i++) {
		struct flow_hop *h = flow_hop(&t->flows, f, i);
		const struct node *n = t->objects.hop_key[h->hop_key].node;

		if (h->flags & THRESHOLD_KNOWN)
			threshold_set_reference(
				&h->watch, h->flags,
				&n->threshold[METRIC_HOP_LATENCY],
				h->watch.ref);
	}
}

/* Applies new thresholds to nodes and ports. A flow takes them with its next
 * record, when its generation is found to be another. */
static void renew_thresholds(struct telemetry *t)
{
	for (uint32_t i = 0; i <= t->objects.nodes.used; i++)
		set_node_thresholds(t, &t->objects.node[i]);
	for (uint32_t i = 1; i <= t->objects.ports.used; i++) {
		struct port_state *o = &t->objects.port[i];

		if (o->flags & THRESHOLD_KNOWN)
			threshold_set_reference(&o->watch, o->flags,
						&o->node->threshold[o->metric],
						o->watch.ref);
	}
	t->generation = (uint8_t)(t->generation % UINT8_MAX + 1);
}

static void put_value(struct telemetry *t, const struct telemetry_event *event)
{
	t->ledger.pushed++;
	telemetry_row_value(&t->rows, event);
}

static struct telemetry_event latest_value(const struct flow_entry *f,
					   enum metric m, uint32_t latest)
{
	struct telemetry_event event = telemetry_event_of_flow(f, m);

	event.has_value = true;
	event.value = latest;
	return event;
}

/* Whether a later hop has the same node, and so its latest value. */
static bool is_later_on_path(const struct telemetry *t, struct flow_entry *f,
			     unsigned i, uint64_t node)
{
	while (node != NODE_UNKNOWN && ++i < f->hops && i < f->kept) {
		uint32_t hop_key = flow_hop(&t->flows, f, i)->hop_key;

		if (hop_key && t->objects.hop_key[hop_key].node_id == node)
			return true;
	}
	return false;
}

static void push_hop(struct telemetry *t, struct flow_entry *f, unsigned i)
{
	struct flow_hop *h = flow_hop(&t->flows, f, i);
	const struct hop_key *p = &t->objects.hop_key[h->hop_key];
	const struct meter *m = &h->meter[METRIC_HOP_LATENCY];
	struct telemetry_event event;

	if ((i >= f->hops && !(h->flags & FLOW_HOP_ACTIVE)) || !m->n ||
	    is_later_on_path(t, f, i, p->node_id))
		return;
	h->flags &= ~(unsigned)FLOW_HOP_ACTIVE & 0xff;
	event = latest_value(f, METRIC_HOP_LATENCY, m->latest);
	event.node = p->node_id;
	put_value(t, &event);
	h = watching_hop(t, f, h);
	threshold_set_reference(&h->watch, h->flags,
				&p->node->threshold[METRIC_HOP_LATENCY],
				m->latest);
}

static void push_end_metrics(struct telemetry *t, struct flow_entry *f)
{
	struct flow_end_metric *end = flow_end_metrics(&t->flows, f);

	for (unsigned m = 0; m < END_METRICS; m++, end++) {
		struct telemetry_event event = latest_value(
			f, METRIC_FLOW_QUEUE_OCCUPANCY + m, end->latest);

		if (!(t->ends_watched >> m & 1) ||
		    !(end->flags & THRESHOLD_KNOWN))
			continue;
		put_value(t, &event);
		threshold_set_reference(&end->watch, end->flags, &t->end[m],
					end->latest);
	}
}

static void push_flow_values(struct telemetry *t, struct flow_entry *f)
{
	uint64_t room[PATH_NODES_MAX];
	struct telemetry_event event;

	if (!(f->flags & FLOW_ACTIVE))
		return;
	f->flags &= ~(unsigned)FLOW_ACTIVE & 0xff;
	if (f->generation != t->generation)
		flow_renew_thresholds(t, f);
	if (f->hops) {
		event = telemetry_event_of_flow(f, METRIC_PATH);
		event.path = telemetry_flow_path(t, f, room);
		put_value(t, &event);
	}
	if (f->latency.n) {
		event = latest_value(f, METRIC_FLOW_LATENCY, f->latency.latest);
		event.path = telemetry_flow_path(t, f, room);
		put_value(t, &event);
		threshold_set_reference(&f->watch, f->flags,
					&t->all[METRIC_FLOW_LATENCY],
					f->latency.latest);
	}
	if (t->ends_watched)
		push_end_metrics(t, f);
	for (unsigned i = 0; i < f->kept; i++)
		push_hop(t, f, i);
}

static void push_port(struct telemetry *t, struct port_state *o)
{
	struct telemetry_event event = telemetry_event_none;

	if (o->last_ns <= o->pushed_ns)
		return;
	o->pushed_ns = o->last_ns;
	event.ts_ns = o->last_ns;
	telemetry_event_set_port(&event, o);
	event.has_value = true;
	event.value = o->latest;
	put_value(t, &event);
	threshold_set_reference(&o->watch, o->flags,
				&o->node->threshold[o->metric], o->latest);
}

/* Pushes ports whose home slot is due: when a port is due depends on its key
 * and the time, not on other ports. A port whose home was taken is in the next
 * slot that was free, so the walk goes on to the first free one. */
static void push_ports(struct telemetry *t)
{
	const struct objects *os = &t->objects;
	const struct key_table *ports = &os->ports;
	uint64_t from, to = sweep_due(&t->ports_sweep, t->now_ns,
				      ports->mask + 1ULL, &from);

	for (uint64_t i = from; from != to; i++) {
		uint32_t nr = ports->slot[i & ports->mask];
		uint32_t home = nr ? objects_port_slot(os, &os->port[nr]) : 0;

		if (nr && home >= from && home < to)
			push_port(t, &os->port[nr]);
		if (!nr && i >= to)
			break;
	}
}

/* Pushes the live values that are due. A key is alive if it had a value since
 * it was last pushed. */
static void push_values(struct telemetry *t)
{
	uint64_t from, to;

	to = sweep_due(&t->flows_sweep, t->now_ns, t->flows.o.rows, &from);
	while ((from = flows_next(&t->flows, from, to)) < to) {
		const struct flow_bucket *row = flows_row_at(&t->flows, from++);

		for (uint32_t i = 0; i < t->flows.o.buckets && row[i].at; i++)
			push_flow_values(t, flows_entry(&t->flows, row[i].at));
	}
	push_ports(t);
}

/* Counts missing reports of silent reporters, or of all, as lost. */
static void settle_losses(struct telemetry *t, bool all)
{
	struct reporter_state *r = t->losses.table.at;

	if (!all && t->now_ns < t->settled_ns + SETTLE_NS)
		return;
	for (uint32_t i = t->losses.table.used; i; i--) {
		struct loss_change news;

		r++;
		if ((!r->missing && !r->gap) ||
		    (!all && r->heard_ns > t->settled_ns))
			continue;
		news = loss_settle(r);
		ingest_loss_change(t, r, &news, t->now_ns);
	}
	t->settled_ns = t->now_ns;
}

/* flows.leave: makes rows of a flow and its hops. */
static void put_flow(void *ctx, struct flow_entry *f, enum flow_leave why)
{
	struct telemetry *t = ctx;
	uint64_t room[PATH_NODES_MAX];

	telemetry_row_flow(&t->rows, t->now_ns, f, why,
			   telemetry_flow_path(t, f, room));
	for (unsigned i = 0; i < f->kept && t->rows.of[ROWS_HOP]; i++) {
		const struct flow_hop *h = flow_hop(&t->flows, f, i);
		const struct hop_key *p = &t->objects.hop_key[h->hop_key];

		if (h->hop_key)
			telemetry_row_hop(&t->rows, t->now_ns, f,
					  i < f->hops ? i + 1 : 0, p, h,
					  flow_rare(&t->flows, f, i));
	}
}

static void put_distributions(struct telemetry *t)
{
	const struct dist *none = t->dist_none;

	for (uint64_t i = 1; i <= t->objects.nodes.used; i++) {
		const struct node *n = &t->objects.node[i];

		for (unsigned m = 0; m < HOP_METRICS; m++)
			if (n->dist[m] != none)
				telemetry_row_distribution(
					&t->rows, t->now_ns, (enum metric)m,
					n->id, (struct nodes){0}, n->dist[m]);
	}
	for (uint32_t i = 1; i <= t->paths.table.used; i++) {
		const struct path *p = &t->paths.path[i];

		if (p->dist != none)
			telemetry_row_distribution(
				&t->rows, t->now_ns, METRIC_FLOW_LATENCY,
				NODE_UNKNOWN,
				(struct nodes){path_nodes(&t->paths, i), p->n},
				p->dist);
	}
}

#define NOTE(name) LEDGER_FIELD(struct telemetry_ledger, name, LEDGER_NOTE)

static const struct ledger_field fields[] = {
	LEDGER_FIELD(struct telemetry_ledger, views, LEDGER_IN),
	LEDGER_FIELD(struct telemetry_ledger, used, LEDGER_DONE),
	LEDGER_FIELD(struct telemetry_ledger, empty, LEDGER_HARMLESS),
	NOTE(keyless),
	NOTE(hopless),
	NOTE(partial),
	NOTE(hops),
	NOTE(values),
	NOTE(unavailable),
	NOTE(saturated),
	NOTE(skewed),
	NOTE(unplaced),
	NOTE(undistributed),
	NOTE(pathless),
	NOTE(forgotten),
	NOTE(events),
	NOTE(pushed),
	NOTE(snapshots),
	NOTE(snapshots_changed),
	LEDGER_BEFORE(struct telemetry_ledger, reports_lost, 0),
	NOTE(reports_late),
	NOTE(reports_repeated),
	NOTE(restarts),
	NOTE(reporters_full),
};

LEDGER_COMPLETE(fields, struct telemetry_ledger);

const struct ledger telemetry_ledger = {"telemetry", "views", fields,
					sizeof(fields) / sizeof(fields[0])};

void telemetry_defaults(struct telemetry_options *o)
{
	*o = (struct telemetry_options){
		.flows = {.rows = 1 << 19,
			  .buckets = 12,
			  .hops = 6,
			  .blocks = 8192,
			  .idle_ns = 60000000000},
		.objects = {.nodes = 4096, .hop_keys = 65536, .ports = 65536},
		.paths = 16384,
		.reporters = 4096,
		.snapshots = 4096,
		.dist_bytes = 28 << 20,
		.push_ns = 10000000000,
		.kinds = EVENTS_ALL,
		.batch_rows = 256,
	};
}

static int open_parts(struct telemetry *t, const struct telemetry_sinks *sinks)
{
	const struct telemetry_options *o = &t->o;
	int rc;

	t->vector = !o->scalar && vector_is_supported();
	if (!(t->dist_none = calloc(1, sizeof(*t->dist_none))))
		return -ENOMEM;
	rc = flows_init(&t->flows, &o->flows);
	if (!rc)
		rc = objects_init(t, &o->objects);
	if (!rc)
		rc = key_table_init(
			&t->paths.table, o->paths, sizeof(struct path),
			offsetof(struct path, n) + sizeof(uint16_t));
	if (!rc)
		rc = area_init(&t->paths.area, o->paths * PATH_NODES * 8ULL);
	if (!rc)
		rc = area_init(&t->dists.area, o->dist_bytes);
	if (!rc)
		rc = losses_init(&t->losses, o->reporters);
	if (!rc)
		rc = snapshots_init(&t->snapshots, o->snapshots);
	if (!rc)
		rc = telemetry_rows_open(&t->rows, sinks, o->batch_rows);
	t->paths.path = t->paths.table.at;
	t->paths.nodes = (uint64_t *)t->paths.area.base;
	return rc;
}

int telemetry_open(struct telemetry **out, const struct telemetry_options *o,
		   const struct telemetry_thresholds *th,
		   const struct telemetry_sinks *sinks)
{
	struct telemetry *t = aligned_alloc(64, sizeof(*t));
	int rc;

	if (!t)
		return -ENOMEM;
	memset(t, 0, sizeof(*t));
	t->o = *o;
	t->generation = 1;
	t->layouts.latest = t->layouts.layout;
	t->flows_sweep.period_ns = t->ports_sweep.period_ns = o->push_ns;
	rc = open_parts(t, sinks);
	if (!rc) {
		t->flows.leave = put_flow;
		t->flows.ctx = t;
		rc = telemetry_set_thresholds(t, th);
	}
	if (rc) {
		telemetry_close(t);
		return rc;
	}
	*out = t;
	return 0;
}

void telemetry_close(struct telemetry *t)
{
	if (!t)
		return;
	telemetry_rows_close(&t->rows);
	flows_fini(&t->flows);
	objects_fini(&t->objects);
	area_fini(&t->paths.table.area);
	area_fini(&t->paths.area);
	area_fini(&t->dists.area);
	area_fini(&t->losses.table.area);
	area_fini(&t->snapshots.area);
	free(t->node_threshold);
	free(t->dist_none);
	free(t);
}

int telemetry_set_thresholds(struct telemetry *t,
			     const struct telemetry_thresholds *th)
{
	struct node_threshold *node = calloc(th->nodes + 1ULL, sizeof(*node));
	int rc = th->ends_watched ? flows_keep_end_metrics(&t->flows) : 0;

	if (!node || rc < 0) {
		free(node);
		return -ENOMEM;
	}
	if (th->nodes)
		memcpy(node, th->node, th->nodes * sizeof(*node));
	free(t->node_threshold);
	t->node_threshold = node;
	t->node_thresholds = th->nodes;
	memcpy(t->all, th->all, sizeof(t->all));
	memcpy(t->end, th->end, sizeof(t->end));
	t->ends_watched = th->ends_watched;
	renew_thresholds(t);
	return 0;
}

static __attribute__((noinline)) void run_periodic_work(struct telemetry *t)
{
	t->upkeep_ns = telemetry_next_upkeep(t->now_ns);
	flows_age(&t->flows, t->now_ns);
	push_values(t);
	settle_losses(t, false);
}

static inline void advance_time(struct telemetry *t, uint64_t ts_ns)
{
	if (ts_ns <= t->now_ns)
		return;
	t->now_ns = ts_ns;
	if (ts_ns >= t->upkeep_ns)
		run_periodic_work(t);
}

static inline void prefetch_all(const void *p, size_t len)
{
	for (size_t i = 0; i < len; i += LINE)
		__builtin_prefetch((const char *)p + i, 1);
}

/* Prefetches a flow and its first hops, for a record that is AHEAD. */
static inline void prefetch_flow(const struct telemetry *t, uint64_t hash,
				 unsigned hops)
{
	struct flow_entry *f = flows_guess(&t->flows, hash);

	if (!f)
		return;
	if (hops > t->flows.o.hops)
		hops = t->flows.o.hops;
	prefetch_all(f, sizeof(*f) + hops * sizeof(struct flow_hop));
	if (hops && t->layouts.latest->simd.present >> FLOW_METERS)
		prefetch_all(flow_rare(&t->flows, f, 0),
			     hops * sizeof(struct flow_rare));
}

static inline void prefetch_record_flow(const struct telemetry *t,
					const struct int_record *v,
					const uint64_t *hash, size_t i)
{
	if (v[i].key_len && (!i || hash[i] != hash[i - 1]))
		prefetch_flow(t, hash[i], (unsigned)v[i].stack.n + v[i].own.n);
}

void ingest_records(struct telemetry *t, const struct int_record *v, size_t n,
		    const uint64_t *hash, const uint32_t *number)
{
	for (size_t i = 0; i < n && i < AHEAD; i++)
		prefetch_record_flow(t, v, hash, i);
	for (size_t i = 0; i < n; i++) {
		if (i + AHEAD < n)
			prefetch_record_flow(t, v, hash, i + AHEAD);
		if (number)
			t->record = number[i];
		advance_time(t, v[i].ts_ns);
		ingest_record(t, &v[i], hash[i]);
	}
}

int telemetry_add_records(struct telemetry *t, const struct int_record *v,
			  size_t n)
{
	uint64_t hash[CHUNK];

	for (size_t k; n; v += k, n -= k) {
		k = n < CHUNK ? n : CHUNK;
		for (size_t i = 0; i < k; i++) {
			hash[i] = 0;
			if (!v[i].key_len)
				continue;
			hash[i] = flows_hash(v[i].key, v[i].key_len);
			__builtin_prefetch(flows_row(&t->flows, hash[i]), 1);
		}
		ingest_records(t, v, k, hash, NULL);
	}
	return t->rows.err;
}

int telemetry_add_numbers(struct telemetry *t, uint64_t ts_ns,
			  const struct int_from *from, uint32_t n)
{
	advance_time(t, ts_ns);
	ingest_report_numbers(t, ts_ns, from, n);
	return t->rows.err;
}

int telemetry_tick(struct telemetry *t, uint64_t now_ns)
{
	advance_time(t, now_ns);
	return t->rows.err;
}

int telemetry_put_rows(struct telemetry *t)
{
	return telemetry_rows_flush(&t->rows);
}

void merge_distributions(struct telemetry *to, const struct telemetry *from)
{
	for (uint64_t i = 1; i <= from->objects.nodes.used; i++) {
		const struct node *n = &from->objects.node[i];
		struct node *other = objects_node(to, n->id);

		for (unsigned m = 0; m < HOP_METRICS; m++) {
			if (n->dist[m] == from->dist_none)
				continue;
			if (other)
				track_dist(to, other, (enum metric)m);
			dist_move(other ? other->dist[m] : to->dist_none,
				  n->dist[m]);
		}
	}
	for (uint32_t i = 1; i <= from->paths.table.used; i++) {
		const struct path *p = &from->paths.path[i];
		const struct nodes at = {path_nodes(&from->paths, i), p->n};
		uint32_t nr;

		if (p->dist == from->dist_none)
			continue;
		nr = path_number(to, at);
		dist_move(nr ? to->paths.path[nr].dist : to->dist_none,
			  p->dist);
	}
}

int telemetry_flush(struct telemetry *t)
{
	settle_losses(t, true);
	flows_flush(&t->flows);
	put_distributions(t);
	return telemetry_rows_flush(&t->rows);
}

const struct telemetry_ledger *telemetry_counters(struct telemetry *t)
{
	const struct objects *os = &t->objects;

	t->ledger.unplaced = os->ports.no_room + t->snapshots.no_room;
	if (!t->o.hop_keys_counted)
		t->ledger.unplaced += os->nodes.no_room + os->hop_keys.no_room;
	t->ledger.undistributed = dist_samples(t->dist_none);
	t->ledger.pathless = t->paths.table.no_room;
	return &t->ledger;
}

const struct flows_ledger *telemetry_flows(const struct telemetry *t)
{
	return &t->flows.ledger;
}

uint32_t telemetry_items(const struct telemetry *t, enum telemetry_item kind)
{
	switch (kind) {
	case TELEMETRY_FLOW:
		return t->flows.used;
	case TELEMETRY_NODE:
		return t->objects.nodes.used;
	case TELEMETRY_PORT:
		return t->objects.ports.used;
	default:
		return t->paths.table.used;
	}
}

struct flow_entry *telemetry_flow_at(const struct telemetry *t, uint32_t i)
{
	struct flow_entry *f;

	if (i >= t->flows.used)
		return NULL;
	f = flows_entry(&t->flows, i + 1);
	return f->key_len ? f : NULL;
}

const struct hop_key *telemetry_flow_hop(const struct telemetry *t,
					 struct flow_entry *f, unsigned k,
					 const struct meter *meter[HOP_METRICS])
{
	const struct flow_hop *h = flow_hop(&t->flows, f, k);
	const struct flow_rare *rare = flow_rare(&t->flows, f, k);

	for (unsigned m = 0; m < FLOW_METERS; m++)
		meter[m] = &h->meter[m];
	for (unsigned m = 0; m < FLOW_RARE_METERS; m++)
		meter[FLOW_METERS + m] = &rare->meter[m];
	return h->hop_key ? &t->objects.hop_key[h->hop_key] : NULL;
}

const struct node *telemetry_node_at(const struct telemetry *t, uint32_t i)
{
	return i < t->objects.nodes.used ? &t->objects.node[i + 1] : NULL;
}

static const struct dist *dist_or_null(const struct telemetry *t,
				       const struct dist *d)
{
	return d == t->dist_none ? NULL : d;
}

const struct dist *telemetry_node_dist(const struct telemetry *t,
				       const struct node *n, enum metric m)
{
	return dist_or_null(t, n->dist[m]);
}

const struct port_state *telemetry_port_at(const struct telemetry *t,
					   uint32_t i)
{
	return i < t->objects.ports.used ? &t->objects.port[i + 1] : NULL;
}

bool telemetry_path_at(const struct telemetry *t, uint32_t i,
		       struct telemetry_path *out)
{
	const struct path *p = &t->paths.path[i + 1];

	if (i >= t->paths.table.used)
		return false;
	*out = (struct telemetry_path){{path_nodes(&t->paths, i + 1), p->n},
				       p->loop,
				       dist_or_null(t, p->dist)};
	return true;
}
