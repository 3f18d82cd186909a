/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cores.h - a translator on several cores (threads.h): what it leaves in memory
 * is what translate_rx() would, byte for byte; what it counts is the same, but
 * for what hangs on the order of different reporters, lists and keys.
 *
 * A worker decodes its batch and judges what a packet says by itself. Then, in
 * rounds, of which those are left out that no table needs:
 *
 *	numbers	to the owner of the reporter, who keeps its sequence: runs of
 *		numbers that follow each other; and packets that are not of the
 *		common shape or are tracked, which it judges
 *	cache	to the owner of a list, who writes it to memory, and of a row of
 *		postcards, who gives evicted rows back
 *	write	to the owner of a part of a table, who carries operations out
 *
 * A transport that can be cloned (op.h) makes each worker an owner. Otherwise
 * worker 0 owns everything and sends what the workers have made.
 *
 * Whether lists are due is checked behind each batch, so more entries may be
 * written at once than by one core.
 *
 * An immediate comes behind the write that it belongs to; other copies of its
 * report may be written a moment later. Of one key, and of one list, immediates
 * come in the order of the reports.
 *
 * Ownership: t, its transport and what the options name outlive it. While it
 *            is open, t belongs to it; translate_cores_rest() lends t back.
 * Errors:    0 or -errno; after a transport's error nothing more is carried
 *            out.
 * Threads:   all functions are for the thread that opened it, worker 0.
 */
#ifndef DTA_CORES_H
#define DTA_CORES_H

#include "threads/threads.h"
#include "dta/translate.h"

enum {
	TRANSLATE_CORES_BATCH = 4096, /* packets, at most */
	TRANSLATE_CORES_MAX = 32,     /* workers */
};

struct translate_cores;

struct translate_cores_options {
	unsigned workers; /* 1 to TRANSLATE_CORES_MAX */
	/*
	 * Packets for a worker but 0, which stay valid until workers *
	 * THREADS_PLACES more batches were taken; no more than max. They go
	 * into room, or *pkts, which is room, is changed to where they are.
	 * Returns how many, 0: none now. Called in turn, by that worker's
	 * thread; must not wait.
	 */
	int (*take)(void *ctx, const struct pkt **pkts, struct pkt *room,
		    int max);
	/* Every batch, in order, when it is taken, by its worker's thread; or
	 * NULL. */
	void (*look)(void *ctx, const struct pkt *pkts, size_t n);
	void *ctx;
};

/* What waits in t is written first. -ENOTSUP: a translator with a limit on
 * operations, which hang on each other; slots that are too long for messages.
 */
int translate_cores_open(struct translate_cores **out, struct translator *t,
			 const struct translate_cores_options *o,
			 struct fault *f);

/* The next batch, worker 0's, n <= TRANSLATE_CORES_BATCH, is copied; what is in
 * the packets is as of take(). 0, or the first -errno of the transport. */
int translate_cores_rx(struct translate_cores *c, const struct pkt *pkts,
		       size_t n);

/*
 * Until all that was taken is carried out. The translator, its transport and
 * its source are the caller's then, until the next translate_cores_rx(). 0 or
 * -errno.
 */
int translate_cores_rest(struct translate_cores *c);

/* At rest: as translate_idle(). */
int translate_cores_idle(struct translate_cores *c, uint64_t ns);

/* At rest the translator's; else what workers have told when a batch of theirs
 * was over. */
struct translate_ledger
translate_cores_counters(const struct translate_cores *c);

/* NACKs that the sink did not take. */
uint64_t translate_cores_unsent(struct translate_cores *c);

/* Rests; t is the caller's again. NULL is fine. */
void translate_cores_close(struct translate_cores *c);

#endif
