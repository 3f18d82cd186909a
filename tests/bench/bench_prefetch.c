/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asking for lines before they are written (region/memory.h), one way and the
 * other, beside not asking (the limit of each row), in the same rounds: what
 * this CPU's memory makes of it by itself, then the translator and the local
 * transport. Each row tells what this CPU takes: where the ratios say
 * otherwise, prefetch_set() takes the wrong one.
 */
#include "bench_reports.h"
#include "region/memory.h"

enum {
	AHEAD = 64, /* stores between asking for a line and writing it */
};

static const char *const prefetch_names[] = {"auto", "on", "l2", "off"};
static const char *chosen; /* by auto */

/* Transports into the same region: one that does not ask, and those that do. */
struct transports {
	struct bed *b;
	struct local_transport *asks[PREFETCH_OFF];
	struct translator *t[PREFETCH_OFF + 1];
};

typedef double rates[PREFETCH_OFF + 1][BENCH_ROUNDS];

static void rows(const char *what, rates rate, const char *pages)
{
	double off = bench_median(rate[PREFETCH_OFF], BENCH_ROUNDS) / 1e6;
	char path[96];

	for (unsigned how = PREFETCH_ON; how < PREFETCH_OFF; how++) {
		snprintf(path, sizeof(path),
			 "prefetch %s (limit: off; auto: %s): %s",
			 prefetch_names[how], chosen, what);
		bench_row(path, bench_median(rate[how], BENCH_ROUNDS) / 1e6,
			  off, pages);
	}
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

static double stores_asked(uint8_t *mem, uint64_t slots, enum prefetch how)
{
	uint8_t *at[AHEAD];
	struct rng r = {1};
	double start = bench_now();

	for (unsigned i = 0; i < AHEAD; i++)
		at[i] = mem;
	for (unsigned i = 0; i < REPORTS; i++) {
		*(volatile uint64_t *)at[i % AHEAD] = i;
		at[i % AHEAD] = mem + (rng_u64(&r) & (slots - 1)) * 8;
		if (how == PREFETCH_L2)
			prefetch_l2(at[i % AHEAD]);
		else
			prefetch_line(at[i % AHEAD]);
	}
	return REPORTS / (bench_now() - start);
}

static void bench_stores(const struct bed *b)
{
	rates rate;

	for (int i = 0; i < BENCH_ROUNDS; i++) {
		rate[PREFETCH_OFF][i] = stores(b->mem[0], b->slots);
		for (unsigned how = PREFETCH_ON; how < PREFETCH_OFF; how++)
			rate[how][i] = stores_asked(b->mem[0], b->slots, how);
	}
	rows("random stores, 64 ahead", rate, b->pages);
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
static void bench_path(const struct transports *r, const char *what,
		       struct traffic *tf)
{
	rates rate;

	for (int i = 0; i < BENCH_ROUNDS; i++)
		for (unsigned how = PREFETCH_ON; how <= PREFETCH_OFF; how++)
			rate[how][i] = rate_of(r->t[how], tf);
	for (unsigned how = PREFETCH_ON; how <= PREFETCH_OFF; how++)
		check(r->t[how]);
	rows(what, rate, r->b->pages);
	traffic_free(tf);
}

static void bench_keyed(const struct transports *r, const char *what,
			unsigned table, uint8_t copies)
{
	const struct table *t = &r->b->table[table];
	struct traffic tf = t->stride == LINE ? traffic_new_of(LINE_FRAME)
					      : traffic_new();

	keyed(&tf, t, copies);
	bench_path(r, what, &tf);
}

static void bench_paths(const struct transports *r)
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
	struct transports r = {.b = &b};
	struct error err = {0};

	chosen = prefetch_names[prefetch_here()];
	prefetch_set(PREFETCH_OFF);
	bed_make(&b, "prefetch", 1u << 29);
	r.t[PREFETCH_OFF] = translator_new(&b);
	for (unsigned how = PREFETCH_ON; how < PREFETCH_OFF; how++) {
		prefetch_set(how);
		if (local_open(&r.asks[how], b.region, &err) ||
		    translate_open(&r.t[how], b.table, TABLES,
				   local_transport(r.asks[how]), NULL, &err))
			die(err.text);
	}
	bench_stores(&b);
	bench_paths(&r);
	for (unsigned how = PREFETCH_ON; how <= PREFETCH_OFF; how++)
		translate_close(r.t[how]);
	for (unsigned how = PREFETCH_ON; how < PREFETCH_OFF; how++)
		local_close(r.asks[how]);
	bed_unmake(&b);
	return 0;
}
