/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The INT sink on several cores tells what one core does, up to the order of
 * rows: events, values, flows, hops, distributions; and ledgers. Best run under
 * ThreadSanitizer, too (make SAN=thread).
 */
#include "int_collector_rig.h"

enum {
	FRAMES = 30000,
	FLOWS = 900,
	NODES = 24,
	REPORTERS = 5,
	WORKERS = 4,
	/* What else can be asked for: bits of struct run's asked. */
	SMALL = 1,    /* flow cache */
	FILTERED = 2, /* some views only */
	ENDS = 4,     /* metrics from end to end */
	FULL = 8,     /* little room for all that is bounded */
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

/* A hop of a packet that is being made. */
struct making {
	struct traffic *tf;
	unsigned flow, hops;
};

static uint32_t set_hop(void *making, uint64_t v[INT_FIELDS], unsigned hop)
{
	const struct making *m = making;
	struct traffic *tf = m->tf;
	unsigned node = node_of(tf, m->flow, m->hops - 1 - hop);

	for (unsigned f = 0; f < INT_FIELDS; f++)
		v[f] = value_of(tf, node);
	v[INT_NODE] = node;
	v[INT_INGRESS] = 1;
	v[INT_EGRESS] = pick(tf, 40) ? m->flow % 3 : 9;
	v[INT_QUEUE] = m->flow % 2;
	v[INT_BUFFER] = 1;
	return pick(tf, 60) ? UINT32_MAX : ~(1U << INT_LATENCY);
}

static size_t int_frame(struct traffic *tf, uint8_t *out, unsigned flow)
{
	static const uint16_t bitmap[] = {0xf100, 0xf100, 0xf180, 0xb000};
	struct making m = {tf, flow, 1 + flow % HOPS_MAX};

	return rig_frame(out, tf->profile, flow, bitmap[pick(tf, 4)], m.hops,
			 set_hop, &m);
}

/* A report about that packet: some are lost, some come again, some lie, and of
 * some the header is there and what follows is not. quiet: hardly any is lost.
 */
static size_t report(struct traffic *tf, uint8_t *out, const uint8_t *inner,
		     size_t inner_len, bool quiet)
{
	unsigned who = pick(tf, REPORTERS);
	struct treport_fields say = {.from = {.version = 1,
					      .has_node = true,
					      .node = 100 + who,
					      .hw_id = 1,
					      .sequence_bits = 32},
				     .flags = INT_TRACKED |
					      (pick(tf, 40) ? 0 : INT_DROPPED),
				     .inner_type = TREPORT_ETHERNET,
				     .inner = inner,
				     .inner_len = inner_len};

	tf->sequence[who] += pick(tf, quiet ? 1500 : 50) ? 1 : pick(tf, 5);
	say.from.sequence = tf->sequence[who];
	return rig_report(out, tf->profile, &say, pick(tf, 100) ? 0 : 16);
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

/* What is asked of a run. */
struct asked {
	unsigned bits;
	struct expr *filter;
	struct telemetry_options to;
	struct telemetry_thresholds th;
};

static void ask(struct asked *a, unsigned bits)
{
	struct error err = {0};

	*a = (struct asked){.bits = bits};
	telemetry_defaults(&a->to);
	a->to.flows.rows = 600;
	a->to.flows.idle_ns = 400000000;
	a->to.push_ns = 200000000;
	a->to.batch_rows = 16;
	if (bits & SMALL) {
		a->to.flows.rows = 50;
		a->to.flows.buckets = 4;
		a->to.flows.hops = 2;
	}
	if (bits & FULL) {
		a->to.flows.blocks = 60;
		a->to.objects.nodes = NODES - 2;
		a->to.objects.hop_keys = 90;
		a->to.objects.ports = 70;
		a->to.paths = 400;
		a->to.dist_bytes = 1 << 19;
		a->to.reporters = REPORTERS - 1;
	}
	for (unsigned m = 0; m < NUMERIC_METRICS; m++)
		a->th.all[m] = (struct threshold){50, 2200, 2000};
	if (bits & ENDS)
		a->th.ends_watched = 3;
	if (bits & FILTERED)
		TEST(!expr_parse(&a->filter, "node 7 or hops < 4", &err));
}

/* In the middle, at rest: other thresholds, and time goes on. */
static void meanwhile(struct int_collector *c, const struct asked *a)
{
	struct telemetry_thresholds th = a->th;

	th.all[METRIC_QUEUE_OCCUPANCY].change = 200;
	th.all[METRIC_HOP_LATENCY].change = 20;
	th.all[METRIC_LINK_UTILIZATION] = (struct threshold){5, 900, 800};
	TEST(!int_collector_set_thresholds(c, &th));
}

static void rx_all(struct int_collector *c, struct traffic *tf)
{
	struct pkt room[PKT_BATCH];
	int n;

	while ((n = take(tf, room, PKT_BATCH)) > 0)
		TEST(!int_collector_rx(c, room, (size_t)n));
}

static void run(struct result *r, struct traffic *tf, const struct asked *a,
		unsigned workers)
{
	const struct int_collector_options o = {.workers = workers,
						.profile = tf->profile,
						.filter = a->filter};
	struct int_collector *c;

	tf->at = 0;
	c = rig_collector_open(r, &o, &a->to, &a->th, NULL, take, tf);
	rx_all(c, tf);
	TEST(!int_collector_tick(c, tf->now_ns + 250000000));
	meanwhile(c, a);
	TEST(!int_collector_put_rows(c));
	tf->at = FRAMES - 3000;
	rx_all(c, tf);
	rig_collector_close(c, r);
}

static void same_views(const struct telemetry_ledger *a,
		       const struct telemetry_ledger *b)
{
	TEST(a->views == b->views && a->used == b->used &&
	     a->empty == b->empty && a->hops == b->hops);
	TEST(a->unplaced && a->pathless && a->forgotten);
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
	if (bits & FULL)
		TEST(one.ledgers.telemetry.unplaced &&
		     one.ledgers.telemetry.pathless &&
		     one.ledgers.telemetry.undistributed &&
		     one.ledgers.telemetry.reporters_full &&
		     one.ledgers.flows.no_block && one.ledgers.flows.evicted);
	for (unsigned workers = 2; workers <= WORKERS; workers++) {
		run(&more, tf, &a, workers);
		/* Others may have the last places of what is full. */
		if (bits & FULL) {
			same_views(&more.ledgers.telemetry,
				   &one.ledgers.telemetry);
			continue;
		}
		TEST(more.rows == one.rows && more.sum == one.sum);
		TEST(!memcmp(&more.ledgers, &one.ledgers, sizeof(one.ledgers)));
	}
	expr_free(a.filter);
}

/* So does a sink that is none of a collector. */
static void test_alone(struct traffic *tf)
{
	const struct int_collector_options o = {.workers = 3,
						.profile = tf->profile};
	struct result one, three;
	struct int_collector *c;
	struct rig_one alone;
	struct asked a;

	ask(&a, SMALL | ENDS);
	rig_one_open(&alone, &one, tf->profile, &a.to, &a.th);
	TEST(!int_decode_frames(alone.in, tf->pkt, FRAMES));
	rig_one_close(&alone, &one);
	tf->at = 0;
	c = rig_collector_open(&three, &o, &a.to, &a.th, NULL, take, tf);
	rx_all(c, tf);
	rig_collector_close(c, &three);
	TEST(one.rows == three.rows && one.sum == three.sum);
	TEST(!memcmp(&one.ledgers.telemetry, &three.ledgers.telemetry,
		     sizeof(one.ledgers.telemetry)));
}

int main(void)
{
	struct traffic *tf = traffic_new();

	test_alone(tf);
	compare(tf, 0);
	compare(tf, SMALL);
	compare(tf, ENDS | FILTERED);
	compare(tf, SMALL | FULL);
	free(tf->block);
	free(tf);
	return test_end();
}
