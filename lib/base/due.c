/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/due.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	ROOM = 64,
};

static void settle(struct dues *q, uint32_t i, struct due d)
{
	if (i && heap_before(&d, &q->heap[(i - 1) / HEAP_WAYS]))
		heap_up(q->heap, q->place, i, d);
	else
		heap_down(q->heap, q->place, q->n, i, d);
}

/* One more; there is room. */
static void add(struct dues *q, uint32_t who, uint64_t ns)
{
	heap_up(q->heap, q->place, q->n++, (struct due){ns, who, who});
}

static int make_room(struct dues *q, uint32_t who)
{
	uint32_t whos = q->whos ? q->whos : ROOM,
		 room = q->room ? q->room : ROOM;
	uint32_t *place;
	struct due *heap;

	while (whos <= who)
		whos *= 2;
	if (whos > q->whos) {
		if (!(place = realloc(q->place, whos * sizeof(*place))))
			return -ENOMEM;
		memset(place + q->whos, 0, (whos - q->whos) * sizeof(*place));
		q->place = place;
		q->whos = whos;
	}
	if (q->n < q->room)
		return 0;
	room *= q->room ? 2 : 1;
	if (!(heap = realloc(q->heap, room * sizeof(*heap))))
		return -ENOMEM;
	q->heap = heap;
	q->room = room;
	return 0;
}

static void take_out(struct dues *q, uint32_t who)
{
	uint32_t i = who < q->whos ? q->place[who] : 0;

	if (!i)
		return;
	q->place[who] = 0;
	if (--q->n != i - 1)
		settle(q, i - 1, q->heap[q->n]);
}

int dues_set(struct dues *q, uint32_t who, uint64_t ns)
{
	struct due d = {ns, who, who};

	if (ns == DUE_NEVER) {
		take_out(q, who);
		return 0;
	}
	if (who < q->whos && q->place[who]) {
		settle(q, q->place[who] - 1, d);
		return 0;
	}
	if (make_room(q, who) < 0)
		return -ENOMEM;
	add(q, who, ns);
	return 0;
}

uint64_t dues_of(const struct dues *q, uint32_t who)
{
	if (who >= q->whos || !q->place[who])
		return DUE_NEVER;
	return q->heap[q->place[who] - 1].ns;
}

struct due dues_first(const struct dues *q)
{
	return q->n ? q->heap[0] : (struct due){.ns = DUE_NEVER};
}

void dues_move(struct dues *q, uint32_t last, uint32_t who)
{
	uint64_t ns = dues_of(q, last);

	take_out(q, last);
	take_out(q, who);
	if (last != who && ns != DUE_NEVER) /* there is room: it waited */
		add(q, who, ns);
}

void dues_fini(struct dues *q)
{
	free(q->heap);
	free(q->place);
	*q = (struct dues){0};
}
