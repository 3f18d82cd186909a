/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PINT: paths come out as they are, in as many packets as they must. Seeds are
 * fixed.
 */
#include <math.h>

#include "sim/pint.h"
#include "test.h"

enum {
	PATHS = 2000,
};

/* Packets, the mean of many paths. */
static double mean(unsigned hops, unsigned switches, unsigned bits)
{
	struct pint_options o = {hops, switches, bits};
	struct rng r = {.state = hops};
	double sum = 0;

	for (unsigned i = 0; i < PATHS; i++) {
		unsigned wrong = 1;
		int n = pint_trace(&o, &r, &wrong);

		TEST(n > 0 && wrong == 0);
		sum += n;
	}
	return sum / PATHS;
}

/* One hop: a packet tells of it that is a reservoir, or one in ten of the
 * others: 11 of 20. With 32 bits no other switch agrees. */
static void test_one(void)
{
	double p = .55;

	TEST(fabs(mean(1, 80, 32) - 1 / p) <
	     3 * sqrt((1 - p) / (p * p) / PATHS));
}

/* All hops have the same chance to be in a reservoir; were there nothing else,
 * hops would be collected like coupons: of H, H (1 + 1/2 + ... + 1/H), every
 * other packet. What exclusive ors tell makes it less. */
static void test_coupons(void)
{
	double sum = 0, last = 0;

	for (unsigned hops = 1; hops <= 20; hops++) {
		double m = mean(hops, 80, 16);

		sum += 1.0 / hops;
		TEST(m > last && m >= hops && m < 2 * hops * sum);
		last = m;
	}
}

/* Fewer bits agree with more switches: more packets, and yet no error. */
static void test_bits(void)
{
	double one = mean(5, 80, 1), four = mean(5, 80, 4),
	       eight = mean(5, 80, 8), sixteen = mean(5, 80, 16);

	TEST(one > four && four > eight && eight > sixteen);
	TEST(mean(5, 4096, 8) > eight);
}

int main(void)
{
	test_one();
	test_coupons();
	test_bits();
	return test_end();
}
