/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_link.h - private to this room: a host's connection to a collector, by
 * librdmacm (verbs_cm.h).
 */
#ifndef VERBS_VERBS_LINK_H
#define VERBS_VERBS_LINK_H

#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdatomic.h>

#include "region/far.h"
#include "verbs/verbs_cm.h"
#include "verbs/verbs_queue.h"

struct verbs_link {
	struct sockaddr_storage at; /* where the collector is */
	const atomic_int *stop;	    /* never NULL */
	struct rdma_event_channel *channel;
	/* The connection, if there is one. */
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	bool up;
	bool disconnected; /* by the collector, or its device is gone */
	bool closed;	   /* by us */
	bool adds;	   /* our device has atomic operations */
	/* What the connection manager said last. */
	int event, status;
	uint8_t reads;	       /* and atomics, that may be outstanding */
	struct verbs_cm there; /* its answer: what can be read */
	struct verbs_queue q;
	struct verbs_transport_ledger ctr; /* of READs */
};

/* ADDRESS[:PORT]; stop may be NULL. Returns 0 or -errno with err set. */
int verbs_link_open(struct verbs_link *l, const char *address,
		    const atomic_int *stop, struct error *err);

/*
 * Connects, to write or to read (verbs_cm.h). Returns 0, -EAGAIN while the
 * collector is not ready, or another -errno; err tells why, and there is no
 * connection.
 */
int verbs_link_connect(struct verbs_link *l, uint32_t kind, struct error *err);

/* Takes the events that wait: the link learns that it is disconnected. */
void verbs_link_poll(struct verbs_link *l);

/* Reads pieces of what is there. -ERANGE: it is not. Others: for good. */
int verbs_link_read(struct verbs_link *l, const struct memory_piece *p,
		    size_t n, struct error *err);

/* Ends a connection: what is outstanding is lost and counted. */
void verbs_link_disconnect(struct verbs_link *l);
void verbs_link_close(struct verbs_link *l);

#endif
