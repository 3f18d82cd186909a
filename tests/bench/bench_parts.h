/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_parts.h - what several cores do with their time (threads/threads.h):
 * the part of a batch's worker, and that of the owners who receive. What is
 * left of the wall clock is waiting. For dta-plan cores.
 *
 * The linker has all calls of threads_open() come by here (Makefile).
 */
#ifndef TESTS_BENCH_BENCH_PARTS_H
#define TESTS_BENCH_BENCH_PARTS_H

#include <string.h>

#include "bench.h"
#include "threads/threads.h"

static struct parts {
	struct threads_options o;
	struct {
		double work, receive;
	} __attribute__((aligned(128))) worker[THREADS_MAX];
} parts;

int __real_threads_open(struct threads **out, const struct threads_options *o,
			struct error *err);
int __wrap_threads_open(struct threads **out, const struct threads_options *o,
			struct error *err);

static bool parts_take(void *ctx, const struct threads_batch *b)
{
	(void)ctx;
	return parts.o.take(parts.o.ctx, b);
}

/* A worker may receive while it sends: that is no work. */
static bool parts_work(void *ctx, const struct threads_batch *b, unsigned round)
{
	double received = parts.worker[b->worker].receive;
	double began = bench_now();
	bool on = parts.o.work(parts.o.ctx, b, round);

	(void)ctx;
	parts.worker[b->worker].work += bench_now() - began -
					(parts.worker[b->worker].receive -
					 received);
	return on;
}

static void parts_receive(void *ctx, unsigned owner,
			  const struct threads_block *in)
{
	double began = bench_now();

	(void)ctx;
	parts.o.receive(parts.o.ctx, owner, in);
	parts.worker[owner].receive += bench_now() - began;
}

int __wrap_threads_open(struct threads **out, const struct threads_options *o,
			struct error *err)
{
	struct threads_options timed = *o;

	parts.o = *o;
	timed.take = parts_take;
	timed.work = parts_work;
	timed.receive = parts_receive;
	return __real_threads_open(out, &timed, err);
}

/* From now on. */
static inline void parts_begin(void)
{
	memset(parts.worker, 0, sizeof(parts.worker));
}

/* A row, of all that was done since then: n reports, frames or packets. */
static inline void parts_row(const char *name, double n)
{
	double work = 0, receive = 0;

	for (unsigned i = 0; i < parts.o.workers; i++) {
		work += parts.worker[i].work;
		receive += parts.worker[i].receive;
	}
	printf("{\"path\":\"%s: parts\",\"rate_mps\":%.3f,\"limit_mps\":null,"
	       "\"ratio\":null,\"work_ns\":%.2f,\"receive_ns\":%.2f}\n",
	       name, n / (work + receive) / 1e6, work / n * 1e9,
	       receive / n * 1e9);
	fflush(stdout);
}

#endif
