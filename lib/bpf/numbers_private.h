/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * numbers_private.h - for int_fast.bpf.c: the numbers of reports. That they are
 * one after the other is seen here; what is otherwise, measure/loss.h judges,
 * to which they are told as runs.
 */
#ifndef BPF_NUMBERS_PRIVATE_H
#define BPF_NUMBERS_PRIVATE_H

#include "bpf/judge_private.h"

struct fast_reporter reporters[FAST_REPORTERS];

enum {
	PROBES = 8,
	RUN_MAX = 1 << 16, /* longer ones are told in parts */
	RUN_LATE = 256,	   /* LOSS_WINDOW of measure/loss.h */
};

/* NULL: there is no room for another. */
static __always_inline struct fast_reporter *reporter_of(__u64 key)
{
	__u32 at = key * 0x9e3779b97f4a7c15 >> 52;
	struct fast_reporter *r;
	__u64 had;

	for (__u32 i = 0; i < PROBES; i++) {
		r = &reporters[(at + i) & (FAST_REPORTERS - 1)];
		if (r->key == key)
			return r;
		if (r->key)
			continue;
		had = __sync_val_compare_and_swap(&r->key, 0, key);
		if (!had || had == key)
			return r;
	}
	return NULL;
}

static __always_inline __u32 after(__u64 reporter, __u32 number)
{
	return reporter >> 32 & FAST_REPORTER_22
		       ? (number + 1) & TREPORT_SEQUENCE2_MASK
		       : number + 1;
}

static __always_inline void unheard(__u32 n)
{
	struct fast_counters *c = counters();

	if (c)
		c->unheard += n;
}

static __always_inline bool tell_run(__u64 reporter, __u64 numbers, __u32 anew)
{
	struct fast_run run = {
		.record = {FAST_RUN, 0, bpf_ktime_get_ns()},
		.node = reporter,
		.hw_id = reporter >> 32 & TREPORT_HW_ID_MASK,
		.bits = reporter >> 32 & FAST_REPORTER_22 ? 22 : 32,
		.first = numbers >> 32,
		.n = numbers - (numbers >> 32),
		.anew = anew,
	};

	if (run.bits == 22)
		run.n &= TREPORT_SEQUENCE2_MASK;
	if (!bpf_ringbuf_output(&int_ring, &run, sizeof(run), 0))
		return true;
	unheard(run.n);
	return false;
}

/* Numbers up to there could not be told, and some may come late. */
static __always_inline void forget(struct fast_reporter *r, __u32 behind)
{
	r->quiet = behind + RUN_LATE;
	r->anew = 1;
}

static __always_inline bool is_quiet(struct fast_reporter *r, __u32 number)
{
	__u32 beyond = number - r->quiet;

	if (r->key >> 32 & FAST_REPORTER_22)
		beyond <<= 10;
	if (r->anew && !(beyond >> 31))
		r->anew = 0;
	return r->anew;
}

int number_turn(struct work *w, __u32 first, __u32 behind);

/* What came before the number, told; from now on: first to behind. */
__noinline int number_turn(struct work *w, __u32 first, __u32 behind)
{
	__u64 numbers = (__u64)first << 32 | behind, key, had;
	struct fast_reporter *r;
	bool quiet;

	if (!w)
		return 0;
	key = w->place.reporter;
	r = reporter_of(key);
	if (!r)
		return first != behind && !tell_run(key, numbers, 0);
	had = __sync_lock_test_and_set(&r->numbers, numbers);
	quiet = is_quiet(r, had >> 32);
	if (had >> 32 == (__u32)had && !quiet)
		return 0;
	if (!tell_run(key, had, quiet))
		forget(r, had);
	return 0;
}

/* The report has been taken. */
static __always_inline void number_next(struct work *w)
{
	__u64 key = w->place.reporter, had, now;
	__u32 number = w->place.number, next;
	struct fast_reporter *r;

	if (!key)
		return;
	next = after(key, number);
	r = reporter_of(key);
	if (r) {
		had = r->numbers;
		now = (had >> 32 << 32) | next;
		if ((__u32)had == number && next - (had >> 32) < RUN_MAX &&
		    __sync_val_compare_and_swap(&r->numbers, had, now) == had)
			return;
	}
	number_turn(w, number, next);
}

/* The report goes up whole, with its number: after those before it. */
static __always_inline void number_aside(struct work *w)
{
	__u64 key = w->place.reporter;
	__u32 next = after(key, w->place.number);

	if (key)
		number_turn(w, next, next);
}

/* But there was no room for it. */
static __always_inline void number_lost(struct work *w)
{
	struct fast_reporter *r;

	if (!w->place.reporter)
		return;
	unheard(1);
	r = reporter_of(w->place.reporter);
	if (r)
		forget(r, w->place.number + 1);
}

#endif
