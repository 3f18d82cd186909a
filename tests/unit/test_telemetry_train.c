/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long a train is: views are taken together up to the first that is not as
 * those before it, or that is news. That they leave the same as if they were
 * taken one by one is test_telemetry_ways.c's.
 */
#include "telemetry/private.h"
#include "telemetry/train.h"
#include "telemetry/vector.h"
#include "telemetry_rig.h"

enum {
	VIEWS = 8,
	ODD = 5, /* the view that is changed */
	HOPS = 3,
	NODE = 9, /* the reporter */
	MS = 1000000,
};

static const struct int_plan *plan_of(unsigned which)
{
	static struct int_plan plan[4];

	int_plan_of(&plan[0], rig_words, 16,
		    RIG_NODE | RIG_PORTS | RIG_LATENCY | RIG_QUEUE);
	int_plan_of(&plan[1], rig_words, 16,
		    RIG_NODE | RIG_PORTS | RIG_LATENCY | RIG_UTILIZATION);
	int_plan_of(&plan[2], rig_words, 16,
		    RIG_NODE | RIG_PORTS | RIG_LATENCY);
	int_plan_of(&plan[3], rig_words, 16, RIG_NODE | RIG_PORTS | RIG_QUEUE);
	return &plan[which];
}

struct house {
	struct rig rig;
	struct rig_view rv[VIEWS];
	struct int_view v[VIEWS];
};

/* Flow 7's views, from a number on. */
static void make(struct house *s, unsigned number)
{
	struct rig_hop hop[HOPS];

	for (unsigned k = 0; k < HOPS; k++)
		hop[k] = rig_hop_of(k + 1, 100 + k);
	for (unsigned i = 0; i < VIEWS; i++) {
		rig_make(&s->rv[i], 100 * MS + (number + i) * 1000ULL, 7,
			 plan_of(0), hop, HOPS);
		rig_report(&s->rv[i], NODE, number + i, NULL, NULL);
		s->v[i] = s->rv[i].v;
	}
}

/* Views 0 to VIEWS - 1 have been taken; VIEWS and so on are there. */
static void begin(struct house *s)
{
	rig_init(&s->rig);
	for (unsigned m = 0; m < METRIC_NUMBERS; m++)
		s->rig.th.all[m].change = 10;
	s->rig.o.reporters = 1;
	rig_open(&s->rig);
	make(s, 0);
	TEST(!telemetry_take(s->rig.t, s->v, VIEWS));
	make(s, VIEWS);
}

/* The time of the latest of k views, and of the first. */
static uint64_t latest(const struct house *s, size_t k)
{
	uint64_t ns = s->v[0].ts_ns;

	for (size_t i = 0; i < k; i++)
		ns = s->v[i].ts_ns > ns ? s->v[i].ts_ns : ns;
	return ns;
}

static size_t taken(struct house *s)
{
	uint64_t was = telemetry_counters(s->rig.t)->views, events;
	size_t k;

	events = telemetry_counters(s->rig.t)->events;
	s->rig.t->now_ns = s->v[0].ts_ns;
	k = train_take(s->rig.t, s->v, VIEWS,
		       flows_hash(s->v[0].key, s->v[0].key_len));
	TEST(telemetry_counters(s->rig.t)->views == was + k);
	TEST(telemetry_counters(s->rig.t)->events == events);
	TEST(s->rig.t->now_ns == latest(s, k));
	return k;
}

/* Word `at` of the odd view's last hop but one. */
static void put(struct house *s, unsigned at, uint32_t word)
{
	be32_store(s->rv[ODD].stack + s->v[ODD].stack.len + at, word);
}

static void change_nothing(struct house *s)
{
	(void)s;
}

static void change_node(struct house *s)
{
	put(s, 0, 77);
}

static void change_egress(struct house *s)
{
	put(s, 4, 77);
}

static void change_latency(struct house *s)
{
	put(s, 8, 101 + 11);
}

static void change_queue(struct house *s)
{
	put(s, 12, 3u << 24 | 30);
}

static void change_occupancy(struct house *s)
{
	put(s, 12, 2u << 24 | 41);
}

static void tell_no_latency(struct house *s)
{
	put(s, 8, UINT32_MAX);
}

static void change_end_to_end(struct house *s)
{
	for (unsigned k = 0; k < HOPS; k++)
		be32_store(s->rv[ODD].stack + k * s->v[ODD].stack.len + 8,
			   102 - k + 5);
}

static void lose_report(struct house *s)
{
	s->v[ODD].from.sequence++;
}

static void change_reporter(struct house *s)
{
	s->v[ODD].from.node++;
}

static void say_no_number(struct house *s)
{
	for (unsigned i = 0; i < VIEWS; i++)
		s->v[i].from.numbered = false;
	s->v[ODD].from.node++;
}

static void change_flow(struct house *s)
{
	s->v[ODD].key[0] ^= 1;
}

static void change_flow_end(struct house *s)
{
	s->v[ODD].key[KEY_FLOW4_LEN - 1] ^= 1;
}

static void change_plan(struct house *s)
{
	s->v[ODD].stack.plan = plan_of(1);
}

static void shorten_path(struct house *s)
{
	s->v[ODD].stack.n--;
}

static void drop(struct house *s)
{
	s->v[ODD].flags = INT_DROPPED;
}

static void add_reporter(struct house *s)
{
	s->v[ODD].own = (struct int_hops){.plan = plan_of(0),
					  .data = s->rv[ODD].stack,
					  .len = plan_of(0)->len,
					  .n = 1};
}

static void tell_places(struct house *s)
{
	static const uint16_t at[HOPS];

	s->v[ODD].stack.at = at;
}

/* Things are to be looked after. */
static void grow_late(struct house *s)
{
	s->v[ODD].ts_ns = s->rig.t->keep_ns;
}

static void forget_flow(struct house *s)
{
	for (unsigned i = 0; i < VIEWS; i++)
		s->v[i].key[0] ^= 1;
}

static void fill_means(struct house *s)
{
	look_flow(s->rig.t, 0)->packets = (1ULL << 31) - VIEWS;
}

static void change_thresholds(struct house *s)
{
	TEST(!telemetry_set(s->rig.t, &s->rig.th));
}

static void watch_ends(struct house *s)
{
	s->rig.th.ends = 1;
	TEST(!telemetry_set(s->rig.t, &s->rig.th));
}

static void take_another_path(struct house *s)
{
	const uint64_t node[] = {1, 2, 8};

	rig_send(&s->rig, plan_of(0), s->v[0].ts_ns, 7, node, HOPS, 100);
}

/* The last plan that was seen is the views' own, but not that of the place. */
static void tell_no_queue(struct house *s)
{
	const uint64_t node[] = {1, 2, 3};

	rig_send(&s->rig, plan_of(2), s->v[0].ts_ns, 8, node, HOPS, 100);
	for (unsigned i = 0; i < VIEWS; i++)
		s->v[i].stack.plan = plan_of(2);
}

/* The plan is another one now, where the old one was. */
static void make_plan_anew(struct house *s)
{
	int_plan_of((struct int_plan *)s->v[0].stack.plan, rig_words, 16,
		    RIG_NODE | RIG_PORTS | RIG_LATENCY | RIG_UTILIZATION);
}

static void have_no_flow(struct house *s)
{
	for (unsigned i = 0; i < VIEWS; i++)
		s->v[i].key_len = 0;
}

static void use_no_vectors(struct house *s)
{
	s->rig.t->vector = false;
}

/* It is as late as the latest view said, not the last one. */
static void go_back(struct house *s)
{
	s->v[VIEWS - 1].ts_ns -= 3000;
}

static void take_another_flow(struct house *s)
{
	const uint64_t node[] = {1, 2, 3};

	rig_send(&s->rig, plan_of(0), s->v[0].ts_ns, 8, node, HOPS, 100);
}

static const struct {
	void (*change)(struct house *s);
	size_t taken;
} cases[] = {{change_nothing, VIEWS},
	     {change_node, ODD},
	     {change_egress, ODD},
	     {change_latency, ODD},
	     {change_queue, ODD},
	     {change_occupancy, ODD},
	     {tell_no_latency, ODD},
	     {change_end_to_end, ODD},
	     {lose_report, ODD},
	     {change_reporter, ODD},
	     {change_flow, ODD},
	     {change_flow_end, ODD},
	     {change_plan, ODD},
	     {shorten_path, ODD},
	     {drop, ODD},
	     {add_reporter, ODD},
	     {tell_places, ODD},
	     {grow_late, ODD},
	     {forget_flow, 0},
	     {fill_means, 0},
	     {change_thresholds, 0},
	     {watch_ends, 0},
	     {take_another_path, 0},
	     {take_another_flow, VIEWS},
	     {tell_no_queue, 0},
	     {use_no_vectors, 0},
	     {make_plan_anew, 0},
	     {have_no_flow, 0},
	     {make_plan_anew, 0},
	     {have_no_flow, 0},
	     {go_back, VIEWS},
	     {say_no_number, VIEWS}};

/* The hops of a flow that are kept with it are fewer than its path has. */
static void test_long_path(struct house *s)
{
	rig_init(&s->rig);
	s->rig.o.flows.hops = HOPS - 1;
	rig_open(&s->rig);
	make(s, 0);
	TEST(!telemetry_take(s->rig.t, s->v, VIEWS));
	make(s, VIEWS);
	TEST(taken(s) == 0);
	rig_close(&s->rig);
}

/* A path of more nodes than trains have. */
static void test_longer_path(struct house *s)
{
	struct rig_hop hop[RIG_HOPS / 8];
	const unsigned n = sizeof(hop) / sizeof(hop[0]);

	rig_init(&s->rig);
	s->rig.o.flows.hops = n;
	rig_open(&s->rig);
	for (unsigned k = 0; k < n; k++)
		hop[k] = rig_hop_of(k, 100);
	for (unsigned i = 0; i < VIEWS; i++) {
		rig_make(&s->rv[i], 100 * MS, 7, plan_of(0), hop, n);
		s->v[i] = s->rv[i].v;
	}
	TEST(!telemetry_take(s->rig.t, s->v, VIEWS));
	TEST(taken(s) == 0);
	rig_close(&s->rig);
}

/* No hops yet, be there a plan for them or not. */
static void test_bare(struct house *s)
{
	const uint64_t node[] = {1, 2, 3};

	rig_init(&s->rig);
	rig_open(&s->rig);
	make(s, 0);
	for (unsigned i = 0; i < VIEWS; i++)
		s->v[i].stack = (struct int_hops){0};
	TEST(taken(s) == 0);
	TEST(!telemetry_take(s->rig.t, s->v, VIEWS));
	TEST(taken(s) == 0);
	rig_send(&s->rig, plan_of(3), s->v[0].ts_ns, 8, node, HOPS, 100);
	for (unsigned i = 0; i < VIEWS; i++) {
		s->v[i].from.numbered = false;
		s->v[i].stack = (struct int_hops){.plan = plan_of(3),
						  .data = s->rv[i].stack,
						  .len = plan_of(3)->len};
	}
	TEST(taken(s) == 0);
	rig_close(&s->rig);
}

/* Nodes of 8 bytes, and one whose ids are all 0: it is as if no byte of it were
 * looked at. */
static void test_wide(struct house *s)
{
	static const struct int_word words[16] = {
		{8, {{INT_NODE, 0, 8, 0}}},
		{4, {{INT_EGRESS, 0, 4, 0}}},
		{4, {{INT_QUEUE, 0, 4, 0}}},
		{4, {{INT_BUFFER, 0, 4, 0}}},
	};
	static const struct rig_hop hop;
	struct int_plan plan;

	int_plan_of(&plan, words, 16, 0xf000);
	rig_init(&s->rig);
	rig_open(&s->rig);
	for (unsigned i = 0; i < VIEWS; i++) {
		rig_make(&s->rv[i], 100 * MS, 7, &plan, &hop, 1);
		s->v[i] = s->rv[i].v;
	}
	TEST(!telemetry_take(s->rig.t, s->v, VIEWS));
	TEST(taken(s) == 0);
	rig_close(&s->rig);
}

/* Latencies whose sum has more than 32 bits: each view counts it. */
static void test_large_sum(struct house *s)
{
	rig_init(&s->rig);
	rig_open(&s->rig);
	make(s, 0);
	for (unsigned i = 0; i < VIEWS * HOPS; i++)
		be32_store(s->rv[i / HOPS].stack +
				   i % HOPS * s->v[0].stack.len + 8,
			   0x60000000);
	TEST(!telemetry_take(s->rig.t, s->v, VIEWS));
	TEST(telemetry_counters(s->rig.t)->saturated == VIEWS);
	TEST(taken(s) == 0);
	rig_close(&s->rig);
}

static void test_cases(struct house *s)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(s);
		cases[i].change(s);
		if (!TEST(taken(s) == cases[i].taken))
			fprintf(stderr, "case %zu\n", i);
		rig_close(&s->rig);
	}
}

int main(void)
{
	static struct house s;

	if (!vector_can()) {
		fprintf(stderr, "no AVX-512: there are no trains\n");
		return TEST_SKIP;
	}
	test_cases(&s);
	test_long_path(&s);
	test_longer_path(&s);
	test_bare(&s);
	test_wide(&s);
	test_large_sum(&s);
	return test_end();
}
