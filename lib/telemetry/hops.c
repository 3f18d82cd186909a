/* SPDX-License-Identifier: BSD-2-Clause */
#include "telemetry/hops.h"

#include "base/rng.h"
#include "telemetry/events.h"

enum {
	SECOND = 1000000000,
};

static void make(struct made *m, const struct int_plan *plan)
{
	fields_of(&m->fields, plan);
	picks_of(&m->picks, &m->fields);
}

static const struct made *made_of(struct made_plans *ps,
				  const struct int_plan *plan)
{
	struct made *m;

	if (fields_are(&ps->latest->fields, plan))
		return ps->latest;
	m = &ps->plan[rng_mix((uintptr_t)plan->words ^ plan->bitmap) % PLANS];
	if (!fields_are(&m->fields, plan))
		make(m, plan);
	return ps->latest = m;
}

/* Of the reporter's plan: a copy if both plans want one place. */
static const struct fields *own_fields(struct made_plans *ps,
				       const struct int_view *v)
{
	const struct made *m = made_of(ps, v->own.plan);

	if (!v->stack.plan || v->stack.plan == v->own.plan ||
	    made_of(ps, v->stack.plan) != m)
		return &m->fields;
	make(&ps->own, v->own.plan);
	return &ps->own.fields;
}

/* A reporter that has pushed its metadata on the stack as well is there once.
 */
static bool adds_hop(const struct view_hops *vh)
{
	return !vh->stacked || view_node(vh, vh->stacked) == NODE_UNKNOWN ||
	       view_node(vh, vh->stacked) != view_node(vh, vh->stacked - 1);
}

void view_hops_of(struct made_plans *ps, struct view_hops *vh,
		  const struct int_view *v)
{
	*vh = (struct view_hops){.v = v, .reporter = NODE_UNKNOWN};
	if (v->from.has_node)
		vh->reporter = v->from.node;
	if (v->own.plan && v->own.n)
		vh->own = own_fields(ps, v);
	if (v->stack.plan && v->stack.n) {
		vh->stack = &made_of(ps, v->stack.plan)->fields;
		vh->n = vh->stacked = v->stack.n;
	}
	if (vh->own)
		vh->n += adds_hop(vh);
}

uint64_t view_node(const struct view_hops *vh, unsigned i)
{
	const struct fields *f = view_fields(vh, i);

	if (i == vh->stacked && f->node.width == FIELD_NONE)
		return vh->reporter;
	return field_node(&f->node, view_hop(vh, i));
}

static void ids_of(const struct view_hops *vh, unsigned i,
		   uint32_t id[FIELD_IDS])
{
	const struct fields *f = view_fields(vh, i);
	const uint8_t *hop = view_hop(vh, i);

	for (unsigned k = 0; k < FIELD_IDS; k++)
		id[k] = field_id(&f->id[k], hop);
}

uint32_t view_place(struct telemetry *t, const struct view_hops *vh, unsigned i)
{
	uint32_t id[FIELD_IDS];

	ids_of(vh, i, id);
	return place_of(&t->objects, view_node(vh, i), id, events_node, t);
}

bool view_is_at(const struct view_hops *vh, unsigned i, const struct place *p)
{
	uint32_t id[FIELD_IDS];

	ids_of(vh, i, id);
	return p->node_id == view_node(vh, i) && !memcmp(id, p->id, sizeof(id));
}

/* later - earlier, of as many bits; in ns. */
static bool difference(struct telemetry *t, const struct hop_field *f,
		       uint64_t later, uint64_t earlier, uint64_t *ns)
{
	uint64_t by = (later - earlier) & f->mask;

	if (by > f->mask / 2) {
		t->ledger.skewed++;
		return false;
	}
	*ns = int_scaled(by, f->scale);
	return true;
}

/* IOAM: seconds and a fraction, of one clock at each node (RFC 9197, 5.4.2.3).
 */
static bool stamp_of(const struct fields *f, const uint8_t *hop, uint64_t *ns)
{
	bool one, two;
	uint64_t s = field_raw(&f->seconds, hop, &one);

	*ns = s * SECOND + field_number(&f->fraction, hop, &two);
	return one && two;
}

static bool between(struct telemetry *t, const struct fields *f,
		    const uint8_t *from, const uint8_t *to, uint64_t *ns)
{
	static const struct hop_field whole = {.mask = UINT64_MAX, .scale = 1};
	uint64_t a, b;

	return stamp_of(f, from, &a) && stamp_of(f, to, &b) &&
	       difference(t, &whole, b, a, ns);
}

bool view_latency(struct telemetry *t, const struct view_hops *vh, unsigned i,
		  uint64_t *ns)
{
	const struct int_from *from = &vh->v->from;
	const struct fields *f = view_fields(vh, i);
	const uint8_t *hop = view_hop(vh, i);
	bool in, out;
	uint64_t a, b;

	if (f->egress_time.width) {
		a = field_raw(&f->ingress_time, hop, &in);
		b = field_raw(&f->egress_time, hop, &out);
		/* Reports 0.5 and 1.0 have it in their headers. */
		if (!in && i == vh->stacked && from->has_time &&
		    f->egress_time.mask == UINT32_MAX) {
			a = from->time;
			in = true;
		}
		return in && out && difference(t, &f->egress_time, b, a, ns);
	}
	/* The time to the next node. */
	return f->seconds.width && i + 1 < vh->stacked &&
	       between(t, f, hop, view_hop(vh, i + 1), ns);
}

bool view_end_to_end(struct telemetry *t, const struct view_hops *vh,
		     uint64_t *ns)
{
	const struct fields *first = view_fields(vh, 0);
	const struct fields *last = view_fields(vh, vh->n - 1);
	const uint8_t *from = view_hop(vh, 0), *to = view_hop(vh, vh->n - 1);
	bool in, out;
	uint64_t a, b;

	if (first->ingress_time.width && last->egress_time.width &&
	    first->ingress_time.mask == last->egress_time.mask) {
		a = field_raw(&first->ingress_time, from, &in);
		b = field_raw(&last->egress_time, to, &out);
		return in && out && difference(t, &last->egress_time, b, a, ns);
	}
	return first->seconds.width && first == last && vh->n > 1 &&
	       between(t, first, from, to, ns);
}
