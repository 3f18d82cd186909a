/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * value.h - values that may be events, by what they are of; private to the
 * sink. Slow: they are looked for only outside a watch's range.
 */
#ifndef TELEMETRY_VALUE_H
#define TELEMETRY_VALUE_H

#include "telemetry/private.h"

enum {
	FAR_AHEAD = 16, /* it was another core's */
};

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

static inline void value_take(struct telemetry *t, uint64_t ts_ns,
			      struct place *p, enum metric m, uint32_t v)
{
	struct object *o = p->object[m];

	if (watch_out(&o->watch, v))
		o = value_object(t, ts_ns, p, m, v);
	o->latest = v;
	o->last_ns = ts_ns;
}

/* No memory: the sink's error. */
bool value_far_room(struct telemetry *t, struct far_hops *l);

/* The same of two metrics, if they are told, by who keeps them. */
static inline void value_far(struct telemetry *t, const struct place *p,
			     unsigned m, unsigned told, const uint32_t v[2])
{
	uint64_t hash = p->node_id * 0x9e3779b97f4a7c15;
	struct far_hops *l = &t->far[(hash >> 32) * t->o.owners >> 32];
	struct far_hop *h;

	if (__builtin_expect(l->n == l->room, 0) && !value_far_room(t, l))
		return;
	h = &l->hop[l->n++];
	__builtin_prefetch(h + FAR_AHEAD, 1);
	h->view = t->view;
	h->what = far_what((uint32_t)(p - t->objects.place), m, told);
	memcpy(h->value, v, sizeof(h->value));
}

/* Of a flow from end to end. */
void value_flow(struct telemetry *t, struct flow_entry *f, uint32_t v);

/* What else is watched of a flow from end to end: of each metric the largest
 * that the hops of its path tell now, whoever of them tells it. */
void value_ends(struct telemetry *t, struct flow_entry *f,
		const struct int_view *view);

void value_far_one(struct telemetry *t, struct place *p, enum metric m,
		   uint32_t v);

#endif
