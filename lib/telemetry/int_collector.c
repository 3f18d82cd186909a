/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int_collector.c - in this order: sinks of rows for several threads; frames
 * that go on, kept in memory; what of a batch is kept until it is over;
 * messages, as they are sent and as they are received; the collector.
 */
#include "telemetry/int_collector.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "packet/kind.h"
#include "telemetry/hops.h"
#include "telemetry/take.h"
#include "threads/threads.h"

enum {
	FRAME_ROOM = 1 << 16, /* bytes that there is room for more at a time */
	CHUNK = 64 << 10,     /* bytes of what is kept of views, at a time */
	PLAN_SLOTS = 64,
	SINKS = sizeof(struct telemetry_sinks) / sizeof(struct row_sink *),
	MASK_HOPS = 64, /* of a message */
};

_Static_assert((int)INT_COLLECTOR_WORKERS <= (int)THREADS_MAX, "workers");

/* A sink of rows that puts them into another one, one thread at a time. */
struct locked_sink {
	struct row_sink sink;
	struct row_sink *to;
	pthread_mutex_t *lock;
};

/* A sink of packets that keeps them in memory, each behind its head. */
struct frames {
	struct snk snk;
	uint8_t *base;
	size_t size, used;
};

struct frame_head {
	uint32_t len, wire_len;
	uint64_t ts_ns;
};

/* Memory that is taken piece by piece and forgotten all at once. */
struct chunk {
	struct chunk *next;
	size_t used;
	uint8_t byte[CHUNK] __attribute__((aligned(64)));
};

struct kept_plan {
	struct int_plan plan;
	struct kept_plan *next; /* of the slot */
};

/* A batch under way: what messages of it lead to. */
struct batch {
	struct int_collector *c;
	struct worker *worker;
	struct intake *in;
	struct intake_ledger seen; /* its counters, as of the last batch */
	struct frames *frames;	   /* NULL: none go on */
	struct chunk *first, *now;
	struct kept_plan *plan[PLAN_SLOTS];
	const struct int_plan *latest;
	uint64_t now_ns, keep_ns; /* as in a sink, of this batch alone */
	struct threads_out *out;  /* to owners */
};

struct worker {
	struct batch batch[THREADS_PLACES];
	struct made_plans plans;
	struct filter_ledger filtered;
	struct int_collector_share share;
	const struct pkt *pkts; /* of the batch that is begun */
	size_t n;
	struct pkt room[PKT_BATCH];
};

struct int_collector {
	struct int_collector_options o;
	struct threads *threads; /* NULL: one worker, or not started */
	struct snk *out;
	int (*take)(void *ctx, struct pkt *room, int max);
	void *ctx;
	unsigned owners;
	/* By owner; if all is kept in one, both are that one. */
	struct telemetry *flows[INT_COLLECTOR_WORKERS];
	struct telemetry *nodes[INT_COLLECTOR_WORKERS];
	struct worker *worker[INT_COLLECTOR_WORKERS];
	struct locked_sink locked[SINKS];
	pthread_mutex_t lock;
	struct intake_ledger counters;
	int error; /* the first; atomic */
};

static int error_of(const struct int_collector *c)
{
	return __atomic_load_n(&c->error, __ATOMIC_RELAXED);
}

static void fail(struct int_collector *c, int error)
{
	if (error < 0 && !error_of(c))
		__atomic_store_n(&c->error, error, __ATOMIC_RELAXED);
}

static int put_locked(struct row_sink *s, struct row_batch *b)
{
	struct locked_sink *l = (struct locked_sink *)s;
	int rc;

	pthread_mutex_lock(l->lock);
	rc = l->to->put(l->to, b);
	pthread_mutex_unlock(l->lock);
	return rc;
}

static int flush_locked(struct row_sink *s)
{
	struct locked_sink *l = (struct locked_sink *)s;
	int rc;

	pthread_mutex_lock(l->lock);
	rc = l->to->flush(l->to);
	pthread_mutex_unlock(l->lock);
	return rc;
}

static struct telemetry_sinks lock_sinks(struct int_collector *c,
					 const struct telemetry_sinks *behind)
{
	struct row_sink *to[SINKS];
	struct telemetry_sinks sinks;

	memcpy(to, behind, sizeof(to));
	for (unsigned i = 0; i < SINKS; i++) {
		c->locked[i] = (struct locked_sink){
			{put_locked, flush_locked, NULL}, to[i], &c->lock};
		if (to[i])
			to[i] = &c->locked[i].sink;
	}
	memcpy(&sinks, to, sizeof(sinks));
	return sinks;
}

/* Where the next frame goes. */
static void set_frame_room(struct frames *s)
{
	size_t at = s->used + sizeof(struct frame_head);

	s->snk.room = at < s->size ? s->size - at : 0;
	s->snk.at = s->base + (s->snk.room ? at : 0);
}

static int grow_frames(struct snk *snk, size_t len)
{
	struct frames *s = (struct frames *)snk;
	size_t size = s->used + sizeof(struct frame_head) + len + FRAME_ROOM;
	uint8_t *base = realloc(s->base, size += size / 2);

	if (!base)
		return -ENOMEM;
	s->base = base;
	s->size = size;
	set_frame_room(s);
	return 0;
}

static void frame_done(struct snk *snk, size_t len, uint32_t wire_len,
		       uint64_t ts_ns)
{
	struct frames *s = (struct frames *)snk;
	const struct frame_head h = {(uint32_t)len, wire_len, ts_ns};

	memcpy(s->base + s->used, &h, sizeof(h));
	s->used += sizeof(h) + len;
	set_frame_room(s);
}

static int flush_frames(struct snk *snk)
{
	(void)snk;
	return 0;
}

static int close_frames(struct snk *snk, int rc)
{
	struct frames *s = (struct frames *)snk;

	free(s->base);
	free(s);
	return rc;
}

static struct frames *open_frames(void)
{
	static const struct snk_ops ops = {.room = grow_frames,
					   .done = frame_done,
					   .flush = flush_frames,
					   .close = close_frames};
	struct frames *s = calloc(1, sizeof(*s));

	if (s) {
		s->snk.ops = &ops;
		s->snk.kind = "memory";
	}
	return s;
}

/* All frames to another sink, in their order. */
static int pass_frames(struct frames *s, struct snk *to)
{
	struct frame_head h;
	int rc = 0;

	for (size_t at = 0; at < s->used && !rc; at += sizeof(h) + h.len) {
		uint8_t *room;

		memcpy(&h, s->base + at, sizeof(h));
		if (!(room = snk_room(to, h.len))) {
			rc = -errno;
			break;
		}
		memcpy(room, s->base + at + sizeof(h), h.len);
		snk_done_cut(to, h.len, h.wire_len, h.ts_ns);
	}
	s->used = 0;
	if (s->base)
		set_frame_room(s);
	return rc;
}

/* A copy of some bytes that lasts as long as the batch; NULL: no memory. */
static void *keep(struct batch *b, const void *from, size_t size)
{
	struct chunk *k = b->now;
	void *to;

	if (!k || k->used + size > CHUNK) {
		struct chunk **next = k ? &k->next : &b->first;

		if (!*next) {
			*next = aligned_alloc(64, sizeof(**next));
			if (!*next)
				return NULL;
			(*next)->next = NULL;
		}
		b->now = k = *next;
		k->used = 0;
	}
	to = memcpy(k->byte + k->used, from, size);
	k->used += (size + 63) & ~(size_t)63;
	return to;
}

/* The same plan, as long as the batch lasts: the decoder forgets plans if too
 * many are in use. NULL: no memory. */
static const struct int_plan *keep_plan(struct batch *b,
					const struct int_plan *plan)
{
	const struct kept_plan fresh = {*plan, NULL};
	uint64_t hash = rng_mix((uintptr_t)plan->words ^ plan->bitmap);
	struct kept_plan **slot = &b->plan[hash % PLAN_SLOTS], *k;

	if (b->latest && b->latest->words == plan->words &&
	    b->latest->bitmap == plan->bitmap)
		return b->latest;
	for (k = *slot; k; k = k->next)
		if (k->plan.words == plan->words &&
		    k->plan.bitmap == plan->bitmap)
			return b->latest = &k->plan;
	if (!(k = keep(b, &fresh, sizeof(fresh))))
		return NULL;
	k->next = *slot;
	*slot = k;
	return b->latest = &k->plan;
}

/* What is longer than a message, as long as the batch lasts. */
static const struct int_view *keep_view(struct batch *b,
					const struct int_view *from)
{
	struct int_view v = *from;

	v.from.numbered = false; /* that is a message of its own */
	if (v.own.plan && !(v.own.plan = keep_plan(b, v.own.plan)))
		return NULL;
	if (v.stack.plan && !(v.stack.plan = keep_plan(b, v.stack.plan)))
		return NULL;
	if (v.stack.at && !(v.stack.at = keep(b, v.stack.at,
					      v.stack.n * sizeof(*v.stack.at))))
		return NULL;
	return keep(b, &v, sizeof(v));
}

static void forget(struct batch *b)
{
	b->now = NULL;
	b->latest = NULL;
	memset(b->plan, 0, sizeof(b->plan));
	b->now_ns = b->keep_ns = 0;
}

/* Messages: words of 8 bytes, the first of which begins with the kind. */
enum kind {
	CLOCK,
	NUMBER,
	VIEW,
	HOPS,
	END,
};

/* CLOCK: it is so late. END: so does the batch end. */
struct clock_message {
	uint8_t kind;
	bool full; /* END: the batch was */
	uint64_t now_ns;
};

struct number_message {
	uint8_t kind, hw_id, bits;
	bool has_node;
	uint32_t node, sequence;
	uint64_t ts_ns;
};

/* A view: what the sink asks for of most. Longer ones are kept: IPv6, metadata
 * of the reporter's own, hops that are not equally long, drops. */
struct view_message {
	uint8_t kind, flags, hops, key_len;
	uint16_t len; /* of a hop */
	bool kept;
	uint8_t key[KEY_FLOW4_LEN];
	uint32_t ip_len;
	uint64_t ts_ns, hash;
	union {
		const struct int_plan *plan; /* of its stack */
		const struct int_view *view; /* if it is kept */
	};
	const uint8_t *data; /* the stack */
};

/* Some hops of a view: hop first + i, if bit i is set. */
struct hops_message {
	uint8_t kind, hops, first;
	bool kept;
	uint16_t len;
	uint64_t ts_ns;
	union {
		const struct int_plan *plan;
		const struct int_view *view;
	};
	const uint8_t *data;
	uint64_t mask;
};

static const uint8_t words[] = {
	[CLOCK] = (sizeof(struct clock_message) + 7) / 8,
	[NUMBER] = (sizeof(struct number_message) + 7) / 8,
	[VIEW] = (sizeof(struct view_message) + 7) / 8,
	[HOPS] = (sizeof(struct hops_message) + 7) / 8,
	[END] = (sizeof(struct clock_message) + 7) / 8,
};

static inline void *message(struct batch *b, unsigned owner, enum kind kind)
{
	return threads_send(&b->out[owner], words[kind]);
}

/* Numbers from 0 to below owners, by a hash. */
static inline unsigned owner_of(const struct int_collector *c, uint64_t hash)
{
	return (unsigned)((hash >> 32) * c->owners >> 32);
}

static inline unsigned owner_of_flow(const struct int_collector *c,
				     uint64_t hash)
{
	const struct flows *fl = &c->flows[0]->flows;

	return (unsigned)(flows_row_of(fl, hash) * c->owners / fl->o.rows);
}

static void send_clock(struct batch *b, unsigned owner, uint64_t now_ns)
{
	*(struct clock_message *)message(
		b, owner, CLOCK) = (struct clock_message){.kind = CLOCK,
							  .now_ns = now_ns};
}

/* Things are looked after by all owners at the same packet; whoever knows of a
 * later time from batches before passes over this one. */
static inline void go_to(struct batch *b, uint64_t ts_ns)
{
	if (ts_ns <= b->now_ns)
		return;
	b->now_ns = ts_ns;
	if (ts_ns < b->keep_ns)
		return;
	b->keep_ns = telemetry_keep_at(ts_ns);
	for (unsigned i = 0; i < b->c->owners; i++)
		send_clock(b, i, ts_ns);
}

static void send_number(struct batch *b, const struct int_from *from,
			uint64_t ts_ns)
{
	uint64_t hash = rng_mix((uint64_t)from->node << 9 | from->hw_id << 1 |
				from->has_node);

	*(struct number_message *)message(b, owner_of(b->c, hash),
					  NUMBER) = (struct number_message){
		.kind = NUMBER,
		.hw_id = from->hw_id,
		.bits = from->sequence_bits,
		.has_node = from->has_node,
		.node = from->node,
		.sequence = from->sequence,
		.ts_ns = ts_ns};
}

static inline void send_view(struct batch *b, const struct int_view *v,
			     const struct int_plan *plan,
			     const struct int_view *kept)
{
	uint64_t hash = v->key_len ? flows_hash(v->key, v->key_len) : 0;
	unsigned owner = owner_of_flow(b->c, hash);
	struct view_message *m;

	if (b->now_ns > v->ts_ns)
		send_clock(b, owner, b->now_ns);
	m = message(b, owner, VIEW);
	m->kind = VIEW;
	m->flags = v->flags;
	m->hops = v->stack.n;
	m->key_len = v->key_len;
	m->len = v->stack.len;
	m->kept = kept;
	memcpy(m->key, v->key, sizeof(m->key));
	m->ip_len = v->ip_len;
	m->ts_ns = v->ts_ns;
	m->hash = hash;
	if (kept)
		m->view = kept;
	else
		m->plan = plan;
	m->data = v->stack.data;
}

static inline bool has_objects(const struct fields *f)
{
	return f && f->objects;
}

static inline unsigned owner_of_node(const struct int_collector *c,
				     const struct view_hops *vh, unsigned i)
{
	uint64_t node = i < vh->stacked
				? field_node(&vh->stack->node, view_hop(vh, i))
				: view_node(vh, i);

	return owner_of(c, node * 0x9e3779b97f4a7c15);
}

/* Hops of a view to the owners of their nodes. */
static inline void send_hops(struct batch *b, const struct int_view *v,
			     const struct int_plan *plan,
			     const struct int_view *kept)
{
	const struct int_collector *c = b->c;
	struct view_hops vh;

	view_hops_of(&b->worker->plans, &vh, v);
	if (!has_objects(vh.stack) && !has_objects(vh.own) && !v->stack.at)
		return;
	for (unsigned first = 0; first < vh.n; first += MASK_HOPS) {
		uint64_t mask[INT_COLLECTOR_WORKERS];
		unsigned n = vh.n - first < MASK_HOPS ? vh.n - first
						      : MASK_HOPS;

		memset(mask, 0, c->owners * sizeof(*mask));
		for (unsigned i = 0; i < n; i++)
			mask[owner_of_node(c, &vh, first + i)] |= 1ULL << i;
		for (unsigned owner = 0; owner < c->owners; owner++) {
			struct hops_message *m;

			if (!mask[owner])
				continue;
			m = message(b, owner, HOPS);
			m->kind = HOPS;
			m->hops = v->stack.n;
			m->first = (uint8_t)first;
			m->kept = kept;
			m->len = v->stack.len;
			m->ts_ns = v->ts_ns;
			if (kept)
				m->view = kept;
			else
				m->plan = plan;
			m->data = v->stack.data;
			m->mask = mask[owner];
		}
	}
}

static bool is_long(const struct int_view *v)
{
	return v->key_len > KEY_FLOW4_LEN || v->own.n || v->stack.at ||
	       !v->stack.n || v->flags & INT_DROPPED;
}

static int send(struct batch *b, const struct int_view *v)
{
	const struct int_view *kept = NULL;
	const struct int_plan *plan = NULL;

	go_to(b, v->ts_ns);
	if (v->from.numbered && !b->c->o.filter)
		send_number(b, &v->from, v->ts_ns);
	if (is_long(v))
		kept = keep_view(b, v);
	else
		plan = keep_plan(b, v->stack.plan);
	if (!kept && !plan)
		return -ENOMEM;
	send_view(b, v, plan, kept);
	if (b->c->owners > 1)
		send_hops(b, v, plan, kept);
	b->worker->share.views++;
	return 0;
}

/* Of n views from the first on, those that the filter lets through before it
 * refuses one; *past: how many of them are dealt with. */
static size_t choose(struct batch *b, const struct int_view *v, size_t n,
		     size_t *past)
{
	struct filter_ledger *l = &b->worker->filtered;
	size_t k = 0;

	*past = n;
	if (!b->c->o.filter)
		return n;
	while (k < n && expr_match(b->c->o.filter, &v[k]))
		k++;
	*past = k + (k < n);
	l->views += *past;
	l->matched += k;
	l->others += *past - k;
	return k;
}

/* intake_options.views, on one core and on several. */
static int on_views(void *ctx, const struct int_view *v, size_t n)
{
	struct batch *b = ctx;
	size_t past;
	int rc = 0;

	for (; n && !rc; v += past, n -= past) {
		size_t chosen = choose(b, v, n, &past);

		if (!b->c->threads)
			rc = telemetry_take(b->c->flows[0], v, chosen);
		for (size_t i = 0; b->c->threads && i < chosen && !rc; i++)
			rc = send(b, &v[i]);
	}
	return rc;
}

/* intake_options.number. Behind a filter numbers are no sequence. */
static int on_number(void *ctx, uint64_t ts_ns, const struct int_from *from)
{
	struct batch *b = ctx;

	if (b->c->o.filter)
		return 0;
	if (!b->c->threads)
		return telemetry_numbers(b->c->flows[0], ts_ns, from, 1, false);
	go_to(b, ts_ns);
	send_number(b, from, ts_ns);
	return 0;
}

static void send_end(struct batch *b, bool full)
{
	for (unsigned i = 0; i < b->c->owners; i++)
		*(struct clock_message *)message(b, i,
						 END) = (struct clock_message){
			.kind = END, .full = full, .now_ns = b->now_ns};
}

/* threads_options.work */
static void work(void *ctx, const struct threads_batch *tb, unsigned round)
{
	struct int_collector *c = ctx;
	struct worker *w = c->worker[tb->worker];
	struct batch *b = &w->batch[tb->place];

	if (round)
		return;
	forget(b);
	b->out = threads_outs(c->threads, tb->worker);
	w->share.batches++;
	w->share.packets += w->n;
	fail(c, intake_take(b->in, w->pkts, w->n));
	send_end(b, w->n == PKT_BATCH);
}

/* What a message says of a view; other fields are zeros. */
static inline void set_stack(struct int_view *v, const struct int_plan *plan,
			     const uint8_t *data, uint16_t len, uint8_t hops)
{
	v->format = INT_MD;
	v->from = (struct int_from){.report = false};
	v->domain = v->domain_bits = v->source_len = 0;
	v->source = NULL;
	v->own = (struct int_hops){.plan = NULL};
	v->stack = (struct int_hops){
		.plan = plan, .data = data, .len = len, .n = hops};
}

static inline void on_view(struct telemetry *t, const struct view_message *m)
{
	struct int_view v;

	if (m->kept) {
		take_next_view(t, m->view, m->hash);
		return;
	}
	v.ts_ns = m->ts_ns;
	v.flags = m->flags;
	v.key_len = m->key_len;
	memcpy(v.key, m->key, sizeof(m->key));
	v.ip_len = m->ip_len;
	set_stack(&v, m->plan, m->data, m->len, m->hops);
	take_next_view(t, &v, m->hash);
}

static inline void on_hops(struct telemetry *t, const struct hops_message *m)
{
	struct int_view v;

	if (m->kept) {
		take_nodes(t, m->view, m->first, m->mask);
		return;
	}
	v.ts_ns = m->ts_ns;
	v.flags = v.key_len = 0;
	v.ip_len = 0;
	set_stack(&v, m->plan, m->data, m->len, m->hops);
	take_nodes(t, &v, m->first, m->mask);
}

static void on_number_message(struct telemetry *t,
			      const struct number_message *m)
{
	const struct int_from from = {.report = true,
				      .hw_id = m->hw_id,
				      .sequence_bits = m->bits,
				      .has_node = m->has_node,
				      .node = m->node,
				      .sequence = m->sequence};

	telemetry_numbers(t, m->ts_ns, &from, 1, false);
}

static void on_clock(struct int_collector *c, unsigned owner, uint64_t now_ns)
{
	telemetry_tick(c->flows[owner], now_ns);
	telemetry_tick(c->nodes[owner], now_ns);
}

/* A batch that is not full came live: nobody is to wait for more. */
static void on_end(struct int_collector *c, unsigned owner,
		   const struct clock_message *m, struct batch *b)
{
	on_clock(c, owner, m->now_ns);
	if (!m->full) {
		telemetry_pass(c->flows[owner]);
		telemetry_pass(c->nodes[owner]);
	}
	fail(c, c->flows[owner]->rows.err);
	fail(c, c->nodes[owner]->rows.err);
	if (owner)
		return;
	b->seen = *intake_counters(b->in);
	if (c->out && !error_of(c))
		fail(c, pass_frames(b->frames, c->out));
	if (c->out && !m->full)
		snk_flush(c->out); /* snk_close() tells of an error */
}

static inline enum kind kind_of(const struct threads_block *in, size_t i)
{
	return *(const uint8_t *)&in->word[i];
}

/* To be read, maybe by several owners. */
static inline void read_lines(const void *p, size_t len)
{
	for (size_t i = 0; i < len; i += LINE)
		__builtin_prefetch((const char *)p + i);
}

static inline void want_hops(const struct hops_message *m)
{
	if (m->kept)
		read_lines(m->view, sizeof(*m->view));
	else
		read_lines(m->data, (size_t)m->hops * m->len);
}

/* Asks for the lines of what messages lead to. */
static void prefetch(const struct int_collector *c, unsigned owner,
		     const struct threads_block *in)
{
	for (size_t i = 0; i < in->words; i += words[kind_of(in, i)]) {
		const struct view_message *m = (const void *)&in->word[i];

		if (m->kind == HOPS)
			want_hops((const void *)m);
		if (m->kind != VIEW)
			continue;
		__builtin_prefetch(flows_row(&c->flows[owner]->flows, m->hash));
		if (m->kept)
			read_lines(m->view, sizeof(*m->view));
		else
			read_lines(m->data, (size_t)m->hops * m->len);
	}
	for (size_t i = 0; i < in->words; i += words[kind_of(in, i)]) {
		const struct view_message *m = (const void *)&in->word[i];

		if (m->kind == VIEW && m->key_len)
			take_want(c->flows[owner], m->hash, m->hops);
	}
}

/* threads_options.receive */
static void receive(void *ctx, unsigned owner, const struct threads_block *in)
{
	struct int_collector *c = ctx;
	struct batch *b = &c->worker[in->from.worker]->batch[in->from.place];

	prefetch(c, owner, in);
	for (size_t i = 0; i < in->words;) {
		enum kind kind = kind_of(in, i);
		const void *m = &in->word[i];

		if (kind == VIEW)
			on_view(c->flows[owner], m);
		else if (kind == HOPS)
			on_hops(c->nodes[owner], m);
		else if (kind == NUMBER)
			on_number_message(c->nodes[owner], m);
		else if (kind == CLOCK)
			on_clock(c, owner,
				 ((const struct clock_message *)m)->now_ns);
		else
			on_end(c, owner, m, b);
		i += words[kind];
	}
}

/* threads_options.take */
static bool take(void *ctx, const struct threads_batch *b)
{
	struct int_collector *c = ctx;
	struct worker *w = c->worker[b->worker];
	int n = c->take(c->ctx, w->room, PKT_BATCH);

	w->pkts = w->room;
	w->n = n > 0 ? (size_t)n : 0;
	return n > 0;
}

int int_collector_rx(struct int_collector *c, const struct pkt *pkts, size_t n)
{
	struct worker *w = c->worker[0];

	if (!c->threads)
		return intake_take(w->batch[0].in, pkts, n);
	w->pkts = pkts;
	w->n = n;
	threads_go(c->threads, true);
	/* A batch that is not full came live: nothing of it waits for more. */
	if (n < PKT_BATCH)
		threads_rest(c->threads);
	return error_of(c);
}

int int_collector_rest(struct int_collector *c)
{
	if (c->threads)
		threads_rest(c->threads);
	return error_of(c);
}

/* The sinks, one after the other: those of nodes behind those of flows. NULL:
 * that was the last. */
static struct telemetry *sink_at(const struct int_collector *c, unsigned i)
{
	if (i < c->owners)
		return c->flows[i];
	if (c->owners == 1 || i >= 2 * c->owners)
		return NULL;
	return c->nodes[i - c->owners];
}

int int_collector_set(struct int_collector *c,
		      const struct telemetry_thresholds *th)
{
	struct telemetry *t;
	int rc = 0;

	int_collector_rest(c);
	for (unsigned i = 0; !rc && (t = sink_at(c, i)); i++)
		rc = telemetry_set_room(t, th);
	for (unsigned i = 0; !rc && (t = sink_at(c, i)); i++)
		telemetry_set(t, th); /* it has the memory */
	return rc;
}

int int_collector_tick(struct int_collector *c, uint64_t now_ns)
{
	struct telemetry *t;
	int rc = int_collector_rest(c);

	for (unsigned i = 0; !rc && (t = sink_at(c, i)); i++)
		rc = telemetry_tick(t, now_ns);
	return rc;
}

int int_collector_pass(struct int_collector *c)
{
	struct telemetry *t;
	int rc = int_collector_rest(c);

	for (unsigned i = 0; !rc && (t = sink_at(c, i)); i++)
		rc = telemetry_pass(t);
	return rc;
}

/* The first sink is the last: it has all distributions then. */
int int_collector_flush(struct int_collector *c)
{
	struct telemetry *t;
	int rc = 0, last;

	int_collector_rest(c);
	for (unsigned i = 1; (t = sink_at(c, i)); i++) {
		last = telemetry_flush(t);
		rc = rc ? rc : last;
		if (i < c->owners)
			take_distributions(c->flows[0], t);
	}
	last = telemetry_flush(c->flows[0]);
	return rc ? rc : last;
}

void int_collector_ledgers(struct int_collector *c,
			   struct int_collector_ledgers *out)
{
	struct telemetry *t;

	int_collector_rest(c);
	*out = (struct int_collector_ledgers){0};
	for (unsigned i = 0; i < c->o.workers; i++) {
		const struct worker *w = c->worker[i];

		ledger_add(&filter_ledger, &out->filtered, &w->filtered);
		for (unsigned k = 0; k < THREADS_PLACES && w->batch[k].in;
		     k++) {
			const struct intake *in = w->batch[k].in;

			ledger_add(&intake_ledger, &out->intake,
				   intake_counters(in));
			ledger_add(&intake_report_ledger, &out->reports,
				   intake_report_counters(in));
		}
	}
	for (unsigned i = 0; (t = sink_at(c, i)); i++) {
		ledger_add(&telemetry_ledger, &out->telemetry,
			   telemetry_counters(t));
		ledger_add(&flows_ledger, &out->flows, telemetry_flows(t));
	}
}

const struct intake_ledger *int_collector_counters(struct int_collector *c)
{
	if (!c->threads)
		return intake_counters(c->worker[0]->batch[0].in);
	c->counters = (struct intake_ledger){0};
	for (unsigned i = 0; i < c->o.workers; i++)
		for (unsigned k = 0; k < THREADS_PLACES; k++)
			ledger_add(&intake_ledger, &c->counters,
				   &c->worker[i]->batch[k].seen);
	return &c->counters;
}

struct int_collector_share int_collector_share(const struct int_collector *c,
					       unsigned worker)
{
	return c->worker[worker]->share;
}

struct telemetry *int_collector_sink(struct int_collector *c)
{
	return c->flows[0];
}

static int open_batch(struct int_collector *c, struct worker *w,
		      struct batch *b)
{
	struct intake_options io = {.profile = c->o.profile,
				    .out = c->out,
				    .views = on_views,
				    .number = on_number,
				    .ctx = b};

	b->c = c;
	b->worker = w;
	if (c->out && c->o.workers > 1) {
		if (!(b->frames = open_frames()))
			return -ENOMEM;
		io.out = &b->frames->snk;
	}
	return intake_open(&b->in, &io);
}

static int open_worker(struct int_collector *c, unsigned number)
{
	struct worker *w = aligned_alloc(128, (sizeof(*w) + 127) & ~127UL);
	unsigned places = c->o.workers > 1 ? THREADS_PLACES : 1;
	int rc = 0;

	if (!w)
		return -ENOMEM;
	c->worker[number] = w;
	memset(w, 0, sizeof(*w));
	w->plans.latest = w->plans.plan;
	for (unsigned i = 0; i < places && !rc; i++)
		rc = open_batch(c, w, &w->batch[i]);
	return rc;
}

static void close_batch(struct batch *b)
{
	intake_close(b->in);
	if (b->frames)
		snk_close(&b->frames->snk);
	while (b->first) {
		struct chunk *next = b->first->next;

		free(b->first);
		b->first = next;
	}
}

int int_collector_start(struct int_collector *c, struct snk *out,
			int (*more)(void *ctx, struct pkt *room, int max),
			void *ctx, struct fault *f)
{
	const struct threads_options to = {.workers = c->o.workers,
					   .rounds = 1,
					   .take = take,
					   .work = work,
					   .receive = receive,
					   .ctx = c};

	c->out = out;
	c->take = more;
	c->ctx = ctx;
	for (unsigned i = 0; i < c->o.workers; i++)
		if (open_worker(c, i) < 0)
			return fault_set(f, -ENOMEM, "no memory for a worker");
	return c->o.workers > 1 ? threads_open(&c->threads, &to, f) : 0;
}

/* An owner's two sinks. */
static int open_owner(struct int_collector *c, unsigned i,
		      const struct telemetry_thresholds *th,
		      const struct telemetry_sinks *sinks)
{
	struct telemetry_options flows = c->o.telemetry, nodes = flows;
	struct telemetry_sinks s = *sinks;
	int rc;

	flows.part = TELEMETRY_FLOWS;
	flows.flows.shards = c->owners;
	flows.flows.blocks = flows.flows.blocks / c->owners + 1;
	flows.reporters = flows.states = 1;
	nodes.part = TELEMETRY_NODES;
	nodes.flows.rows = nodes.flows.buckets = 1;
	nodes.flows.blocks = 0;
	s.snapshot = NULL;
	if (i)
		s.distribution = s.bin = NULL;
	rc = telemetry_open(&c->flows[i], &flows, th, &s);
	s = *sinks;
	s.distribution = s.bin = NULL;
	return rc ? rc : telemetry_open(&c->nodes[i], &nodes, th, &s);
}

static int open_sinks(struct int_collector *c,
		      const struct telemetry_thresholds *th,
		      const struct telemetry_sinks *sinks)
{
	struct telemetry_sinks locked = lock_sinks(c, sinks);
	int rc = 0;

	c->o.telemetry.no_numbers = c->o.filter;
	if (c->owners == 1) {
		rc = telemetry_open(&c->flows[0], &c->o.telemetry, th, sinks);
		c->nodes[0] = c->flows[0];
		return rc;
	}
	for (unsigned i = 0; i < c->owners && !rc; i++)
		rc = open_owner(c, i, th, &locked);
	return rc;
}

int int_collector_open(struct int_collector **out,
		       const struct int_collector_options *o,
		       const struct telemetry_thresholds *th,
		       const struct telemetry_sinks *sinks)
{
	struct int_collector *c = calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return -ENOMEM;
	c->o = *o;
	c->owners = o->whole ? 1 : o->workers;
	pthread_mutex_init(&c->lock, NULL);
	rc = open_sinks(c, th, sinks);
	if (rc < 0)
		int_collector_close(c);
	else
		*out = c;
	return rc;
}

void int_collector_close(struct int_collector *c)
{
	if (!c)
		return;
	threads_close(c->threads);
	for (unsigned i = 0; i < c->o.workers; i++) {
		if (c->nodes[i] != c->flows[i])
			telemetry_close(c->nodes[i]);
		telemetry_close(c->flows[i]);
		for (unsigned k = 0; c->worker[i] && k < THREADS_PLACES; k++)
			close_batch(&c->worker[i]->batch[k]);
		free(c->worker[i]);
	}
	pthread_mutex_destroy(&c->lock);
	free(c);
}
