/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ways that a view may take through the sink leave the same: that of this
 * CPU's vectors, the short one of any CPU, the one for any view; views one by
 * one or many at a time, of which those of one flow come in trains. Flows' hops
 * say their nodes in 4 bytes, in 8, or not at all, and values are under and
 * over the range of their distributions, whose bins are all logarithmic, or of
 * one width where that is said.
 */
#include "base/rng.h"
#include "telemetry_rig.h"

enum {
	VIEWS = 12000,
	FLOWS = 7,
	PLANS_USED = 5,
	BATCH = 37,
	HOPS = 5,
	STEP_NS = 100000,
	CALM = 12, /* views at the end of which the last ones are no news */
};

static const struct int_word words8[16] = {
	[0] = {8, {{INT_NODE, 0, 8, 0}}},
	[2] = {4, {{INT_LATENCY, 0, 4, 0}}},
	[3] = {4, {{INT_QUEUE, 0, 1, 0}, {INT_OCCUPANCY, 1, 3, 0}}},
};

static void make_plans(struct int_layout layout[PLANS_USED])
{
	int_layout_make(&layout[0], rig_words, 16, RIG_LATENCY);
	int_layout_make(&layout[1], rig_words, 16, RIG_NODE | RIG_LATENCY);
	int_layout_make(&layout[2], words8, 16, RIG_NODE | RIG_LATENCY);
	int_layout_make(&layout[3], rig_words, 16,
			RIG_NODE | RIG_PORTS | RIG_LATENCY | RIG_QUEUE |
				RIG_UTILIZATION | RIG_BUFFER);
	int_layout_make(&layout[4], rig_words, 16, RIG_LATENCY | RIG_QUEUE);
}

/* Node 3 in 8 bytes is one that does not go into 4. */
static uint64_t node_of(struct rng *r, const struct int_layout *layout,
			unsigned i)
{
	uint64_t node = i + (rng_below(r, 200) == 0);

	return layout->part[INT_NODE].len == 8 && node == 3 ? 1ULL << 40 | 3
							    : node;
}

/* A hop of a flow, most often much as it was. */
static void make_hop(struct rng *r, struct rig_hop *h,
		     const struct int_layout *layout, uint32_t flow, unsigned k)
{
	uint32_t spread = rng_below(r, 40) ? 50 : 3000;
	uint64_t *f = h->field;

	f[INT_NODE] = node_of(r, layout, k);
	f[INT_LATENCY] = 100 * flow + rng_below(r, spread);
	f[INT_OCCUPANCY] = rng_below(r, 100);
	f[INT_UTILIZATION] = rng_below(r, spread);
	f[INT_BUFFER_OCCUPANCY] = rng_below(r, 300);
	f[INT_EGRESS] = k;
	if (rng_below(r, 1000) == 0)
		f[INT_LATENCY] = UINT32_MAX;
}

/* What else there is about a view that keeps it from being as those before. */
static void make_other(struct rng *r, struct int_record *v, unsigned i)
{
	v->ip_len = 40 + (uint32_t)rng_below(r, 1000);
	if (rng_below(r, 30) == 0)
		v->ts_ns -= 5 * STEP_NS;
	if (rng_below(r, 50) == 0)
		v->flags = INT_DROPPED;
	if (rng_below(r, 50) == 0)
		v->stack.n--;
	v->from = (struct int_from){.report = true,
				    .numbered = rng_below(r, 50) != 0,
				    .has_node = true,
				    .node = HOPS,
				    .version = 2,
				    .sequence = i,
				    .sequence_bits = 22};
}

/* The next packet is of this flow. */
static uint32_t flow_next(struct rng *r, uint32_t flow)
{
	return rng_below(r, 12) ? flow : (uint32_t)rng_below(r, FLOWS);
}

static void make_calm(struct rig_view *rv, unsigned i,
		      const struct int_layout *layout)
{
	struct rig_hop hop[HOPS];

	for (unsigned k = 0; k < HOPS; k++)
		hop[k] = rig_hop_of(k, 100 * k + i % CALM);
	rig_make(rv, (i + 10) * (uint64_t)STEP_NS, 0, layout, hop, HOPS);
}

static void make_view(struct rng *r, struct rig_view *rv, unsigned i,
		      uint32_t flow, const struct int_layout *layout)
{
	/* Some flows are told by one layout, some now by one and now another.
	 */
	const struct int_layout *p =
		&layout[flow < PLANS_USED ? flow : rng_below(r, PLANS_USED)];
	struct rig_hop hop[HOPS] = {0};

	for (unsigned k = 0; k < HOPS; k++)
		make_hop(r, &hop[k], p, flow, k);
	rig_make(rv, (i + 10) * (uint64_t)STEP_NS, flow, p, hop, HOPS);
	make_other(r, &rv->v, i);
}

enum way {
	VECTOR,
	SCALAR,
	ANY,
	BATCHES,
	WAYS,
};

struct house {
	unsigned ends;
};

static void open_way(struct rig *rig, enum way way, const struct house *as)
{
	rig_init(rig);
	rig->sinks.of[ROWS_SNAPSHOT] = NULL; /* tell_places() tells of none */
	rig->o.push_ns = 50000000;
	rig->o.flows.idle_ns = 20000000;
	for (unsigned m = 0; m < NUMERIC_METRICS; m++) {
		rig->th.all[m] = (struct threshold){500, 2900, 2000};
	}
	for (unsigned m = 0; m < END_METRICS; m++)
		rig->th.end[m] = (struct threshold){500, 2900, 2000};
	rig->th.ends_watched = as->ends;
	rig->o.scalar = way == SCALAR;
	rig_open(rig);
}

/* Where each hop begins is told: only the way for any view takes that. */
static void tell_places(struct int_record *v)
{
	static uint16_t at[HOPS];

	for (unsigned k = 0; k < HOPS; k++)
		at[k] = (uint16_t)(k * v->stack.len);
	v->stack.at = at;
}

static void run(struct rig *rig, enum way way)
{
	static struct rig_view rv[BATCH];
	static struct int_record v[BATCH];
	struct int_layout layout[PLANS_USED];
	struct rng r = {7};
	unsigned most = way == BATCHES ? BATCH : 1, n = 0;
	uint32_t flow = 0;

	make_plans(layout);
	for (unsigned i = 0; i < VIEWS; i++) {
		flow = flow_next(&r, flow);
		if (i + CALM < VIEWS)
			make_view(&r, &rv[n], i, flow, layout);
		else
			make_calm(&rv[n], i, &layout[3]);
		v[n] = rv[n].v;
		if (way == ANY)
			tell_places(&v[n]);
		if (++n < most && i + 1 < VIEWS)
			continue;
		TEST(!telemetry_add_records(rig->t, v, n));
		n = 0;
	}
}

static void same_rows(const struct rig *a, const struct rig *b)
{
	TEST(a->out.n == b->out.n);
	for (size_t i = 0; i < a->out.n && i < b->out.n; i++)
		TEST(!memcmp(&a->out.row[i], &b->out.row[i],
			     sizeof(a->out.row[i])));
	TEST(!memcmp(telemetry_counters(a->t), telemetry_counters(b->t),
		     sizeof(struct telemetry_ledger)));
	TEST(!memcmp(telemetry_flows(a->t), telemetry_flows(b->t),
		     sizeof(struct flows_ledger)));
}

static void same_objects(const struct rig *a, const struct rig *b)
{
	TEST(telemetry_items(a->t, TELEMETRY_PORT) ==
	     telemetry_items(b->t, TELEMETRY_PORT));
	for (uint32_t i = 0; i < telemetry_items(a->t, TELEMETRY_PORT); i++) {
		const struct port_state *x = telemetry_port_at(a->t, i);
		const struct port_state *y = telemetry_port_at(b->t, i);

		TEST(x && y && x->latest == y->latest &&
		     x->last_ns == y->last_ns && x->flags == y->flags &&
		     !memcmp(&x->watch, &y->watch, sizeof(x->watch)));
	}
}

static void compare(const struct house *as)
{
	struct rig rig[WAYS];

	for (unsigned way = 0; way < WAYS; way++) {
		open_way(&rig[way], (enum way)way, as);
		run(&rig[way], (enum way)way);
	}
	TEST(rig_count(&rig[ANY], "int_event", NULL, NULL) > 100);
	TEST(rig_count(&rig[ANY], "int_value", NULL, NULL) > 100);
	for (unsigned way = 0; way < WAYS; way++) {
		same_rows(&rig[way], &rig[ANY]);
		same_objects(&rig[way], &rig[ANY]);
	}
	for (unsigned way = 0; way < WAYS; way++)
		TEST(!telemetry_flush(rig[way].t));
	TEST(rig_count(&rig[ANY], "int_distribution", NULL, NULL) > 10);
	TEST(rig_count(&rig[ANY], "int_hop", NULL, NULL) > 10);
	for (unsigned way = 0; way < WAYS; way++)
		same_rows(&rig[way], &rig[ANY]);
	for (unsigned way = 0; way < WAYS; way++)
		rig_close(&rig[way]);
}

int main(void)
{
	const unsigned ends = (1 << END_METRICS) - 1;

	compare(&(struct house){0});
	compare(&(struct house){.ends = ends});
	return test_end();
}
