/* SPDX-License-Identifier: BSD-2-Clause */
/* objects.c - hash tables; nodes, hop keys and ports; snapshots of nodes;
 * distributions. */

#include <math.h>

#include "base/rng.h"
#include "telemetry/private.h"

enum {
	SNAPSHOT_MAX = 255 * 4, /* bytes: the length is 8 bits, in words */
};

struct node_snapshot {
	uint64_t node;
	uint32_t schema;
	uint16_t domain; /* IOAM namespace; the last field of the key */
	uint16_t len;
	uint8_t data[SNAPSHOT_MAX];
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

static void init_hop_key(struct objects *os, struct hop_key *p, struct node *n)
{
	p->node = n;
	for (unsigned i = 0; i < HOP_METRICS - 1; i++)
		p->port[i] = &os->nothing;
}

int objects_init(struct telemetry *t, const struct objects_options *o)
{
	struct objects *os = &t->objects;
	int rc = key_table_init(&os->nodes, o->nodes, sizeof(*os->node),
				sizeof(os->node->id));

	if (!rc)
		rc = key_table_init(&os->hop_keys, o->hop_keys,
				    sizeof(*os->hop_key),
				    sizeof(uint64_t) + sizeof(os->hop_key->id));
	if (!rc)
		rc = key_table_init(&os->ports, o->ports, sizeof(*os->port),
				    offsetof(struct port_state, metric) + 1);
	if (rc < 0)
		return rc;
	os->node = os->nodes.at;
	os->hop_key = os->hop_keys.at;
	os->port = os->ports.at;
	os->node->id = NODE_UNKNOWN;
	node_init(t, os->node);
	/* No hop has this key: node ids are shorter. */
	os->hop_key->node_id = NODE_UNKNOWN - 1;
	init_hop_key(os, os->hop_key, os->node);
	return 0;
}

void objects_fini(struct objects *os)
{
	area_fini(&os->nodes.area);
	area_fini(&os->hop_keys.area);
	area_fini(&os->ports.area);
}

struct node *objects_node(struct telemetry *t, uint64_t id)
{
	bool fresh;
	uint32_t nr = key_table_get(&t->objects.nodes, rng_mix(id), &id,
				    &fresh);

	if (fresh)
		node_init(t, &t->objects.node[nr]);
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
	nr = key_table_get(&t->objects.hop_keys, rng_mix(node ^ hash), &key,
			   &fresh);
	if (fresh)
		init_hop_key(&t->objects, &t->objects.hop_key[nr], n);
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
	struct port_state **at = &p->port[m - 1];
	uint32_t nr;
	bool fresh;

	t->objects.ports.no_room += *at == &t->objects.unplaced;
	if (*at != &t->objects.nothing)
		return *at;
	if (m == METRIC_LINK_UTILIZATION)
		key.id = ID_UNKNOWN;
	if (m == METRIC_BUFFER_OCCUPANCY) {
		key.egress = ID_UNKNOWN;
		key.id = p->id[FIELD_BUFFER];
	}
	nr = key_table_get(&t->objects.ports, port_hash(&key), &key, &fresh);
	return *at = nr ? &t->objects.port[nr] : &t->objects.unplaced;
}

int snapshots_init(struct key_table *t, uint32_t max)
{
	return key_table_init(t, max, sizeof(struct node_snapshot),
			      offsetof(struct node_snapshot, len));
}

bool snapshot_is_new(struct key_table *t, uint64_t node, uint16_t domain,
		     uint32_t schema, const uint8_t *data, size_t len)
{
	struct node_snapshot key = {node, schema, domain};
	uint64_t hash = rng_mix(node ^
				rng_mix((uint64_t)domain << 32 | schema));
	struct node_snapshot *s = t->at;
	bool fresh;

	if (len > SNAPSHOT_MAX)
		return true;
	s += key_table_get(t, hash, &key, &fresh);
	if (s == t->at)
		return true;
	if (!fresh && s->len == len && (!len || !memcmp(s->data, data, len)))
		return false;
	s->len = (uint16_t)len;
	if (len)
		memcpy(s->data, data, len);
	return true;
}

static uint64_t bin_start(uint32_t bin)
{
	uint32_t octave = bin >> DIST_SUB;

	if (!octave)
		return bin;
	return (uint64_t)(bin - ((octave - 1) << DIST_SUB)) << (octave - 1);
}

void dist_bounds(uint32_t bin, uint32_t *from, uint32_t *to)
{
	*from = (uint32_t)bin_start(bin);
	*to = (uint32_t)(bin_start(bin + 1) - 1);
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
