/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The closed forms of INT-label against the authors' sheet, against other ways
 * to the same number, and against their limits.
 */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "model/model.h"
#include "test.h"

/* f(i) = i / 5, as in Figs. 15 and 16. */
static struct model_label_chances fifths(double r)
{
	struct model_label_chances l = {.r = r};

	for (unsigned i = 0; i <= MODEL_TREE_HOPS; i++)
		l.f[i] = i / 5.0;
	return l;
}

static int near(double a, double b, double by)
{
	if (fabs(a - b) <= by)
		return 1;
	fprintf(stderr, "%.12g is not %.12g\n", a, b);
	return 0;
}

/* INT-label's closed forms: k = 20, r = 0.01. */
static void test_sheet(void)
{
	static const double want[] = {0,	  .031813882, .010350970,
				      .003971443, .001439871, .000388814};
	struct model_label_chances l = fifths(.01), plain = {.r = .01};
	double a[MODEL_TREE_HOPS + 1], b[MODEL_TREE_HOPS + 1];

	model_label_tree(&plain, 20, a);
	model_label_tree(&l, 20, b);
	for (unsigned i = 1; i <= MODEL_TREE_HOPS; i++)
		TEST(near(b[i], want[i], 5e-10));
	TEST(near(model_mean(a, 6), .048919, 5e-7));
	TEST(near(model_mean(b, 6), .072133703, 5e-10));
}

/* Distributions add up; Base A is binomial; the mean of it is r times hops. */
static void test_distributions(void)
{
	for (unsigned k = 4; k <= 64; k += 2) {
		struct model_label_chances l = fifths(k / 100.0);
		struct model_label_chances plain = {.r = l.r};
		double h[6], a[6], b[6], sum[3] = {0};

		model_tree_hops(k, h);
		model_label_tree(&plain, k, a);
		model_label_tree(&l, k, b);
		for (unsigned i = 0; i < 6; i++) {
			sum[0] += h[i];
			sum[1] += a[i];
			sum[2] += b[i];
		}
		TEST(near(sum[0], 1, 1e-12) && near(sum[1], 1, 1e-12) &&
		     near(sum[2], 1, 1e-12));
		TEST(near(model_mean(a, 6), l.r * model_mean(h, 6), 1e-12));
		TEST(model_mean(b, 6) > model_mean(a, 6));
	}
}

static void test_limits(void)
{
	struct model_label_chances l = {.r = 1};
	double p[MODEL_HOPS_MAX + 1];

	model_label_path(&l, 5, p);
	TEST(p[5] == 1 && p[4] == 0);
	l = (struct model_label_chances){.r = .3};
	model_label_path(&l, 3, p);
	TEST(near(p[2], 3 * .09 * .7, 1e-15));
	for (unsigned i = 1; i < MODEL_HOPS_MAX; i++)
		l.f[i] = 1; /* F1: all behind the first label */
	model_label_path(&l, 3, p);
	TEST(near(p[3], .3, 1e-15) && near(p[2], .7 * .3, 1e-15) &&
	     near(p[1], .7 * .7 * .3, 1e-15));
	model_label_path(&l, MODEL_HOPS_MAX, p);
	TEST(near(p[0], pow(.7, MODEL_HOPS_MAX), 1e-20));
}

/* f(0) = 1/2: the first hop labels for it as every other does. */
static void test_first_f(void)
{
	struct model_label_chances l = {.r = .1, .f = {.5, .5, .5}};
	double p[4];

	model_label_path(&l, 2, p);
	TEST(near(p[0], .45 * .45, 1e-15) && near(p[2], .55 * .55, 1e-15));
}

/* A renewal process of T and an exponential time, window by window. */
static double windows(const struct model_label_times *t, unsigned n)
{
	struct rng r = {.state = 7};
	double at = 0, end = 0;
	unsigned hit = 0;

	for (unsigned i = 0; i < n; i++) {
		end += t->telemetry;
		hit += at < end;
		while (at < end)
			at += t->interval - t->gap * log(1 - rng_unit(&r));
	}
	return (double)hit / n;
}

static void test_window(void)
{
	static const struct model_label_times of[] = {
		{50, 100, 20}, {80, 100, 10}, {100, 100, 25},
		{150, 100, 5}, {0, 100, 50},
	};
	enum { N = 200000 };

	for (unsigned i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		double p = model_label_coverage(&of[i]), m = windows(&of[i], N);

		/* Windows that follow each other are not independent, but no
		 * worse than the half of them would be. */
		TEST(near(m, p, 3 * sqrt(2 * p * (1 - p) / N)));
	}
	TEST(model_label_coverage(&(struct model_label_times){50, 100, 0}) ==
	     1);
	TEST(model_label_coverage(&(struct model_label_times){0, 0, 0}) == 1);
	TEST(near(
		model_label_coverage(&(struct model_label_times){200, 100, 0}),
		.5, 1e-15));
}

int main(void)
{
	test_sheet();
	test_distributions();
	test_limits();
	test_first_f();
	test_window();
	return test_end();
}
