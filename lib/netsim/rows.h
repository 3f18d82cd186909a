/* SPDX-License-Identifier: BSD-2-Clause */
/* rows.h - what a simulation tells, as rows. */
#ifndef NETSIM_ROWS_H
#define NETSIM_ROWS_H

#include "netsim/netsim.h"
#include "row/row.h"

extern const struct schema netsim_schema;

/* An interval, or the sum of several. 0 or -errno of the stream. */
int netsim_row(struct rows *r, const struct netsim_interval *v,
	       uint64_t span_ns, double coverage);

#endif
