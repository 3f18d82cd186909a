/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The closed forms against the papers' numbers, against Simpson's rule, against
 * the equations as printed (in long double), and against a simulation.
 */
#include "model/model.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/rng.h"
#include "test.h"

static bool near(double a, double b, double tolerance)
{
	bool ok = fabs(a - b) <= tolerance;

	if (!ok)
		fprintf(stderr, "%.17g is not within %g of %.17g\n", a,
			tolerance, b);
	return ok;
}

/* DTA section 4, "For example"; DART section 5.2. */
static unsigned best_copies(double load, unsigned max, bool average)
{
	struct plan_config p = {1, 0, plan_pass_keywrite(32), average};
	unsigned best = 1;
	double most = -1, v;

	for (; p.copies <= max; p.copies++)
		if ((v = plan_success(&p, load)) > most) {
			most = v;
			best = p.copies;
		}
	return best;
}

static void test_papers(void)
{
	double kw = plan_pass_keywrite(32);
	double pc = plan_pass_postcard(32, 0x1p18, 5);
	struct plan p;

	TEST(near(plan_at(2, 0.1, kw).empty, 0.0329, 0.00005));
	TEST(near(plan_at(4, 0.1, kw).empty, 0.0118, 0.00005));
	TEST(near(plan_at(1, 0.1, kw).empty, 0.095, 0.0005));
	TEST(near(plan_at(2, 0.1, kw).wrong, 1.5e-11, 0.05e-11));

	p = plan_at(2, 0.1, pc);
	TEST(p.empty <= 0.033 && p.empty > 0.0328);
	TEST(p.wrong < 1e-22 && p.wrong > 0);
	/* (2^18 + 1)^5 2^-160 is 2^-70 and a little: not lost against 1. */
	TEST(near(p.wrong / (p.empty * 2 * 0x1p-70), 1, 1e-4));

	TEST(near(plan_at(2, 0.764, kw).success, 0.387, 0.0005));
	TEST(near(plan_at(2, 0.764, kw).average_success, 0.713, 0.0005));
	/* 30 GB instead of 3 GB: a tenth of that load. */
	TEST(near(plan_at(2, 0.0764, kw).average_success, 0.993, 0.0005));
	TEST(near(plan_at(4, 0.0764, kw).average_success, 0.999, 0.0005));
	/* 24 bytes of 300: the exact load. */
	TEST(near(plan_at(2, 0.08, kw).average_success, 0.99242, 0.00001));
	TEST(near(plan_at(4, 0.08, kw).average_success, 0.99875, 0.00001));
}

static long double chooses(unsigned n, unsigned k)
{
	return roundl(
		expl(lgammal(n + 1) - lgammal(k + 1) - lgammal(n - k + 1)));
}

/* DTA (1) to (3), term by term as printed, and (4). */
static void printed(unsigned n, long double a, long double p,
		    long double *empty, long double *wrong)
{
	long double gone = powl(1 - expl(-a * n), n);

	*empty = gone * powl(1 - p, n);
	*empty += gone * (1 - powl(1 - p, n) - n * p * powl(1 - p, (int)n - 1));
	for (unsigned j = 1; j < n; j++)
		*empty += chooses(n, j) * powl(1 - expl(-a * n), j) *
			  expl(-a * n * (n - j)) * (1 - powl(1 - p, j));
	*wrong = gone * n * p;
}

static void test_printed(void)
{
	static const double loads[] = {0.01, 0.1, 0.5, 1, 2, 7};
	static const double passes[] = {0, 0x1p-32, 0x1p-8, 0.1, 0.4};

	for (unsigned n = 1; n <= PLAN_COPIES_MAX; n++) {
		for (unsigned i = 0; i < 30; i++) {
			double a = loads[i % 6], pass = passes[i / 6];
			struct plan p = plan_at(n, a, pass);
			long double empty, wrong;

			printed(n, a, pass, &empty, &wrong);
			TEST(near(p.empty, (double)empty, 1e-12));
			TEST(near(p.wrong, fmin(1, (double)wrong), 1e-12));
			TEST(near(p.success,
				  fmax(0, (double)(1 - empty - wrong)), 1e-12));
			TEST(p.wrong_low <= p.wrong);
		}
	}
}

/* Simpson's rule over the ages, on success before it is cut off at 0. */
static double simpson(unsigned n, double load, double pass)
{
	enum { STEPS = 2000 };
	long double sum = 0;

	for (unsigned i = 0; i <= STEPS; i++) {
		long double empty, wrong;
		int weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;

		printed(n, load * i / STEPS, pass, &empty, &wrong);
		sum += weight * (1 - empty - wrong);
	}
	return (double)(sum / (3 * STEPS));
}

static void test_average(void)
{
	static const double loads[] = {1e-3, 0.1, 0.764, 2, 10};
	static const double passes[] = {0, 0x1p-32, 0x1p-10, 0.2};

	for (unsigned n = 1; n <= 8; n++) {
		for (unsigned i = 0; i < 20; i++) {
			double a = loads[i % 5], pass = passes[i / 5];

			TEST(near(plan_at(n, a, pass).average_success,
				  fmax(0, simpson(n, a, pass)), 1e-8));
		}
	}
}

/* Random keys into slots, compared whole: no other key passes for ours. */
static void test_simulation(void)
{
	enum { SLOTS = 1 << 17 };
	static const double loads[] = {0.1, 0.5, 1, 2};
	uint32_t *slots = malloc(SLOTS * sizeof(*slots));
	struct rng r = {7};

	for (unsigned n = 1; n <= 4; n++) {
		for (unsigned i = 0; i < 4; i++) {
			uint32_t keys = (uint32_t)(loads[i] * SLOTS), alive = 0;
			uint64_t seed = rng_u64(&r);

			for (uint32_t k = 0; k < keys * n; k++)
				slots[rng_mix(seed + k) % SLOTS] = k / n;
			for (uint32_t k = 0; k < keys; k++) {
				bool found = false;

				for (uint32_t c = k * n; c < k * n + n; c++)
					found |= slots[rng_mix(seed + c) %
						       SLOTS] == k;
				alive += found;
			}
			TEST(near((double)alive / keys,
				  plan_at(n, loads[i], 0).average_success,
				  0.005));
		}
	}
	free(slots);
}

static void test_edges(void)
{
	for (unsigned n = 1; n <= PLAN_COPIES_MAX; n++) {
		struct plan none = plan_at(n, 0, 0x1p-32);
		struct plan full = plan_at(n, 1e6, 0x1p-32);
		struct plan all = plan_at(n, 1, 1);

		TEST(none.success == 1 && none.average_success == 1);
		TEST(none.empty == 0 && none.wrong == 0);
		TEST(full.success == 0 && near(full.empty, 1, 1e-8));
		TEST(full.average_success > 0 && full.average_success < 1e-5);
		TEST(all.success >= 0 && all.empty <= 1 && all.wrong <= 1);
		TEST(all.average_success >= 0);
	}
	TEST(plan_pass_keywrite(32) == 0x1p-32);
	TEST(plan_pass_postcard(8, 1000, 5) == 1);
	/* A tiny load: the answer is not lost in rounding. */
	TEST(near(plan_at(2, 1e-9, 0).empty / 4e-18, 1, 1e-6));
}

static void test_search(void)
{
	double kw = plan_pass_keywrite(32);

	/* DART figure 3: more copies at low load, one at high load. */
	TEST(best_copies(0.1, 4, false) == 4);
	TEST(best_copies(0.5, 4, false) == 1);
	TEST(best_copies(3, 4, false) == 1);
	TEST(best_copies(0.1, 2, true) == 2);
	for (unsigned n = 1; n <= 4; n++) {
		for (int average = 0; average < 2; average++) {
			struct plan_config config = {n, 0, kw, average};
			double a = plan_largest_load(&config, 0.99);
			struct plan p = plan_at(n, a, kw);
			struct plan more = plan_at(n, a * 1.0001, kw);

			TEST(a > 0);
			TEST((average ? p.average_success : p.success) >= 0.99);
			TEST((average ? more.average_success : more.success) <
			     0.99);
		}
	}
	TEST(isinf(plan_largest_load(&(struct plan_config){2, 0, kw, 0}, 0)));
}

/* x slots written of each, at random: how many of them have none. */
static uint64_t free_after(struct rng *r, uint64_t slots, double x)
{
	uint8_t *hit = calloc(slots, 1);
	uint64_t left = slots;

	for (uint64_t i = (uint64_t)(x * (double)slots); i; i--) {
		uint64_t at = rng_u64(r) % slots;

		left -= !hit[at];
		hit[at] = 1;
	}
	free(hit);
	return left;
}

static void test_load(void)
{
	enum { SLOTS = 1 << 18, RUNS = 2000, FEW = 1024 };
	static const double loads[] = {0.01, 0.1, 0.5, 1, 3};
	struct rng r = {11};
	unsigned high = 0;
	struct plan_load got;

	for (unsigned n = 1; n <= 4; n++) {
		for (unsigned i = 0; i < 5; i++) {
			double x = n * loads[i];
			double error = sqrt((exp(x) - x - 1) / SLOTS) / n;
			uint64_t used = SLOTS - free_after(&r, SLOTS, x);

			TEST(near((double)used / SLOTS, plan_used(n, loads[i]),
				  0.003));
			got = plan_load_of(n, SLOTS, used);
			if (SLOTS - used < PLAN_FREE_MIN)
				TEST(isnan(got.load) && got.above < loads[i] &&
				     got.above > loads[i] / 2);
			else
				TEST(near(got.load, loads[i], 4 * error) &&
				     isnan(got.above));
		}
	}
	/* What is said of a full table holds, but for 1 in 1000. */
	for (unsigned i = 0; i < RUNS; i++) {
		double x = log(FEW) * (0.6 + 0.6 * i / RUNS);

		got = plan_load_of(2, FEW, FEW - free_after(&r, FEW, x));
		high += got.above > x / 2;
	}
	TEST(high <= 4);
	/* Nothing written, no slots, the last ones, all. */
	TEST(plan_load_of(2, 8, 0).load == 0);
	got = plan_load_of(2, 0, 0);
	TEST(isnan(got.load) && isnan(got.above));
	TEST(near(plan_load_of(2, 1 << 20, (1 << 20) - 16).load, log(65536) / 2,
		  1e-12));
	got = plan_load_of(2, 1 << 20, (1 << 20) - 15);
	TEST(isnan(got.load));
	TEST(near(got.above, log((1 << 20) / 38.) / 2, 1e-12));
	TEST(near(plan_load_of(2, 1 << 20, 1 << 20).above, log(1 << 17) / 2,
		  1e-12));
	TEST(plan_load_of(1, 4, 4).above == 0);
	TEST(plan_used(3, 0) == 0 && plan_used(1, 1e6) == 1);
	/* DART: of one report, one slot; of many, all. */
	TEST(near(plan_random_used(2, 1, 0.3), plan_used(1, 0.3), 1e-12));
	TEST(near(plan_random_used(2, 1000, 0.3), plan_used(2, 0.3), 1e-12));
}

int main(void)
{
	test_papers();
	test_load();
	test_printed();
	test_average();
	test_simulation();
	test_edges();
	test_search();
	return test_end();
}
