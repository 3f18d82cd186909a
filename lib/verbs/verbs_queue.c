/* SPDX-License-Identifier: BSD-2-Clause */
#include "verbs/verbs_queue.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>

#include "base/clock.h"

enum {
	REAP = 16,    /* completions taken at once */
	SPINS = 1000, /* looks at the queue before sleeping */
	SLEEP_MS = 50,
	/* Longer than a device retries (verbs_link.c): it has died itself. */
	GIVE_UP_MS = 15000,
};

void verbs_queue_init(struct verbs_queue *q)
{
	q->chained = 0;
	q->broken = false;
	q->posted = q->done = 0;
	q->head = q->tail = 0;
	for (unsigned i = 0; i < VERBS_CHAIN; i++) {
		q->wr[i].next = i + 1 < VERBS_CHAIN ? &q->wr[i + 1] : NULL;
		q->wr[i].sg_list = &q->sge[i];
		q->sge[i].lkey = q->lkey;
	}
}

static uint64_t *reason(struct verbs_road_ledger *c, enum ibv_wc_status status)
{
	switch (status) {
	case IBV_WC_WR_FLUSH_ERR:
		return &c->flushed;
	case IBV_WC_REM_ACCESS_ERR:
		return &c->access;
	case IBV_WC_REM_INV_REQ_ERR:
	case IBV_WC_REM_OP_ERR:
		return &c->refused;
	case IBV_WC_RETRY_EXC_ERR:
		return &c->unanswered;
	case IBV_WC_RNR_RETRY_EXC_ERR:
		return &c->not_ready;
	default:
		return &c->failed;
	}
}

/* Work requests before this one are done; so is this one, or it is lost. */
static void completed(struct verbs_queue *q, const struct ibv_wc *wc)
{
	bool good = wc->status == IBV_WC_SUCCESS;

	if (wc->wr_id < q->done || wc->wr_id >= q->posted)
		return; /* none of ours */
	q->ctr->completed += wc->wr_id - q->done + good;
	if (!good) {
		++*reason(q->ctr, wc->status);
		q->broken = true;
	}
	q->done = wc->wr_id + 1;
	q->tail = q->given[wc->wr_id & (q->depth - 1)];
}

unsigned verbs_queue_reap(struct verbs_queue *q)
{
	struct ibv_wc wc[REAP];
	unsigned all = 0;
	int n;

	do {
		n = ibv_poll_cq(q->cq, REAP, wc);
		for (int i = 0; i < n; i++)
			completed(q, &wc[i]);
		all += n > 0 ? (unsigned)n : 0;
	} while (n == REAP);
	if (n < 0)
		q->broken = true;
	return all;
}

/* Until the device says that something has completed, or for a moment. */
static void sleep_on(struct verbs_queue *q)
{
	struct ibv_cq *cq = q->cq;
	struct pollfd p = {.events = POLLIN};
	void *context;

	if (!cq->channel) {
		sched_yield();
		return;
	}
	p.fd = cq->channel->fd;
	if (ibv_req_notify_cq(cq, 0) || verbs_queue_reap(q))
		return; /* what came before would not wake us */
	if (poll(&p, 1, SLEEP_MS) > 0 &&
	    !ibv_get_cq_event(cq->channel, &cq, &context))
		ibv_ack_cq_events(cq, 1);
}

/*
 * Waits for more completions. Returns false when the device gives no sign of
 * life any more: then nothing outstanding will complete.
 */
static bool wait(struct verbs_queue *q)
{
	uint64_t since;

	for (unsigned i = 0; i < SPINS; i++)
		if (verbs_queue_reap(q))
			return true;
	since = clock_ms();
	while (clock_ms() - since < GIVE_UP_MS) {
		uint64_t before = q->done;

		if (q->poll_events)
			q->poll_events(q);
		sleep_on(q);
		if (verbs_queue_reap(q) || q->done != before)
			return true;
	}
	verbs_queue_abandon(q);
	return false;
}

void verbs_queue_abandon(struct verbs_queue *q)
{
	q->ctr->flushed += q->posted - q->done;
	q->done = q->posted;
	q->tail = q->head;
	q->broken = true;
}

/*
 * Posts what is chained, and waits until a whole chain has room again. Counts
 * what cannot be posted as lost.
 */
static void post_chain(struct verbs_queue *q)
{
	struct ibv_send_wr *last = &q->wr[q->chained - 1], *bad = NULL;
	struct ibv_send_wr *next = last->next;
	unsigned n = q->chained;

	last->next = NULL;
	last->send_flags |= IBV_SEND_SIGNALED;
	q->ctr->doorbells++;
	if (ibv_post_send(q->qp, q->wr, &bad)) {
		/* The one that is bad, and all behind it, were not taken. */
		n = bad ? (unsigned)(bad - q->wr) : 0;
		q->ctr->failed += q->chained - n;
		q->broken = true;
	}
	last->next = next;
	q->posted += n;
	q->chained = 0;
	if (q->posted - q->done > q->depth / 2)
		verbs_queue_reap(q);
	while (q->posted - q->done > q->depth - VERBS_CHAIN && wait(q))
		;
}

void verbs_queue_settle(struct verbs_queue *q)
{
	if (q->chained)
		post_chain(q);
	while (q->done != q->posted && wait(q))
		;
}

/* Whether so many bytes of the ring are free in one piece; takes them. */
static bool take(struct verbs_queue *q, uint32_t length)
{
	uint64_t at = q->head % VERBS_STAGE;
	uint64_t skip = at + length > VERBS_STAGE ? VERBS_STAGE - at : 0;

	if (q->head + skip + length - q->tail > VERBS_STAGE)
		return false;
	q->head += skip + length;
	return true;
}

/* A payload into the ring: where it is there. */
static uint8_t *stage(struct verbs_queue *q, const uint8_t *data,
		      uint32_t length)
{
	uint8_t *to;

	if (!take(q, length)) {
		if (q->chained)
			post_chain(q);
		while (!take(q, length))
			if (q->done == q->posted || !wait(q))
				q->tail = q->head;
	}
	to = q->memory + VERBS_SCRATCH + (q->head - length) % VERBS_STAGE;
	memcpy(to, data, length);
	return to;
}

static inline bool is_atomic(const struct op *op)
{
	return op->verb == OP_FETCH_ADD || op->verb == OP_CMP_SWAP;
}

/* A work request of the chain, with the payload of an operation at data. */
static inline void put_payload(const struct verbs_queue *q,
			       struct ibv_send_wr *wr, const struct op *op,
			       const uint8_t *data, unsigned flags,
			       struct verbs_road_ledger *sum)
{
	wr->sg_list->addr = (uintptr_t)data;
	wr->sg_list->length = op->length;
	wr->num_sge = op->length != 0; /* to some, length 0 means 2^31 */
	wr->send_flags = flags;
	sum->inlined += flags == IBV_SEND_INLINE;
	wr->opcode = IBV_WR_RDMA_WRITE;
	wr->wr.rdma.remote_addr = q->address + op->offset;
	wr->wr.rdma.rkey = q->rkey;
	sum->writes++;
	sum->bytes += op->length;
	if (op->verb == OP_WRITE_IMM) {
		wr->opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
		wr->imm_data = htobe32(op->immediate);
		sum->immediates++;
	}
}

static inline void put_atomic(const struct verbs_queue *q,
			      struct ibv_send_wr *wr, const struct op *op,
			      struct verbs_road_ledger *sum)
{
	uint64_t operand[2];

	wr->sg_list->addr = (uintptr_t)q->memory;
	wr->sg_list->length = 8;
	wr->num_sge = 1;
	wr->send_flags = 0;
	wr->wr.atomic.remote_addr = q->address + op->offset;
	wr->wr.atomic.rkey = q->rkey;
	if (op->verb == OP_FETCH_ADD) {
		wr->opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		wr->wr.atomic.compare_add = op->add;
	} else {
		memcpy(operand, op->data, sizeof(operand));
		wr->opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
		wr->wr.atomic.compare_add = operand[0];
		wr->wr.atomic.swap = operand[1];
	}
	sum->atomics++;
}

/* Numbers the work request that was just made. */
static void number(struct verbs_queue *q, struct ibv_send_wr *wr, uint64_t n)
{
	wr->wr_id = n;
	q->given[n & (q->depth - 1)] = q->head;
}

/*
 * Chains operations up to the first whose payload does not go inside the
 * request, or to the end of the chain; their data must stay until the next
 * post_chain(). Returns the first that is left.
 */
static const struct op *put_ready(struct verbs_queue *q, const struct op *op,
				  const struct op *end,
				  struct verbs_road_ledger *sum)
{
	struct ibv_send_wr *wr = &q->wr[q->chained];
	uint64_t n = q->posted + q->chained;

	for (; op < end && wr < q->wr + VERBS_CHAIN; op++, wr++) {
		if (is_atomic(op))
			put_atomic(q, wr, op, sum);
		else if (op->length <= q->inline_max)
			put_payload(q, wr, op, op->data, IBV_SEND_INLINE, sum);
		else
			break;
		number(q, wr, n++);
	}
	q->chained = (unsigned)(wr - q->wr);
	return op;
}

/* The next work request of the chain was made. */
static void chain(struct verbs_queue *q)
{
	number(q, &q->wr[q->chained], q->posted + q->chained);
	if (++q->chained == VERBS_CHAIN)
		post_chain(q);
}

/* Chains an operation whose payload goes through the ring. */
static void put_staged(struct verbs_queue *q, const struct op *op,
		       struct verbs_road_ledger *sum)
{
	/* Before the request is begun: it may post those before it. */
	const uint8_t *data = stage(q, op->data, op->length);

	put_payload(q, &q->wr[q->chained], op, data, 0, sum);
	chain(q);
}

void verbs_queue_exec(struct verbs_queue *q, const struct op *ops, size_t n)
{
	const struct op *op = ops, *end = ops + n;
	struct verbs_road_ledger *c = q->ctr;
	struct verbs_road_ledger sum = {0}; /* this call's: in registers */

	while (op < end && !q->broken) {
		op = put_ready(q, op, end, &sum);
		if (q->chained == VERBS_CHAIN)
			post_chain(q);
		else if (op < end && op->length > VERBS_STAGE / 2)
			c->failed++, op++;
		else if (op < end)
			put_staged(q, op++, &sum);
	}
	if (q->chained)
		post_chain(q);
	c->unconnected += (uint64_t)(end - op);
	c->writes += sum.writes;
	c->inlined += sum.inlined;
	c->immediates += sum.immediates;
	c->atomics += sum.atomics;
	c->bytes += sum.bytes;
}

void verbs_queue_read(struct verbs_queue *q, uint64_t offset, uint32_t at,
		      uint32_t length)
{
	struct ibv_send_wr *wr = &q->wr[q->chained];

	wr->sg_list->addr = (uintptr_t)q->memory + VERBS_SCRATCH + at;
	wr->sg_list->length = length;
	wr->num_sge = 1;
	wr->send_flags = 0;
	wr->opcode = IBV_WR_RDMA_READ;
	wr->wr.rdma.remote_addr = q->address + offset;
	wr->wr.rdma.rkey = q->rkey;
	chain(q);
}
