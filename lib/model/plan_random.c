/* SPDX-License-Identifier: BSD-2-Clause */
/* plan_random.c - one random copy a report, as DART's switches write them. */
#include <math.h>

#include "model/plan.h"
#include "model/private.h"

enum {
	STEPS = 512, /* of Simpson's rule; even */
};

/* chance[d]: that r draws out of n have d different ones. */
static void occupancy(unsigned n, unsigned r, double *chance)
{
	for (unsigned d = 0; d <= n; d++)
		chance[d] = d == 0;
	while (r--)
		for (unsigned d = n; d > 0; d--) {
			chance[d] = chance[d] * d / n +
				    chance[d - 1] * (n - d + 1) / n;
			chance[d - 1] = d == 1 ? 0 : chance[d - 1];
		}
}

/* The share of slots that keys have written, who make such chances. */
static double written(unsigned copies, const double *chance, double load)
{
	double mean = 0;

	for (unsigned d = 1; d <= copies; d++)
		mean += d * chance[d];
	return -expm1(-mean * load);
}

double plan_random_used(unsigned copies, unsigned reports, double load)
{
	double chance[PLAN_COPIES_MAX + 1];

	occupancy(copies, reports, chance);
	return written(copies, chance, load);
}

double plan_random_lost(unsigned copies, unsigned reports, double load)
{
	double chance[PLAN_COPIES_MAX + 1], lost, all_lost = 0;

	occupancy(copies, reports, chance);
	lost = written(copies, chance, load); /* a slot, by the keys after it */
	for (unsigned d = 0; d <= copies; d++)
		all_lost += chance[d] * pow(lost, d);
	return all_lost;
}

double plan_random(unsigned copies, unsigned reports, double load)
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
		       plan_random(copies, reports, load * i / STEPS);
	return sum / (3 * STEPS);
}

/* DART of so many copies and reports. */
struct one_by_one {
	unsigned copies, reports;
	int average;
};

static double success_of(const void *ctx, double load)
{
	const struct one_by_one *d = ctx;

	return d->average ? plan_random_average(d->copies, d->reports, load)
			  : plan_random(d->copies, d->reports, load);
}

double plan_random_load_for(unsigned copies, unsigned reports, double want,
			    int average)
{
	struct one_by_one d = {copies, reports, average};

	return model_load_for(success_of, &d, want);
}
