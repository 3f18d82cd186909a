/* SPDX-License-Identifier: BSD-2-Clause */
/* shard_private.h - what of shards the sink's other files need. */
#ifndef TELEMETRY_SHARD_PRIVATE_H
#define TELEMETRY_SHARD_PRIVATE_H

#include "telemetry/private.h"

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
	struct copies copies;	 /* of the whole one's objects */
	struct dist *never;	 /* where there is no room for a distribution */
	uint32_t *told, *of_hop; /* telling, and the hop in hand */
	const struct telemetry_turn *turn;
	struct sweep sweep;	/* the whole one's, as looks go on */
	uint64_t due_from, due; /* objects that may be pushed in the round */
	/* The place, distribution or path of all shards; it is the shard's,
	 * too. What is asked of the whole is done by those who ask. */
	uint32_t (*place)(struct telemetry *t, uint64_t node,
			  const uint32_t id[FIELD_IDS]);
	struct dist *(*dist)(struct telemetry *t, uint64_t node, enum metric m);
	uint32_t (*path)(struct telemetry *t, struct nodes now);
};

/* Of the whole: shards are to see its watch. */
static inline void object_changed(struct telemetry *t, const struct object *o)
{
	int rc = 0;

	if (t->shards)
		rc = numbers_add(&t->changed,
				 (uint32_t)(o - t->objects.object));
	if (rc && !t->rows.err)
		t->rows.err = rc;
}

static inline void told_hop(struct telemetry *t, uint32_t place)
{
	struct telemetry_shard *s = t->shard;

	if (!s)
		return;
	s->of_hop = s->told;
	*s->told++ = place;
}

/* Of a hop, in the order of metrics, each once at most: a value's metric is
 * known by its turn (copies_sift()). */
static inline void told_value(struct telemetry *t, struct object *o,
			      enum metric m, uint32_t v)
{
	struct telemetry_shard *s = t->shard;

	if (!s)
		return;
	*s->of_hop |= 1U << m << COPIES_METRICS;
	*s->told++ = v;
	copies_told(&s->copies, o);
}

#endif
