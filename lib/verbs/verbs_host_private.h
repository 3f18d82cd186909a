/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_host_private.h - private to this room: one connection of a host, that
 * fetches a ticket, writes into a table, or reads. verbs_target_cm.c has all of
 * them.
 */
#ifndef VERBS_VERBS_HOST_PRIVATE_H
#define VERBS_VERBS_HOST_PRIVATE_H

#include <rdma/rdma_cma.h>

#include "verbs/verbs_cm.h"
#include "verbs/verbs_target_private.h"

struct connection {
	struct connection *next;
	struct rdma_cm_id *id;
	struct verbs_pair pair;
	bool established, over, broken;
	bool reads; /* and writes nothing */
	uint64_t since_ms, pulse_ms;
	/* A ticket's text, to be read, else NULL. */
	char *text;
	size_t len;
	struct ibv_mr *mr;
};

struct verbs_cm {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	struct connection *first;
	unsigned n, readers; /* of all, those that read */
};

/* What a host asks, copied: the event is acknowledged before it is judged. */
struct request {
	struct rdma_cm_id *id;
	struct verbs_cm_ask ask;
	int rc;		   /* of its decoding */
	uint8_t resources; /* reads and atomics that it wants outstanding */
};

/*
 * Makes the queue pair that a host asks for and accepts it, or returns -errno,
 * which is what the host is to be told.
 */
int verbs_host_serve(struct connection *c, struct verbs_target *v,
		     const struct request *q);
/*
 * Asks a table's host for a sign of life: a write of no bytes, which it must
 * acknowledge. One that has died without a word is found out by it.
 */
void verbs_host_pulse(struct connection *c);
void verbs_host_free(struct connection *c);

#endif
