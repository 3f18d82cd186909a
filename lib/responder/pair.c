/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue pairs: InfiniBand Architecture 9.7 (RC) and 9.8 (UC), as measured in
 * rdma.md. A packet is judged in full before a byte is written; writes gather
 * and go down the local road together.
 */
#include "responder/pair.h"

#include <errno.h>
#include <string.h>

#include "store/prefetch.h"

enum {
	RNR_TIMER = 1,	    /* 0.01 ms: the shortest (InfiniBand table 45) */
	UNTOLD = PKT_BATCH, /* none of the answers that wait */
};

enum {
	EPOCHS_BACK = 64, /* that an R_Key is known of */
};

uint64_t pair_epoch_of(const struct responder *p, unsigned table, uint32_t rkey)
{
	uint64_t now = p->s->epoch;
	struct ticket_table at;

	for (uint64_t e = now; e-- > 1 && now - e <= EPOCHS_BACK;) {
		ticket_place(&at, p->region, table, e);
		if (at.rkey == rkey)
			return e;
	}
	return 0;
}

static bool is_told(const struct op *op)
{
	return op->verb == OP_FETCH_ADD || op->verb == OP_CMP_SWAP;
}

/* Those before the first that is not told of, or is for another table. */
static size_t tell(struct responder *p, const struct op *ops, size_t n)
{
	uint64_t old[PKT_BATCH];
	size_t done = local_fetch(p->local, ops, n, old);

	for (size_t i = 0; i < done; i++)
		if (ops[i].immediate != UNTOLD)
			answers_tell(&p->due, ops[i].immediate, old[i]);
	return done;
}

static int telling_exec(struct road *r, const struct op *ops, size_t n,
			uint64_t ts_ns)
{
	struct responder *p = ((struct telling *)r)->p;
	struct road *road = local_road(p->local);
	size_t done;
	int rc = 0;

	for (; n && !rc; ops += done, n -= done) {
		done = tell(p, ops, n);
		if (done)
			continue;
		while (done < n && !is_told(&ops[done]))
			done++;
		rc = road->exec(road, ops, done, ts_ns);
	}
	answers_sum(&p->due);
	return rc;
}

struct road *pair_road(struct responder *p)
{
	if (!p->answers)
		return local_road(p->local);
	p->telling = (struct telling){{.exec = telling_exec}, p};
	return &p->telling.road;
}

void pair_drop(struct responder *p)
{
	answers_drop(&p->due);
	memset(p->promised, 0, sizeof(p->promised));
}

/* Those before this one. */
static int carry_out(struct responder *p, unsigned end)
{
	struct road *road = pair_road(p);
	unsigned from = p->carried_out;
	int rc = 0;

	p->carried_out = end;
	if (from < end)
		rc = road->exec(road, p->op + from, end - from, p->ts_ns);
	if (rc < 0)
		pair_drop(p); /* an ACK promises that the write is done */
	return rc;
}

int pair_flush(struct responder *p)
{
	int rc = carry_out(p, p->nops);

	p->waited += p->nops;
	p->nops = p->asked = p->carried_out = 0;
	return rc;
}

int pair_flush_asked(struct responder *p)
{
	int rc = carry_out(p, p->asked);

	p->asked = p->nops;
	return rc;
}

/* An operation that waits, from now on. */
static inline void wait_with(struct responder *p, const struct op *op)
{
	p->op[p->nops++] = *op;
	if (p->asks)
		prefetch_lines(local_mem(p->local, op->table) + op->offset,
			       op->length);
}

static void keep_replay(struct replays *r, uint32_t psn, uint64_t old)
{
	r->at[r->next] = (struct replay){psn, true, old};
	r->next = (r->next + 1) % REPLAYS;
}

/* What was promised is known. */
static void keep_promised(struct responder *p)
{
	for (unsigned i = 0; i < p->s->t.n; i++) {
		struct promised *m = &p->promised[i];
		unsigned k = m->n < REPLAYS ? 0 : m->n - REPLAYS;

		for (; k < m->n; k++) {
			unsigned number = m->number[k % REPLAYS];

			keep_replay(&p->s->replays[i],
				    answers_psn(&p->due, number),
				    answers_old(&p->due, number));
		}
		m->n = 0;
	}
}

int pair_answer(struct responder *p)
{
	int rc;

	if (!p->due.n)
		return 0;
	if (p->wait)
		p->wait(p);
	if ((rc = pair_flush(p)) < 0)
		return rc;
	keep_promised(p);
	return answers_send(&p->due, p->answers);
}

/* Answers go to where r is from, from now on. */
static int answer_to(struct responder *p, const struct queue_pair *q,
		     const struct roce *r)
{
	struct answers *to = &p->to[q - p->s->qp];
	int rc;

	if (answers_fit(to, r))
		return 0;
	/* Those that wait are made as it is now. The translator's queue pair
	 * has the same number. */
	rc = pair_answer(p);
	if (rc < 0)
		return rc;
	return answers_make(to, q->qpn, r) < 0 ? -EINVAL : 0;
}

/* An answer to r: positive, negative, or with an atomic's old value. */
static int answer(struct responder *p, struct queue_pair *q,
		  const struct roce *r, uint32_t psn, uint8_t syndrome,
		  const uint64_t *old)
{
	int rc;

	if (syndrome == ROCE_ACK)
		p->ctr.acks++;
	else
		p->ctr.naks++;
	if (!p->answers)
		return 0;
	if ((rc = answer_to(p, q, r)) < 0)
		return rc;
	answers_add(&p->due, &p->to[q - p->s->qp], psn,
		    (uint32_t)syndrome << 24 | q->msn, old, p->ts_ns);
	return 0;
}

/* RC: a NAK, and the queue pair is dead. UC: silence, and it lives on. */
static int refuse(struct responder *p, struct queue_pair *q,
		  const struct roce *r, uint8_t syndrome)
{
	if (syndrome == ROCE_NAK_ACCESS)
		p->ctr.access++;
	else
		p->ctr.invalid++;
	q->refused = true;
	q->refused_rkey = r->rkey;
	if (!is_rc(r->opcode))
		return 0;
	q->error = true;
	return answer(p, q, r, q->expected, syndrome, NULL);
}

/* Whether a request was made for an epoch that is over. Empty ones are for
 * none: what they have as an R_Key does not matter. */
static bool is_outdated(struct responder *p, struct queue_pair *q,
			const struct roce *r)
{
	if (r->rkey == q->rkey || (!is_atomic(r->opcode) && !r->len))
		return false;
	if (r->rkey != q->other_rkey) {
		q->other_rkey = r->rkey;
		q->other_epoch = pair_epoch_of(p, (unsigned)(q - p->s->qp),
					       r->rkey);
	}
	return q->other_epoch;
}

/* Not the PSN that is expected, for one reason or the other. */
static void count_other(struct responder *p, struct queue_pair *q,
			const struct roce *r, uint64_t *reason)
{
	if (!is_outdated(p, q, r)) {
		++*reason;
		return;
	}
	p->ctr.old_epoch++;
	if (p->answers) /* it is sent again under another ticket */
		return;
	q->refused = true;
	q->refused_rkey = r->rkey;
}

static struct replays *replays_of(struct responder *p,
				  const struct queue_pair *q)
{
	return &p->s->replays[q - p->s->qp];
}

/* All that was acted on is carried out, and what it found is kept. */
static int catch_up(struct responder *p)
{
	if (p->wait)
		p->wait(p);
	return pair_answer(p);
}

static int duplicate(struct responder *p, struct queue_pair *q,
		     const struct roce *r)
{
	const struct replay *one;
	int rc;

	count_other(p, q, r, &p->ctr.duplicate);
	if (!is_atomic(r->opcode))
		return answer(p, q, r, (q->expected - 1) & ROCE_PSN_MASK,
			      ROCE_ACK, NULL);
	if ((rc = catch_up(p)) < 0)
		return rc;
	one = replays_of(p, q)->at;
	for (unsigned i = 0; i < REPLAYS; i++)
		if (one[i].used && one[i].psn == r->psn)
			return answer(p, q, r, r->psn, ROCE_ACK, &one[i].old);
	return 0; /* too old to know: silence */
}

/* As a device's queue pairs do, verbs_target.h: max_dest_rd_atomic is 0 where
 * nobody needs atomics. */
static bool takes_atomics(const struct table *t)
{
	return t->kind == TABLE_KEYINC || t->kind == TABLE_KEYWRITE;
}

/* 0 if the packet may be carried out, else the syndrome that says why not. */
static uint8_t judge_access(const struct responder *p,
			    const struct queue_pair *q, const struct roce *r)
{
	uint64_t len = is_atomic(r->opcode) ? 8 : r->len;
	uint64_t offset = r->va - q->address;

	if (is_atomic(r->opcode)) {
		if (r->pad || (r->va & 7) || !takes_atomics(q->table))
			return ROCE_NAK_INVALID;
	} else if (r->dma_len != r->len || r->pad != (-r->len & 3) ||
		   r->len > p->s->t.mtu) {
		return ROCE_NAK_INVALID;
	}
	if (!len)
		return 0; /* touches nothing: not even a key is needed */
	if (r->rkey != q->rkey || r->va < q->address ||
	    offset > q->table->length || q->table->length - offset < len)
		return ROCE_NAK_ACCESS;
	return 0;
}

/* Its answer is to tell what it finds. Returns the answer's number. */
static unsigned promise(struct responder *p, const struct queue_pair *q,
			const struct roce *r)
{
	unsigned table = (unsigned)(q - p->s->qp);
	struct promised *m = &p->promised[table];
	unsigned number = answers_promise(&p->due, &p->to[table], r->psn,
					  (uint32_t)ROCE_ACK << 24 | q->msn,
					  p->ts_ns);

	m->number[m->n++ % REPLAYS] = (uint16_t)number;
	return number;
}

static int do_atomic(struct responder *p, struct queue_pair *q,
		     const struct roce *r)
{
	struct op op = {
		.verb = OP_FETCH_ADD,
		.table = (uint16_t)(q - p->s->qp),
		.offset = r->va - q->address,
		.length = 8,
		.add = r->swap_add,
		.immediate = UNTOLD,
	};
	int rc = p->answers ? answer_to(p, q, r) : 0;

	p->ctr.atomics++;
	p->ctr.acks++;
	p->ctr.bytes += 8;
	if (p->answers && !rc)
		op.immediate = promise(p, q, r);
	if (r->opcode == ROCE_RC_FETCH_ADD) {
		p->s->added |= UINT64_C(1) << op.table;
	} else {
		uint64_t *operand = p->operand[p->nops];

		p->s->written |= UINT64_C(1) << op.table;
		operand[0] = r->compare;
		operand[1] = r->swap_add;
		op.verb = OP_CMP_SWAP;
		op.data = (const uint8_t *)operand;
		if (!p->answers)
			keep_replay(replays_of(p, q), r->psn, 0);
	}
	wait_with(p, &op);
	return rc;
}

static int do_write(struct responder *p, struct queue_pair *q,
		    const struct roce *r)
{
	bool imm = is_immediate(r->opcode);
	struct op op;

	p->ctr.writes++;
	p->ctr.bytes += r->len;
	p->s->written |= UINT64_C(1) << (q - p->s->qp);
	if (imm) {
		p->ctr.immediates++;
		if (p->s->receives != UINT64_MAX)
			p->s->receives--;
	}
	op = (struct op){
		.verb = imm ? OP_WRITE_IMM : OP_WRITE,
		.table = (uint16_t)(q - p->s->qp),
		.offset = r->len ? r->va - q->address : 0,
		.length = (uint32_t)r->len,
		.data = r->payload,
		.immediate = r->imm,
	};
	wait_with(p, &op);
	if (is_rc(r->opcode) && r->ack_req)
		return answer(p, q, r, r->psn, ROCE_ACK, NULL);
	return 0;
}

/* A good packet for a live queue pair whose turn it is. */
static int execute(struct responder *p, struct queue_pair *q,
		   const struct roce *r)
{
	uint8_t why;

	if (is_immediate(r->opcode) && !p->s->receives) {
		p->ctr.rnr++;
		return is_rc(r->opcode) ? answer(p, q, r, r->psn,
						 ROCE_RNR_NAK | RNR_TIMER, NULL)
					: 0;
	}
	why = judge_access(p, q, r);
	if (why)
		return refuse(p, q, r, why);
	p->ctr.executed++;
	if (q->refused && (is_atomic(r->opcode) || r->len))
		q->refused = false;
	q->expected = (r->psn + 1) & ROCE_PSN_MASK;
	q->msn = (q->msn + 1) & ROCE_PSN_MASK;
	q->nak_sent = false;
	return is_atomic(r->opcode) ? do_atomic(p, q, r) : do_write(p, q, r);
}

/* RC: only the expected PSN is carried out (InfiniBand 9.7.3). */
int pair_rx(struct responder *p, struct queue_pair *q, const struct roce *r)
{
	uint32_t ahead = (r->psn - q->expected) & ROCE_PSN_MASK;

	if (q->error) {
		p->ctr.qp_error++;
		return 0;
	}
	if (!is_rc(r->opcode) || !ahead)
		return execute(p, q, r);
	if (ahead >= ROCE_PSN_HALF)
		return duplicate(p, q, r);
	count_other(p, q, r, &p->ctr.out_of_order);
	if (q->nak_sent)
		return 0;
	q->nak_sent = true;
	return answer(p, q, r, q->expected, ROCE_NAK_PSN, NULL);
}
