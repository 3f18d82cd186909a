/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan.c - s is the chance that a slot still holds the key's value, q = 1 - s,
 * p the chance that a foreign slot passes for ours. DTA (1) to (4) add up to
 *
 *     success = sum over j < N of C(N,j) q^j s^(N-j) (1-p)^j
 *               - q^N N p (1 - (1-p)^(N-1))
 *             = (1 - pq)^N - (q - pq)^N - q^N N p (1 - (1-p)^(N-1)),
 *
 * the last term because (4) counts again what (2) counts. plan_at() computes
 * the sum, not the powers below it, whose difference would lose digits.
 */
#include "model/model.h"

#include <math.h>

static double choose(unsigned n, unsigned k)
{
	double c = 1;

	for (unsigned i = 1; i <= k; i++)
		c = c * (n - k + i) / i;
	return c;
}

static double power(double x, unsigned n)
{
	double v = 1;

	while (n--)
		v *= x;
	return v;
}

/* 1 - (1 - p)^n */
static double any_of(unsigned n, double p)
{
	return p < 1 ? -expm1(n * log1p(-p)) : n > 0;
}

static double clamp(double v)
{
	return v < 0 ? 0 : v > 1 ? 1 : v;
}

double plan_pass_keywrite(double checksum_bits)
{
	return exp2(-checksum_bits);
}

double plan_pass_postcard(double checksum_bits, double values, unsigned hops)
{
	double log_one = log2(values + 1) - checksum_bits;

	return log_one < 0 ? exp2(hops * log_one) : 1;
}

static double empty_at(unsigned n, double q, double s, double p)
{
	double gone = power(q, n);
	double sum = gone * power(1 - p, n); /* (1) */

	for (unsigned k = 2; k <= n; k++) /* (2): at least two pass */
		sum += gone * choose(n, k) * power(p, k) * power(1 - p, n - k);
	for (unsigned j = 1; j < n; j++) /* (3) */
		sum += choose(n, j) * power(q, j) * power(s, n - j) *
		       any_of(j, p);
	return sum;
}

static double success_at(unsigned n, double q, double s, double p)
{
	double sum = 0;

	for (unsigned j = 0; j < n; j++)
		sum += choose(n, j) * power(q, j) * power(s, n - j) *
		       power(1 - p, j);
	return sum - power(q, n) * n * p * any_of(n - 1, p);
}

/*
 * The mean of success over the ages 0..a. With x the age, dq/dx = N (1 - q),
 * so that the mean of q^k is 1 - t(k), where
 *
 *     t(k) = 1/(aN) (Q + Q^2/2 + ... + Q^k/k),    Q = q at age a.
 *
 * Expanding (1 - pq)^N by the powers of q gives the sum below: the terms
 * without t cancel. With p = 0, the mean is t(N).
 */
static double average_to(unsigned n, double load, double q, double p)
{
	double t = 0, sum = 0, sign = -1;

	for (unsigned k = 1; k <= n; k++, sign = -sign) {
		t += power(q, k) / (k * load * n);
		sum -= sign * choose(n, k) * power(p, k) * t;
	}
	return sum + power(1 - p, n) * t - n * p * any_of(n - 1, p) * (1 - t);
}

struct plan plan_at(unsigned copies, double load, double pass)
{
	double s = exp(-load * copies), q = -expm1(-load * copies);
	double wrong = power(q, copies) * copies * pass;
	struct plan out = {
		.success = clamp(success_at(copies, q, s, pass)),
		.empty = clamp(empty_at(copies, q, s, pass)),
		.wrong = clamp(wrong),
		.wrong_low = clamp(wrong * power(1 - pass, copies - 1)),
		.average_success = 1,
	};

	if (q > 0)
		out.average_success = clamp(average_to(copies, load, q, pass));
	return out;
}

double plan_used(unsigned copies, double load)
{
	return -expm1(-load * copies);
}

/*
 * The number of free slots is about Poisson distributed: with a mean of 2 f + 8
 * only 1 time in 1000 are as few as f free. So the mean is likely below that.
 */
struct plan_load plan_load_of(unsigned copies, uint64_t slots, uint64_t used)
{
	double free = (double)(slots - used), all = (double)slots;
	struct plan_load out = {NAN, NAN};

	if (!slots)
		return out;
	if (free >= PLAN_FREE_MIN || !used)
		out.load = log(all / free) / copies;
	else
		out.above = fmax(0, log(all / (2 * free + 8)) / copies);
	return out;
}

/* --- one random copy a report, as DART's switches write them ------------- */

enum { STEPS = 512 }; /* of Simpson's rule; even */

/* Sets chance[d]: that r draws out of n have d different results. Returns the
 * share of slots that keys with so many reports have written, at a load. */
static double share_written(unsigned n, unsigned r, double load,
			    double chance[PLAN_COPIES_MAX + 1])
{
	double mean = 0;

	for (unsigned d = 0; d <= n; d++)
		chance[d] = d == 0;
	while (r--)
		for (unsigned d = n; d > 0; d--) {
			chance[d] = chance[d] * d / n +
				    chance[d - 1] * (n - d + 1) / n;
			chance[d - 1] = d == 1 ? 0 : chance[d - 1];
		}
	for (unsigned d = 1; d <= n; d++)
		mean += d * chance[d];
	return -expm1(-mean * load);
}

double plan_random_used(unsigned copies, unsigned reports, double load)
{
	double chance[PLAN_COPIES_MAX + 1];

	return share_written(copies, reports, load, chance);
}

double plan_random_lost(unsigned copies, unsigned reports, double load)
{
	double chance[PLAN_COPIES_MAX + 1], all_lost = 0;
	/* The chance that a slot was overwritten by later keys. */
	double lost = share_written(copies, reports, load, chance);

	for (unsigned d = 0; d <= copies; d++)
		all_lost += chance[d] * pow(lost, d);
	return all_lost;
}

double plan_random_success(unsigned copies, unsigned reports, double load)
{
	return 1 - plan_random_lost(copies, reports, load);
}

double plan_random_average(unsigned copies, unsigned reports, double load)
{
	double sum = 0;

	for (unsigned i = 0; i <= STEPS; i++)
		sum += (i == 0 || i == STEPS ? 1
			: i % 2		     ? 4
					     : 2) *
		       plan_random_success(copies, reports, load * i / STEPS);
	return sum / (3 * STEPS);
}

/* --- what load gives a success -------------------------------------------- */

double plan_success(const struct plan_config *p, double load)
{
	struct plan at;

	if (p->reports)
		return p->average ? plan_random_average(p->copies, p->reports,
							load)
				  : plan_random_success(p->copies, p->reports,
							load);
	at = plan_at(p->copies, load, p->pass);
	return p->average ? at.average_success : at.success;
}

double plan_largest_load(const struct plan_config *p, double want)
{
	double low = 0, high = 0x1p-40;

	if (want <= 0)
		return INFINITY;
	while (plan_success(p, high) >= want && high < 0x1p60) {
		low = high;
		high *= 2;
	}
	for (int i = 0; i < 64; i++) {
		double mid = (low + high) / 2;

		if (plan_success(p, mid) >= want)
			low = mid;
		else
			high = mid;
	}
	return low;
}
