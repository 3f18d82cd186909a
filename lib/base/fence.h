/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fence.h - memory fences (C11 7.17.4) for data with a sequence number. A
 * reader loads the number, the data, and the number again; the data is whole if
 * both numbers are the same. The writer may be another process.
 *
 * ThreadSanitizer does not know fences, and gcc refuses to build both. For it,
 * an atomic addition to a local variable stands in. The processor orders all
 * loads and stores around that, and it hides no race from the sanitizer, since
 * no other thread has the variable.
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

/* Loads before it are done before all loads and stores behind it. */
static inline void fence_loads(void)
{
	fence(__ATOMIC_ACQUIRE);
}

/* Every thread sees the loads and stores before it before those behind it. */
static inline void fence_all(void)
{
	fence(__ATOMIC_SEQ_CST);
}

#endif
