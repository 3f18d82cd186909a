/* SPDX-License-Identifier: BSD-2-Clause */
#include "telemetry/events.h"

enum {
	SECOND = 1000000000,
};

static const struct threshold *threshold_of(const struct telemetry *t,
					    uint64_t node, unsigned m)
{
	for (unsigned i = t->node_thresholds; i; i--) {
		const struct node_threshold *n = &t->node_threshold[i - 1];

		if (n->node == node && n->metric == m)
			return &n->threshold;
	}
	return &t->all[m];
}

static void set_node(const struct telemetry *t, struct node *n)
{
	for (unsigned m = 0; m < METRIC_OF_HOP; m++)
		n->threshold[m] = *threshold_of(t, n->id, m);
}

void events_node(void *ctx, struct node *n)
{
	struct telemetry *t = ctx;

	set_node(t, n);
	for (unsigned m = 0; m < METRIC_OF_HOP; m++)
		n->dist[m] = t->none;
}

void event_tell(struct telemetry *t, enum telemetry_kind kind,
		struct telling *what)
{
	t->ledger.events++;
	t->second_events++;
	if (t->o.events_max && t->second_events > t->o.events_max)
		t->widen_due = true;
	if (!(t->o.kinds >> kind & 1))
		return;
	what->kind = (uint8_t)kind;
	row_event(&t->rows, what);
}

static uint64_t widened(const struct telemetry *t, const struct threshold *th)
{
	return (uint64_t)th->change * t->widen;
}

unsigned event_judge(struct telemetry *t, struct watch *w, unsigned flags,
		     const struct threshold *th, uint32_t v,
		     struct telling *what)
{
	static const uint8_t kind[] = {EVENT_NEW_KEY, EVENT_CHANGE, EVENT_RISE,
				       EVENT_FALL};
	const uint64_t passed[] = {0, widened(t, th), th->high, th->low};
	unsigned events;

	what->value = v;
	what->has_value = true;
	if (t->o.judge && t->o.judge(t->o.judge_ctx, what))
		return flags;
	what->reference = w->ref;
	what->has_reference = flags & WATCH_KNOWN;
	events = watch_judge(w, &flags, th, t->widen, v);
	for (unsigned i = 0; events >> i; i++) {
		if (!(events >> i & 1))
			continue;
		what->threshold = passed[i];
		what->has_threshold = 1U << i != WATCH_NEW;
		event_tell(t, kind[i], what);
	}
	return flags;
}

void event_told(struct telemetry *t, struct watch *w, unsigned flags,
		const struct threshold *th, uint32_t v)
{
	watch_tell(w, flags, th, t->widen, v);
}

void events_renew(struct telemetry *t, struct flow_entry *f)
{
	struct flow_end *end = flow_ends(&t->flows, f);

	f->generation = t->generation;
	if (f->flags & WATCH_KNOWN)
		event_told(t, &f->watch, f->flags, &t->all[METRIC_FLOW_LATENCY],
			   f->watch.ref);
	for (unsigned m = 0; end && m < METRIC_ENDS; m++)
		if (end[m].flags & WATCH_KNOWN)
			event_told(t, &end[m].watch, end[m].flags, &t->end[m],
				   end[m].watch.ref);
	for (unsigned i = 0; i < f->kept; i++) {
		struct flow_hop *h = flow_hop(&t->flows, f, i);
		const struct node *n = t->objects.place[h->place].node;

		if (h->flags & WATCH_KNOWN)
			event_told(t, &h->watch, h->flags,
				   &n->threshold[METRIC_HOP_LATENCY],
				   h->watch.ref);
	}
}

/* Flows follow when they are met next: their generation is another. */
static void renew_objects(struct telemetry *t)
{
	t->generation++;
	for (uint64_t i = 0; i < t->objects.counters.objects; i++) {
		struct object *o = &t->objects.object[i];

		if (o->flags & WATCH_KNOWN)
			event_told(t, &o->watch, o->flags,
				   &o->node->threshold[o->metric],
				   o->watch.ref);
	}
}

void events_set(struct telemetry *t)
{
	set_node(t, &t->objects.nobody);
	for (uint64_t i = 1; i <= t->objects.counters.nodes; i++)
		set_node(t, &t->objects.node[i]);
	renew_objects(t);
}

static void change_width(struct telemetry *t, enum telemetry_kind kind,
			 uint32_t widen, uint64_t ts_ns)
{
	struct telling what = telling_nothing;

	what.ts_ns = ts_ns;
	what.reference = t->widen;
	what.value = widen;
	what.has_reference = what.has_value = true;
	t->widen = widen;
	renew_objects(t);
	what.kind = (uint8_t)kind;
	if (t->o.kinds >> kind & 1)
		row_event(&t->rows, &what);
}

void events_widen(struct telemetry *t, uint64_t ts_ns)
{
	t->widen_due = false;
	t->second_events = 0;
	t->second_widened = true;
	if (t->widen < t->o.widen_max)
		change_width(t, EVENT_WIDEN, 2 * t->widen, ts_ns);
}

/* A quiet second: half as wide would not have had twice the events that may be;
 * that they grow as thresholds shrink is likely, not sure. */
static void end_second(struct telemetry *t)
{
	if (t->widen > 1 && !t->second_widened &&
	    t->second_events <= t->o.events_max / 2)
		change_width(t, EVENT_NARROW, t->widen / 2, t->second_ns);
	t->second_events = 0;
	t->second_widened = false;
}

void events_second(struct telemetry *t, uint64_t now_ns)
{
	if (!t->second_ns) {
		t->second_ns = now_ns + SECOND;
		return;
	}
	/* Those in which nothing came; more of them change nothing. */
	for (unsigned i = 0; i < 32 && t->second_ns <= now_ns; i++) {
		end_second(t);
		t->second_ns += SECOND;
	}
	if (t->second_ns <= now_ns)
		t->second_ns = now_ns + SECOND;
}
