/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench.h - the benchmarks' own few lines: a clock, the median of rounds, and
 * the row (NDJSON on stdout) that tests/bench/run.sh collects.
 *
 * What is compared is measured in turn, round by round, because these machines
 * drift; bench_row() takes the medians.
 */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"

enum {
	BENCH_ROUNDS = 7,
};

static inline double bench_now(void)
{
	return (double)clock_ns() * 1e-9;
}

static inline int bench_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static inline double bench_median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), bench_compare);
	return v[n / 2];
}

static inline _Noreturn void bench_die(const char *what)
{
	fprintf(stderr, "bench: %s\n", what);
	exit(1);
}

/* Rates in millions a second. limit 0: there is none. pages NULL: no matter. */
static inline void bench_row(const char *path, double rate, double limit,
			     const char *pages)
{
	printf("{\"path\":\"%s\",\"rate_mps\":%.3f", path, rate);
	if (limit > 0)
		printf(",\"limit_mps\":%.3f,\"ratio\":%.3f", limit,
		       rate / limit);
	else
		printf(",\"limit_mps\":null,\"ratio\":null");
	if (pages)
		printf(",\"pages\":\"%s\"", pages);
	printf("}\n");
	fflush(stdout);
}

#endif
