/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/model.h"

#include <math.h>
#include <string.h>

double theory_window(const struct theory_times *t)
{
	double between = t->interval + t->gap;

	if (between <= 0)
		return 1;
	if (t->telemetry < t->interval)
		return t->telemetry / between;
	if (t->gap <= 0)
		return 1;
	return 1 -
	       t->gap * exp((t->interval - t->telemetry) / t->gap) / between;
}

void theory_base(const struct theory_labels *l, unsigned hops, double *p)
{
	p[0] = 1;
	for (unsigned h = 0; h < hops; h++) {
		p[h + 1] = 0;
		for (unsigned i = h + 1; i-- > 0;) {
			double q = l->f[i] + l->r * (1 - l->f[i]);

			p[i + 1] += p[i] * q;
			p[i] *= 1 - q;
		}
	}
}

void theory_hops(unsigned k, double p[THEORY_HOPS + 1])
{
	double half = k / 2.0, others = half * half * k - 1;

	memset(p, 0, (THEORY_HOPS + 1) * sizeof(*p));
	p[1] = (half - 1) / others;
	p[3] = (half - 1) * half / others;
	p[5] = (k - 1) * half * half / others;
}

void theory_tree(const struct theory_labels *l, unsigned k,
		 double p[THEORY_HOPS + 1])
{
	double hops[THEORY_HOPS + 1], labels[THEORY_HOPS + 1];

	theory_hops(k, hops);
	memset(p, 0, (THEORY_HOPS + 1) * sizeof(*p));
	for (unsigned h = 1; h <= THEORY_HOPS; h++) {
		theory_base(l, h, labels);
		for (unsigned i = 0; i <= h; i++)
			p[i] += hops[h] * labels[i];
	}
}

double theory_mean(const double *p, unsigned n)
{
	double sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += i * p[i];
	return sum;
}
