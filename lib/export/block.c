/* SPDX-License-Identifier: BSD-2-Clause */
/* block.c - what drivers and sinks share. */
#include <stdio.h>

#include "base/clock.h"
#include "export/sink.h"

void block_refuse(struct block *b, struct tally *t, const char *why)
{
	if (!t->refused)
		fault_set(&t->why, 0, "%s", why);
	t->refused += b->rows;
	b->rows = 0;
	b->at = b->len;
}

void sink_wait(struct sink *x, pthread_cond_t *cond, uint64_t until_ns)
{
	struct timespec t = {(time_t)(until_ns / 1000000000),
			     (long)(until_ns % 1000000000)};

	pthread_cond_timedwait(cond, &x->lock, &t);
}

void sink_tally(struct sink *x, const struct tally *t)
{
	x->status.ledger.written += t->written;
	x->status.ledger.refused += t->refused;
	if (t->refused)
		x->status.refusal = t->why;
	pthread_cond_broadcast(&x->settled);
}
