/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rate.h - a token bucket: per_s operations a second, and a burst at once.
 *
 * It is exact: in t ns it grants burst + per_s * t / 10^9 tokens, never more.
 * The caller passes the time (packet/clock.h).
 */
#ifndef RDMA_RATE_H
#define RDMA_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "packet/clock.h"

enum {
	RATE_UNIT = 1000000000, /* the level counts billionths */
};

/* Of per_s and burst, so that sums fit 64 bits. */
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

/* Takes n tokens, all or none; n = 0 takes none, but needs one to be there. */
static inline bool rate_take(struct rate *r, unsigned n)
{
	if (r->level < (int64_t)(n ? n : 1) * RATE_UNIT)
		return false;
	r->level -= (int64_t)n * RATE_UNIT;
	return true;
}

/* Takes n tokens for what was done already; the level may fall below 0. */
static inline void rate_charge(struct rate *r, unsigned n)
{
	r->level -= (int64_t)n * RATE_UNIT;
}

#endif
