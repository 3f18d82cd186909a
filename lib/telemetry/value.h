/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * value.h - values that may be events, by what they are of; private to the
 * sink. Slow: they are looked for only outside a watch's range.
 */
#ifndef TELEMETRY_VALUE_H
#define TELEMETRY_VALUE_H

#include "telemetry/private.h"

/* Of a flow's hop at a place. f NULL: the hop is kept nowhere, no event. */
void value_latency(struct telemetry *t, struct flow_entry *f,
		   struct flow_hop *h, uint32_t v);

/* The hop that knows what was told of a hop's flow and node: of a node that is
 * twice on the path, and so has values that are outside each time, the one that
 * told first. */
struct flow_hop *value_key(const struct telemetry *t, struct flow_entry *f,
			   struct flow_hop *h);

/* Of a queue, a link or a buffer, which is returned; objects.h: `unplaced` if
 * there is no room for it, `nothing` if its node is not known. */
struct object *value_object(struct telemetry *t, uint64_t ts_ns,
			    struct place *p, enum metric m, uint32_t v);

/* The same, where the node's distributions are seen to. */
struct object *value_judge(struct telemetry *t, uint64_t ts_ns, struct place *p,
			   enum metric m, uint32_t v);

/* Of a flow from end to end. */
void value_flow(struct telemetry *t, struct flow_entry *f, uint32_t v);

/* What else is watched of a flow from end to end: of each metric the largest
 * that the hops of its path tell now, whoever of them tells it. */
void value_ends(struct telemetry *t, struct flow_entry *f,
		const struct int_view *view);

#endif
