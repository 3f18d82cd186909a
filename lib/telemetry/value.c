/* SPDX-License-Identifier: BSD-2-Clause */
#include "telemetry/value.h"

#include <errno.h>
#include <stdlib.h>

#include "telemetry/events.h"
#include "telemetry/hops.h"
#include "telemetry/track.h"

enum {
	FAR_HOPS = 256, /* room at first */
};

struct flow_hop *value_key(const struct telemetry *t, struct flow_entry *f,
			   struct flow_hop *h)
{
	const struct place *at = t->objects.place;
	uint64_t node = at[h->place].node_id;

	if (h->flags & WATCH_KNOWN || !h->place || node == NODE_UNKNOWN)
		return h;
	for (unsigned i = 0; i < f->kept; i++) {
		struct flow_hop *k = flow_hop(&t->flows, f, i);

		if (k->flags & WATCH_KNOWN && at[k->place].node_id == node)
			return k;
	}
	return h;
}

void value_latency(struct telemetry *t, struct flow_entry *f,
		   struct flow_hop *h, uint32_t v)
{
	struct telling what;
	const struct place *p = &t->objects.place[h->place];

	track_dist(t, p->node, METRIC_HOP_LATENCY);
	if (!f)
		return;
	h = value_key(t, f, h);
	if (!watch_out(&h->watch, v))
		return;
	what = telling_flow(f, METRIC_HOP_LATENCY);
	what.node = p->node_id;
	h->flags = event_judge(t, &h->watch, h->flags,
			       &p->node->threshold[METRIC_HOP_LATENCY], v,
			       &what) &
		   0xff;
}

bool value_far_room(struct telemetry *t, struct far_hops *l)
{
	size_t room = l->room ? 2 * l->room : FAR_HOPS;
	void *hop = realloc(l->hop, room * sizeof(*l->hop));

	if (!hop) {
		t->rows.err = t->rows.err ? t->rows.err : -ENOMEM;
		return false;
	}
	l->hop = hop;
	l->room = room;
	return true;
}

void value_far_one(struct telemetry *t, struct place *p, enum metric m,
		   uint32_t v)
{
	unsigned first = (m - METRIC_QUEUE_OCCUPANCY) & ~1U;
	unsigned at = (m - METRIC_QUEUE_OCCUPANCY) & 1;
	uint32_t two[2] = {v, v};

	track_dist(t, p->node, m);
	value_far(t, p, METRIC_QUEUE_OCCUPANCY + first, 1U << at, two);
}

struct object *value_object(struct telemetry *t, uint64_t ts_ns,
			    struct place *p, enum metric m, uint32_t v)
{
	struct telling what = telling_nothing;
	struct object *o;

	track_dist(t, p->node, m);
	if (p->node->id == NODE_UNKNOWN)
		return &t->objects.nothing;
	o = object_of(&t->objects, p, m);
	if (o == &t->objects.unplaced)
		return o;
	what.ts_ns = ts_ns;
	event_of_object(&what, o);
	o->flags = (uint8_t)event_judge(t, &o->watch, o->flags,
					&p->node->threshold[m], v, &what);
	return o;
}

void value_flow(struct telemetry *t, struct flow_entry *f, uint32_t v)
{
	struct telling what = telling_flow(f, METRIC_FLOW_LATENCY);
	uint64_t room[PATH_NODES_MAX];

	what.path = track_nodes(t, f, room);
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
		const struct int_view *view)
{
	struct flow_end *end = flow_ends(&t->flows, f);
	struct view_hops vh;
	struct telling what;
	uint32_t v;

	view_hops_of(&t->plans, &vh, view);
	for (unsigned m = 0; m < METRIC_ENDS; m++, end++) {
		if (!(t->ends >> m & 1) ||
		    !largest(&vh, METRIC_QUEUE_OCCUPANCY + m, &v))
			continue;
		if (watch_out(&end->watch, v)) {
			what = telling_flow(f, METRIC_FLOW_QUEUE_OCCUPANCY + m);
			end->flags = (uint8_t)event_judge(t, &end->watch,
							  end->flags,
							  &t->end[m], v, &what);
		}
		end->latest = v;
		t->ledger.values++;
	}
}
