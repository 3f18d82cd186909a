/* SPDX-License-Identifier: BSD-2-Clause */
/* The INT sink, and what happens as time goes by: missing reports, other
 * thresholds, live values; batches of any size. */
#include "base/rng.h"
#include "telemetry_rig.h"

enum {
	ALL = RIG_NODE | RIG_PORTS | RIG_LATENCY | RIG_QUEUE | RIG_UTILIZATION,
	SECOND = 1000000000,
};

static struct rig_view rv;
static struct int_layout layout;

static void send(struct rig *rig, uint64_t ts, uint32_t flow,
		 const uint64_t *node, unsigned n, uint64_t latency)
{
	rig_send(rig, &layout, ts, flow, node, n, latency);
}

static void test_reports(void)
{
	static const uint32_t number[] = {5, 6, 9, 10, 8};
	static const uint64_t a[] = {1};
	const struct rig_row *r;
	struct rig rig;

	rig_init(&rig);
	rig_open(&rig);
	send(&rig, 1, 1, a, 1, 10);
	for (unsigned i = 0; i < 5; i++) {
		rig_report(&rv, 9, number[i], NULL, NULL);
		rv.v.ts_ns = i;
		TEST(!telemetry_add_records(rig.t, &rv.v, 1));
	}
	TEST(rig_count(&rig, NULL, "report_loss", NULL) == 0);
	/* Silence: what is missing then is lost. */
	for (uint64_t ms = 0; ms < 3000; ms += 10)
		TEST(!telemetry_tick(rig.t, ms * 1000000));
	r = rig_last(&rig, NULL, "report_loss", NULL);
	TEST(r->value == 1 && r->reference == 7 && r->node == 9 &&
	     r->hw_id == 0);
	TEST(telemetry_counters(rig.t)->reports_lost == 1);
	TEST(telemetry_counters(rig.t)->reports_late == 1);
	rig_close(&rig);
}

/* Thresholds under way, per node; what is known of keys stays. */
static void test_swap(void)
{
	static const uint64_t a[] = {1, 2};
	const struct node_threshold one = {
		2, METRIC_HOP_LATENCY, {.change = 5}};
	struct rig rig;

	rig_init(&rig);
	rig_open(&rig);
	send(&rig, 1, 1, a, 2, 100);
	send(&rig, 2, 1, a, 2, 190);
	TEST(rig_count(&rig, NULL, "change", NULL) == 0);
	rig.th.all[METRIC_HOP_LATENCY].change = 80;
	rig.th.node = &one;
	rig.th.nodes = 1;
	TEST(!telemetry_set_thresholds(rig.t, &rig.th));
	send(&rig, 3, 1, a, 2, 180);
	TEST(rig_count(&rig, NULL, "change", NULL) == 1);
	TEST(rig_last(&rig, NULL, "change", NULL)->node == 2);
	TEST(rig_last(&rig, NULL, "change", NULL)->reference == 100);
	send(&rig, 4, 1, a, 2, 181);
	TEST(rig_count(&rig, NULL, "change", NULL) == 2);
	TEST(rig_last(&rig, NULL, "change", NULL)->node == 1);
	TEST(rig_count(&rig, NULL, "new_key", NULL) == 8);
	rig_close(&rig);
}

/* Values of live keys, once in a period each; a pushed value is what is known
 * then, so that changes are told against it. */
static void test_push(void)
{
	static const uint64_t a[] = {1, 2};
	const struct rig_row *r;
	uint64_t ts = 0;
	struct rig rig;
	unsigned n;

	rig_init(&rig);
	rig.o.push_ns = SECOND;
	rig.th.all[METRIC_HOP_LATENCY].change = 40;
	rig_open(&rig);
	send(&rig, ts = 1, 1, a, 2, 100);
	while (ts < 2 * (uint64_t)SECOND)
		send(&rig, ts += SECOND / 50, 1, a, 2, 130);
	n = rig_count(&rig, "int_value", NULL, NULL);
	/* path, latency, 2 hops, 2 links, 2 queues: in two periods */
	TEST(n == 16);
	r = rig_last(&rig, "int_value", NULL, "hop_latency");
	TEST(r->value == 130 && r->node == 2 && *r->flow);
	TEST(rig_count(&rig, NULL, "change", NULL) == 0);
	/* 65 was within 40 of 100, of which the event told; not of 130. */
	send(&rig, ts += SECOND / 50, 1, a, 2, 65);
	TEST(rig_count(&rig, NULL, "change", "hop_latency") == 2);
	TEST(rig_last(&rig, NULL, "change", NULL)->reference == 130);
	n = rig_count(&rig, "int_value", NULL, NULL); /* some had their turn */
	for (unsigned i = 0; i < 200; i++)
		TEST(!telemetry_tick(rig.t, ts += SECOND / 50));
	/* The last report was pushed once; silence is not. */
	TEST(rig_count(&rig, "int_value", NULL, NULL) == n + 8);
	rig_close(&rig);
}

/* Two hops' utilisations, of which the larger one is the flow's. */
static void send_ends(struct rig *rig, uint64_t ts, uint32_t flow,
		      uint64_t first, uint64_t second)
{
	struct rig_hop hop[2] = {{{[INT_NODE] = 1}}, {{[INT_NODE] = 2}}};

	hop[0].field[INT_UTILIZATION] = first;
	hop[1].field[INT_UTILIZATION] = second;
	rig_make(&rv, ts, flow, &layout, hop, 2);
	TEST(!telemetry_add_records(rig->t, &rv.v, 1));
}

/* Of utilisation from end to end: a value that is pushed is what was told; a
 * node that cannot tell does not count; who comes after a flow in the cache
 * begins anew. */
static void test_ends(void)
{
	static const char *const m = "flow_link_utilization";
	const struct rig_row *r;
	struct rig rig;

	rig_init(&rig);
	rig.o.flows.rows = rig.o.flows.buckets = 1;
	rig.o.push_ns = SECOND;
	rig.th.end[1] = (struct threshold){.change = 40, .high = 500};
	rig.th.ends_watched = 1 << 1;
	rig_open(&rig);
	send_ends(&rig, 1, 1, 100, 20);
	send_ends(&rig, 2, 1, 20, 130);
	r = rig_last(&rig, NULL, "new_key", m);
	TEST(r->value == 100 && *r->flow && r->node == -1);
	TEST(!telemetry_tick(rig.t, SECOND + SECOND / 2));
	TEST(!telemetry_tick(rig.t, 3ULL * SECOND));
	TEST(rig_count(&rig, "int_value", NULL, m) == 1);
	TEST(rig_last(&rig, "int_value", NULL, m)->value == 130);
	TEST(rig_count(&rig, NULL, "change", NULL) == 0);
	send_ends(&rig, 4ULL * SECOND, 1, UINT32_MAX, 89);
	r = rig_last(&rig, NULL, "change", m);
	TEST(r->value == 89 && r->reference == 130 && r->threshold == 40);
	send_ends(&rig, 4ULL * SECOND, 1, UINT32_MAX, UINT32_MAX);
	send_ends(&rig, 4ULL * SECOND, 1, 7, 500);
	TEST(rig_last(&rig, NULL, "rise", m)->value == 500);
	TEST(rig_count(&rig, "int_event", NULL, m) == 4);
	send_ends(&rig, 5ULL * SECOND, 2, 7, 8);
	r = rig_last(&rig, NULL, NULL, m);
	TEST(!strcmp(r->event, "new_key") && r->value == 8);
	/* No longer: nothing of it is told. */
	rig.th.ends_watched = 0;
	TEST(!telemetry_set_thresholds(rig.t, &rig.th));
	send_ends(&rig, 6ULL * SECOND, 2, 7, 5000);
	TEST(!telemetry_tick(rig.t, 9ULL * SECOND));
	TEST(rig_last(&rig, NULL, NULL, m)->value == 8);
	rig_close(&rig);
}

/* One in which all happens that may happen by time. */
static void open_busy(struct rig *rig)
{
	rig_init(rig);
	rig->o.flows.rows = 8;
	rig->o.flows.idle_ns = SECOND / 5;
	rig->o.push_ns = SECOND;
	rig->th.all[METRIC_HOP_LATENCY].change = 30;
	rig_open(rig);
}

/* Batches of any size give the same rows. */
static void test_batches(void)
{
	enum { N = 3000 };
	static struct rig_view many[N];
	static struct int_record v[N];
	struct rng r = {11};
	struct rig one, other;
	unsigned at = 0;

	for (unsigned i = 0; i < N; i++) {
		struct rig_hop hop[3];

		for (unsigned k = 0; k < 3; k++)
			hop[k] = rig_hop_of(1 + rng_below(&r, 4) / 3 + k,
					    rng_below(&r, 300));
		rig_make(&many[i], i * 10000000ull, (uint32_t)rng_below(&r, 90),
			 &layout, hop, 3);
		v[i] = many[i].v;
	}
	open_busy(&one);
	open_busy(&other);
	TEST(!telemetry_add_records(one.t, v, N));
	while (at < N) {
		unsigned n = 1 + (unsigned)rng_below(&r, 100);

		n = n > N - at ? N - at : n;
		TEST(!telemetry_add_records(other.t, v + at, n));
		at += n;
	}
	TEST(!telemetry_flush(one.t) && !telemetry_flush(other.t));
	TEST(one.out.n == other.out.n && one.out.n > 1000);
	for (size_t i = 0; i < one.out.n && i < other.out.n; i++)
		TEST(!memcmp(&one.out.row[i], &other.out.row[i],
			     sizeof(one.out.row[i])));
	TEST(telemetry_flows(one.t)->evicted > 0);
	TEST(telemetry_flows(one.t)->expired > 0);
	rig_close(&one);
	rig_close(&other);
}

int main(void)
{
	TEST(int_layout_make(&layout, rig_words, 16, ALL));
	test_reports();
	test_swap();
	test_push();
	test_ends();
	test_batches();
	return test_end();
}
