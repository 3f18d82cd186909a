/* SPDX-License-Identifier: BSD-2-Clause */
#include "measure/dist.h"

#include <errno.h>
#include <math.h>

int dist_fixed(struct dist_shape *s, uint32_t min, uint32_t max, uint32_t bins)
{
	uint64_t range = (uint64_t)max - min + 1, width;

	if (min > max || !bins || bins > DIST_BINS_MAX)
		return -EINVAL;
	width = (range + bins - 1) / bins;
	if (width > UINT32_MAX)
		return -EINVAL;
	*s = (struct dist_shape){
		.min = min,
		.max = max,
		.bins = (uint32_t)((range + width - 1) / width),
		.width = (uint32_t)width,
		.reciprocal = UINT64_MAX / width + 1,
	};
	return 0;
}

int dist_log(struct dist_shape *s, uint32_t min, uint32_t max, unsigned sub)
{
	if (min >= max || sub > DIST_SUB_MAX)
		return -EINVAL;
	*s = (struct dist_shape){.min = min,
				 .max = max,
				 .bins = dist_log_bin(sub, max - min) + 1,
				 .log = true,
				 .sub = (uint8_t)sub};
	return 0;
}

/* The first number, of those above min, of a bin; bins are counted from 0. */
static uint64_t log_first(unsigned sub, uint32_t bin)
{
	uint32_t octave = bin >> sub;

	if (!octave)
		return bin;
	return (uint64_t)(bin - ((octave - 1) << sub)) << (octave - 1);
}

void dist_bounds(const struct dist_shape *s, uint32_t bin, uint32_t *from,
		 uint32_t *to)
{
	uint64_t first, next;

	if (bin == 0 || bin > s->bins) {
		*from = bin ? s->max + 1 : 0;
		*to = bin ? UINT32_MAX : s->min - 1;
		return;
	}
	if (s->log) {
		first = s->min + log_first(s->sub, bin - 1);
		next = s->min + log_first(s->sub, bin);
	} else {
		first = s->min + (uint64_t)s->width * (bin - 1);
		next = first + s->width;
	}
	*from = (uint32_t)first;
	*to = next > s->max ? s->max : (uint32_t)(next - 1);
}

uint64_t dist_samples(const struct dist *d)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < d->shape.bins + 2; i++)
		n += d->count[i];
	return n;
}

void dist_move(struct dist *to, struct dist *from)
{
	for (uint32_t i = 0; i < from->shape.bins + 2; i++) {
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
	dist_bounds(&d->shape, bin, from, to);
	return true;
}

int dists_init(struct dists *ds, size_t bytes)
{
	ds->used = 0;
	return area_init(&ds->area, bytes);
}

void dists_fini(struct dists *ds)
{
	area_fini(&ds->area);
}

struct dist *dists_new(struct dists *ds, const struct dist_shape *s)
{
	size_t size = sizeof(struct dist) + (s->bins + 2) * sizeof(uint64_t);
	struct dist *d = (struct dist *)(ds->area.base + ds->used);

	if (size > ds->area.size - ds->used)
		return NULL;
	ds->used += size;
	d->shape = *s;
	return d;
}
