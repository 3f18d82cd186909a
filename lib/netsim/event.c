/* SPDX-License-Identifier: BSD-2-Clause */
#include "netsim/event.h"

#include <errno.h>
#include <stdlib.h>

enum {
	WAYS = 4, /* children of a node: four are in one line of the cache */
	ROOM = 1024,
};

/* Wrapped numbers compare right while less than 2^31 lie between them. */
static bool before(const struct event *a, const struct event *b)
{
	if (a->ns != b->ns)
		return a->ns < b->ns;
	return (int32_t)(a->order - b->order) < 0;
}

static bool grow(struct events *q)
{
	uint32_t room = q->room ? 2 * q->room : ROOM;
	struct event *heap = realloc(q->heap, room * sizeof(*heap));

	if (!heap) {
		q->err = -ENOMEM;
		return false;
	}
	q->heap = heap;
	q->room = room;
	return true;
}

void events_put(struct events *q, uint64_t ns, uint32_t what)
{
	struct event e = {ns, q->order++, what};
	uint32_t i = q->n;

	if (i == q->room && !grow(q))
		return;
	q->n++;
	while (i > 0 && before(&e, &q->heap[(i - 1) / WAYS])) {
		q->heap[i] = q->heap[(i - 1) / WAYS];
		i = (i - 1) / WAYS;
	}
	q->heap[i] = e;
}

/* The earliest child of a node, or 0. */
static uint32_t least(const struct events *q, uint32_t i)
{
	uint32_t first = WAYS * i + 1, last = first + WAYS, best = first;

	if (first >= q->n)
		return 0;
	if (last > q->n)
		last = q->n;
	for (uint32_t c = first + 1; c < last; c++)
		if (before(&q->heap[c], &q->heap[best]))
			best = c;
	return best;
}

bool events_take(struct events *q, struct event *out)
{
	uint32_t i = 0, child;
	struct event e;

	if (!q->n)
		return false;
	*out = q->heap[0];
	e = q->heap[--q->n];
	while ((child = least(q, i)) && before(&q->heap[child], &e)) {
		q->heap[i] = q->heap[child];
		i = child;
	}
	q->heap[i] = e;
	return true;
}

void events_fini(struct events *q)
{
	free(q->heap);
	*q = (struct events){0};
}
