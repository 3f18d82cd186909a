/* SPDX-License-Identifier: BSD-2-Clause */
/* hops.h - what a view says hop by hop; private to the sink. */
#ifndef TELEMETRY_HOPS_H
#define TELEMETRY_HOPS_H

#include <string.h>

#include "telemetry/private.h"

/*
 * The hops of a view in the order of the path: first those of the stack, which
 * has its last node first, then the reporter's own.
 */
struct view_hops {
	const struct int_view *v;
	const struct fields *stack, *own; /* NULL: there is none */
	unsigned n, stacked;		  /* hops, and those of the stack */
	uint64_t reporter;		  /* NODE_UNKNOWN: not told */
};

void view_hops_of(struct made_plans *ps, struct view_hops *vh,
		  const struct int_view *v);

static inline const struct fields *view_fields(const struct view_hops *vh,
					       unsigned i)
{
	return i < vh->stacked ? vh->stack : vh->own;
}

static inline const uint8_t *view_hop(const struct view_hops *vh, unsigned i)
{
	return i < vh->stacked ? int_hop(&vh->v->stack, vh->stacked - 1 - i)
			       : int_hop(&vh->v->own, 0);
}

/* The node of hop i; a reporter may be told by its report only. */
uint64_t view_node(const struct view_hops *vh, unsigned i);

/* Where hop i was: its place's number, or 0. */
uint32_t view_place(struct telemetry *t, const struct view_hops *vh,
		    unsigned i);

/* Whether hop i was at a place. */
bool view_is_at(const struct view_hops *vh, unsigned i, const struct place *p);

/*
 * Latencies by time stamps, for nodes that do not tell them: of hop i, and from
 * end to end. Clocks wrap: differences are modulo their bits, and above half of
 * that below 0, which is counted. False: there is none.
 */
bool view_latency(struct telemetry *t, const struct view_hops *vh, unsigned i,
		  uint64_t *ns);
bool view_end_to_end(struct telemetry *t, const struct view_hops *vh,
		     uint64_t *ns);

#endif
