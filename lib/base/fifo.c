/* SPDX-License-Identifier: BSD-2-Clause */
/* fifo.c - the list is a ring through link[0], so that its ends are no special
 * cases. A number n that is not in it links to itself: at n + 1. */
#include "base/fifo.h"

#include <errno.h>
#include <stdlib.h>

enum {
	LINKS_MIN = 64,
};

static int make_room(struct fifo *q, uint32_t at)
{
	uint32_t links = q->links ? q->links : LINKS_MIN;
	struct fifo_link *link;

	while (links <= at)
		links *= 2;
	if (!(link = realloc(q->link, links * sizeof(*link))))
		return -ENOMEM;
	for (uint32_t i = q->links; i < links; i++)
		link[i] = (struct fifo_link){i, i};
	q->link = link;
	q->links = links;
	return 0;
}

static void unlink_at(struct fifo *q, uint32_t at)
{
	struct fifo_link *own = &q->link[at];

	q->link[own->before].behind = own->behind;
	q->link[own->behind].before = own->before;
	*own = (struct fifo_link){at, at};
}

int fifo_put(struct fifo *q, uint32_t number)
{
	uint32_t at = number + 1, last;

	if (at >= q->links && make_room(q, at) < 0)
		return -ENOMEM;
	unlink_at(q, at);
	last = q->link[0].before;
	q->link[at] = (struct fifo_link){last, 0};
	q->link[last].behind = at;
	q->link[0].before = at;
	return 0;
}

void fifo_remove(struct fifo *q, uint32_t number)
{
	if (number + 1 < q->links)
		unlink_at(q, number + 1);
}

uint32_t fifo_first(const struct fifo *q)
{
	return q->links ? q->link[0].behind - 1 : FIFO_EMPTY;
}

void fifo_renumber(struct fifo *q, uint32_t last, uint32_t number)
{
	bool listed = last != number && last + 1 < q->links &&
		      q->link[last + 1].before != last + 1;
	struct fifo_link own;

	fifo_remove(q, number);
	if (listed) {
		own = q->link[last + 1];
		unlink_at(q, last + 1);
		q->link[number + 1] = own;
		q->link[own.before].behind = number + 1;
		q->link[own.behind].before = number + 1;
	}
}

void fifo_fini(struct fifo *q)
{
	free(q->link);
	*q = (struct fifo){0};
}
