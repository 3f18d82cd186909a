/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prefetch.h - whether lines of a region are asked for before they are written
 * or read, and how.
 *
 * What is written scatters over gigabytes, and every store misses the caches.
 * How many misses a core has under way at once depends on its maker.
 *
 * On Intel (Sapphire Rapids) plain stores get half as many as prefetches: 21.4
 * ns each, for 10.3 where the line was asked for 64 stores before, and a loop
 * that translates Key-Write reports takes half the time when it asks for a line
 * behind each packet.
 *
 * On AMD (Zen 4) stores overlap by themselves, as many as the first cache can
 * wait for, and asking for lines into that one is no gain: behind packets,
 * reports take 1.3 to 1.9 times as long. But the second cache waits for more:
 * of lines that were asked into it 64 stores before, a store takes 3.3 ns
 * for 7.4 in 128 MB, 4.6 for 8.6 in 512 MB. In larger tables it is the search
 * for their pages that takes the time, which overlaps as far as the core looks
 * ahead: so it is to see nothing but stores, as many as it can (make bench:
 * bench_prefetch.c).
 *
 * So the maker decides, as the CPU that the program runs on names it. What is
 * written is the same either way.
 *
 * Queries look for the slots of a batch of keys and read them then. On AMD they
 * ask as they look, whatever the table's size; on Intel plain loads are already
 * at the limit.
 */
#ifndef REGION_PREFETCH_H
#define REGION_PREFETCH_H

#include <stdbool.h>
#include <stdint.h>

enum prefetch {
	PREFETCH_AUTO, /* by the CPU: on Intel on, on AMD l2, else off */
	PREFETCH_ON,
	PREFETCH_L2,
	PREFETCH_OFF,
};

/* Another way than this CPU's, for what is opened from now on: for tests and
 * measurements. */
void prefetch_set(enum prefetch how);
enum prefetch prefetch_here(void); /* which of the last three it is */

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

/* The same, and it comes no nearer than the second cache: its misses are more
 * than the first one's. */
static inline void prefetch_l2(const void *at)
{
	__builtin_prefetch(at, 0, 2);
}

/* First and last line of what is to be written: the CPU itself follows a longer
 * one. */
static inline void prefetch_lines(const uint8_t *at, uint32_t length)
{
	prefetch_line(at);
	prefetch_line(at + length - 1);
}

#endif
