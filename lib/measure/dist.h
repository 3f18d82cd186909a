/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dist.h - distributions: how often a value was in each of a range of bins.
 * Every sample is counted once: in a bin, under the range or over it.
 *
 * fixed: bins of one width. log: 2^sub bins for each power of two above min,
 * and below 2^sub bins of one: a bin is not wider than 2^-sub of its value.
 *
 * Memory: 8 bytes a bin, out of one piece that is taken at the beginning and
 * touched as distributions begin.
 */
#ifndef MEASURE_DIST_H
#define MEASURE_DIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/area.h"

enum {
	DIST_BINS_MAX = 1 << 20,
	DIST_SUB_MAX = 8,
};

struct dist_shape {
	uint32_t min, max; /* both in the range */
	uint32_t bins;
	bool log;
	uint8_t sub;
	uint32_t width;	     /* fixed */
	uint64_t reciprocal; /* of width, times 2^64 */
};

/* 0, or -EINVAL: no bins or too many, no range, sub. The last bin ends at max,
 * and may be narrower than others; of fixed width there may be fewer than
 * asked for. */
int dist_fixed(struct dist_shape *s, uint32_t min, uint32_t max, uint32_t bins);
int dist_log(struct dist_shape *s, uint32_t min, uint32_t max, unsigned sub);

struct dist {
	struct dist_shape shape;
	uint64_t count[]; /* under, bins, over */
};

static inline uint32_t dist_log_bin(unsigned sub, uint32_t x)
{
	/* The first bins are of one: as if x had a bit more. */
	unsigned shift = 31u - (unsigned)__builtin_clz(x | 1U << sub) - sub;

	return (shift << sub) + (x >> shift);
}

/* Which count a value belongs to: 0 under, 1 to bins, bins + 1 over. */
static inline uint32_t dist_bin(const struct dist_shape *s, uint32_t v)
{
	uint32_t x = v - s->min;

	if (x > s->max - s->min)
		return v < s->min ? 0 : s->bins + 1;
	if (s->log)
		return 1 + dist_log_bin(s->sub, x);
	/* Exact for 32 bits: Lemire, Kaser, Kurz, "Faster remainder by direct
	 * computation" (2019). */
	return 1 + (s->width == 1
			    ? x
			    : (uint32_t)((unsigned __int128)s->reciprocal * x >>
					 64));
}

static inline void dist_add(struct dist *d, uint32_t v)
{
	d->count[dist_bin(&d->shape, v)]++;
}

/* The values, from and to inclusive, of a count. */
void dist_bounds(const struct dist_shape *s, uint32_t bin, uint32_t *from,
		 uint32_t *to);

uint64_t dist_samples(const struct dist *d);
/* All samples of one to another of the same shape; it has none then. */
void dist_move(struct dist *to, struct dist *from);

/*
 * Where the quantile is, 0 < q <= 1: the bounds of the bin that holds the
 * sample of rank ceil(q * samples). False: there are no samples.
 */
bool dist_quantile(const struct dist *d, double q, uint32_t *from,
		   uint32_t *to);

/* Memory for distributions. */
struct dists {
	struct area area;
	size_t used;
};

/* 0 or -ENOMEM. */
int dists_init(struct dists *ds, size_t bytes);
void dists_fini(struct dists *ds);
/* An empty one; NULL: there is no room for another of this shape. */
struct dist *dists_new(struct dists *ds, const struct dist_shape *s);

#endif
