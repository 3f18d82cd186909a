/* SPDX-License-Identifier: BSD-2-Clause */
/* objects.c - hash tables; nodes, places and ports; snapshots of nodes;
 * distributions. */
#include "telemetry/objects.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "telemetry/private.h"

enum {
	STATE_MAX = 255 * 4, /* bytes: the length is one of words */
};

struct state {
	uint64_t node;
	uint32_t schema;
	uint16_t domain; /* the last of its key */
	uint16_t len;
	uint8_t data[STATE_MAX];
};

int key_table_init(struct key_table *t, uint32_t max, size_t size,
		   size_t key_len)
{
	size_t records = ((max + 1ULL) * size + 63) & ~(size_t)63, slots = 2;
	int rc;

	while (slots < 2ULL * max)
		slots *= 2;
	*t = (struct key_table){.mask = (uint32_t)(slots - 1),
				.size = (uint32_t)size,
				.key_len = (uint32_t)key_len,
				.max = max};
	rc = area_init(&t->area, records + slots * sizeof(*t->slot));
	if (!rc) {
		t->at = t->area.base;
		t->slot = (uint32_t *)(t->area.base + records);
	}
	return rc;
}

uint32_t key_table_get(struct key_table *t, uint64_t hash, const void *key,
		       bool *fresh)
{
	uint32_t *slot;

	for (*fresh = false;; hash++) {
		slot = &t->slot[hash & t->mask];
		if (!*slot)
			break;
		if (!memcmp(t->area.base + (size_t)*slot * t->size, key,
			    t->key_len))
			return *slot;
	}
	if (t->used == t->max) {
		t->no_room++;
		return 0;
	}
	*slot = ++t->used;
	memcpy(t->area.base + (size_t)*slot * t->size, key, t->key_len);
	*fresh = true;
	return *slot;
}

/* Nothing is known there yet. */
static void begin_place(struct objects *os, struct hop_key *p, struct node *n)
{
	p->node = n;
	for (unsigned i = 0; i < METRIC_OF_HOP - 1; i++)
		p->object[i] = &os->nothing;
}

int objects_init(struct telemetry *t, const struct objects_options *o)
{
	struct objects *os = &t->objects;
	int rc = key_table_init(&os->nodes, o->nodes, sizeof(*os->node),
				sizeof(os->node->id));

	if (!rc)
		rc = key_table_init(&os->places, o->places, sizeof(*os->place),
				    sizeof(uint64_t) + sizeof(os->place->id));
	if (!rc)
		rc = key_table_init(&os->ports, o->objects, sizeof(*os->port),
				    offsetof(struct port_state, metric) + 1);
	if (rc < 0)
		return rc;
	os->node = os->nodes.at;
	os->place = os->places.at;
	os->port = os->ports.at;
	os->node->id = NODE_UNKNOWN;
	events_node(t, os->node);
	/* No hop is there: no id is that of a node and of none. */
	os->place->node_id = NODE_UNKNOWN - 1;
	begin_place(os, os->place, os->node);
	return 0;
}

void objects_fini(struct objects *os)
{
	area_fini(&os->nodes.area);
	area_fini(&os->places.area);
	area_fini(&os->ports.area);
}

struct node *objects_node(struct telemetry *t, uint64_t id)
{
	bool fresh;
	uint32_t nr = key_table_get(&t->objects.nodes, rng_mix(id), &id,
				    &fresh);

	if (fresh)
		events_node(t, &t->objects.node[nr]);
	return nr ? &t->objects.node[nr] : NULL;
}

uint32_t telemetry_hop_key(struct telemetry *t, uint64_t node,
			   const uint32_t id[FIELD_IDS])
{
	uint64_t hash = rng_mix((uint64_t)id[0] << 32 ^ (uint64_t)id[1] << 16 ^
				id[2]);
	struct hop_key key = {.node_id = node};
	struct node *n = objects_node(t, node);
	uint32_t nr;
	bool fresh;

	if (!n)
		return 0;
	memcpy(key.id, id, sizeof(key.id));
	nr = key_table_get(&t->objects.places, rng_mix(node ^ hash), &key,
			   &fresh);
	if (fresh)
		begin_place(&t->objects, &t->objects.place[nr], n);
	return nr;
}

static uint64_t port_hash(const struct port_state *o)
{
	return rng_mix((o->node->id << 3 | o->metric) ^
		       rng_mix((uint64_t)o->egress << 32 ^ o->id));
}

uint32_t objects_port_slot(const struct objects *os, const struct port_state *o)
{
	return (uint32_t)port_hash(o) & os->ports.mask;
}

struct port_state *objects_port(struct telemetry *t, struct hop_key *p,
				enum metric m)
{
	struct port_state key = {.node = p->node,
				 .egress = p->id[FIELD_EGRESS],
				 .id = p->id[FIELD_QUEUE],
				 .metric = (uint8_t)m};
	struct port_state **at = &p->object[m - 1];
	uint32_t nr;
	bool fresh;

	t->objects.ports.no_room += *at == &t->objects.unplaced;
	if (*at != &t->objects.nothing)
		return *at;
	if (m == METRIC_LINK_UTILIZATION)
		key.id = METRIC_NONE;
	if (m == METRIC_BUFFER_OCCUPANCY) {
		key.egress = METRIC_NONE;
		key.id = p->id[FIELD_BUFFER];
	}
	nr = key_table_get(&t->objects.ports, port_hash(&key), &key, &fresh);
	return *at = nr ? &t->objects.port[nr] : &t->objects.unplaced;
}

int states_init(struct key_table *states, uint32_t max)
{
	return key_table_init(states, max, sizeof(struct state),
			      offsetof(struct state, len));
}

bool states_differ(struct key_table *states, uint64_t node, uint16_t domain,
		   uint32_t schema, const uint8_t *data, size_t len)
{
	struct state key = {.node = node, .schema = schema, .domain = domain};
	uint64_t hash = rng_mix(node ^
				rng_mix((uint64_t)domain << 32 | schema));
	struct state *s = states->at;
	bool fresh;

	if (len > STATE_MAX)
		return true;
	s += key_table_get(states, hash, &key, &fresh);
	if (s == states->at)
		return true;
	if (!fresh && s->len == len && (!len || !memcmp(s->data, data, len)))
		return false;
	s->len = (uint16_t)len;
	if (len)
		memcpy(s->data, data, len);
	return true;
}

static uint64_t first_of(uint32_t bin)
{
	uint32_t octave = bin >> DIST_SUB;

	if (!octave)
		return bin;
	return (uint64_t)(bin - ((octave - 1) << DIST_SUB)) << (octave - 1);
}

void dist_bounds(uint32_t bin, uint32_t *from, uint32_t *to)
{
	*from = (uint32_t)first_of(bin);
	*to = (uint32_t)(first_of(bin + 1) - 1);
}

uint64_t dist_samples(const struct dist *d)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < DIST_BINS; i++)
		n += d->count[i];
	return n;
}

void dist_move(struct dist *to, struct dist *from)
{
	for (uint32_t i = 0; i < DIST_BINS; i++) {
		to->count[i] += from->count[i];
		from->count[i] = 0;
	}
}

bool dist_quantile(const struct dist *d, double q, uint32_t *from, uint32_t *to)
{
	uint64_t n = dist_samples(d), rank = (uint64_t)ceil(q * (double)n);
	uint32_t bin = 0;

	if (!n)
		return false;
	rank = rank < 1 ? 1 : rank > n ? n : rank;
	for (n = d->count[0]; n < rank; n += d->count[bin])
		bin++;
	dist_bounds(bin, from, to);
	return true;
}

struct dist *dists_new(struct dists *ds)
{
	struct dist *d = (struct dist *)(ds->area.base + ds->used);

	if (sizeof(*d) > ds->area.size - ds->used)
		return NULL;
	ds->used += sizeof(*d);
	return d;
}
