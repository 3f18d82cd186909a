/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * INT-label's controller and a hop, on frames in memory. The controller knows
 * 100,000 ports, and each label brings a newer state of one; each port is
 * looked at when it may be silent. Rates are labels, and packets of the hop.
 */
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "bench.h"
#include "label/control.h"
#include "label/hop.h"
#include "net/be.h"
#include "net/net.h"

enum {
	PORTS = 100000,
	PORTS_EACH = 64, /* of a device */
	ITEMS = 5,
	BATCH = 256,
	BATCHES = 400, /* a round */
	PLAIN = 14 + 20 + 20,
	FRAME = PLAIN + LABEL_OPTION_LEN + ITEMS * LABEL_ITEM_LEN,
	ITEM_NS = 1000, /* 1 M labels a second */
};

static uint8_t frames[BATCH][FRAME];
static uint32_t number[PORTS];
static struct rng rng = {1};
static uint64_t now_ns = 1000000000;

static void die(const char *what)
{
	fprintf(stderr, "bench_label: %s\n", what);
	exit(1);
}

static void head(uint8_t *f, size_t len, uint8_t protocol)
{
	memset(f, 0, PLAIN);
	be16_store(f + 12, NET_ETHERTYPE_IP4);
	f[14] = NET_IP4_PLAIN;
	be16_store(f + 16, (uint16_t)(len - 14));
	be16_store(f + 20, NET_IP4_DF);
	f[23] = protocol;
	be16_store(f + 24, net_checksum(f + 14, NET_IP4_LEN));
}

/* Labels of ports at random, each newer than its last one. */
static void fill(void)
{
	for (unsigned i = 0; i < BATCH; i++) {
		uint8_t *f = frames[i];

		head(f, FRAME, LABEL_PROTOCOL);
		f[34] = 6;
		f[35] = ITEMS;
		now_ns += ITEMS * ITEM_NS;
		for (unsigned k = 0; k < ITEMS; k++) {
			uint32_t port = (uint32_t)rng_below(&rng, PORTS);
			struct label_item item = {
				.device = port / PORTS_EACH,
				.out = (uint16_t)(port % PORTS_EACH),
				.time_us = now_ns / 1000,
				.number = ++number[port]};

			label_item_put(f + 36 + (size_t)k * LABEL_ITEM_LEN,
				       &item);
		}
	}
}

static double control_round(struct label_control *c)
{
	uint64_t at_ns = now_ns;
	double took = 0, start;

	for (unsigned b = 0; b < BATCHES; b++) {
		fill();
		start = bench_now();
		for (unsigned i = 0; i < BATCH; i++)
			label_control_frame(c, frames[i], FRAME,
					    at_ns += ITEMS * ITEM_NS);
		took += bench_now() - start;
	}
	return BATCHES * BATCH * ITEMS / took * 1e-6;
}

static void bench_control(void)
{
	struct label_control_options o;
	struct label_control *c;
	double rate[BENCH_ROUNDS];

	label_control_defaults(&o);
	if (label_control_open(&c, &o))
		die("out of memory");
	control_round(c);
	for (int i = 0; i < BENCH_ROUNDS; i++)
		rate[i] = control_round(c);
	if (label_db_counters(label_control_db(c))->updated < BATCH * BATCHES)
		die("labels were not taken");
	bench_row("INT-label controller: labels of 100K ports, 5 a packet",
		  bench_median(rate, BENCH_ROUNDS), 0, NULL);
	label_control_close(c);
}

static double hop_round(struct label_hop *h, uint64_t every_us)
{
	static uint8_t out[FRAME + LABEL_GROWTH], export[FRAME + LABEL_GROWTH];
	struct label_transit t = {.in = 1, .out = 2, .now_us = 1};
	double start;

	head(frames[0], PLAIN, 6);
	start = bench_now();
	for (unsigned i = 0; i < BATCH * BATCHES; i++) {
		t.now_us += every_us;
		label_hop_pass(h, &t, frames[0], PLAIN, out, export,
			       sizeof(out));
	}
	return BATCHES * BATCH / (bench_now() - start) * 1e-6;
}

static void bench_hop(const char *name, uint64_t every_us)
{
	struct label_hop_options o = {
		.policy = {.max_hop = 5, .interval_us = 50000},
		.format = label_format_default,
	};
	double rate[BENCH_ROUNDS];
	struct label_hop *h;

	if (label_hop_open(&h, &o))
		die("out of memory");
	for (int i = 0; i < BENCH_ROUNDS; i++)
		rate[i] = hop_round(h, every_us);
	bench_row(name, bench_median(rate, BENCH_ROUNDS), 0, NULL);
	label_hop_close(h);
}

int main(void)
{
	bench_control();
	bench_hop("INT-label hop: packets that are let through", 1);
	bench_hop("INT-label hop: packets that are all labelled", 60000);
	return 0;
}
