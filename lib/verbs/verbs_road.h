/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_road.h - the verbs road: a host with an RDMA NIC as the translator, or
 * as a reader. The collector (dta-collect --cm) gives a reliable connection
 * through librdmacm, and the ticket through it; operations become work
 * requests.
 *
 * Work requests go out in chains, a doorbell each; the last of a chain asks for
 * a completion. Small payloads travel inside the request, others from its place
 * in registered memory. Atomics' answers land in a scratch word.
 *
 * A broken connection is made again: begin() waits for that at first; after
 * VERBS_ROAD_WAIT_MS operations are counted as lost while it goes on trying.
 * When the collector has a new epoch, it ends the connection, and the next one
 * has the new ticket.
 */
#ifndef VERBS_VERBS_ROAD_H
#define VERBS_VERBS_ROAD_H

#include <stdatomic.h>

#include "base/ledger.h"
#include "op/op.h"
#include "op/ticket.h"
#include "wire/proto.h"

struct memory;
struct verbs_road;

enum {
	VERBS_ROAD_PORT = DTA_PORT, /* the same number, not UDP's */
	VERBS_ROAD_WAIT_MS = 30000,
};

/*
 * Ledger of operations: received = completed + lost by reason, once settled.
 * What was posted and never confirmed counts as lost; the collector may have
 * carried it out all the same, if only the answer was lost.
 */
struct verbs_road_ledger {
	uint64_t received;
	uint64_t completed;
	uint64_t flushed;     /* taken back when the connection broke */
	uint64_t access;      /* remote access error: R_Key, bounds, rights */
	uint64_t refused;     /* remote: invalid request, operation error */
	uint64_t unanswered;  /* retries exhausted */
	uint64_t not_ready;   /* RNR retries exhausted */
	uint64_t failed;      /* any other status, or not to be posted */
	uint64_t unconnected; /* came while there was no connection */
	/* notes */
	uint64_t writes, atomics, immediates;
	uint64_t bytes;	    /* of payloads */
	uint64_t inlined;   /* payloads that went inside the work request */
	uint64_t doorbells; /* calls of the device */
	uint64_t connections, disconnections;
	uint64_t retries; /* attempts to connect that failed */
	uint64_t tickets; /* fetched */
};

extern const struct ledger verbs_road_ledger;

struct verbs_road_options {
	/* Ends waiting for the collector when it becomes true; may be NULL. */
	const atomic_int *stop;
	/* Something happened to the connection; text names it. May be NULL. */
	void (*warn)(void *ctx, const char *text);
	void *ctx;
};

/*
 * Connects to ADDRESS[:PORT] (a name, an IPv4 address, [IPv6]). Nothing is
 * tried again but at a rotation.
 */
int verbs_road_open(struct verbs_road **out, const char *address,
		    const struct verbs_road_options *o, struct fault *f);
struct road *verbs_road(struct verbs_road *v);

void verbs_road_close(struct verbs_road *v); /* settles. NULL is fine */

/*
 * A collector's region, read with RDMA READ: the collector's processor has no
 * part in it, and allows it with dta-collect --cm PORT --readable. What is read
 * is the region's file (dta-region(5)), while NICs write it: the same rules
 * hold as for a process that maps it. One call's pieces may be read in any
 * order; what a later call reads is read later. address and stop as above.
 * -ERANGE of a load: it is not in the region; another -errno: the connection is
 * broken, for good.
 */
int verbs_memory(struct memory **out, const char *address,
		 const atomic_int *stop, struct fault *f);

#endif
