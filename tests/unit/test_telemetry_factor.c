/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Paper 003, section V-B2: 20 switches of 4 ports, 5000 flows of 5 hops, all
 * fields. A report has k = 22 metric values (the path, the latency, and for
 * each hop latency, occupancy, congestion and utilization); there are
 * K = 110240 metric keys if each flow meets each switch in the end. Storing all
 * takes R k T values, storing events (E + K / P) T.
 */
#include <math.h>

#include "base/rng.h"
#include "telemetry_rig.h"

enum {
	SWITCHES = 20,
	PORTS = 4,
	FLOWS = 5000,
	HOPS = 5,
	PATHS = SWITCHES / HOPS,
	SMALL_K = 22,
	LARGE_K = 110240,
	RATE = 20000, /* reports a second */
	PERIOD = 10,  /* s */
	ROUNDS = 4,   /* periods */
};

static struct rig_view rv;
static struct int_layout layout;
static uint64_t counted_events;

static int count_events(struct row_sink *s, struct row_batch *b)
{
	(void)s;
	counted_events += b->rows;
	return 0;
}

static struct row_sink events = {count_events, rig_nothing, rig_nothing};

/* Report i: the flows in turn, each over the parts of the network in turn. Now
 * and then a value leaps. */
static void send(struct telemetry *t, struct rng *r, uint64_t i)
{
	uint32_t flow = (uint32_t)(i % FLOWS);
	unsigned part = (unsigned)(i / FLOWS % PATHS);
	struct rig_hop hop[HOPS] = {0};

	for (unsigned k = 0; k < HOPS; k++) {
		hop[k].field[INT_NODE] = 1 + part * HOPS + k;
		hop[k].field[INT_EGRESS] = flow % PORTS;
		hop[k].field[INT_LATENCY] = 100 + rng_below(r, 20) +
					    (rng_below(r, 1000) ? 0 : 500);
		hop[k].field[INT_QUEUE] = flow % PORTS;
		hop[k].field[INT_OCCUPANCY] = 40 + rng_below(r, 9);
		hop[k].field[INT_CONGESTION] = 40 + rng_below(r, 9);
		hop[k].field[INT_UTILIZATION] = 50 + rng_below(r, 9);
	}
	rig_make(&rv, 1 + i * (1000000000 / RATE), flow, &layout, hop, HOPS);
	TEST(!telemetry_add_records(t, &rv.v, 1));
}

int main(void)
{
	struct telemetry_sinks sinks = {.of = {[ROWS_EVENT] = &events}};
	uint64_t reports = (uint64_t)RATE * PERIOD * ROUNDS, warm, e0, v0;
	double all, stored, formula, seconds = PERIOD * ROUNDS;
	struct telemetry_options o;
	struct telemetry_thresholds th = {0};
	struct rng r = {1};
	struct telemetry *t;

	telemetry_defaults(&o);
	o.batch_rows = 1;
	o.flows.idle_ns = 0;
	o.flows.hops = SWITCHES; /* a flow meets them all */
	/* A path that changes is an event of the test, not of the paper. */
	o.kinds &= ~(1U << EVENT_PATH_CHANGE);
	for (unsigned m = 0; m < NUMERIC_METRICS; m++)
		th.all[m].change = m == METRIC_FLOW_LATENCY ? 200 : 40;
	if (telemetry_open(&t, &o, &th, &sinks))
		return 1;
	TEST(int_layout_make(&layout, rig_words05, 16,
			     RIG_NODE | RIG_PORTS | RIG_LATENCY | RIG_QUEUE |
				     RIG_CONGESTION | RIG_UTILIZATION));
	/* The first period: all keys are new. */
	warm = (uint64_t)RATE * PERIOD;
	for (uint64_t i = 0; i < warm; i++)
		send(t, &r, i);
	TEST(rig_keys(t) == LARGE_K);
	TEST(telemetry_counters(t)->values == warm * SMALL_K);
	e0 = counted_events;
	v0 = telemetry_counters(t)->pushed;
	for (uint64_t i = warm; i < warm + reports; i++)
		send(t, &r, i);
	TEST(telemetry_counters(t)->values == (warm + reports) * SMALL_K);
	all = (double)reports * SMALL_K;
	stored = (double)(counted_events - e0) +
		 (double)(telemetry_counters(t)->pushed - v0);
	formula = (double)RATE * SMALL_K /
		  ((double)(counted_events - e0) / seconds +
		   (double)LARGE_K / PERIOD);
	printf("k %d, K %d, E %.0f/s: M_all / M_event %.4f, formula %.4f\n",
	       SMALL_K, LARGE_K, (double)(counted_events - e0) / seconds,
	       all / stored, formula);
	TEST(counted_events > e0);
	TEST(fabs(all / stored / formula - 1) < 0.001);
	telemetry_close(t);
	return test_end();
}
