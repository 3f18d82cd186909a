/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames in memory, as dta-gen int makes them, through all that int-collect
 * does: found, decoded, put into the flow cache, watched, made into rows that
 * are thrown away. The limit is a loop that reads each frame once.
 */
#include "frames.h"
#include "int/frame_decoder.h"
#include "telemetry/sink.h"

struct load {
	const char *name, *options;
	unsigned threshold; /* of all metrics */
};

static const struct load loads[] = {
	{"INT report 1.0, 6 hops, all fields, 1 flow, no event",
	 "-F report -p 1.0 --instructions 0xff00 --hops 6 -n 1 "
	 "--spikes 0",
	 50},
	{"INT report 1.0, 6 hops, all fields, 100K flows, no event",
	 "-F report -p 1.0 --instructions 0xff00 --hops 6 -n 100K --spikes 0",
	 50},
	{"INT-MD 2.1, 5 hops x 4, flow mix, few events",
	 "-p 2.1 --instructions 0xb100 --hops 5 -n 20K", 100000},
	{"INT-MD 2.1, 5 hops x 4, flow mix, events",
	 "-p 2.1 --instructions 0xb100 --hops 5 -n 20K", 8000},
	{"INT-MD 2.1, 1 hop x 1, flow mix",
	 "-p 2.1 --instructions 0x2000 --hops 1 -n 20K", 100000},
};

static uint64_t events;

static int count_rows(struct row_sink *s, struct row_batch *b)
{
	(void)s;
	events += b->rows;
	row_batch_clear(b);
	return 0;
}

static int nothing(struct row_sink *s)
{
	(void)s;
	return 0;
}

static struct row_sink away = {count_rows, nothing, nothing};

static int take(void *t, const struct int_record *v, size_t n)
{
	return telemetry_add_records(t, v, n);
}

static double read_all(const struct frames *fs)
{
	volatile uint64_t sum = 0;
	double t = bench_now();
	uint64_t x = 0;

	for (size_t i = 0; i < fs->n; i++)
		for (uint32_t k = 0; k + 8 <= fs->pkt[i].len; k += 8) {
			uint64_t v;

			memcpy(&v, fs->pkt[i].data + k, sizeof(v));
			x += v;
		}
	sum = x;
	(void)sum;
	return bench_now() - t;
}

static double take_all(struct int_frame_decoder *in, const struct frames *fs)
{
	double t = bench_now();

	for (size_t i = 0; i < fs->n; i += PKT_BATCH)
		if (int_decode_frames(in, fs->pkt + i, PKT_BATCH))
			bench_die("a row sink failed");
	return bench_now() - t;
}

static void bench(const struct frames *fs, const struct load *l)
{
	struct telemetry_sinks sinks = {{&away, &away}};
	double rate[BENCH_ROUNDS], limit[BENCH_ROUNDS];
	struct telemetry_thresholds th = {0};
	struct telemetry_options o;
	struct int_frame_decoder_options io = {
		.profile = int_profile_named("any"), .records = take};
	struct telemetry *t;
	struct int_frame_decoder *in;

	for (int m = 0; m < NUMERIC_METRICS; m++)
		th.all[m].change = l->threshold;
	telemetry_defaults(&o);
	if (telemetry_open(&t, &o, &th, &sinks) < 0)
		bench_die("no telemetry");
	io.ctx = t;
	if (int_frame_decoder_open(&in, &io) < 0)
		bench_die("no intake");
	take_all(in, fs); /* keys that are new */
	events = 0;
	for (int i = 0; i < BENCH_ROUNDS; i++) {
		limit[i] = FRAMES / read_all(fs);
		rate[i] = FRAMES / take_all(in, fs);
	}
	if (telemetry_counters(t)->used != (BENCH_ROUNDS + 1) * FRAMES)
		bench_die("not all views were used");
	bench_row(l->name, bench_median(rate, BENCH_ROUNDS) / 1e6,
		  bench_median(limit, BENCH_ROUNDS) / 1e6, NULL);
	fprintf(stderr, "%s: %.3f rows a frame\n", l->name,
		(double)events / (BENCH_ROUNDS * FRAMES));
	int_frame_decoder_close(in);
	telemetry_close(t);
}

int main(int argc, char **argv)
{
	struct frames fs;
	char *dir = build_dir(argv[0]);

	(void)argc;
	frames_init(&fs);
	for (unsigned i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		load_frames(&fs, dir, loads[i].options);
		bench(&fs, &loads[i]);
	}
	frames_fini(&fs);
	return 0;
}
