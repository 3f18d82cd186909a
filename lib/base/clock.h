/* SPDX-License-Identifier: BSD-2-Clause */
/* clock.h - what time it is. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_of(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Never goes back, from any beginning. */
static inline uint64_t clock_ns(void)
{
	return clock_of(CLOCK_MONOTONIC);
}

static inline uint64_t clock_ms(void)
{
	return clock_ns() / 1000000;
}

/* The same to a tick of the kernel, at less cost. */
static inline uint64_t clock_coarse_ns(void)
{
	return clock_of(CLOCK_MONOTONIC_COARSE);
}

/* Never goes back either, and goes on while the host is suspended. */
static inline uint64_t clock_boot_ns(void)
{
	return clock_of(CLOCK_BOOTTIME);
}

/* Since 1970 (UTC), as in captures; the administrator may set it. */
static inline uint64_t clock_wall_ns(void)
{
	return clock_of(CLOCK_REALTIME);
}

#endif
