/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * threads.h - an ordered pipeline on several cores: workers take batches one
 * at a time and send messages to the owners of the state that a batch changes.
 *
 * Batches are numbered in the order in which they are taken from the source,
 * one at a time, by whichever worker is idle. That worker does all that needs
 * only the batch: it decodes and hashes. All state that batches change (a range
 * of a table's pages, a list, a flow) has an owner, which is a worker, too. In
 * a round the worker sends messages to owners, and every owner receives them in
 * the order of the batches. So each page, list and flow changes as with one
 * thread, in the same order, and no other worker touches it. A worker waits for
 * others only to take from the source.
 *
 * A batch has a fixed number of rounds. When all owners have received a round's
 * messages, the worker starts the next one: an owner may have written into the
 * batch what the worker needs for it. A worker that needs nothing starts the
 * next round at once. What has to be done in the order of batches and cannot be
 * split (packets to an interface, rows to a file) has one owner.
 *
 * A worker has up to THREADS_PLACES batches under way, so that it decodes one
 * while owners receive the messages of the last. Messages are in blocks of the
 * batch that sends them, stored past the caches, since taking back a line that
 * another core has touched last costs 30 to 170 ns. Their memory is mapped when
 * a batch first needs it, and kept.
 *
 * Worker 0 is the thread that opened it; only this thread calls the functions
 * below, except threads_send(). Errors: 0 or -errno.
 */
#ifndef THREADS_THREADS_H
#define THREADS_THREADS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum {
	THREADS_MAX = 64,   /* workers */
	THREADS_ROUNDS = 3, /* of a batch, at most */
	THREADS_PLACES = 3, /* batches that a worker has under way */
	THREADS_WAKE = SIGURG,
	THREADS_BLOCK = 4096,
	THREADS_WORDS = THREADS_BLOCK / 8 - 2, /* of 8 bytes, in a block */
};

struct threads;

struct threads_batch {
	uint64_t number;
	unsigned worker;
	unsigned place; /* which of its worker's: 0 to THREADS_PLACES - 1 */
};

/* Messages of one batch to one owner, or the next part of them. */
struct threads_block {
	struct threads_batch from;
	unsigned round;
	const uint64_t *word; /* the messages, one after the other */
	size_t words;
};

struct threads_options {
	unsigned workers; /* 1 to THREADS_MAX */
	unsigned rounds;  /* 1 to THREADS_ROUNDS */
	/* One call at a time, by a worker but 0: takes its next batch; false:
	 * none now, and no more calls until threads_go(). Must not wait. */
	bool (*take)(void *ctx, const struct threads_batch *b);
	/*
	 * By the batch's worker, for rounds 0 to o.rounds; in the last all
	 * messages have been received, in those before it the worker sends.
	 * Returns true if the next round does not depend on what owners write:
	 * they may then receive the two rounds in either order.
	 */
	bool (*work)(void *ctx, const struct threads_batch *b, unsigned round);
	/* By the owner: in each round, the messages of batches in order. Must
	 * not send. */
	void (*receive)(void *ctx, unsigned owner,
			const struct threads_block *in);
	void *ctx;
};

int threads_open(struct threads **out, const struct threads_options *o,
		 struct error *err);

/* The place that worker 0's next batch will have. */
unsigned threads_place(const struct threads *t);

/*
 * Runs worker 0's next batch, which is in its place; any: it is not empty.
 * Other workers take from the source until this returns, which is when worker 0
 * is idle and may take the next. If !more (a live source is drained), no worker
 * takes, and it rests. 0 or -ENOMEM: messages have been lost.
 */
int threads_go(struct threads *t, bool any, bool more);

/* Waits until all batches are done; 0 or -ENOMEM. */
int threads_rest(struct threads *t);

/* Rests, and ends the threads. NULL is fine. */
void threads_close(struct threads *t);

/* Interrupts, by the signal THREADS_WAKE, the system calls in which workers
 * wait. To be called by a handler of a signal that ends the program. Signals go
 * to worker 0 only, except SIGPIPE and SIGBUS, which a worker causes itself. */
void threads_wake(void);

/* A worker's block of messages to one owner, being filled. Private, except for
 * threads_send(). */
struct threads_out {
	void *next;
	uint64_t words, word[THREADS_WORDS];
	size_t used;
	void *to; /* where the block goes; NULL: it is the first */
	struct threads *threads;
	unsigned worker, owner;
} __attribute__((aligned(128)));

/* The blocks to owners 0 to n - 1, for work() of that worker. */
struct threads_out *threads_outs(struct threads *t, unsigned worker);

void threads_ship(struct threads_out *out);

/* Room for a message of up to THREADS_WORDS words, valid until the next call.
 */
static inline uint64_t *threads_send(struct threads_out *out, size_t words)
{
	uint64_t *at;

	if (__builtin_expect(out->used + words > THREADS_WORDS, 0))
		threads_ship(out);
	at = out->word + out->used;
	out->used += words;
	return at;
}

#endif
