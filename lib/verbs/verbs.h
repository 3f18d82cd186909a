/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs.h - a collector's memory by RDMA NICs, both ends of it: a device as the
 * target, which writes into the region while this CPU sleeps; and a host with a
 * device as the translator, or as a reader.
 *
 * Errors: 0 or -errno, with f telling why in words, and the cure.
 */
#ifndef VERBS_VERBS_H
#define VERBS_VERBS_H

#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/ledger.h"
#include "rdma/op.h"
#include "rdma/ticket.h"
#include "net/proto.h"

/*
 * The target.
 *
 * Every table has a memory region of its own, so that an R_Key reaches that
 * table in that epoch and nothing else, and a queue pair of its own, RC or UC,
 * ready to receive from one peer; no connection manager is in between. What a
 * translator must know of them is in the ticket, which changes when a queue
 * pair had to be made again and when the region was rotated.
 *
 * Epochs: the target sits in a writer's seat of the region. A rotation waits
 *         until the device can no longer write into the old epoch: until the
 *         grace is over and its R_Keys are revoked.
 * Waiting: poll() on what verbs_target_fds() gives, for at most
 *         VERBS_TARGET_TICK_MS, then call verbs_target_work().
 * Losses:  a device that is taken away, or an address of it, ends the target:
 *         the region outlives it, and another can be opened.
 * Readers: have a memory region of their own, the whole region's, which nothing
 *         can be written through, and queue pairs that can do nothing else. So
 *         they see what a process of this machine sees that maps the region
 *         for reading: every epoch, and which ones there are.
 */
struct verbs_target;

enum {
	VERBS_TARGET_FDS = 3,	    /* at most, of a target */
	VERBS_TARGET_TICK_MS = 250, /* between looks at epoch and state */
	VERBS_TARGET_RECEIVES = 1024,
	VERBS_TARGET_GRACE_MS = 1000,
	VERBS_TARGET_GRACE_MAX_MS = 8000, /* a rotation waits 10 s */
	VERBS_TARGET_NAME_MAX = 64,
};

struct verbs_target_options {
	const char *device;
	/*
	 * Of this: version of IP, own address (0: the device's first
	 * of the family), the peer's, MAC addresses (0: the device's and the
	 * neighbour's), MTU (0: 1024, or what the port does).
	 */
	const struct ticket *at;
	bool peer;	   /* make queue pairs for at->peer_ip */
	unsigned receives; /* posted on each queue pair; 0: the above */
	unsigned grace_ms; /* an old epoch's R_Keys are good for so long */
	bool readable;	   /* hosts may read the region, all of it */
	/* Something happened; text names the device. */
	void (*warn)(void *ctx, const char *text);
	void *ctx;
};

/*
 * Ledger of the receives that the device used: completed = immediates + drops;
 * and notes of what happened to it.
 */
struct verbs_target_ledger {
	uint64_t completed;
	uint64_t immediates; /* the region's waiters were told */
	uint64_t flushed;    /* taken back from a dead queue pair */
	uint64_t failed;     /* of any other status */
	/* notes */
	uint64_t qp_errors, qp_made;
	uint64_t port_down, port_up;
	uint64_t rotations, tickets;
	uint64_t connections, refused, disconnected, broken; /* librdmacm */
};

extern const struct ledger verbs_target_ledger;

/*
 * Opens a device for the region, which is open for writing and outlives the
 * target. -ENODEV: f lists the devices that there are.
 */
int verbs_target_open(struct verbs_target **out, struct region *r,
		      const struct verbs_target_options *o, struct fault *f);

/*
 * Listens for hosts, with librdmacm. Separate from verbs_target_open() because
 * the kernel takes librdmacm's commands from those credentials only that it was
 * opened with: drop privileges before. (All else stays what it was opened for.)
 */
int verbs_target_listen(struct verbs_target *v, uint16_t port, struct fault *f);

/* Fills in what to poll for. Returns their number. */
unsigned verbs_target_fds(const struct verbs_target *v, struct pollfd *fds);

/*
 * Does all that waits and returns at once: 1 if there is a new ticket, else 0.
 * What goes wrong is told, and tried again by a later call. -ENODEV: the device
 * is gone; -EADDRNOTAVAIL: its address is: close the target.
 */
int verbs_target_work(struct verbs_target *v, struct fault *f);

/* Makes all queue pairs anew: a translator has lost count. Work() says when. */
void verbs_target_renew(struct verbs_target *v);

/* NULL while there is none: there are no queue pairs. */
const struct ticket *verbs_target_ticket(const struct verbs_target *v);
const struct verbs_target_ledger *
verbs_target_counters(const struct verbs_target *v);
void verbs_target_close(struct verbs_target *v); /* NULL is fine */

/*
 * The verbs transport. The collector (dta-collect --cm) gives a reliable
 * connection through librdmacm, and the ticket through it; operations become
 * work requests.
 *
 * Work requests go out in chains, a doorbell each; the last of a chain asks for
 * a completion. Small payloads travel inside the request, others from its place
 * in registered memory. Atomics' answers land in a scratch word.
 *
 * A broken connection is made again: begin() waits for that at first; after
 * VERBS_TRANSPORT_WAIT_MS operations are counted as lost while it goes on
 * trying. When the collector has a new epoch, it ends the connection, and the
 * next one has the new ticket.
 */
struct memory;
struct verbs_transport;

enum {
	VERBS_TRANSPORT_PORT = DTA_PORT, /* the same number, not UDP's */
	VERBS_TRANSPORT_WAIT_MS = 30000,
};

/*
 * Ledger of operations: received = completed + lost by reason, once settled.
 * What was posted and never confirmed counts as lost; the collector may have
 * carried it out all the same, if only the answer was lost.
 */
struct verbs_transport_ledger {
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

extern const struct ledger verbs_transport_ledger;

struct verbs_transport_options {
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
int verbs_transport_open(struct verbs_transport **out, const char *address,
			 const struct verbs_transport_options *o,
			 struct fault *f);
struct transport *verbs_transport(struct verbs_transport *v);

void verbs_transport_close(
	struct verbs_transport *v); /* settles. NULL is fine */

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
