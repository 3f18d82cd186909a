/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * threads.h - one job on several cores: batches that workers take by turns, and
 * messages from their workers to the owners of what they change.
 *
 * Batches have numbers, in the order in which they are taken from the source:
 * by whichever worker has nothing else to do, one at a time. It does all of a
 * batch that needs nothing but the batch: it decodes and hashes. What the batch
 * changes has an owner, which is a worker, too: of a range of a table's pages,
 * of a list, of a flow. In a round the worker sends messages to owners, and
 * every owner receives what batches send to it in the order of the batches. So
 * each page, list and flow sees what one thread alone would have done to it, in
 * that order, and no other worker touches it. Nobody waits for a turn but to
 * take from the source.
 *
 * A batch has a fixed number of rounds. When every owner has received the
 * messages of one, its worker goes on with the next: an owner may write into
 * the batch's memory what the worker needs to know for it. Where the worker
 * needs nothing, it goes on at once. What must be done in
 * the order of batches and has no part (packets to an interface, rows to a
 * file) has one owner.
 *
 * A worker has up to THREADS_PLACES batches under way, so that it decodes one
 * while others receive what the one before has sent. Messages lie in blocks of
 * the batch that sends them, written past the caches, since a line that another
 * core has touched last costs 30 to 170 ns to take back. Memory for them is
 * mapped the first time that a batch sends so many, and kept.
 *
 * Worker 0 is the thread that opened it, and alone calls the functions below
 * but threads_send(). Errors: 0 or -errno.
 */
#ifndef THREADS_THREADS_H
#define THREADS_THREADS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

enum {
	THREADS_MAX = 64,   /* workers */
	THREADS_ROUNDS = 3, /* of a batch, at most */
	THREADS_PLACES = 3, /* batches that a worker has under way */
	THREADS_WAKE = SIGURG,
	THREADS_BLOCK = 4096,
	THREADS_WORDS = THREADS_BLOCK / 8 - 2, /* of 8 bytes, in a block */
	THREADS_MESSAGE = THREADS_WORDS / 2,   /* words, at most */
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
	/* One at a time, for a worker but 0: takes its next batch; false: there
	 * is none until worker 0 has looked. Must not wait. */
	bool (*take)(void *ctx, const struct threads_batch *b);
	/*
	 * By the batch's worker: round 0, before which nothing is known but the
	 * batch, to o.rounds: all is received. In those before the last it
	 * sends. While it sends, receive() may be called by the same thread.
	 * True: what the next round sends hangs on nothing that owners write.
	 */
	bool (*work)(void *ctx, const struct threads_batch *b, unsigned round);
	/* By the owner: in each round, batches in order and a batch's messages
	 * in theirs. Must not send. */
	void (*receive)(void *ctx, unsigned owner,
			const struct threads_block *in);
	void *ctx;
};

int threads_open(struct threads **out, const struct threads_options *o,
		 struct fault *f);

/* The place that worker 0's next batch will have. */
unsigned threads_place(const struct threads *t);

/*
 * Worker 0's next batch is in its place; any: there is something in it. Others
 * take from the source until it returns, which is when worker 0 has nothing
 * else to do and may take the next. Without more, as when a live source has
 * shown all that came, nobody takes, and it rests. 0 or -ENOMEM: messages have
 * been lost.
 */
int threads_go(struct threads *t, bool any, bool more);

/* Until all batches are over; 0 or -ENOMEM. */
int threads_rest(struct threads *t);

/* Rests, and ends the threads. NULL is fine. */
void threads_close(struct threads *t);

/*
 * Interrupts the system calls in which workers wait, by THREADS_WAKE, for which
 * there is a handler then: for a handler of a signal that ends them. Signals go
 * to worker 0 alone, but for those that a worker causes itself: SIGPIPE,
 * SIGBUS.
 */
void threads_wake(void);

/* What a worker sends to one owner, a block as it will be. Private, but for
 * threads_send(). */
struct threads_out {
	void *next;
	uint64_t words, word[THREADS_WORDS];
	size_t used;
	void *to; /* where the block goes; NULL: it is the first */
	struct threads *threads;
	unsigned worker, owner;
} __attribute__((aligned(128)));

/* To owners 0 to n - 1: for work() of that worker. */
struct threads_out *threads_outs(struct threads *t, unsigned worker);

void threads_ship(struct threads_out *out);

/* Room for a message of so many words, up to THREADS_MESSAGE, which is valid
 * until the next call. */
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
