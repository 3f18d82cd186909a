/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * walk_private.h - for int_fast.bpf.c: along the hops of a packet and of its
 * flow, and the flow's path, which is a key as others are. Hops are walked by
 * bpf_loop() (Linux 5.17), so that the verifier looks at one.
 */
#ifndef BPF_WALK_PRIVATE_H
#define BPF_WALK_PRIVATE_H

#include "bpf/judge_private.h"

struct fast_said said;

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__type(key, struct fast_parked_key);
	__type(value, struct fast_seen);
	__uint(max_entries, 16384);
} int_parked SEC(".maps");

/* The walk along a stack; hops are numbered from the source. */
struct walk {
	struct work *w;
	const struct fast_plan *plan;
	struct fast_flow *flow; /* the chunk in which the hop is, or NULL */
	__u32 hops, hop_len, stack;
	__u32 told; /* latencies, and their sum */
	__u64 sum;
	bool odd; /* it cannot be compared here */
	bool changed;
	bool said;    /* by user space: there is no packet */
	__u32 wanted; /* a node; the number of the hop that is its */
	__u32 found;
};

static __always_inline __u32 hop_at(const struct walk *k, __u32 i)
{
	return k->stack + (k->hops - 1 - i) * k->hop_len;
}

static __always_inline __u32 word_of(const struct walk *k, __u32 at)
{
	const struct frame f = {.copy = &k->w->whole};

	return load32(&f, at);
}

/* The flow's chunk in which hop i is, if a new one begins there. */
static __always_inline void turn_chunk(struct walk *k, __u32 i)
{
	struct fast_flow_key *key = &k->w->place.flow;

	if (!i || i % FAST_CHUNK)
		return;
	key->chunk = i / FAST_CHUNK;
	k->flow = flow_find(key);
	key->chunk = 0;
}

static __always_inline struct fast_hop *hop_of(const struct walk *k, __u32 i)
{
	return &k->flow->hop[i & (FAST_CHUNK - 1)];
}

/* Of the packet's path. */
static __always_inline __u32 node_of(const struct walk *k, __u32 i)
{
	if (k->said)
		return said.node[i & (FAST_SAID_HOPS - 1)];
	return word_of(k, hop_at(k, i) + k->plan->node);
}

/* The nodes of the old path, where they are not the new one's. */
static long old_hop(__u32 i, struct walk *k)
{
	struct fast_path *p = &k->w->path;

	turn_chunk(k, i);
	if (!k->flow)
		return 1;
	p->node[(p->n + i) & (FAST_NODES - 1)] = hop_of(k, i)->node;
	p->old = i + 1;
	return 0;
}

static long new_hop(__u32 i, struct walk *k)
{
	k->w->path.node[i & (FAST_NODES - 1)] = node_of(k, i);
	return 0;
}

/* A hop that was: what is known of its node's latency stays the flow's. */
static long park_hop(__u32 i, struct walk *k)
{
	struct fast_parked_key key = {.flow = k->w->place.flow};
	struct fast_hop *h;

	turn_chunk(k, i);
	if (!k->flow)
		return 1;
	h = hop_of(k, i);
	key.node = h->node;
	if (h->latency.flags)
		bpf_map_update_elem(&int_parked, &key, &h->latency, BPF_ANY);
	return 0;
}

static __always_inline void make_chunk(struct walk *k, __u32 i)
{
	struct fast_flow_key *key = &k->w->place.flow;

	key->chunk = i / FAST_CHUNK;
	k->flow = flow_make(key);
	key->chunk = 0;
}

static long put_hop(__u32 i, struct walk *k)
{
	struct fast_parked_key key = {.flow = k->w->place.flow};
	struct fast_seen *was;
	struct fast_hop *h;

	turn_chunk(k, i);
	if (!k->flow)
		make_chunk(k, i);
	if (!k->flow)
		return 1;
	h = hop_of(k, i);
	h->node = node_of(k, i);
	key.node = h->node;
	was = bpf_map_lookup_elem(&int_parked, &key);
	__builtin_memset(h->object, 0, sizeof(h->object));
	if (was)
		h->latency = *was;
	else
		h->latency = (struct fast_seen){0};
	/* A node that is there twice knows it once. */
	bpf_map_delete_elem(&int_parked, &key);
	return 0;
}

/* The path is told; it is the flow's then. */
static __noinline int take_path(struct walk *k, struct fast_flow *flow)
{
	struct fast_path *p = &k->w->path;
	__u32 hops = flow->hops, kinds = FAST_VALUE;
	__u64 len;

	k->flow = flow;
	p->n = k->hops;
	p->old = 0;
	bpf_loop(k->hops, new_hop, k, 0);
	if (k->changed) {
		kinds = hops ? FAST_CHANGE : FAST_NEW;
		bpf_loop(hops, old_hop, k, 0);
	}
	p->record = (struct fast_record){FAST_PATH, kinds, bpf_ktime_get_ns()};
	p->flow = k->w->place.flow;
	len = offsetof(struct fast_path, node) + (p->n + p->old) * 4;
	if (len > sizeof(*p) || !send(p, len)) {
		k->w->untold = true;
		return 0;
	}
	flow->era = rules.era;
	if (!k->changed)
		return 1;
	k->flow = flow;
	bpf_loop(hops, park_hop, k, 0);
	k->flow = flow;
	bpf_loop(k->hops, put_hop, k, 0);
	flow->hops = k->hops;
	return 1;
}

static __always_inline struct fast_flow *new_flow(struct walk *k, __u64 ns)
{
	make_chunk(k, 0);
	if (k->flow)
		k->flow->first_ns = ns;
	return k->flow;
}

#endif
