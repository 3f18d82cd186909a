/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int_fast.bpf.c - the INT sink's comparisons in the kernel: INTCollector's
 * fast path. It parses packets with INT-MD, and reports of them, and compares
 * each value with the one last reported for its key. Events go to user space
 * through a ring; the packet is dropped. Packets of any uncommon form go to
 * user space whole, to be compared there.
 *
 * What is an event: telemetry/threshold.h. A reference moves only when the
 * record has found room in the ring: if not, the event is found again with the
 * next packet, if it is still true.
 *
 * Loops over hops are bpf_loop() (Linux 5.17), so that the verifier follows the
 * code of one hop.
 */
#include "xdp/find_private.h"

/* --- flows by their keys -------------------------------------------------- */

/* A lookup in a hash map takes four calls, a third of the time of a packet. So
 * flows are in an array: a flow in one of FAST_WAYS slots, one after the other,
 * of its hash. If all are taken, its packets go up whole. */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct fast_slot);
	__uint(max_entries, FAST_SLOTS);
} int_flows SEC(".maps");

__u32 tags[FAST_SLOTS]; /* hash of the flow in each slot; 0: it is free */

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
	struct fast_slot *slot;

	for (__u32 i = 0; i < FAST_WAYS; i++, at++) {
		if (tags[at & (FAST_SLOTS - 1)] != tag)
			continue;
		slot = bpf_map_lookup_elem(&int_flows, &at);
		if (slot && same_flow(&slot->key, key))
			return &slot->flow;
		break; /* another flow with this tag: flow_add() refuses then */
	}
	return NULL;
}

/* Adds a flow that flow_find() did not find; NULL: there is no room. Free slots
 * are zeros. */
static __noinline struct fast_flow *flow_add(const struct fast_flow_key *key,
					     __u64 ns)
{
	__u64 hash = fast_hash(key);
	__u32 at = fast_home(hash), tag = fast_tag(hash), old = 0;
	struct fast_slot *slot;

	for (__u32 i = 0; i < FAST_WAYS && old != tag; i++, at++) {
		old = __sync_val_compare_and_swap(&tags[at & (FAST_SLOTS - 1)],
						  0, tag);
		if (old)
			continue;
		slot = bpf_map_lookup_elem(&int_flows, &at);
		if (!slot)
			break;
		slot->key = *key;
		slot->flow.first_ns = ns;
		return &slot->flow;
	}
	return NULL;
}

/* --- whether a value is an event, and how it is reported ------------------ */

/* The state of a processor: buffers, and what it keeps between packets. */
struct work {
	struct parts parts;
	struct fast_whole whole; /* a frame that goes up */
	struct fast_path path;
	struct fast_value value;
	struct fast_layout_key layout_key; /* of the last packet's layout */
	struct fast_layout layout;
	__u64 tick, now_ns;		/* CLOCK_MONOTONIC at that tick */
	struct fast_hop old[FAST_HOPS]; /* a flow's, while its path changes */
	bool unsent; /* a record of this packet found no room in the ring */
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
	__type(key, struct fast_port_key);
	__type(value, __u32);
	__uint(max_entries, FAST_PORTS);
} int_ports SEC(".maps");

/* By number (int_ports); 0 is none. */
struct fast_port ports[FAST_PORTS];
__u32 ports_used;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct fast_threshold_key);
	__type(value, struct threshold);
	__uint(max_entries, 1024);
} int_thresholds SEC(".maps");

volatile struct fast_rules rules;

/* The clock, read once a tick. */
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

/* False: the ring has no room. */
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

int check_value(struct work *w, struct fast_key_state *s, __u32 v,
		bool of_flow);

/* Checks a value that is outside the range, or the first of an era. w->value
 * has its key, but not the flow's, which is added if of_flow. */
__noinline int check_value(struct work *w, struct fast_key_state *s, __u32 v,
			   bool of_flow)
{
	struct fast_value *rec;
	struct fast_key_state now;
	__u32 era = rules.era, kinds;

	if (!w || !s)
		return 0;
	rec = &w->value;
	now = *s;
	rec->threshold = threshold_of(rec->node, rec->metric);
	kinds = threshold_check(&now.watch, &now.flags, &rec->threshold, v);
	if (!kinds && (s->era ^ era) & FAST_PUSHES_MASK)
		kinds = FAST_PERIODIC;
	if (kinds) {
		rec->record = (struct fast_record){FAST_VALUE, kinds,
						   bpf_ktime_get_ns()};
		rec->value = v;
		rec->reference = s->watch.ref;
		rec->has_reference = s->flags & THRESHOLD_KNOWN;
		if (of_flow)
			rec->flow = w->parts.flow;
		else
			rec->flow.len = 0;
		if (!send_record(rec, sizeof(*rec))) {
			w->unsent = true;
			return 0;
		}
	}
	threshold_set_reference(&now.watch, now.flags, &rec->threshold,
				kinds ? v : s->watch.ref);
	now.era = era;
	*s = now;
	return 0;
}

static __always_inline bool is_outside(const struct fast_key_state *s, __u32 v)
{
	return threshold_outside(&s->watch, v) || s->era != rules.era;
}

/* Adds a key, which has no number yet. Returns its number, or 0. */
static __noinline __u32 new_port(const struct fast_port_key *key)
{
	__u32 n, *old;

	if (ports_used >= FAST_PORTS - 1)
		return 0;
	n = __sync_fetch_and_add(&ports_used, 1) + 1;
	if (n >= FAST_PORTS) /* other processors took the last ones */
		return 0;
	ports[n] = (struct fast_port){.key = *key};
	if (!bpf_map_update_elem(&int_ports, key, &n, BPF_NOEXIST))
		return n;
	old = bpf_map_lookup_elem(&int_ports, key); /* by another processor */
	return old ? *old : 0;
}

static __always_inline struct fast_port *port_at(__u32 number)
{
	return &ports[number & (FAST_PORTS - 1)];
}

static __always_inline bool same_port(const struct fast_port *o,
				      const struct fast_port_key *key)
{
	return o->key.node == key->node && o->key.metric == key->metric &&
	       o->key.egress == key->egress && o->key.id == key->id;
}

/* Finds or adds a port's state; *last is its number, which is tried first. */
static __always_inline struct fast_port *
find_port(const struct fast_port_key *key, __u32 *last)
{
	struct fast_port *o = port_at(*last);
	__u32 *number;

	if (same_port(o, key))
		return o;
	number = bpf_map_lookup_elem(&int_ports, key);
	*last = number ? *number : new_port(key);
	o = port_at(*last);
	return same_port(o, key) ? o : NULL;
}

/* --- the numbers of reports ----------------------------------------------- */

/* Numbers that follow one another are gathered here, in runs. User space judges
 * the gaps between runs (telemetry/flows.h). */

struct fast_reporter reporters[FAST_REPORTERS];

enum {
	PROBES = 8,
	RUN_MAX = 1 << 16, /* longer ones are sent in parts */
};

/* Finds or adds a reporter; NULL: there is no room. */
static __always_inline struct fast_reporter *find_reporter(__u64 key)
{
	__u32 at = key * 0x9e3779b97f4a7c15 >> 52;
	struct fast_reporter *r;
	__u64 old;

	for (__u32 i = 0; i < PROBES; i++) {
		r = &reporters[(at + i) & (FAST_REPORTERS - 1)];
		if (r->key == key)
			return r;
		if (r->key)
			continue;
		old = __sync_val_compare_and_swap(&r->key, 0, key);
		if (!old || old == key)
			return r;
	}
	return NULL;
}

static __always_inline __u32 next_number(__u64 reporter, __u32 number)
{
	return reporter >> 32 & FAST_REPORTER_22
		       ? (number + 1) & TREPORT_SEQUENCE2_MASK
		       : number + 1;
}

/* Numbers that find no room in the ring count as lost reports. */
static __always_inline void send_run(__u64 reporter, __u64 numbers)
{
	struct fast_run run = {{FAST_RUN, 0, bpf_ktime_get_ns()},
			       {reporter, numbers}};
	struct fast_counters *c = counters_of_cpu();
	__u32 n = fast_numbers(&run.of);

	if (n && bpf_ringbuf_output(&int_ring, &run, sizeof(run), 0) && c)
		c->unheard += n;
}

int run_restart(__u64 key, __u32 first, __u32 end);

/* Sends the reporter's run, and starts the one from first to before end. */
__noinline int run_restart(__u64 key, __u32 first, __u32 end)
{
	__u64 numbers = (__u64)first << 32 | end;
	struct fast_reporter *r = find_reporter(key);

	if (r)
		numbers = __sync_lock_test_and_set(&r->numbers, numbers);
	send_run(key, numbers);
	return 0;
}

/* Adds the number of a report that was compared; key 0: it has no number. */
static __always_inline void run_extend(__u64 key, __u32 number)
{
	struct fast_reporter *r;
	__u64 old, now;
	__u32 next;

	if (!key)
		return;
	next = next_number(key, number);
	r = find_reporter(key);
	if (r) {
		old = r->numbers;
		now = (old >> 32 << 32) | next;
		if ((__u32)old == number && next - (old >> 32) < RUN_MAX &&
		    __sync_val_compare_and_swap(&r->numbers, old, now) == old)
			return;
	}
	run_restart(key, number, next);
}

/* For a report that goes up whole, its number with it: sends the run before. */
static __always_inline void run_skip(__u64 key, __u32 number)
{
	__u32 next = next_number(key, number);

	if (key)
		run_restart(key, next, next);
}

/* --- along the hops of a packet and of its flow --------------------------- */

/* A loop over hops, numbered from the source's, which is last in the stack. */
struct walk {
	struct work *w;
	struct frame f;
	struct fast_flow *flow;
	__u32 hops, hop_len, stack;
	__u32 latencies; /* how many hops report one */
	__u64 latency;	 /* the sum */
	bool unsure;	 /* the packet cannot be compared here */
	bool changed;	 /* its path is not the flow's */
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

/* A field of the hop at that offset, scaled; above 32 bits it is ~0. False: the
 * hop does not report it. */
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

/* --- the path ------------------------------------------------------------- */

static long list_old_hop(__u32 i, struct walk *k)
{
	struct fast_path *p = &k->w->path;

	p->node[(p->n + i) & (2 * FAST_HOPS - 1)] = hop_of(k, i)->node;
	return 0;
}

static long list_new_hop(__u32 i, struct walk *k)
{
	k->w->path.node[i & (2 * FAST_HOPS - 1)] = node_of(k, i);
	return 0;
}

/* Keeps what is known of the node's latency. If a node is twice on the path,
 * only the first hop gets it. */
static long set_hop(__u32 i, struct walk *k)
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

static __always_inline void set_path(struct walk *k)
{
	__u32 kept = k->hops;

	__builtin_memcpy(k->w->old, k->flow->hop, sizeof(k->w->old));
	bpf_loop(k->hops, set_hop, k, 0);
	for (__u32 j = 0; j < FAST_HOPS && kept < FAST_HOPS; j++)
		if (k->w->old[j].latency.flags)
			*hop_of(k, kept++) = k->w->old[j];
	k->flow->hops = k->hops;
}

/* Reports the packet's path, which becomes the flow's. 0: there was no room. */
static __noinline int report_path(struct walk *k)
{
	struct fast_path *p = &k->w->path;
	__u32 kinds = FAST_PERIODIC;
	__u64 len;

	p->n = k->hops;
	p->old = 0;
	bpf_loop(k->hops, list_new_hop, k, 0);
	if (k->changed) {
		p->old = k->flow->hops;
		kinds = p->old ? THRESHOLD_CHANGE : THRESHOLD_NEW;
		bpf_loop(p->old, list_old_hop, k, 0);
	}
	p->record = (struct fast_record){FAST_PATH, kinds, bpf_ktime_get_ns()};
	p->flow = k->w->parts.flow;
	len = offsetof(struct fast_path, node) + (p->n + p->old) * 4;
	if (len > sizeof(*p) || !send_record(p, len)) {
		k->w->unsent = true;
		return 0;
	}
	k->flow->era = rules.era;
	if (k->changed)
		set_path(k);
	return 1;
}

/* --- most packets, which are no event ------------------------------------- */

/* A known flow on its path, all values within the ranges, and all keys reported
 * in this era: nothing is written but the flow's counters. Any other packet
 * goes to compare_stack(). */
static __always_inline bool unchanged_port(const struct walk *k, __u32 at,
					   const struct fast_hop *h,
					   __u32 metric, __u32 egress, __u32 id)
{
	const struct fast_port *o = port_at(h->port[metric - 1]);
	const struct fast_field *f = &k->w->layout.metric[metric];
	__u32 v;

	if (!f->mask)
		return true;
	return value_of(k, at, f, &v) &&
	       !threshold_outside(&o->state.watch, v) &&
	       o->key.egress == egress && o->key.id == id &&
	       o->key.metric == metric;
}

static __always_inline bool unchanged_hop(struct walk *k,
					  const struct fast_hop *h, __u32 at)
{
	const struct fast_layout *layout = &k->w->layout;
	__u32 egress, queue, v;

	if (load32(&k->f, at + layout->node) != h->node)
		return false;
	if (layout->metric[METRIC_HOP_LATENCY].mask) {
		if (!value_of(k, at, &layout->metric[METRIC_HOP_LATENCY], &v) ||
		    threshold_outside(&h->latency.watch, v))
			return false;
		k->latency += v;
	}
	egress = id_of(k, at, FIELD_EGRESS);
	queue = id_of(k, at, FIELD_QUEUE);
	return unchanged_port(k, at, h, METRIC_LINK_UTILIZATION, egress, ~0u) &&
	       unchanged_port(k, at, h, METRIC_QUEUE_OCCUPANCY, egress,
			      queue) &&
	       unchanged_port(k, at, h, METRIC_QUEUE_CONGESTION, egress,
			      queue) &&
	       (!layout->metric[METRIC_BUFFER_OCCUPANCY].mask ||
		unchanged_port(k, at, h, METRIC_BUFFER_OCCUPANCY, ~0u,
			       id_of(k, at, FIELD_BUFFER)));
}

static __always_inline void count_packet(struct work *w, struct fast_flow *flow)
{
	__sync_fetch_and_add(&flow->packets, 1);
	__sync_fetch_and_add(&flow->bytes, w->parts.ip_len);
	flow->last_ns = now_of(w);
}

/* Takes a packet that is no event. False: it may be one. */
static __always_inline bool take_unchanged(const struct xdp_md *ctx,
					   struct work *w)
{
	struct walk k = {.w = w};
	struct fast_flow *flow = flow_find(&w->parts.flow);
	__u32 at;

	k.f.data = (const __u8 *)(long)ctx->data;
	k.f.end = (const __u8 *)(long)ctx->data_end;
	k.hops = w->parts.hops;
	if (!flow || flow->hops != k.hops || flow->settled != rules.era)
		return false;
	at = w->parts.stack + k.hops * w->parts.hop_len;
	for (__u32 i = 0; i < FAST_HOPS && i < k.hops; i++) {
		at -= w->parts.hop_len;
		if (!unchanged_hop(&k, &flow->hop[i], at))
			return false;
	}
	if (w->layout.metric[METRIC_HOP_LATENCY].mask &&
	    (k.latency >> 32 ||
	     threshold_outside(&flow->latency.watch, (__u32)k.latency)))
		return false;
	count_packet(w, flow);
	return true;
}

/* --- all others ----------------------------------------------------------- */

/* Runs over all hops before anything is changed: the packet may be unsure. */
static long check_hop(__u32 i, struct walk *k)
{
	const struct fast_layout *layout = &k->w->layout;
	__u32 at = hop_at(k, i), node = node_of(k, i);

	if (node == ~0u ||
	    (layout->stamps &&
	     load32(&k->f, at + layout->metric[METRIC_HOP_LATENCY].word) ==
		     ~0u)) {
		k->unsure = true;
		return 1;
	}
	if (!k->flow || hop_of(k, i)->node != node)
		k->changed = true;
	return 0;
}

/* Compares a metric of a queue, a link or a buffer. */
static __always_inline void compare_port(struct walk *k, struct fast_hop *h,
					 __u32 at, struct fast_port_key *key,
					 __u32 metric, __u32 id)
{
	struct fast_value *rec = &k->w->value;
	struct fast_counters *c;
	struct fast_port *o;
	__u32 v;

	if (!value_of(k, at, &k->w->layout.metric[metric], &v))
		return;
	key->metric = metric;
	key->id = id;
	o = find_port(key, &h->port[metric - 1]);
	if (!o) {
		if ((c = counters_of_cpu()))
			c->unplaced++;
		return;
	}
	if (!is_outside(&o->state, v))
		return;
	rec->metric = metric;
	rec->node = key->node;
	rec->egress = key->egress;
	rec->id = id;
	check_value(k->w, &o->state, v, false);
}

static __always_inline void compare_latency(struct walk *k,
					    struct fast_key_state *s,
					    __u32 metric, __u32 node, __u32 v)
{
	struct fast_value *rec = &k->w->value;

	if (!is_outside(s, v))
		return;
	rec->metric = metric;
	rec->node = node;
	rec->egress = rec->id = ~0u;
	check_value(k->w, s, v, true);
}

static long compare_hop(__u32 i, struct walk *k)
{
	const struct fast_field *latency =
		&k->w->layout.metric[METRIC_HOP_LATENCY];
	struct fast_port_key key = {.node = node_of(k, i)};
	struct fast_hop *h = hop_of(k, i);
	__u32 at = hop_at(k, i), queue, v;

	if (value_of(k, at, latency, &v)) {
		k->latencies++;
		k->latency += v;
		compare_latency(k, &h->latency, METRIC_HOP_LATENCY, key.node,
				v);
	}
	key.egress = id_of(k, at, FIELD_EGRESS);
	queue = id_of(k, at, FIELD_QUEUE);
	compare_port(k, h, at, &key, METRIC_LINK_UTILIZATION, ~0u);
	compare_port(k, h, at, &key, METRIC_QUEUE_OCCUPANCY, queue);
	compare_port(k, h, at, &key, METRIC_QUEUE_CONGESTION, queue);
	key.egress = ~0u;
	compare_port(k, h, at, &key, METRIC_BUFFER_OCCUPANCY,
		     id_of(k, at, FIELD_BUFFER));
	return 0;
}

int compare_stack(struct xdp_md *ctx, struct work *w);

/* False: the packet is not for this program. */
__noinline int compare_stack(struct xdp_md *ctx, struct work *w)
{
	struct walk k = {.w = w};
	struct fast_flow *flow;
	__u32 era = rules.era;

	if (!w)
		return false;
	k.f.data = (const __u8 *)(long)ctx->data;
	k.f.end = (const __u8 *)(long)ctx->data_end;
	k.hops = w->parts.hops;
	k.hop_len = w->parts.hop_len;
	k.stack = w->parts.stack;
	flow = k.flow = flow_find(&w->parts.flow);
	k.changed = !flow || flow->hops != k.hops;
	bpf_loop(k.hops, check_hop, &k, 0);
	if (k.unsure)
		return false;
	if (!flow && !(flow = flow_add(&w->parts.flow, now_of(w))))
		return false;
	k.flow = flow;
	count_packet(w, flow);
	w->unsent = false;
	if (k.changed || (flow->era ^ rules.era) & FAST_PUSHES_MASK)
		if (!report_path(&k) && k.changed)
			return true; /* the next packet tries it again */
	bpf_loop(k.hops, compare_hop, &k, 0);
	if (k.latencies == k.hops)
		compare_latency(&k, &flow->latency, METRIC_FLOW_LATENCY, ~0u,
				k.latency > ~0u ? ~0u : (__u32)k.latency);
	flow->settled = w->unsent ? 0 : era;
	return true;
}

/* --- the program ---------------------------------------------------------- */

enum {
	OURS = 1 << 8, /* beside enum found: the host's stack must not see it */
};

/* Sets w->layout to that of the packet's bitmap. */
static __always_inline bool find_layout(struct work *w, const struct frame *f)
{
	struct fast_layout_key key = {
		w->parts.int_ver, load16(f, w->parts.header + INT_AT_BITMAP)};
	const struct fast_layout *layout;

	if (key.int_ver != w->layout_key.int_ver ||
	    key.bitmap != w->layout_key.bitmap) {
		layout = bpf_map_lookup_elem(&int_layouts, &key);
		if (!layout)
			return false;
		w->layout = *layout;
		w->layout_key = key;
	}
	/* len 0: no layout was set yet, and the key is all zeros, too. */
	return w->layout.len && split_hops(f, &w->parts, &w->layout);
}

int find_telemetry(struct xdp_md *ctx, struct work *w);

/* Returns enum found, and OURS for a report or a sure INT-MD stack. Only the
 * first fragment of the frame is read. */
__noinline int find_telemetry(struct xdp_md *ctx, struct work *w)
{
	const struct frame f = {.data = (const __u8 *)(long)ctx->data,
				.end = (const __u8 *)(long)ctx->data_end};
	__u64 len = ctx->data_end - ctx->data; /* of 64 bits for the verifier */
	enum found is;
	struct parts *p;
	__u32 ours = OURS;

	if (!w)
		return FOUND_NOT;
	p = &w->parts;
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

/* Sends up the frame, or its first FAST_FRAME bytes. */
static __always_inline bool send_whole(struct xdp_md *ctx, struct work *w)
{
	__u64 len = bpf_xdp_get_buff_len(ctx);

	w->whole.record = (struct fast_record){FAST_WHOLE, 0,
					       bpf_ktime_get_ns()};
	w->whole.wire_len = len;
	if (len > FAST_FRAME)
		len = FAST_FRAME;
	w->whole.len = len;
	run_skip(w->parts.reporter, w->parts.number);
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
	    (take_unchanged(ctx, w) || compare_stack(ctx, w))) {
		c->taken++;
		run_extend(w->parts.reporter, w->parts.number);
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
