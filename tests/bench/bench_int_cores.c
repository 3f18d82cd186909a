/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The INT sink on two cores beside one alone (the limit of each row), on the
 * same frames in memory, in the same rounds.
 */
#include "bench_parts.h"
#include "bench_two.h"
#include "frames.h"
#include "telemetry/int_collector.h"

enum {
	CORES = 2,
};

struct load {
	const char *name, *options;
	unsigned threshold; /* of all metrics */
	unsigned objects;   /* room for so many; 0: for all */
};

static const struct load loads[] = {
	{"Two cores: INT report 1.0, 6 hops, 1K flows (limit: one)",
	 "-F report -p 1.0 --instructions 0xff00 --hops 6 -n 1K --spikes 0",
	 50},
	{"Two cores: INT report 1.0, 6 hops, 100K flows",
	 "-F report -p 1.0 --instructions 0xff00 --hops 6 -n 100K --spikes 0",
	 50},
	{"Two cores: INT-MD 2.1, 5 hops x 4, flow mix, few events",
	 "-p 2.1 --instructions 0xb100 --hops 5 -n 20K", 100000},
	{"Two cores: INT-MD 2.1, 5 hops x 4, flow mix, events",
	 "-p 2.1 --instructions 0xb100 --hops 5 -n 20K", 8000},
	{"Two cores: the same, few events, room for few queues and links",
	 "-p 2.1 --instructions 0xb100 --hops 5 -n 20K", 100000, 8},
};

static int drop(struct row_sink *s, struct row_batch *b)
{
	(void)s;
	row_batch_clear(b);
	return 0;
}

static int nothing(struct row_sink *s)
{
	(void)s;
	return 0;
}

static struct row_sink away = {drop, nothing, nothing};

/* The sink on one core and on several. */
struct bed {
	struct int_collector *one, *two;
	const struct frames *fs;
	size_t at; /* of those that are taken */
};

static int take(void *ctx, struct pkt *room, int max)
{
	struct bed *b = ctx;
	size_t n = b->fs->n - b->at;

	n = n < (size_t)max ? n : (size_t)max;
	memcpy(room, b->fs->pkt + b->at, n * sizeof(*room));
	b->at += n;
	return (int)n;
}

/* Seconds for all frames. */
static double run(struct bed *b, struct int_collector *c)
{
	double start = bench_now();
	struct pkt room[PKT_BATCH];
	int n;

	b->at = 0;
	while ((n = take(b, room, PKT_BATCH)))
		if (int_collector_rx(c, room, (size_t)n))
			bench_die("int_collector_rx failed");
	int_collector_rest(c);
	return bench_now() - start;
}

static struct int_collector *open_collector(struct bed *b, const struct load *l,
					    unsigned workers)
{
	const struct telemetry_sinks sinks = {{&away, &away}};
	struct int_collector_options o = {.workers = workers,
					  .profile = int_profile_named("any")};
	struct telemetry_thresholds th = {0};
	struct int_collector *c;
	struct error err = {0};

	for (int m = 0; m < NUMERIC_METRICS; m++)
		th.all[m].change = l->threshold;
	telemetry_defaults(&o.telemetry);
	if (l->objects)
		o.telemetry.objects.ports = l->objects;
	if (int_collector_open(&c, &o, &th, &sinks) < 0 ||
	    int_collector_start(c, NULL, take, b, &err) < 0)
		bench_die("no collector");
	return c;
}

static void bench(const struct frames *fs, const struct load *l)
{
	double rate[BENCH_ROUNDS], limit[BENCH_ROUNDS];
	struct bed b = {.fs = fs};

	b.one = open_collector(&b, l, 1);
	b.two = open_collector(&b, l, CORES);
	run(&b, b.one); /* keys that are new */
	run(&b, b.two);
	parts_begin();
	for (int i = 0; i < BENCH_ROUNDS; i++) {
		limit[i] = FRAMES / run(&b, b.one);
		rate[i] = FRAMES / run(&b, b.two);
	}
	bench_row(l->name, bench_median(rate, BENCH_ROUNDS) / 1e6,
		  bench_median(limit, BENCH_ROUNDS) / 1e6, NULL);
	parts_row(l->name, (double)FRAMES * BENCH_ROUNDS);
	int_collector_close(b.one);
	int_collector_close(b.two);
}

int main(int argc, char **argv)
{
	struct frames fs;
	char *dir = build_dir(argv[0]);

	(void)argc;
	frames_init(&fs);
	bench_line();
	for (unsigned i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		load_frames(&fs, dir, loads[i].options);
		bench(&fs, &loads[i]);
	}
	frames_fini(&fs);
	return 0;
}
