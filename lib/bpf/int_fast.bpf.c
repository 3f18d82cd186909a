/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int_fast.bpf.c - the INT sink's comparisons in the kernel: paper 003. Packets
 * with INT-MD and reports of them are parsed, each value is compared with the
 * last one that was told of its key, and what is an event goes up through a
 * ring; all else ends here. What it does not know goes up as it is.
 *
 * What is an event: measure/watch.h, whose rules these are. A reference moves
 * when its record has found room in the ring, so that an event which found none
 * is told with the next packet, if it is still true.
 *
 * Hops: as many as INT's length bytes allow. They are walked by bpf_loop()
 * (Linux 5.17), so that the verifier looks at one.
 */
#include "bpf/said_private.h"
#include "bpf/steady_private.h"
#include "bpf/numbers_private.h"

enum {
	OURS = 1 << 8,
};

/* First: nothing has been changed yet, if the packet cannot be taken. */
static long look_hop(__u32 i, struct walk *k)
{
	const struct fast_field *l = &k->plan->metric[FAST_HOP_LATENCY];
	__u32 at = hop_at(k, i);
	__u32 node = word_of(k, at + k->plan->node);

	turn_chunk(k, i);
	if (node == ~0u ||
	    (k->plan->stamps && word_of(k, at + l->word) == ~0u)) {
		k->odd = true;
		return 1;
	}
	if (!k->flow || hop_of(k, i)->node != node)
		k->changed = true;
	return 0;
}

/* A field of the hop at that place, scaled; above 32 bits it is ~0. */
static __always_inline bool
value_of(const struct walk *k, const struct fast_field *f, __u32 at, __u32 *v)
{
	__u64 number;
	__u32 word;

	if (!f->mask)
		return false;
	word = word_of(k, at + f->word);
	number = (__u64)(word >> (f->shift & 31) & f->mask) * f->scale;
	*v = number > ~0u ? ~0u : (__u32)number;
	return word != ~0u;
}

static __always_inline __u32 id_of(const struct walk *k, __u32 i, __u32 at)
{
	const struct fast_field *f = &k->plan->id[i];
	__u32 word;

	if (!f->mask)
		return ~0u;
	word = word_of(k, at + f->word);
	return word != ~0u ? word >> (f->shift & 31) & f->mask : ~0u;
}

/* A queue, a link or a buffer: measure/metric.h has their keys. */
static __always_inline void
take_object(struct walk *k, __u32 i, const struct fast_object_key *key, __u32 v)
{
	struct fast_object *o = object_of(
		key, &hop_of(k, i)->object[key->metric - 1]);
	struct fast_number *n = &k->w->number;
	struct fast_counters *c;

	if (!o) {
		if ((c = counters()))
			c->unplaced++;
		return;
	}
	if (!is_out(&o->seen, v))
		return;
	n->metric = key->metric;
	n->node = key->node;
	n->egress = key->egress;
	n->id = key->id;
	judge(k->w, &o->seen, v, false);
}

/* A node's first hop on the path: one that is there twice is one key, and its
 * later hops know nothing. */
static __noinline struct fast_seen *first_of(struct walk *k, __u32 node)
{
	struct walk to = {.w = k->w, .wanted = node, .found = ~0u};
	__u32 hops = k->hops;

	to.flow = flow_find(&k->w->place.flow);
	if (to.flow && hops <= FAST_HOPS)
		bpf_loop(hops, find_node, &to, 0);
	return to.found != ~0u && to.flow ? &hop_of(&to, to.found)->latency
					  : NULL;
}

static __always_inline void take_latency(struct walk *k, __u32 i, __u32 node,
					 __u32 v)
{
	struct fast_seen *s = &hop_of(k, i)->latency;
	struct fast_number *n = &k->w->number;

	k->told++;
	k->sum += v;
	if (!is_out(s, v))
		return;
	if (!s->flags && (!(s = first_of(k, node)) || !is_out(s, v)))
		return;
	n->metric = FAST_HOP_LATENCY;
	n->node = node;
	n->egress = n->id = ~0u;
	judge(k->w, s, v, true);
}

static long take_hop(__u32 i, struct walk *k)
{
	const struct fast_field *f = k->plan->metric;
	__u32 at = hop_at(k, i), v;
	struct fast_object_key key = {.node = word_of(k, at + k->plan->node)};
	__u32 egress, queue;

	turn_chunk(k, i);
	if (!k->flow)
		return 1;
	if (value_of(k, &f[FAST_HOP_LATENCY], at, &v))
		take_latency(k, i, key.node, v);
	egress = id_of(k, 0, at);
	queue = id_of(k, 1, at);
	key.egress = egress;
	key.metric = FAST_LINK_UTILIZATION;
	key.id = ~0u;
	if (value_of(k, &f[FAST_LINK_UTILIZATION], at, &v))
		take_object(k, i, &key, v);
	key.id = queue;
	key.metric = FAST_QUEUE_OCCUPANCY;
	if (value_of(k, &f[FAST_QUEUE_OCCUPANCY], at, &v))
		take_object(k, i, &key, v);
	key.metric = FAST_QUEUE_CONGESTION;
	if (value_of(k, &f[FAST_QUEUE_CONGESTION], at, &v))
		take_object(k, i, &key, v);
	if (value_of(k, &f[FAST_BUFFER_OCCUPANCY], at, &v)) {
		key.metric = FAST_BUFFER_OCCUPANCY;
		key.egress = ~0u;
		key.id = id_of(k, 2, at);
		take_object(k, i, &key, v);
	}
	return 0;
}

static __always_inline void take_end_to_end(struct walk *k,
					    struct fast_flow *flow)
{
	__u32 v = k->sum > ~0u ? ~0u : (__u32)k->sum;
	struct fast_number *n = &k->w->number;

	if (k->told != k->hops || !is_out(&flow->latency, v))
		return;
	n->metric = FAST_FLOW_LATENCY;
	n->node = n->egress = n->id = ~0u;
	judge(k->w, &flow->latency, v, true);
}

/* False: it is not for this program. */
__noinline int take(struct work *w)
{
	struct walk k = {.w = w};
	struct fast_flow *flow;
	__u32 era = rules.era;

	if (!w)
		return false;
	k.plan = &w->plan;
	k.hops = w->place.hops;
	k.hop_len = w->place.hop_len;
	k.stack = w->place.stack;
	flow = flow_find(&w->place.flow);
	k.flow = flow;
	k.changed = !flow || flow->hops != k.hops;
	bpf_loop(k.hops, look_hop, &k, 0);
	if (k.odd || (!flow && !(flow = new_flow(&k, now_of(w)))))
		return false;
	count_packet(w, flow);
	w->untold = false;
	if (k.changed || (flow->era ^ rules.era) & FAST_EPOCHS)
		if (!take_path(&k, flow) && k.changed)
			return true; /* the whole packet waits for the next */
	k.flow = flow;
	bpf_loop(k.hops, take_hop, &k, 0);
	take_end_to_end(&k, flow);
	flow->settled = w->untold ? 0 : era;
	return true;
}

__noinline int send_run(struct fast_run *run)
{
	if (!run)
		return false;
	run->record.ns = bpf_ktime_get_ns();
	return !bpf_ringbuf_output(&int_ring, run, sizeof(*run), 0);
}

__noinline int unheard(__u32 n)
{
	struct fast_counters *c = counters();

	if (c)
		c->unheard += n;
	return 0;
}

static __always_inline int send_whole(struct work *w, struct fast_counters *c,
				      bool ours)
{
	__u64 len = offsetof(struct fast_whole, byte), n = w->whole.len;
	bool told = number_aside(w->place.reporter, w->place.number);

	if (n > FAST_FRAME)
		n = FAST_FRAME;
	w->whole.record = (struct fast_record){FAST_WHOLE, 0,
					       bpf_ktime_get_ns()};
	w->whole.len = n;
	if (!told || bpf_ringbuf_output(&int_ring, &w->whole, len + n, 0)) {
		c->lost++;
		number_lost(w->place.reporter, w->place.number);
		return ours ? XDP_DROP : XDP_PASS;
	}
	if (ours)
		c->whole++;
	else
		c->copied++;
	return ours ? XDP_DROP : XDP_PASS;
}

/* The plan of the packet's bitmap, in w->plan. */
static __always_inline bool has_plan(struct work *w, const struct frame *f)
{
	struct fast_plan_key key = {w->place.words,
				    load16(f, w->place.header + INT_AT_BITMAP)};
	const struct fast_plan *plan;

	if (key.words != w->plan_key.words ||
	    key.bitmap != w->plan_key.bitmap) {
		plan = bpf_map_lookup_elem(&int_plans, &key);
		if (!plan)
			return false;
		w->plan = *plan;
		w->plan_key = key;
	}
	/* No plan yet: its key would be that of a bitmap without bits. */
	return w->plan.len && divide(f, &w->place, &w->plan);
}

/* enum found, and OURS: it is a report, or INT that can be taken. */
static __always_inline int find_in(struct work *w, const struct frame *f)
{
	struct place *p = &w->place;
	__u32 end = p->end, ours = OURS;
	enum found is = ip_at(f, p, NET_ETHERTYPE_ETH, 0);

	p->reporter = 0;
	if (is != FOUND_STACK)
		return is;
	p->cut = p->ip + p->ip_len > end;
	if (profile.report_port && p->protocol == NET_PROTO_UDP &&
	    load16(f, p->l4 + NET_UDP_AT_DST) == profile.report_port &&
	    udp_at(f, p)) {
		is = in_report(f, p);
	} else {
		is = in_ip(f, p);
		if (is != FOUND_STACK)
			ours = 0;
	}
	if (is == FOUND_STACK && !has_plan(w, f))
		is = FOUND_UNSURE;
	return ours | is;
}

int find(struct xdp_md *ctx, struct work *w);
int find_copied(struct work *w);

/* In a frame that is in one piece. */
__noinline int find(struct xdp_md *ctx, struct work *w)
{
	const struct frame f = {.data = (const __u8 *)(long)ctx->data,
				.end = (const __u8 *)(long)ctx->data_end};

	return w ? find_in(w, &f) : FOUND_NOT;
}

__noinline int find_copied(struct work *w)
{
	const struct frame f = {.copy = &w->whole};

	return w ? find_in(w, &f) : FOUND_NOT;
}

/* As much of the frame as is looked at, to w->whole. */
static __always_inline bool copy(struct xdp_md *ctx, struct work *w)
{
	__u64 len;

	if (w->copied)
		return true;
	len = bpf_xdp_get_buff_len(ctx);
	w->whole.wire_len = len;
	if (len > FAST_FRAME)
		len = FAST_FRAME;
	w->whole.len = len;
	w->place.end = len;
	w->copied = len >= NET_ETH_LEN &&
		    !bpf_xdp_load_bytes(ctx, 0, w->whole.byte, len);
	return w->copied;
}

/* Frames in several pieces are copied first. Whether one is costs a call, which
 * most do not need. */
static __always_inline int find_all(struct xdp_md *ctx, struct work *w)
{
	__u64 len = ctx->data_end - ctx->data; /* 64 bits: the verifier's */
	int is;

	w->place.end = len < FAST_FRAME ? len : FAST_FRAME;
	w->place.cut = true;
	w->copied = false;
	is = find(ctx, w);
	if (!w->place.cut || len >= FAST_FRAME ||
	    bpf_xdp_get_buff_len(ctx) == len)
		return is;
	return copy(ctx, w) ? find_copied(w) : FOUND_NOT;
}

SEC("xdp.frags") int int_take(struct xdp_md *ctx)
{
	struct fast_counters *c = counters();
	__u32 zero = 0;
	struct work *w;
	int is, ours;

	w = bpf_map_lookup_elem(&int_work, &zero);
	if (!c || !w)
		return XDP_PASS;
	c->frames++;
	is = find_all(ctx, w);
	if (is == FOUND_NOT) {
		c->passed++;
		return XDP_PASS;
	}
	ours = is & OURS;
	is &= ~OURS;
	if (is == FOUND_STACK && !w->copied && steady(ctx, w)) {
		c->taken++;
		number_next(w->place.reporter, w->place.number);
		return XDP_DROP;
	}
	if (!copy(ctx, w)) {
		c->passed++;
		return XDP_PASS;
	}
	if (is == FOUND_STACK && take(w)) {
		c->taken++;
		number_next(w->place.reporter, w->place.number);
		return XDP_DROP;
	}
	return send_whole(w, c, ours);
}

/* All of said: its flow's path, and values in their order. */
SEC("syscall") int int_judge(void *ctx)
{
	struct work *w = &said_work;

	(void)ctx;
	w->place.flow = said.flow;
	if (said.hops)
		take_said_path(w);
	bpf_loop(said.n, take_saying, NULL, 0);
	return 0;
}

char _license[] SEC("license") = "Dual BSD/GPL";
