/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int_collector.c - in this order: sinks of rows for several threads; what of a
 * batch is kept until it is over; messages, as they are sent and as they are
 * received; the collector.
 */
#include "telemetry/int_collector.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/rng.h"
#include "packet/kind.h"
#include "telemetry/private.h"
#include "threads/threads.h"

enum {
	CHUNK = 64 << 10, /* bytes of a chunk */
	LAYOUT_SLOTS = 1024,
	BLOCK_RECORDS = 96,  /* short records of a block of messages, at most */
	ROUNDS = 2,	     /* owners of flows, then owners of nodes */
	ARRIVALS_MIN = 1024, /* records of a batch: room at first */
};

_Static_assert((int)INT_COLLECTOR_WORKERS <= (int)THREADS_MAX, "workers");
_Static_assert((int)INT_COLLECTOR_WORKERS *THREADS_PLACES <= (int)SRC_HOLD_MAX,
	       "batches that a source holds");

/* A sink of rows that puts them into another one, one thread at a time. */
struct locked_sink {
	struct row_sink sink;
	struct row_sink *to;
	pthread_mutex_t *lock;
};

/* Memory for a batch: taken piece by piece, given back all at once. */
struct chunk {
	struct chunk *next;
	size_t used;
	uint8_t byte[CHUNK] __attribute__((aligned(64)));
};

struct kept_layout {
	struct int_layout layout;
	struct kept_layout *next; /* of the slot */
};

/* A record of a batch, as owners of nodes need it. */
struct arrival {
	uint64_t ts_ns;
	uint8_t owner; /* of its flow */
	bool upkeep;   /* upkeep (sink.h) runs before it */
};

/* A batch under way, with all that its messages point at. */
struct batch {
	struct int_collector *c;
	struct worker *worker;
	struct int_frame_decoder *decoder;
	struct chunk *first, *current;
	struct kept_layout *layouts[LAYOUT_SLOTS];
	uint64_t now_ns, upkeep_ns; /* as in a sink, of this batch alone */
	bool full;		    /* it has PKT_BATCH packets */
	bool upkeep;		    /* runs before the next record */
	struct arrival *arrivals;   /* by the number of the record */
	uint32_t records, arrivals_room;
	/* By owner of flows, which writes them, and owner of nodes. */
	struct remote_hops remote[INT_COLLECTOR_WORKERS][INT_COLLECTOR_WORKERS];
	struct threads_out *out; /* to owners */
};

struct worker {
	struct batch batch[THREADS_PLACES];
	struct layout_cache layouts;
	struct filter_ledger filtered;
	const struct pkt *pkts; /* of the next batch to be decoded */
	size_t n;
	struct pkt room[PKT_BATCH];
};

struct int_collector {
	struct int_collector_options o;
	struct threads *threads; /* NULL: one worker, or not started */
	struct snk *out;
	int (*take)(void *ctx, struct pkt *room, int max);
	void *ctx;
	/* Sinks, by owner; with one worker both are the same sink. */
	struct telemetry *flows[INT_COLLECTOR_WORKERS];
	struct telemetry *nodes[INT_COLLECTOR_WORKERS];
	struct worker *worker[INT_COLLECTOR_WORKERS];
	/* By owner of nodes and owner of flows: from the latter's number of a
	 * hop key to the former's; 0: not looked up yet. */
	uint32_t *hop_key[INT_COLLECTOR_WORKERS][INT_COLLECTOR_WORKERS];
	struct int_record records[INT_COLLECTOR_WORKERS][BLOCK_RECORDS];
	struct locked_sink locked[ROWS_KINDS];
	pthread_mutex_t lock;
	int error; /* the first; atomic */
};

static int first_error(const struct int_collector *c)
{
	return __atomic_load_n(&c->error, __ATOMIC_RELAXED);
}

static void set_error(struct int_collector *c, int error)
{
	if (error < 0 && !first_error(c))
		__atomic_store_n(&c->error, error, __ATOMIC_RELAXED);
}

/* b NULL: flushes. */
static int put_locked(struct row_sink *s, struct row_batch *b)
{
	struct locked_sink *l = (struct locked_sink *)s;
	int rc;

	pthread_mutex_lock(l->lock);
	rc = b ? l->to->put(l->to, b) : l->to->flush(l->to);
	pthread_mutex_unlock(l->lock);
	return rc;
}

static int flush_locked(struct row_sink *s)
{
	return put_locked(s, NULL);
}

static struct telemetry_sinks lock_sinks(struct int_collector *c,
					 const struct telemetry_sinks *behind)
{
	struct telemetry_sinks s = {0};

	for (unsigned i = 0; i < ROWS_KINDS; i++) {
		c->locked[i] = (struct locked_sink){
			{put_locked, flush_locked, NULL},
			behind->of[i],
			&c->lock};
		if (behind->of[i])
			s.of[i] = &c->locked[i].sink;
	}
	return s;
}

/* A copy of some bytes that lasts as long as the batch; NULL: no memory. */
static void *keep_bytes(struct batch *b, const void *from, size_t size)
{
	struct chunk *k = b->current;
	void *to;

	if (!k || k->used + size > CHUNK) {
		struct chunk **next = k ? &k->next : &b->first;

		if (!*next) {
			*next = aligned_alloc(64, sizeof(**next));
			if (!*next)
				return NULL;
			(*next)->next = NULL;
		}
		b->current = k = *next;
		k->used = 0;
	}
	to = memcpy(k->byte + k->used, from, size);
	k->used += (size + 63) & ~(size_t)63;
	return to;
}

/* A copy of the layout that lasts as long as the batch: the decoder forgets
 * layouts if too many are in use. NULL: no memory. */
static const struct int_layout *keep_layout(struct batch *b,
					    const struct int_layout *layout)
{
	uint64_t hash = rng_mix((uintptr_t)layout->words ^ layout->bitmap);
	struct kept_layout **slot = &b->layouts[hash % LAYOUT_SLOTS];
	struct kept_layout fresh, *k = *slot;

	while (k && (k->layout.words != layout->words ||
		     k->layout.bitmap != layout->bitmap))
		k = k->next;
	if (!k) {
		fresh = (struct kept_layout){*layout, *slot};
		if ((k = keep_bytes(b, &fresh, sizeof(fresh))))
			*slot = k;
	}
	return k ? &k->layout : NULL;
}

/* A copy of the record that lasts as long as the batch; NULL: no memory. */
static const struct int_record *keep_record(struct batch *b,
					    const struct int_record *from)
{
	struct int_record v = *from;

	v.from.numbered = false; /* NUMBER is a message of its own */
	if (v.own.layout && !(v.own.layout = keep_layout(b, v.own.layout)))
		return NULL;
	if (v.stack.layout &&
	    !(v.stack.layout = keep_layout(b, v.stack.layout)))
		return NULL;
	if (v.stack.at &&
	    !(v.stack.at = keep_bytes(b, v.stack.at,
				      v.stack.n * sizeof(*v.stack.at))))
		return NULL;
	return keep_bytes(b, &v, sizeof(v));
}

static void reset_batch(struct batch *b)
{
	b->current = NULL;
	memset(b->layouts, 0, sizeof(b->layouts));
	b->now_ns = b->upkeep_ns = 0;
	b->upkeep = false;
	b->records = 0;
	for (unsigned i = 0; i < b->c->o.workers; i++)
		for (unsigned k = 0; k < b->c->o.workers; k++)
			b->remote[i][k].n = 0;
}

/* Messages: words of 8 bytes, the first of which begins with the kind. */
enum message_kind {
	SHORT_RECORD, /* a record with no more than struct short_record has */
	KEPT_RECORD,  /* any other */
	SNAPSHOT,     /* one hop of a record */
	NUMBER,	      /* a report's sequence number */
	CLOCK,	      /* packet time */
	END_OF_FLOWS, /* the last message of the first round */
	END_OF_NODES, /* the only message of the second: remote hops are next */
};

struct short_record {
	uint8_t kind, flags, hops;
	uint8_t key[KEY_FLOW4_LEN];
	uint16_t ip_len, len; /* len: of a hop */
	uint32_t number;      /* of the record, in its batch */
	uint64_t ts_ns, hash;
	const struct int_layout *layout; /* of its stack */
	const uint8_t *data;		 /* the stack */
};

/* Any message but SHORT_RECORD. */
struct message {
	uint8_t kind;
	bool full;	     /* END_OF_...: the batch was full */
	uint8_t hw_id, bits; /* NUMBER */
	uint32_t number; /* of the record; SNAPSHOT: hop; NUMBER: sequence */
	union {
		uint64_t ts_ns;
		uint64_t hash; /* KEPT_RECORD */
	};
	union {
		uint32_t node;			 /* NUMBER */
		const struct int_record *record; /* KEPT_RECORD, SNAPSHOT */
	};
};

enum {
	SHORT_WORDS = (sizeof(struct short_record) + 7) / 8,
	MESSAGE_WORDS = (sizeof(struct message) + 7) / 8,
};

_Static_assert(THREADS_WORDS / SHORT_WORDS < BLOCK_RECORDS, "records");

static inline void send_message(struct batch *b, unsigned owner,
				const struct message *m)
{
	memcpy(threads_send(&b->out[owner], MESSAGE_WORDS), m, sizeof(*m));
}

/* The owner of what has this hash: a node, or a reporter. */
static inline unsigned owner_of(const struct int_collector *c, uint64_t hash)
{
	return (unsigned)((hash >> 32) * c->o.workers >> 32);
}

static inline unsigned owner_of_flow(const struct int_collector *c,
				     uint64_t hash)
{
	const struct flows *fl = &c->flows[0]->flows;

	return (unsigned)(flows_row_of(fl, hash) * c->o.workers / fl->o.rows);
}

/* All owners run upkeep at the same packet: CLOCK goes to each. An owner that
 * has a later time from an earlier batch ignores it. */
static inline void advance_time(struct batch *b, uint64_t ts_ns)
{
	if (ts_ns <= b->now_ns)
		return;
	b->now_ns = ts_ns;
	if (ts_ns < b->upkeep_ns)
		return;
	b->upkeep_ns = telemetry_next_upkeep(ts_ns);
	b->upkeep = true;
	for (unsigned i = 0; i < b->c->o.workers; i++)
		send_message(b, i, &(struct message){CLOCK, .ts_ns = ts_ns});
}

static void send_number(struct batch *b, const struct int_from *from,
			uint64_t ts_ns)
{
	uint64_t hash = rng_mix((uint64_t)from->node << 8 | from->hw_id);
	const struct message m = {.kind = NUMBER,
				  .hw_id = from->hw_id,
				  .bits = from->sequence_bits,
				  .number = from->sequence,
				  .ts_ns = ts_ns,
				  .node = from->node};

	send_message(b, owner_of(b->c, hash), &m);
}

static inline void send_short_record(struct batch *b, unsigned owner,
				     uint64_t hash, const struct int_record *v,
				     const struct int_layout *layout)
{
	struct short_record *m = (void *)threads_send(&b->out[owner],
						      SHORT_WORDS);

	m->kind = SHORT_RECORD;
	m->flags = v->flags;
	m->hops = v->stack.n;
	memcpy(m->key, v->key, sizeof(m->key));
	m->ip_len = (uint16_t)v->ip_len;
	m->len = v->stack.len;
	m->number = b->records;
	m->ts_ns = v->ts_ns;
	m->hash = hash;
	m->layout = layout;
	m->data = v->stack.data;
}

/* Sends the snapshots of a record's hops to the owners of their nodes. */
static void send_snapshots(struct batch *b, const struct int_record *v)
{
	const struct int_collector *c = b->c;
	struct record_hops rh;

	if (!v->stack.at || !c->flows[0]->rows.of[ROWS_SNAPSHOT])
		return;
	record_hops_init(&b->worker->layouts, &rh, v);
	for (unsigned i = 0; i < rh.stacked; i++)
		send_message(b, owner_of(c, rng_mix(record_hop_node(&rh, i))),
			     &(struct message){.kind = SNAPSHOT,
					       .number = i,
					       .record = v});
}

static bool grow_arrivals(struct batch *b)
{
	uint32_t room = b->arrivals_room ? 2 * b->arrivals_room : ARRIVALS_MIN;
	void *arrivals = realloc(b->arrivals, room * sizeof(*b->arrivals));

	if (!arrivals)
		return false;
	b->arrivals = arrivals;
	b->arrivals_room = room;
	return true;
}

static inline bool needs_copy(const struct int_record *v)
{
	return v->key_len != KEY_FLOW4_LEN || v->own.n || v->stack.at ||
	       !v->stack.n || v->flags & INT_DROPPED || v->ip_len > UINT16_MAX;
}

static int send_record(struct batch *b, const struct int_record *v)
{
	uint64_t hash = v->key_len ? flows_hash(v->key, v->key_len) : 0;
	unsigned owner = owner_of_flow(b->c, hash);
	const struct int_record *kept;
	const struct int_layout *layout;

	advance_time(b, v->ts_ns);
	if (v->from.numbered && !b->c->o.filter)
		send_number(b, &v->from, v->ts_ns);
	if (b->records == b->arrivals_room && !grow_arrivals(b))
		return -ENOMEM;
	if (b->now_ns > v->ts_ns)
		send_message(b, owner,
			     &(struct message){CLOCK, .ts_ns = b->now_ns});
	if (!needs_copy(v)) {
		if (!(layout = keep_layout(b, v->stack.layout)))
			return -ENOMEM;
		send_short_record(b, owner, hash, v, layout);
	} else {
		if (!(kept = keep_record(b, v)))
			return -ENOMEM;
		send_message(b, owner,
			     &(struct message){.kind = KEPT_RECORD,
					       .number = b->records,
					       .hash = hash,
					       .record = kept});
		send_snapshots(b, kept);
	}
	b->arrivals[b->records++] = (struct arrival){v->ts_ns, (uint8_t)owner,
						     b->upkeep};
	b->upkeep = false;
	return 0;
}

/* int_frame_decoder_options.records, on one core and on several. */
static int on_records(void *ctx, const struct int_record *v, size_t n)
{
	struct batch *b = ctx;
	struct int_collector *c = b->c;
	struct filter_ledger *l = &b->worker->filtered;
	int rc = 0;

	if (!c->threads && !c->o.filter)
		return telemetry_add_records(c->flows[0], v, n);
	for (size_t i = 0; i < n && !rc; i++) {
		if (c->o.filter) {
			bool wanted = expr_match(c->o.filter, &v[i]);

			l->views++;
			l->matched += wanted;
			l->others += !wanted;
			if (!wanted)
				continue;
		}
		rc = c->threads ? send_record(b, &v[i])
				: telemetry_add_records(c->flows[0], &v[i], 1);
	}
	return rc;
}

/* int_frame_decoder_options.number. A filter would leave gaps in numbers. */
static int on_number(void *ctx, uint64_t ts_ns, const struct int_from *from)
{
	struct batch *b = ctx;

	if (b->c->o.filter)
		return 0;
	if (!b->c->threads)
		return telemetry_add_numbers(b->c->flows[0], ts_ns, from, 1);
	advance_time(b, ts_ns);
	send_number(b, from, ts_ns);
	return 0;
}

static void send_end_of_round(struct batch *b, enum message_kind kind)
{
	const struct message m = {
		.kind = (uint8_t)kind, .full = b->full, .ts_ns = b->now_ns};

	for (unsigned i = 0; i < b->c->o.workers; i++)
		send_message(b, i, &m);
}

/* threads_options.work */
static bool decode_batch(void *ctx, const struct threads_batch *tb,
			 unsigned round)
{
	struct int_collector *c = ctx;
	struct worker *w = c->worker[tb->worker];
	struct batch *b = &w->batch[tb->place];

	if (round == 1)
		send_end_of_round(b, END_OF_NODES);
	if (round)
		return false;
	reset_batch(b);
	b->full = w->n == PKT_BATCH;
	b->out = threads_outs(c->threads, tb->worker);
	set_error(c, int_decode_frames(b->decoder, w->pkts, w->n));
	send_end_of_round(b, END_OF_FLOWS);
	return false;
}

/* Sets all fields that short records have; the others of *v are constant. */
static inline void read_short_record(struct int_record *v,
				     const struct short_record *m)
{
	v->ts_ns = m->ts_ns;
	v->flags = m->flags;
	memcpy(v->key, m->key, sizeof(m->key));
	v->ip_len = m->ip_len;
	v->stack.layout = m->layout;
	v->stack.data = m->data;
	v->stack.len = m->len;
	v->stack.n = m->hops;
}

/* Adds the values that owners of flows left for this owner of nodes, in the
 * order of records. Not inlined, so that it has the registers for itself. */
static __attribute__((noinline)) void
ingest_remote_hops(struct int_collector *c, unsigned owner, struct batch *b)
{
	static const struct remote_hop none = {.record = UINT32_MAX};
	const struct remote_hop *next[INT_COLLECTOR_WORKERS], *h;
	uint32_t *const *hop_keys = c->hop_key[owner];
	struct telemetry *t = c->nodes[owner];
	const struct arrival *s = b->arrivals;

	for (unsigned i = 0; i < c->o.workers; i++) {
		const struct remote_hops *l = &b->remote[i][owner];

		next[i] = l->n ? l->hop : &none;
		if (l->n)
			l->hop[l->n] = none;
	}
	for (uint32_t i = 0; i < b->records; i++, s++) {
		const struct hop_key *p = c->flows[s->owner]->objects.hop_key;

		if (s->upkeep)
			telemetry_tick(t, s->ts_ns);
		for (h = next[s->owner]; h->record == i; h++) {
			uint32_t theirs = h->packed >> 8;
			uint32_t *ours = &hop_keys[s->owner][theirs];

			if (!*ours && theirs)
				*ours = telemetry_hop_key(t, p[theirs].node_id,
							  p[theirs].id);
			ingest_remote_hop(t, h, &t->objects.hop_key[*ours],
					  s->ts_ns);
		}
		next[s->owner] = h;
	}
}

/* A batch that is not full comes from an interface: its rows go out now. */
static void end_batch(struct int_collector *c, struct telemetry *t,
		      const struct message *m)
{
	telemetry_tick(t, m->ts_ns);
	if (!m->full)
		telemetry_put_rows(t);
	set_error(c, t->rows.err);
}

/* For reading only: other owners may read it, too. */
static inline void prefetch_stack(const void *p, size_t len)
{
	for (size_t i = 0; i < len; i += LINE)
		__builtin_prefetch((const char *)p + i);
}

static void handle_message(struct int_collector *c, unsigned owner,
			   struct batch *b, const struct message *m)
{
	const struct int_from from = {.report = true,
				      .hw_id = m->hw_id,
				      .sequence_bits = m->bits,
				      .has_node = true,
				      .node = m->node,
				      .sequence = m->number};
	struct telemetry *t = c->flows[owner];

	switch (m->kind) {
	case KEPT_RECORD:
		ingest_records(t, m->record, 1, &m->hash, &m->number);
		break;
	case SNAPSHOT:
		ingest_snapshot(t, m->record, m->number);
		break;
	case NUMBER: /* a CLOCK came before */
		ingest_report_numbers(t, m->ts_ns, &from, 1);
		break;
	case CLOCK:
		telemetry_tick(t, m->ts_ns);
		break;
	case END_OF_FLOWS:
		end_batch(c, t, m);
		break;
	default:
		ingest_remote_hops(c, owner, b);
		end_batch(c, c->nodes[owner], m);
	}
}

/* threads_options.receive */
static void handle_messages(void *ctx, unsigned owner,
			    const struct threads_block *in)
{
	struct int_collector *c = ctx;
	struct batch *b = &c->worker[in->from.worker]->batch[in->from.place];
	struct telemetry *t = c->flows[owner];
	struct int_record *v = c->records[owner];
	uint64_t hash[BLOCK_RECORDS];
	uint32_t number[BLOCK_RECORDS];
	size_t n = 0;

	t->remote = b->remote[owner];
	for (size_t i = 0; i < in->words;) {
		const struct message *m = (const void *)&in->word[i];
		const struct short_record *r = (const void *)m;

		if (m->kind == SHORT_RECORD) {
			read_short_record(&v[n], r);
			hash[n] = r->hash;
			number[n++] = r->number;
			__builtin_prefetch(flows_row(&t->flows, r->hash), 1);
			prefetch_stack(r->data, (size_t)r->hops * r->len);
			i += SHORT_WORDS;
			continue;
		}
		if (m->kind != NUMBER) {
			ingest_records(t, v, n, hash, number);
			n = 0;
		}
		handle_message(c, owner, b, m);
		i += MESSAGE_WORDS;
	}
	ingest_records(t, v, n, hash, number);
}

/* threads_options.take */
static bool fill_batch(void *ctx, const struct threads_batch *b)
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
		return int_decode_frames(w->batch[0].decoder, pkts, n);
	w->pkts = pkts;
	w->n = n;
	set_error(c, threads_go(c->threads, true, n == PKT_BATCH));
	return first_error(c);
}

int int_collector_rest(struct int_collector *c)
{
	if (c->threads)
		set_error(c, threads_rest(c->threads));
	return first_error(c);
}

/* Sink number i, those of flows first, then those of nodes; NULL: no more. */
static struct telemetry *sink_at(const struct int_collector *c, unsigned i)
{
	if (i < c->o.workers)
		return c->flows[i];
	if (c->o.workers == 1 || i >= 2 * c->o.workers)
		return NULL;
	return c->nodes[i - c->o.workers];
}

int int_collector_set_thresholds(struct int_collector *c,
				 const struct telemetry_thresholds *th)
{
	struct telemetry *t;
	int rc = 0;

	int_collector_rest(c);
	for (unsigned i = 0; !rc && (t = sink_at(c, i)); i++)
		rc = telemetry_set_thresholds(t, th);
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

int int_collector_put_rows(struct int_collector *c)
{
	struct telemetry *t;
	int rc = int_collector_rest(c);

	for (unsigned i = 0; !rc && (t = sink_at(c, i)); i++)
		rc = telemetry_put_rows(t);
	return rc;
}

/* Flushes the first sink last: all distributions are merged into it. */
int int_collector_flush(struct int_collector *c)
{
	struct telemetry *t;
	int rc = 0, last;

	int_collector_rest(c);
	for (unsigned i = 1; (t = sink_at(c, i)); i++) {
		last = telemetry_flush(t);
		rc = rc ? rc : last;
		if (i < c->o.workers)
			merge_distributions(c->flows[0], t);
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
		for (unsigned k = 0; k < THREADS_PLACES && w->batch[k].decoder;
		     k++) {
			const struct int_frame_decoder *d = w->batch[k].decoder;

			ledger_add(&int_frame_ledger, &out->frames,
				   int_frame_decoder_counters(d));
			ledger_add(&int_report_ledger, &out->reports,
				   int_frame_decoder_report_counters(d));
		}
	}
	for (unsigned i = 0; (t = sink_at(c, i)); i++) {
		ledger_add(&telemetry_ledger, &out->telemetry,
			   telemetry_counters(t));
		ledger_add(&flows_ledger, &out->flows, telemetry_flows(t));
	}
}

struct telemetry *int_collector_sink(struct int_collector *c)
{
	return c->flows[0];
}

static int open_batch(struct int_collector *c, struct worker *w,
		      struct batch *b)
{
	struct int_frame_decoder_options io = {.profile = c->o.profile,
					       .out = c->out,
					       .records = on_records,
					       .number = on_number,
					       .ctx = b};

	b->c = c;
	b->worker = w;
	return int_frame_decoder_open(&b->decoder, &io);
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
	w->layouts.latest = w->layouts.layout;
	for (unsigned i = 0; i < BLOCK_RECORDS; i++)
		c->records[number][i] = (struct int_record){
			.format = INT_MD, .key_len = KEY_FLOW4_LEN};
	for (unsigned i = 0; i < places && !rc; i++)
		rc = open_batch(c, w, &w->batch[i]);
	return rc;
}

static void close_batch(struct batch *b)
{
	int_frame_decoder_close(b->decoder);
	free(b->arrivals);
	for (unsigned i = 0; i < INT_COLLECTOR_WORKERS; i++)
		for (unsigned k = 0; k < INT_COLLECTOR_WORKERS; k++)
			free(b->remote[i][k].hop);
	while (b->first) {
		struct chunk *next = b->first->next;

		free(b->first);
		b->first = next;
	}
}

int int_collector_start(struct int_collector *c, struct snk *out,
			int (*take)(void *ctx, struct pkt *room, int max),
			void *ctx, struct error *err)
{
	const struct threads_options to = {.workers = c->o.workers,
					   .rounds = ROUNDS,
					   .take = fill_batch,
					   .work = decode_batch,
					   .receive = handle_messages,
					   .ctx = c};

	c->out = out;
	c->take = take;
	c->ctx = ctx;
	for (unsigned i = 0; i < c->o.workers; i++)
		if (open_worker(c, i) < 0)
			return error_set(err, -ENOMEM,
					 "no memory for a worker");
	return c->o.workers > 1 ? threads_open(&c->threads, &to, err) : 0;
}

/* Opens an owner's two sinks. */
static int open_owner(struct int_collector *c, unsigned i,
		      const struct telemetry_thresholds *th,
		      const struct telemetry_sinks *sinks)
{
	struct telemetry_options flows = c->o.telemetry, nodes = flows;
	struct telemetry_sinks s = *sinks;
	int rc;

	flows.flows.shards = c->o.workers;
	flows.flows.blocks = flows.flows.blocks / c->o.workers + 1;
	flows.owners = c->o.workers;
	flows.objects.ports = 1;
	nodes.hop_keys_counted = true;
	nodes.dist_bytes = 0;
	nodes.reporters = nodes.snapshots = nodes.paths = 1;
	nodes.flows.rows = nodes.flows.buckets = 1;
	nodes.flows.blocks = 0;
	if (i)
		s.of[ROWS_DISTRIBUTION] = s.of[ROWS_BIN] = NULL;
	rc = telemetry_open(&c->flows[i], &flows, th, &s);
	s.of[ROWS_DISTRIBUTION] = s.of[ROWS_BIN] = NULL;
	for (unsigned k = 0; k < c->o.workers && !rc; k++) {
		c->hop_key[i][k] = calloc(flows.objects.hop_keys + 1ULL,
					  sizeof(*c->hop_key[i][k]));
		if (!c->hop_key[i][k])
			rc = -ENOMEM;
	}
	return rc ? rc : telemetry_open(&c->nodes[i], &nodes, th, &s);
}

static int open_sinks(struct int_collector *c,
		      const struct telemetry_thresholds *th,
		      const struct telemetry_sinks *sinks)
{
	struct telemetry_sinks locked = lock_sinks(c, sinks);
	int rc = 0;

	c->o.telemetry.no_numbers = c->o.filter;
	if (c->o.workers == 1) {
		rc = telemetry_open(&c->flows[0], &c->o.telemetry, th, sinks);
		c->nodes[0] = c->flows[0];
		return rc;
	}
	for (unsigned i = 0; i < c->o.workers && !rc; i++)
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
		for (unsigned k = 0; k < c->o.workers; k++)
			free(c->hop_key[i][k]);
		for (unsigned k = 0; c->worker[i] && k < THREADS_PLACES; k++)
			close_batch(&c->worker[i]->batch[k]);
		free(c->worker[i]);
	}
	pthread_mutex_destroy(&c->lock);
	free(c);
}
