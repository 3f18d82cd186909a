/* SPDX-License-Identifier: BSD-2-Clause */
/* send.c - the thread that sends blocks, until they are taken. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "queue/private.h"

enum {
	RETRY_NS = 100000000, /* the first time; it doubles */
};

static void fails(struct queue *x, const struct fault *why)
{
	if (!x->status.failing)
		x->status.changes++;
	/* a try that the end has broken off has no other reason */
	if (!x->status.failing || !x->stop.now)
		x->status.why = *why;
	x->status.failing = true;
	x->status.ledger.retries++;
}

static void works(struct queue *x)
{
	x->status.ledger.blocks++;
	if (x->status.failing)
		x->status.changes++;
	x->status.failing = false;
}

/* Waits before another try; at the end not for long. False: there is none. */
static bool pause_for(struct queue *x, uint64_t delay_ns)
{
	uint64_t from = clock_ns(), until = from + delay_ns;

	pthread_mutex_lock(&x->lock);
	while (!x->stop.now && clock_ns() < until) {
		if (x->ending && until > from + RETRY_NS)
			until = from + RETRY_NS;
		sink_wait(x, &x->block, until);
	}
	pthread_mutex_unlock(&x->lock);
	return !x->stop.now;
}

static uint64_t first_delay(const struct queue *x)
{
	return x->options.retry_ns < RETRY_NS ? x->options.retry_ns : RETRY_NS;
}

/* False: the end has come before. */
static bool deliver(struct queue *x, struct block *b)
{
	uint64_t delay = first_delay(x);

	while (b->rows) {
		struct tally t = {0};
		struct fault why = {""};
		int rc = x->driver->send(x->self, b, &t, &why);

		pthread_mutex_lock(&x->lock);
		sink_tally(x, &t);
		if (rc < 0)
			fails(x, &why);
		else
			works(x);
		pthread_mutex_unlock(&x->lock);
		if (rc == 0)
			break;
		if (t.written || t.refused)
			delay = first_delay(x);
		if (!pause_for(x, delay))
			return false;
		delay = delay * 2 < x->options.retry_ns ? delay * 2
							: x->options.retry_ns;
	}
	return true;
}

/* The oldest of the spool; NULL: it could not be read, now. */
static struct block *from_spool(struct queue *x)
{
	struct fault why;
	struct block *b;
	uint64_t lost;
	int rc = spool_next(x->spool, &b, &lost);

	if (rc >= 0)
		return b;
	pthread_mutex_lock(&x->lock);
	x->status.ledger.damaged += lost;
	if (rc != -EBADMSG) {
		fault_set(&why, rc, "spool: %s", strerror(-rc));
		fails(x, &why);
	}
	pthread_cond_broadcast(&x->settled);
	pthread_mutex_unlock(&x->lock);
	if (rc != -EBADMSG)
		pause_for(x, x->options.retry_ns);
	return NULL;
}

static struct block *from_memory(struct queue *x)
{
	struct block *b = x->blocks;

	if (b && !(x->blocks = b->next))
		x->last_block = &x->blocks;
	if (b)
		b->next = NULL;
	return b;
}

/* Waits for the next block. NULL: there will be none. */
static struct block *next_block(struct queue *x)
{
	struct block *b = NULL;
	bool spooled;

	pthread_mutex_lock(&x->lock);
	for (;;) {
		if (x->stop.now || (b = from_memory(x)))
			break;
		spooled = x->spool && spool_rows(x->spool);
		if (!spooled && x->packed)
			break;
		if (!spooled) {
			pthread_cond_wait(&x->block, &x->lock);
			continue;
		}
		pthread_mutex_unlock(&x->lock);
		b = from_spool(x);
		pthread_mutex_lock(&x->lock);
		if (b)
			break;
	}
	if (b)
		x->hand_rows = b->rows;
	pthread_mutex_unlock(&x->lock);
	return b;
}

static void release(struct queue *x, struct block *b)
{
	if (b->spooled)
		spool_done(x->spool);
	pthread_mutex_lock(&x->lock);
	if (!b->spooled)
		x->block_bytes -= b->charged;
	pthread_cond_broadcast(&x->block);
	pthread_cond_broadcast(&x->settled);
	pthread_mutex_unlock(&x->lock);
	free(b->bytes);
	free(b);
}

void *sink_send(void *sink)
{
	struct queue *x = sink;
	struct block *b;

	while ((b = next_block(x)) && deliver(x, b))
		release(x, b);
	pthread_mutex_lock(&x->lock);
	x->hand = b;
	x->sent = true;
	pthread_cond_broadcast(&x->settled);
	pthread_mutex_unlock(&x->lock);
	return NULL;
}
