/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * timer_heap.h - timers in a heap, the earliest first. The heap is the caller's
 * array, which the caller makes large enough. Among timers of the same time the
 * lowest order is first, so that every run is the same.
 */
#ifndef BASE_TIMER_HEAP_H
#define BASE_TIMER_HEAP_H

#include <stdbool.h>
#include <stdint.h>

enum {
	/* Children of a node: together they are as large as a cache line. */
	TIMER_HEAP_WAYS = 4,
};

struct timer_entry {
	uint64_t ns;
	uint32_t id;	/* the caller's identifier */
	uint32_t order; /* among timers of the same time; wraps */
};

/* Wrapped numbers compare right while less than 2^31 lie between them. */
static inline bool timer_heap_before(const struct timer_entry *a,
				     const struct timer_entry *b)
{
	if (a->ns != b->ns)
		return a->ns < b->ns;
	return (int32_t)(a->order - b->order) < 0;
}

/* Puts an entry at i, or as far up from there as it belongs. */
static inline void timer_heap_up(struct timer_entry *heap, uint32_t i,
				 struct timer_entry entry)
{
	for (uint32_t up; i; i = up) {
		up = (i - 1) / TIMER_HEAP_WAYS;
		if (!timer_heap_before(&entry, &heap[up]))
			break;
		heap[i] = heap[up];
	}
	heap[i] = entry;
}

/* The earliest child of node i in a heap of n nodes; 0: it has none. */
static inline uint32_t timer_heap_least(const struct timer_entry *heap,
					uint32_t n, uint32_t i)
{
	uint32_t first = TIMER_HEAP_WAYS * i + 1,
		 last = first + TIMER_HEAP_WAYS, best = first;

	if (first >= n)
		return 0;
	if (last > n)
		last = n;
	for (uint32_t c = first + 1; c < last; c++)
		if (timer_heap_before(&heap[c], &heap[best]))
			best = c;
	return best;
}

/* Puts an entry at i, or as far down from there as it belongs. */
static inline void timer_heap_down(struct timer_entry *heap, uint32_t n,
				   uint32_t i, struct timer_entry entry)
{
	uint32_t child;

	while ((child = timer_heap_least(heap, n, i)) &&
	       timer_heap_before(&heap[child], &entry)) {
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = entry;
}

#endif
