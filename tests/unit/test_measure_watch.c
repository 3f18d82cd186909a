/* SPDX-License-Identifier: BSD-2-Clause */
/* Which values are events, against rules that are written out for each value.
 */
#include "telemetry/objects.h"

#include <stdlib.h>

#include "base/rng.h"
#include "test.h"

enum {
	SERIES = 100,
	LOWEST = 171, /* as in INTCollector, Fig. 9 */
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
static unsigned judge(struct threshold_state *w, unsigned *flags,
		      const struct threshold *th, uint32_t v)
{
	return threshold_outside(w, v) ? threshold_check(w, flags, th, v) : 0;
}

/* The number of events and the bound of INTCollector, section V-B1. */
static void check_series(uint64_t seed, uint32_t threshold)
{
	const struct threshold th = {.change = threshold};
	unsigned flags = 0, events = 0, want = 0;
	uint32_t v[SERIES];
	struct threshold_state w = {0};
	int64_t stored = 0;

	walk(v, SERIES, seed);
	for (unsigned i = 0; i < SERIES; i++) {
		unsigned e = judge(&w, &flags, &th, v[i]);

		TEST(e == (i ? e & THRESHOLD_CHANGE : THRESHOLD_NEW));
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
	struct threshold_state w = {0};
	unsigned flags = 0;

	TEST(judge(&w, &flags, &th, 100) == THRESHOLD_NEW);
	TEST(judge(&w, &flags, &th, 140) == 0);
	TEST(judge(&w, &flags, &th, 60) == 0);
	TEST(w.ref == 100);
	TEST(judge(&w, &flags, &th, 141) == THRESHOLD_CHANGE);
	TEST(judge(&w, &flags, &th, 100) == THRESHOLD_CHANGE);
	TEST(judge(&w, &flags, &th, 59) == THRESHOLD_CHANGE);
	TEST(w.ref == 59);
}

static void test_edges(void)
{
	const struct threshold every = {.change = 0};
	const struct threshold none = {.change = THRESHOLD_OFF};
	struct threshold_state w = {0};
	unsigned flags = 0;

	TEST(judge(&w, &flags, &every, 0) == THRESHOLD_NEW);
	TEST(judge(&w, &flags, &every, 0) == 0);
	TEST(judge(&w, &flags, &every, UINT32_MAX) == THRESHOLD_CHANGE);
	TEST(judge(&w, &flags, &every, UINT32_MAX) == 0);
	TEST(judge(&w, &flags, &every, UINT32_MAX - 1) == THRESHOLD_CHANGE);
	w = (struct threshold_state){0};
	flags = 0;
	TEST(judge(&w, &flags, &none, 7) == THRESHOLD_NEW);
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
		{79, THRESHOLD_NEW},
		{80, THRESHOLD_RISE},
		{79, 0},
		{60, 0},
		{200, 0},
		{59, THRESHOLD_FALL},
		{60, 0},
		{79, 0},
		{0, 0},
		{81, THRESHOLD_RISE},
		{0, THRESHOLD_FALL},
	};
	struct threshold_state w = {0};
	unsigned flags = 0;

	for (unsigned i = 0; i < sizeof(step) / sizeof(step[0]); i++)
		TEST(judge(&w, &flags, &th, step[i].v) == step[i].events);
	w = (struct threshold_state){0};
	flags = 0;
	TEST(judge(&w, &flags, &th, 90) == (THRESHOLD_NEW | THRESHOLD_RISE));
}

/* Thresholds that change under way keep reference and state. */
static void test_swapped(void)
{
	const struct threshold first = {40, 300, 250}, then = {10, 150, 120};
	struct threshold_state w = {0};
	unsigned flags = 0;

	TEST(judge(&w, &flags, &first, 200) == THRESHOLD_NEW);
	threshold_set_reference(&w, flags, &then, w.ref);
	TEST(w.ref == 200);
	/* Within both thresholds of change; but high has come down to it. */
	TEST(judge(&w, &flags, &then, 190) == THRESHOLD_RISE);
	TEST(judge(&w, &flags, &then, 180) == 0);
	threshold_set_reference(&w, flags, &first, w.ref);
	TEST(judge(&w, &flags, &first, 230) == THRESHOLD_FALL);
	TEST(judge(&w, &flags, &first, 270) == 0);
}

/* Everything at once at random, against the rules one by one. */
static void test_random(void)
{
	struct threshold th = {20, 0, 0};
	struct rng r = {7};
	struct threshold_state w = {0};
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
			threshold_set_reference(&w, flags, &th, w.ref);
		}
		if (!known)
			want = THRESHOLD_NEW;
		else if (llabs(v - ref) > (int64_t)th.change)
			want = THRESHOLD_CHANGE;
		if (th.high && !risen && v >= th.high)
			want |= THRESHOLD_RISE;
		if (th.high && risen && v < th.low)
			want |= THRESHOLD_FALL;
		if (want & (THRESHOLD_RISE | THRESHOLD_FALL))
			risen = want & THRESHOLD_RISE;
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
