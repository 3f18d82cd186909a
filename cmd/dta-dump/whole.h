/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * whole.h - all of a region or a snapshot: the tables in their epochs, and what
 * is known of the file.
 */
#ifndef DUMP_WHOLE_H
#define DUMP_WHOLE_H

#include "dump.h"
#include "query/load.h"
#include "store/region.h"
#include "snapshot/snapshot.h"

struct whole {
	const char *name; /* of the file */
	struct memory *memory;
	struct region *region;	   /* facts of the file: of the one, */
	struct snapshot *snapshot; /* or of the other */
	uint64_t first, last;	   /* epochs that are asked for */
};

/* Opens one of the two, with the epochs that o asks for. Exits on failure. */
void whole_open(struct whole *w, const char *region, const char *snapshot,
		const struct opts *o);
void whole_close(struct whole *w);

/*
 * Goes through the tables that --table leaves in, epoch by epoch, newest first:
 * begin with v->t NULL; false behind the last, or when told to stop.
 */
bool whole_next(const struct whole *w, const struct opts *o, struct view *v);

/* view_scan(), until told to stop. Returns how many could not be read. */
uint64_t whole_scan(const struct view *v, view_unit *each, void *ctx);

/* The rows of --slots and --lists. Each returns units (lists) not readable. */
uint64_t whole_slots(const struct whole *w, const struct opts *o);
uint64_t whole_lists(const struct whole *w, const struct opts *o);

#endif
