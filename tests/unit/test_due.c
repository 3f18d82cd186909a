/* SPDX-License-Identifier: BSD-2-Clause */
/* What is put into the heap comes out by its time, and of one time in order. */
#include "base/due.h"
#include "base/rng.h"
#include "test.h"

enum {
	MOST = 500,
};

int main(void)
{
	struct due heap[MOST], last = {0};
	struct rng r = {.state = 1};
	uint32_t n = 0;

	for (uint32_t i = 0; i < MOST; i++)
		heap_up(heap, n++, (struct due){rng_below(&r, 100), i, i});
	while (n) {
		struct due first = heap[0];

		TEST(!heap_before(&first, &last));
		last = first;
		n--;
		heap_down(heap, n, 0, heap[n]);
	}
	return test_end();
}
