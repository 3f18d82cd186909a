/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * steady_private.h - for int_fast.bpf.c: most packets, which tell nothing new.
 * A known flow along its path, values within what was told, in an era of which
 * its keys have been told: that is looked at where the frame is, and nothing is
 * written but what the flow counts. What is otherwise is taken by
 * int_fast.bpf.c from the start.
 */
#ifndef BPF_STEADY_PRIVATE_H
#define BPF_STEADY_PRIVATE_H

#include "bpf/judge_private.h"

struct steady {
	struct work *w;
	const __u8 *data, *end;
	struct fast_flow *flow; /* the chunk */
	__u32 from, hops;	/* of the chunk's hops, and of all */
	__u32 at;		/* the hop before the chunk's first */
	__u64 sum;
	bool is;
};

/* A field, scaled; false: it was not told, or is above 32 bits. */
static __always_inline bool steady_field(const struct steady *k, __u32 at,
					 const struct fast_field *f, __u32 *v)
{
	const __u8 *p = k->data + ((at + f->word) & (FAST_FRAME - 1));
	__u64 number;
	__u32 word;

	if (p + 4 > k->end)
		return false;
	word = bpf_ntohl(*(const __u32 *)p);
	if (word == ~0u)
		return false;
	number = (__u64)(word >> f->shift & f->mask) * f->scale;
	*v = number;
	return number <= ~0u;
}

static __always_inline __u32 steady_id(const struct steady *k, __u32 at,
				       const struct fast_field *f)
{
	__u32 id;

	return f->mask && steady_field(k, at, f, &id) ? id : ~0u;
}

static __always_inline bool steady_object(const struct steady *k, __u32 at,
					  const struct fast_hop *h,
					  __u32 metric, __u32 egress, __u32 id)
{
	const struct fast_object *o = object_at(h->object[metric - 1]);
	__u32 v;

	if (!steady_field(k, at, &k->w->plan.metric[metric], &v))
		return false;
	return v - o->seen.lo < o->seen.width && o->key.egress == egress &&
	       o->key.id == id && o->key.metric == metric;
}

static __always_inline bool steady_hop(struct steady *k,
				       const struct fast_hop *h, __u32 at)
{
	const struct fast_plan *plan = &k->w->plan;
	const struct fast_field *f = plan->metric;
	__u32 egress, queue, v;
	const __u8 *p = k->data + ((at + plan->node) & (FAST_FRAME - 1));

	if (p + 4 > k->end || bpf_ntohl(*(const __u32 *)p) != h->node)
		return false;
	if (f[FAST_HOP_LATENCY].mask) {
		if (!steady_field(k, at, &f[FAST_HOP_LATENCY], &v) ||
		    v - h->latency.lo >= h->latency.width)
			return false;
		k->sum += v;
	}
	egress = steady_id(k, at, &plan->id[0]);
	if (f[FAST_LINK_UTILIZATION].mask &&
	    !steady_object(k, at, h, FAST_LINK_UTILIZATION, egress, ~0u))
		return false;
	queue = steady_id(k, at, &plan->id[1]);
	if (f[FAST_QUEUE_OCCUPANCY].mask &&
	    !steady_object(k, at, h, FAST_QUEUE_OCCUPANCY, egress, queue))
		return false;
	if (f[FAST_QUEUE_CONGESTION].mask &&
	    !steady_object(k, at, h, FAST_QUEUE_CONGESTION, egress, queue))
		return false;
	return !f[FAST_BUFFER_OCCUPANCY].mask ||
	       steady_object(k, at, h, FAST_BUFFER_OCCUPANCY, ~0u,
			     steady_id(k, at, &plan->id[2]));
}

static __always_inline bool steady_chunk(struct steady *k)
{
	__u32 at = k->at;

	for (__u32 i = 0; i < FAST_CHUNK && k->from + i < k->hops; i++) {
		at -= k->w->place.hop_len;
		if (!steady_hop(k, &k->flow->hop[i], at))
			return false;
	}
	k->at = at;
	k->from += FAST_CHUNK;
	return true;
}

/* Another than the first. */
static long steady_next(__u32 i, struct steady *k)
{
	struct fast_flow_key *key = &k->w->place.flow;

	key->chunk = i + 1;
	k->flow = flow_find(key);
	key->chunk = 0;
	k->is = k->flow && steady_chunk(k);
	return !k->is;
}

static __always_inline void count_packet(struct work *w, struct fast_flow *flow)
{
	__sync_fetch_and_add(&flow->packets, 1);
	__sync_fetch_and_add(&flow->bytes, w->place.ip_len);
	flow->last_ns = now_of(w);
}

/* Whether the packet was one, and is taken. */
static __always_inline bool steady(const struct xdp_md *ctx, struct work *w)
{
	struct steady k = {.w = w};
	struct fast_flow *flow;

	k.data = (const __u8 *)(long)ctx->data;
	k.end = (const __u8 *)(long)ctx->data_end;
	k.hops = w->place.hops;
	k.at = w->place.stack + k.hops * w->place.hop_len;
	flow = k.flow = flow_find(&w->place.flow);
	if (!flow || flow->hops != k.hops || flow->settled != rules.era ||
	    !steady_chunk(&k))
		return false;
	if (k.hops > FAST_CHUNK) {
		bpf_loop((k.hops - 1) / FAST_CHUNK, steady_next, &k, 0);
		if (!k.is)
			return false;
	}
	if (w->plan.metric[FAST_HOP_LATENCY].mask &&
	    (k.sum >> 32 ||
	     (__u32)k.sum - flow->latency.lo >= flow->latency.width))
		return false;
	count_packet(w, flow);
	return true;
}

#endif
