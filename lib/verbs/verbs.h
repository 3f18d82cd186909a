/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs.h - a collector's memory by RDMA NICs. Target: the collector, whose
 * device writes into the region without its CPU. Initiator: a host with a
 * device, which writes as a translator or reads.
 *
 * Functions return 0 or -errno; err has the reason and what to do.
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

/* clang-format off */
/*
 * The target.
 *
 * Every table has its own memory region, so that an R_Key reaches that table in
 * that epoch and nothing else, and its own queue pair, RC or UC, ready to
 * receive from one peer without a connection manager. The ticket describes them
 * to a translator; it changes when a queue pair was made anew or the region
 * rotated.
 *
 * Epochs:  the target registers as a writer of the region. A rotation waits
 *          until the device can no longer write into the old epoch: until the
 *          grace is over and its R_Keys are revoked.
 * Waiting: poll() the descriptors of verbs_target_fds() for at most
 *          VERBS_TARGET_TICK_MS, then call verbs_target_work().
 * Losses:  if the device or its address is removed, the target ends; the region
 *          outlives it, and another target can be opened.
 * Readers: have a read-only memory region of the whole region file, and queue
 *          pairs for that only. They see what a local process sees that maps
 *          the region for reading: all epochs.
 */
/* clang-format on */
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
	/* Used are its IP version, own address (0: the device's first of
	 * that version), the peer's, MAC addresses (0: the device's and the
	 * neighbour's), MTU (0: 1024, or what the port does). */
	const struct ticket *want;
	bool peer;	   /* make queue pairs for want->peer_ip */
	unsigned receives; /* of a queue pair; 0: VERBS_TARGET_RECEIVES */
	unsigned grace_ms; /* an old epoch's R_Keys stay valid for so long */
	bool readable;	   /* hosts may read the region, all of it */
	/* Something happened; text names the device. */
	void (*warn)(void *ctx, const char *text);
	/* Called when drivers are loaded, before a device is opened: the kernel
	 * takes commands only under the credentials that it was opened with,
	 * which Landlock changes. May be NULL. */
	void (*confine)(void *ctx);
	void *ctx;
};

/* Ledger of the receives that the device used: completed = immediates + drops;
 * and notes of what happened to it. */
struct verbs_target_ledger {
	uint64_t completed;
	uint64_t immediates; /* passed to the region's waiters */
	uint64_t flushed;    /* taken back from a dead queue pair */
	uint64_t failed;     /* of any other status */
	/* notes */
	uint64_t qp_errors, qp_made;
	uint64_t port_down, port_up;
	uint64_t rotations, tickets;
	uint64_t connections, refused, disconnected, broken; /* librdmacm */
};

extern const struct ledger verbs_target_ledger;

/* Opens a device for the region, which is open for writing and outlives the
 * target. -ENODEV: err lists the devices that there are. */
int verbs_target_open(struct verbs_target **out, struct region *r,
		      const struct verbs_target_options *o, struct error *err);

/*
 * Listens for hosts, with librdmacm. Drop privileges between
 * verbs_target_open() and this: the kernel takes librdmacm's commands only
 * under the credentials that it was opened with, while the open device works
 * under any.
 */
int verbs_target_listen(struct verbs_target *v, uint16_t port,
			struct error *err);

/* Fills in what to poll for. Returns their number. */
unsigned verbs_target_fds(const struct verbs_target *v, struct pollfd *fds);

/* Handles all pending events without waiting: 1 if there is a new ticket, else
 * 0. Failures are passed to warn() and retried by a later call. -ENODEV: the
 * device is gone; -EADDRNOTAVAIL: its address is gone: close the target. */
int verbs_target_work(struct verbs_target *v, struct error *err);

/* Makes all queue pairs anew for a translator that has lost its PSNs;
 * verbs_target_work() says when. */
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
 * Work requests are posted in chains with one doorbell each; the last of a
 * chain is signaled. Small payloads are inline, others are in the request's
 * slot of registered memory. Values returned by atomics go to a scratch word.
 *
 * A broken connection is opened again. begin() waits for that at first; after
 * VERBS_TRANSPORT_WAIT_MS operations are counted as lost while it retries. At a
 * new epoch the collector ends the connection; the next one has the new ticket.
 */
struct memory;

enum {
	VERBS_TRANSPORT_PORT = DTA_PORT, /* the same number, not UDP's */
	VERBS_TRANSPORT_WAIT_MS = 30000,
};

/* Ledger of operations: received = completed + lost by reason, once settled.
 * Operations posted and never confirmed count as lost, although the collector
 * may have executed them, if only the answer was lost. */
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
	void (*confine)(void *ctx); /* as above; names were looked up, too */
	void *ctx;
};

/* Connects to ADDRESS[:PORT] (a name, an IPv4 address, [IPv6]). This first
 * attempt is repeated only if the collector is just rotating its epoch. */
int verbs_transport_open(struct transport **out, const char *address,
			 const struct verbs_transport_options *o,
			 struct error *err);

/*
 * The region of a collector with --readable (dta-collect --cm PORT), read with
 * RDMA READ, without the collector's processor. The bytes are the region file's
 * (dta-region(5)) while NICs write it: the rules for a process that maps it
 * apply. Pieces of one call may be read in any order, those of a later call
 * later. address and stop as above. -ERANGE of a load: not in the region;
 * another -errno: the connection is broken for good.
 */
int verbs_memory(struct memory **out, const char *address,
		 const atomic_int *stop, struct error *err);

#endif
