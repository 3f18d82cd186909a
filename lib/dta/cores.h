/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
/*
 * cores.h - a translator on several cores (threads/threads.h). It leaves the
 * same memory as translate_rx(), byte for byte, and the same counters, except
 * those that depend on the order of different reporters, lists and keys.
 *
 * A worker decodes its batch and checks all that depends on one packet only.
 * Then come these rounds, without those that no table needs:
 *
 *	numbers	to a reporter's owner, which tracks its sequence: runs of
 *		consecutive numbers, and packets that are tracked or not of the
 *		common shape, which the owner checks
 *	cache	to a list's owner, which writes it to memory, and to the owner
 *		of a row of postcards, which returns evicted rows
 *	write	to the owner of a part of a table, which carries operations out
 *
 * A transport that can be cloned (op.h) makes each worker an owner. Otherwise
 * worker 0 owns everything and sends what the workers have made.
 *
 * Whether lists are due is checked behind each batch, so more entries may be
 * written at once than by one core.
 *
 * An immediate comes after the write that it belongs to; other copies of its
 * report may be written a moment later. Immediates of one key, and of one list,
 * come in the order of the reports.
 *
 * Ownership: t, its transport and what the options name outlive it. While it
 *            is open, t belongs to it; translate_cores_rest() lends t back.
 * Errors:    0 or -errno; after a transport's error nothing more is carried
 *            out.
 * Threads:   all functions are for the thread that opened it, worker 0.
 */
/* clang-format on */
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
	unsigned workers; /* 1 to TRANSLATE_CORES_MAX; 1: translate_rx() */
	/*
	 * Gives a worker other than 0 at most max packets, which stay valid
	 * until workers * THREADS_PLACES more batches were taken. They go into
	 * room, to which *pkts points; or *pkts is set to where they are.
	 * Returns how many, 0: none now. Called by the worker's thread, by one
	 * at a time; must not wait.
	 */
	int (*take)(void *ctx, const struct pkt **pkts, struct pkt *room,
		    int max);
	/* Called with every batch, in order, by its worker; or NULL. */
	void (*look)(void *ctx, const struct pkt *pkts, size_t n);
	void *ctx;
};

/* With several workers, flushes t first; t must have no rate limit, which needs
 * all operations in order. -ENOTSUP: t has too many tables, or too large ones.
 */
int translate_cores_open(struct translate_cores **out, struct translator *t,
			 const struct translate_cores_options *o,
			 struct error *err);

/* Worker 0's next batch, n <= TRANSLATE_CORES_BATCH. pkts is copied; the bytes
 * of the packets stay valid as those of take(). 0, or the transport's first
 * -errno. */
int translate_cores_rx(struct translate_cores *c, const struct pkt *pkts,
		       size_t n);

/* Waits until all batches taken are carried out. Translator, transport and
 * source are the caller's until the next translate_cores_rx(). 0 or -errno.
 * Does nothing if the transport calls it in a batch, while it waits. */
int translate_cores_rest(struct translate_cores *c);

/* At rest: as translate_idle(). */
int translate_cores_idle(struct translate_cores *c, uint64_t ns);

/* At rest, of all packets; else of completed batches. */
struct translate_ledger
translate_cores_counters(const struct translate_cores *c);

/* NACKs that the sink has dropped. */
uint64_t translate_cores_unsent(struct translate_cores *c);

/* Rests, then gives t back. NULL is fine. */
void translate_cores_close(struct translate_cores *c);

#endif
