/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The INT sink on two cores beside one alone (the limit of each row), on the
 * same frames in memory, in the same rounds.
 */
#include "bench_two.h"
#include "collect/gate.h"
#include "collect/team.h"
#include "frames.h"

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
	 "-F report -p 1.0 --instructions 0xff00 --hops 6 -n 1K --values "
	 "steady "
	 "--spikes 0",
	 50},
	{"Two cores: INT report 1.0, 6 hops, 100K flows",
	 "-F report -p 1.0 --instructions 0xff00 --hops 6 -n 100K --values "
	 "steady --spikes 0",
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

/* A sink of one core, and a team. */
struct bed {
	struct telemetry *t[2];
	struct intake *in;
	struct gate *gate;
	struct collect_team *team;
	const struct frames *fs;
	size_t at; /* of those that the team takes */
};

static int take_views(void *t, const struct int_view *v, size_t n)
{
	return telemetry_take(t, v, n);
}

static int take(void *ctx, struct pkt *room, int max)
{
	struct bed *b = ctx;
	size_t n = b->fs->n - b->at;

	n = n < (size_t)max ? n : (size_t)max;
	memcpy(room, b->fs->pkt + b->at, n * sizeof(*room));
	b->at += n;
	return (int)n;
}

static double alone(struct bed *b)
{
	double start = bench_now();

	for (size_t i = 0; i < b->fs->n; i += PKT_BATCH)
		if (intake_take(b->in, b->fs->pkt + i, PKT_BATCH))
			bench_die("intake_take failed");
	return bench_now() - start;
}

static double together(struct bed *b)
{
	double start = bench_now();
	struct pkt room[PKT_BATCH];
	int n;

	b->at = 0;
	while ((n = take(b, room, PKT_BATCH)))
		if (collect_team_rx(b->team, room, (size_t)n))
			bench_die("collect_team_rx failed");
	collect_team_rest(b->team);
	return bench_now() - start;
}

static void bed_open(struct bed *b, const struct frames *fs,
		     const struct load *l)
{
	const struct telemetry_sinks sinks = {.event = &away, .value = &away};
	const struct int_profile *any = int_profile_named("any");
	struct collect_team_options co = {
		.workers = CORES, .profile = any, .take = take, .ctx = b};
	struct intake_options io = {.profile = any, .views = take_views};
	struct telemetry_thresholds th = {0};
	struct telemetry_options o;
	struct fault f = {0};

	for (int m = 0; m < METRIC_NUMBERS; m++)
		th.all[m].change = l->threshold;
	telemetry_defaults(&o);
	if (l->objects)
		o.objects.objects = l->objects;
	*b = (struct bed){.fs = fs, .gate = gate_open(&sinks)};
	if (!b->gate || telemetry_open(&b->t[0], &o, &th, &sinks) < 0 ||
	    telemetry_open(&b->t[1], &o, &th, gate_sinks(b->gate)) < 0)
		bench_die("no telemetry");
	io.ctx = b->t[0];
	co.sinks = gate_sinks(b->gate);
	if (intake_open(&b->in, &io) < 0 ||
	    collect_team_open(&b->team, b->t[1], &co, &f) < 0)
		bench_die("no intake, or no team");
}

static void bed_close(struct bed *b)
{
	collect_team_close(b->team);
	intake_close(b->in);
	telemetry_close(b->t[0]);
	telemetry_close(b->t[1]);
	gate_close(b->gate);
}

static void bench(const struct frames *fs, const struct load *l)
{
	double rate[BENCH_ROUNDS], limit[BENCH_ROUNDS];
	struct bed b;

	bed_open(&b, fs, l);
	alone(&b); /* keys that are new */
	together(&b);
	for (int i = 0; i < BENCH_ROUNDS; i++) {
		limit[i] = FRAMES / alone(&b);
		rate[i] = FRAMES / together(&b);
	}
	bench_row(l->name, bench_median(rate, BENCH_ROUNDS) / 1e6,
		  bench_median(limit, BENCH_ROUNDS) / 1e6, NULL);
	bed_close(&b);
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
