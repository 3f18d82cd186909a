/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * judge_private.h - for int_fast.bpf.c: whether a value is an event, and how
 * it is told; queues, links and buffers, which have numbers.
 */
#ifndef BPF_JUDGE_PRIVATE_H
#define BPF_JUDGE_PRIVATE_H

#include "bpf/flows_private.h"

/* What a processor works on. */
struct work {
	struct place place;
	struct fast_whole whole; /* the frame */
	struct fast_path path;
	struct fast_number number;
	struct fast_plan_key plan_key; /* of the last packet's plan */
	struct fast_plan plan;
	__u64 tick, now_ns; /* CLOCK_MONOTONIC at that tick */
	bool copied;	    /* the frame is in whole */
	bool untold;	    /* of this packet: a record found no room */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct work);
	__uint(max_entries, 1);
} int_work SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct fast_counters);
	__uint(max_entries, 1);
} int_counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 23); /* bytes; another size may be asked for */
} int_ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct fast_object_key);
	__type(value, __u32);
	__uint(max_entries, FAST_OBJECTS);
} int_numbers SEC(".maps");

/* By their numbers; 0 is none. */
struct fast_object objects[FAST_OBJECTS];
__u32 objects_used;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct fast_threshold_key);
	__type(value, struct fast_threshold);
	__uint(max_entries, 1024);
} int_thresholds SEC(".maps");

volatile struct fast_rules rules;

/* A clock that is asked once a tick. */
static __always_inline __u64 now_of(struct work *w)
{
	__u64 tick = bpf_jiffies64();

	if (tick != w->tick) {
		w->tick = tick;
		w->now_ns = bpf_ktime_get_coarse_ns();
	}
	return w->now_ns;
}

static __always_inline struct fast_counters *counters(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&int_counters, &zero);
}

/* Whether a record is in the ring now. */
static __always_inline bool send(void *record, __u64 len)
{
	struct fast_counters *c = counters();
	bool sent = !bpf_ringbuf_output(&int_ring, record, len, 0);

	if (!c)
		return sent;
	c->events += sent;
	c->delayed += !sent;
	return sent;
}

static __always_inline struct fast_threshold threshold_of(__u32 node,
							  __u32 metric)
{
	__u32 generation = rules.era >> FAST_GENERATION_SHIFT;
	struct fast_threshold_key key = {generation, node, metric};
	const volatile struct fast_threshold *all;
	struct fast_threshold *th;

	if (rules.nodes && metric < FAST_OF_HOP &&
	    (th = bpf_map_lookup_elem(&int_thresholds, &key)))
		return *th;
	if (metric >= FAST_NUMBERS)
		metric = 0;
	all = &rules.all[generation & 1][metric];
	return (struct fast_threshold){all->change, all->high, all->low};
}

/* v is what was told: watch_tell(). */
static __always_inline void tell(struct fast_seen *s,
				 const struct fast_threshold *th, __u32 v)
{
	__u32 lo = v > th->change ? v - th->change : 0;
	__u32 hi = v < ~0u - th->change ? v + th->change : ~0u;

	s->ref = v;
	if (th->high && s->flags & FAST_RISEN && lo < th->low)
		lo = th->low;
	if (th->high && !(s->flags & FAST_RISEN) && hi >= th->high)
		hi = th->high - 1;
	s->lo = lo;
	s->width = lo > hi ? 0 : hi - lo == ~0u ? ~0u : hi - lo + 1;
}

/* Which events a value is: watch_judge(). */
static __always_inline __u32 kinds_of(const struct fast_seen *s,
				      const struct fast_threshold *th, __u32 v)
{
	__u32 by = v > s->ref ? v - s->ref : s->ref - v, kinds = 0;

	if (!(s->flags & FAST_KNOWN))
		kinds = FAST_NEW;
	else if (by > th->change)
		kinds = FAST_CHANGE;
	if (th->high && !(s->flags & FAST_RISEN) && v >= th->high)
		kinds |= FAST_RISE;
	else if (th->high && s->flags & FAST_RISEN && v < th->low)
		kinds |= FAST_FALL;
	return kinds;
}

int judge(struct work *w, struct fast_seen *s, __u32 v, bool of_flow);

/*
 * A value outside the range, or of another era. Whose it is stands in
 * w->number, but for the flow, which is said by of_flow.
 */
__noinline int judge(struct work *w, struct fast_seen *s, __u32 v, bool of_flow)
{
	struct fast_number *n;
	struct fast_threshold th;
	__u32 era = rules.era, kinds;

	if (!w || !s)
		return 0;
	n = &w->number;
	th = threshold_of(n->node, n->metric);
	kinds = kinds_of(s, &th, v);
	if (!kinds && (s->era ^ era) & FAST_EPOCHS)
		kinds = FAST_VALUE;
	if (!kinds) {
		tell(s, &th, s->ref);
		s->era = era;
		return 0;
	}
	n->record = (struct fast_record){FAST_NUMBER, kinds,
					 bpf_ktime_get_ns()};
	n->value = v;
	n->reference = s->ref;
	n->referred = s->flags & FAST_KNOWN;
	n->threshold = th;
	if (of_flow)
		n->flow = w->place.flow;
	else
		n->flow.len = 0;
	if (!send(n, sizeof(*n))) {
		w->untold = true;
		return 0;
	}
	s->flags |= FAST_KNOWN;
	if (kinds & FAST_RISE)
		s->flags |= FAST_RISEN;
	if (kinds & FAST_FALL)
		s->flags &= ~FAST_RISEN;
	tell(s, &th, v);
	s->era = era;
	return 0;
}

static __always_inline bool is_out(const struct fast_seen *s, __u32 v)
{
	return v - s->lo >= s->width || s->era != rules.era;
}

/* A number for a key that has none. */
static __noinline __u32 new_object(const struct fast_object_key *key)
{
	__u32 n, *had;

	if (objects_used >= FAST_OBJECTS - 1)
		return 0;
	n = __sync_fetch_and_add(&objects_used, 1) + 1;
	if (n >= FAST_OBJECTS) /* others were before */
		return 0;
	objects[n] = (struct fast_object){.key = *key};
	if (!bpf_map_update_elem(&int_numbers, key, &n, BPF_NOEXIST))
		return n;
	had = bpf_map_lookup_elem(&int_numbers, key); /* another processor's */
	return had ? *had : 0;
}

static __always_inline struct fast_object *object_at(__u32 number)
{
	return &objects[number & (FAST_OBJECTS - 1)];
}

static __always_inline bool same_object(const struct fast_object *o,
					const struct fast_object_key *key)
{
	return o->key.node == key->node && o->key.metric == key->metric &&
	       o->key.egress == key->egress && o->key.id == key->id;
}

/* The key's object, by its number, or by where it was found last. */
static __always_inline struct fast_object *
object_of(const struct fast_object_key *key, __u32 *last)
{
	struct fast_object *o = object_at(*last);
	__u32 *number;

	if (same_object(o, key))
		return o;
	number = bpf_map_lookup_elem(&int_numbers, key);
	*last = number ? *number : new_object(key);
	o = object_at(*last);
	return same_object(o, key) ? o : NULL;
}

#endif
