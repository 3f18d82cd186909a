/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory.h - one interface to the memory of a collector, wherever it is: a
 * mapped region (region_memory()), a snapshot (snapshot_memory()), a region on
 * another machine, read with RDMA READ (verbs_memory()) or over a link
 * (region/far.h). Each gives the bytes of tables in epochs.
 *
 * A query takes a struct table_view of a table in an epoch. If the table is
 * mapped, the view points at it; else its bytes are loaded by memory_load().
 * Each load of far memory takes a round trip. Loads whose offsets do not depend
 * on earlier ones go in batches:
 *
 *	memory_plan(m);		load; load; ...  each is noted, and reads as 0
 *	memory_fetch(m);	all of them are read, at once
 *	load; load; ...		the same ones, in the same order
 *	memory_done(m);
 *
 * Errors:  0 or -errno; of a load -EBADMSG: a damaged block; -ERANGE: outside
 *          the table, or no such epoch in a snapshot; others: far memory that
 *          can no longer be read, see memory_broken().
 * Epochs:  a writer may clear an epoch while it is read: what was read is void
 *          if memory_renew() then sets m->oldest above it.
 * Threads: none; a memory belongs to one caller.
 */
#ifndef REGION_MEMORY_H
#define REGION_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "region/table.h"

/*
 * Whether lines of a region are asked for before they are written or read.
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

struct memory;

/* Bytes of a table in an epoch, and where they go. */
struct memory_read {
	const struct table *t;
	uint64_t epoch, offset; /* in the table */
	size_t length;
	void *to;
	int rc; /* how it went */
};

struct memory_ops {
	/* In the order of r where order can be observed. All within tables. */
	void (*read)(struct memory *m, struct memory_read *r, size_t n);
	/* A table's first byte where it is mapped; NULL: nowhere. */
	const uint8_t *(*direct)(struct memory *m, const struct table *t,
				 uint64_t epoch);
	int (*renew)(struct memory *m); /* NULL: epochs never change */
	const char *(*broken)(const struct memory *m); /* NULL: never is */
	void (*close)(struct memory *m);
};

/* Loads that are noted, then read at once, then answered from here. */
struct memory_batch {
	enum {
		MEMORY_NOW,
		MEMORY_PLAN,
		MEMORY_FETCHED,
	} state;
	struct memory_read *read;
	size_t n, room, next;
	uint8_t *bytes;
	size_t used;
	bool full; /* there was no memory for all of it */
};

struct memory {
	const char *path; /* for messages */
	const struct table *table;
	unsigned tables;
	uint64_t oldest, newest; /* epochs, as of the last memory_renew() */
	bool far;		 /* a load takes a round trip */
	const uint8_t *values;	 /* V sets: the file's bytes at values_at;
				    NULL: not read */
	uint64_t values_at;
	const struct memory_ops *ops;
	struct memory_batch batch;
};

struct table_view {
	const struct table *t;
	const uint32_t *values; /* V set of a postcard table, or NULL */
	const uint8_t *mem;	/* the whole table; NULL: memory_load() */
	struct memory *memory;
	uint64_t epoch;
};

void memory_close(struct memory *m); /* NULL is fine */

/* Brings the epochs up to date. 0 or -errno: it cannot be read any more. */
int memory_renew(struct memory *m);

/* Why it cannot be read any more; NULL: it can. */
const char *memory_broken(const struct memory *m);

/* A table of m in an epoch. */
void memory_view(struct table_view *out, struct memory *m,
		 const struct table *t, uint64_t epoch);

/* Reads many at once. 0, or the first r[i].rc that is not 0. If one lies
 * outside its table, none is read. */
int memory_read(struct memory *m, struct memory_read *r, size_t n);

/* Copies len bytes at offset of the view's table into buf. */
int memory_load(const struct table_view *v, uint64_t offset, void *buf,
		size_t len);

void memory_plan(struct memory *m);
void memory_fetch(struct memory *m);
void memory_done(struct memory *m);

/* A checksum (CRC-32C) of a table's bytes in an epoch. */
int memory_digest(struct memory *m, const struct table *t, uint64_t epoch,
		  uint32_t *out);

#endif
