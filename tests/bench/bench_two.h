/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_two.h - how far apart two cores are: what two can do together hangs on
 * it, and where a machine is a virtual one, it changes from run to run.
 */
#ifndef TESTS_BENCH_BENCH_TWO_H
#define TESTS_BENCH_BENCH_TWO_H

#include <pthread.h>
#include <sched.h>

#include "bench.h"

enum {
	LINE_TRIPS = 20000, /* of a round */
};

/* It is one side's at even numbers, the other's at odd ones. */
struct bench_line {
	uint32_t now;
} __attribute__((aligned(128)));

/* Awake, but where the other one may want this core. */
static inline void bench_line_pass(struct bench_line *l, uint32_t number)
{
	for (unsigned i = 0;
	     __atomic_load_n(&l->now, __ATOMIC_ACQUIRE) != number; i++)
		if (i > 1000)
			sched_yield();
	__atomic_store_n(&l->now, number + 1, __ATOMIC_RELEASE);
}

static inline void *bench_line_run(void *line)
{
	for (uint32_t i = 0; i <= BENCH_ROUNDS * LINE_TRIPS; i++)
		bench_line_pass(line, 2 * i + 1);
	return NULL;
}

/* A row: a number is handed to the other core and comes back, with the cache
 * line that it is. */
static inline void bench_line(void)
{
	double took[BENCH_ROUNDS], began, one;
	struct bench_line line = {0};
	pthread_t other;
	uint32_t at = 2;

	if (pthread_create(&other, NULL, bench_line_run, &line))
		bench_die("no thread");
	bench_line_pass(&line, 0);
	for (int r = 0; r < BENCH_ROUNDS; r++) {
		began = bench_now();
		for (int i = 0; i < LINE_TRIPS; i++, at += 2)
			bench_line_pass(&line, at);
		took[r] = (bench_now() - began) / LINE_TRIPS;
	}
	pthread_join(other, NULL);
	one = bench_median(took, BENCH_ROUNDS);
	printf("{\"path\":\"Two cores: a line there and back\",\"rate_mps\":"
	       "%.3f,\"limit_mps\":null,\"ratio\":null,\"line_ns\":%.1f}\n",
	       1e-6 / one, one * 1e9);
	fflush(stdout);
}

#endif
