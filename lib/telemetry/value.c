/* SPDX-License-Identifier: BSD-2-Clause */
#include "telemetry/value.h"

#include "telemetry/events.h"
#include "telemetry/track.h"

static struct telling telling_of(uint64_t ts_ns, enum metric m)
{
	struct telling what = telling_nothing;

	what.ts_ns = ts_ns;
	what.metric = (int8_t)m;
	return what;
}

static void set_flow(struct telling *what, const struct flow_entry *f)
{
	what->key = f->key;
	what->key_len = f->key_len;
}

void value_latency(struct telemetry *t, uint64_t ts_ns, struct flow_entry *f,
		   struct flow_hop *h, uint32_t v)
{
	struct telling what = telling_of(ts_ns, METRIC_HOP_LATENCY);
	const struct place *p = &t->objects.place[h->place];

	track_dist(t, p->node, METRIC_HOP_LATENCY);
	if (!f)
		return;
	set_flow(&what, f);
	what.node = p->node_id;
	h->flags = event_judge(t, &h->watch, h->flags,
			       &p->node->threshold[METRIC_HOP_LATENCY], v,
			       &what) &
		   0xff;
}

struct object *value_object(struct telemetry *t, uint64_t ts_ns,
			    struct place *p, enum metric m, uint32_t v)
{
	struct telling what = telling_of(ts_ns, m);
	struct object *o;

	track_dist(t, p->node, m);
	if (p->node->id == NODE_UNKNOWN)
		return &t->objects.nothing;
	o = object_of(&t->objects, p, m);
	if (o == &t->objects.nothing)
		return o;
	what.node = p->node_id;
	what.egress = o->egress;
	if (m == METRIC_BUFFER_OCCUPANCY)
		what.buffer = o->id;
	else
		what.queue = o->id;
	o->flags = (uint8_t)event_judge(t, &o->watch, o->flags,
					&p->node->threshold[m], v, &what);
	return o;
}

void value_flow(struct telemetry *t, uint64_t ts_ns, struct flow_entry *f,
		uint32_t v)
{
	struct telling what = telling_of(ts_ns, METRIC_FLOW_LATENCY);

	set_flow(&what, f);
	f->flags = (uint8_t)event_judge(t, &f->watch, f->flags,
					&t->all[METRIC_FLOW_LATENCY], v, &what);
}
