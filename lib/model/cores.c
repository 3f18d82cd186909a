/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/model.h"

struct cores_rate model_cores_rate(const struct cores_load *l, unsigned n)
{
	/* Blocks that there are only because each owner gets one. */
	double more = l->rounds * n > l->blocks ? l->rounds * n - l->blocks : 0;
	double several_ns = l->work_ns + l->receive_ns +
			    more * l->block_ns / l->batch;
	struct cores_rate r = {
		.per_s = n * 1e9 / (n == 1 ? l->alone_ns : several_ns),
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
