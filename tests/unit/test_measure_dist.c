/* SPDX-License-Identifier: BSD-2-Clause */
/* Distributions against the samples themselves, sorted. */
#include "measure/dist.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "test.h"

enum {
	SAMPLES = 20000,
};

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Bins follow one another, from 0 to the largest number, without a hole. */
static void check_bounds(const struct dist_shape *s)
{
	uint64_t next = 0;

	for (uint32_t bin = s->min ? 0 : 1; bin <= s->bins + 1; bin++) {
		uint32_t from, to;

		if (bin == s->bins + 1 && s->max == UINT32_MAX)
			break;
		dist_bounds(s, bin, &from, &to);
		TEST(from == next && to >= from);
		TEST(dist_bin(s, from) == bin && dist_bin(s, to) == bin);
		next = (uint64_t)to + 1;
	}
	TEST(next == (uint64_t)UINT32_MAX + 1);
}

static void check_samples(struct dists *ds, const struct dist_shape *s,
			  uint64_t seed)
{
	static const double q[] = {0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 1};
	static uint32_t v[SAMPLES];
	struct dist *d = dists_new(ds, s);
	struct rng r = {seed};
	uint64_t sum = 0;

	if (!TEST(d != NULL))
		return;
	for (unsigned i = 0; i < SAMPLES; i++) {
		double x = -log(1 - rng_unit(&r)) * 300 + 1;

		v[i] = rng_below(&r, 50) ? (uint32_t)x : (uint32_t)rng_u64(&r);
		dist_add(d, v[i]);
	}
	qsort(v, SAMPLES, sizeof(v[0]), compare);
	TEST(dist_samples(d) == SAMPLES);
	for (uint32_t bin = 0, at = 0; bin <= s->bins + 1; bin++) {
		uint32_t from, to, n = 0;

		dist_bounds(s, bin, &from, &to);
		for (; d->count[bin] && at < SAMPLES && v[at] <= to; at++) {
			TEST(v[at] >= from);
			n++;
		}
		TEST(n == d->count[bin]);
		sum += n;
	}
	TEST(sum == SAMPLES);
	for (unsigned i = 0; i < sizeof(q) / sizeof(q[0]); i++) {
		uint32_t from, to;
		unsigned rank = (unsigned)ceil(q[i] * SAMPLES);

		TEST(dist_quantile(d, q[i], &from, &to));
		TEST(v[rank - 1] >= from && v[rank - 1] <= to);
	}
}

static void test_shapes(void)
{
	struct dist_shape s;
	struct dists ds;

	TEST(!dists_init(&ds, 64 << 20));
	for (unsigned width = 1; width < 50; width += 6)
		for (uint32_t min = 0; min < 300; min += 123) {
			TEST(!dist_fixed(&s, min, min + 77 * width - 3, 77));
			TEST(s.width <= width && s.max == min + 77 * width - 3);
			check_bounds(&s);
			check_samples(&ds, &s, width);
		}
	for (unsigned sub = 0; sub <= DIST_SUB_MAX; sub += 2)
		for (uint32_t min = 0; min < 300; min += 123) {
			TEST(!dist_log(&s, min, 100000, sub));
			check_bounds(&s);
			check_samples(&ds, &s, sub);
			TEST(!dist_log(&s, min, UINT32_MAX, sub));
			check_bounds(&s);
			check_samples(&ds, &s, sub);
		}
	dists_fini(&ds);
}

/* A bin is not wider than 2^-sub of what is in it. */
static void test_precision(void)
{
	struct dist_shape s;

	TEST(!dist_log(&s, 0, UINT32_MAX, 4));
	TEST(s.bins == 16 + 28 * 16);
	for (uint32_t bin = 17; bin <= s.bins; bin++) {
		uint32_t from, to;

		dist_bounds(&s, bin, &from, &to);
		TEST(to - from + 1 <= (from + 15) / 16);
	}
}

/* 100 of 0 to 100 is not up to 103, as it is in 8 bins of 13. */
static void test_end_of_range(void)
{
	struct dist_shape s;
	uint32_t from, to;

	TEST(!dist_fixed(&s, 0, 100, 8));
	dist_bounds(&s, dist_bin(&s, 100), &from, &to);
	TEST(from == 91 && to == 100 && dist_bin(&s, 101) == 9);
	TEST(!dist_log(&s, 0, 100, 4));
	dist_bounds(&s, dist_bin(&s, 100), &from, &to);
	TEST(from == 100 && to == 100);
	TEST(dist_bin(&s, 101) == s.bins + 1);
}

static void test_refused(void)
{
	struct dist_shape s;
	struct dists ds;
	uint32_t from, to;
	struct dist *d;

	TEST(dist_fixed(&s, 1, 0, 10) == -EINVAL);
	TEST(dist_fixed(&s, 0, 10, 0) == -EINVAL);
	TEST(dist_fixed(&s, 0, 1, DIST_BINS_MAX + 1) == -EINVAL);
	TEST(dist_fixed(&s, 0, UINT32_MAX, 1) == -EINVAL);
	TEST(dist_fixed(&s, 0, UINT32_MAX, 2) == 0);
	TEST(dist_log(&s, 5, 5, 2) == -EINVAL);
	TEST(dist_log(&s, 5, 6, DIST_SUB_MAX + 1) == -EINVAL);
	/* Room for two of ten bins and no more. */
	TEST(!dist_fixed(&s, 0, 9, 10));
	TEST(!dists_init(&ds, 2 * (sizeof(*d) + 12 * 8) + 8));
	TEST((d = dists_new(&ds, &s)) != NULL);
	TEST(!dist_quantile(d, 0.5, &from, &to));
	TEST(dists_new(&ds, &s) != NULL);
	TEST(!dists_new(&ds, &s));
	dists_fini(&ds);
}

int main(void)
{
	test_shapes();
	test_precision();
	test_end_of_range();
	test_refused();
	return test_end();
}
