/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prefetch.h - whether lines of memory are asked for before they are written,
 * and how.
 *
 * What is written scatters over gigabytes, and every store misses the caches.
 * How many misses a core has under way at once depends on its maker. On Intel
 * (Sapphire Rapids) plain stores get half as many as prefetches: 21.4 ns each,
 * for 10.3 where the line was asked for 64 stores before, and a loop that
 * translates Key-Write reports takes half the time. On AMD (Zen 4) stores
 * overlap by themselves, and with the same prefetches reports take 1.3 to 1.9
 * times as long (make bench: bench_prefetch.c).
 *
 * So the maker decides, as the CPU that the program runs on names it; unless
 * the user says something else. What is written is the same either way.
 */
#ifndef OP_PREFETCH_H
#define OP_PREFETCH_H

#include <stdbool.h>
#include <stdint.h>

enum prefetch {
	PREFETCH_AUTO, /* on Intel */
	PREFETCH_ON,
	PREFETCH_OFF,
};

extern const char *const prefetch_names[]; /* in this order, then NULL */

/* For roads that are opened from now on; not while others open some. */
void prefetch_set(enum prefetch how);
bool prefetch_is_on(void);

/* The line is to be written. Never faults, wherever at is. */
static inline void prefetch_line(const void *at)
{
#ifdef __x86_64__
	/* Compilers make a load's prefetch of theirs, unless they are told that
	 * all CPUs have this one. Those which do not take it as a no-op. */
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)at));
#else
	__builtin_prefetch(at, 1);
#endif
}

/* First and last line of what is to be written: the CPU itself follows a longer
 * one. */
static inline void prefetch_lines(const uint8_t *at, uint32_t length)
{
	prefetch_line(at);
	prefetch_line(at + length - 1);
}

#endif
