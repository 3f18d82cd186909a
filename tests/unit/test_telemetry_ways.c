/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ways that a view may take through the sink leave the same: that of this
 * CPU's vectors, the short one of any CPU, the one for any view; views one by
 * one or many at a time. Flows' hops say their nodes in 4 bytes, in 8, or not
 * at all, and values are under and over the range of their distributions, whose
 * bins are all logarithmic, or of one width where that is said.
 */
#include "base/rng.h"
#include "telemetry/private.h"
#include "telemetry/vector.h"
#include "telemetry_rig.h"

enum {
	VIEWS = 6000,
	FLOWS = 7,
	PLANS_USED = 5,
	BATCH = 37,
	HOPS = 5,
};

static const struct int_word words8[16] = {
	[0] = {8, {{INT_NODE, 0, 8, 0}}},
	[2] = {4, {{INT_LATENCY, 0, 4, 0}}},
	[3] = {4, {{INT_QUEUE, 0, 1, 0}, {INT_OCCUPANCY, 1, 3, 0}}},
};

static void make_plans(struct int_plan plan[PLANS_USED])
{
	int_plan_of(&plan[0], rig_words, 16, RIG_LATENCY);
	int_plan_of(&plan[1], rig_words, 16, RIG_NODE | RIG_LATENCY);
	int_plan_of(&plan[2], words8, 16, RIG_NODE | RIG_LATENCY);
	int_plan_of(&plan[3], rig_words, 16,
		    RIG_NODE | RIG_PORTS | RIG_LATENCY | RIG_QUEUE |
			    RIG_UTILIZATION | RIG_BUFFER);
	int_plan_of(&plan[4], rig_words, 16, RIG_LATENCY | RIG_QUEUE);
}

/* Node 3 in 8 bytes is one that does not go into 4. */
static uint64_t node_of(struct rng *r, const struct int_plan *plan, unsigned i)
{
	uint64_t node = i + (rng_below(r, 200) == 0);

	return plan->part[INT_NODE].len == 8 && node == 3 ? 1ULL << 40 | 3
							  : node;
}

static void make_view(struct rng *r, struct rig_view *rv, unsigned i,
		      const struct int_plan *plan)
{
	/* Some flows are told by one plan, some now by one and now another. */
	uint32_t flow = (uint32_t)rng_below(r, FLOWS);
	const struct int_plan *p =
		&plan[flow < PLANS_USED ? flow : rng_below(r, PLANS_USED)];
	struct rig_hop hop[HOPS] = {0};

	for (unsigned k = 0; k < HOPS; k++) {
		uint64_t *f = hop[k].field;

		f[INT_NODE] = node_of(r, p, k);
		f[INT_LATENCY] = rng_below(r, 3000);
		f[INT_OCCUPANCY] = rng_below(r, 100);
		f[INT_UTILIZATION] = rng_below(r, 5000);
		f[INT_BUFFER_OCCUPANCY] = rng_below(r, 300);
		f[INT_EGRESS] = k;
		if (rng_below(r, 100) == 0)
			f[INT_LATENCY] = UINT32_MAX;
	}
	rig_make(rv, i * 1000ULL, flow, p, hop, HOPS);
}

enum way {
	VECTOR,
	STEADY,
	ANY,
	BATCHES,
	WAYS,
};

/* fixed: bits of the metrics whose bins are of one width. */
static void open_way(struct rig *rig, enum way way, unsigned fixed)
{
	rig_init(rig);
	rig->sinks.snapshot = NULL; /* tell_places() tells of none */
	for (unsigned m = 0; m < METRIC_NUMBERS; m++) {
		if (fixed >> m & 1)
			TEST(!dist_fixed(&rig->o.shape[m], 40, 7 + m, 200));
		else
			TEST(!dist_log(&rig->o.shape[m], 50, 2000, 2));
		rig->th.all[m] = (struct threshold){500, 2900, 2000};
	}
	for (unsigned m = 0; m < METRIC_ENDS; m++)
		rig->th.end[m] = (struct threshold){500, 2900, 2000};
	rig->th.ends = (1 << METRIC_ENDS) - 1;
	rig_open(rig);
	if (way == STEADY)
		rig->t->vector = false;
}

/* Where each hop begins is told: only the way for any view takes that. */
static void tell_places(struct int_view *v)
{
	static uint16_t at[HOPS];

	for (unsigned k = 0; k < HOPS; k++)
		at[k] = (uint16_t)(k * v->stack.len);
	v->stack.at = at;
}

static void run(struct rig *rig, enum way way)
{
	static struct rig_view rv[BATCH];
	static struct int_view v[BATCH];
	struct int_plan plan[PLANS_USED];
	struct rng r = {7};
	unsigned most = way == BATCHES ? BATCH : 1, n = 0;

	make_plans(plan);
	for (unsigned i = 0; i < VIEWS; i++) {
		make_view(&r, &rv[n], i, plan);
		v[n] = rv[n].v;
		if (way == ANY)
			tell_places(&v[n]);
		if (++n < most && i + 1 < VIEWS)
			continue;
		TEST(!telemetry_take(rig->t, v, n));
		n = 0;
	}
	TEST(!telemetry_flush(rig->t));
}

static void same(const struct rig *a, const struct rig *b)
{
	TEST(a->out.n == b->out.n);
	for (size_t i = 0; i < a->out.n && i < b->out.n; i++)
		TEST(!memcmp(&a->out.row[i], &b->out.row[i],
			     sizeof(a->out.row[i])));
	TEST(!memcmp(telemetry_counters(a->t), telemetry_counters(b->t),
		     sizeof(struct telemetry_ledger)));
}

static void compare(unsigned fixed)
{
	struct rig rig[WAYS];

	for (unsigned way = 0; way < WAYS; way++) {
		open_way(&rig[way], (enum way)way, fixed);
		run(&rig[way], (enum way)way);
	}
	/* Whatever the shapes, what the CPU can do is done. */
	TEST(rig[VECTOR].t->vector == vector_can());
	TEST(rig_count(&rig[ANY], "int_event", NULL, NULL) > 100);
	TEST(rig_count(&rig[ANY], "int_distribution", NULL, NULL) > 10);
	for (unsigned way = 0; way < WAYS; way++)
		same(&rig[way], &rig[ANY]);
	for (unsigned way = 0; way < WAYS; way++)
		rig_close(&rig[way]);
}

int main(void)
{
	compare(0);
	compare(1 << METRIC_QUEUE_OCCUPANCY);
	compare(1 << METRIC_HOP_LATENCY | 1 << METRIC_BUFFER_OCCUPANCY);
	return test_end();
}
