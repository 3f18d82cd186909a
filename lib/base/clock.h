/* SPDX-License-Identifier: BSD-2-Clause */
/* clock.h - the system's clocks in nanoseconds. */
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

/* Never goes back; counts from an arbitrary moment. */
static inline uint64_t clock_ns(void)
{
	return clock_of(CLOCK_MONOTONIC);
}

static inline uint64_t clock_ms(void)
{
	return clock_ns() / 1000000;
}

/* clock_ns() as of the kernel's last timer tick: cheaper to read. */
static inline uint64_t clock_coarse_ns(void)
{
	return clock_of(CLOCK_MONOTONIC_COARSE);
}

/* Never goes back; counts from boot, including time in suspend. */
static inline uint64_t clock_boot_ns(void)
{
	return clock_of(CLOCK_BOOTTIME);
}

/* Since 1970 (UTC), as in captures; may jump if the time is set. */
static inline uint64_t clock_wall_ns(void)
{
	return clock_of(CLOCK_REALTIME);
}

#endif
