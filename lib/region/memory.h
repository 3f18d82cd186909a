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
 * Whether a region's cache lines are prefetched before they are written or
 * read.
 *
 * What is written scatters over gigabytes, and every store misses the caches.
 * How many misses a core has under way at once depends on its maker.
 *
 * On Intel (Sapphire Rapids) stores alone have half as many as prefetches: 21.4
 * ns each, and 10.3 if the line was prefetched 64 stores before. A loop that
 * translates Key-Write reports takes half the time if it prefetches a line
 * after each packet.
 *
 * On AMD (Zen 4) stores overlap by themselves, as many as the L1 cache can have
 * misses, and a prefetch into L1 only costs: one after each packet makes
 * reports take 1.3 to 1.9 times as long. But L2 can have more misses: if the
 * line was prefetched into L2 64 stores before, a store takes 3.3 ns instead
 * of 7.4 in 128 MB, and 4.6 instead of 8.6 in 512 MB. In larger tables TLB
 * misses take the time. They overlap as far as the core looks ahead, which is
 * farthest in a loop of nothing but stores (make bench: bench_prefetch.c).
 *
 * So the CPU's maker decides. What is written is the same either way.
 *
 * Queries first work out the slots of a batch of keys, then read them. On AMD
 * they prefetch in the first step, whatever the table's size; on Intel loads
 * alone are already at the limit.
 */

enum prefetch {
	PREFETCH_AUTO, /* by the CPU: on Intel on, on AMD l2, else off */
	PREFETCH_ON,
	PREFETCH_L2,
	PREFETCH_OFF,
};

/* Overrides the CPU's choice, for what is opened from now on: for tests and
 * measurements. */
void prefetch_set(enum prefetch how);
enum prefetch prefetch_here(void); /* the choice: never PREFETCH_AUTO */

/* Prefetches a line that is to be written. Never faults, wherever at is. */
static inline void prefetch_line(const void *at)
{
#ifdef __x86_64__
	/* From __builtin_prefetch() compilers make a prefetch for loads, unless
	 * told that the CPU has PREFETCHW. To other CPUs it is a no-op. */
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)at));
#else
	__builtin_prefetch(at, 1);
#endif
}

/* Prefetches a line into the L2 cache, not into L1, which can have fewer misses
 * under way. */
static inline void prefetch_l2(const void *at)
{
	__builtin_prefetch(at, 0, 2);
}

/* Prefetches the first and last line of what is to be written. The CPU's own
 * prefetcher gets those between. */
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
	int rc; /* result: 0 or -errno */
};

struct memory_ops {
	/* Reads all n, in order if writers may be at work. All in range. */
	void (*read)(struct memory *m, struct memory_read *r, size_t n);
	/* A table's first byte if it is mapped, else NULL. The function is
	 * NULL where no table is mapped. */
	const uint8_t *(*direct)(struct memory *m, const struct table *t,
				 uint64_t epoch);
	int (*renew)(struct memory *m); /* NULL: epochs never change */
	const char *(*broken)(const struct memory *m); /* NULL: never is */
	void (*close)(struct memory *m);
};

/* Loads between memory_plan() and memory_done(). */
struct memory_batch {
	enum {
		MEMORY_NOW,
		MEMORY_PLAN,
		MEMORY_FETCHED,
	} state;
	struct memory_read *read;
	size_t n, room, next; /* of read[]: in use, allocated, answered */
	uint8_t *bytes;	      /* what was read */
	size_t used;	      /* its length */
	bool full;	      /* there was no memory for all of it */
};

struct memory {
	const char *path; /* for messages */
	const struct table *table;
	unsigned tables;
	uint64_t oldest, newest; /* epochs, as of the last memory_renew() */
	bool far;		 /* a load takes a round trip */
	const uint8_t *values;	 /* the file's V sets; NULL: not read */
	uint64_t values_at;	 /* their offset in the file */
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

/* Sets oldest and newest again. 0; -errno: m cannot be read any more. */
int memory_renew(struct memory *m);

/* Why m cannot be read any more; NULL: it can. */
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
