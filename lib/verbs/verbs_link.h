/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_link.h - private to this room: a host's connections to a collector, by
 * librdmacm (verbs_cm.h).
 */
#ifndef VERBS_VERBS_LINK_H
#define VERBS_VERBS_LINK_H

#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdatomic.h>

#include "verbs/verbs_cm.h"
#include "verbs/verbs_queue.h"

/* Where the collector is, and the channel that all its connections share. */
struct verbs_peer {
	struct rdma_event_channel *channel;
	struct sockaddr_storage at;
	const atomic_int *stop; /* never NULL */
};

/* A connection. Zeroed, it is none. */
struct verbs_link {
	struct verbs_peer *peer;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint8_t *memory;
	bool up;
	bool disconnected; /* by the collector, or its device is gone */
	bool closed;	   /* by us */
	/* What the connection manager said last. */
	int event, status;
	uint8_t data[VERBS_CM_PLACE_LEN]; /* the answer's private data */
	uint8_t data_len;
	uint8_t atomics; /* that may be outstanding */
	struct verbs_queue q;
};

/* ADDRESS[:PORT]; stop may be NULL. Returns 0 or -errno with f set. */
int verbs_peer_open(struct verbs_peer *p, const char *address,
		    const atomic_int *stop, struct fault *f);
void verbs_peer_close(struct verbs_peer *p);

/* Takes the events that wait: links learn that they are disconnected. */
void verbs_peer_poll(struct verbs_peer *p);

/*
 * Waits for a link's next event. Returns 0 if it is the one wanted, what the
 * collector refused with (verbs_cm.h), or another -errno.
 */
int verbs_peer_wait(struct verbs_peer *p, struct verbs_link *l,
		    enum rdma_cm_event_type wanted, uint64_t ms);

/*
 * The ticket of the collector's current epoch. Returns 0 or -errno with f set
 * and nothing to free.
 */
int verbs_link_ticket(struct verbs_peer *p, struct ticket *t, struct fault *f);

/*
 * Connects a link to a table and sets its queue up. Returns 0, -ESTALE when the
 * epoch is over, or another -errno; f tells why, and the link is closed.
 */
int verbs_link_table(struct verbs_link *l, struct verbs_peer *p,
		     const struct table *t, uint64_t epoch,
		     struct verbs_road_ledger *ctr, struct fault *f);

/*
 * Connects a link to what can be read of this kind (verbs_cm.h), a ticket's
 * text or a region's file: it begins at q.address and has this length. Returns
 * as the one above.
 */
int verbs_link_reader(struct verbs_link *l, struct verbs_peer *p, uint16_t kind,
		      uint64_t *length, struct verbs_road_ledger *ctr,
		      struct fault *f);

/* Ends a connection: what is outstanding is lost and counted. */
void verbs_link_close(struct verbs_link *l);

#endif
