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
	if (x->apart)
		return; /* a part of it does not */
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

static uint64_t next_delay(const struct queue *x, uint64_t delay)
{
	return delay * 2 < x->options.retry_ns ? delay * 2
					       : x->options.retry_ns;
}

/* Adds the rows that are left of a block to those set apart; a quarter of the
 * queue's memory is for them. False: there is no room. */
static bool set_apart(struct queue *x, struct block *b)
{
	struct block *a = x->apart ? x->apart : calloc(1, sizeof(*a));
	size_t len = b->len - b->at;
	char *bytes = a && a->len + len <= x->room / 2
			      ? realloc(a->bytes, a->len + len)
			      : NULL;

	if (!bytes) {
		if (a != x->apart)
			free(a);
		return false;
	}
	memcpy(bytes + a->len, b->bytes + b->at, len);
	a->bytes = bytes;
	a->len += len;
	a->rows += b->rows;
	a->again = true;
	pthread_mutex_lock(&x->lock);
	if (!x->apart) {
		x->apart_delay = first_delay(x);
		x->apart_at = clock_ns() + x->apart_delay;
	}
	x->apart = a;
	a->charged += len;
	x->block_bytes += len;
	pthread_mutex_unlock(&x->lock);
	b->rows = 0;
	return true;
}

/* Those that were set apart are tried again; what is left stays so. */
static void try_apart(struct queue *x)
{
	struct block *a = x->apart;
	struct tally t = {0};
	struct fault why = {""};
	int rc = x->driver->send(x->self, a, &t, &why);
	size_t left = rc == 0 ? 0 : a->len;

	pthread_mutex_lock(&x->lock);
	sink_tally(x, &t);
	x->block_bytes -= a->charged - left;
	a->charged = left;
	if (rc == 0) {
		x->apart = NULL;
		works(x);
	} else {
		fails(x, &why);
		x->apart_delay = t.written || t.refused
					 ? first_delay(x)
					 : next_delay(x, x->apart_delay);
		x->apart_at = clock_ns() + x->apart_delay;
	}
	pthread_cond_broadcast(&x->block);
	pthread_mutex_unlock(&x->lock);
	if (rc == 0) {
		free(a->bytes);
		free(a);
	}
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
		/* One of the spool stays there until it is sent. */
		if (b->apart && !b->spooled && set_apart(x, b))
			break;
		if (t.written || t.refused)
			delay = first_delay(x);
		if (!pause_for(x, delay))
			return false;
		delay = next_delay(x, delay);
		if (b->apart && x->apart)
			try_apart(x);
		else
			b->again = b->apart;
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

/* Those set apart, if it is their time; lock is held, but while they are sent.
 */
static void try_due(struct queue *x)
{
	if (!x->apart || clock_ns() < x->apart_at)
		return;
	pthread_mutex_unlock(&x->lock);
	try_apart(x);
	pthread_mutex_lock(&x->lock);
}

/* Waits for a block, or the time of those set apart; at the end not for long.
 */
static void wait_for_block(struct queue *x)
{
	uint64_t soon;

	if (!x->apart) {
		pthread_cond_wait(&x->block, &x->lock);
		return;
	}
	soon = clock_ns() + RETRY_NS;
	if (x->ending && x->apart_at > soon)
		x->apart_at = soon;
	sink_wait(x, &x->block, x->apart_at);
}

/* Waits for the next block. NULL: there will be none. */
static struct block *next_block(struct queue *x)
{
	struct block *b = NULL;
	bool spooled;

	pthread_mutex_lock(&x->lock);
	for (;;) {
		try_due(x);
		if (x->stop.now || (b = from_memory(x)))
			break;
		spooled = x->spool && spool_rows(x->spool);
		if (!spooled && x->packed && !x->apart)
			break;
		if (!spooled) {
			wait_for_block(x);
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
