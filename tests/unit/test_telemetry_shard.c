/* SPDX-License-Identifier: BSD-2-Clause */
/* A shard waits for the others once for each thing that it meets, and never for
 * what full tables have no room for; thresholds are taken whole. */
#include "measure/flows.h"
#include "telemetry/shard_private.h"
#include "telemetry_rig.h"

enum {
	ALL = RIG_NODE | RIG_PORTS | RIG_LATENCY | RIG_QUEUE,
	ROOM = 8, /* for nodes, places and paths each */
	VIEWS = 200,
	HOPS = 3,
	TRAIN = 8, /* views */
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

/* A whole that had shards before has those alone that are open. */
static void test_again(void)
{
	const struct telemetry_shard_options so = {1, enter, leave, NULL};
	struct telemetry *shard, *other;
	struct rig rig;

	rig_init(&rig);
	rig_open(&rig);
	for (unsigned i = 0; i < 3; i++) {
		TEST(!telemetry_shard_open(&shard, rig.t, &rig.sinks, &so));
		TEST(!telemetry_shard_open(&other, rig.t, &rig.sinks, &so));
		TEST(rig.t->shards == 2);
		telemetry_shard_close(shard);
		TEST(rig.t->shards == 1);
		TEST(rig.t->copies[0] == &other->shard->copies);
		telemetry_shard_close(other);
		TEST(rig.t->shards == 0);
	}
	rig_close(&rig);
}

/* What a view's hops tell, from the source on: of each its place, then values
 * by metric. */
static const uint32_t *check_telling(const struct telemetry *shard,
				     const uint32_t *word)
{
	const struct place *place = shard->objects.place;
	const uint32_t *end = word + 1 + *word;

	word++;
	for (unsigned k = 0; k < HOPS; k++) {
		uint32_t hop = *word++, metrics = hop >> COPIES_METRICS;

		hop &= (1 << COPIES_METRICS) - 1;
		TEST(place[hop].node_id == k + 1);
		TEST(__builtin_popcount(metrics) >= 3);
		for (unsigned m = 0; m < METRIC_OF_HOP; m++)
			if (metrics >> m & 1)
				TEST(*word++ == 100 * (k + 1) + m);
	}
	TEST(word == end);
	return end;
}

static struct rig_hop hop_number(unsigned k)
{
	static const uint8_t field[] = {INT_LATENCY, INT_OCCUPANCY,
					INT_UTILIZATION, INT_CONGESTION,
					INT_BUFFER_OCCUPANCY};
	struct rig_hop h = rig_hop_of(k, 0);

	for (unsigned m = 0; m < METRIC_OF_HOP; m++)
		h.field[field[m]] = 100 * k + m;
	return h;
}

/* The whole judges what a view has told, and the shard gets to know of it. */
static void judge(struct telemetry *whole, struct telemetry *shard,
		  const uint32_t *telling)
{
	struct said said[64], *end = said;

	telemetry_shard_compare(shard);
	if (telemetry_shard_is_asked(shard))
		telemetry_shard_sift(shard, telling, 0, &end);
	telemetry_shard_merge(whole);
	for (const struct said *s = said; s < end; s++)
		telemetry_shard_judge(whole, 1, s);
}

/* A round: n views of a flow, at once; of them as many are a train. */
static void take_some(struct telemetry *whole, struct telemetry *shard,
		      const struct int_plan *p, unsigned first, unsigned n,
		      unsigned train)
{
	static struct rig_view rv[TRAIN];
	static uint32_t telling[TRAIN * 64];
	const uint32_t *word = telling;
	struct telemetry_turn turn[TRAIN];
	struct rig_hop hop[HOPS];
	struct int_view v[TRAIN];
	uint32_t *end = telling;

	for (unsigned k = 0; k < HOPS; k++)
		hop[k] = hop_number(k + 1);
	for (unsigned i = 0; i < n; i++) {
		rig_make(&rv[i], first + i, 1, p, hop, HOPS);
		v[i] = rv[i].v;
		turn[i] = (struct telemetry_turn){
			.hash = flows_hash(v[i].key, v[i].key_len),
			.number = first + i,
			.now_ns = first + i};
	}
	telemetry_shard_begin(shard, first);
	TEST(telemetry_shard_take(shard, v, turn, n, &end) == train);
	judge(whole, shard, telling);
	for (unsigned i = 0; i < train; i++)
		word = check_telling(shard, word);
	TEST(word == end);
}

/* A hop's values are told in the order of metrics, however they are on the
 * wire: by the first view of a flow, by those that go where it went, and by
 * trains of them, if there are such of the plan. */
static void test_order(const struct int_plan *p, bool vectors, bool trains)
{
	const struct telemetry_shard_options so = {1, enter, leave, NULL};
	struct telemetry *shard;
	struct rig rig;

	rig_init(&rig);
	rig_open(&rig);
	TEST(!telemetry_shard_open(&shard, rig.t, &rig.sinks, &so));
	shard->vector = shard->vector && vectors;
	take_some(rig.t, shard, p, 1, 1, 1);
	take_some(rig.t, shard, p, 2, 1, 1);
	take_some(rig.t, shard, p, 3, TRAIN,
		  shard->vector && trains ? TRAIN : 1);
	telemetry_shard_close(shard);
	rig_close(&rig);
}

static void test_orders(void)
{
	static const struct int_word backwards[16] = {
		{4, {{INT_BUFFER, 0, 1, 0}, {INT_BUFFER_OCCUPANCY, 1, 3, 0}}},
		{4, {{INT_CONGESTION, 0, 4, 0}}},
		{4, {{INT_UTILIZATION, 0, 4, 0}}},
		{4, {{INT_QUEUE, 0, 1, 0}, {INT_OCCUPANCY, 1, 3, 0}}},
		{4, {{INT_LATENCY, 0, 4, 0}}},
		{4, {{INT_NODE, 0, 4, 0}}},
	};
	struct int_plan odd, narrow;

	/* Two words have the queue. */
	TEST(int_plan_of(&odd, rig_words05, 16,
			 ALL | RIG_CONGESTION | RIG_UTILIZATION));
	TEST(int_plan_of(&narrow, backwards, 16, 0xfc00));
	for (int vectors = 0; vectors < 2; vectors++) {
		test_order(&odd, vectors, false);
		test_order(&narrow, vectors, true);
	}
}

int main(void)
{
	TEST(int_plan_of(&plan, rig_words, 16, ALL));
	test_full(ROOM, 1000);
	test_full(1000, ROOM);
	test_again();
	test_orders();
	return test_end();
}
