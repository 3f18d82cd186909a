/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * team.h - a responder on several cores: memory, ledger and answers
 * are what responder_rx() would leave, byte for byte.
 *
 * Workers take batches of packets in turn, and go through these steps:
 *
 *	take	in turn		packets from the source
 *	look	at once		decodes, sums, and judges what one can see of a
 *				packet by itself
 *	act	in turn		what hangs on the packets before: PSNs, R_Keys,
 *				receives; all is counted under a reason
 *	mark	in turn		says which places of memory it touches
 *	write	at once		carries out what no earlier batch touches, and
 *				makes the answers that tell what was there
 *	settle	in turn		carries out the rest, and sends answers
 *
 * A queue pair's packets are so acted on in the order in which they are taken,
 * whoever sent them. A source may have a queue for each worker (live.h): it
 * keeps that order for each queue pair, and no more.
 * When the answers' sink fails, as it does for good, batches of the other
 * workers have perhaps been acted on: they are carried out, unanswered, and
 *none behind them is.
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
};

struct responder_team;

struct responder_team_options {
	unsigned workers; /* 1 to RESPONDER_TEAM_MAX */
	/* Packets for a worker but 0, up to PKT_BATCH, valid until workers more
	 * batches were taken. Returns how many, 0: none now. In turn, by that
	 * worker's thread; must not wait. */
	int (*take)(void *ctx, struct pkt *room, int max);
	/* Every batch, in turn, before it is acted on, and what was counted
	 * before; or NULL. */
	void (*look)(void *ctx, const struct pkt *pkts, size_t n,
		     const struct responder_ledger *before);
	void *ctx;
};

/* What a worker did. */
struct responder_share {
	uint64_t batches, packets;
	uint64_t ops;  /* carried out */
	uint64_t late; /* of them: those that waited for others */
};

int responder_team_open(struct responder_team **out, struct responder *p,
			const struct responder_team_options *o,
			struct fault *f);

/* The next batch, worker 0's, n <= PKT_BATCH. It returns when that is through
 * and the others have taken theirs. 0, or the first -errno. */
int responder_team_rx(struct responder_team *c, const struct pkt *pkts,
		      size_t n);

/* Until all that was taken is through: p is the caller's. 0 or -errno. */
int responder_team_rest(struct responder_team *c);

/* At rest the responder's; else as of worker 0's last batch. */
const struct responder_ledger *
responder_team_counters(const struct responder_team *c);

/* Whether responder_refused(), responder_stranger(), responder_is_dead() or
 * another epoch have something to tell: as of the batches that were acted on.
 */
bool responder_team_news(const struct responder_team *c);

/* snk_drops() of the answers' sink: at rest, its own; else as of a batch that
 * is through. */
uint64_t responder_team_unsent(const struct responder_team *c);

struct responder_share responder_team_share(const struct responder_team *c,
					    unsigned worker);

/* Rests; p is the caller's again. NULL is fine. */
void responder_team_close(struct responder_team *c);

#endif
