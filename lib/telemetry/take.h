/* SPDX-License-Identifier: BSD-2-Clause */
/* take.h - one view after the other; private to the sink. */
#ifndef TELEMETRY_TAKE_H
#define TELEMETRY_TAKE_H

#include "telemetry/value.h"

enum {
	/* Not of the whole path. */
	TAKE_PARTIAL = INT_DROPPED | INT_INTERMEDIATE | INT_MTU_EXCEEDED |
		       INT_HOPS_EXCEEDED,
};

/* Means forget by half each so many packets: counts stay below 2^32. */
#define HALVE_PACKETS (1U << 31)

static inline struct reporter *take_reporter(struct telemetry *t,
					     const struct int_from *from)
{
	return losses_of(&t->losses, from->has_node, from->node, from->hw_id,
			 from->sequence_bits);
}

enum {
	AHEAD = 4, /* views between asking for a flow's memory and its use */
	LINE = 64,
};

static inline void want_lines(const void *p, size_t len)
{
	for (size_t i = 0; i < len; i += LINE)
		__builtin_prefetch((const char *)p + i, 1);
}

/* The memory of a flow, for a view of so many hops that comes soon. */
static inline void take_want(const struct telemetry *t, uint64_t hash,
			     unsigned hops)
{
	struct flow_entry *f = flows_guess(&t->flows, hash);

	if (!f)
		return;
	if (hops > t->flows.o.hops)
		hops = t->flows.o.hops;
	want_lines(f, sizeof(*f) + hops * sizeof(struct flow_hop));
	if (hops && t->flows.o.wide && t->plans.latest &&
	    t->plans.latest->picks.present >> FLOW_METERS)
		want_lines(flow_wide(&t->flows, f, 0),
			   hops * sizeof(struct flow_wide));
}

/* hash: of its key, if it has one. */
void take_view(struct telemetry *t, const struct int_view *v, uint64_t hash);

/* The same, at its time. */
void take_next_view(struct telemetry *t, const struct int_view *v,
		    uint64_t hash);

/* Some of them, with their hashes; and their numbers (struct telemetry), or
 * NULL. */
void take_views(struct telemetry *t, const struct int_view *v, size_t n,
		const uint64_t *hash, const uint32_t *number);

/* What hops of another sink told of a queue, a link or a buffer at a place. */
static inline void take_far(struct telemetry *t, const struct far_hop *h,
			    struct place *p, uint64_t ts_ns)
{
	unsigned m = h->what >> 4 & 15;

	if (h->what & 1)
		value_take(t, ts_ns, p, (enum metric)m, h->value[0]);
	if (h->what & 2)
		value_take(t, ts_ns, p, (enum metric)(m + 1), h->value[1]);
}

/* An opaque snapshot, of hop i. */
void take_snapshot(struct telemetry *t, const struct int_view *v, unsigned i);

/* Distributions of one are added to the other's. */
void take_distributions(struct telemetry *to, const struct telemetry *from);

/* telemetry_numbers(); and what a reporter's numbers have shown. */
void take_numbers(struct telemetry *t, uint64_t ts_ns,
		  const struct int_from *from, uint32_t n, bool anew);
void take_news(struct telemetry *t, const struct reporter *r,
	       const struct loss_news *news, uint64_t ts_ns);

#endif
