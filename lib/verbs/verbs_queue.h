/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_queue.h - private to this room: the send queue of a connection, from
 * operations to work requests to completions. Knows no connection manager.
 *
 * Work requests are numbered from 0 as they are posted (wr_id). Completions
 * come in that order, and one that succeeded stands for all before it; one that
 * did not counts for itself, and behind it every request has one of its own
 * (IBTA 10.8.3): so it is known exactly what was done.
 */
#ifndef VERBS_VERBS_QUEUE_H
#define VERBS_VERBS_QUEUE_H

#include <endian.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "op/op.h"
#include "verbs/verbs_road.h"

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
	/* Called now and then while waiting; may be NULL. */
	void (*poll_events)(struct verbs_queue *q);
	uint64_t given[VERBS_DEPTH]; /* head as each work request left it */
	struct ibv_send_wr wr[VERBS_CHAIN];
	struct ibv_sge sge[VERBS_CHAIN];
};

/* qp, cq, address, rkey, lkey, inline_max, depth, memory and ctr are set. */
void verbs_queue_init(struct verbs_queue *q);

/*
 * Posts operations on the queue's table; all of their data was read when it
 * returns. Waits where the send queue is full. Those that come when the
 * connection is broken, or that are longer than half the ring, are lost, and
 * counted as all others.
 */
void verbs_queue_exec(struct verbs_queue *q, const struct op *ops, size_t n);

/*
 * Chains a READ of length bytes at offset into the ring, at this place of it.
 * They are there when verbs_queue_settle() returns and the queue is not broken:
 * a queue that reads does nothing else.
 */
void verbs_queue_read(struct verbs_queue *q, uint64_t offset, uint32_t at,
		      uint32_t length);

/* Takes what has completed. Returns the number of completions. */
unsigned verbs_queue_reap(struct verbs_queue *q);

/*
 * Posts what is chained; waits for what is outstanding, as long as it makes
 * progress or the device can still give up on it (it retries for a limited
 * time).
 */
void verbs_queue_settle(struct verbs_queue *q);

/* The connection is gone for good: what is outstanding will not complete. */
void verbs_queue_abandon(struct verbs_queue *q);

#endif
