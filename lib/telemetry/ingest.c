/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ingest.c - compares the values of a record with what was last reported for
 * its flow and its nodes, and counts them. In this order: values that may be
 * events; hops; reports' numbers; records.
 */
#include <errno.h>
#include <stdlib.h>

#include "int/ioam.h"
#include "telemetry/private.h"

enum {
	REMOTE_HOPS_MIN = 256, /* room at first */
	/* Records with one of these flags are not of the whole path. */
	PARTIAL_FLAGS = INT_DROPPED | INT_INTERMEDIATE | INT_MTU_EXCEEDED |
			INT_HOPS_EXCEEDED,
};

/* Meters are halved each so many packets of a flow: counts stay below 2^32. */
#define HALVE_PACKETS (1U << 31)

struct flow_hop *watching_hop(const struct telemetry *t, struct flow_entry *f,
			      struct flow_hop *h)
{
	const struct hop_key *keys = t->objects.hop_key;
	uint64_t node = keys[h->hop_key].node_id;

	if (h->flags & THRESHOLD_KNOWN || !h->hop_key || node == NODE_UNKNOWN)
		return h;
	for (unsigned i = 0; i < f->kept; i++) {
		struct flow_hop *k = flow_hop(&t->flows, f, i);

		if (k->flags & THRESHOLD_KNOWN &&
		    keys[k->hop_key].node_id == node)
			return k;
	}
	return h;
}

void hop_check_latency(struct telemetry *t, struct flow_entry *f,
		       struct flow_hop *h, uint32_t v)
{
	struct telemetry_event event;
	const struct hop_key *p = &t->objects.hop_key[h->hop_key];

	track_dist(t, p->node, METRIC_HOP_LATENCY);
	if (!f)
		return;
	h = watching_hop(t, f, h);
	if (!threshold_outside(&h->watch, v))
		return;
	event = telemetry_event_of_flow(f, METRIC_HOP_LATENCY);
	event.node = p->node_id;
	h->flags = telemetry_event_check(
			   t, &h->watch, h->flags,
			   &p->node->threshold[METRIC_HOP_LATENCY], v, &event) &
		   0xff;
}

bool remote_hops_grow(struct telemetry *t, struct remote_hops *l)
{
	size_t room = l->room ? 2 * l->room : REMOTE_HOPS_MIN;
	void *hop = realloc(l->hop, room * sizeof(*l->hop));

	if (!hop) {
		t->rows.err = t->rows.err ? t->rows.err : -ENOMEM;
		return false;
	}
	l->hop = hop;
	l->room = room;
	return true;
}

static void add_remote_metric(struct telemetry *t, struct hop_key *p,
			      enum metric m, uint32_t v)
{
	unsigned first = (m - METRIC_QUEUE_OCCUPANCY) & ~1U;
	unsigned at = (m - METRIC_QUEUE_OCCUPANCY) & 1;
	uint32_t two[2] = {v, v};

	track_dist(t, p->node, m);
	remote_add(t, p, METRIC_QUEUE_OCCUPANCY + first, 1U << at, two);
}

struct port_state *port_check(struct telemetry *t, uint64_t ts_ns,
			      struct hop_key *p, enum metric m, uint32_t v)
{
	struct telemetry_event event = telemetry_event_none;
	struct port_state *o;

	track_dist(t, p->node, m);
	if (p->node->id == NODE_UNKNOWN)
		return &t->objects.nothing;
	o = objects_port(t, p, m);
	if (o == &t->objects.unplaced)
		return o;
	event.ts_ns = ts_ns;
	telemetry_event_set_port(&event, o);
	o->flags = (uint8_t)telemetry_event_check(
		t, &o->watch, o->flags, &p->node->threshold[m], v, &event);
	return o;
}

/* A flow's latency from end to end, outside the range. */
static void check_path_latency(struct telemetry *t, struct flow_entry *f,
			       uint32_t v)
{
	struct telemetry_event event = telemetry_event_of_flow(
		f, METRIC_FLOW_LATENCY);
	uint64_t room[PATH_NODES_MAX];

	event.path = telemetry_flow_path(t, f, room);
	f->flags = (uint8_t)telemetry_event_check(t, &f->watch, f->flags,
						  &t->all[METRIC_FLOW_LATENCY],
						  v, &event);
}

/* The largest value of a metric over all hops. False: no hop reports it. */
static bool largest_of_path(const struct record_hops *rh, enum metric m,
			    uint32_t *out)
{
	uint64_t most = 0;
	bool any = false;

	for (unsigned i = 0; i < rh->n; i++) {
		bool told;
		uint64_t v = field_number(&record_hop_fields(rh, i)->metric[m],
					  record_hop(rh, i), &told);

		any |= told;
		if (told && v > most)
			most = v;
	}
	/* A value above 32 bits was counted with its hop. */
	*out = most > UINT32_MAX ? UINT32_MAX : (uint32_t)most;
	return any;
}

/* The end-to-end metrics beside the latency. */
static void check_path_metrics(struct telemetry *t, struct flow_entry *f,
			       const struct int_record *v)
{
	struct flow_end_metric *end = flow_end_metrics(&t->flows, f);
	struct record_hops rh;
	struct telemetry_event event;
	uint32_t largest;

	record_hops_init(&t->layouts, &rh, v);
	for (unsigned m = 0; m < END_METRICS; m++, end++) {
		if (!(t->ends_watched >> m & 1) ||
		    !largest_of_path(&rh, METRIC_QUEUE_OCCUPANCY + m, &largest))
			continue;
		if (threshold_outside(&end->watch, largest)) {
			event = telemetry_event_of_flow(
				f, METRIC_FLOW_QUEUE_OCCUPANCY + m);
			end->flags = (uint8_t)telemetry_event_check(
				t, &end->watch, end->flags, &t->end[m], largest,
				&event);
		}
		end->latest = largest;
		t->ledger.values++;
	}
}

/* The latencies that the hops of a record reported. */
struct latencies {
	uint64_t sum;
	unsigned n; /* hops */
};

struct ingestion {
	struct telemetry *t;
	const struct int_record *v;
	struct flow_entry *f; /* NULL: the record has no flow key */
	struct record_hops hops;
	bool whole; /* hops are the whole path */
	struct latencies latency;
};

/* Where a hop's values are counted: a flow's hop, or the scratch one. */
struct hop_state {
	struct flow_hop *hop;
	struct flow_rare *rare;
	struct hop_key *hop_key;
	bool kept;
};

static inline void add_hop_latency(struct ingestion *c, struct hop_state *s,
				   uint64_t number)
{
	uint32_t v = value_of(c->t, number);

	c->latency.sum += v;
	c->latency.n++;
	if (threshold_outside(&s->hop->watch, v))
		hop_check_latency(c->t, s->kept ? c->f : NULL, s->hop, v);
	meter_add(&s->hop->meter[METRIC_HOP_LATENCY], v);
	dist_add(s->hop_key->node->dist[METRIC_HOP_LATENCY], v);
	c->t->ledger.values++;
}

static inline void add_hop_metric(struct ingestion *c, struct hop_state *s,
				  unsigned m, uint64_t number)
{
	uint32_t v = value_of(c->t, number);

	if (c->t->remote)
		add_remote_metric(c->t, s->hop_key, (enum metric)m, v);
	else
		port_add(c->t, c->v->ts_ns, s->hop_key, (enum metric)m, v);
	meter_add(m < FLOW_METERS ? &s->hop->meter[m]
				  : &s->rare->meter[m - FLOW_METERS],
		  v);
	dist_add(s->hop_key->node->dist[m], v);
	c->t->ledger.values++;
}

/* If a hop reports no latency, it is that of its time stamps. */
static void add_hop(struct ingestion *c, unsigned i, struct hop_state *s)
{
	const struct hop_fields *fs = record_hop_fields(&c->hops, i);
	const struct hop_field *f = fs->metric;
	const uint8_t *hop = record_hop(&c->hops, i);
	uint64_t number;
	bool told;

	number = field_number(f, hop, &told);
	if (!told && f->width != FIELD_NONE)
		c->t->ledger.unavailable++;
	if (told || record_hop_latency(c->t, &c->hops, i, &number))
		add_hop_latency(c, s, number);
	for (unsigned m = 1; m < HOP_METRICS; m++) {
		if ((++f)->width == FIELD_NONE)
			continue;
		number = field_number(f, hop, &told);
		if (told)
			add_hop_metric(c, s, m, number);
		else
			c->t->ledger.unavailable++;
	}
}

/* As flow_hop(), inline for hops that are not in a block. */
static inline struct flow_hop *flow_hop_fast(const struct ingestion *c,
					     unsigned i)
{
	const struct flows *fl = &c->t->flows;

	return i < fl->o.hops ? &flow_hops(c->f)[i] : flow_hop(fl, c->f, i);
}

static inline struct hop_state find_hop_state(struct ingestion *c, unsigned i)
{
	struct telemetry *t = c->t;
	struct hop_state s = {&t->scratch_hop, &t->scratch_rare, NULL, false};
	int k = -1;

	if (c->f && c->whole)
		k = i < c->f->kept ? (int)i : -1;
	else if (c->f)
		k = track_hop(t, c->f, &c->hops, i);
	if (k >= 0) {
		s.kept = true;
		s.hop = flow_hop_fast(c, (unsigned)k);
		s.rare = flow_rare(&t->flows, c->f, (unsigned)k);
	} else {
		s.hop->hop_key = record_hop_key(t, &c->hops, i) & 0xffffff;
		for (unsigned m = 0; m < HOP_METRICS; m++)
			track_dist(t, t->objects.hop_key[s.hop->hop_key].node,
				   (enum metric)m);
	}
	s.hop_key = &t->objects.hop_key[s.hop->hop_key];
	return s;
}

static void add_hops(struct ingestion *c)
{
	for (unsigned i = 0; i < c->hops.n; i++) {
		struct hop_state s = find_hop_state(c, i);

		add_hop(c, i, &s);
	}
}

static bool is_known_path(const struct ingestion *c)
{
	if (c->f->hops != c->hops.n)
		return false;
	for (unsigned i = 0; i < c->hops.n && i < c->f->kept; i++) {
		uint32_t hop_key = flow_hop_fast(c, i)->hop_key;

		if (!record_hop_is_at(&c->hops, i,
				      &c->t->objects.hop_key[hop_key]))
			return false;
	}
	return true;
}

static inline void add_path_latency(struct telemetry *t, struct flow_entry *f,
				    uint64_t ns)
{
	uint32_t v = value_of(t, ns);

	if (threshold_outside(&f->watch, v))
		check_path_latency(t, f, v);
	meter_add(&f->latency, v);
	f->latency_max = v > f->latency_max ? v : f->latency_max;
	if (f->path)
		dist_add(t->paths.path[f->path].dist, v);
}

static void ingest_path_latency(struct ingestion *c)
{
	uint64_t ns = c->latency.sum;

	if (c->latency.n == c->hops.n ||
	    record_path_latency(c->t, &c->hops, &ns)) {
		add_path_latency(c->t, c->f, ns);
		c->t->ledger.values++;
	}
}

static void halve(struct meter *m, unsigned n)
{
	for (; n; n--, m++) {
		m->n /= 2;
		m->sum /= 2;
	}
}

static __attribute__((noinline)) void halve_meters(struct telemetry *t,
						   struct flow_entry *f)
{
	for (unsigned i = 0; i < f->kept; i++) {
		halve(flow_hop(&t->flows, f, i)->meter, FLOW_METERS);
		halve(flow_rare(&t->flows, f, i)->meter, FLOW_RARE_METERS);
	}
	halve(&f->latency, 1);
}

/*
 * Whether a record stands for a packet that was not counted yet. Where each
 * node sends reports (INT-XD, MX), those of the node that was heard first
 * count, and no others: a packet dropped further on is counted already. Nor
 * does a report of a queue count, if the flow's packets carry stacks.
 */
static inline bool is_new_packet(struct flow_entry *f,
				 const struct int_record *v)
{
	const struct int_from *from = &v->from;

	if (v->flags & INT_INTERMEDIATE)
		return false;
	if (v->stack.n || !from->has_node)
		return true;
	if (f->hops && !(v->flags & (INT_DROPPED | INT_TRACKED)))
		return false;
	if (!(f->flags & FLOW_BY_NODE) && !(v->flags & INT_DROPPED)) {
		f->flags |= FLOW_BY_NODE;
		f->reporter = from->node;
	}
	return !(f->flags & FLOW_BY_NODE) || f->reporter == from->node;
}

static inline void update_flow(struct telemetry *t, const struct int_record *v,
			       struct flow_entry *f)
{
	if (!f->generation) {
		f->first_ns = v->ts_ns;
		f->generation = t->generation;
	}
	f->flags |= FLOW_ACTIVE;
	f->last_ns = v->ts_ns;
	if (is_new_packet(f, v)) {
		f->bytes += v->ip_len;
		if (++f->packets % HALVE_PACKETS == 0)
			halve_meters(t, f);
	}
	if (f->generation != t->generation)
		flow_renew_thresholds(t, f);
}

void ingest_loss_change(struct telemetry *t, const struct reporter_state *r,
			const struct loss_change *news, uint64_t ts_ns)
{
	struct telemetry_event event = telemetry_event_none, lost;

	event.ts_ns = ts_ns;
	event.node = r->node;
	event.hw_id = r->hw_id;
	lost = event;
	lost.has_value = lost.has_reference = true;
	lost.value = news->lost;
	lost.reference = news->from;
	if (news->lost)
		telemetry_event_put(t, EVENT_REPORT_LOSS, &lost);
	if (news->restart)
		telemetry_event_put(t, EVENT_RESTART, &event);
	t->ledger.reports_lost += news->lost;
	t->ledger.restarts += news->restart;
	t->ledger.reports_late += news->late;
	t->ledger.reports_repeated += news->repeated;
}

/* Any number but the one after the last. */
static __attribute__((noinline)) void
add_unexpected_number(struct telemetry *t, struct reporter_state *r,
		      uint32_t number, uint64_t ts_ns)
{
	struct loss_change news;

	if (!r) {
		t->ledger.reporters_full++;
		return;
	}
	news = loss_add_number(r, number, ts_ns);
	ingest_loss_change(t, r, &news, ts_ns);
}

static inline struct reporter_state *find_reporter(struct telemetry *t,
						   const struct int_from *from)
{
	return losses_get(&t->losses, from->node, from->hw_id,
			  from->sequence_bits);
}

static inline void add_report_number(struct telemetry *t,
				     struct reporter_state *r, uint32_t number,
				     uint64_t ts_ns)
{
	if (!r || !loss_next(r, number))
		add_unexpected_number(t, r, number, ts_ns);
}

void ingest_report_numbers(struct telemetry *t, uint64_t ts_ns,
			   const struct int_from *from, uint32_t n)
{
	uint32_t mask = UINT32_MAX >> (32 - from->sequence_bits);
	struct reporter_state *r = find_reporter(t, from);

	for (uint32_t i = 0; i < n; i++)
		add_report_number(t, r, (from->sequence + i) & mask, ts_ns);
}

static void ingest_metadata(struct ingestion *c)
{
	struct telemetry_ledger *l = &c->t->ledger;

	c->whole = c->hops.stacked && !(c->v->flags & PARTIAL_FLAGS);
	l->hops += c->hops.n;
	l->keyless += !c->f;
	l->partial += !c->whole;
	if (c->f && c->whole && !is_known_path(c))
		track_path(c->t, c->f, &c->hops);
	add_hops(c);
	if (c->f && c->whole) {
		l->values++; /* the path */
		ingest_path_latency(c);
		if (c->t->ends_watched)
			check_path_metrics(c->t, c->f, c->v);
	}
}

/* Makes a row of the opaque state snapshot of hop i, if the node has one and it
 * differs from the one before. */
static void compare_snapshot(struct telemetry *t, const struct record_hops *rh,
			     unsigned i)
{
	const struct int_hops *h = &rh->v->stack;
	struct ioam_snapshot s;
	uint64_t node;

	if (!h->at || !t->rows.of[ROWS_SNAPSHOT] || i >= rh->stacked)
		return;
	s = ioam_snapshot_of(h, h->n - 1 - i);
	if (!s.len && s.schema == IOAM_NO_SCHEMA)
		return;
	t->ledger.snapshots++;
	node = record_hop_node(rh, i);
	/* For an unknown node there is no snapshot to compare with. */
	if (node != NODE_UNKNOWN &&
	    !snapshot_is_new(&t->snapshots, node, rh->v->domain, s.schema,
			     s.data, s.len))
		return;
	t->ledger.snapshots_changed++;
	telemetry_row_snapshot(&t->rows, rh->v, i + 1, node, s.schema, s.data,
			       s.len);
}

void ingest_snapshot(struct telemetry *t, const struct int_record *v,
		     unsigned i)
{
	struct record_hops rh;

	record_hops_init(&t->layouts, &rh, v);
	compare_snapshot(t, &rh, i);
}

/* A field of the reporter's own metadata, or ID_UNKNOWN. */
static uint32_t reporter_field(const struct int_record *v, enum int_field field)
{
	uint64_t number;

	if (!v->own.n || !int_get(v->own.layout, v->own.data, field, &number))
		return ID_UNKNOWN;
	return (uint32_t)number;
}

static void put_drop_event(struct telemetry *t, const struct int_record *v)
{
	struct telemetry_event event = telemetry_event_none;

	event.ts_ns = v->ts_ns;
	event.key = v->key_len ? v->key : NULL;
	event.key_len = v->key_len;
	if (v->from.has_node)
		event.node = v->from.node;
	event.hw_id = v->from.hw_id;
	event.ingress = reporter_field(v, INT_INGRESS);
	event.egress = reporter_field(v, INT_EGRESS);
	event.queue = reporter_field(v, INT_QUEUE);
	event.value = reporter_field(v, INT_DROP_REASON);
	event.has_value = event.value != ID_UNKNOWN;
	telemetry_event_put(t, EVENT_DROP, &event);
}

/* Not inlined, so that the fast path saves no registers for it. */
static __attribute__((noinline)) void ingest_slow(struct telemetry *t,
						  const struct int_record *v,
						  struct flow_entry *f)
{
	struct ingestion c = {.t = t, .v = v, .f = f};

	record_hops_init(&t->layouts, &c.hops, v);
	if (v->flags & INT_DROPPED)
		put_drop_event(t, v);
	if (!c.hops.n && !f) {
		t->ledger.empty++;
		return;
	}
	t->ledger.used++;
	for (unsigned i = 0; i < c.hops.stacked && !t->remote; i++)
		compare_snapshot(t, &c.hops, i);
	if (c.hops.n)
		ingest_metadata(&c);
	else
		t->ledger.hopless++;
}

/* Takes a record whose stack has the layout of the last one, and follows the
 * flow's path. False: it is not such a record; nothing was done. */
static inline bool ingest_fast(struct telemetry *t, const struct int_record *v,
			       struct flow_entry *f)
{
	const struct ready_layout *m = t->layouts.latest;
	unsigned values;
	uint64_t latency;

	if (!t->vector || !v->stack.n || !v->stack.layout || v->own.n ||
	    v->flags & PARTIAL_FLAGS ||
	    !hop_fields_match(&m->fields, v->stack.layout) ||
	    !vector_ingest(t, f, v, &m->simd, &latency))
		return false;
	values = v->stack.n * m->simd.metrics_n + 1u; /* and the path */
	if (m->fields.metric[METRIC_HOP_LATENCY].width) {
		add_path_latency(t, f, latency);
		values++;
	}
	if (t->ends_watched)
		check_path_metrics(t, f, v);
	t->ledger.used++;
	t->ledger.hops += v->stack.n;
	t->ledger.values += values;
	return true;
}

void ingest_record(struct telemetry *t, const struct int_record *v,
		   uint64_t hash)
{
	struct flow_entry *f = NULL;

	t->ledger.views++;
	if (v->from.numbered && !t->o.no_numbers)
		add_report_number(t, find_reporter(t, &v->from),
				  v->from.sequence, v->ts_ns);
	if (v->key_len) {
		f = flows_get(&t->flows, hash, v->key, v->key_len);
		update_flow(t, v, f);
		if (ingest_fast(t, v, f))
			return;
	}
	ingest_slow(t, v, f);
}
