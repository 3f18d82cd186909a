/* SPDX-License-Identifier: BSD-2-Clause */
/* A shard waits for the others once for each thing that it meets, and never for
 * what full tables have no room for; thresholds are taken whole. */
#include "measure/flows.h"
#include "telemetry/shard.h"
#include "telemetry_rig.h"

enum {
	ALL = RIG_NODE | RIG_PORTS | RIG_LATENCY | RIG_QUEUE,
	ROOM = 8, /* for nodes, places and paths each */
	VIEWS = 200,
};

static unsigned entered;
static struct int_plan plan;

static void enter(void *ctx)
{
	(void)ctx;
	entered++;
}

static void leave(void *ctx)
{
	(void)ctx;
}

static void take(struct telemetry *shard, uint32_t flow, uint64_t node)
{
	static uint32_t telling[1024];
	static struct rig_view rv;
	const struct rig_hop hop = rig_hop_of(node, 10);
	struct telemetry_turn turn = {.number = flow, .now_ns = 1 + flow};
	uint32_t *end = telling;

	rig_make(&rv, 1 + flow, flow, &plan, &hop, 1);
	turn.hash = flows_hash(rv.v.key, rv.v.key_len);
	TEST(telemetry_shard_take(shard, &rv.v, &turn, 1, &end) == 1);
}

static void test_full(uint32_t nodes, uint32_t places)
{
	const struct telemetry_shard_options so = {1, enter, leave, NULL};
	const struct telemetry_ledger *l;
	struct telemetry *shard, *other;
	struct rig rig;
	unsigned before;

	rig_init(&rig);
	rig.o.objects.nodes = nodes;
	rig.o.objects.places = places;
	rig.o.paths = ROOM;
	rig_open(&rig);
	TEST(!telemetry_shard_open(&shard, rig.t, &rig.sinks, &so));
	TEST(!telemetry_shard_open(&other, rig.t, &rig.sinks, &so));
	for (unsigned i = 1; i <= ROOM; i++)
		take(shard, i, i);
	TEST(entered >= ROOM);
	before = entered;
	for (unsigned i = 1; i <= VIEWS; i++)
		take(shard, ROOM + i, ROOM + i);
	TEST(entered == before);
	l = telemetry_counters(shard);
	TEST(l->unplaced >= VIEWS && l->pathless == VIEWS);
	/* What there is of them the other one may have. */
	take(other, 1, 1);
	l = telemetry_counters(other);
	TEST(!l->unplaced && !l->pathless);
	take(other, 2, ROOM + 1);
	l = telemetry_counters(other);
	TEST(l->unplaced && l->pathless == 1);
	telemetry_shard_close(other);
	telemetry_shard_close(shard);
	rig_close(&rig);
}

/* A hop's values are told in the order of metrics, however they are on the
 * wire. */
static void test_order(void)
{
	const struct telemetry_shard_options so = {1, enter, leave, NULL};
	struct rig_hop hop = rig_hop_of(1, 10);
	struct telemetry *shard;
	struct int_plan old;
	struct rig rig;

	hop.field[INT_OCCUPANCY] = 100 + METRIC_QUEUE_OCCUPANCY;
	hop.field[INT_UTILIZATION] = 100 + METRIC_LINK_UTILIZATION;
	hop.field[INT_CONGESTION] = 100 + METRIC_QUEUE_CONGESTION;
	TEST(int_plan_of(&old, rig_words05, 16,
			 ALL | RIG_CONGESTION | RIG_UTILIZATION));
	rig_init(&rig);
	rig_open(&rig);
	TEST(!telemetry_shard_open(&shard, rig.t, &rig.sinks, &so));
	for (unsigned i = 1; i <= 3; i++) {
		static struct rig_view rv;
		struct telemetry_turn turn = {.number = i, .now_ns = i};
		uint32_t telling[64], *end = telling, *word = telling + 2;

		rig_make(&rv, i, 1, &old, &hop, 1);
		turn.hash = flows_hash(rv.v.key, rv.v.key_len);
		TEST(telemetry_shard_take(shard, &rv.v, &turn, 1, &end) == 1);
		TEST(end - telling == 5 && telling[0] == 4);
		for (unsigned m = 0; m < METRIC_OF_HOP; m++)
			if (telling[1] >> COPIES_METRICS >> m & 1)
				TEST(*word++ == 100 + m);
		TEST(word == end);
	}
	telemetry_shard_close(shard);
	rig_close(&rig);
}

int main(void)
{
	TEST(int_plan_of(&plan, rig_words, 16, ALL));
	test_full(ROOM, 1000);
	test_full(1000, ROOM);
	test_order();
	return test_end();
}
