/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_queue.h - private to this room: the send queue of a connection, from
 * operations to work requests to completions. Knows no connection manager.
 *
 * Work requests are numbered from 0 as they are posted (wr_id). Completions
 * come in that order, and one that succeeded stands for all before it; one that
 * did not counts for itself, and behind it every request has one of its own
 * (InfiniBand 10.8.3): so it is known exactly what was done.
 */
#ifndef RDMA_VERBS_QUEUE_H
#define RDMA_VERBS_QUEUE_H

#include <endian.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "rdma/op.h"
#include "rdma/verbs_road.h"

enum {
	VERBS_CHAIN = 64,      /* work requests of a doorbell, at most */
	VERBS_DEPTH = 1024,    /* of the send queue; a power of two */
	VERBS_INLINE = 64,     /* payload bytes inside a work request */
	VERBS_SCRATCH = 64,    /* where answers of atomics go */
	VERBS_STAGE = 1 << 20, /* the ring for other payloads */
	VERBS_MEMORY = VERBS_SCRATCH + VERBS_STAGE,
};

struct verbs_queue {
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	uint64_t address; /* of the table */
	uint32_t rkey, lkey;
	uint32_t inline_max;
	unsigned depth;	  /* a power of two, at least 2 * VERBS_CHAIN */
	unsigned chained; /* made, not posted */
	bool broken;
	uint64_t posted, done; /* work requests ever */
	uint8_t *memory;       /* VERBS_MEMORY bytes, registered as lkey */
	uint64_t head, tail;   /* of the ring: bytes ever taken, given back */
	struct verbs_road_ledger *ctr;
	uint64_t given[VERBS_DEPTH]; /* head as each work request left it */
	struct ibv_send_wr wr[VERBS_CHAIN];
	struct ibv_sge sge[VERBS_CHAIN];
};

/* qp, cq, address, rkey, lkey, inline_max, depth, memory and ctr are set. */
void verbs_queue_init(struct verbs_queue *q);

/* A payload into the ring: where it is there. May ring. */
uint8_t *verbs_queue_stage(struct verbs_queue *q, const uint8_t *data,
			   uint32_t length);

/*
 * Posts what is chained, and waits until a whole chain has room again. Counts
 * what cannot be posted as lost.
 */
void verbs_queue_ring(struct verbs_queue *q);

/* Takes what has completed. Returns the number of completions. */
unsigned verbs_queue_reap(struct verbs_queue *q);

/*
 * Waits for what is outstanding, as long as it makes progress or the device
 * can still give up on it (it retries for a limited time).
 */
void verbs_queue_settle(struct verbs_queue *q);

/* The connection is gone for good: what is outstanding will not complete. */
void verbs_queue_abandon(struct verbs_queue *q);

static inline void verbs_queue_put_payload(struct verbs_queue *q,
					   const struct op *op,
					   struct ibv_send_wr *wr,
					   struct ibv_sge *sge)
{
	const uint8_t *data = op->data;

	wr->send_flags = IBV_SEND_INLINE;
	if (op->length > q->inline_max) {
		data = verbs_queue_stage(q, data, op->length);
		wr = &q->wr[q->chained]; /* staging may have rung */
		sge = &q->sge[q->chained];
		wr->send_flags = 0;
	} else {
		q->ctr->inlined++;
	}
	sge->addr = (uintptr_t)data;
	sge->length = op->length;
	wr->num_sge = op->length != 0; /* to some, length 0 means 2^31 */
	wr->wr.rdma.remote_addr = q->address + op->offset;
	wr->wr.rdma.rkey = q->rkey;
	wr->opcode = IBV_WR_RDMA_WRITE;
	q->ctr->writes++;
	q->ctr->bytes += op->length;
	if (op->verb == OP_WRITE_IMM) {
		wr->opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
		wr->imm_data = htobe32(op->immediate);
		q->ctr->immediates++;
	}
}

static inline void verbs_queue_put_atomic(struct verbs_queue *q,
					  const struct op *op,
					  struct ibv_send_wr *wr,
					  struct ibv_sge *sge)
{
	uint64_t operand[2] = {0};

	sge->addr = (uintptr_t)q->memory;
	sge->length = 8;
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
	q->ctr->atomics++;
}

/*
 * Chains one operation; its data must stay until the next
 * verbs_queue_ring(). The queue is not broken, op->length <= VERBS_STAGE / 2.
 */
static inline void verbs_queue_put(struct verbs_queue *q, const struct op *op)
{
	struct ibv_send_wr *wr = &q->wr[q->chained];
	struct ibv_sge *sge = &q->sge[q->chained];

	if (op->verb == OP_WRITE || op->verb == OP_WRITE_IMM)
		verbs_queue_put_payload(q, op, wr, sge);
	else
		verbs_queue_put_atomic(q, op, wr, sge);
	q->wr[q->chained].wr_id = q->posted + q->chained;
	q->given[(q->posted + q->chained) & (q->depth - 1)] = q->head;
	if (++q->chained == VERBS_CHAIN)
		verbs_queue_ring(q);
}

#endif
