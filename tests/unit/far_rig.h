/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * far_rig.h - a region behind a link that counts round trips, cuts, bends and
 * fails.
 */
#ifndef TESTS_UNIT_FAR_RIG_H
#define TESTS_UNIT_FAR_RIG_H

#include <errno.h>

#include "region/far.h"
#include "query/query.h"
#include "region/region_file.h"
#include "store_sample.h"

static struct region *region;
static unsigned trips, fail_at, closed;
static uint64_t end, highest; /* of the file, as read */
static struct region_header bent;
static bool use_bent;
static const atomic_int never;

static inline int link_read(void *ctx, const struct memory_piece *p, size_t n,
			    struct error *err)
{
	TEST(ctx == &trips);
	if (++trips == fail_at)
		return error_set(err, -ECONNRESET, "the link broke");
	for (; n; n--, p++) {
		if (!TEST(p->offset <= end && p->length <= end - p->offset))
			return -ERANGE;
		if (p->offset + p->length > highest)
			highest = p->offset + p->length;
		memcpy(p->to, region_file(region) + p->offset, p->length);
		if (!p->offset && use_bent)
			memcpy(p->to, &bent, sizeof(bent));
	}
	return 0;
}

static inline void link_close(void *ctx)
{
	TEST(ctx == &trips);
	closed++;
}

static inline int far(struct memory **out, uint64_t size, struct error *err)
{
	struct memory_link link = {link_read, link_close, &trips, size};
	unsigned before = closed;
	int rc;

	trips = 0;
	end = size;
	rc = memory_open_link(out, "there", &link, &never, err);
	TEST(closed == before + (rc < 0));
	return rc;
}

#endif
