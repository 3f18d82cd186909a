/* SPDX-License-Identifier: BSD-2-Clause */
/* region_sums.h - what tests ask of a whole region. */
#ifndef TESTS_UNIT_REGION_SUMS_H
#define TESTS_UNIT_REGION_SUMS_H

#include "hash/crc.h"
#include "region/region.h"

/* A checksum of a table's bytes in an epoch. */
static inline uint32_t region_digest(const struct region *r,
				     const struct table *t, uint64_t epoch)
{
	return crc(CRC_CHECKSUM, region_read(r, t, epoch), t->length);
}

static inline unsigned region_live_writers(const struct region *r)
{
	struct region_writer w;
	unsigned at = 0, n = 0;

	while (region_writer(r, &at, &w))
		n++;
	return n;
}

#endif
