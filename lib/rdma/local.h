/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local.h - the local transport: it stores operations in a region of this
 * machine, as DTA's SmartNIC mode does. Runs of operations of one kind go
 * through a dense loop. Whether to prefetch is decided when it is opened
 * (region/memory.h).
 */
#ifndef RDMA_LOCAL_H
#define RDMA_LOCAL_H

#include "rdma/op.h"
#include "region/region.h"

struct local_transport;

/* r is open for writing and outlives the transport. Operations number tables as
 * the region does. */
int local_open(struct local_transport **out, struct region *r,
	       struct error *err);
struct transport *local_transport(struct local_transport *l);

/* A transport into a region by name; it opens and closes the region. */
int local_transport_open(struct transport **out, const char *region,
			 struct error *err);
void local_close(struct local_transport *l); /* NULL is fine */

/*
 * Carries out the first of n operations, up to one that is no addition or is
 * for another table than the first, and stores the value before each in old.
 * Returns how many. Between begin() and end(). The caller has checked that
 * these are inside their table and 8-aligned; those behind them need not be.
 */
size_t local_fetch(struct local_transport *l, const struct op *ops, size_t n,
		   uint64_t *old);

#endif
