/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * responder.h - a software RDMA responder: RoCEv2 packets in, operations on a
 * region, answers out, as a NIC does it (IBTA vol. 1, 9.7 and 9.8, and annex
 * A17, RoCEv2).
 *
 * No packet is trusted: iCRC, P_Key, queue pair, peer, PSN, R_Key, bounds,
 * alignment and lengths are checked before a byte is written, and nothing
 * outside the tables can be reached.
 */
#ifndef RDMA_RESPONDER_H
#define RDMA_RESPONDER_H

#include "base/ledger.h"
#include "packet/pkt.h"
#include "rdma/ticket.h"

struct responder;

struct responder_options {
	uint64_t receives; /* receives posted for WRITE with Immediate;
			      UINT64_MAX: always one */
};

/* Ledger of packets: received = executed + duplicates + drops by reason. */
struct responder_ledger {
	uint64_t received;
	uint64_t executed;
	uint64_t duplicate; /* PSN seen before: answered again, not executed */
	uint64_t foreign;   /* not RoCEv2, or to another host's address */
	uint64_t malformed;
	uint64_t bad_icrc;
	uint64_t bad_pkey;
	uint64_t bad_tver;
	uint64_t bad_opcode;   /* opcode unknown, or of no request that is
				  carried out, or its class does not fit the
				  queue pair's type */
	uint64_t bad_qp;       /* no such queue pair */
	uint64_t bad_peer;     /* not the configured source address */
	uint64_t qp_error;     /* queue pair in error state */
	uint64_t out_of_order; /* PSN ahead of the expected one */
	uint64_t old_epoch;    /* not the expected PSN, and another R_Key: sent
				  before the queue pair was made anew, or under
				  an old ticket */
	uint64_t invalid;      /* lengths, alignment, MTU: NAK 0x61 (RC) */
	uint64_t access;       /* R_Key, bounds: NAK 0x62 (RC) */
	uint64_t rnr;	       /* no receive posted */
	/* notes */
	uint64_t writes, atomics, immediates;
	uint64_t bytes;	     /* written */
	uint64_t acks, naks; /* due; sent if there is a sink */
};

extern const struct ledger responder_ledger;

/* r is open for writing; t is its ticket (starting PSNs, R_Keys, addresses).
 * Both outlive the responder, and so do answers, which may be NULL. */
int responder_open(struct responder **out, struct region *r,
		   const struct ticket *t, struct snk *answers,
		   const struct responder_options *o, struct error *err);
/* Returns 0 or -errno of the answers' sink. n <= PKT_BATCH. */
int responder_rx(struct responder *p, const struct pkt *pkts, size_t n);
/* Makes all queue pairs anew from a ticket of the region, also those in error.
 * Packets under way to the old ones are refused by their PSN. */
int responder_reopen(struct responder *p, const struct ticket *t,
		     struct error *err);
/*
 * Sets the first PSNs of a ticket for responder_reopen() far from the PSNs of
 * requests to the present queue pairs. If the new ones began near them, a
 * requester could not tell old and new ones apart, and additions would be
 * carried out twice.
 */
void responder_renumber(const struct responder *p, struct ticket *t);
/* Whether a queue pair is dead: on RC, once it has refused a request, until
 * responder_reopen(). */
bool responder_is_dead(const struct responder *p);
/* The epoch that the queue pairs were made for. */
uint64_t responder_epoch(const struct responder *p);

const struct responder_ledger *responder_counters(const struct responder *p);
void responder_close(struct responder *p);

/* clang-format off */
/*
 * A responder on several cores (responder_cores.c, on threads/threads.h). It
 * leaves the same memory, ledger and answers as responder_rx().
 *
 * A batch of packets goes through these rounds:
 *
 *	judge	its worker decodes packets and checks all that does not depend
 *		on earlier ones; one owner checks the rest: PSNs, receives
 *	write	its worker sends each operation to the owner of its bytes
 *	reply	one owner passes on immediates and sends answers
 *
 * After an error of the answers' sink, which is final, batches that were taken
 * are carried out without answers.
 *
 * Ownership: p, its region and sink outlive it. While it is open, p belongs to
 * it; responder_cores_rest() lends p back until the next batch.
 * Threads:   the functions are for the thread that opened it, worker 0.
 */
/* clang-format on */
enum {
	RESPONDER_CORES_MAX = 32, /* workers */
	/* Batches of each worker under way, for src_hold_batches(). */
	RESPONDER_CORES_BATCHES = 3,
};

struct responder_cores;

struct responder_cores_options {
	unsigned workers; /* 1 to RESPONDER_CORES_MAX */
	/* Packets for a worker other than 0, up to PKT_BATCH, valid until
	 * workers * RESPONDER_CORES_BATCHES more batches were taken. Returns
	 * how many, 0: none now. Called by that worker's thread, one call at a
	 * time; must not wait. */
	int (*take)(void *ctx, struct pkt *room, int max);
	void *ctx;
};

int responder_cores_open(struct responder_cores **out, struct responder *p,
			 const struct responder_cores_options *o,
			 struct error *err);

/* Gives worker 0 the next batch, n <= PKT_BATCH. 0, or the first -errno. */
int responder_cores_rx(struct responder_cores *c, const struct pkt *pkts,
		       size_t n);

/* Waits until all batches taken are done: p is the caller's. 0 or -errno. */
int responder_cores_rest(struct responder_cores *c);

/* At rest responder_counters(); else those of completed batches. */
const struct responder_ledger *
responder_cores_counters(struct responder_cores *c);

/* Whether responder_is_dead() or responder_epoch() may have changed; at rest
 * always. */
bool responder_cores_has_events(const struct responder_cores *c);

/* snk_drops() of the answers' sink; not at rest: after a completed batch. */
uint64_t responder_cores_unsent(const struct responder_cores *c);

/* Rests, then gives p back. NULL is fine. */
void responder_cores_close(struct responder_cores *c);

#endif
