/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * team.h - a translator on several cores: what it leaves in memory, in its
 * ledger and on the wire is what translate_rx() would, byte for byte.
 *
 * Batches have numbers. Worker w of n takes batches w, w + n, w + 2n...; each
 * goes through these steps, where "in turn" means: when the batch before has
 * been through the same one.
 *
 *	take	in turn		packets from the source
 *	look	at once		decodes and judges what one can see of a packet
 *				by itself; groups postcards by rows
 *	turn	in turn		what hangs on the packets before: reporters'
 *				numbers and NACKs, the clock, lists, rows of
 *				postcards, random copies; all else that can be
 *				counted under a reason
 *	rest	at once		hashes, and makes operations
 *	mark	in turn		says which places of memory they touch
 *	write	at once		carries out those that no batch touches which is
 *				before this one and not through yet
 *	settle	in turn		carries out the others
 *
 * So a place of memory sees its writes in the order of the packets: whoever
 * writes one knows of all that come before, and none of those is still to be
 * written there. Additions commute and go straight. What wakes the collector,
 * and what is written to lists (entries, then their count), is left to settle.
 * No report or word goes from one core to another; lists, rows and what is
 * known of reporters do, a cache line at a time, with the turn.
 *
 * The order of packets is that in which they are taken. A source may have a
 * queue for each worker (live.h): then it is kept within what must stay in one,
 * a reporter's, and no more.
 *
 * A road without a twin (op.h) takes the operations of one batch at a time:
 * there turn, rest and settle are one step, with road_tick() before and behind;
 * behind a batch that is not full, what was sent is flushed.
 *
 * Ownership: t, its road and what options name outlive the team. While it is
 * open, t belongs to it; translate_team_rest() lends it back.
 * Errors:    0 or -errno; a road's error stops the batch it happened in, as it
 *            does without a team. Batches behind it may be carried out already.
 * Threads:   the functions are for the thread that opened it, worker 0.
 */
#ifndef TRANSLATE_TEAM_H
#define TRANSLATE_TEAM_H

#include "translate/translate.h"

enum {
	/* Packets, at most. Many: what goes on in turn moves from core to
	 * core, 50 to 150 ns a cache line. */
	TRANSLATE_TEAM_BATCH = 4096,
	TRANSLATE_TEAM_MAX = 32, /* workers */
};

struct translate_team;

struct translate_team_options {
	unsigned workers; /* 1 to TRANSLATE_TEAM_MAX */
	/*
	 * Packets for a worker but 0, which stay valid until workers more
	 * batches were taken; no more than max. They go into room, or *pkts,
	 * which is room, is changed to where they are. Returns how many, 0:
	 * none now. Called in turn, by that worker's thread; must not wait.
	 */
	int (*take)(void *ctx, const struct pkt **pkts, struct pkt *room,
		    int max);
	/* Every batch, in turn, before anything is made of it, and what was
	 * counted of those before; or NULL. */
	void (*look)(void *ctx, const struct pkt *pkts, size_t n,
		     const struct translate_ledger *before);
	void *ctx;
};

/* What a worker did. */
struct translate_share {
	uint64_t batches, packets;
	uint64_t ops;  /* carried out */
	uint64_t late; /* of them: those that waited for others */
};

/* -ENOTSUP: a translator with a limit on operations, which hang on each other.
 */
int translate_team_open(struct translate_team **out, struct translator *t,
			const struct translate_team_options *o,
			struct fault *f);

/*
 * The next batch, worker 0's, n <= TRANSLATE_TEAM_BATCH. It returns when that
 * is settled and the other workers have taken theirs: packets may be taken from
 * the source then, for the next. 0, or the first -errno of the road.
 */
int translate_team_rx(struct translate_team *c, const struct pkt *pkts,
		      size_t n);

/*
 * Until all that was taken is settled. The translator, its road and its source
 * are the caller's then, until the next translate_team_rx(). 0 or -errno.
 */
int translate_team_rest(struct translate_team *c);

/* At rest the translator's; else as of worker 0's last batch, every report of
 * it and of those before. */
const struct translate_ledger *
translate_team_counters(const struct translate_team *c);

/* At rest. */
struct translate_share translate_team_share(const struct translate_team *c,
					    unsigned worker);

/* Rests; t is the caller's again. NULL is fine. */
void translate_team_close(struct translate_team *c);

#endif
