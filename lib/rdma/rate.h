/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rate.h - a token bucket: so many operations a second, and a few at once.
 *
 * Exact: in t ns no more than burst + per_s * t / 10^9 are granted, and as many
 * if they are asked for. The caller tells the time: clock.h.
 */
#ifndef RDMA_RATE_H
#define RDMA_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "packet/clock.h"

enum {
	RATE_UNIT = 1000000000, /* the level counts billionths */
};

/* Of both: what keeps the sums in 64 bits. */
#define RATE_MAX (UINT64_C(1) << 31)

struct rate {
	uint64_t per_s;	     /* 0: no limit */
	int64_t full, level; /* level < 0: a debt */
	uint64_t last_ns;
};

/* Starts full. per_s and burst: 1 to RATE_MAX. */
static inline void rate_init(struct rate *r, uint64_t per_s, uint64_t burst)
{
	int64_t full = (int64_t)burst * RATE_UNIT;

	*r = (struct rate){.per_s = per_s, .full = full, .level = full};
}

static inline void rate_time(struct rate *r, uint64_t now_ns)
{
	uint64_t ns = clock_step(&r->last_ns, now_ns);
	uint64_t missing = (uint64_t)(r->full - r->level);

	if (ns > missing / r->per_s)
		r->level = r->full;
	else
		r->level += (int64_t)(ns * r->per_s);
}

/* Takes n, all or none; n = 0 takes nothing, but wants one to be there. */
static inline bool rate_take(struct rate *r, unsigned n)
{
	if (r->level < (int64_t)(n ? n : 1) * RATE_UNIT)
		return false;
	r->level -= (int64_t)n * RATE_UNIT;
	return true;
}

/* What was done and must be paid for. */
static inline void rate_charge(struct rate *r, unsigned n)
{
	r->level -= (int64_t)n * RATE_UNIT;
}

#endif
