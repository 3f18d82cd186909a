/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the whole gets to know of what its shards were told: at rest it is
 * gathered, once for what came; and in a round it is merged only while all of
 * them have had the memory to say what they know.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "collect/gate.h"
#include "collect/team.h"
#include "inband/int_source.h"
#include "packet/kind.h"
#include "telemetry/private.h"
#include "test.h"

enum {
	ROOM = 256, /* bytes of a frame, at most */
	FRAMES = 1200,
	FLOWS = 40,
	NODES = 20,
	HOPS = 3,
	STEP_NS = 1000000, /* between frames */
	BATCH = 50,
	WORKERS = 2,
	MARK = 0x12345678, /* a value that no frame tells */
};

static const uint64_t begin_ns = UINT64_C(1000000000000);
static uint8_t block[FRAMES][ROOM];
static struct pkt pkts[FRAMES];
static size_t at, end; /* of those that are to be taken */

/* Calls of a thread that are to succeed, before those that are not. */
static _Thread_local bool is_first;
static _Thread_local long calls;
static atomic_bool first; /* the thread that is meant; else the other one */
static atomic_long left;  /* -1: all succeed */
static atomic_bool failed;

void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);

/* In the place of the C library's. */
void *__wrap_realloc(void *p, size_t size)
{
	if (left < 0 || is_first != first || calls++ < left)
		return __real_realloc(p, size);
	failed = true;
	return NULL;
}

/* Occupancies of as many queues as there are nodes; no value is an event. */
static void make(size_t i)
{
	uint8_t plain[64] = {0}, stack[HOPS * 64];
	unsigned flow = i % FLOWS;
	const struct int_profile *any = int_profile_named("any");
	struct net_udp4 u = {.src = {10, 0, 0, (uint8_t)flow},
			     .dst = {10, 1, 0, 1},
			     .src_port = 1000,
			     .dst_port = 2000,
			     .ttl = 64};
	struct int_source s = {.version = INT_V2_1,
			       .type = INT_TYPE_MD,
			       .over = INT_OVER_L4,
			       .hops_max = 20,
			       .stack = stack,
			       .hops = HOPS,
			       .bitmap = 0xf000};
	struct int_plan plan;
	int len;

	int_plan_of(&plan, int_profile_words(any, INT_V2_1), 16, s.bitmap);
	for (unsigned k = 0; k < HOPS; k++) {
		uint64_t value[INT_FIELDS] = {[INT_NODE] = 1 +
							   (flow + k) % NODES,
					      [INT_EGRESS] = 1,
					      [INT_OCCUPANCY] = 100 + i % 10};

		int_put(stack + (size_t)k * plan.len, &plan, UINT32_MAX, value);
	}
	s.stack_len = (size_t)HOPS * plan.len;
	len = net_udp4_encode(plain, sizeof(plain), &u, 20);
	len = int_insert(block[i], ROOM, any, &s, plain, (size_t)len + 20);
	if (!TEST(len > 0))
		exit(1);
	pkts[i] = (struct pkt){block[i], (uint32_t)len, (uint32_t)len,
			       begin_ns + i * STEP_NS};
}

static int take(void *ctx, struct pkt *room, int max)
{
	size_t n = end - at < BATCH ? end - at : BATCH;

	(void)ctx;
	(void)max;
	memcpy(room, pkts + at, n * sizeof(*room));
	at += n;
	return (int)n;
}

static int nothing(struct row_sink *s)
{
	(void)s;
	return 0;
}

static int forget(struct row_sink *s, struct row_batch *b)
{
	(void)s;
	(void)b;
	return 0;
}

struct house {
	struct row_sink sink;
	struct gate *gate;
	struct telemetry *t;
	struct collect_team *c;
};

static void house_open(struct house *h)
{
	const struct telemetry_sinks sinks = {&h->sink, &h->sink, &h->sink,
					      &h->sink, &h->sink, &h->sink,
					      &h->sink};
	struct telemetry_thresholds th = {.ends = 0};
	struct collect_team_options o = {.workers = WORKERS,
					 .profile = int_profile_named("any"),
					 .take = take};
	struct telemetry_options to;
	struct fault f = {0};

	h->sink = (struct row_sink){forget, nothing, nothing};
	h->gate = gate_open(&sinks);
	o.sinks = gate_sinks(h->gate);
	telemetry_defaults(&to);
	to.flows.rows = 64;
	to.push_ns = 300 * UINT64_C(1000000);
	for (unsigned m = 0; m < METRIC_NUMBERS; m++)
		th.all[m].change = THRESHOLD_OFF;
	if (!TEST(!telemetry_open(&h->t, &to, &th, o.sinks)) ||
	    !TEST(!collect_team_open(&h->c, h->t, &o, &f)))
		exit(1);
	at = 0;
}

static void house_close(struct house *h)
{
	collect_team_close(h->c);
	telemetry_close(h->t);
	gate_close(h->gate);
}

/* Frames up to that one, by all workers. */
static int go_on(struct house *h, size_t to)
{
	struct pkt room[BATCH];
	int n, rc = 0;

	end = to;
	while ((n = take(NULL, room, BATCH)) > 0 && !rc)
		rc = collect_team_rx(h->c, room, (size_t)n);
	return rc ? rc : collect_team_rest(h->c);
}

/* A tick so long after the last frame. */
static void tick(struct house *h, uint64_t ns)
{
	TEST(!collect_team_tick(h->c, pkts[at - 1].ts_ns + ns));
}

static void test_rest(void)
{
	const uint64_t second = UINT64_C(1000000000);
	struct object *o;
	struct house h;

	house_open(&h);
	TEST(!go_on(&h, FRAMES / 2));
	tick(&h, second);
	TEST(telemetry_looks(h.t, LOOK_OBJECT) == NODES);
	o = &h.t->objects.object[NODES / 2];
	TEST(o->latest >= 100 && o->latest < 110);
	o->latest = MARK;
	for (uint64_t i = 2; i < 5; i++)
		tick(&h, i * second);
	TEST(o->latest == MARK); /* nothing came */
	for (size_t i = at; i < FRAMES; i++)
		pkts[i].ts_ns += 10 * second;
	TEST(!go_on(&h, FRAMES));
	tick(&h, second);
	TEST(o->latest >= 100 && o->latest < 110);
	house_close(&h);
}

/* Whichever call for memory is in vain, and all that follow: true if there was
 * such a call. */
static bool runs_dry(bool who, long after)
{
	struct house h;
	int rc;

	house_open(&h);
	first = who;
	failed = false;
	calls = 0;
	left = after;
	rc = go_on(&h, FRAMES);
	left = -1;
	TEST(rc == (failed ? -ENOMEM : 0));
	house_close(&h);
	return failed;
}

static void test_memory(void)
{
	for (int who = 0; who < WORKERS; who++) {
		long n = 0;

		while (runs_dry(who, n))
			n++;
		TEST(n > 5);
	}
}

int main(void)
{
	left = -1;
	is_first = true;
	for (size_t i = 0; i < FRAMES; i++)
		make(i);
	test_rest();
	for (size_t i = 0; i < FRAMES; i++)
		pkts[i].ts_ns = begin_ns + i * STEP_NS;
	test_memory();
	return test_end();
}
