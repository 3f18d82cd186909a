/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * responder_cores.c - a responder on several workers.
 *
 * Queue pairs, R_Keys and the epoch are shared state: all workers read it, and
 * one worker, the owner of queue pairs, changes it. Each worker summarizes its
 * batch for that owner: how many packets each queue pair has, and whether the
 * batch is plain, that is, all are valid and their PSNs consecutive. For a
 * plain batch the operations are ready as messages. The owner checks single
 * packets again, and makes the messages anew, only if the batch is not plain or
 * does not begin at the PSNs that the queue pairs expect.
 *
 * An operation goes to the owner of the bytes that it touches. A table is split
 * equally between owners, at the border of two slots; a list and its count have
 * one owner, since no reader may see a count before its entries. An operation
 * that crosses a border, which no translator sends, is split in two.
 *
 * Workers hold the region's epoch from the first batch to the next rest, and
 * worker 0 rests when the epoch has changed. So all of them write to the epoch
 * that the requests were checked against.
 */
#include "rdma/responder_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rdma/message.h"
#include "threads/threads.h"

_Static_assert((int)RESPONDER_CORES_MAX <= (int)THREADS_MAX, "workers");
_Static_assert((int)RESPONDER_CORES_MAX *THREADS_PLACES <= (int)SRC_HOLD_MAX,
	       "batches that a source holds");
_Static_assert((int)RESPONDER_CORES_BATCHES == (int)THREADS_PLACES, "places");

enum {
	JUDGE, /* the rounds of responder.h */
	WRITE,
	REPLY,
	ROUNDS,
};

enum {
	COPIED_MAX = 64, /* bytes of data; longer ones stay where they are */
	MESSAGE_WORDS = 2 + COPIED_MAX / 8,
	COUNTERS = sizeof(struct responder_ledger) / sizeof(uint64_t),
	LINE = 128,
};

/* How a table is split between owners. */
struct parts {
	uint64_t list, heads; /* of lists: bytes of each, offset of the heads */
	uint64_t factor;      /* of op_part() */
	uint64_t first[RESPONDER_CORES_MAX + 1]; /* byte of each owner's part */
};

/* The packets of a batch that are for one queue pair. */
struct qp_run {
	uint32_t n;
	uint32_t first, next; /* PSNs: the first's, the one after the last's */
};

struct batch {
	size_t n;
	bool plain;
	struct pkt pkt[PKT_BATCH];
	struct responder_qp *qps[PKT_BATCH];
	struct qp_run run[TABLE_MAX];
	/* Of the valid packets. */
	struct responder_ledger counted;
	unsigned immediates;
	uint32_t immediate[PKT_BATCH];
	struct responder_replies replies;
	size_t words; /* of the operations' messages */
	uint64_t word[PKT_BATCH * MESSAGE_WORDS];
};

struct worker {
	struct responder *p;	    /* worker 0 has the caller's */
	uint64_t counted[COUNTERS]; /* p's, as of its last batch; atomic */
	struct batch batch[THREADS_PLACES];
} __attribute__((aligned(LINE)));

struct responder_cores {
	struct threads *threads;
	struct responder_cores_options o;
	struct responder *p;
	struct parts parts[TABLE_MAX];
	bool lent;	 /* p is the caller's, and has all that was counted */
	bool has_events; /* atomic */
	int error;	 /* the first; atomic */
	uint64_t unsent; /* atomic */
	struct responder_ledger counters; /* sums, for worker 0 */
	struct worker *worker[RESPONDER_CORES_MAX];
};

static int error_of(const struct responder_cores *c)
{
	return __atomic_load_n(&c->error, __ATOMIC_RELAXED);
}

static void note_error(struct responder_cores *c, int error)
{
	if (error && !error_of(c))
		__atomic_store_n(&c->error, error, __ATOMIC_RELAXED);
}

static struct batch *batch_of(const struct responder_cores *c,
			      const struct threads_batch *b)
{
	return &c->worker[b->worker]->batch[b->place];
}

/* The worker that owns all queue pairs and sends all answers. */
static unsigned qp_owner(const struct responder_cores *c)
{
	return c->o.workers - 1;
}

static void clear_batch(struct batch *b)
{
	memset(&b->counted, 0, sizeof(b->counted));
	b->immediates = 0;
	b->words = 0;
	replies_drop(&b->replies);
}

/* Adds a request's reply and its operation's message. */
static inline __attribute__((always_inline)) void
add_request(struct batch *b, const struct responder *p,
	    const struct responder_qp *q, const struct roce *r,
	    const struct verdict *v, uint64_t ts_ns)
{
	unsigned number = REPLY_NO_NUMBER;
	struct op op;

	if (v->answer && p->answers)
		number = responder_qp_reply(p, q, r, v, &b->replies, ts_ns);
	if (!v->good)
		return;
	responder_qp_op(p, q, r, &b->counted, &op);
	if (op.verb == OP_WRITE_IMM) {
		b->immediate[b->immediates++] = op.immediate;
		op.verb = OP_WRITE;
	}
	if (!op.length)
		return;
	op.immediate = v->answer == REPLY_ATOMIC ? number : 0;
	op_message_put(b->word + b->words, &op, COPIED_MAX);
	b->words += op_message_words(&op, COPIED_MAX);
}

/* Adds a packet to the run. False: the batch is not plain. */
static bool extend_run(const struct responder *p, struct qp_run *run,
		       const struct responder_qp *q, const struct roce *r)
{
	bool next = !run->n++ || !is_rc(r->opcode) || r->psn == run->next;

	if (run->n == 1)
		run->first = r->psn;
	run->next = (r->psn + 1) & ROCE_PSN_MASK;
	return next && !responder_qp_access(p, q, r) &&
	       (!is_immediate(r->opcode) || p->o.receives == UINT64_MAX);
}

/* Checks a batch as far as it does not depend on earlier ones. */
static void screen_batch(struct responder_cores *c, struct responder *p,
			 struct batch *b, struct threads_out *out)
{
	memset(b->run, 0, p->s->t.n * sizeof(b->run[0]));
	b->plain = true;
	clear_batch(b);
	for (size_t at = 0; at < b->n; at += ROCE_BATCH) {
		size_t left = b->n - at;
		unsigned part = left < ROCE_BATCH ? (unsigned)left : ROCE_BATCH;

		responder_screen(p, b->pkt + at, part, p->decoded, b->qps + at);
		for (unsigned i = 0; i < part && b->plain; i++) {
			const struct responder_qp *q = b->qps[at + i];
			const struct roce *r = &p->decoded[i];
			struct verdict v;

			if (!q)
				continue;
			b->plain = extend_run(
				p, &b->run[responder_qp_table(p, q)], q, r);
			v = responder_qp_accept(q, r);
			add_request(b, p, q, r, &v, b->pkt[at + i].ts_ns);
		}
	}
	*threads_send(out + qp_owner(c), 1) = 0; /* it judges the batch */
}

/* Whether the batch begins at the PSNs that queue pairs expect. */
static bool is_expected(const struct responder *p, const struct batch *b)
{
	for (unsigned i = 0; i < p->s->t.n; i++) {
		const struct responder_qp *q = &p->s->qp[i];

		if (b->run[i].n &&
		    (q->error ||
		     (p->s->rc[i] && q->expected != b->run[i].first)))
			return false;
	}
	return true;
}

/* Checks packets one by one. */
static void judge_one_by_one(struct responder *p, struct batch *b)
{
	clear_batch(b);
	for (size_t i = 0; i < b->n; i++) {
		const struct pkt *pkt = &b->pkt[i];
		struct verdict v;
		struct roce r;

		if (!b->qps[i] || roce_decode(&r, pkt->data, pkt->len))
			continue;
		v = responder_qp_judge(p, b->qps[i], &r);
		add_request(b, p, b->qps[i], &r, &v, pkt->ts_ns);
	}
}

/* Run by the owner of queue pairs. */
static void judge_batch(struct responder_cores *c, struct responder *p,
			struct batch *b)
{
	bool plain = b->plain && is_expected(p, b);

	for (unsigned i = 0; plain && i < p->s->t.n; i++) {
		if (!b->run[i].n)
			continue;
		p->s->qp[i].expected = b->run[i].next;
		p->s->qp[i].nak_sent = false;
	}
	if (!plain)
		judge_one_by_one(p, b);
	if (responder_is_dead(p) || p->s->epoch != p->s->t.epoch)
		__atomic_store_n(&c->has_events, true, __ATOMIC_RELAXED);
}

/* The owner of a byte of a table; *room: how many bytes from there it owns. */
static inline unsigned owner_of(const struct responder_cores *c, unsigned table,
				uint64_t offset, uint64_t *room)
{
	const struct parts *t = &c->parts[table];
	uint64_t unit = t->list, end = t->heads - offset;
	unsigned part;

	if (!unit) {
		part = op_part(offset, t->factor);
		while (offset < t->first[part])
			part--;
		*room = t->first[part + 1] - offset;
		return part;
	}
	if (offset >= t->heads)
		offset -= t->heads, unit = end = sizeof(uint64_t);
	*room = unit - offset % unit;
	if (end < *room)
		*room = end;
	return (unsigned)(offset / unit % c->o.workers);
}

/* Splits an operation between its owners. */
static void split_operation(struct responder_cores *c, struct threads_out *out,
			    const uint64_t *m)
{
	uint64_t room, *to;
	struct op op;
	uint32_t left;

	op_message_get(&op, m, COPIED_MAX);
	for (left = op.length; left; left -= op.length) {
		unsigned owner = owner_of(c, op.table, op.offset, &room);

		op.length = left < room ? left : (uint32_t)room;
		to = threads_send(out + owner,
				  op_message_words(&op, COPIED_MAX));
		op_message_put(to, &op, COPIED_MAX);
		op.offset += op.length;
		op.data += op.length;
	}
}

/* Sends each valid operation to the owner of its bytes. */
static void send_operations(struct responder_cores *c, struct responder *p,
			    struct batch *b, struct threads_out *out)
{
	const uint64_t *m = b->word, *end = m + b->words;
	size_t words;

	ledger_add(&responder_ledger, &p->ctr, &b->counted);
	for (; m < end; m += words) {
		uint64_t room, *to;
		unsigned owner = owner_of(c, op_message_table(*m),
					  *m & OP_MESSAGE_OFFSET, &room);

		words = op_message_size(*m, COPIED_MAX);
		if (op_message_length(*m) > room) {
			split_operation(c, out, m);
			continue;
		}
		to = threads_send(out + owner, words);
		to[0] = m[0];
		to[1] = m[1];
		for (size_t i = 2; i < words; i++)
			to[i] = m[i];
	}
}

/* Run by the owner of memory. */
static void write_block(struct responder_cores *c, struct responder *p,
			struct batch *b, const struct threads_block *in)
{
	struct responder_replies *replies = p->answers ? &b->replies : NULL;
	struct transport *transport = local_transport(p->local);
	struct op op[THREADS_WORDS / 2];
	size_t n = 0, done;

	for (size_t at = 0; at < in->words; at += done) {
		const uint64_t *m = in->word + at;

		done = 0;
		if (op_message_is_pair(*m)) {
			note_error(c, responder_exec(p, op, n, replies));
			n = 0;
			done = transport->exec_pairs(transport, m,
						     in->words - at);
		}
		if (!done)
			done = op_message_get(&op[n++], m, COPIED_MAX);
	}
	note_error(c, responder_exec(p, op, n, replies));
}

static uint64_t sink_drops(const struct responder *p)
{
	return p->answers ? snk_drops(p->answers) : 0;
}

/* Run by the owner of answers. They are flushed with the batch: the requester
 * may be waiting for them. */
static void send_batch_replies(struct responder_cores *c, struct responder *p,
			       struct batch *b)
{
	for (unsigned i = 0; i < b->immediates; i++)
		region_notify(p->region, b->immediate[i]);
	if (!b->replies.n)
		return;
	if (error_of(c))
		replies_drop(&b->replies);
	else
		note_error(c, replies_send(&b->replies, p->s->replays,
					   p->answers, &p->ctr.acks));
	snk_flush(p->answers); /* snk_close() tells of an error */
	__atomic_store_n(&c->unsent, sink_drops(p), __ATOMIC_RELAXED);
}

/* Publishes a worker's counters for worker 0. */
static void publish_counters(struct worker *w)
{
	uint64_t counted[COUNTERS];

	memcpy(counted, &w->p->ctr, sizeof(counted));
	for (unsigned i = 0; i < COUNTERS; i++)
		__atomic_store_n(&w->counted[i], counted[i], __ATOMIC_RELAXED);
}

static bool run_round(void *ctx, const struct threads_batch *at, unsigned round)
{
	struct responder_cores *c = ctx;
	struct threads_out *out = threads_outs(c->threads, at->worker);
	struct worker *w = c->worker[at->worker];
	struct batch *b = batch_of(c, at);

	switch (round) {
	case JUDGE:
		screen_batch(c, w->p, b, out);
		break;
	case WRITE:
		send_operations(c, w->p, b, out);
		break;
	case REPLY:
		replies_checksum(&b->replies);
		if (b->replies.n || b->immediates)
			*threads_send(out + qp_owner(c), 1) = 0;
		break;
	default:
		publish_counters(w);
	}
	return false;
}

static void receive_block(void *ctx, unsigned owner,
			  const struct threads_block *in)
{
	struct responder_cores *c = ctx;
	struct responder *p = c->worker[owner]->p;
	struct batch *b = batch_of(c, &in->from);

	if (in->round == JUDGE)
		judge_batch(c, p, b);
	else if (in->round == WRITE)
		write_block(c, p, b, in);
	else
		send_batch_replies(c, p, b);
}

static bool take_batch(void *ctx, const struct threads_batch *at)
{
	struct responder_cores *c = ctx;
	struct batch *b = batch_of(c, at);
	int n = c->o.take(c->o.ctx, b->pkt, PKT_BATCH);

	b->n = n > 0 ? (size_t)n : 0;
	return b->n;
}

/* All workers begin on the same epoch. */
static void begin_transports(struct responder_cores *c)
{
	uint64_t epoch = 0, last;

	do {
		last = epoch;
		for (unsigned i = 0; i < c->o.workers; i++) {
			struct transport *transport = local_transport(
				c->worker[i]->p->local);

			epoch = transport->begin(transport);
		}
	} while (epoch != last);
	responder_set_epoch(c->p, epoch);
	publish_counters(c->worker[0]);
	c->lent = false;
}

int responder_cores_rx(struct responder_cores *c, const struct pkt *pkts,
		       size_t n)
{
	struct batch *b;

	if (c->o.workers == 1) {
		note_error(c, responder_rx(c->p, pkts, n));
		if (c->p->answers)
			snk_flush(c->p->answers);
		return error_of(c);
	}
	if (!c->lent && region_epoch(c->p->region) != c->p->s->epoch)
		responder_cores_rest(c);
	if (error_of(c))
		return error_of(c);
	if (c->lent)
		begin_transports(c);
	b = &c->worker[0]->batch[threads_place(c->threads)];
	memcpy(b->pkt, pkts, n * sizeof(*pkts));
	b->n = n;
	note_error(c, threads_go(c->threads, true, n == PKT_BATCH));
	return error_of(c);
}

int responder_cores_rest(struct responder_cores *c)
{
	struct responder *p = c->p;

	if (c->lent)
		return error_of(c);
	note_error(c, threads_rest(c->threads));
	for (unsigned i = 0; i < c->o.workers; i++) {
		struct responder *own = c->worker[i]->p;
		struct transport *transport = local_transport(own->local);

		transport->end(transport);
		if (own == p)
			continue;
		ledger_add(&responder_ledger, &p->ctr, &own->ctr);
		memset(&own->ctr, 0, sizeof(own->ctr));
		publish_counters(c->worker[i]);
	}
	c->lent = true;
	__atomic_store_n(&c->has_events, false, __ATOMIC_RELAXED);
	return error_of(c);
}

const struct responder_ledger *
responder_cores_counters(struct responder_cores *c)
{
	uint64_t sum[COUNTERS] = {0};

	if (c->lent)
		return &c->p->ctr;
	for (unsigned i = 0; i < c->o.workers; i++)
		for (unsigned k = 0; k < COUNTERS; k++)
			sum[k] += __atomic_load_n(&c->worker[i]->counted[k],
						  __ATOMIC_RELAXED);
	memcpy(&c->counters, sum, sizeof(sum));
	return &c->counters;
}

bool responder_cores_has_events(const struct responder_cores *c)
{
	return c->lent || __atomic_load_n(&c->has_events, __ATOMIC_RELAXED) ||
	       region_epoch(c->p->region) != c->p->s->epoch;
}

uint64_t responder_cores_unsent(const struct responder_cores *c)
{
	return c->lent ? sink_drops(c->p)
		       : __atomic_load_n(&c->unsent, __ATOMIC_RELAXED);
}

/* Another worker's responder: the state is p's, the transport its own. */
static int clone_open(struct responder **out, const struct responder *p,
		      struct error *err)
{
	struct responder *clone = calloc(1, sizeof(*clone));
	int rc;

	if (!clone)
		return error_set(err, -ENOMEM, "no memory for a worker");
	rc = local_open(&clone->local, p->region, err);
	if (rc < 0) {
		free(clone);
		return rc;
	}
	clone->region = p->region;
	clone->answers = p->answers;
	clone->o = p->o;
	clone->s = p->s;
	*out = clone;
	return 0;
}

static void free_all(struct responder_cores *c)
{
	for (unsigned i = 0; i < c->o.workers && c->worker[i]; i++) {
		struct responder *own = c->worker[i]->p;

		if (own && own != c->p) {
			local_close(own->local);
			free(own);
		}
		free(c->worker[i]);
	}
	free(c);
}

/* Parts end where slots end, and where words do, which atomics need. */
static void split_table(struct parts *parts, const struct table *t,
			unsigned workers)
{
	uint64_t step = 8 * (uint64_t)t->stride, factor, first;

	if (t->kind == TABLE_APPEND) {
		parts->list = t->units * t->stride;
		parts->heads = t->heads;
		return;
	}
	factor = op_part_factor(t->length, workers);
	for (uint64_t i = 1; i < workers; i++) {
		first = ((i << 32) + factor - 1) / factor << 12;
		parts->first[i] = (first + step - 1) / step * step;
	}
	parts->first[workers] = UINT64_MAX;
	parts->factor = factor;
}

static int open_workers(struct responder_cores *c, struct error *err)
{
	const struct threads_options to = {
		.workers = c->o.workers,
		.rounds = ROUNDS,
		.take = take_batch,
		.work = run_round,
		.receive = receive_block,
		.ctx = c,
	};
	const struct region *r = c->p->region;
	int rc = 0;

	for (unsigned i = 0; i < region_tables(r); i++) {
		const struct table *t = region_table(r, i);

		if (t->length > OP_MESSAGE_OFFSET)
			return error_set(err, -EINVAL,
					 "table %s is too large for several "
					 "cores",
					 t->name);
		split_table(&c->parts[i], t, c->o.workers);
	}
	for (unsigned i = 0; i < c->o.workers && !rc; i++) {
		struct worker *w = aligned_alloc(LINE, sizeof(*w));

		if (!w)
			return error_set(err, -ENOMEM,
					 "no memory for a worker");
		memset(w, 0, sizeof(*w));
		c->worker[i] = w;
		w->p = i ? NULL : c->p;
		rc = i ? clone_open(&w->p, c->p, err) : 0;
	}
	return rc ? rc : threads_open(&c->threads, &to, err);
}

int responder_cores_open(struct responder_cores **out, struct responder *p,
			 const struct responder_cores_options *o,
			 struct error *err)
{
	struct responder_cores *c = calloc(1, sizeof(*c));
	int rc = 0;

	if (!c)
		return error_set(err, -ENOMEM, "no memory for workers");
	c->o = *o;
	c->p = p;
	c->lent = true;
	if (o->workers > 1)
		rc = open_workers(c, err);
	if (rc < 0) {
		free_all(c);
		return rc;
	}
	*out = c;
	return 0;
}

void responder_cores_close(struct responder_cores *c)
{
	if (!c)
		return;
	responder_cores_rest(c);
	threads_close(c->threads);
	free_all(c);
}
