/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_queue.h - private to this room: the send queue of a connection, from
 * operations to work requests to completions. Knows no connection manager.
 *
 * Work requests are numbered from 0 as they are posted (wr_id). Completions
 * come in that order. A successful one covers all requests before it; a failed
 * one only itself, and each request after it has its own (IBTA vol. 1, 10). So
 * the ledger is exact.
 */
#ifndef VERBS_VERBS_QUEUE_H
#define VERBS_VERBS_QUEUE_H

#include <endian.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "rdma/op.h"
#include "rdma/ticket.h"
#include "verbs/verbs.h"

enum {
	VERBS_CHAIN = 64,     /* work requests of a doorbell, at most */
	VERBS_DEPTH = 1024,   /* of the send queue; a power of two */
	VERBS_INLINE = 64,    /* payload bytes inside a work request */
	VERBS_SCRATCH = 64,   /* where answers of atomics go */
	VERBS_PAYLOAD = 4096, /* of any other request: the longest operation */
	/* Each request's place; the odd line keeps them apart in caches. */
	VERBS_SLOT = VERBS_PAYLOAD + 64,
	VERBS_MEMORY = VERBS_SCRATCH + VERBS_DEPTH * VERBS_SLOT,
};

struct verbs_queue {
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	const struct ticket_table *at; /* of each table: address and R_Key */
	uint32_t lkey;
	uint32_t inline_max;
	unsigned depth;	  /* a power of two, at least 2 * VERBS_CHAIN */
	unsigned chained; /* made, not posted */
	bool broken;
	uint64_t posted, done; /* work requests ever */
	uint8_t *memory;       /* VERBS_MEMORY bytes, registered as lkey */
	struct verbs_transport_ledger *ctr;
	/* Called now and then while waiting; may be NULL. */
	void (*poll_events)(struct verbs_queue *q);
	struct ibv_send_wr wr[VERBS_CHAIN];
	struct ibv_sge sge[VERBS_CHAIN];
};

/* All is set down to depth, and memory and ctr. */
void verbs_queue_init(struct verbs_queue *q);

/*
 * Posts operations; all of their data was read when it returns. Waits where the
 * send queue is full. Those that come when the connection is broken, or that
 * are longer than VERBS_PAYLOAD, are lost, and counted as all others.
 */
void verbs_queue_exec(struct verbs_queue *q, const struct op *ops, size_t n);

/*
 * Chains a READ of length bytes, VERBS_PAYLOAD at most. Returns where they are
 * when verbs_queue_settle() has returned and the queue is not broken, until as
 * many requests as it is deep have been chained behind it.
 */
const uint8_t *verbs_queue_read(struct verbs_queue *q, uint64_t address,
				uint32_t rkey, uint32_t length);

/* Takes what has completed. Returns the number of completions. */
unsigned verbs_queue_reap(struct verbs_queue *q);

/*
 * Posts what is chained; waits for what is outstanding, as long as it makes
 * progress or the device can still give up on it (it retries for a limited
 * time).
 */
void verbs_queue_settle(struct verbs_queue *q);

#endif
