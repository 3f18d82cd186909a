/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int_fast.bpf.c - the INT sink's comparisons in the kernel: INTCollector's
 * fast path. Packets with INT-MD and reports of them are parsed, each value is
 * compared with the last one that was told of its key, and what is an event
 * goes up through a ring; all else ends here. What is not plain in every
 * respect goes up as it is: user space judges it by itself.
 *
 * What is an event: telemetry/threshold.h. A reference moves when its record
 * has found room in the ring, so that an event which found none is told with
 * the next packet, if it is still true.
 *
 * Hops are walked by bpf_loop() (Linux 5.17), so that the verifier looks at
 * one.
 */
#include "xdp/find_private.h"

/*
 * --- flows by their keys
 * ------------------------------------------------------
 *
 * Looking into a kernel's hash table takes four calls, a third of the time of a
 * packet. So a flow is in one of a few places of an array that follow one
 * another. If they are all taken, user space has it.
 */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct fast_place);
	__uint(max_entries, FAST_PLACES);
} int_flows SEC(".maps");

__u32 tags[FAST_PLACES]; /* of each place in int_flows; 0: it is free */

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
	__u32 at = fast_home(hash), tag = fast_tag(hash);
	struct fast_place *place;

	for (__u32 i = 0; i < FAST_WAYS; i++, at++) {
		if (tags[at & (FAST_PLACES - 1)] != tag)
			continue;
		place = bpf_map_lookup_elem(&int_flows, &at);
		if (place && same_flow(&place->key, key))
			return &place->flow;
		break; /* another with the same tag: this one has no place */
	}
	return NULL;
}

/* One that is not there; NULL: there is no room. Whoever frees a place leaves
 * zeros. */
static __noinline struct fast_flow *flow_make(const struct fast_flow_key *key,
					      __u64 ns)
{
	__u64 hash = fast_hash(key);
	__u32 at = fast_home(hash), tag = fast_tag(hash), had = 0;
	struct fast_place *place;

	for (__u32 i = 0; i < FAST_WAYS && had != tag; i++, at++) {
		had = __sync_val_compare_and_swap(&tags[at & (FAST_PLACES - 1)],
						  0, tag);
		if (had)
			continue;
		place = bpf_map_lookup_elem(&int_flows, &at);
		if (!place)
			break;
		place->key = *key;
		place->flow.first_ns = ns;
		return &place->flow;
	}
	return NULL;
}

/* --- whether a value is an event, and how it is told ---------------------- */

/* What a processor works on. */
struct work {
	struct spot spot;
	struct fast_whole whole; /* a frame that goes up */
	struct fast_path path;
	struct fast_number number;
	struct fast_layout_key layout_key; /* of the last packet's layout */
	struct fast_layout layout;
	__u64 tick, now_ns;		/* CLOCK_MONOTONIC at that tick */
	struct fast_hop old[FAST_HOPS]; /* of a path that changes */
	bool untold; /* of this packet: a record found no room */
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
	__uint(max_entries, 1 << 23); /* bytes */
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
	__type(value, struct threshold);
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

static __always_inline struct fast_counters *counters_of_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&int_counters, &zero);
}

/* Whether a record is in the ring now. */
static __always_inline bool send_record(void *record, __u64 len)
{
	struct fast_counters *c = counters_of_cpu();
	bool sent = !bpf_ringbuf_output(&int_ring, record, len, 0);

	if (!c)
		return sent;
	c->events += sent;
	c->delayed += !sent;
	return sent;
}

static __always_inline struct threshold threshold_of(__u32 node, __u32 metric)
{
	struct fast_threshold_key key = {node, metric};
	const volatile struct threshold *all;
	struct threshold *th;

	if (rules.nodes && metric < HOP_METRICS &&
	    (th = bpf_map_lookup_elem(&int_thresholds, &key)))
		return *th;
	if (metric >= NUMERIC_METRICS)
		metric = 0;
	all = &rules.all[metric];
	return (struct threshold){all->change, all->high, all->low};
}

int judge_value(struct work *w, struct fast_seen *s, __u32 v, bool of_flow);

/*
 * A value outside the range, or of another era. Whose it is stands in
 * w->number, but for the flow, which is said by of_flow.
 */
__noinline int judge_value(struct work *w, struct fast_seen *s, __u32 v,
			   bool of_flow)
{
	struct fast_number *n;
	struct fast_seen now;
	__u32 era = rules.era, kinds;

	if (!w || !s)
		return 0;
	n = &w->number;
	now = *s;
	n->threshold = threshold_of(n->node, n->metric);
	kinds = threshold_check(&now.watch, &now.flags, &n->threshold, v);
	if (!kinds && (s->era ^ era) & FAST_EPOCHS)
		kinds = FAST_VALUE;
	if (kinds) {
		n->record = (struct fast_record){FAST_NUMBER, kinds,
						 bpf_ktime_get_ns()};
		n->value = v;
		n->reference = s->watch.ref;
		n->referred = s->flags & THRESHOLD_KNOWN;
		if (of_flow)
			n->flow = w->spot.flow;
		else
			n->flow.len = 0;
		if (!send_record(n, sizeof(*n))) {
			w->untold = true;
			return 0;
		}
	}
	threshold_set_reference(&now.watch, now.flags, &n->threshold,
				kinds ? v : s->watch.ref);
	now.era = era;
	*s = now;
	return 0;
}

static __always_inline bool is_out(const struct fast_seen *s, __u32 v)
{
	return threshold_outside(&s->watch, v) || s->era != rules.era;
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
objects_port(const struct fast_object_key *key, __u32 *last)
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

/*
 * --- the numbers of reports
 * ---------------------------------------------------
 *
 * That they are one after the other is seen here; what is otherwise,
 * telemetry/flows.h judges, to which they are told as runs.
 */

struct fast_reporter reporters[FAST_REPORTERS];

enum {
	PROBES = 8,
	RUN_MAX = 1 << 16, /* longer ones are told in parts */
};

/* NULL: there is no room for another. */
static __always_inline struct fast_reporter *reporter_of(__u64 key)
{
	__u32 at = key * 0x9e3779b97f4a7c15 >> 52;
	struct fast_reporter *r;
	__u64 had;

	for (__u32 i = 0; i < PROBES; i++) {
		r = &reporters[(at + i) & (FAST_REPORTERS - 1)];
		if (r->key == key)
			return r;
		if (r->key)
			continue;
		had = __sync_val_compare_and_swap(&r->key, 0, key);
		if (!had || had == key)
			return r;
	}
	return NULL;
}

static __always_inline __u32 after(__u64 reporter, __u32 number)
{
	return reporter >> 32 & FAST_REPORTER_22
		       ? (number + 1) & TREPORT_SEQUENCE2_MASK
		       : number + 1;
}

/* Numbers that find no room are lost, as reports are that a socket drops. */
static __always_inline void tell_run(__u64 reporter, __u64 numbers)
{
	struct fast_run run = {{FAST_RUN, 0, bpf_ktime_get_ns()},
			       {reporter, numbers}};
	struct fast_counters *c = counters_of_cpu();
	__u32 n = fast_numbers(&run.of);

	if (n && bpf_ringbuf_output(&int_ring, &run, sizeof(run), 0) && c)
		c->unheard += n;
}

int number_turn(__u64 key, __u32 first, __u32 behind);

/* What came before the number is told; from now on: first to behind. */
__noinline int number_turn(__u64 key, __u32 first, __u32 behind)
{
	__u64 numbers = (__u64)first << 32 | behind;
	struct fast_reporter *r = reporter_of(key);

	if (r)
		numbers = __sync_lock_test_and_set(&r->numbers, numbers);
	tell_run(key, numbers);
	return 0;
}

/* The report has been taken; key 0: it has no number. */
static __always_inline void number_next(__u64 key, __u32 number)
{
	struct fast_reporter *r;
	__u64 had, now;
	__u32 next;

	if (!key)
		return;
	next = after(key, number);
	r = reporter_of(key);
	if (r) {
		had = r->numbers;
		now = (had >> 32 << 32) | next;
		if ((__u32)had == number && next - (had >> 32) < RUN_MAX &&
		    __sync_val_compare_and_swap(&r->numbers, had, now) == had)
			return;
	}
	number_turn(key, number, next);
}

/* The report is to go up whole, with its number: after those before it. */
static __always_inline void number_aside(__u64 key, __u32 number)
{
	__u32 next = after(key, number);

	if (key)
		number_turn(key, next, next);
}

/* --- along the hops of a packet and of its flow --------------------------- */

/* Hops are numbered from the source, whose is last in the stack. */
struct walk {
	struct work *w;
	struct frame f;
	struct fast_flow *flow;
	__u32 hops, hop_len, stack;
	__u32 told; /* latencies, and their sum */
	__u64 sum;
	bool odd; /* it cannot be compared here */
	bool changed;
};

static __always_inline __u32 hop_at(const struct walk *k, __u32 i)
{
	return k->stack + (k->hops - 1 - i) * k->hop_len;
}

static __always_inline struct fast_hop *hop_of(const struct walk *k, __u32 i)
{
	return &k->flow->hop[i & (FAST_HOPS - 1)];
}

static __always_inline __u32 node_of(const struct walk *k, __u32 i)
{
	return load32(&k->f, hop_at(k, i) + k->w->layout.node);
}

/* A field of the hop at that place, scaled; above 32 bits it is ~0. False: it
 * is not told. */
static __always_inline bool value_of(const struct walk *k, __u32 at,
				     const struct fast_field *f, __u32 *v)
{
	__u64 number;
	__u32 word;

	if (!f->mask)
		return false;
	word = load32(&k->f, at + f->word);
	number = (__u64)(word >> (f->shift & 31) & f->mask) * f->scale;
	*v = number > ~0u ? ~0u : (__u32)number;
	return word != ~0u;
}

static __always_inline __u32 id_of(const struct walk *k, __u32 at,
				   enum field_id id)
{
	__u32 v;

	return value_of(k, at, &k->w->layout.id[id], &v) ? v : ~0u;
}

/* --- the path, which is a key as others are ------------------------------- */

static long old_hop(__u32 i, struct walk *k)
{
	struct fast_path *p = &k->w->path;

	p->node[(p->n + i) & (2 * FAST_HOPS - 1)] = hop_of(k, i)->node;
	return 0;
}

static long new_hop(__u32 i, struct walk *k)
{
	k->w->path.node[i & (2 * FAST_HOPS - 1)] = node_of(k, i);
	return 0;
}

/* What is known of the node's latency comes along. A node that is there twice
 * brings it once. */
static long put_hop(__u32 i, struct walk *k)
{
	struct fast_hop *h = hop_of(k, i), *old = k->w->old;

	*h = (struct fast_hop){.node = node_of(k, i)};
	for (__u32 j = 0; j < FAST_HOPS; j++)
		if (old[j].latency.flags && old[j].node == h->node) {
			h->latency = old[j].latency;
			old[j].latency.flags = 0;
			break;
		}
	return 0;
}

static __always_inline void put_path(struct walk *k)
{
	__u32 kept = k->hops;

	__builtin_memcpy(k->w->old, k->flow->hop, sizeof(k->w->old));
	bpf_loop(k->hops, put_hop, k, 0);
	for (__u32 j = 0; j < FAST_HOPS && kept < FAST_HOPS; j++)
		if (k->w->old[j].latency.flags)
			*hop_of(k, kept++) = k->w->old[j];
	k->flow->hops = k->hops;
}

/* The path is told; it is the flow's then. */
static __noinline int take_path(struct walk *k)
{
	struct fast_path *p = &k->w->path;
	__u32 kinds = FAST_VALUE;
	__u64 len;

	p->n = k->hops;
	p->old = 0;
	bpf_loop(k->hops, new_hop, k, 0);
	if (k->changed) {
		p->old = k->flow->hops;
		kinds = p->old ? THRESHOLD_CHANGE : THRESHOLD_NEW;
		bpf_loop(p->old, old_hop, k, 0);
	}
	p->record = (struct fast_record){FAST_PATH, kinds, bpf_ktime_get_ns()};
	p->flow = k->w->spot.flow;
	len = offsetof(struct fast_path, node) + (p->n + p->old) * 4;
	if (len > sizeof(*p) || !send_record(p, len)) {
		k->w->untold = true;
		return 0;
	}
	k->flow->era = rules.era;
	if (k->changed)
		put_path(k);
	return 1;
}

/* --- most packets, which tell nothing new --------------------------------- */

/*
 * A known flow along its path, values within what was told, in an era of which
 * its keys have been told: nothing is written but what the flow counts. What is
 * otherwise is taken from the start.
 */
static __always_inline bool steady_object(const struct walk *k, __u32 at,
					  const struct fast_hop *h,
					  __u32 metric, __u32 egress, __u32 id)
{
	const struct fast_object *o = object_at(h->object[metric - 1]);
	const struct fast_field *f = &k->w->layout.metric[metric];
	__u32 v;

	if (!f->mask)
		return true;
	return value_of(k, at, f, &v) &&
	       !threshold_outside(&o->seen.watch, v) &&
	       o->key.egress == egress && o->key.id == id &&
	       o->key.metric == metric;
}

static __always_inline bool steady_hop(struct walk *k, const struct fast_hop *h,
				       __u32 at)
{
	const struct fast_layout *layout = &k->w->layout;
	__u32 egress, queue, v;

	if (load32(&k->f, at + layout->node) != h->node)
		return false;
	if (layout->metric[METRIC_HOP_LATENCY].mask) {
		if (!value_of(k, at, &layout->metric[METRIC_HOP_LATENCY], &v) ||
		    threshold_outside(&h->latency.watch, v))
			return false;
		k->sum += v;
	}
	egress = id_of(k, at, FIELD_EGRESS);
	queue = id_of(k, at, FIELD_QUEUE);
	return steady_object(k, at, h, METRIC_LINK_UTILIZATION, egress, ~0u) &&
	       steady_object(k, at, h, METRIC_QUEUE_OCCUPANCY, egress, queue) &&
	       steady_object(k, at, h, METRIC_QUEUE_CONGESTION, egress,
			     queue) &&
	       (!layout->metric[METRIC_BUFFER_OCCUPANCY].mask ||
		steady_object(k, at, h, METRIC_BUFFER_OCCUPANCY, ~0u,
			      id_of(k, at, FIELD_BUFFER)));
}

static __always_inline void count_packet(struct work *w, struct fast_flow *flow)
{
	__sync_fetch_and_add(&flow->packets, 1);
	__sync_fetch_and_add(&flow->bytes, w->spot.ip_len);
	flow->last_ns = now_of(w);
}

/* Whether the packet was one, and is taken. */
static __always_inline bool steady(const struct xdp_md *ctx, struct work *w)
{
	struct walk k = {.w = w};
	struct fast_flow *flow = flow_find(&w->spot.flow);
	__u32 at;

	k.f.data = (const __u8 *)(long)ctx->data;
	k.f.end = (const __u8 *)(long)ctx->data_end;
	k.hops = w->spot.hops;
	if (!flow || flow->hops != k.hops || flow->settled != rules.era)
		return false;
	at = w->spot.stack + k.hops * w->spot.hop_len;
	for (__u32 i = 0; i < FAST_HOPS && i < k.hops; i++) {
		at -= w->spot.hop_len;
		if (!steady_hop(&k, &flow->hop[i], at))
			return false;
	}
	if (w->layout.metric[METRIC_HOP_LATENCY].mask &&
	    (k.sum >> 32 ||
	     threshold_outside(&flow->latency.watch, (__u32)k.sum)))
		return false;
	count_packet(w, flow);
	return true;
}

/* --- all others, from the start ------------------------------------------- */

/* First: nothing has been changed yet, if the packet cannot be taken. */
static long look_hop(__u32 i, struct walk *k)
{
	const struct fast_layout *layout = &k->w->layout;
	__u32 at = hop_at(k, i), node = node_of(k, i);

	if (node == ~0u ||
	    (layout->stamps &&
	     load32(&k->f, at + layout->metric[METRIC_HOP_LATENCY].word) ==
		     ~0u)) {
		k->odd = true;
		return 1;
	}
	if (!k->flow || hop_of(k, i)->node != node)
		k->changed = true;
	return 0;
}

/* A queue, a link or a buffer: telemetry/threshold.h has their keys. */
static __always_inline void take_object(struct walk *k, struct fast_hop *h,
					__u32 at, struct fast_object_key *key,
					__u32 metric, __u32 id)
{
	struct fast_number *n = &k->w->number;
	struct fast_counters *c;
	struct fast_object *o;
	__u32 v;

	if (!value_of(k, at, &k->w->layout.metric[metric], &v))
		return;
	key->metric = metric;
	key->id = id;
	o = objects_port(key, &h->object[metric - 1]);
	if (!o) {
		if ((c = counters_of_cpu()))
			c->unplaced++;
		return;
	}
	if (!is_out(&o->seen, v))
		return;
	n->metric = metric;
	n->node = key->node;
	n->egress = key->egress;
	n->id = id;
	judge_value(k->w, &o->seen, v, false);
}

static __always_inline void take_latency(struct walk *k, struct fast_seen *s,
					 __u32 metric, __u32 node, __u32 v)
{
	struct fast_number *n = &k->w->number;

	if (!is_out(s, v))
		return;
	n->metric = metric;
	n->node = node;
	n->egress = n->id = ~0u;
	judge_value(k->w, s, v, true);
}

static long take_hop(__u32 i, struct walk *k)
{
	const struct fast_field *latency =
		&k->w->layout.metric[METRIC_HOP_LATENCY];
	struct fast_object_key key = {.node = node_of(k, i)};
	struct fast_hop *h = hop_of(k, i);
	__u32 at = hop_at(k, i), queue, v;

	if (value_of(k, at, latency, &v)) {
		k->told++;
		k->sum += v;
		take_latency(k, &h->latency, METRIC_HOP_LATENCY, key.node, v);
	}
	key.egress = id_of(k, at, FIELD_EGRESS);
	queue = id_of(k, at, FIELD_QUEUE);
	take_object(k, h, at, &key, METRIC_LINK_UTILIZATION, ~0u);
	take_object(k, h, at, &key, METRIC_QUEUE_OCCUPANCY, queue);
	take_object(k, h, at, &key, METRIC_QUEUE_CONGESTION, queue);
	key.egress = ~0u;
	take_object(k, h, at, &key, METRIC_BUFFER_OCCUPANCY,
		    id_of(k, at, FIELD_BUFFER));
	return 0;
}

int take_stack(struct xdp_md *ctx, struct work *w);

/* False: it is not for this program. */
__noinline int take_stack(struct xdp_md *ctx, struct work *w)
{
	struct walk k = {.w = w};
	struct fast_flow *flow;
	__u32 era = rules.era;

	if (!w)
		return false;
	k.f.data = (const __u8 *)(long)ctx->data;
	k.f.end = (const __u8 *)(long)ctx->data_end;
	k.hops = w->spot.hops;
	k.hop_len = w->spot.hop_len;
	k.stack = w->spot.stack;
	flow = k.flow = flow_find(&w->spot.flow);
	k.changed = !flow || flow->hops != k.hops;
	bpf_loop(k.hops, look_hop, &k, 0);
	if (k.odd)
		return false;
	if (!flow && !(flow = flow_make(&w->spot.flow, now_of(w))))
		return false;
	k.flow = flow;
	count_packet(w, flow);
	w->untold = false;
	if (k.changed || (flow->era ^ rules.era) & FAST_EPOCHS)
		if (!take_path(&k) && k.changed)
			return true; /* the whole packet waits for the next */
	bpf_loop(k.hops, take_hop, &k, 0);
	if (k.told == k.hops)
		take_latency(&k, &flow->latency, METRIC_FLOW_LATENCY, ~0u,
			     k.sum > ~0u ? ~0u : (__u32)k.sum);
	flow->settled = w->untold ? 0 : era;
	return true;
}

/* --- the program ---------------------------------------------------------- */

enum {
	OURS = 1 << 8,
};

/* The layout of the packet's bitmap, in w->layout. */
static __always_inline bool find_layout(struct work *w, const struct frame *f)
{
	struct fast_layout_key key = {
		w->spot.words, load16(f, w->spot.header + INT_AT_BITMAP)};
	const struct fast_layout *layout;

	if (key.words != w->layout_key.words ||
	    key.bitmap != w->layout_key.bitmap) {
		layout = bpf_map_lookup_elem(&int_layouts, &key);
		if (!layout)
			return false;
		w->layout = *layout;
		w->layout_key = key;
	}
	/* No layout yet: its key would be that of a bitmap without bits. */
	return w->layout.len && split_hops(f, &w->spot, &w->layout);
}

int find_telemetry(struct xdp_md *ctx, struct work *w);

/* enum found, and OURS: it is a report, or INT that can be taken. What is not
 * in the frame's first piece is not looked at. */
__noinline int find_telemetry(struct xdp_md *ctx, struct work *w)
{
	const struct frame f = {.data = (const __u8 *)(long)ctx->data,
				.end = (const __u8 *)(long)ctx->data_end};
	__u64 len = ctx->data_end - ctx->data; /* 64 bits: the verifier's */
	enum found is;
	struct spot *p;
	__u32 ours = OURS;

	if (!w)
		return FOUND_NOT;
	p = &w->spot;
	p->end = len < FAST_FRAME ? len : FAST_FRAME;
	p->reporter = 0;
	is = ip_at(&f, p, NET_ETHERTYPE_ETH, 0);
	if (is != FOUND_STACK)
		return is;
	if (profile.report_port && p->protocol == NET_PROTO_UDP &&
	    load16(&f, p->l4 + NET_UDP_AT_DST) == profile.report_port &&
	    udp_at(&f, p)) {
		is = in_report(&f, p);
	} else {
		is = in_ip(&f, p);
		if (is != FOUND_STACK)
			ours = 0;
	}
	if (is == FOUND_STACK && !find_layout(w, &f))
		is = FOUND_UNSURE;
	return ours | is;
}

/* As much of the frame as there is room for. */
static __always_inline bool send_whole(struct xdp_md *ctx, struct work *w)
{
	__u64 len = bpf_xdp_get_buff_len(ctx);

	w->whole.record = (struct fast_record){FAST_WHOLE, 0,
					       bpf_ktime_get_ns()};
	w->whole.wire_len = len;
	if (len > FAST_FRAME)
		len = FAST_FRAME;
	w->whole.len = len;
	number_aside(w->spot.reporter, w->spot.number);
	return len >= NET_ETH_LEN &&
	       !bpf_xdp_load_bytes(ctx, 0, w->whole.byte, len) &&
	       !bpf_ringbuf_output(&int_ring, &w->whole,
				   offsetof(struct fast_whole, byte) + len, 0);
}

SEC("xdp.frags") int int_take(struct xdp_md *ctx)
{
	struct fast_counters *c = counters_of_cpu();
	__u32 zero = 0;
	struct work *w;
	int is;

	w = bpf_map_lookup_elem(&int_work, &zero);
	if (!c || !w)
		return XDP_PASS;
	c->frames++;
	is = find_telemetry(ctx, w);
	if (is == FOUND_NOT) {
		c->passed++;
		return XDP_PASS;
	}
	if ((is & ~OURS) == FOUND_STACK &&
	    (steady(ctx, w) || take_stack(ctx, w))) {
		c->taken++;
		number_next(w->spot.reporter, w->spot.number);
		return XDP_DROP;
	}
	if (!send_whole(ctx, w))
		c->lost++;
	else if (is & OURS)
		c->whole++;
	else
		c->copied++;
	return is & OURS ? XDP_DROP : XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
