/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue pairs: InfiniBand Architecture 9.7 (RC) and 9.8 (UC), as measured in
 * rdma.md. A packet is judged in full before a byte is written.
 */
#include "responder/pair.h"

#include "store/prefetch.h"

enum {
	RNR_TIMER = 1,	  /* 0.01 ms: the shortest (InfiniBand table 45) */
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

/* An answer to what is not carried out. */
static struct verdict answer(struct responder *p, const struct queue_pair *q,
			     uint32_t psn, uint8_t syndrome)
{
	if (syndrome == ROCE_ACK)
		p->ctr.acks++;
	else
		p->ctr.naks++;
	return (struct verdict){
		.answer = ANSWER_PLAIN,
		.psn = psn,
		.aeth = (uint32_t)syndrome << 24 | q->msn,
	};
}

static struct verdict silence(void)
{
	return (struct verdict){.answer = ANSWER_NONE};
}

/* RC: a NAK, and the queue pair is dead. UC: silence, and it lives on. */
static struct verdict refuse(struct responder *p, struct queue_pair *q,
			     const struct roce *r, uint8_t syndrome)
{
	if (syndrome == ROCE_NAK_ACCESS)
		p->ctr.access++;
	else
		p->ctr.invalid++;
	q->refused = true;
	q->refused_rkey = r->rkey;
	if (!is_rc(r->opcode))
		return silence();
	q->error = true;
	return answer(p, q, q->expected, syndrome);
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
		q->other_epoch = pair_epoch_of(p, pair_table(p, q), r->rkey);
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

/* An atomic's answer is that of before: whether it is known still, and so
 * counted, shows when it is sent. */
static struct verdict duplicate(struct responder *p, struct queue_pair *q,
				const struct roce *r)
{
	count_other(p, q, r, &p->ctr.duplicate);
	if (!is_atomic(r->opcode))
		return answer(p, q, (q->expected - 1) & ROCE_PSN_MASK,
			      ROCE_ACK);
	return (struct verdict){
		.answer = ANSWER_AGAIN,
		.psn = r->psn,
		.aeth = (uint32_t)ROCE_ACK << 24 | q->msn,
	};
}

/* As a device's queue pairs do, verbs_target.h: max_dest_rd_atomic is 0 where
 * nobody needs atomics. */
static bool takes_atomics(const struct table *t)
{
	return t->kind == TABLE_KEYINC || t->kind == TABLE_KEYWRITE;
}

static inline __attribute__((always_inline)) uint8_t
access_of(const struct responder *p, const struct queue_pair *q,
	  const struct roce *r)
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

uint8_t pair_access(const struct responder *p, const struct queue_pair *q,
		    const struct roce *r)
{
	return access_of(p, q, r);
}

/* A packet for a live queue pair whose turn it is. */
static inline __attribute__((always_inline)) struct verdict
judge_next(struct responder *p, struct queue_pair *q, const struct roce *r)
{
	uint64_t *receives = &p->s->receives;
	struct verdict v;
	uint8_t why;

	if (is_immediate(r->opcode) && !*receives) {
		p->ctr.rnr++;
		return is_rc(r->opcode)
			       ? answer(p, q, r->psn, ROCE_RNR_NAK | RNR_TIMER)
			       : silence();
	}
	why = access_of(p, q, r);
	if (why)
		return refuse(p, q, r, why);
	if (is_immediate(r->opcode) && *receives != UINT64_MAX)
		--*receives;
	if (q->refused && (is_atomic(r->opcode) || r->len))
		q->refused = false;
	v = pair_good(r, q->msn);
	q->expected = (r->psn + 1) & ROCE_PSN_MASK;
	q->msn = (q->msn + 1) & ROCE_PSN_MASK;
	q->nak_sent = false;
	return v;
}

/* RC: only the expected PSN is carried out (InfiniBand 9.7.3). */
static inline __attribute__((always_inline)) struct verdict
judge(struct responder *p, struct queue_pair *q, const struct roce *r)
{
	uint32_t ahead = (r->psn - q->expected) & ROCE_PSN_MASK;

	if (q->error) {
		p->ctr.qp_error++;
		return silence();
	}
	if (!is_rc(r->opcode) || !ahead)
		return judge_next(p, q, r);
	if (ahead >= ROCE_PSN_HALF)
		return duplicate(p, q, r);
	count_other(p, q, r, &p->ctr.out_of_order);
	if (q->nak_sent)
		return silence();
	q->nak_sent = true;
	return answer(p, q, q->expected, ROCE_NAK_PSN);
}

struct verdict pair_judge(struct responder *p, struct queue_pair *q,
			  const struct roce *r)
{
	return judge(p, q, r);
}

static inline __attribute__((always_inline)) void
make_op(struct responder *p, const struct queue_pair *q, const struct roce *r,
	uint64_t operand[2], struct op *op)
{
	bool imm = is_immediate(r->opcode);

	p->ctr.executed++;
	op->table = (uint16_t)pair_table(p, q);
	op->immediate = r->imm;
	if (!is_atomic(r->opcode)) {
		p->ctr.writes++;
		p->ctr.bytes += r->len;
		p->ctr.immediates += imm;
		p->ctr.acks += is_rc(r->opcode) && r->ack_req;
		op->verb = imm ? OP_WRITE_IMM : OP_WRITE;
		op->offset = r->len ? r->va - q->address : 0;
		op->length = (uint32_t)r->len;
		op->data = r->payload;
		return;
	}
	p->ctr.atomics++;
	p->ctr.bytes += 8;
	p->ctr.acks++;
	op->offset = r->va - q->address;
	op->length = 8;
	if (r->opcode == ROCE_RC_FETCH_ADD) {
		op->verb = OP_FETCH_ADD;
		op->add = r->swap_add;
	} else {
		op->verb = OP_CMP_SWAP;
		operand[0] = r->compare;
		operand[1] = r->swap_add;
		op->data = (const uint8_t *)operand;
	}
}

void pair_op(struct responder *p, const struct queue_pair *q,
	     const struct roce *r, uint64_t operand[2], struct op *op)
{
	make_op(p, q, r, operand, op);
}

unsigned pair_answer(const struct responder *p, const struct queue_pair *q,
		     const struct roce *r, const struct verdict *v,
		     struct answers_due *d, uint64_t ts_ns)
{
	const struct answer_new a = {
		.kind = v->answer,
		.table = pair_table(p, q),
		.qpn = q->qpn,
		.psn = v->psn,
		.aeth = v->aeth,
		.ts_ns = ts_ns,
	};

	return v->answer && p->answers ? answers_add(d, &a, r) : ANSWERS_NONE;
}

void pair_rx(struct responder *p, struct queue_pair *q, const struct roce *r,
	     uint64_t ts_ns)
{
	struct verdict v = judge(p, q, r);
	struct op *op = &p->op[p->nops];
	unsigned number = ANSWERS_NONE;

	if (v.answer)
		number = pair_answer(p, q, r, &v, &p->due, ts_ns);
	if (!v.good)
		return;
	make_op(p, q, r, p->operand[p->nops++], op);
	if (v.answer == ANSWER_OLD)
		op->immediate = number;
	if (p->asks)
		prefetch_lines(local_mem(p->local, op->table) + op->offset,
			       op->length);
}

static bool is_told(const struct op *op)
{
	return op->verb == OP_FETCH_ADD || op->verb == OP_CMP_SWAP;
}

/* Those before the first that is no atomic, or is for another table. */
static size_t exec_atomics(struct responder *p, const struct op *op, size_t n,
			   struct answers_due *d)
{
	uint64_t old[PKT_BATCH];
	size_t done = local_fetch(p->local, op, n, old);

	for (size_t i = 0; i < done; i++)
		if (op[i].immediate != ANSWERS_NONE)
			answers_tell(d, op[i].immediate, old[i]);
	return done;
}

int pair_exec(struct responder *p, const struct op *op, size_t n,
	      struct answers_due *d)
{
	struct road *road = local_road(p->local);
	size_t done;
	int rc = 0;

	if (!d)
		return n ? road->exec(road, op, n, 0) : 0;
	for (; n && !rc; op += done, n -= done) {
		done = exec_atomics(p, op, n, d);
		if (done)
			continue;
		while (done < n && !is_told(&op[done]))
			done++;
		rc = road->exec(road, op, done, 0);
	}
	return rc;
}
