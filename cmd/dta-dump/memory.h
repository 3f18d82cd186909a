/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory.h - a region or a snapshot: tables in epochs.
 */
#ifndef DUMP_MEMORY_H
#define DUMP_MEMORY_H

#include "dump.h"
#include "store/region.h"
#include "snapshot/snapshot.h"

struct memory {
	const char *name; /* of the file */
	struct region *region;
	struct snapshot *snapshot;
	uint64_t oldest, newest; /* epochs that are there */
	uint64_t first, last;	 /* epochs that are asked for */
};

/* Opens one of the two, with the epochs that o asks for. Exits on failure. */
void memory_open(struct memory *m, const char *region, const char *snapshot,
		 const struct opts *o);
void memory_close(struct memory *m);

unsigned memory_tables(const struct memory *m);
const struct table *memory_table(const struct memory *m, unsigned i);

/* Whether --table leaves it in. */
bool memory_wanted(const struct opts *o, const struct table *t);

/* Exits if --table names none. */
void memory_check_table(const struct memory *m, const struct opts *o);

void memory_view(struct view *out, const struct memory *m,
		 const struct table *t, uint64_t epoch);

/*
 * Calls each() with every unit of a table (slot, chunk, counter, entry of all
 * rings) whose bytes are not all zero. Returns how many could not be read.
 */
typedef void memory_unit(void *ctx, uint64_t unit, const uint8_t *bytes);
uint64_t memory_scan(const struct view *v, memory_unit *each, void *ctx);

/* The rows of --slots and --lists. Each returns units (lists) not readable. */
uint64_t memory_slots(const struct memory *m, const struct opts *o);
uint64_t memory_lists(const struct memory *m, const struct opts *o);

#endif
