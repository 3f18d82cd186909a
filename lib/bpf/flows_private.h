/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flows_private.h - for int_fast.bpf.c: flows by their keys. Looking into a
 * kernel's hash table takes four calls, a third of the time of a packet. So
 * there is a table that is looked into without: a flow is in one of a few
 * places that follow one another. If they are all taken, the kernel's has it.
 */
#ifndef BPF_FLOWS_PRIVATE_H
#define BPF_FLOWS_PRIVATE_H

#include "bpf/find_private.h"

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__type(key, struct fast_flow_key);
	__type(value, struct fast_flow);
	__uint(max_entries, 32768);
} int_flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct fast_near);
	__uint(max_entries, FAST_NEAR);
} int_near SEC(".maps");

__u32 tags[FAST_NEAR]; /* of each place in int_near; 0: it is free */

static __always_inline bool same_flow(const struct fast_flow_key *a,
				      const struct fast_flow_key *b)
{
	return !((a->word[0] ^ b->word[0]) | (a->word[1] ^ b->word[1]) |
		 (a->word[2] ^ b->word[2]) | (a->word[3] ^ b->word[3]) |
		 (a->word[4] ^ b->word[4]));
}

static __always_inline struct fast_flow *
flow_find(const struct fast_flow_key *key)
{
	__u64 hash = fast_hash(key);
	__u32 at = fast_place(hash), tag = fast_tag(hash);
	struct fast_near *near;

	for (__u32 i = 0; i < FAST_WAYS; i++, at++) {
		if (tags[at & (FAST_NEAR - 1)] != tag)
			continue;
		near = bpf_map_lookup_elem(&int_near, &at);
		if (near && same_flow(&near->key, key))
			return &near->flow;
		break; /* another with the same tag: it is not near */
	}
	return bpf_map_lookup_elem(&int_flows, key);
}

/* One that is not there. Whoever frees a place leaves zeros. */
static __noinline struct fast_flow *flow_make(const struct fast_flow_key *key)
{
	static const struct fast_flow fresh;
	__u64 hash = fast_hash(key);
	__u32 at = fast_place(hash), tag = fast_tag(hash), had = 0;
	struct fast_near *near;

	for (__u32 i = 0; i < FAST_WAYS && had != tag; i++, at++) {
		had = __sync_val_compare_and_swap(&tags[at & (FAST_NEAR - 1)],
						  0, tag);
		if (had)
			continue;
		near = bpf_map_lookup_elem(&int_near, &at);
		if (!near)
			break;
		near->key = *key;
		return &near->flow;
	}
	bpf_map_update_elem(&int_flows, key, &fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(&int_flows, key);
}

#endif
