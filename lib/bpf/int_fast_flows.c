/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "bpf/int_fast_private.h"

enum {
	KEYS_MAX = 1 << 20, /* looked at in a walk: flows come and go under it
			     */
};

struct leaving {
	struct int_fast *x;
	uint64_t silent_since_ns;
	void (*flow)(void *ctx, const struct int_fast_flow *f);
	void *ctx;
};

static uint32_t *tag_of(const struct int_fast *x, const struct fast_near *near)
{
	return &x->s->bss->tags[near - x->near];
}

static struct fast_near *find_near(const struct int_fast *x,
				   const struct fast_flow_key *key)
{
	uint64_t hash = fast_hash(key);
	struct fast_near *near = x->near + fast_place(hash);

	for (unsigned i = 0; i < FAST_WAYS; i++, near++)
		if (__atomic_load_n(tag_of(x, near), __ATOMIC_ACQUIRE) ==
			    fast_tag(hash) &&
		    !memcmp(&near->key, key, sizeof(*key)))
			return near;
	return NULL;
}

static void take_near(const struct int_fast *x, struct fast_near *near,
		      struct fast_flow *out)
{
	*out = near->flow;
	memset(near, 0, sizeof(*near));
	__atomic_store_n(tag_of(x, near), 0, __ATOMIC_RELEASE);
}

/* A flow or a chunk goes. */
static bool take_chunk(const struct int_fast *x,
		       const struct fast_flow_key *key, struct fast_flow *out)
{
	struct fast_near *near = find_near(x, key);

	if (near)
		take_near(x, near, out);
	return near ||
	       bpf_map_lookup_and_delete_elem(bpf_map__fd(x->s->maps.int_flows),
					      key, out) == 0;
}

/* If it has been silent; with its path, out of its chunks. */
static void take_flow(const struct leaving *l, const struct fast_flow_key *key,
		      const struct fast_flow *flow)
{
	struct int_fast_flow f = {.key = *key};
	struct fast_flow chunk;

	if (key->chunk || flow->last_ns > l->silent_since_ns ||
	    !take_chunk(l->x, key, &f.flow))
		return;
	chunk = f.flow;
	for (; f.n < f.flow.hops && f.n < FAST_HOPS; f.n++) {
		struct fast_flow_key at = f.key;

		at.chunk = (uint16_t)(f.n / FAST_CHUNK);
		if (at.chunk && f.n % FAST_CHUNK == 0 &&
		    !take_chunk(l->x, &at, &chunk))
			break;
		f.node[f.n] = chunk.hop[f.n % FAST_CHUNK].node;
	}
	l->flow(l->ctx, &f);
}

static void leave_near(const struct leaving *l)
{
	for (unsigned i = 0; i < FAST_NEAR; i++) {
		const struct fast_near *near = &l->x->near[i];
		struct fast_flow_key key;

		if (!__atomic_load_n(tag_of(l->x, near), __ATOMIC_ACQUIRE))
			continue;
		key = near->key;
		if (key.len)
			take_flow(l, &key, &near->flow);
	}
}

static void leave_far(const struct leaving *l)
{
	int fd = bpf_map__fd(l->x->s->maps.int_flows);
	struct fast_flow_key key, next;
	struct fast_flow flow;
	bool more = !bpf_map_get_next_key(fd, NULL, &key);

	for (unsigned i = 0; more && i < KEYS_MAX; i++) {
		more = !bpf_map_get_next_key(fd, &key, &next);
		if (!bpf_map_lookup_elem(fd, &key, &flow))
			take_flow(l, &key, &flow);
		key = next;
	}
}

void int_fast_flows(struct int_fast *x, uint64_t silent_since_ns,
		    void (*flow)(void *ctx, const struct int_fast_flow *f),
		    void *ctx)
{
	const struct leaving l = {x, silent_since_ns, flow, ctx};

	leave_near(&l);
	leave_far(&l);
}
