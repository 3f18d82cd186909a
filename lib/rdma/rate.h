/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rate.h - a token bucket: per_s tokens a second, and up to burst at once.
 *
 * It is exact: in t ns it grants at most burst + per_s * t / 10^9 tokens.
 * The caller passes packets' stamps as the time (packet/clock.h).
 */
#ifndef RDMA_RATE_H
#define RDMA_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "packet/clock.h"

enum {
	RATE_UNIT = 1000000000, /* one token, in billionths of a token */
};

/* The most for per_s and burst: a level fits 64 bits. */
#define RATE_MAX (UINT64_C(1) << 31)

struct rate {
	uint64_t per_s;	     /* 0: no limit; callers check this */
	int64_t full, level; /* billionths; level < 0: tokens are owed */
	uint64_t last_ns;
};

/* Starts full. per_s and burst: 1 to RATE_MAX. */
static inline void rate_init(struct rate *r, uint64_t per_s, uint64_t burst)
{
	int64_t full = (int64_t)burst * RATE_UNIT;

	*r = (struct rate){.per_s = per_s, .full = full, .level = full};
}

/* Adds the tokens of the time since the last call. */
static inline void rate_refill(struct rate *r, uint64_t now_ns)
{
	uint64_t ns = clock_step(&r->last_ns, now_ns);
	uint64_t missing = (uint64_t)(r->full - r->level);

	if (ns > missing / r->per_s)
		r->level = r->full;
	else
		r->level += (int64_t)(ns * r->per_s);
}

/* Takes n tokens, all or none. n = 0 only says whether there is one. */
static inline bool rate_take(struct rate *r, unsigned n)
{
	if (r->level < (int64_t)(n ? n : 1) * RATE_UNIT)
		return false;
	r->level -= (int64_t)n * RATE_UNIT;
	return true;
}

/* Takes n tokens for work already done, even if the level falls below 0. */
static inline void rate_charge(struct rate *r, unsigned n)
{
	r->level -= (int64_t)n * RATE_UNIT;
}

#endif
