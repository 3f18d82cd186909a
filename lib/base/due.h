/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * due.h - who is to be seen to next: a heap of times, one for each of those who
 * wait, whom small numbers tell apart. Of one time the lowest number is first,
 * so that a run is the same each time.
 */
#ifndef BASE_DUE_H
#define BASE_DUE_H

#include <stdbool.h>
#include <stdint.h>

#define DUE_NEVER UINT64_MAX

enum {
	HEAP_WAYS = 4, /* children of a node: four are in one line of a cache */
};

struct due {
	uint64_t ns;
	uint32_t who;
	uint32_t order; /* of those of one time; wraps */
};

/* Zeros to begin with. */
struct dues {
	struct due *heap;
	uint32_t *place; /* of who: in heap, from 1; 0: does not wait */
	uint32_t n, room, whos;
};

/* At another time, or DUE_NEVER. 0 or -ENOMEM. */
int dues_set(struct dues *q, uint32_t who, uint64_t ns);
/* When; DUE_NEVER: not at all. */
uint64_t dues_of(const struct dues *q, uint32_t who);
/* The first one; ns DUE_NEVER: nobody waits. */
struct due dues_first(const struct dues *q);
/* Who has the last number is known by another one now, who has gone. */
void dues_move(struct dues *q, uint32_t last, uint32_t who);
void dues_fini(struct dues *q);

/*
 * The heap itself, for those who keep one in an array of their own, where there
 * is room. place[who] is kept, from 1, if there is one: where in the array that
 * one is. These are inline so that without places they cost nothing.
 */

/* Wrapped numbers compare right while less than 2^31 lie between them. */
static inline bool heap_before(const struct due *a, const struct due *b)
{
	if (a->ns != b->ns)
		return a->ns < b->ns;
	return (int32_t)(a->order - b->order) < 0;
}

static inline void heap_put(struct due *heap, uint32_t *place, uint32_t i,
			    struct due d)
{
	heap[i] = d;
	if (place)
		place[d.who] = i + 1;
}

/* Puts d at i, or as far up from there as it belongs. */
static inline void heap_up(struct due *heap, uint32_t *place, uint32_t i,
			   struct due d)
{
	for (uint32_t up; i; i = up) {
		up = (i - 1) / HEAP_WAYS;
		if (!heap_before(&d, &heap[up]))
			break;
		heap_put(heap, place, i, heap[up]);
	}
	heap_put(heap, place, i, d);
}

/* The earliest child of a node, of n in all, or 0. */
static inline uint32_t heap_least(const struct due *heap, uint32_t n,
				  uint32_t i)
{
	uint32_t first = HEAP_WAYS * i + 1, last = first + HEAP_WAYS,
		 best = first;

	if (first >= n)
		return 0;
	if (last > n)
		last = n;
	for (uint32_t c = first + 1; c < last; c++)
		if (heap_before(&heap[c], &heap[best]))
			best = c;
	return best;
}

/* Puts d at i, or as far down from there as it belongs. */
static inline void heap_down(struct due *heap, uint32_t *place, uint32_t n,
			     uint32_t i, struct due d)
{
	uint32_t child;

	while ((child = heap_least(heap, n, i)) &&
	       heap_before(&heap[child], &d)) {
		heap_put(heap, place, i, heap[child]);
		i = child;
	}
	heap_put(heap, place, i, d);
}

#endif
