/* SPDX-License-Identifier: BSD-2-Clause */
#include "op/rate.h"

#include "packet/clock.h"

void rate_init(struct rate *r, uint64_t per_s, uint64_t burst)
{
	int64_t full = (int64_t)burst * RATE_UNIT;

	*r = (struct rate){.per_s = per_s, .full = full, .level = full};
}

void rate_time(struct rate *r, uint64_t now_ns)
{
	uint64_t ns = clock_step(&r->last_ns, now_ns);
	uint64_t missing = (uint64_t)(r->full - r->level);

	if (ns > missing / r->per_s)
		r->level = r->full;
	else
		r->level += (int64_t)(ns * r->per_s);
}
