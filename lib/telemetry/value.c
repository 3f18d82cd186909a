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

/* False: no hop tells it. */
static bool largest(const struct view_hops *vh, enum metric m, uint32_t *out)
{
	uint64_t most = 0;
	bool any = false;

	for (unsigned i = 0; i < vh->n; i++) {
		bool told;
		uint64_t v = field_number(&view_fields(vh, i)->metric[m],
					  view_hop(vh, i), &told);

		any |= told;
		if (told && v > most)
			most = v;
	}
	/* That it is above 32 bits was counted with the hop. */
	*out = most > UINT32_MAX ? UINT32_MAX : (uint32_t)most;
	return any;
}

void value_ends(struct telemetry *t, struct flow_entry *f,
		const struct view_hops *vh)
{
	struct flow_end *end = flow_ends(&t->flows, f);
	struct telling what;
	uint32_t v;

	for (unsigned m = 0; m < METRIC_ENDS; m++, end++) {
		if (!(t->ends >> m & 1) ||
		    !largest(vh, METRIC_QUEUE_OCCUPANCY + m, &v))
			continue;
		if (watch_out(&end->watch, v)) {
			what = telling_of(vh->v->ts_ns,
					  METRIC_FLOW_QUEUE_OCCUPANCY + m);
			set_flow(&what, f);
			end->flags = (uint8_t)event_judge(t, &end->watch,
							  end->flags,
							  &t->end[m], v, &what);
		}
		end->latest = v;
		t->ledger.values++;
	}
}
