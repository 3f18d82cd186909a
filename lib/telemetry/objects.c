/* SPDX-License-Identifier: BSD-2-Clause */
#include "telemetry/objects.h"

#include <errno.h>
#include <string.h>

#include "base/rng.h"

enum {
	NUMBER_MAX = (1 << 24) - 1, /* of a place: struct flow_hop */
};

/* Cuts n things of a size from the area; base NULL: adds up only. */
static void *cut(uint8_t *base, size_t *at, size_t n, size_t size)
{
	void *p = base ? base + *at : NULL;

	*at += (n * size + 63) & ~(size_t)63;
	return p;
}

static size_t arrange(struct objects *os, uint8_t *base)
{
	const struct objects_options *o = &os->o;
	size_t at = 0;

	os->place = cut(base, &at, o->places + 1ULL, sizeof(*os->place));
	os->object = cut(base, &at, o->objects, sizeof(*os->object));
	os->node = cut(base, &at, o->nodes + 1ULL, sizeof(*os->node));
	os->node_slot = cut(base, &at, os->node_mask + 1ULL, 4);
	os->place_slot = cut(base, &at, os->place_mask + 1ULL, 4);
	os->object_slot = cut(base, &at, os->object_mask + 1ULL, 4);
	return at;
}

/* Nothing is known there yet. */
static void begin_place(struct objects *os, struct hop_key *p, uint64_t node,
			struct node *n)
{
	*p = (struct hop_key){.node_id = node, .node = n};
	for (unsigned i = 0; i < METRIC_OF_HOP - 1; i++)
		p->object[i] = &os->nothing;
}

int objects_init(struct objects *os, const struct objects_options *o)
{
	int rc;

	if (!o->nodes || !o->places || !o->objects || o->nodes > NUMBER_MAX ||
	    o->places > NUMBER_MAX || o->objects > NUMBER_MAX)
		return -EINVAL;
	*os = (struct objects){
		.o = *o,
		.node_mask = (uint32_t)objects_slots(o->nodes) - 1,
		.place_mask = (uint32_t)objects_slots(o->places) - 1,
		.object_mask = (uint32_t)objects_slots(o->objects) - 1};
	rc = area_init(&os->area, arrange(os, NULL));
	if (rc < 0)
		return rc;
	arrange(os, os->area.base);
	/* No hop is there: no id is that of a node and of none. */
	begin_place(os, &os->place[0], NODE_UNKNOWN - 1, &os->nobody);
	return 0;
}

/* Where a node's number is, or goes to. */
static uint32_t *node_slot(const struct objects *os, uint64_t id)
{
	uint64_t i = rng_mix(id);
	uint32_t *slot;

	for (;; i++) {
		slot = &os->node_slot[i & os->node_mask];
		if (!*slot || os->node[*slot].id == id)
			return slot;
	}
}

struct node *objects_node(struct objects *os, uint64_t id, node_begin *begin,
			  void *ctx)
{
	uint32_t *slot = node_slot(os, id);
	struct node *n;

	if (*slot)
		return &os->node[*slot];
	if (os->counters.nodes == os->o.nodes) {
		os->counters.no_node++;
		return NULL;
	}
	*slot = (uint32_t)++os->counters.nodes;
	n = &os->node[*slot];
	n->id = id;
	begin(ctx, n);
	return n;
}

/* Where a place's number is, or goes to. */
static uint32_t *place_slot(const struct objects *os, uint64_t node,
			    const uint32_t id[FIELD_IDS])
{
	uint64_t i = rng_mix(node ^ rng_mix((uint64_t)id[0] << 32 ^
					    (uint64_t)id[1] << 16 ^ id[2]));

	for (;; i++) {
		uint32_t *slot = &os->place_slot[i & os->place_mask];
		const struct hop_key *p = &os->place[*slot];

		if (!*slot ||
		    (p->node_id == node && !memcmp(p->id, id, sizeof(p->id))))
			return slot;
	}
}

uint32_t objects_hop_key(struct objects *os, uint64_t node,
			 const uint32_t id[FIELD_IDS], node_begin *begin,
			 void *ctx)
{
	uint32_t *slot = place_slot(os, node, id), number = *slot;
	struct node *n;

	if (number)
		return number;
	if (os->counters.places == os->o.places) {
		os->counters.no_place++;
		return 0;
	}
	if (!(n = objects_node(os, node, begin, ctx)))
		return 0;
	*slot = number = (uint32_t)++os->counters.places;
	begin_place(os, &os->place[number], node, n);
	memcpy(os->place[number].id, id, sizeof(os->place[number].id));
	return number;
}

/* Of what a metric is: which ids are part of its key. */
static void key_of(const struct hop_key *p, enum metric m, uint32_t *egress,
		   uint32_t *id)
{
	bool buffer = m == METRIC_BUFFER_OCCUPANCY;

	*egress = buffer ? METRIC_NONE : p->id[FIELD_EGRESS];
	*id = buffer			     ? p->id[FIELD_BUFFER]
	      : m == METRIC_LINK_UTILIZATION ? METRIC_NONE
					     : p->id[FIELD_QUEUE];
}

static uint64_t hash_of(uint64_t node, unsigned m, uint32_t egress, uint32_t id)
{
	return rng_mix((node << 3 | m) ^ rng_mix((uint64_t)egress << 32 ^ id));
}

uint32_t objects_port_slot(const struct objects *os, const struct port_state *o)
{
	return (uint32_t)hash_of(o->node->id, o->metric, o->egress, o->id) &
	       os->object_mask;
}

/* Where its number is, or is to go: then it is 0. */
static uint32_t *object_slot(struct objects *os, const struct hop_key *p,
			     enum metric m, uint32_t egress, uint32_t id)
{
	uint64_t i = hash_of(p->node_id, m, egress, id);

	for (;; i++) {
		uint32_t *slot = &os->object_slot[i & os->object_mask];
		const struct port_state *o = &os->object[*slot - 1];

		if (!*slot || (o->node == p->node && o->metric == m &&
			       o->egress == egress && o->id == id))
			return slot;
	}
}

struct port_state *objects_port(struct objects *os, struct hop_key *p,
				enum metric m)
{
	struct port_state *o, **at = &p->object[m - 1];
	uint32_t egress, id, *slot;

	os->counters.no_object += *at == &os->unplaced;
	if (*at != &os->nothing)
		return *at;
	key_of(p, m, &egress, &id);
	slot = object_slot(os, p, m, egress, id);
	if (*slot)
		return *at = &os->object[*slot - 1];
	if (os->counters.objects == os->o.objects) {
		os->counters.no_object++;
		return *at = &os->unplaced;
	}
	o = &os->object[os->counters.objects++];
	*slot = (uint32_t)os->counters.objects;
	*o = (struct port_state){
		.metric = (uint8_t)m, .egress = egress, .id = id};
	o->node = p->node;
	return *at = o;
}
