/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/model.h"

#include <math.h>
#include <string.h>

double model_label_coverage(const struct model_label_times *t)
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

void model_label_path(const struct model_label_chances *l, unsigned hops,
		      double *p)
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

void model_tree_hops(unsigned k, double p[MODEL_TREE_HOPS + 1])
{
	double half = k / 2.0, others = half * half * k - 1;

	memset(p, 0, (MODEL_TREE_HOPS + 1) * sizeof(*p));
	p[1] = (half - 1) / others;
	p[3] = (half - 1) * half / others;
	p[5] = (k - 1) * half * half / others;
}

void model_label_tree(const struct model_label_chances *l, unsigned k,
		      double p[MODEL_TREE_HOPS + 1])
{
	double hops[MODEL_TREE_HOPS + 1], labels[MODEL_TREE_HOPS + 1];

	model_tree_hops(k, hops);
	memset(p, 0, (MODEL_TREE_HOPS + 1) * sizeof(*p));
	for (unsigned h = 1; h <= MODEL_TREE_HOPS; h++) {
		model_label_path(l, h, labels);
		for (unsigned i = 0; i <= h; i++)
			p[i] += hops[h] * labels[i];
	}
}

double model_mean(const double *p, unsigned n)
{
	double sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += i * p[i];
	return sum;
}
