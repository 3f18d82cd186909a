/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Views in memory, through the INT sink: what a core does once reports are
 * decoded. Values move from packet to packet and stay within their thresholds;
 * where there are events, rows are made of them and thrown away.
 */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "bench.h"
#include "telemetry/sink.h"
#include "net/be.h"

enum {
	VIEWS = 1 << 17,
	BATCH = 256,
	PASSES = 8,	    /* of all views, a round */
	BYTES_MAX = 6 * 40, /* of a stack */
};

/* INT 1.0 and 2.1 as far as they are alike. */
static const struct int_word words[16] = {
	[0] = {4, {{INT_NODE, 0, 4, 0}}},
	[1] = {4, {{INT_INGRESS, 0, 2, 0}, {INT_EGRESS, 2, 2, 0}}},
	[2] = {4, {{INT_LATENCY, 0, 4, 0}}},
	[3] = {4, {{INT_QUEUE, 0, 1, 0}, {INT_OCCUPANCY, 1, 3, 0}}},
	[4] = {4, {{INT_INGRESS_TIME, 0, 4, 0}}},
	[5] = {4, {{INT_EGRESS_TIME, 0, 4, 0}}},
	[6] = {8, {{INT_INGRESS2, 0, 4, 0}, {INT_EGRESS2, 4, 4, 0}}},
	[7] = {4, {{INT_UTILIZATION, 0, 4, 0}}},
};

struct load {
	const char *name;
	uint32_t bitmap;
	unsigned hops, flows;
	double mean;	 /* of exponential values; 0: small steps */
	unsigned change; /* threshold */
	bool real;	 /* few flows have most packets */
};

static const struct load loads[] = {
	{"INT sink: 6 hops, all fields, 1 flow, no event", 0xff00, 6, 1, 0,
	 1000, false},
	{"INT sink: 6 hops, all fields, 100K flows, no event", 0xff00, 6,
	 100000, 0, 1000, false},
	{"INT sink: 5 hops x 4, mix of 20K flows, few events", 0xb100, 5, 20000,
	 100, 900, true},
	{"INT sink: 5 hops x 4, mix of 20K flows, 1 event in 8", 0xb100, 5,
	 20000, 100, 480, true},
	{"INT sink: 1 hop x 1, mix of 20K flows, no event", 0xa000, 1, 20000, 0,
	 1000, true},
};

static void die(const char *what)
{
	fprintf(stderr, "bench_telemetry: %s\n", what);
	exit(1);
}

static void *must(void *p)
{
	if (!p)
		die("out of memory");
	return p;
}

static int throw_away(struct row_sink *s, struct row_batch *b)
{
	(void)s, (void)b;
	return 0;
}

static int nothing(struct row_sink *s)
{
	(void)s;
	return 0;
}

static struct row_sink away = {throw_away, nothing, nothing};

static uint32_t flow_of(const struct load *l, struct rng *r)
{
	/* Pareto: a few flows have most of the packets. */
	if (l->real)
		return (uint32_t)(l->flows *
				  pow(rng_unit(r), 4)); /* below flows */
	return (uint32_t)rng_below(r, l->flows);
}

static uint32_t value_of(const struct load *l, struct rng *r)
{
	if (l->mean > 0)
		return (uint32_t)(-log(1 - rng_unit(r)) * l->mean);
	return 500 + (uint32_t)rng_below(r, 200);
}

static void make_hop(const struct load *l, struct rng *r, uint8_t *p,
		     const struct int_layout *layout, uint32_t flow,
		     unsigned hop)
{
	static const uint8_t metric[] = {INT_LATENCY, INT_OCCUPANCY,
					 INT_UTILIZATION};
	uint32_t node = 1 + hop * 4 + (flow + hop) % 4;

	for (unsigned i = 0; i < layout->len; i += 4)
		be32_store(p + i, (uint32_t)rng_u64(r) & 0x7fffffff);
	for (unsigned i = 0; i < sizeof(metric); i++) {
		const struct int_part *part = &layout->part[metric[i]];

		if (layout->has >> metric[i] & 1)
			be32_store(p + part->word, value_of(l, r));
	}
	be32_store(p + layout->part[INT_NODE].at, node);
	if (layout->has >> INT_EGRESS & 1)
		be16_store(p + layout->part[INT_EGRESS].at, flow % 8);
	if (layout->has >> INT_QUEUE & 1)
		p[layout->part[INT_QUEUE].at] = 0;
}

struct views {
	struct int_record *v;
	uint8_t *bytes;
	struct int_layout layout;
};

static void make_views(struct views *vs, const struct load *l)
{
	struct rng r = {1};
	size_t len;

	int_layout_make(&vs->layout, words, 16, l->bitmap);
	len = (size_t)vs->layout.len * l->hops;
	vs->v = must(calloc(VIEWS, sizeof(*vs->v)));
	vs->bytes = must(malloc(VIEWS * len));
	for (unsigned i = 0; i < VIEWS; i++) {
		uint32_t flow = flow_of(l, &r);
		struct int_record *v = &vs->v[i];

		*v = (struct int_record){.key_len = 13, .ip_len = 64};
		be32_store(v->key, (uint32_t)rng_mix(flow));
		be32_store(v->key + 4, flow);
		v->key[12] = 6;
		v->from = (struct int_from){.report = true,
					    .numbered = true,
					    .has_node = true,
					    .node = 7,
					    .sequence_bits = 32};
		v->stack = (struct int_hops){.layout = &vs->layout,
					     .data = vs->bytes + i * len,
					     .len = vs->layout.len,
					     .n = (uint8_t)l->hops};
		for (unsigned k = 0; k < l->hops; k++)
			make_hop(l, &r,
				 vs->bytes + i * len + k * vs->layout.len,
				 &vs->layout, flow, k);
	}
}

static struct telemetry *open_sink(const struct load *l)
{
	const struct telemetry_sinks sinks = {
		{&away, &away, &away, &away, &away, &away}};
	struct telemetry_thresholds th = {0};
	struct telemetry_options o;
	struct telemetry *t;

	telemetry_defaults(&o);
	for (unsigned m = 0; m < NUMERIC_METRICS; m++)
		th.all[m].change = l->change;
	th.all[METRIC_FLOW_LATENCY].change = 10 * l->change;
	if (telemetry_open(&t, &o, &th, &sinks))
		die("no sink");
	return t;
}

/* A batch as decoders leave it: it and its bytes are in the cache. */
static const struct int_record *fill(const struct views *vs, unsigned from)
{
	static struct int_record batch[BATCH];
	static uint8_t bytes[BATCH * BYTES_MAX];
	static uint64_t ts;
	static uint32_t sequence;
	size_t len = (size_t)vs->v->stack.n * vs->layout.len;

	memcpy(batch, vs->v + from, sizeof(batch));
	memcpy(bytes, vs->bytes + from * len, BATCH * len);
	for (unsigned i = 0; i < BATCH; i++) {
		batch[i].ts_ns = ts += 150;
		batch[i].from.sequence = sequence++;
		batch[i].stack.data = bytes + i * len;
	}
	return batch;
}

/* Seconds in the sink. */
static double run(struct telemetry *t, const struct views *vs, unsigned passes)
{
	double took = 0;

	for (unsigned pass = 0; pass < passes; pass++)
		for (unsigned i = 0; i < VIEWS; i += BATCH) {
			const struct int_record *v = fill(vs, i);
			double start = bench_now();

			if (telemetry_add_records(t, v, BATCH))
				die("telemetry_add_records failed");
			took += bench_now() - start;
		}
	return took;
}

static void bench(const struct load *l)
{
	double rate[BENCH_ROUNDS];
	struct views vs;
	struct telemetry *t = open_sink(l);
	uint64_t events, views;

	make_views(&vs, l);
	run(t, &vs, 1);
	views = telemetry_counters(t)->views;
	events = telemetry_counters(t)->events;
	for (int i = 0; i < BENCH_ROUNDS; i++) {
		double took = run(t, &vs, PASSES);

		rate[i] = (double)VIEWS * PASSES / took * 1e-6;
	}
	views = telemetry_counters(t)->views - views;
	events = telemetry_counters(t)->events - events;
	bench_row(l->name, bench_median(rate, BENCH_ROUNDS), 0, NULL);
	fprintf(stderr, "%s: %.4f events a report\n", l->name,
		(double)events / (double)views);
	telemetry_close(t);
	free(vs.v);
	free(vs.bytes);
}

int main(int argc, char **argv)
{
	for (unsigned i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
		if (argc < 2 || (unsigned)atoi(argv[1]) == i)
			bench(&loads[i]);
	return 0;
}
