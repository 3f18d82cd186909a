/* SPDX-License-Identifier: BSD-2-Clause */
#include "netsim/event.h"

#include <errno.h>
#include <stdlib.h>

enum {
	ROOM = 1024,
};

static bool grow(struct events *q)
{
	uint32_t room = q->room ? 2 * q->room : ROOM;
	struct due *heap = realloc(q->heap, room * sizeof(*heap));

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
	struct due e = {ns, what, q->order++};

	if (q->n == q->room && !grow(q))
		return;
	heap_up(q->heap, NULL, q->n++, e);
}

bool events_take(struct events *q, struct due *out)
{
	if (!q->n)
		return false;
	*out = q->heap[0];
	q->n--;
	heap_down(q->heap, NULL, q->n, 0, q->heap[q->n]);
	return true;
}

void events_fini(struct events *q)
{
	free(q->heap);
	*q = (struct events){0};
}
