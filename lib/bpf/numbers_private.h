/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * numbers_private.h - for int_fast.bpf.c: the numbers of reports. That they are
 * one after the other is seen here; what is otherwise, measure/loss.h judges,
 * to which they are told as runs.
 *
 * There may be no room to tell one. What is told next of its reporter is marked
 * then: what was before it is not known. Nothing goes up before the mark, for
 * it would show a gap where none is.
 */
#ifndef BPF_NUMBERS_PRIVATE_H
#define BPF_NUMBERS_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "bpf/int_fast_map.h"
#include "wire/proto.h"

/* Who includes it has them. */
int send_run(struct fast_run *run); /* whether it is in the ring now */
int unheard(__u32 n);		    /* counts */

struct fast_reporter reporters[FAST_REPORTERS];

enum {
	PROBES = 8,
	RUN_MAX = 1 << 16, /* longer ones are told in parts */
	RUN_LATE = 256,	   /* LOSS_WINDOW of measure/loss.h */
};

#define UNTOLD (1ULL << 32)

/* Of reporters without a place there are numbers that could not be told. */
static bool alone_untold;

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

static __always_inline bool tell_run(__u64 reporter, __u64 numbers, bool anew)
{
	struct fast_run run = {
		.record.type = FAST_RUN,
		.node = reporter,
		.hw_id = reporter >> 32 & TREPORT_HW_ID_MASK,
		.bits = reporter >> 32 & FAST_REPORTER_22 ? 22 : 32,
		.first = numbers >> 32,
		.n = numbers - (numbers >> 32),
		.anew = anew,
	};

	if (run.bits == 22)
		run.n &= TREPORT_SEQUENCE2_MASK;
	if (send_run(&run))
		return true;
	unheard(run.n);
	return false;
}

/* Numbers up to there could not be told. */
static __always_inline void forget(struct fast_reporter *r, __u32 behind)
{
	__sync_lock_test_and_set(&r->untold, UNTOLD | behind);
}

/* A mark has been told, of all before that number. Another is needed as long as
 * some of those that could not be told may have been beyond, or come late. */
static __always_inline void marked_at(struct fast_reporter *r, __u64 untold,
				      __u32 number)
{
	__u32 from = (__u32)untold - RUN_LATE, by = number - from;

	if (r->key >> 32 & FAST_REPORTER_22)
		by &= TREPORT_SEQUENCE2_MASK;
	if (by >= 2 * RUN_LATE)
		__sync_val_compare_and_swap(&r->untold, untold, 0);
}

/* Without a place: each number by itself; or only the mark before it. */
static __always_inline bool tell_alone(__u64 key, __u32 first, __u32 behind)
{
	__u64 number = first;

	if (first == behind) {
		if (!alone_untold)
			return true;
		number = behind = first - 1;
	}
	if (tell_run(key, number << 32 | behind, alone_untold))
		return true;
	alone_untold = true;
	return false;
}

int number_turn(__u64 key, __u32 first, __u32 behind);

/* What came before the number, told; from now on: first to behind. False: there
 * was no room. */
__attribute__((noinline)) int number_turn(__u64 key, __u32 first, __u32 behind)
{
	struct fast_reporter *r = reporter_of(key);
	__u64 had, untold;

	if (!r)
		return tell_alone(key, first, behind);
	had = __sync_lock_test_and_set(&r->numbers,
				       (__u64)first << 32 | behind);
	untold = r->untold;
	if (had >> 32 == (__u32)had && !untold)
		return true;
	if (!tell_run(key, had, untold)) {
		forget(r, had);
		return false;
	}
	if (untold)
		marked_at(r, untold, had >> 32);
	return true;
}

/* The report has been taken; key 0: it has no number. */
static __always_inline void number_next(__u64 key, __u32 number)
{
	struct fast_reporter *r;
	__u64 had, now;
	__u32 next;

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
	number_turn(key, number, next);
}

/* The report is to go up whole, with its number: after those before it. False:
 * it must not. */
static __always_inline bool number_aside(__u64 key, __u32 number)
{
	__u32 next = after(key, number);

	return !key || number_turn(key, next, next);
}

/* But it did not. */
static __always_inline void number_lost(__u64 key, __u32 number)
{
	struct fast_reporter *r;

	if (!key)
		return;
	unheard(1);
	r = reporter_of(key);
	if (r)
		forget(r, number + 1);
	else
		alone_untold = true;
}

#endif
