/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sink's events, one by one, against a model that keeps a list of metric
 * keys and applies the rules of telemetry/threshold.h to each value.
 */
#include "base/rng.h"
#include "telemetry_rig.h"

enum {
	KEYS = 4096,
	VIEWS = 6000,
	FLOWS = 12,
	PATHS = 4,
	HOPS = 5,
	WANT = 256,
};

/* What is expected of one view. */
struct want {
	const char *event, *metric;
	int64_t node, egress, queue, buffer, value, reference;
	bool flow;
};

struct key {
	int metric;
	int64_t flow, node, egress, id;
	uint32_t ref, pushed;
	bool known, risen;
};

struct model {
	struct key key[KEYS];
	unsigned n;
	struct want want[WANT];
	unsigned wants;
	uint64_t values;
};

static struct key *key_of(struct model *m, int metric, int64_t flow,
			  int64_t node, int64_t egress, int64_t id)
{
	struct key *k = m->key;

	for (; k < m->key + m->n; k++)
		if (k->metric == metric && k->flow == flow && k->node == node &&
		    k->egress == egress && k->id == id)
			return k;
	*k = (struct key){.metric = metric,
			  .flow = flow,
			  .node = node,
			  .egress = egress,
			  .id = id};
	m->n++;
	return k;
}

static void expect(struct model *m, const char *event, const struct key *k,
		   uint32_t value, int64_t reference)
{
	bool buffer = k->metric == METRIC_BUFFER_OCCUPANCY;

	m->want[m->wants++] = (struct want){
		.event = event,
		.metric = metric_name((enum metric)k->metric),
		.node = k->node,
		.egress = k->egress,
		.queue = buffer ? -1 : k->id,
		.buffer = buffer ? k->id : -1,
		.value = value,
		.reference = reference,
		.flow = k->flow >= 0,
	};
}

static void judge(struct model *m, struct key *k, const struct threshold *th,
		  uint32_t v)
{
	int64_t ref = k->known ? (int64_t)k->ref : -1;
	unsigned before = m->wants;

	m->values++;
	if (!k->known)
		expect(m, "new_key", k, v, -1);
	else if (llabs((int64_t)v - ref) > th->change)
		expect(m, "change", k, v, ref);
	if (th->high && !k->risen && v >= th->high) {
		expect(m, "rise", k, v, ref);
		k->risen = true;
	} else if (th->high && k->risen && v < th->low) {
		expect(m, "fall", k, v, ref);
		k->risen = false;
	}
	k->known = true;
	if (m->wants > before)
		k->ref = v;
}

/* All ones of its width. */
static bool told(uint64_t v)
{
	return v != UINT32_MAX;
}

static const struct threshold *threshold_of(const struct rig *rig,
					    uint64_t node, int metric)
{
	const struct threshold *th = &rig->th.all[metric];

	for (unsigned i = 0; i < rig->th.nodes; i++)
		if (rig->th.node[i].node == node &&
		    rig->th.node[i].metric == metric)
			th = &rig->th.node[i].threshold;
	return th;
}

static void model_hop(struct model *m, const struct rig *rig, int64_t flow,
		      const struct rig_hop *h, uint32_t has)
{
	static const struct {
		uint8_t field, id;
		int8_t metric;
		bool egress;
	} metric[] = {
		{INT_LATENCY, 0, METRIC_HOP_LATENCY, false},
		{INT_OCCUPANCY, INT_QUEUE, METRIC_QUEUE_OCCUPANCY, true},
		{INT_UTILIZATION, 0, METRIC_LINK_UTILIZATION, true},
		{INT_CONGESTION, INT_QUEUE, METRIC_QUEUE_CONGESTION, true},
		{INT_BUFFER_OCCUPANCY, INT_BUFFER, METRIC_BUFFER_OCCUPANCY,
		 false},
	};
	int64_t node = (int64_t)h->field[INT_NODE];

	for (unsigned i = 0; i < sizeof(metric) / sizeof(metric[0]); i++) {
		uint64_t v = h->field[metric[i].field];
		int64_t egress = -1, id = -1;

		if (!(has >> metric[i].field & 1) || !told(v))
			continue;
		if (metric[i].egress && has >> INT_EGRESS & 1)
			egress = (int64_t)h->field[INT_EGRESS];
		if (metric[i].id)
			id = (int64_t)h->field[metric[i].id];
		judge(m,
		      key_of(m, metric[i].metric,
			     metric[i].metric == METRIC_HOP_LATENCY ? flow : -1,
			     node, egress, id),
		      threshold_of(rig, h->field[INT_NODE], metric[i].metric),
		      (uint32_t)v);
	}
}

/* The largest that a hop tells, of what is watched from end to end. */
static void model_ends(struct model *m, const struct rig *rig, int64_t flow,
		       const struct rig_hop *hop, unsigned n, uint32_t has)
{
	static const uint8_t field[END_METRICS] = {
		INT_OCCUPANCY, INT_UTILIZATION, INT_CONGESTION,
		INT_BUFFER_OCCUPANCY};

	for (unsigned i = 0; i < END_METRICS; i++) {
		int metric = METRIC_FLOW_QUEUE_OCCUPANCY + (int)i;
		int64_t most = -1;

		for (unsigned k = 0; k < n; k++)
			if (told(hop[k].field[field[i]]) &&
			    (int64_t)hop[k].field[field[i]] > most)
				most = (int64_t)hop[k].field[field[i]];
		if (!(rig->th.ends_watched >> i & 1) ||
		    !(has >> field[i] & 1) || most < 0)
			continue;
		judge(m, key_of(m, metric, flow, -1, -1, -1), &rig->th.end[i],
		      (uint32_t)most);
	}
}

/* Keys that are no flow's from end to end, beside the latency. */
static uint64_t keys_of_hops(const struct model *m)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < m->n; i++)
		n += m->key[i].metric < NUMERIC_METRICS;
	return n;
}

static void check(const struct model *m, const struct rig *rig, size_t from)
{
	unsigned k = 0;

	for (size_t i = from; i < rig->out.n; i++) {
		const struct rig_row *r = &rig->out.row[i];
		const struct want *w = &m->want[k];

		if (!strcmp(r->metric, "path"))
			continue;
		if (!TEST(k++ < m->wants))
			return;
		TEST(!strcmp(r->event, w->event));
		TEST(!strcmp(r->metric, w->metric));
		TEST(r->node == w->node && r->egress == w->egress);
		TEST(r->queue == w->queue && r->buffer == w->buffer);
		TEST(r->value == w->value && r->reference == w->reference);
		TEST((*r->flow != 0) == w->flow);
	}
	TEST(k == m->wants);
}

static uint64_t metric_value(struct rng *r)
{
	return rng_below(r, 100) ? rng_below(r, 400) : UINT32_MAX;
}

/* Mostly the same at a node, so that flows go where they went. */
static uint64_t an_id(struct rng *r, uint64_t node, unsigned ids)
{
	return rng_below(r, 50) ? node % ids : rng_below(r, ids);
}

/* Occupancy or the like shares its word with an id: both are told or not. */
static void pair(struct rng *r, struct rig_hop *h, enum int_field id,
		 enum int_field value, unsigned ids)
{
	bool none = !rng_below(r, 100);

	h->field[id] = none ? UINT32_MAX : an_id(r, h->field[INT_NODE], ids);
	h->field[value] = none ? UINT32_MAX : rng_below(r, 400);
}

static void make_hop(struct rng *r, struct rig_hop *h, uint64_t node)
{
	h->field[INT_NODE] = node;
	h->field[INT_INGRESS] = 9;
	h->field[INT_EGRESS] = an_id(r, node, 3);
	h->field[INT_LATENCY] = metric_value(r);
	h->field[INT_UTILIZATION] = metric_value(r);
	pair(r, h, INT_QUEUE, INT_OCCUPANCY, 2);
	pair(r, h, INT_BUFFER, INT_BUFFER_OCCUPANCY, 2);
	/* Both words of INT 0.5 have the queue's id. */
	h->field[INT_CONGESTION] = told(h->field[INT_QUEUE]) ? rng_below(r, 400)
							     : UINT32_MAX;
}

static struct threshold any_threshold(struct rng *r)
{
	struct threshold th = {.change = (uint32_t)rng_below(r, 200),
			       .low = (uint32_t)rng_below(r, 300)};

	th.high = th.low + (uint32_t)rng_below(r, 90);
	return th;
}

static void swap_thresholds(struct rng *r, struct rig *rig,
			    struct node_threshold *node, unsigned nodes)
{
	for (unsigned m = 0; m < NUMERIC_METRICS; m++)
		rig->th.all[m] = any_threshold(r);
	for (unsigned m = 0; m < END_METRICS; m++)
		rig->th.end[m] = any_threshold(r);
	rig->th.ends_watched = (unsigned)rng_below(r, 1 << END_METRICS);
	for (unsigned i = 0; i < nodes; i++) {
		node[i].node = rng_below(r, 8);
		node[i].metric = (uint8_t)rng_below(r, HOP_METRICS);
		node[i].threshold = (struct threshold){
			(uint32_t)rng_below(r, 100), 100, 90};
	}
	rig->th.node = node;
	rig->th.nodes = nodes;
}

/* Every part of a flow's path is a path of its own: nodes change, egresses and
 * queues, and values may be missing. A node that is there twice is one key. */
static void check_random(const struct int_word *words, uint32_t bitmap,
			 uint64_t seed, bool scalar)
{
	static struct rig_view rv;
	static struct model m;
	struct node_threshold node[6];
	struct int_layout layout;
	struct rng r = {seed};
	struct rig rig;

	memset(&m, 0, sizeof(m));
	rig_init(&rig);
	rig.o.flows.hops = 3;
	swap_thresholds(&r, &rig, node, 6);
	rig.o.scalar = scalar;
	rig_open(&rig);
	TEST(int_layout_make(&layout, words, 16, bitmap));
	for (unsigned i = 0; i < VIEWS; i++) {
		uint32_t flow = (uint32_t)rng_below(&r, FLOWS);
		unsigned path = flow % PATHS, n = 2 + path;
		struct rig_hop hop[HOPS] = {0};
		uint64_t sum = 0;
		bool all = true;
		size_t from = rig.out.n;

		if (!rng_below(&r, 50))
			path = (unsigned)rng_below(&r, PATHS);
		if (!rng_below(&r, 1000)) {
			swap_thresholds(&r, &rig, node, 6);
			TEST(!telemetry_set_thresholds(rig.t, &rig.th));
		}
		m.wants = 0;
		for (unsigned k = 0; k < n; k++) {
			make_hop(&r, &hop[k], path + (k == 3 ? 0 : k));
			model_hop(&m, &rig, flow, &hop[k], layout.has);
			sum += hop[k].field[INT_LATENCY];
			all = all && told(hop[k].field[INT_LATENCY]);
		}
		if (all && bitmap & RIG_LATENCY)
			judge(&m,
			      key_of(&m, METRIC_FLOW_LATENCY, flow, -1, -1, -1),
			      &rig.th.all[METRIC_FLOW_LATENCY], (uint32_t)sum);
		model_ends(&m, &rig, flow, hop, n, layout.has);
		m.values++; /* the path */
		rig_make(&rv, i * 1000, flow, &layout, hop, n);
		TEST(!telemetry_add_records(rig.t, &rv.v, 1));
		check(&m, &rig, from);
	}
	TEST(telemetry_counters(rig.t)->views == VIEWS);
	TEST(ledger_balanced(&telemetry_ledger, telemetry_counters(rig.t)));
	TEST(telemetry_counters(rig.t)->events == rig.out.n);
	TEST(telemetry_counters(rig.t)->values == m.values);
	TEST(rig_keys(rig.t) == keys_of_hops(&m) + FLOWS);
	rig_close(&rig);
}

/* All layouts, by the short ways of this CPU and of any CPU. */
int main(void)
{
	static const struct {
		const struct int_word *words;
		uint32_t bitmap;
	} format[] = {
		{rig_words, RIG_NODE | RIG_PORTS | RIG_LATENCY | RIG_QUEUE |
				    RIG_UTILIZATION | RIG_BUFFER},
		{rig_words05, RIG_NODE | RIG_PORTS | RIG_LATENCY | RIG_QUEUE |
				      RIG_CONGESTION | RIG_UTILIZATION},
		{rig_words, RIG_NODE | RIG_QUEUE},
		{rig_words, RIG_NODE | RIG_LATENCY},
	};

	for (uint64_t seed = 1; seed <= 4; seed++)
		for (unsigned i = 0; i < sizeof(format) / sizeof(format[0]);
		     i++) {
			check_random(format[i].words, format[i].bitmap, seed,
				     false);
			check_random(format[i].words, format[i].bitmap, seed,
				     true);
		}
	return test_end();
}
