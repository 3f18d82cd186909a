/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_link.h - private to this room: a host's connection to a collector, by
 * librdmacm (verbs_cm.h), and its send queue, from operations to work requests
 * to completions, which knows no connection manager (verbs_queue.c).
 *
 * Work requests are numbered from 0 as they are posted (wr_id). Completions
 * come in that order. Each one tells that all requests before its own have
 * succeeded; from the first failed request on, each has one of its own (IBTA
 * vol. 1, 10). So the ledger is exact.
 */
#ifndef VERBS_VERBS_LINK_H
#define VERBS_VERBS_LINK_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "rdma/op.h"
#include "rdma/ticket.h"
#include "region/far.h"
#include "verbs/verbs_cm.h"
#include "verbs/verbs.h"

enum {
	VERBS_CHAIN = 64,     /* work requests of a doorbell, at most */
	VERBS_DEPTH = 1024,   /* of the send queue; a power of two */
	VERBS_INLINE = 64,    /* payload bytes inside a work request */
	VERBS_SCRATCH = 64,   /* all atomics' answers go here; none is read */
	VERBS_PAYLOAD = 4096, /* of any other request: the longest operation */
	VERBS_SLOT = VERBS_PAYLOAD + 64, /* 64: not all in the same cache set */
	VERBS_MEMORY = VERBS_SCRATCH + VERBS_DEPTH * VERBS_SLOT,
};

struct verbs_queue {
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	const struct ticket_table *tables; /* their addresses and R_Keys */
	uint32_t lkey;
	uint32_t inline_max;
	unsigned depth;	  /* a power of two, at least 2 * VERBS_CHAIN */
	unsigned chained; /* requests made, not posted */
	bool broken;
	uint64_t posted, done; /* how many work requests ever */
	uint8_t *memory;       /* VERBS_MEMORY bytes, registered as lkey */
	struct verbs_transport_ledger *ctr; /* counts requests by outcome */
	/* Called now and then while waiting; may be NULL. */
	void (*poll_events)(struct verbs_queue *q);
	struct ibv_send_wr wr[VERBS_CHAIN];
	struct ibv_sge sge[VERBS_CHAIN];
};

/* The caller has set the fields from qp to depth, memory and ctr. */
void verbs_queue_init(struct verbs_queue *q);

/* Posts operations; all of their data was read when it returns. Waits where the
 * send queue is full. Those that come when the connection is broken, or that
 * are longer than VERBS_PAYLOAD, are lost, and counted as all others. */
void verbs_queue_exec(struct verbs_queue *q, const struct op *ops, size_t n);

/* Chains a READ of length bytes, VERBS_PAYLOAD at most. Returns where the bytes
 * will be: after verbs_queue_settle(), if the queue is not broken. They stay
 * there while fewer than depth further requests are chained. */
const uint8_t *verbs_queue_read(struct verbs_queue *q, uint64_t address,
				uint32_t rkey, uint32_t length);

/* Takes what has completed. Returns the number of completions. */
unsigned verbs_queue_reap(struct verbs_queue *q);

/* Posts what is chained; waits for what is outstanding, as long as it makes
 * progress or the device can still give up on it (it retries for a limited
 * time). */
void verbs_queue_settle(struct verbs_queue *q);

struct verbs_link {
	struct sockaddr_storage address; /* of the collector */
	const atomic_int *stop;		 /* never NULL */
	struct rdma_event_channel *channel;
	/* The connection, if there is one. */
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	bool up;
	bool disconnected; /* by the collector, or its device is gone */
	bool closed;	   /* by us */
	bool has_atomics;  /* our device */
	/* What the connection manager said last. */
	int event, status;
	uint8_t reads_max;	/* READs and atomics outstanding, at most */
	struct verbs_cm answer; /* the collector's: what can be read */
	struct verbs_queue q;
	struct verbs_transport_ledger ctr; /* of READs */
};

/* ADDRESS[:PORT]; of o, stop and confine. Returns 0 or -errno with err set. */
int verbs_link_open(struct verbs_link *l, const char *address,
		    const struct verbs_transport_options *o, struct error *err);

/* Connects, to write or to read (verbs_cm.h). Returns 0, -EAGAIN while the
 * collector is not ready, or another -errno; err tells why, and there is no
 * connection. */
int verbs_link_connect(struct verbs_link *l, uint32_t kind, struct error *err);

/* Takes the events that wait: the link learns that it is disconnected. */
void verbs_link_poll(struct verbs_link *l);

/* Reads pieces of what the collector has. -ERANGE: it does not have that much.
 * After any other error all later reads fail, too. */
int verbs_link_read(struct verbs_link *l, const struct memory_piece *p,
		    size_t n, struct error *err);

/* Ends a connection: what is outstanding is lost and counted. */
void verbs_link_disconnect(struct verbs_link *l);
void verbs_link_close(struct verbs_link *l);

#endif
