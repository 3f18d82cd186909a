/* SPDX-License-Identifier: BSD-2-Clause */
/* ops.c - passes operations to the transport. */
#include "dta/private.h"

#include <errno.h>
#include <stdlib.h>

static struct op_buffer *op_buffer_new(void)
{
	struct op_buffer *ops = aligned_alloc(_Alignof(struct op_buffer),
					      sizeof(*ops));

	if (ops)
		ops->n = ops->used = 0;
	return ops;
}

/* Exchanges the queue's buffer with *ops; ends prefetching. */
static void prefetch_queue_swap(struct prefetch_queue *queue,
				struct op_buffer **ops)
{
	struct op_buffer *current = *ops;

	*ops = queue->ops;
	queue->ops = current;
	queue->next = queue->end;
}

unsigned report_cost(const struct translator *t,
		     const struct table_state *state,
		     const struct dta_report *r)
{
	unsigned n;

	if (state->t.kind == TABLE_POSTCARD || state->t.kind == TABLE_APPEND)
		return 0;
	n = r->copies ? r->copies : state->t.copies;
	if (state->t.kind == TABLE_KEYWRITE && t->dart)
		n = 1;
	return t->mirror ? 2 * n : n;
}

/* Postcards and entries are charged when they are written. */
static void charge_rate(struct translator *t)
{
	unsigned n = 0;

	for (unsigned i = 0; i < t->ops->n; i++) {
		uint8_t kind = t->state[t->ops->op[i].table].t.kind;

		n += kind == TABLE_POSTCARD || kind == TABLE_APPEND;
	}
	rate_charge(&t->rate, n);
}

static void hand_over(struct translator *t)
{
	struct op_buffer *ops = t->ops;

	if (t->send) {
		t->send(t);
	} else {
		if (t->rate.per_s)
			charge_rate(t);
		t->transport->stamps = t->transport->stamped ? ops->stamp
							     : NULL;
		if (ops->n && !t->error)
			t->error = t->transport->exec(t->transport, ops->op,
						      ops->n, t->last_ns);
		t->transport->stamps = NULL;
	}
	t->ctr.ops += ops->n;
	ops->n = 0;
	ops->used = 0;
}

static void hand_over_prefetched(struct translator *t)
{
	prefetch_queue_swap(t->prefetching, &t->ops);
	hand_over(t);
	prefetch_queue_swap(t->prefetching, &t->ops);
}

void ops_hand_over(struct translator *t)
{
	if (t->prefetching)
		hand_over_prefetched(t);
	hand_over(t);
}

void ops_prefetch(struct translator *t, size_t packets)
{
	struct prefetch_queue *queue = t->prefetching;

	hand_over_prefetched(t);
	prefetch_queue_swap(queue, &t->ops);
	queue->mem = t->transport->mem;
	queue->next = queue->ops->op;
	queue->end = queue->next + queue->ops->n;
	queue->each = (unsigned)((queue->ops->n + packets - 1) / packets);
}

void ops_run(struct translator *t)
{
	if (!t->prefetching)
		hand_over(t);
}

void ops_stamp(struct translator *t, const struct report_batch *reports,
	       unsigned first, unsigned end, bool one)
{
	uint64_t *to = t->ops->stamp + t->ops->n;

	for (unsigned i = first; i < end; i++) {
		uint64_t ns = t->pkts[reports->at[i]].ts_ns;

		for (unsigned c = 0; c < HASH_COPIES; c++)
			to[c] = ns;
		to += one ? 1 : desc_copies(reports->desc[i]);
	}
}

void run_table(struct translator *t, unsigned index,
	       const struct report_batch *reports)
{
	struct table_state *state = &t->state[index];

	state->run(t, state, reports);
	ops_run(t);
}

int ops_open(struct translator *t, bool prefetching)
{
	t->ops = op_buffer_new();
	t->prefetching = NULL;
	if (!prefetching)
		return t->ops ? 0 : -ENOMEM;
	t->prefetching = calloc(1, sizeof(*t->prefetching));
	if (t->prefetching)
		t->prefetching->ops = op_buffer_new();
	return t->ops && t->prefetching && t->prefetching->ops ? 0 : -ENOMEM;
}

void ops_close(struct translator *t)
{
	if (t->prefetching)
		free(t->prefetching->ops);
	free(t->prefetching);
	free(t->ops);
}
