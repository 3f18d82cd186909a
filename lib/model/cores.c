/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/cores.h"

#include <math.h>

static double work_of(const struct cores_load *l, unsigned n)
{
	return n < 2 ? l->alone_ns
		     : l->work_ns + (n - 2) * l->join_ns / l->batch;
}

static double late_of(const struct cores_load *l, unsigned n)
{
	return -expm1(-(double)(n - 1) * l->ops * l->batch / l->places);
}

struct cores_rate cores_at(const struct cores_load *l, unsigned n)
{
	double work = work_of(l, n), all = n / work;
	struct cores_rate r = {
		.per_s = all * 1e9,
		.late = late_of(l, n),
		.bound = CORES_WORK,
	};
	double late = r.late * l->ops * l->late_ns;

	if (n > 1 && l->turn_ns * r.per_s > 1e9) {
		r.per_s = 1e9 / l->turn_ns;
		r.bound = CORES_TURN;
	}
	if (late * r.per_s > 1e9) {
		r.per_s = 1e9 / late;
		r.bound = CORES_LATE;
	}
	if (l->memory_s > 0 && l->touches * r.per_s > l->memory_s) {
		r.per_s = l->memory_s / l->touches;
		r.bound = CORES_MEMORY;
	}
	r.busy = r.per_s / 1e9 / all;
	return r;
}
