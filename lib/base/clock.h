/* SPDX-License-Identifier: BSD-2-Clause */
/* clock.h - a clock that never goes back, from any beginning. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline uint64_t clock_ms(void)
{
	return clock_ns() / 1000000;
}

#endif
