/* SPDX-License-Identifier: BSD-2-Clause */
#include "telemetry/objects.h"

#include <math.h>

static uint64_t first_of(uint32_t bin)
{
	uint32_t octave = bin >> DIST_SUB;

	if (!octave)
		return bin;
	return (uint64_t)(bin - ((octave - 1) << DIST_SUB)) << (octave - 1);
}

void dist_bounds(uint32_t bin, uint32_t *from, uint32_t *to)
{
	*from = (uint32_t)first_of(bin);
	*to = (uint32_t)(first_of(bin + 1) - 1);
}

uint64_t dist_samples(const struct dist *d)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < DIST_BINS; i++)
		n += d->count[i];
	return n;
}

void dist_move(struct dist *to, struct dist *from)
{
	for (uint32_t i = 0; i < DIST_BINS; i++) {
		to->count[i] += from->count[i];
		from->count[i] = 0;
	}
}

bool dist_quantile(const struct dist *d, double q, uint32_t *from, uint32_t *to)
{
	uint64_t n = dist_samples(d), rank = (uint64_t)ceil(q * (double)n);
	uint32_t bin = 0;

	if (!n)
		return false;
	rank = rank < 1 ? 1 : rank > n ? n : rank;
	for (n = d->count[0]; n < rank; n += d->count[bin])
		bin++;
	dist_bounds(bin, from, to);
	return true;
}

struct dist *dists_new(struct dists *ds)
{
	struct dist *d = (struct dist *)(ds->area.base + ds->used);

	if (sizeof(*d) > ds->area.size - ds->used)
		return NULL;
	ds->used += sizeof(*d);
	return d;
}
