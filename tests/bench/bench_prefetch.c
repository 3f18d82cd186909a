/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asking for lines before they are written (op/prefetch.h), beside not asking
 * (the limit of each row), in the same rounds: what this CPU's memory makes of
 * it by itself, then the translator and the local road. Each row tells which of
 * both `--prefetch auto' takes here: where the ratios say otherwise, say on or
 * off.
 */
#include "bench_reports.h"
#include "op/prefetch.h"

enum {
	AHEAD = 64, /* stores between asking for a line and writing it */
};

static const char *chosen; /* by auto */

/* Roads into the same region: one that does not ask, one that does. */
struct roads {
	struct bed *b;
	struct local_road *asks;
	struct translator *off, *on;
};

static void row(const char *what, double *on, double *off, const char *pages)
{
	char path[96];

	snprintf(path, sizeof(path), "prefetch on (limit: off; auto: %s): %s",
		 chosen, what);
	bench_row(path, bench_median(on, BENCH_ROUNDS) / 1e6,
		  bench_median(off, BENCH_ROUNDS) / 1e6, pages);
}

static double stores(uint8_t *mem, uint64_t slots)
{
	struct rng r = {1};
	double start = bench_now();

	for (unsigned i = 0; i < REPORTS; i++)
		*(volatile uint64_t *)(mem +
				       (rng_u64(&r) & (slots - 1)) * 8) = i;
	return REPORTS / (bench_now() - start);
}

static double stores_asked(uint8_t *mem, uint64_t slots)
{
	uint8_t *at[AHEAD];
	struct rng r = {1};
	double start = bench_now();

	for (unsigned i = 0; i < AHEAD; i++)
		at[i] = mem;
	for (unsigned i = 0; i < REPORTS; i++) {
		*(volatile uint64_t *)at[i % AHEAD] = i;
		at[i % AHEAD] = mem + (rng_u64(&r) & (slots - 1)) * 8;
		prefetch_line(at[i % AHEAD]);
	}
	return REPORTS / (bench_now() - start);
}

static void bench_stores(const struct bed *b)
{
	double on[BENCH_ROUNDS], off[BENCH_ROUNDS];

	for (int i = 0; i < BENCH_ROUNDS; i++) {
		off[i] = stores(b->mem[0], b->slots);
		on[i] = stores_asked(b->mem[0], b->slots);
	}
	row("random stores, 64 ahead", on, off, b->pages);
}

static double rate_of(struct translator *t, const struct traffic *tf)
{
	double start = bench_now();

	for (unsigned i = 0; i < REPORTS; i += PKT_BATCH)
		if (translate_rx(t, tf->pkt + i, PKT_BATCH))
			die("translate_rx failed");
	return REPORTS / (bench_now() - start);
}

/* Takes the traffic away. */
static void bench_path(const struct roads *r, const char *what,
		       struct traffic *tf)
{
	double on[BENCH_ROUNDS], off[BENCH_ROUNDS];

	for (int i = 0; i < BENCH_ROUNDS; i++) {
		off[i] = rate_of(r->off, tf);
		on[i] = rate_of(r->on, tf);
	}
	check(r->off);
	check(r->on);
	row(what, on, off, r->b->pages);
	traffic_free(tf);
}

static void bench_keyed(const struct roads *r, const char *what, unsigned table,
			uint8_t copies)
{
	const struct table *t = &r->b->table[table];
	struct traffic tf = t->stride == LINE ? traffic_new_of(LINE_FRAME)
					      : traffic_new();

	keyed(&tf, t, copies);
	bench_path(r, what, &tf);
}

static void bench_paths(const struct roads *r)
{
	struct traffic tf;

	bench_keyed(r, "Key-Write, N = 1", 0, 1);
	bench_keyed(r, "Key-Write, N = 2", 0, 2);
	bench_keyed(r, "Key-Write, a line", 4, 1);
	bench_keyed(r, "Key-Increment, N = 1", 2, 1);
	tf = traffic_new();
	postcards(&tf, 1);
	bench_path(r, "postcards", &tf);
	tf = traffic_new();
	entries(&tf, LISTS);
	bench_path(r, "Append, 255 lists", &tf);
}

int main(void)
{
	static struct bed b;
	struct roads r = {.b = &b};
	struct fault f = {0};

	chosen = prefetch_is_on() ? "on" : "off";
	prefetch_set(PREFETCH_OFF);
	bed_make(&b, "prefetch", 1u << 29);
	r.off = translator_new(&b);
	prefetch_set(PREFETCH_ON);
	if (local_open(&r.asks, b.region, &f) ||
	    translate_open(&r.on, b.table, TABLES, local_road(r.asks), NULL,
			   &f))
		die(f.text);
	bench_stores(&b);
	bench_paths(&r);
	translate_close(r.on);
	translate_close(r.off);
	local_close(r.asks);
	bed_unmake(&b);
	return 0;
}
