/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The window of a RoCEv2 road: turning it on, what a new ticket does to it, and
 * what became of all requests.
 */
#include "roce/requester_private.h"

#include <errno.h>
#include <stdlib.h>

#include "wire/be.h"

enum {
	TIMEOUT_FIRST = 20 * 1000000, /* ns */
};

static const struct ledger_field fields[] = {
	LEDGER_FIELD(struct requester_ledger, requests, LEDGER_IN),
	LEDGER_FIELD(struct requester_ledger, acked, LEDGER_DONE),
	LEDGER_FIELD(struct requester_ledger, uc, LEDGER_DONE),
	LEDGER_FIELD(struct requester_ledger, unanswered, LEDGER_LOSS),
	LEDGER_FIELD(struct requester_ledger, window_full, LEDGER_LOSS),
	LEDGER_FIELD(struct requester_ledger, refused, LEDGER_LOSS),
	LEDGER_FIELD(struct requester_ledger, outdated, LEDGER_LOSS),
	LEDGER_FIELD(struct requester_ledger, unsent, LEDGER_LOSS),
	LEDGER_LEVEL(struct requester_ledger, waiting, LEDGER_HARMLESS),
	LEDGER_FIELD(struct requester_ledger, packets, LEDGER_NOTE),
	LEDGER_FIELD(struct requester_ledger, resent, LEDGER_NOTE),
	LEDGER_FIELD(struct requester_ledger, probes, LEDGER_NOTE),
	LEDGER_FIELD(struct requester_ledger, acks, LEDGER_NOTE),
	LEDGER_FIELD(struct requester_ledger, naks_psn, LEDGER_NOTE),
	LEDGER_FIELD(struct requester_ledger, naks_access, LEDGER_NOTE),
	LEDGER_FIELD(struct requester_ledger, naks_invalid, LEDGER_NOTE),
	LEDGER_FIELD(struct requester_ledger, naks_rnr, LEDGER_NOTE),
	LEDGER_FIELD(struct requester_ledger, timeouts, LEDGER_NOTE),
	LEDGER_FIELD(struct requester_ledger, resyncs, LEDGER_NOTE),
	LEDGER_FIELD(struct requester_ledger, late, LEDGER_NOTE),
	LEDGER_FIELD(struct requester_ledger, strangers, LEDGER_NOTE),
	LEDGER_FIELD(struct requester_ledger, malformed, LEDGER_NOTE),
};

LEDGER_COMPLETE(fields, struct requester_ledger);

const struct ledger requester_ledger = {
	.stage = "requester",
	.unit = "requests",
	.fields = fields,
	.n = sizeof(fields) / sizeof(fields[0]),
};

/* The longest payload that a table's requests have. */
static size_t payload_of(const struct table *t, uint32_t mtu)
{
	size_t len = t->kind == TABLE_APPEND
			     ? (size_t)TABLE_BATCH_MAX * t->stride
			     : t->stride;

	if (len > mtu)
		len = mtu;
	return len < 16 ? 16 : len; /* compare and swap */
}

int roce_out_window(struct roce_out *o, unsigned size, roce_out_wait *wait,
		    void *ctx, struct fault *f)
{
	uint64_t n = 1;

	if (!size || size > ROCE_OUT_WINDOW_MAX)
		return fault_set(f, -EINVAL, "a window of %u: 1 to %d", size,
				 ROCE_OUT_WINDOW_MAX);
	while (n < size)
		n *= 2;
	for (unsigned i = 0; i < o->t->n; i++) {
		const struct table *t = &o->t->table[i];
		struct requester *q = &o->pair[i].q;

		if (t->qp != TABLE_QP_RC)
			continue;
		if (window_open(&q->w, n, payload_of(t, o->t->mtu)) < 0)
			return fault_set(f, -ENOMEM,
					 "no memory for a window of %u", size);
		q->on = true;
		q->timeout = TIMEOUT_FIRST;
		q->farthest = o->t->at[i].psn;
		requester_restart(q, o->t->at[i].psn);
	}
	o->windows = true;
	o->wait = wait;
	o->ctx = ctx;
	return 0;
}

uint64_t roce_out_due(const struct roce_out *o)
{
	uint64_t due = UINT64_MAX;

	for (unsigned i = 0; i < o->t->n; i++) {
		const struct requester *q = &o->pair[i].q;

		if (q->resume && q->resume < due)
			due = q->resume;
		if (q->deadline && q->deadline < due)
			due = q->deadline;
	}
	return due;
}

uint64_t roce_out_pending(const struct roce_out *o)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < o->t->n; i++)
		if (o->pair[i].q.phase != PHASE_DEAD || o->pair[i].q.stale)
			n += o->pair[i].q.w.snd.end - o->pair[i].q.w.snd.una;
	return n;
}

bool roce_out_stalled(const struct roce_out *o)
{
	for (unsigned i = 0; i < o->t->n; i++)
		if (o->pair[i].q.phase == PHASE_DEAD || o->pair[i].q.tries > 1)
			return true;
	return false;
}

bool roce_out_stale(const struct roce_out *o)
{
	for (unsigned i = 0; i < o->t->n; i++)
		if (o->pair[i].q.stale)
			return true;
	return false;
}

struct requester_ledger roce_out_ledger(const struct roce_out *o)
{
	struct requester_ledger l = o->ctr;

	l.packets = o->windows ? o->packets : 0;
	for (unsigned i = 0; i < o->t->n; i++) {
		const struct requester *q = &o->pair[i].q;

		if (q->phase == PHASE_DEAD)
			l.refused += q->w.snd.end - q->w.snd.una;
		else
			l.unsent += q->w.snd.end - q->w.snd.max;
		l.unanswered += q->w.snd.max - q->w.snd.una;
	}
	return l;
}

struct requester_ledger roce_out_ledger_open(const struct roce_out *o)
{
	struct requester_ledger l = roce_out_ledger(o);

	for (unsigned i = 0; i < o->t->n; i++) {
		const struct requester *q = &o->pair[i].q;

		if (q->phase == PHASE_DEAD)
			continue;
		l.unsent -= q->w.snd.end - q->w.snd.max;
		l.unanswered -= q->w.snd.max - q->w.snd.una;
		l.waiting += q->w.snd.end - q->w.snd.una;
	}
	return l;
}

static bool same_tables(const struct ticket *a, const struct ticket *b)
{
	if (a->n != b->n)
		return false;
	for (unsigned i = 0; i < a->n; i++) {
		const struct table *s = &a->table[i], *t = &b->table[i];

		if (s->id != t->id || s->kind != t->kind || s->qp != t->qp ||
		    s->key_len != t->key_len || s->value_len != t->value_len ||
		    s->stride != t->stride || s->units != t->units ||
		    s->lists != t->lists || s->hops != t->hops ||
		    s->hash != t->hash || s->length != t->length ||
		    s->heads != t->heads)
			return false;
	}
	return true;
}

static bool is_write(const struct request *r)
{
	return r->op.verb == OP_WRITE || r->op.verb == OP_WRITE_IMM;
}

static bool is_none(const struct request *r)
{
	(void)r;
	return false;
}

/* Room for a number of each list of the table that has most. */
static uint64_t *room_of(const struct ticket *t)
{
	size_t most = 1;

	for (unsigned i = 0; i < t->n; i++)
		if (t->table[i].kind == TABLE_APPEND &&
		    t->table[i].lists > most)
			most = t->table[i].lists;
	return malloc(most * sizeof(uint64_t));
}

/*
 * Whether a collector's lists can be those that we wrote to: each holds no more
 * than we sent, and no less than it confirmed. What the oldest count under way
 * has at least, less a batch, was there before.
 */
static bool same_lists(const struct roce_out *o, unsigned i,
		       const uint64_t *heads, uint64_t *least)
{
	const struct table *t = &o->t->table[i];
	const struct window *w = &o->pair[i].q.w;

	memcpy(least, o->heads[i], t->lists * sizeof(*least));
	for (uint64_t k = w->snd.end; k-- > w->snd.una;) {
		const struct op *op = &window_at(w, k)->op;
		uint64_t list = (op->offset - t->heads) / 8, count;

		if (op->offset < t->heads || list >= t->lists)
			continue;
		count = be64_load(op->data);
		least[list] = count < t->batch ? 0 : count - t->batch;
	}
	for (uint32_t k = 0; k < t->lists; k++)
		if (heads[k] < least[k] || heads[k] > o->heads[i][k])
			return false;
	return true;
}

/* List entries have places: they go on, or are of no use any more. */
static void renew_lists(struct roce_out *o, unsigned i, const struct ticket *t,
			uint64_t *least)
{
	struct requester *q = &o->pair[i].q;
	const uint64_t *heads = t->at[i].heads;
	uint32_t lists = t->table[i].lists;

	if (heads && t->epoch == o->t->epoch && same_lists(o, i, heads, least))
		return;
	if (q->on) {
		o->ctr.outdated += window_thin(&q->w, q->w.snd.end, is_none);
		q->dropping = &o->ctr.outdated; /* for places of before */
	}
	if (heads)
		memcpy(o->heads[i], heads, lists * sizeof(*heads));
	else
		memset(o->heads[i], 0, lists * sizeof(*heads));
	o->generation++;
}

int roce_out_accepts(const struct roce_out *o, const struct ticket *t,
		     struct fault *f)
{
	if (!same_tables(o->t, t))
		return fault_set(f, -EINVAL, "the tables are not the same");
	if (t->mtu != o->t->mtu && o->windows)
		return fault_set(f, -EINVAL, "another MTU needs a new start");
	return ticket_check_mtu(t->table, t->n, t->mtu, f);
}

/*
 * Whether a new ticket leads where the old one does, and nothing was refused
 * there: then the connection may well live, and answers about what is under way
 * are still to come. It is asked.
 */
static bool same_place(const struct roce_out *o, unsigned i,
		       const struct ticket *t)
{
	const struct ticket_table *a = &o->t->at[i], *b = &t->at[i];
	size_t len = t->table[i].lists * sizeof(*b->heads);

	if (!o->pair[i].q.on || o->pair[i].q.phase == PHASE_DEAD ||
	    t->epoch != o->t->epoch || a->qpn != b->qpn || a->rkey != b->rkey ||
	    a->address != b->address)
		return false;
	return a->heads && b->heads ? !memcmp(a->heads, b->heads, len)
				    : a->heads == b->heads;
}

/* Whether a table's lists go on behind what we sent, of which a new ticket may
 * not know all. */
static bool lists_go_on(const struct roce_out *o, unsigned i,
			const struct ticket *t, bool same)
{
	if (o->pair[i].q.on)
		return same_place(o, i, t);
	return same ||
	       (t->epoch == o->t->epoch && ticket_pair_lasts(o->t, t, i));
}

int roce_out_reticket(struct roce_out *o, const struct ticket *t,
		      struct fault *f)
{
	int rc = roce_out_accepts(o, t, f);
	uint64_t *room;
	bool same;

	if (rc < 0)
		return rc;
	same = ticket_is_same(o->t, t);
	if (!(room = room_of(t)))
		return fault_set(f, -ENOMEM, "out of memory");
	for (unsigned i = 0; i < t->n; i++)
		if (t->table[i].kind == TABLE_APPEND &&
		    !lists_go_on(o, i, t, same))
			renew_lists(o, i, t, room);
	free(room);
	for (unsigned i = 0; i < t->n; i++) {
		struct pair *p = &o->pair[i];

		memset(p->cached, 0, sizeof(p->cached));
		if (!p->q.on && !same)
			p->psn = ticket_psn(o->t, t, i, p->psn);
		if (!p->q.on)
			continue;
		if (same_place(o, i, t)) {
			if (p->q.phase == PHASE_OPEN)
				requester_doubt(&p->q);
			continue;
		}
		o->ctr.unanswered += window_thin(&p->q.w, p->q.w.snd.max,
						 is_write);
		requester_restart(&p->q, t->at[i].psn);
	}
	o->t = t;
	/* It is ours now: what ails the sink shows at the next flush. */
	for (unsigned i = 0; i < t->n; i++)
		if (o->pair[i].q.on)
			requester_push(o, i);
	return 0;
}
