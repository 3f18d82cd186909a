/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dist.h - distributions: how often a value was in each of some bins, which are
 * log-linear: 16 for each power of two, and 16 of one number each below. So no
 * bin is wider than a sixteenth of its values.
 *
 * Memory: 8 bytes a bin, out of one piece that is taken at the beginning and
 * touched as distributions begin.
 */
#ifndef TELEMETRY_DIST_H
#define TELEMETRY_DIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/area.h"

enum {
	DIST_SUB = 4, /* 2^DIST_SUB bins for each power of two */
	DIST_BINS = (33 - DIST_SUB) << DIST_SUB,
};

struct dist {
	uint64_t count[DIST_BINS];
};

static inline uint32_t dist_bin(uint32_t v)
{
	/* The first bins are of one: as if v had a bit more. */
	unsigned shift = 31u - (unsigned)__builtin_clz(v | 1U << DIST_SUB) -
			 DIST_SUB;

	return (shift << DIST_SUB) + (v >> shift);
}

static inline void dist_add(struct dist *d, uint32_t v)
{
	d->count[dist_bin(v)]++;
}

/* The values, from and to inclusive, of a bin. */
void dist_bounds(uint32_t bin, uint32_t *from, uint32_t *to);

uint64_t dist_samples(const struct dist *d);
/* All samples of one to another; it has none then. */
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
/* An empty one; NULL: there is no room for another. */
struct dist *dists_new(struct dists *ds);

#endif
