/* SPDX-License-Identifier: BSD-2-Clause */
/* shard_private.h - what of shards the sink's other files need. */
#ifndef TELEMETRY_SHARD_PRIVATE_H
#define TELEMETRY_SHARD_PRIVATE_H

#include "telemetry/private.h"
#include "telemetry/shard.h"

/*
 * What views tell, view by view: words behind the first one of each view, which
 * says how many they are; of each hop its place and, from bit SHARD_METRICS on,
 * which metrics it tells, then their values. Up to 8 words behind them may be
 * written.
 */
enum {
	SHARD_METRICS = 24,
};

/* What of the whole is full, and stays so: tables that have not changed since
 * can be read by all shards. */
enum {
	SHARD_FULL_PLACES = 1 << 0,
	SHARD_FULL_NODES = 1 << 1,
	SHARD_FULL_PATHS = 1 << 2,
};

struct telemetry_shard {
	struct telemetry *whole;
	struct telemetry_shard_options o;
	struct object any;  /* every value is in its range: judged elsewhere */
	struct dist *never; /* where there is no room for a distribution */
	uint32_t *told, *of_hop; /* telling, and the hop in hand */
	/* The place, distribution or path of all shards; it is the shard's,
	 * too. What is asked of the whole is done by those who ask. */
	uint32_t (*place)(struct telemetry *t, uint64_t node,
			  const uint32_t id[FIELD_IDS]);
	struct dist *(*dist)(struct telemetry *t, uint64_t node, enum metric m);
	uint32_t (*path)(struct telemetry *t, struct nodes now);
};

static inline void told_hop(struct telemetry *t, uint32_t place)
{
	struct telemetry_shard *s = t->shard;

	if (!s)
		return;
	s->of_hop = s->told;
	*s->told++ = place;
}

static inline void told_value(struct telemetry *t, enum metric m, uint32_t v)
{
	struct telemetry_shard *s = t->shard;

	if (!s)
		return;
	*s->of_hop |= 1U << m << SHARD_METRICS;
	*s->told++ = v;
}

/* A value outside of the range of `any`, or the first at a place. */
static inline struct object *shard_object(struct telemetry *t, struct place *p,
					  enum metric m)
{
	return p->object[m] = &t->shard->any;
}

#endif
