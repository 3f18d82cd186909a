/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_queue.c - makes work requests of operations, posts them in chains, and
 * takes their completions (verbs_link.h). */
#include "verbs/verbs_link.h"

#include <time.h>

#include "base/clock.h"

enum {
	REAP = 16,    /* completions of one ibv_poll_cq() */
	SPINS = 1000, /* polls without sleeping, before those with */
	SLEEP_NS = 50000,
	/* Longer than a device retries (verbs_link.c): after it, the device
	 * itself must have failed. */
	GIVE_UP_MS = 15000,
};

void verbs_queue_init(struct verbs_queue *q)
{
	q->chained = 0;
	q->broken = false;
	q->posted = q->done = 0;
	for (unsigned i = 0; i < VERBS_CHAIN; i++) {
		q->wr[i].next = i + 1 < VERBS_CHAIN ? &q->wr[i + 1] : NULL;
		q->wr[i].sg_list = &q->sge[i];
		q->sge[i].lkey = q->lkey;
	}
}

static uint64_t *counter_of(struct verbs_transport_ledger *c,
			    enum ibv_wc_status status)
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

/* Work requests before that of wc have succeeded; its own has, or is lost. */
static void note_completion(struct verbs_queue *q, const struct ibv_wc *wc)
{
	bool success = wc->status == IBV_WC_SUCCESS;

	if (wc->wr_id < q->done || wc->wr_id >= q->posted)
		return; /* not a request of this queue */
	q->ctr->completed += wc->wr_id - q->done + success;
	if (!success) {
		++*counter_of(q->ctr, wc->status);
		q->broken = true;
	}
	q->done = wc->wr_id + 1;
}

unsigned verbs_queue_reap(struct verbs_queue *q)
{
	struct ibv_wc wc[REAP];
	unsigned taken = 0;
	int n;

	do {
		n = ibv_poll_cq(q->cq, REAP, wc);
		for (int i = 0; i < n; i++)
			note_completion(q, &wc[i]);
		taken += n > 0 ? (unsigned)n : 0;
	} while (n == REAP);
	if (n < 0)
		q->broken = true;
	return taken;
}

/* Waits for more completions. Returns false if none comes in GIVE_UP_MS: what
 * is outstanding is counted as lost then, and the queue is broken. */
static bool wait_for_completion(struct verbs_queue *q)
{
	struct timespec nap = {.tv_nsec = SLEEP_NS};
	uint64_t since;

	for (unsigned i = 0; i < SPINS; i++)
		if (verbs_queue_reap(q))
			return true;
	since = clock_ms();
	while (clock_ms() - since < GIVE_UP_MS) {
		if (q->poll_events)
			q->poll_events(q);
		nanosleep(&nap, NULL);
		if (verbs_queue_reap(q))
			return true;
	}
	q->ctr->flushed += q->posted - q->done;
	q->done = q->posted;
	q->broken = true;
	return false;
}

/* Posts the chain, and waits until the send queue has room for another whole
 * one. Requests that cannot be posted are counted as failed. */
static void post_chain(struct verbs_queue *q)
{
	struct ibv_send_wr *last = &q->wr[q->chained - 1], *bad = NULL;
	struct ibv_send_wr *next = last->next;
	unsigned n = q->chained;

	last->next = NULL;
	last->send_flags |= IBV_SEND_SIGNALED;
	q->ctr->doorbells++;
	if (ibv_post_send(q->qp, q->wr, &bad)) {
		/* The request at bad, and all after it, were not posted. */
		n = bad ? (unsigned)(bad - q->wr) : 0;
		q->ctr->failed += q->chained - n;
		q->broken = true;
	}
	last->next = next;
	q->posted += n;
	q->chained = 0;
	if (q->posted - q->done > q->depth / 2)
		verbs_queue_reap(q);
	while (q->posted - q->done > q->depth - VERBS_CHAIN &&
	       wait_for_completion(q))
		;
}

void verbs_queue_settle(struct verbs_queue *q)
{
	if (q->chained)
		post_chain(q);
	while (q->done != q->posted && wait_for_completion(q))
		;
}

/* Where the next work request's payload goes in memory. */
static inline uint8_t *next_slot(const struct verbs_queue *q)
{
	uint64_t i = (q->posted + q->chained) & (q->depth - 1);

	return q->memory + VERBS_SCRATCH + i * VERBS_SLOT;
}

static inline void put_write(struct verbs_queue *q, struct ibv_send_wr *wr,
			     const struct op *op)
{
	const struct ticket_table *at = &q->tables[op->table];
	const uint8_t *data = op->data;
	struct verbs_transport_ledger *c = q->ctr;

	wr->send_flags = 0;
	if (op->length <= q->inline_max) {
		wr->send_flags = IBV_SEND_INLINE;
		c->inlined++;
	} else {
		data = memcpy(next_slot(q), op->data, op->length);
	}
	wr->sg_list->addr = (uintptr_t)data;
	wr->sg_list->length = op->length;
	wr->num_sge = op->length != 0; /* some devices take 0 for 2^31 */
	wr->opcode = IBV_WR_RDMA_WRITE;
	wr->wr.rdma.remote_addr = at->address + op->offset;
	wr->wr.rdma.rkey = at->rkey;
	c->writes++;
	c->bytes += op->length;
	if (op->verb == OP_WRITE_IMM) {
		wr->opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
		wr->imm_data = htobe32(op->immediate);
		c->immediates++;
	}
}

static inline void put_add(struct verbs_queue *q, struct ibv_send_wr *wr,
			   const struct op *op)
{
	const struct ticket_table *at = &q->tables[op->table];

	wr->sg_list->addr = (uintptr_t)q->memory; /* the old value: unused */
	wr->sg_list->length = 8;
	wr->num_sge = 1;
	wr->send_flags = 0;
	wr->wr.atomic.remote_addr = at->address + op->offset;
	wr->wr.atomic.rkey = at->rkey;
	wr->opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	wr->wr.atomic.compare_add = op->add;
	q->ctr->atomics++;
}

/* Appends wr[chained], which was filled in, and posts a chain that is full. */
static inline void chain_request(struct verbs_queue *q)
{
	q->wr[q->chained].wr_id = q->posted + q->chained;
	if (++q->chained == VERBS_CHAIN)
		post_chain(q);
}

void verbs_queue_exec(struct verbs_queue *q, const struct op *ops, size_t n)
{
	const struct op *op = ops, *end = ops + n;

	for (; op < end && !q->broken; op++) {
		struct ibv_send_wr *wr = &q->wr[q->chained];

		if (op->verb == OP_FETCH_ADD) {
			put_add(q, wr, op);
		} else if (op->length <= VERBS_PAYLOAD) {
			put_write(q, wr, op);
		} else {
			q->ctr->failed++;
			continue;
		}
		chain_request(q);
	}
	if (q->chained)
		post_chain(q);
	q->ctr->unconnected += (uint64_t)(end - op);
}

const uint8_t *verbs_queue_read(struct verbs_queue *q, uint64_t address,
				uint32_t rkey, uint32_t length)
{
	struct ibv_send_wr *wr = &q->wr[q->chained];
	const uint8_t *to = next_slot(q);

	wr->sg_list->addr = (uintptr_t)to;
	wr->sg_list->length = length;
	wr->num_sge = 1;
	wr->send_flags = 0;
	wr->opcode = IBV_WR_RDMA_READ;
	wr->wr.rdma.remote_addr = address;
	wr->wr.rdma.rkey = rkey;
	chain_request(q);
	return to;
}
