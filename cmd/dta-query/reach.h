/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reach.h - a collector on another machine whose region is read with RDMA READ.
 * It is a source as a region of this machine is one: what is known of it is in
 * an image, the views of its tables READ.
 *
 * Keys in batches: reach_plan(), ask, reach_fetch(), ask again, reach_done().
 * While planning, what is read is noted, and seems to be zero; then all of it
 * is READ at once; then the same reads, in the same order, find it. Where a
 * key's slots are does not depend on what is in them.
 */
#ifndef QUERY_REACH_H
#define QUERY_REACH_H

#include "base/fault.h"
#include "query/query.h"
#include "store/region.h"

struct reach;

/* The image is the caller's, and outlives what is opened here. */
int reach_open(struct reach **out, struct region **image, const char *address,
	       struct fault *f);
void reach_close(struct reach *r); /* NULL is fine */

/* Why it cannot be read any more; NULL: it can. */
const char *reach_broken(const struct reach *r);

/* Brings the image's epochs up to date. */
void reach_renew(struct reach *r);

/* A table of the image in an epoch. */
void reach_view(struct view *out, struct reach *r, const struct table *t,
		uint64_t epoch);

void reach_plan(struct reach *r);
void reach_fetch(struct reach *r);
void reach_done(struct reach *r);

#endif
