/* SPDX-License-Identifier: BSD-2-Clause */
/* Distributions against the samples themselves, sorted. */
#include "telemetry/objects.h"

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

/* Bins follow one another, from 0 to the largest number, without a hole; none
 * is wider than a sixteenth of what is in it. */
static void test_bounds(void)
{
	uint64_t next = 0;

	for (uint32_t bin = 0; bin < DIST_BINS; bin++) {
		uint32_t from, to;

		dist_bounds(bin, &from, &to);
		TEST(from == next && to >= from);
		TEST(dist_bin(from) == bin && dist_bin(to) == bin);
		TEST(to - from + 1 <= (from + 15) / 16 + !from);
		next = (uint64_t)to + 1;
	}
	TEST(next == (uint64_t)UINT32_MAX + 1);
}

static void check_samples(struct dists *ds, uint64_t seed)
{
	static const double q[] = {0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 1};
	static uint32_t v[SAMPLES];
	struct dist *d = dists_new(ds);
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
	for (uint32_t bin = 0, at = 0; bin < DIST_BINS; bin++) {
		uint32_t from, to, n = 0;

		dist_bounds(bin, &from, &to);
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

static void test_samples(void)
{
	struct dists ds;

	ds.used = 0;
	TEST(!area_init(&ds.area, 1 << 20));
	for (unsigned seed = 0; seed < 50; seed++)
		check_samples(&ds, seed);
	area_fini(&ds.area);
}

static void test_no_room(void)
{
	struct dists ds;
	uint32_t from, to;
	struct dist *d;

	ds.used = 0;
	TEST(!area_init(&ds.area, 2 * sizeof(*d) + 8));
	TEST((d = dists_new(&ds)) != NULL);
	TEST(!dist_quantile(d, 0.5, &from, &to));
	TEST(dists_new(&ds) != NULL);
	TEST(!dists_new(&ds));
	area_fini(&ds.area);
}

int main(void)
{
	test_bounds();
	test_samples();
	test_no_room();
	return test_end();
}
