/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * team.h - a responder on any number of cores: memory, ledger and answers
 * are what responder_rx() would leave, which does it all on one (threads.h).
 *
 * A batch of packets goes through these rounds:
 *
 *	judge	its worker decodes, sums, and judges what one can see of a
 *		packet by itself; one owner judges what hangs on the packets
 *		before: PSNs, receives
 *	write	its worker sends each operation to the owner of its place in
 *		memory
 *	settle	one owner tells of immediates, and sends answers
 *
 * When the answers' sink fails, as it does for good, batches that were taken
 * before are carried out, unanswered.
 *
 * Ownership: p, its region and sink outlive the team. While it is open p
 * belongs to it; responder_team_rest() lends it back until the next batch.
 * Threads:   the functions are for the thread that opened it, worker 0.
 */
#ifndef RESPONDER_TEAM_H
#define RESPONDER_TEAM_H

#include "responder/responder.h"

enum {
	RESPONDER_TEAM_MAX = 32, /* workers */
	/* Batches of each that are under way: for src_keep(). */
	RESPONDER_TEAM_BATCHES = 2,
};

struct responder_team;

struct responder_team_options {
	unsigned workers; /* 1 to RESPONDER_TEAM_MAX */
	/* Packets for a worker but 0, up to PKT_BATCH, valid until workers *
	 * RESPONDER_TEAM_BATCHES more batches were taken. Returns how many, 0:
	 * none now. In turn, by that worker's thread; must not wait. */
	int (*take)(void *ctx, struct pkt *room, int max);
	void *ctx;
};

int responder_team_open(struct responder_team **out, struct responder *p,
			const struct responder_team_options *o,
			struct fault *f);

/* The next batch, worker 0's, n <= PKT_BATCH. 0, or the first -errno. */
int responder_team_rx(struct responder_team *c, const struct pkt *pkts,
		      size_t n);

/* Until all that was taken is over: p is the caller's. 0 or -errno. */
int responder_team_rest(struct responder_team *c);

/* At rest the responder's; else as of batches that are over. */
const struct responder_ledger *
responder_team_counters(struct responder_team *c);

/* Whether responder_refused(), responder_stranger(), responder_is_dead() or
 * another epoch may have something to tell; at rest always. */
bool responder_team_news(const struct responder_team *c);

/* snk_drops() of the answers' sink: at rest, its own; else as of a batch that
 * is over. */
uint64_t responder_team_unsent(const struct responder_team *c);

/* Rests; p is the caller's again. NULL is fine. */
void responder_team_close(struct responder_team *c);

#endif
