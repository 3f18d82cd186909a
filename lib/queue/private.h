/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * private.h - a sink's inside, private to this room: batches wait for the
 * thread that makes blocks of them (pack.c), blocks for the one that sends them
 * (send.c), or in the spool.
 *
 * Order: blocks in memory are older than those in the spool, for as long as
 * there are any in it new ones go there, too, and wait for room there.
 */
#ifndef QUEUE_PRIVATE_H
#define QUEUE_PRIVATE_H

#include <pthread.h>
#include <stdlib.h>

#include "queue/driver.h"
#include "queue/queue.h"
#include "queue/spool.h"

enum {
	BLOCK_MAX = 1 << 20, /* bytes at which a block is sent */
	SPARE_MAX = 16,	     /* batches */
};

struct batch {
	struct batch *next;
	struct row_batch rows;
	size_t bytes; /* that it takes */
};

struct queue {
	struct row_sink face;
	const struct driver *driver;
	void *self;  /* the driver's */
	void *owned; /* what it looks at */
	struct queue_options options;
	struct spool *spool; /* NULL: none */
	struct stop stop;
	pthread_t packer, sender;
	bool packs, sends; /* the threads run */

	pthread_mutex_t lock;	/* of all that follows */
	pthread_cond_t batch;	/* the packer waits: for batches, an end */
	pthread_cond_t block;	/* the sender waits: for blocks, an end; and the
				   packer for room for one */
	pthread_cond_t settled; /* who flushes or ends it waits */
	struct batch *batches, **last_batch;
	unsigned waiting; /* batches */
	unsigned wanted;  /* so many of them wake the packer */
	struct block *blocks, **last_block;
	size_t batch_bytes, block_bytes, room; /* room: for each of them */
	/* Batches whose rows have been packed: they are filled again, so that
	 * who puts rows asks for no memory, and writes where it has written
	 * lately. */
	struct batch *spare;
	unsigned spares;
	struct block *hand;  /* with the sender, at the end: not sent */
	uint32_t hand_rows;  /* that it had at first */
	bool flushing;	     /* blocks do not wait for more rows */
	bool spool_stuck;    /* the packer waits for room in it */
	uint64_t hold_until; /* put() waits for room till then; 0: as the
				options say */
	bool ending, packed, sent;
	struct queue_status status;
};

/* Until a time, of clock_ns(), or a signal; lock is held. */
static inline void sink_wait(struct queue *x, pthread_cond_t *cond,
			     uint64_t until_ns)
{
	struct timespec t = {(time_t)(until_ns / 1000000000),
			     (long)(until_ns % 1000000000)};

	pthread_cond_timedwait(cond, &x->lock, &t);
}

/* Adds what became of rows; lock is held. */
static inline void sink_tally(struct queue *x, const struct tally *t)
{
	x->status.ledger.written += t->written;
	x->status.ledger.refused += t->refused;
	if (t->refused)
		x->status.refusal = t->why;
	pthread_cond_broadcast(&x->settled);
}

/* NULL is fine. */
static inline void batch_free(struct batch *n)
{
	if (n)
		row_batch_fini(&n->rows);
	free(n);
}

void *sink_pack(void *sink); /* the threads */
void *sink_send(void *sink);

#endif
