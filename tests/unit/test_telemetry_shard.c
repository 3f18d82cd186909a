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

int main(void)
{
	TEST(int_plan_of(&plan, rig_words, 16, ALL));
	test_full(ROOM, 1000);
	test_full(1000, ROOM);
	return test_end();
}
