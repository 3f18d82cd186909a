/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A translator on two cores beside one alone (the limit of each row), on the
 * same reports in memory, into the same region, in the same rounds.
 */
#include "bench_parts.h"
#include "bench_reports.h"
#include "bench_two.h"

enum {
	CORES = 2,
};

static void compare(const struct bed *b, const char *name,
		    const struct traffic *tf)
{
	double rate[BENCH_ROUNDS], limit[BENCH_ROUNDS], began;
	struct translator *one = translator_new(b), *t = translator_new(b);
	struct cursor from = {tf, 0};
	const struct translate_cores_options o = {
		.workers = CORES, .take = cursor_take, .ctx = &from};
	struct translate_cores *c;
	struct error err = {0};

	if (translate_cores_open(&c, t, &o, &err))
		die(err.text);
	parts_begin();
	for (int i = 0; i < BENCH_ROUNDS; i++) {
		began = bench_now();
		alone(one, tf);
		limit[i] = REPORTS / (bench_now() - began);
		began = bench_now();
		together(c, &from);
		rate[i] = REPORTS / (bench_now() - began);
	}
	translate_cores_close(c);
	check(one);
	check(t);
	bench_row(name, bench_median(rate, BENCH_ROUNDS) / 1e6,
		  bench_median(limit, BENCH_ROUNDS) / 1e6, b->pages);
	parts_row(name, (double)REPORTS * BENCH_ROUNDS);
	translate_close(one);
	translate_close(t);
}

int main(void)
{
	struct traffic tf = traffic_new();
	struct bed b;

	bed_make(&b, "cores", 1u << 26);
	bench_line();
	keyed(&tf, &b.table[0], 1);
	compare(&b, "Two cores: Key-Write, N = 1 (limit: one)", &tf);
	keyed(&tf, &b.table[0], 2);
	compare(&b, "Two cores: Key-Write, N = 2", &tf);
	keyed(&tf, &b.table[2], 1);
	compare(&b, "Two cores: Key-Increment, N = 1", &tf);
	postcards(&tf, 1);
	compare(&b, "Two cores: Postcards, no interleaving", &tf);
	postcards(&tf, 1024);
	compare(&b, "Two cores: Postcards, 1K flows between", &tf);
	entries(&tf, 1);
	compare(&b, "Two cores: Append, one list", &tf);
	entries(&tf, LISTS);
	compare(&b, "Two cores: Append, 255 lists", &tf);
	traffic_free(&tf);
	bed_unmake(&b);
	return 0;
}
