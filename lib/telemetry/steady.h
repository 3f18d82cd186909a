/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * steady.h - the way of a packet whose flow goes where it went, told by a
 * narrow plan (fields.h): what the sink does for almost all of them. It makes
 * what take.c would, in fewer steps; private to the sink.
 *
 * Each hop's ids are compared with those of the place that the flow remembers;
 * then each metric is added up, put into its bin, and compared with the range
 * in which it is no event.
 */
#ifndef TELEMETRY_STEADY_H
#define TELEMETRY_STEADY_H

#include "telemetry/hops.h"

/* What the hops of a view told of their latencies. */
struct latencies {
	uint64_t sum;
	unsigned n; /* hops */
};

/* Whether all hops are where they were, and this is the way to take them. */
bool steady_is(const struct telemetry *t, struct flow_entry *f,
	       const struct view_hops *vh);

struct latencies steady_take(struct telemetry *t, struct flow_entry *f,
			     const struct view_hops *vh);

#endif
