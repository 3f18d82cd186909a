/* SPDX-License-Identifier: BSD-2-Clause */
#include "telemetry/steady.h"

#include "telemetry/value.h"

static inline bool is_at(const struct fields *fs, const uint8_t *hop,
			 const struct place *p)
{
	uint64_t node = fs->node.width ? be32_load(hop + fs->node.word)
				       : NODE_UNKNOWN;
	uint64_t differ = node ^ p->node_id;

	for (unsigned k = 0; k < FIELD_IDS; k++)
		differ |= field_narrow(&fs->id[k], hop) ^ p->id[k];
	return !differ && node != UINT32_MAX;
}

bool steady_is(const struct telemetry *t, struct flow_entry *f,
	       const struct view_hops *vh)
{
	const struct int_hops *stack = &vh->v->stack;
	const struct fields *fs = vh->stack;
	const struct flow_hop *h = flow_hops(f);
	const uint8_t *hop = stack->data + (size_t)stack->n * stack->len;

	if (vh->n != f->hops || vh->own || f->hops > t->flows.o.hops ||
	    f->kept < f->hops || !fs->narrow || !fs->step_node || stack->at)
		return false;
	for (; hop > stack->data; h++) {
		hop -= stack->len;
		if (!is_at(fs, hop, &t->objects.place[h->place]))
			return false;
	}
	return true;
}

/* A metric of a hop but its latency. */
static inline void take_metric(struct telemetry *t, uint64_t ts_ns,
			       struct place *p, struct meter *meter,
			       enum metric m, uint32_t v)
{
	if (t->far)
		value_far_one(t, p, m, v);
	else
		value_take(t, ts_ns, p, m, v);
	meter_add(meter, v);
	dist_add(p->node->dist[m], v);
}

static inline void take_latency(struct telemetry *t, struct flow_entry *f,
				struct flow_hop *h, const struct place *p,
				uint32_t v)
{
	if (watch_out(&h->watch, v))
		value_latency(t, f, h, v);
	meter_add(&h->meter[METRIC_HOP_LATENCY], v);
	dist_add(p->node->dist[METRIC_HOP_LATENCY], v);
}

/* A node does not tell its latency: perhaps its time stamps do. */
static __attribute__((noinline)) void
other_latency(struct telemetry *t, struct flow_entry *f,
	      const struct view_hops *vh, unsigned i, struct latencies *ls)
{
	struct flow_hop *h = &flow_hops(f)[i];
	uint64_t ns;
	uint32_t v;

	if (!view_latency(t, vh, i, &ns))
		return;
	v = value_of(t, ns);
	take_latency(t, f, h, &t->objects.place[h->place], v);
	t->ledger.values++;
	ls->sum += v;
	ls->n++;
}

static inline struct meter *meter_of(struct flow_hop *h, struct flow_wide *wide,
				     unsigned m)
{
	return m < FLOW_METERS ? &h->meter[m] : &wide->meter[m - FLOW_METERS];
}

struct latencies steady_take(struct telemetry *t, struct flow_entry *f,
			     const struct view_hops *vh)
{
	const struct int_hops *stack = &vh->v->stack;
	const struct fields *fs = vh->stack;
	const uint8_t *hop = stack->data + (size_t)stack->n * stack->len;
	uint64_t ts_ns = vh->v->ts_ns, untold = 0;
	struct flow_hop *h = flow_hops(f);
	struct latencies ls = {0};

	for (unsigned i = 0; i < vh->n; i++, h++) {
		struct place *p = &t->objects.place[h->place];
		struct flow_wide *wide = t->flows.o.wide
						 ? flow_wide(&t->flows, f, i)
						 : &t->scratch_wide;

		hop -= stack->len;
		if (fs->derives)
			other_latency(t, f, vh, i, &ls);
		for (unsigned k = 0; k < fs->steps; k++) {
			const struct step *s = &fs->step[k];
			uint32_t w = be32_load(hop + s->word);
			uint32_t v = w >> s->shift & s->mask;

			if (w == UINT32_MAX) {
				untold++;
				if (s->metric == METRIC_HOP_LATENCY)
					other_latency(t, f, vh, i, &ls);
			} else if (s->metric == METRIC_HOP_LATENCY) {
				take_latency(t, f, h, p, v);
				ls.sum += v;
				ls.n++;
			} else {
				take_metric(t, ts_ns, p,
					    meter_of(h, wide, s->metric),
					    s->metric, v);
			}
		}
	}
	t->ledger.unavailable += untold;
	t->ledger.values += (uint64_t)vh->n * fs->steps - untold;
	return ls;
}
