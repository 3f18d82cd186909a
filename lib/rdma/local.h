/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local.h - the local road: operations straight into a region, the SmartNIC
 * mode of DTA. Runs of equal operations go through a dense loop. Whether lines
 * are asked for ahead is settled when it is opened (prefetch.h).
 */
#ifndef RDMA_LOCAL_H
#define RDMA_LOCAL_H

#include "rdma/op.h"
#include "region/region.h"

struct local_road;

/* r is open for writing and outlives the road. Tables: the region's indices. */
int local_open(struct local_road **out, struct region *r, struct fault *f);
struct road *local_road(struct local_road *l);

/* The road into a region by its name, which it opens and closes. */
int local_road_open(struct road **out, const char *region, struct fault *f);
void local_close(struct local_road *l); /* NULL is fine */

/*
 * The first ones of n operations, up to one that is no OP_FETCH_ADD or
 * OP_CMP_SWAP or is for another table than the first; what was there before
 * each, to old. Returns how many. Between begin() and end(); these were judged
 * before: inside their table, 8-aligned. What follows them may be anything.
 */
size_t local_fetch(struct local_road *l, const struct op *ops, size_t n,
		   uint64_t *old);

/* Where a table is in memory, between begin() and end(). */
const uint8_t *local_mem(const struct local_road *l, unsigned table);

#endif
