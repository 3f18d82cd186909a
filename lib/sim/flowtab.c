/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flowtab.c - chained hashing over an array of entries, with a list from the
 * most to the least recently used.
 */
#include "sim/traffic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hash/bytes.h"

_Static_assert(sizeof(struct flow) % 8 == 0, "data would not be aligned");

struct flowtab {
	struct flowtab_options o;
	/* Flows 1 .. max, each of stride bytes. Flow 0 is no flow but closes
	 * the list to a ring: its older is the newest flow, its newer the
	 * oldest. */
	uint8_t *flow;
	size_t stride;
	uint32_t *bucket;    /* index of the first flow of a hash, or 0 */
	uint64_t used, mask; /* flows; of a hash, to find its bucket */
};

static struct flow *flow_at(const struct flowtab *t, uint32_t i)
{
	return (struct flow *)(t->flow + i * t->stride);
}

int flowtab_open(struct flowtab **out, const struct flowtab_options *o)
{
	struct flowtab *t;
	uint64_t buckets = 1;

	if (!o->max || o->max > FLOWTAB_MAX)
		return -EINVAL;
	while (buckets < o->max)
		buckets <<= 1;
	if (!(t = calloc(1, sizeof(*t))))
		return -ENOMEM;
	t->o = *o;
	t->mask = buckets - 1;
	t->stride = sizeof(struct flow) + (o->data_len + 7) / 8 * 8;
	t->flow = calloc(o->max + 1, t->stride);
	t->bucket = calloc(buckets, sizeof(*t->bucket));
	if (!t->flow || !t->bucket) {
		flowtab_close(t);
		return -ENOMEM;
	}
	*out = t;
	return 0;
}

void flowtab_close(struct flowtab *t)
{
	if (!t)
		return;
	free(t->flow);
	free(t->bucket);
	free(t);
}

/* Takes a flow out of the list by use. */
static void unlink_use(struct flowtab *t, const struct flow *f)
{
	flow_at(t, f->newer)->older = f->older;
	flow_at(t, f->older)->newer = f->newer;
}

static void link_newest(struct flowtab *t, uint32_t i)
{
	struct flow *f = flow_at(t, i), *ring = flow_at(t, 0);

	f->newer = 0;
	f->older = ring->older;
	flow_at(t, f->older)->newer = i;
	ring->older = i;
}

/* Frees the entry of the least recently used flow; returns its index. */
static uint32_t evict(struct flowtab *t)
{
	uint32_t i = flow_at(t, 0)->newer, *at;
	struct flow *f = flow_at(t, i);

	if (t->o.on_evict)
		t->o.on_evict(t->o.ctx, f);
	unlink_use(t, f);
	at = &t->bucket[f->hash & t->mask];
	while (*at != i)
		at = &flow_at(t, *at)->next_in_bucket;
	*at = f->next_in_bucket;
	return i;
}

static uint32_t insert(struct flowtab *t, const uint8_t *key, size_t len,
		       uint32_t hash)
{
	struct flow *f;
	uint32_t i;

	if (t->used < t->o.max) {
		i = (uint32_t)++t->used;
	} else {
		i = evict(t);
		if (t->o.evicted)
			++*t->o.evicted;
	}
	f = flow_at(t, i);
	*f = (struct flow){.hash = hash,
			   .key_len = (uint8_t)len,
			   .next_in_bucket = t->bucket[hash & t->mask]};
	memcpy(f->key, key, len);
	memset(flow_data(f), 0, t->o.data_len);
	t->bucket[hash & t->mask] = i;
	link_newest(t, i);
	return i;
}

struct flow *flowtab_get(struct flowtab *t, const uint8_t *key, size_t len,
			 bool *fresh)
{
	uint32_t hash = (uint32_t)hash_bytes(t->o.seed, key, len);
	uint32_t i = t->bucket[hash & t->mask];
	struct flow *f;

	for (; i; i = f->next_in_bucket) {
		f = flow_at(t, i);
		if (f->hash == hash && f->key_len == len &&
		    !memcmp(f->key, key, len))
			break;
	}
	*fresh = !i;
	if (!i)
		return flow_at(t, insert(t, key, len, hash));
	if (flow_at(t, 0)->older != i) {
		unlink_use(t, flow_at(t, i));
		link_newest(t, i);
	}
	return flow_at(t, i);
}

void flowtab_drain(struct flowtab *t)
{
	while (flow_at(t, 0)->newer)
		evict(t);
	t->used = 0;
}
