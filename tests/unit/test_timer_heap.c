/* SPDX-License-Identifier: BSD-2-Clause */
/* What is put into the heap comes out by its time, and of one time in order. */
#include "base/timer_heap.h"
#include "base/rng.h"
#include "test.h"

enum {
	MOST = 500,
};

int main(void)
{
	struct timer_entry heap[MOST], last = {0};
	struct rng r = {.state = 1};
	uint32_t n = 0;

	for (uint32_t i = 0; i < MOST; i++)
		timer_heap_up(heap, n++,
			      (struct timer_entry){rng_below(&r, 100), i, i});
	while (n) {
		struct timer_entry first = heap[0];

		TEST(!timer_heap_before(&first, &last));
		last = first;
		n--;
		timer_heap_down(heap, n, 0, heap[n]);
	}
	return test_end();
}
