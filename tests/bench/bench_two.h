/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_two.h - how far apart two cores are: what two can do together hangs on
 * it, and where a machine is a virtual one, it changes from run to run.
 */
#ifndef TESTS_BENCH_BENCH_TWO_H
#define TESTS_BENCH_BENCH_TWO_H

#include "bench.h"
#include "team/team.h"
#include "team/turn.h"

enum {
	LINE_TRIPS = 20000, /* of a round */
};

/* Worker 0 has the even numbers, worker 1 the odd ones. */
static inline void bench_line_pass(struct turn *t, uint32_t number)
{
	turn_wait(t, number);
	turn_pass(t);
}

static inline void bench_line_run(void *ctx, unsigned worker)
{
	for (uint32_t i = 0; i <= BENCH_ROUNDS * LINE_TRIPS; i++)
		bench_line_pass(ctx, 2 * i + worker);
}

/* A row: a turn is handed to the other core and comes back, with the cache line
 * that it is. */
static inline void bench_line(void)
{
	double took[BENCH_ROUNDS], began, one;
	struct turn turn;
	struct team *c;
	uint32_t at = 2;

	turn_init(&turn);
	if (team_start(&c, 2, bench_line_run, &turn))
		bench_die("no thread");
	bench_line_pass(&turn, 0);
	for (int r = 0; r < BENCH_ROUNDS; r++) {
		turn_wait(&turn, at); /* the other one is there */
		began = bench_now();
		for (int i = 0; i < LINE_TRIPS; i++, at += 2)
			bench_line_pass(&turn, at);
		turn_wait(&turn, at);
		took[r] = (bench_now() - began) / LINE_TRIPS;
	}
	team_join(c);
	one = bench_median(took, BENCH_ROUNDS);
	printf("{\"path\":\"Two cores: a line there and back\",\"rate_mps\":"
	       "%.3f,\"limit_mps\":null,\"ratio\":null,\"line_ns\":%.1f}\n",
	       1e-6 / one, one * 1e9);
	fflush(stdout);
}

#endif
