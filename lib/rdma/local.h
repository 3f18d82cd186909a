/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local.h - the local transport: operations straight into a region, the
 * SmartNIC mode of DTA. Runs of equal operations go through a dense loop.
 * Whether lines are asked for ahead is settled when it is opened (prefetch.h).
 */
#ifndef RDMA_LOCAL_H
#define RDMA_LOCAL_H

#include "rdma/op.h"
#include "region/region.h"

struct local_transport;

/* r is open for writing and outlives the transport. Tables: the region's
 * indices. */
int local_open(struct local_transport **out, struct region *r, struct fault *f);
struct transport *local_transport(struct local_transport *l);

/* The transport into a region by its name, which it opens and closes. */
int local_transport_open(struct transport **out, const char *region,
			 struct fault *f);
void local_close(struct local_transport *l); /* NULL is fine */

/*
 * The first ones of n operations, up to one that is no OP_FETCH_ADD or
 * OP_CMP_SWAP or is for another table than the first; what was there before
 * each, to old. Returns how many. Between begin() and end(); these were judged
 * before: inside their table, 8-aligned. What follows them may be anything.
 */
size_t local_fetch(struct local_transport *l, const struct op *ops, size_t n,
		   uint64_t *old);

/* Where a table is in memory, between begin() and end(). */
const uint8_t *local_mem(const struct local_transport *l, unsigned table);

#endif
