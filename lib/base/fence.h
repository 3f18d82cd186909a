/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fence.h - memory fences (C11 7.17.4), for numbers that say whether what was
 * read between two looks at them holds: of memory that other processes write,
 * too.
 *
 * ThreadSanitizer does not know them, and gcc refuses to build both. For it, an
 * addition to a local variable stands in: on its machines that is in order with
 * all before and behind it, and it hides no race, since it says nothing of
 * other threads.
 */
#ifndef BASE_FENCE_H
#define BASE_FENCE_H

static inline void fence(int order)
{
#ifdef __SANITIZE_THREAD__
	int own = 0;

	__atomic_fetch_add(&own, 1, order);
#else
	__atomic_thread_fence(order);
#endif
}

/* What was loaded before is loaded before all that follows. */
static inline void fence_loads(void)
{
	fence(__ATOMIC_ACQUIRE);
}

/* All before is seen before all that follows. */
static inline void fence_all(void)
{
	fence(__ATOMIC_SEQ_CST);
}

#endif
