/* SPDX-License-Identifier: BSD-2-Clause */
/* Which values are events, against rules that are written out for each value.
 */
#include "telemetry/watch.h"

#include <stdlib.h>

#include "base/rng.h"
#include "test.h"

enum {
	SERIES = 100,
	LOWEST = 171, /* as in paper 003, Fig. 9 */
	HIGHEST = 832,
};

/* A latency as a walk: small steps, now and then a leap. */
static void walk(uint32_t *v, unsigned n, uint64_t seed)
{
	struct rng r = {seed};
	int64_t at = 400;

	for (unsigned i = 0; i < n; i++) {
		at += (int64_t)rng_below(&r, 61) - 30;
		if (!rng_below(&r, 8))
			at += (int64_t)rng_below(&r, 401) - 200;
		if (at < LOWEST)
			at = LOWEST;
		if (at > HIGHEST)
			at = HIGHEST;
		v[i] = (uint32_t)at;
	}
}

/* Judged as the sink does it: looked at closely only outside the range. */
static unsigned judge(struct watch *w, unsigned *flags,
		      const struct threshold *th, uint32_t v)
{
	return watch_out(w, v) ? watch_judge(w, flags, th, v) : 0;
}

/* The number of events and the bound of paper 003, section V-B1. */
static void check_series(uint64_t seed, uint32_t threshold)
{
	const struct threshold th = {.change = threshold};
	unsigned flags = 0, events = 0, want = 0;
	uint32_t v[SERIES];
	struct watch w = {0};
	int64_t stored = 0;

	walk(v, SERIES, seed);
	for (unsigned i = 0; i < SERIES; i++) {
		unsigned e = judge(&w, &flags, &th, v[i]);

		TEST(e == (i ? e & WATCH_CHANGE : WATCH_NEW));
		events += e != 0;
		if (!i || llabs((int64_t)v[i] - stored) > threshold) {
			stored = v[i];
			want++;
		}
		TEST(w.ref == stored);
		TEST(llabs((int64_t)v[i] - (int64_t)w.ref) <= threshold);
	}
	TEST(events == want);
	TEST(events > 1 && events < SERIES);
}

static void test_series(void)
{
	for (uint64_t seed = 1; seed <= 50; seed++) {
		check_series(seed, 40);
		check_series(seed, 20);
	}
}

static void test_strict(void)
{
	const struct threshold th = {.change = 40};
	struct watch w = {0};
	unsigned flags = 0;

	TEST(judge(&w, &flags, &th, 100) == WATCH_NEW);
	TEST(judge(&w, &flags, &th, 140) == 0);
	TEST(judge(&w, &flags, &th, 60) == 0);
	TEST(w.ref == 100);
	TEST(judge(&w, &flags, &th, 141) == WATCH_CHANGE);
	TEST(judge(&w, &flags, &th, 100) == WATCH_CHANGE);
	TEST(judge(&w, &flags, &th, 59) == WATCH_CHANGE);
	TEST(w.ref == 59);
}

static void test_edges(void)
{
	const struct threshold every = {.change = 0};
	const struct threshold none = {.change = THRESHOLD_OFF};
	struct watch w = {0};
	unsigned flags = 0;

	TEST(judge(&w, &flags, &every, 0) == WATCH_NEW);
	TEST(judge(&w, &flags, &every, 0) == 0);
	TEST(judge(&w, &flags, &every, UINT32_MAX) == WATCH_CHANGE);
	TEST(judge(&w, &flags, &every, UINT32_MAX) == 0);
	TEST(judge(&w, &flags, &every, UINT32_MAX - 1) == WATCH_CHANGE);
	w = (struct watch){0};
	flags = 0;
	TEST(judge(&w, &flags, &none, 7) == WATCH_NEW);
	TEST(judge(&w, &flags, &none, UINT32_MAX) == 0);
	TEST(judge(&w, &flags, &none, 0) == 0);
}

static void test_hysteresis(void)
{
	const struct threshold th = {THRESHOLD_OFF, 80, 60};
	static const struct {
		uint32_t v;
		unsigned events;
	} step[] = {
		{79, WATCH_NEW}, {80, WATCH_RISE}, {79, 0},	    {60, 0},
		{200, 0},	 {59, WATCH_FALL}, {60, 0},	    {79, 0},
		{0, 0},		 {81, WATCH_RISE}, {0, WATCH_FALL},
	};
	struct watch w = {0};
	unsigned flags = 0;

	for (unsigned i = 0; i < sizeof(step) / sizeof(step[0]); i++)
		TEST(judge(&w, &flags, &th, step[i].v) == step[i].events);
	w = (struct watch){0};
	flags = 0;
	TEST(judge(&w, &flags, &th, 90) == (WATCH_NEW | WATCH_RISE));
}

/* Thresholds that change under way keep reference and state. */
static void test_swapped(void)
{
	const struct threshold first = {40, 300, 250}, then = {10, 150, 120};
	struct watch w = {0};
	unsigned flags = 0;

	TEST(judge(&w, &flags, &first, 200) == WATCH_NEW);
	watch_tell(&w, flags, &then, w.ref);
	TEST(w.ref == 200);
	/* Within both thresholds of change; but high has come down to it. */
	TEST(judge(&w, &flags, &then, 190) == WATCH_RISE);
	TEST(judge(&w, &flags, &then, 180) == 0);
	watch_tell(&w, flags, &first, w.ref);
	TEST(judge(&w, &flags, &first, 230) == WATCH_FALL);
	TEST(judge(&w, &flags, &first, 270) == 0);
}

/* Everything at once at random, against the rules one by one. */
static void test_random(void)
{
	struct threshold th = {20, 0, 0};
	struct rng r = {7};
	struct watch w = {0};
	unsigned flags = 0;
	bool known = false, risen = false;
	int64_t ref = 0;

	for (unsigned i = 0; i < 200000; i++) {
		uint32_t v = (uint32_t)rng_below(&r, 256);
		unsigned want = 0;

		if (!rng_below(&r, 500)) {
			th.change = (uint32_t)rng_below(&r, 60);
			th.low = (uint32_t)rng_below(&r, 256);
			th.high = th.low + (uint32_t)rng_below(&r, 30);
			watch_tell(&w, flags, &th, w.ref);
		}
		if (!known)
			want = WATCH_NEW;
		else if (llabs(v - ref) > (int64_t)th.change)
			want = WATCH_CHANGE;
		if (th.high && !risen && v >= th.high)
			want |= WATCH_RISE;
		if (th.high && risen && v < th.low)
			want |= WATCH_FALL;
		if (want & (WATCH_RISE | WATCH_FALL))
			risen = want & WATCH_RISE;
		if (want)
			ref = v;
		known = true;
		TEST(judge(&w, &flags, &th, v) == want);
		TEST(w.ref == ref);
	}
}

int main(void)
{
	test_series();
	test_strict();
	test_edges();
	test_hysteresis();
	test_swapped();
	test_random();
	return test_end();
}
