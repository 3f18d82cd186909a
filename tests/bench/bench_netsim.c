/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The network simulator: packets that a core takes through a fat tree of 320
 * switches, 5 hops most of them, with labels and the controller in the loop. A
 * second of a million packets should take ten at most: the limit is a tenth of
 * real time.
 */
#include "bench.h"
#include "sim/netsim.h"

enum {
	ARITY = 16,
	PACKETS = 1000000, /* a second, for a second */
};

static void on_interval(void *ctx, const struct netsim_interval *v)
{
	(void)ctx, (void)v;
}

static double seconds(enum label_kind kind, enum netsim_scheme scheme)
{
	struct netsim_calls calls = {.interval = on_interval};
	struct fabric fabric;
	struct netsim_options o = {
		.fabric = &fabric,
		.scheme = scheme,
		.seed = 1,
		.duration_ns = 1000000000,
		.telemetry_ns = 100000000,
		.link_bps = 10000000000,
		.delay_ns = 10000,
		.queue_max = 100,
		.mtu = 1500,
		.rate_pps = PACKETS,
		.senders = 1,
		.flows = 65536,
		.frame_len = 1000,
		.policy = {.kind = kind, .max_hop = 5, .interval_us = 50000},
	};
	struct netsim *s;
	struct error err = {""};
	double begin;

	if (fabric_tree(&fabric, ARITY) < 0 ||
	    netsim_open(&s, &o, &calls, &err) < 0)
		exit(1);
	begin = bench_now();
	if (netsim_run(s, &err) < 0)
		exit(1);
	begin = bench_now() - begin;
	netsim_close(s);
	fabric_fini(&fabric);
	return begin;
}

static void row(const char *path, enum label_kind kind,
		enum netsim_scheme scheme)
{
	double rate[BENCH_ROUNDS];

	for (int i = 0; i < BENCH_ROUNDS; i++)
		rate[i] = PACKETS / 1e6 / seconds(kind, scheme);
	bench_row(path, bench_median(rate, BENCH_ROUNDS), PACKETS / 1e7, NULL);
}

int main(void)
{
	row("network simulator: k = 16, traffic alone", LABEL_BASE_A,
	    NETSIM_NONE);
	row("network simulator: k = 16, Base A", LABEL_BASE_A, NETSIM_LABEL);
	row("network simulator: k = 16, Base B", LABEL_BASE_B, NETSIM_LABEL);
	return 0;
}
