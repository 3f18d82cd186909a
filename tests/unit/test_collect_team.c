/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The INT sink on several cores tells what one core does, up to the order of
 * rows: events, values, flows, hops, distributions; and ledgers, and packets
 * that go on. Best run under ThreadSanitizer, too (make SAN=thread).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "collect/gate.h"
#include "collect/team.h"
#include "hash/bytes.h"
#include "inband/int_source.h"
#include "inband/treport.h"
#include "packet/kind.h"
#include "test.h"

enum {
	FRAMES = 30000,
	ROOM = 512, /* bytes of a frame, at most */
	FLOWS = 900,
	NODES = 24,
	HOPS_MAX = 9,
	REPORTERS = 5,
	WORKERS = 4,
	/* What else can be asked for: bits of struct run's asked. */
	SMALL = 1,    /* caches, and room for all that is bounded */
	BUDGET = 2,   /* of events */
	FORWARD = 4,  /* packets go on */
	FILTERED = 8, /* some views only */
	ENDS = 16,    /* metrics from end to end */
};

struct traffic {
	struct rng rng;
	const struct int_profile *profile;
	uint64_t now_ns;
	unsigned flow; /* of the packet before */
	uint32_t sequence[REPORTERS];
	uint8_t *block;
	struct pkt pkt[FRAMES];
	size_t at;
};

static unsigned pick(struct traffic *tf, unsigned n)
{
	return (unsigned)rng_below(&tf->rng, n);
}

/* Which way a flow goes: another one now and then. */
static unsigned node_of(struct traffic *tf, unsigned flow, unsigned hop)
{
	unsigned way = flow * 7 + !pick(tf, 200);

	return 1 + (unsigned)(rng_mix(way * 16ULL + hop) % NODES);
}

/* Values that are often the same: some are events, most are none. */
static uint64_t value_of(struct traffic *tf, unsigned node)
{
	return 100 * node + (pick(tf, 12) ? 0 : pick(tf, 400));
}

static void set_hop(struct traffic *tf, uint64_t v[INT_FIELDS], unsigned flow,
		    unsigned hop)
{
	unsigned node = node_of(tf, flow, hop);

	for (unsigned f = 0; f < INT_FIELDS; f++)
		v[f] = value_of(tf, node);
	v[INT_NODE] = node;
	v[INT_INGRESS] = 1;
	v[INT_EGRESS] = pick(tf, 40) ? flow % 3 : 9;
	v[INT_QUEUE] = flow % 2;
	v[INT_BUFFER] = 1;
}

/* Plain UDP with INT in it. Returns its length. */
static size_t int_frame(struct traffic *tf, uint8_t *out, unsigned flow)
{
	static const uint16_t bitmap[] = {0xf100, 0xf100, 0xf180, 0xb000};
	uint8_t plain[128] = {0}, stack[HOPS_MAX * 64];
	uint64_t value[INT_FIELDS];
	struct net_udp4 u = {
		.src = {10, 0, (uint8_t)(flow >> 8), (uint8_t)flow},
		.dst = {10, 1, 0, (uint8_t)(flow % 7)},
		.src_port = 1000,
		.dst_port = 2000,
		.ttl = 64};
	struct int_source s = {.version = INT_V2_1,
			       .type = INT_TYPE_MD,
			       .over = INT_OVER_L4,
			       .hops_max = 20,
			       .stack = stack,
			       .hops = 1 + flow % HOPS_MAX,
			       .bitmap = bitmap[pick(tf, 4)]};
	struct int_plan plan;
	int len;

	int_plan_of(&plan, int_profile_words(tf->profile, INT_V2_1), 16,
		    s.bitmap);
	for (unsigned i = 0; i < s.hops; i++) {
		set_hop(tf, value, flow, s.hops - 1 - i);
		int_put(stack + (size_t)i * plan.len, &plan,
			pick(tf, 60) ? UINT32_MAX : ~(1U << INT_LATENCY),
			value);
	}
	s.stack_len = (size_t)s.hops * plan.len;
	len = net_udp4_encode(plain, sizeof(plain), &u, 20);
	len = int_insert(out, ROOM, tf->profile, &s, plain, (size_t)len + 20);
	if (!TEST(len > 0))
		exit(1);
	return (size_t)len;
}

/* A report about that packet: some are lost, some come again, some lie. quiet:
 * hardly any is lost. */
static size_t report(struct traffic *tf, uint8_t *out, const uint8_t *inner,
		     size_t inner_len, bool quiet)
{
	unsigned who = pick(tf, REPORTERS);
	struct treport_say say = {.from = {.version = 1,
					   .has_node = true,
					   .node = 100 + who,
					   .hw_id = 1,
					   .sequence_bits = 32},
				  .flags = INT_TRACKED |
					   (pick(tf, 40) ? 0 : INT_DROPPED),
				  .inner_type = TREPORT_ETHERNET,
				  .inner = inner,
				  .inner_len = inner_len};
	struct net_udp4 u = {.src = {10, 9, 0, (uint8_t)who},
			     .dst = {10, 9, 9, 9},
			     .src_port = 1,
			     .dst_port = tf->profile->report_port,
			     .ttl = 64};
	uint8_t payload[ROOM];
	int len, head;

	tf->sequence[who] += pick(tf, quiet ? 1500 : 50) ? 1 : pick(tf, 5);
	say.from.sequence = tf->sequence[who];
	len = treport_encode(payload, sizeof(payload), &say);
	if (!TEST(len > 0))
		exit(1);
	if (!pick(tf, 100)) /* its header is there, what follows is not */
		len = 16;
	head = net_udp4_encode(out, ROOM, &u, (size_t)len);
	memcpy(out + head, payload, (size_t)len);
	return (size_t)(head + len);
}

static void make_one(struct traffic *tf, size_t i)
{
	uint8_t *p = tf->block + i * 2 * ROOM, inner[ROOM];
	unsigned what = pick(tf, 10);
	unsigned flow = pick(tf, pick(tf, 2) ? 20 : FLOWS);
	size_t len;

	/* Packets of a flow often come in a train. */
	if (pick(tf, 4) && i % 2000 > 1000)
		flow = tf->flow;
	tf->flow = flow;

	if (what < 5) {
		len = int_frame(tf, p, flow);
	} else {
		len = int_frame(tf, inner, flow);
		len = report(tf, p, inner, len, i > FRAMES / 2);
	}
	if (!pick(tf, 500) && (what < 5 || i < FRAMES / 2))
		len = pick(tf, (unsigned)len); /* cut */
	tf->now_ns += pick(tf, 20) ? pick(tf, 3000) : pick(tf, 3000000);
	/* Clocks that go back a little. */
	tf->pkt[i] = (struct pkt){p, (uint32_t)len, (uint32_t)len,
				  tf->now_ns - pick(tf, 2) * 500};
}

static struct traffic *traffic_new(void)
{
	struct traffic *tf = calloc(1, sizeof(*tf));

	tf->rng.state = 5;
	tf->now_ns = UINT64_C(1000000000000);
	tf->profile = int_profile_named("any");
	tf->block = calloc(FRAMES, 2 * (size_t)ROOM);
	for (size_t i = 0; i < FRAMES; i++)
		make_one(tf, i);
	return tf;
}

static int take(void *ctx, struct pkt *room, int max)
{
	struct traffic *tf = ctx;
	size_t n = rng_mix(tf->at) % 3 ? 100 : 1 + rng_mix(tf->at) % 1024;

	n = n < (size_t)max ? n : (size_t)max;
	n = n < FRAMES - tf->at ? n : FRAMES - tf->at;
	memcpy(room, tf->pkt + tf->at, n * sizeof(*room));
	tf->at += n;
	return (int)n;
}

/* What a run tells: all of its rows, in any order. */
struct result {
	struct row_sink sink;
	uint64_t rows, sum;
	struct collect_ledgers ledgers;
	uint64_t forwarded; /* a hash of them, in their order */
};

static uint64_t hash_cell(uint64_t h, const struct row_batch *b,
			  const struct row_cell *c)
{
	if (c->kind == ROW_NULL)
		return rng_mix(h ^ 1);
	if (c->kind == ROW_STR || c->kind == ROW_BYTES)
		return hash_bytes(h, b->bytes + c->at, c->len);
	if (c->kind == ROW_LIST)
		return hash_bytes(h, b->bytes + c->at, c->len * 8);
	return rng_mix(h ^ c->u64);
}

static int put(struct row_sink *s, struct row_batch *b)
{
	struct result *r = (struct result *)s;

	for (unsigned i = 0; i < b->rows; i++) {
		uint64_t h = hash_bytes(0, (const uint8_t *)b->schema->name,
					strlen(b->schema->name));

		for (unsigned k = 0; k < b->schema->n; k++)
			h = hash_cell(h, b, row_batch_cell(b, i, k));
		r->sum += rng_mix(h);
		r->rows++;
	}
	return 0;
}

static int nothing(struct row_sink *s)
{
	(void)s;
	return 0;
}

/* A sink of packets that only knows what came, in its order. */
struct hearsay {
	struct snk snk;
	uint64_t sum;
	uint8_t frame[2 * ROOM];
};

static int hearsay_room(struct snk *snk, size_t len)
{
	(void)snk;
	return TEST(len <= 2 * ROOM) ? 0 : -EMSGSIZE;
}

static void hearsay_done(struct snk *snk, size_t len, uint32_t wire_len,
			 uint64_t ts_ns)
{
	struct hearsay *h = (struct hearsay *)snk;

	h->sum = hash_bytes(h->sum ^ wire_len ^ ts_ns, h->frame, len);
}

static int hearsay_flush(struct snk *snk)
{
	(void)snk;
	return 0;
}

static void hearsay_init(struct hearsay *h)
{
	static const struct snk_ops ops = {.room = hearsay_room,
					   .done = hearsay_done,
					   .flush = hearsay_flush};

	*h = (struct hearsay){.snk = {.ops = &ops}};
	h->snk.at = h->frame;
	h->snk.room = sizeof(h->frame);
}

/* What is asked of a run. */
struct asked {
	unsigned bits;
	struct expr *filter;
	struct telemetry_options to;
	struct telemetry_thresholds th;
};

static void ask(struct asked *a, unsigned bits)
{
	struct fault f = {0};

	*a = (struct asked){.bits = bits};
	telemetry_defaults(&a->to);
	a->to.flows.rows = 600;
	a->to.flows.idle_ns = 400000000;
	a->to.push_ns = 200000000;
	a->to.gather = 16;
	if (bits & SMALL) {
		a->to.flows.rows = 50;
		a->to.flows.buckets = 4;
		a->to.flows.hops = 2;
		a->to.flows.blocks = 60;
		a->to.objects.nodes = NODES - 2;
		a->to.objects.places = 90;
		a->to.objects.objects = 70;
		a->to.paths = 400;
		a->to.dist_bytes = 1 << 19;
		a->to.reporters = REPORTERS - 1;
	}
	if (bits & BUDGET)
		a->to.events_max = 100;
	for (unsigned m = 0; m < METRIC_NUMBERS; m++)
		a->th.all[m] = (struct threshold){50, 2200, 2000};
	if (bits & ENDS)
		a->th.ends = 3;
	if (bits & FILTERED)
		TEST(!expr_parse(&a->filter, "node 7 or hops < 4", &f));
}

/* In the middle, at rest: other thresholds, and time goes on. */
static void meanwhile(struct collect_team *c, const struct asked *a)
{
	struct telemetry_thresholds th = a->th;

	th.all[METRIC_QUEUE_OCCUPANCY].change = 200;
	th.all[METRIC_HOP_LATENCY].change = 20;
	th.all[METRIC_LINK_UTILIZATION] = (struct threshold){5, 900, 800};
	TEST(!collect_team_set(c, &th));
}

static void run(struct result *r, struct traffic *tf, const struct asked *a,
		unsigned workers)
{
	const struct telemetry_sinks sinks = {&r->sink, &r->sink, &r->sink,
					      &r->sink, &r->sink, &r->sink,
					      &r->sink};
	struct gate *gate = gate_open(&sinks);
	struct collect_team_options o = {
		.workers = workers,
		.profile = tf->profile,
		.filter = a->filter,
		.sinks = a->bits & BUDGET ? NULL : gate_sinks(gate),
		.take = take,
		.ctx = tf};
	struct pkt room[PKT_BATCH];
	struct collect_team *c;
	struct hearsay on;
	struct telemetry *t;
	struct fault f = {0};
	int n;

	*r = (struct result){.sink = {put, nothing, nothing}};
	hearsay_init(&on);
	if (a->bits & FORWARD)
		o.out = &on.snk;
	tf->at = 0;
	if (!TEST(!telemetry_open(&t, &a->to, &a->th, gate_sinks(gate))) ||
	    !TEST(!collect_team_open(&c, t, &o, &f)))
		exit(1);
	while ((n = take(tf, room, PKT_BATCH)) > 0)
		TEST(!collect_team_rx(c, room, (size_t)n));
	TEST(!collect_team_tick(c, tf->now_ns + 250000000));
	meanwhile(c, a);
	TEST(!collect_team_pass(c));
	tf->at = FRAMES - 3000;
	while ((n = take(tf, room, PKT_BATCH)) > 0)
		TEST(!collect_team_rx(c, room, (size_t)n));
	TEST(!collect_team_flush(c));
	collect_team_ledgers(c, &r->ledgers);
	r->forwarded = on.sum;
	collect_team_close(c);
	telemetry_close(t);
	gate_close(gate);
}

static void compare(struct traffic *tf, unsigned bits)
{
	struct result one, more;
	struct asked a;

	ask(&a, bits);
	run(&one, tf, &a, 1);
	TEST(one.rows > 5000 && one.ledgers.telemetry.events > 1000);
	TEST(one.ledgers.telemetry.reports_lost > 10 || a.filter);
	TEST(one.ledgers.telemetry.pushed > 500);
	if (bits & SMALL)
		TEST(one.ledgers.telemetry.unplaced &&
		     one.ledgers.telemetry.pathless &&
		     one.ledgers.telemetry.undistributed &&
		     one.ledgers.telemetry.unnumbered &&
		     one.ledgers.flows.no_block && one.ledgers.flows.evicted);
	for (unsigned workers = 2; workers <= WORKERS; workers++) {
		run(&more, tf, &a, workers);
		TEST(more.rows == one.rows && more.sum == one.sum);
		TEST(!memcmp(&more.ledgers, &one.ledgers, sizeof(one.ledgers)));
		TEST(more.forwarded == one.forwarded);
	}
	expr_free(a.filter);
}

/* One core without a team tells that, too. */
static int take_views(void *t, const struct int_view *v, size_t n)
{
	return telemetry_take(t, v, n);
}

static int take_number(void *t, uint64_t ts_ns, const struct int_from *from)
{
	return telemetry_numbers(t, ts_ns, from, 1, false);
}

static void alone(struct result *r, struct traffic *tf, const struct asked *a)
{
	const struct telemetry_sinks sinks = {&r->sink, &r->sink, &r->sink,
					      &r->sink, &r->sink, &r->sink,
					      &r->sink};
	struct intake_options io = {.profile = tf->profile,
				    .views = take_views,
				    .number = take_number};
	struct telemetry *t;
	struct intake *in;

	*r = (struct result){.sink = {put, nothing, nothing}};
	TEST(!telemetry_open(&t, &a->to, &a->th, &sinks));
	io.ctx = t;
	TEST(!intake_open(&in, &io));
	TEST(!intake_take(in, tf->pkt, FRAMES));
	TEST(!telemetry_flush(t));
	r->ledgers.telemetry = *telemetry_counters(t);
	intake_close(in);
	telemetry_close(t);
}

static void together(struct result *r, struct traffic *tf,
		     const struct asked *a)
{
	const struct telemetry_sinks sinks = {&r->sink, &r->sink, &r->sink,
					      &r->sink, &r->sink, &r->sink,
					      &r->sink};
	struct gate *gate = gate_open(&sinks);
	const struct collect_team_options o = {.workers = 3,
					       .profile = tf->profile,
					       .sinks = gate_sinks(gate),
					       .take = take,
					       .ctx = tf};
	struct pkt room[PKT_BATCH];
	struct collect_team *c;
	struct telemetry *t;
	struct fault f = {0};
	int n;

	*r = (struct result){.sink = {put, nothing, nothing}};
	tf->at = 0;
	TEST(!telemetry_open(&t, &a->to, &a->th, gate_sinks(gate)));
	TEST(!collect_team_open(&c, t, &o, &f));
	while ((n = take(tf, room, PKT_BATCH)) > 0)
		TEST(!collect_team_rx(c, room, (size_t)n));
	TEST(!collect_team_flush(c));
	collect_team_ledgers(c, &r->ledgers);
	collect_team_close(c);
	telemetry_close(t);
	gate_close(gate);
}

static void test_alone(struct traffic *tf)
{
	struct result one, three;
	struct asked a;

	ask(&a, SMALL | ENDS);
	alone(&one, tf, &a);
	together(&three, tf, &a);
	TEST(one.rows == three.rows && one.sum == three.sum);
	TEST(!memcmp(&one.ledgers.telemetry, &three.ledgers.telemetry,
		     sizeof(one.ledgers.telemetry)));
}

int main(void)
{
	struct traffic *tf = traffic_new();

	test_alone(tf);
	compare(tf, 0);
	compare(tf, SMALL | FORWARD);
	compare(tf, ENDS | FILTERED);
	compare(tf, BUDGET | SMALL);
	free(tf->block);
	free(tf);
	return test_end();
}
