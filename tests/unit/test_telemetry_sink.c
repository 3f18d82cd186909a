/* SPDX-License-Identifier: BSD-2-Clause */
/* The INT sink, rule by rule: paths, parts of paths, time stamps, what it says
 * of a flow, and where there is no room. */
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

static bool is_list(const uint64_t *list, unsigned n, const uint64_t *node,
		    unsigned want)
{
	bool same = n == want;

	for (unsigned i = 0; same && i < n; i++)
		same = list[i] ==
		       (node[i] == UINT64_MAX ? UINT32_MAX : node[i]);
	return same;
}

static void test_path(void)
{
	static const uint64_t a[] = {1, 2, 3}, b[] = {1, 5, 6, 3},
			      loop[] = {1, 2, 1};
	const struct rig_row *r;
	struct rig rig;

	rig_init(&rig);
	rig_open(&rig);
	send(&rig, 1, 1, a, 3, 10);
	r = rig_last(&rig, "int_event", "new_key", "path");
	TEST(is_list(r->path, r->path_n, a, 3) && r->old_path_n == 0);
	TEST(!strcmp(r->flow, "10.0.0.1:1000>10.128.0.1:80/tcp"));
	TEST(rig_last(&rig, NULL, "new_key", "flow_latency")->value == 30);
	send(&rig, 2, 1, a, 3, 10);
	TEST(rig_count(&rig, "int_event", "path_change", NULL) == 0);
	send(&rig, 3, 1, b, 4, 10);
	r = rig_last(&rig, "int_event", "path_change", "path");
	TEST(is_list(r->path, r->path_n, b, 4));
	TEST(is_list(r->old_path, r->old_path_n, a, 3));
	/* Of the nodes two are new to the flow, and keep their keys after. */
	TEST(rig_count(&rig, NULL, "new_key", "hop_latency") == 5);
	send(&rig, 4, 1, a, 3, 10);
	send(&rig, 5, 1, b, 4, 10);
	TEST(rig_count(&rig, NULL, "path_change", NULL) == 3);
	TEST(rig_count(&rig, NULL, "new_key", "hop_latency") == 5);
	TEST(rig_count(&rig, NULL, "loop", NULL) == 0);
	send(&rig, 6, 2, loop, 3, 10);
	r = rig_last(&rig, "int_event", "loop", "path");
	TEST(r->ts == 6 && is_list(r->path, r->path_n, loop, 3));
	send(&rig, 7, 2, loop, 3, 10);
	TEST(rig_count(&rig, NULL, "loop", NULL) == 1);
	/* Another length is another path. */
	send(&rig, 8, 1, b, 3, 10);
	TEST(rig_last(&rig, NULL, "path_change", NULL)->path_n == 3);
	rig_close(&rig);
}

/* IOAM's wide ids have 56 bits (RFC 9197, section 4.4.2.9). */
static void test_wide(void)
{
	static const struct int_word words[] = {{8, {{INT_NODE, 1, 7}}}};
	static const uint64_t a[] = {0xfedcba98765432, 0x98765432, 1};
	struct int_layout wide;
	const struct rig_row *r;
	struct rig rig;

	rig_init(&rig);
	rig_open(&rig);
	TEST(int_layout_make(&wide, words, 1, 1));
	rig_send(&rig, &wide, 1, 1, a, 3, 0);
	r = rig_last(&rig, "int_event", "new_key", "path");
	TEST(is_list(r->path, r->path_n, a, 3));
	TEST(!telemetry_flush(rig.t));
	r = rig_last(&rig, "int_flow", NULL, NULL);
	TEST(is_list(r->path, r->path_n, a, 3));
	rig_close(&rig);
}

/* As many hops as the format has, and little room for them. */
static void test_long(void)
{
	uint64_t node[255], other[255];
	struct rig rig;

	for (unsigned i = 0; i < 255; i++) {
		node[i] = 1 + i;
		other[i] = 1 + (i + 1) % 255;
	}
	rig_init(&rig);
	rig.o.flows.hops = 4;
	rig.o.flows.blocks = 3;
	rig_open(&rig);
	for (unsigned i = 0; i < 10; i++) {
		send(&rig, i, 1, node, 255, 10);
		TEST(rig_count(&rig, NULL, "path_change", NULL) == 0);
	}
	TEST(telemetry_counters(rig.t)->forgotten > 0);
	TEST(telemetry_counters(rig.t)->values == 10 * (2 + 3 * 255));
	TEST(rig_count(&rig, NULL, "new_key", "queue_occupancy") == 255);
	TEST(rig_count(&rig, NULL, "new_key", "hop_latency") == 4 + 3 * 8);
	TEST(rig_last(&rig, NULL, "new_key", "flow_latency")->value == 2550);
	send(&rig, 20, 1, other, 255, 10);
	TEST(rig_count(&rig, NULL, "path_change", NULL) == 1);
	TEST(!telemetry_flush(rig.t));
	TEST(rig_count(&rig, "int_hop", NULL, NULL) == 4 + 3 * 8);
	rig_close(&rig);
}

/* INT-XD, drops and the like: by node, and no path. */
static void test_parts(void)
{
	static const uint64_t a[] = {1, 2, 3};
	struct rig_hop own;
	struct rig rig;

	rig_init(&rig);
	rig_open(&rig);
	for (unsigned i = 0; i < 6; i++) {
		own = rig_hop_of(7 + i % 3, 100);
		rig_make(&rv, i, 1, &layout, NULL, 0);
		rig_report(&rv, 7 + i % 3, i / 3, &layout, &own);
		TEST(!telemetry_add_records(rig.t, &rv.v, 1));
	}
	TEST(rig_count(&rig, NULL, "new_key", "hop_latency") == 3);
	TEST(rig_count(&rig, NULL, "new_key", "link_utilization") == 3);
	TEST(rig_count(&rig, NULL, NULL, "path") == 0);
	TEST(rig_count(&rig, NULL, NULL, "flow_latency") == 0);
	TEST(telemetry_counters(rig.t)->partial == 6);
	/* A path, and then a drop after its first node. */
	send(&rig, 10, 2, a, 3, 10);
	own = rig_hop_of(1, 10);
	rig_make(&rv, 11, 2, &layout, &own, 1);
	rv.v.flags = INT_DROPPED;
	TEST(!telemetry_add_records(rig.t, &rv.v, 1));
	TEST(rig_count(&rig, NULL, "path_change", NULL) == 0);
	TEST(telemetry_counters(rig.t)->partial == 7);
	/* No flow; nothing at all; no metadata. */
	rv.v.key_len = 0;
	TEST(!telemetry_add_records(rig.t, &rv.v, 1));
	TEST(telemetry_counters(rig.t)->keyless == 1);
	rv.v.stack.n = 0;
	TEST(!telemetry_add_records(rig.t, &rv.v, 1));
	TEST(telemetry_counters(rig.t)->empty == 1);
	rv.v.key_len = KEY_FLOW4_LEN;
	TEST(!telemetry_add_records(rig.t, &rv.v, 1));
	TEST(telemetry_counters(rig.t)->hopless == 1);
	TEST(ledger_balanced(&telemetry_ledger, telemetry_counters(rig.t)));
	rig_close(&rig);
}

/* One view of flow 1, by a node's report; n: of its path so many hops. */
static void send_report(struct rig *rig, uint32_t node, unsigned n,
			unsigned flags)
{
	struct rig_hop hop[2] = {rig_hop_of(1, 10), rig_hop_of(2, 10)};
	struct rig_hop own = rig_hop_of(node, 10);
	static uint64_t ts;

	rig_make(&rv, ++ts, 1, &layout, hop, n);
	rig_report(&rv, node, (uint32_t)ts, &layout, &own);
	rv.v.flags = (uint8_t)flags;
	TEST(!telemetry_add_records(rig->t, &rv.v, 1));
}

static void has_packets(struct rig *rig, int64_t n)
{
	const struct rig_row *r;

	TEST(!telemetry_flush(rig->t));
	r = rig_last(rig, "int_flow", NULL, NULL);
	TEST(r->packets == n);
	rig_close(rig);
}

/* Which views are packets that no other view is. */
static void test_packets(void)
{
	struct rig rig;

	/* the sink's reports; others of the same packets, and of one more */
	rig_init(&rig);
	rig_open(&rig);
	send_report(&rig, 9, 1, INT_INTERMEDIATE | INT_TRACKED);
	for (unsigned i = 0; i < 3; i++)
		send_report(&rig, 2, 2, INT_TRACKED);
	send_report(&rig, 1, 0, INT_CONGESTED);
	send_report(&rig, 1, 0, INT_DROPPED);
	has_packets(&rig, 4);
	/* node by node, the last of three packets dropped by the second */
	rig_init(&rig);
	rig_open(&rig);
	for (unsigned i = 0; i < 3; i++) {
		send_report(&rig, 1, 0, INT_TRACKED);
		send_report(&rig, 2, 0,
			    INT_TRACKED | (i == 2 ? INT_DROPPED : 0));
	}
	has_packets(&rig, 3);
	/* drops alone */
	rig_init(&rig);
	rig_open(&rig);
	send_report(&rig, 1, 0, INT_DROPPED);
	send_report(&rig, 2, 0, INT_DROPPED);
	has_packets(&rig, 2);
}

/* The reporter is the path's end if it tells of itself, but only once. */
static void test_own(void)
{
	static const uint64_t a[] = {1, 2}, all[] = {1, 2, 3};
	struct rig_hop hop[2] = {rig_hop_of(1, 10), rig_hop_of(2, 10)};
	struct rig_hop own = rig_hop_of(3, 10);
	const struct rig_row *r;
	struct rig rig;

	rig_init(&rig);
	rig_open(&rig);
	for (unsigned i = 0; i < 2; i++) {
		rig_make(&rv, i, 1, &layout, hop, 2);
		rig_report(&rv, 3, i, &layout, &own);
		TEST(!telemetry_add_records(rig.t, &rv.v, 1));
	}
	r = rig_last(&rig, NULL, "new_key", "path");
	TEST(is_list(r->path, r->path_n, all, 3));
	TEST(rig_last(&rig, NULL, "new_key", "flow_latency")->value == 30);
	own = rig_hop_of(2, 77);
	rig_make(&rv, 5, 2, &layout, hop, 2);
	rig_report(&rv, 2, 0, &layout, &own);
	TEST(!telemetry_add_records(rig.t, &rv.v, 1));
	r = rig_last(&rig, NULL, "new_key", "path");
	TEST(is_list(r->path, r->path_n, a, 2));
	TEST(rig_last(&rig, NULL, "new_key", "flow_latency")->value == 20);
	rig_close(&rig);
}

static void send_times(struct rig *rig, uint64_t ts, uint32_t flow,
		       const struct int_layout *p, uint64_t in, uint64_t out)
{
	struct rig_hop hop[2] = {rig_hop_of(1, 10), rig_hop_of(2, 10)};

	hop[0].field[INT_INGRESS_TIME] = in;
	hop[0].field[INT_EGRESS_TIME] = in + 5;
	hop[1].field[INT_INGRESS_TIME] = in + 7;
	hop[1].field[INT_EGRESS_TIME] = out;
	rig_make(&rv, ts, flow, p, hop, 2);
	TEST(!telemetry_add_records(rig->t, &rv.v, 1));
}

/* Latencies of time stamps, of clocks of 32 and 64 bits that wrap. */
static void test_times(void)
{
	const struct rig_row *r;
	struct int_layout p;
	struct rig rig;

	rig_init(&rig);
	rig.th.all[METRIC_FLOW_LATENCY].change = 50;
	rig_open(&rig);
	TEST(int_layout_make(&p, rig_words05, 16, RIG_NODE | RIG_TIMES));
	send_times(&rig, 1, 1, &p, 1000, 1100);
	TEST(rig_last(&rig, NULL, "new_key", "hop_latency")->value == 93);
	/* All hops tell a latency: their sum, not the time between. */
	TEST(rig_last(&rig, NULL, "new_key", "flow_latency")->value == 98);
	send_times(&rig, 2, 1, &p, UINT32_MAX - 30, 69 + 6);
	TEST(rig_count(&rig, NULL, "change", "flow_latency") == 0);
	send_times(&rig, 3, 1, &p, UINT32_MAX - 30, 300);
	r = rig_last(&rig, NULL, "change", "flow_latency");
	TEST(r->value == 5 + 31 + 300 - 7 && r->threshold == 50);
	TEST(telemetry_counters(rig.t)->skewed == 0);
	/* A node that does not tell: what is between the ends. */
	send_times(&rig, 4, 2, &p, 1000, UINT32_MAX);
	TEST(rig_count(&rig, NULL, "new_key", "flow_latency") == 1);
	TEST(int_layout_make(&p, rig_words, 16, RIG_NODE | RIG_TIMES));
	send_times(&rig, 5, 3, &p, UINT64_MAX - 49, 50);
	TEST(rig_last(&rig, NULL, "new_key", "flow_latency")->value ==
	     5 + 100 - 7);
	send_times(&rig, 6, 4, &p, 5000, 50);
	TEST(telemetry_counters(rig.t)->skewed > 0);
	TEST(rig_count(&rig, NULL, "new_key", "flow_latency") == 2);
	rig_close(&rig);
}

/* The ends' time stamps where some node does not tell its latency. */
static void test_between(void)
{
	struct rig_hop hop[3] = {rig_hop_of(1, 10), rig_hop_of(2, UINT32_MAX),
				 rig_hop_of(3, 10)};
	struct int_layout p;
	struct rig rig;

	rig_init(&rig);
	rig_open(&rig);
	TEST(int_layout_make(&p, rig_words05, 16,
			     RIG_NODE | RIG_LATENCY | RIG_TIMES));
	hop[0].field[INT_INGRESS_TIME] = 100;
	hop[0].field[INT_EGRESS_TIME] = 110;
	hop[1].field[INT_INGRESS_TIME] = UINT32_MAX;
	hop[1].field[INT_EGRESS_TIME] = UINT32_MAX;
	hop[2].field[INT_INGRESS_TIME] = 900;
	hop[2].field[INT_EGRESS_TIME] = 910;
	rig_make(&rv, 1, 1, &p, hop, 3);
	TEST(!telemetry_add_records(rig.t, &rv.v, 1));
	TEST(rig_count(&rig, NULL, "new_key", "hop_latency") == 2);
	TEST(rig_last(&rig, NULL, "new_key", "flow_latency")->value == 810);
	TEST(telemetry_counters(rig.t)->unavailable == 1);
	rig_close(&rig);
}

/* IOAM: no node tells its delay, but when it had the packet. */
static void test_ioam(void)
{
	static const struct int_word words[24] = {
		[0] = {4, {{INT_HOP_LIMIT, 0, 1, 0}, {INT_NODE, 1, 3, 0}}},
		[1] = {4, {{INT_INGRESS, 0, 2, 0}, {INT_EGRESS, 2, 2, 0}}},
		[2] = {4, {{INT_TIME_SECONDS, 0, 4, 0}}},
		[3] = {4, {{INT_TIME_FRACTION, 0, 4, 1000}}},
		[4] = {4, {{INT_LATENCY, 0, 4, 0}}},
		[6] = {4, {{INT_OCCUPANCY, 0, 4, 0}}},
	};
	struct rig_hop hop[3] = {rig_hop_of(1, UINT32_MAX),
				 rig_hop_of(2, UINT32_MAX),
				 rig_hop_of(3, UINT32_MAX)};
	struct int_layout p;
	struct rig rig;

	rig_init(&rig);
	rig_open(&rig);
	TEST(int_layout_make(&p, words, 24, 0xfa0000));
	for (unsigned i = 0; i < 3; i++) {
		hop[i].field[INT_HOP_LIMIT] = 64 - i;
		hop[i].field[INT_TIME_SECONDS] = 1000 + i / 2;
		hop[i].field[INT_TIME_FRACTION] = i == 2 ? 3 : 999900 + 50 * i;
	}
	rig_make(&rv, 1, 1, &p, hop, 3);
	TEST(!telemetry_add_records(rig.t, &rv.v, 1));
	TEST(rig_count(&rig, NULL, "new_key", "hop_latency") == 2);
	TEST(rig_last(&rig, NULL, "new_key", "hop_latency")->value == 53000);
	TEST(rig_last(&rig, NULL, "new_key", "flow_latency")->value == 103000);
	TEST(rig_last(&rig, NULL, "new_key", "queue_occupancy")->queue == -1);
	rig_close(&rig);
}

/* What is said of a flow that leaves. */
static void test_flow(void)
{
	static const uint64_t a[] = {1, 2}, b[] = {1, 3};
	const struct rig_row *r, *gone = NULL;
	struct rig rig;

	rig_init(&rig);
	rig_open(&rig);
	send(&rig, 10, 1, a, 2, 100);
	send(&rig, 20, 1, a, 2, 101);
	send(&rig, 30, 1, b, 2, 105);
	TEST(!telemetry_flush(rig.t));
	r = rig_last(&rig, "int_flow", NULL, NULL);
	TEST(!strcmp(r->reason, "flushed") && r->packets == 3);
	TEST(is_list(r->path, r->path_n, b, 2));
	TEST(r->flow_latency == 210 && r->flow_latency_mean == 204);
	TEST(rig_count(&rig, "int_hop", NULL, NULL) == 3);
	for (size_t i = 0; i < rig.out.n; i++) {
		r = &rig.out.row[i];
		if (strcmp(r->measurement, "int_hop"))
			continue;
		if (r->node == 2)
			gone = r;
		if (r->node == 1)
			TEST(r->hop == 1 && r->latency == 105 &&
			     r->latency_mean == 102 && r->occupancy == 30);
		if (r->node == 3)
			TEST(r->hop == 2 && r->latency == 105);
	}
	TEST(gone && gone->hop == -1 && gone->latency_mean == 100.5);
	TEST(ledger_balanced(&flows_ledger, telemetry_flows(rig.t)));
	rig_close(&rig);
}

/* Each value is in one bin, and in no other. */
static void test_distributions(void)
{
	static const uint64_t a[] = {1, 2};
	uint64_t bins = 0, samples = 0;
	struct rng rng = {5};
	struct rig rig;

	rig_init(&rig);
	rig_open(&rig);
	for (unsigned i = 0; i < 1000; i++)
		send(&rig, i, i % 7, a, 2, rng_below(&rng, 5000));
	TEST(!telemetry_flush(rig.t));
	for (size_t i = 0; i < rig.out.n; i++) {
		const struct rig_row *r = &rig.out.row[i];

		if (!strcmp(r->measurement, "int_bin"))
			bins += (uint64_t)r->count;
		if (!strcmp(r->measurement, "int_distribution")) {
			TEST(r->samples == 1000);
			samples += (uint64_t)r->samples;
		}
	}
	TEST(samples == 7 * 1000 && bins == samples);
	TEST(telemetry_counters(rig.t)->undistributed == 0);
	rig_close(&rig);
	/* Room for two of the seven. */
	rig_init(&rig);
	rig.o.dist_bytes = 2 * 4000;
	rig_open(&rig);
	for (unsigned i = 0; i < 1000; i++)
		send(&rig, i, i % 7, a, 2, 100);
	TEST(telemetry_counters(rig.t)->undistributed == 5 * 1000);
	rig_close(&rig);
}

/* No room for nodes, places, objects or paths: counted, and no harm. */
static void test_no_room(void)
{
	static const uint64_t a[] = {1, 2, 3}, b[] = {3, 2, 1};
	struct rig rig;

	rig_init(&rig);
	rig.o.objects = (struct objects_options){2, 2, 2};
	rig.o.paths = 1;
	rig_open(&rig);
	for (unsigned i = 0; i < 20; i++) {
		send(&rig, i, 1, a, 3, 100);
		send(&rig, i, 2, b, 3, 100);
	}
	TEST(telemetry_counters(rig.t)->unplaced > 0);
	TEST(telemetry_counters(rig.t)->pathless > 0);
	TEST(rig_count(&rig, NULL, "path_change", NULL) == 0);
	TEST(!telemetry_flush(rig.t));
	rig_close(&rig);
}

/* What int-collect(1) says of them; "SmartNIC platform" has these rows and
 * buckets. */
static void test_defaults(void)
{
	struct telemetry_options o;

	telemetry_defaults(&o);
	TEST(o.flows.rows == 1 << 19 && o.flows.buckets == 12);
	TEST(o.flows.hops == 6 && o.flows.blocks == 8192);
	TEST(o.flows.idle_ns == 60 * UINT64_C(1000000000));
	TEST(o.push_ns == 10 * UINT64_C(1000000000));
	TEST(o.dist_bytes == 28 << 20 && o.kinds == EVENTS_ALL);
}

int main(void)
{
	TEST(int_layout_make(&layout, rig_words, 16, ALL));
	test_defaults();
	test_path();
	test_wide();
	test_long();
	test_parts();
	test_packets();
	test_own();
	test_times();
	test_between();
	test_ioam();
	test_flow();
	test_distributions();
	test_no_room();
	return test_end();
}
