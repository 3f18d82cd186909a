/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vector.h - steady.h with AVX-512: a hop's ids and metrics are each picked out
 * of its bytes by one permutation. It leaves what steady.c does; private to the
 * sink.
 *
 * Scalar, a report of 6 hops with 18 metrics takes 1850 instructions for them;
 * this way 640.
 */
#ifndef TELEMETRY_VECTOR_H
#define TELEMETRY_VECTOR_H

#include "telemetry/steady.h"

/* Whether this CPU can do it. */
bool vector_can(void);

void vector_lanes_of(struct vector_lanes *l,
		     const struct dist_shape shape[METRIC_NUMBERS]);

/*
 * A view without metadata of its reporter, by the picks of its stack's plan: if
 * all hops are where they were it is taken, and the sum of the hops' latencies,
 * if the plan has them, is *latency; to count the values is left to the caller.
 * False: nothing was done.
 */
bool vector_take(struct telemetry *t, struct flow_entry *f,
		 const struct int_view *v, const struct picks *p,
		 uint64_t *latency);

#endif
