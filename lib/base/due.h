/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * due.h - what comes next: a heap of times in an array of the caller's, where
 * there is room. Of one time the lowest order is first, so that a run is the
 * same each time.
 */
#ifndef BASE_DUE_H
#define BASE_DUE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	HEAP_WAYS = 4, /* children of a node: four are in one line of a cache */
};

struct due {
	uint64_t ns;
	uint32_t who;
	uint32_t order; /* of those of one time; wraps */
};

/* Wrapped numbers compare right while less than 2^31 lie between them. */
static inline bool heap_before(const struct due *a, const struct due *b)
{
	if (a->ns != b->ns)
		return a->ns < b->ns;
	return (int32_t)(a->order - b->order) < 0;
}

/* Puts d at i, or as far up from there as it belongs. */
static inline void heap_up(struct due *heap, uint32_t i, struct due d)
{
	for (uint32_t up; i; i = up) {
		up = (i - 1) / HEAP_WAYS;
		if (!heap_before(&d, &heap[up]))
			break;
		heap[i] = heap[up];
	}
	heap[i] = d;
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
static inline void heap_down(struct due *heap, uint32_t n, uint32_t i,
			     struct due d)
{
	uint32_t child;

	while ((child = heap_least(heap, n, i)) &&
	       heap_before(&heap[child], &d)) {
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = d;
}

#endif
