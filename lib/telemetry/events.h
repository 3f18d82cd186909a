/* SPDX-License-Identifier: BSD-2-Clause */
/* events.h - thresholds and what passes them; what goes out by time, and at the
 * end (push.c); private to the sink. */
#ifndef TELEMETRY_EVENTS_H
#define TELEMETRY_EVENTS_H

#include "telemetry/private.h"

/* A node is new: node_begin of objects.h; ctx: the telemetry. */
void events_node(void *ctx, struct node *n);

/* Of a flow, by its last packet. */
static inline struct telling telling_flow(const struct flow_entry *f,
					  enum metric m)
{
	struct telling what = telling_nothing;

	what.ts_ns = f->last_ns;
	what.metric = (int8_t)m;
	what.key = f->key;
	what.key_len = f->key_len;
	return what;
}

/* Of a queue, a link or a buffer. */
static inline void event_of_object(struct telling *what, const struct object *o)
{
	bool buffer = o->metric == METRIC_BUFFER_OCCUPANCY;

	what->metric = (int8_t)o->metric;
	what->node = o->node->id;
	what->egress = o->egress;
	*(buffer ? &what->buffer : &what->queue) = o->id;
}

/* Counts an event and tells it, if it is of those that are told. */
void event_tell(struct telemetry *t, enum telemetry_kind kind,
		struct telling *what);

/* A value outside its watch's range: told if it is one event or several. what
 * says whose it is. Returns the key's new flags. */
unsigned event_judge(struct telemetry *t, struct watch *w, unsigned flags,
		     const struct threshold *th, uint32_t v,
		     struct telling *what);

/* The value goes out otherwise, so the reference moves. */
void event_told(struct telemetry *t, struct watch *w, unsigned flags,
		const struct threshold *th, uint32_t v);

/* The thresholds of a flow's watches are others since they were made. */
void events_renew(struct telemetry *t, struct flow_entry *f);

/* Other thresholds: those that are set, times widen. */
void events_set(struct telemetry *t);

/* More events than there may be in a second: thresholds widen. */
void events_widen(struct telemetry *t, uint64_t ts_ns);
/* Seconds have ended: thresholds may be narrower again. */
void events_second(struct telemetry *t, uint64_t now_ns);

/* Live values whose turn it is; a key is alive if it has reported since its
 * value went out by this way. */
void push_values(struct telemetry *t);

/* Reporters that are silent: what they miss is lost. */
void push_losses(struct telemetry *t, bool all);

/* flows.leave; ctx: the telemetry. */
void push_flow(void *ctx, struct flow_entry *f, enum flow_leaves why);

void push_distributions(struct telemetry *t);

#endif
