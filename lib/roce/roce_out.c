/* SPDX-License-Identifier: BSD-2-Clause */
/* The RoCEv2 road: operations to requests, which go out at once, or by a
 * window. */
#include "roce/requester_private.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static inline struct roce_out *self(struct road *r)
{
	return (struct roce_out *)r;
}

/* The opcode that carries a verb to a table, or 0: UC has no atomics. */
static uint8_t opcode_of(const struct table *t, uint8_t verb)
{
	static const uint8_t rc[] = {
		[OP_WRITE] = ROCE_RC_WRITE_ONLY,
		[OP_WRITE_IMM] = ROCE_RC_WRITE_ONLY_IMM,
		[OP_FETCH_ADD] = ROCE_RC_FETCH_ADD,
		[OP_CMP_SWAP] = ROCE_RC_CMP_SWAP,
	};

	if (t->qp == TABLE_QP_RC)
		return verb < sizeof(rc) ? rc[verb] : 0;
	return verb == OP_WRITE	      ? ROCE_UC_WRITE_ONLY
	       : verb == OP_WRITE_IMM ? ROCE_UC_WRITE_ONLY_IMM
				      : 0;
}

/* A request goes out at once, and is forgotten. */
static int send_one(struct roce_out *o, const struct op *op, uint8_t opcode)
{
	struct pair *p = &o->pair[op->table];
	uint32_t psn = p->psn;

	p->psn = (psn + 1) & ROCE_PSN_MASK;
	if (o->ack_every && ++p->since_ack >= o->ack_every) {
		p->since_ack = 0;
		psn |= ack_req;
	}
	return roce_out_emit(o, op, opcode, psn, o->ts_ns);
}

/* Into the window, if this queue pair has one. */
static int keep_one(struct roce_out *o, const struct op *op, uint8_t opcode,
		    bool *taken)
{
	if (o->pair[op->table].q.on)
		return requester_add(o, op, opcode, taken);
	o->ctr.requests++;
	o->ctr.uc++;
	return send_one(o, op, opcode);
}

/*
 * One operation: a request, or several if it is longer than a packet may be.
 * *taken: the last one was not dropped.
 */
static int carry(struct roce_out *o, const struct op *op, bool *taken)
{
	const struct table *t = &o->t->table[op->table];
	const uint8_t opcode = opcode_of(t, op->verb);
	const uint8_t write = opcode_of(t, OP_WRITE);
	const uint32_t mtu = o->t->mtu;
	struct op part = *op;
	int rc = 0;

	if (!opcode)
		return -EINVAL;
	*taken = true;
	if (!has_payload(op->verb) || op->length <= mtu)
		return o->windows ? keep_one(o, op, opcode, taken)
				  : send_one(o, op, opcode);
	/* The immediate goes with the last: it says that all is there. A new
	 * ticket may come while one waits for room: t is not to be used. */
	part.verb = OP_WRITE;
	part.length = mtu;
	for (; op->data + op->length - part.data > mtu && !rc;
	     part.data += mtu, part.offset += mtu)
		rc = o->windows ? keep_one(o, &part, write, taken)
				: send_one(o, &part, write);
	part.verb = op->verb;
	part.length = (uint32_t)(op->data + op->length - part.data);
	if (!rc)
		rc = o->windows ? keep_one(o, &part, opcode, taken)
				: send_one(o, &part, opcode);
	return rc;
}

/* Keeps the count of a list that goes over the road, for head(). */
static void note_head(struct roce_out *o, const struct op *op)
{
	const struct table *t = &o->t->table[op->table];
	uint64_t list = (op->offset - t->heads) / 8;

	if (t->kind == TABLE_APPEND && has_payload(op->verb) &&
	    op->length == 8 && op->offset >= t->heads && list < t->lists)
		o->heads[op->table][list] = be64_load(op->data);
}

static int push_all(struct roce_out *o)
{
	int rc = 0;

	for (unsigned i = 0; i < o->t->n && !rc; i++)
		if (o->pair[i].q.on)
			rc = requester_push(o, i);
	return rc;
}

static int roce_exec(struct road *road, const struct op *ops, size_t n,
		     uint64_t ts_ns)
{
	struct roce_out *o = self(road);
	const uint64_t *stamp = road->stamps ? road->stamps : &ts_ns;
	const size_t next = road->stamps ? 1 : 0;
	int rc = 0;

	for (const struct op *op = ops; op < ops + n && !rc; op++) {
		bool taken;

		o->ts_ns = *stamp;
		stamp += next;
		if (op->table >= o->t->n)
			return -ERANGE;
		rc = carry(o, op, &taken);
		if (!rc && taken)
			note_head(o, op);
	}
	return rc || !o->windows ? rc : push_all(o);
}

static uint64_t roce_begin(struct road *road)
{
	struct roce_out *o = self(road);

	for (unsigned i = 0; i < o->t->n; i++)
		o->pair[i].q.dropping = NULL;
	return o->generation;
}

static void roce_end(struct road *road)
{
	(void)road;
}

static uint64_t roce_head(struct road *road, unsigned table, uint32_t list)
{
	return self(road)->heads[table][list];
}

/* Of a queue pair that has refused a request, all are refused until it lives
 * again; one that asks where it stands has room for some. */
static bool roce_busy(struct road *road, unsigned table)
{
	const struct requester *q = &self(road)->pair[table].q;

	if (!q->on || q->phase == PHASE_OPEN)
		return false;
	return q->phase == PHASE_DEAD ||
	       q->w.snd.end - q->w.snd.una > q->w.mask / 2;
}

/* Our own copy of the ticket's heads: they go on from there. */
static int take_heads(struct roce_out *o, unsigned i, struct fault *f)
{
	uint32_t lists = o->t->table[i].lists;

	if (o->t->table[i].kind != TABLE_APPEND)
		return 0;
	o->heads[i] = calloc(lists, sizeof(*o->heads[i]));
	if (!o->heads[i])
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	if (o->t->at[i].heads)
		memcpy(o->heads[i], o->t->at[i].heads,
		       lists * sizeof(*o->heads[i]));
	return 0;
}

int roce_out_open(struct roce_out **out, const struct ticket *t,
		  struct snk *sink, unsigned ack_every, struct fault *f)
{
	int rc = ticket_check_mtu(t->table, t->n, t->mtu, f);
	struct roce_out *o;

	if (rc < 0)
		return rc;
	if (!(o = calloc(1, sizeof(*o))))
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	o->road = (struct road){
		.begin = roce_begin,
		.exec = roce_exec,
		.end = roce_end,
		.head = roce_head,
		.busy = roce_busy,
		.stamped = true,
	};
	o->t = t;
	o->sink = sink;
	o->ack_every = ack_every;
	o->generation = t->epoch;
	for (unsigned i = 0; i < t->n && !rc; i++) {
		o->pair[i].psn = t->at[i].psn;
		if (t->table[i].qp == TABLE_QP_UC &&
		    t->table[i].kind == TABLE_KEYINC)
			rc = fault_set(f, -EINVAL,
				       "table %s: counters need atomics, which "
				       "UC does not have; say qp = rc",
				       t->table[i].name);
		else
			rc = take_heads(o, i, f);
	}
	if (rc < 0) {
		roce_out_close(o);
		return rc;
	}
	*out = o;
	return 0;
}

struct road *roce_out_road(struct roce_out *o)
{
	return &o->road;
}

uint64_t roce_out_packets(const struct roce_out *o)
{
	return o->packets;
}

uint32_t roce_out_psn(const struct roce_out *o, unsigned table)
{
	const struct pair *p = &o->pair[table];

	if (!p->q.on)
		return p->psn;
	return p->q.met ? p->q.unused : o->t->at[table].psn;
}

struct roce_out_progress roce_out_progress(const struct roce_out *o,
					   unsigned table)
{
	const struct requester *q = &o->pair[table].q;

	return (struct roce_out_progress){
		.acked = q->w.snd.una,
		.waiting = q->w.snd.end - q->w.snd.una,
		.refused = q->phase == PHASE_DEAD,
		.stale = q->stale,
	};
}

const struct ticket *roce_out_ticket(const struct roce_out *o)
{
	return o->t;
}

void roce_out_close(struct roce_out *o)
{
	if (!o)
		return;
	for (unsigned i = 0; i < TABLE_MAX; i++) {
		free(o->heads[i]);
		window_close(&o->pair[i].q.w);
	}
	free(o);
}
