/* SPDX-License-Identifier: BSD-2-Clause */
/* chain.c - a ring through link[0], so that no end is a case of its own; of who
 * does not stand there both neighbours are its own place. */
#include "base/chain.h"

#include <errno.h>
#include <stdlib.h>

enum {
	ROOM = 64,
};

static int make_room(struct chain *q, uint32_t place)
{
	uint32_t whos = q->whos ? q->whos : ROOM;
	struct chain_link *link;

	while (whos <= place)
		whos *= 2;
	if (!(link = realloc(q->link, whos * sizeof(*link))))
		return -ENOMEM;
	for (uint32_t i = q->whos; i < whos; i++)
		link[i] = (struct chain_link){i, i};
	q->link = link;
	q->whos = whos;
	return 0;
}

static void take_out(struct chain *q, uint32_t place)
{
	struct chain_link *l = &q->link[place];

	q->link[l->before].behind = l->behind;
	q->link[l->behind].before = l->before;
	*l = (struct chain_link){place, place};
}

int chain_put(struct chain *q, uint32_t who)
{
	uint32_t place = who + 1, last;

	if (place >= q->whos && make_room(q, place) < 0)
		return -ENOMEM;
	take_out(q, place);
	last = q->link[0].before;
	q->link[place] = (struct chain_link){last, 0};
	q->link[last].behind = place;
	q->link[0].before = place;
	return 0;
}

void chain_drop(struct chain *q, uint32_t who)
{
	if (who + 1 < q->whos)
		take_out(q, who + 1);
}

bool chain_has(const struct chain *q, uint32_t who)
{
	return who + 1 < q->whos && q->link[who + 1].before != who + 1;
}

uint32_t chain_first(const struct chain *q)
{
	return q->whos ? q->link[0].behind - 1 : CHAIN_NOBODY;
}

uint32_t chain_second(const struct chain *q)
{
	uint32_t first = q->whos ? q->link[0].behind : 0;

	return first ? q->link[first].behind - 1 : CHAIN_NOBODY;
}

void chain_move(struct chain *q, uint32_t last, uint32_t who)
{
	bool stands = last != who && chain_has(q, last);
	struct chain_link l;

	chain_drop(q, who);
	if (stands) {
		l = q->link[last + 1];
		take_out(q, last + 1);
		q->link[who + 1] = l;
		q->link[l.before].behind = who + 1;
		q->link[l.behind].before = who + 1;
	}
}

void chain_fini(struct chain *q)
{
	free(q->link);
	*q = (struct chain){0};
}
