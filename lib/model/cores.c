/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/model.h"

/* Blocks of a batch that are there because there are so many owners. */
static double blocks_more(const struct cores_load *l, unsigned n)
{
	double least = l->rounds * n;

	return least > l->blocks ? least - l->blocks : 0;
}

static double each_ns(const struct cores_load *l, unsigned n)
{
	if (n == 1)
		return l->alone_ns;
	return l->work_ns + l->receive_ns +
	       blocks_more(l, n) * l->block_ns / l->batch;
}

struct cores_rate cores_at(const struct cores_load *l, unsigned n)
{
	struct cores_rate r = {
		.per_s = n * 1e9 / each_ns(l, n),
		.bound = CORES_WORK,
	};

	if (n > 1 && l->source_ns * r.per_s > 1e9) {
		r.per_s = 1e9 / l->source_ns;
		r.bound = CORES_SOURCE;
	}
	if (l->bandwidth > 0 && l->bytes * r.per_s > l->bandwidth) {
		r.per_s = l->bandwidth / l->bytes;
		r.bound = CORES_MEMORY;
	}
	r.speedup = r.per_s * l->alone_ns / 1e9;
	return r;
}
