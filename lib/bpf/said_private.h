/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * said_private.h - for int_fast.bpf.c: what user space has read in frames that
 * went up whole is judged here, too: a key has one reference, whoever tells it.
 */
#ifndef BPF_SAID_PRIVATE_H
#define BPF_SAID_PRIVATE_H

#include "bpf/walk_private.h"

static struct work said_work; /* one process says */

static long said_differs(__u32 i, struct walk *k)
{
	turn_chunk(k, i);
	k->changed = !k->flow || hop_of(k, i)->node != node_of(k, i);
	return k->changed;
}

static __always_inline struct fast_flow *said_flow(struct walk *k)
{
	__u64 ns = bpf_ktime_get_ns();
	struct fast_flow *flow;

	flow = flow_find(&k->w->place.flow);
	if (!flow)
		flow = new_flow(k, ns);
	if (flow)
		flow->last_ns = ns;
	return flow;
}

static __noinline int take_said_path(struct work *w)
{
	struct walk k = {.w = w,
			 .plan = &w->plan, /* of no matter */
			 .hops = said.hops,
			 .said = true};
	struct fast_flow *flow = said_flow(&k);

	if (!flow || k.hops > FAST_HOPS)
		return 0;
	k.flow = flow;
	k.changed = flow->hops != k.hops;
	if (!k.changed)
		bpf_loop(k.hops, said_differs, &k, 0);
	if (k.changed || (flow->era ^ rules.era) & FAST_EPOCHS)
		take_path(&k, flow);
	return 0;
}

static long find_node(__u32 i, struct walk *k)
{
	turn_chunk(k, i);
	k->found = k->flow && hop_of(k, i)->node == k->wanted ? i : ~0u;
	return !k->flow || k->found == i;
}

/* A node's latency for a flow: with its path, or apart. */
static __noinline int take_said_latency(struct work *w, __u32 v)
{
	struct fast_parked_key key = {.flow = w->place.flow,
				      .node = w->number.node};
	static const struct fast_seen fresh;
	struct walk k = {.w = w, .wanted = key.node, .found = ~0u};
	struct fast_flow *flow;
	struct fast_seen *s;

	flow = k.flow = flow_find(&key.flow);
	if (flow && flow->hops <= FAST_HOPS)
		bpf_loop(flow->hops, find_node, &k, 0);
	if (k.found != ~0u && k.flow) {
		s = &hop_of(&k, k.found)->latency;
	} else {
		bpf_map_update_elem(&int_parked, &key, &fresh, BPF_NOEXIST);
		s = bpf_map_lookup_elem(&int_parked, &key);
	}
	if (s && is_out(s, v))
		judge(w, s, v, true);
	return 0;
}

static __noinline int take_said_object(struct work *w, __u32 v)
{
	struct fast_number *n = &w->number;
	struct fast_object_key key = {n->node, n->metric, n->egress, n->id};
	struct fast_counters *c = counters();
	__u32 last = 0;
	struct fast_object *o = object_of(&key, &last);

	if (!o && c)
		c->unplaced++;
	if (o && is_out(&o->seen, v))
		judge(w, &o->seen, v, false);
	return 0;
}

static __noinline int take_said_flow(struct work *w, __u32 v)
{
	struct walk k = {.w = w, .said = true};
	struct fast_flow *flow = said_flow(&k);

	if (flow && is_out(&flow->latency, v))
		judge(w, &flow->latency, v, true);
	return 0;
}

static long take_saying(__u32 i, void *ctx)
{
	const struct fast_saying *say = &said.value[i & (FAST_SAYINGS - 1)];
	struct work *w = &said_work;
	struct fast_number *n = &w->number;

	(void)ctx;
	n->metric = say->metric;
	n->node = say->node;
	n->egress = say->egress;
	n->id = say->id;
	if (say->metric == FAST_HOP_LATENCY)
		take_said_latency(w, say->value);
	else if (say->metric == FAST_FLOW_LATENCY)
		take_said_flow(w, say->value);
	else
		take_said_object(w, say->value);
	return 0;
}

#endif
