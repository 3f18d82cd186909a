/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * snapshot.h - regions on disk: compressed (zlib), in blocks with a checksum
 * and an index, so that one key is read without inflating the file, and damage
 * stays in its block. Format: dta-region(5).
 *
 * A snapshot is whole or absent (base/atomic_file.h); "-" is stdout.
 */
#ifndef REGION_SNAPSHOT_H
#define REGION_SNAPSHOT_H

#include <stdint.h>

#include "base/error.h"
#include "region/region.h"

struct snapshot;

/* Writes the epochs first..last of a region. */
int snapshot_write(const struct region *r, uint64_t first, uint64_t last,
		   const char *path, struct error *err);

int snapshot_open(struct snapshot **out, const char *path, struct error *err);
void snapshot_close(struct snapshot *s);

/* The snapshot as struct memory: memory_close() is snapshot_close(). Loads give
 * -EBADMSG in a damaged block. */
struct memory *snapshot_memory(struct snapshot *s);

/* Reads every block; how many there are, and how many of them are damaged. */
int snapshot_verify(struct snapshot *s, uint64_t *blocks, uint64_t *damaged,
		    struct error *err);

/* Makes the region again under a new name. -EBADMSG: a block is damaged, and no
 * region is made. */
int snapshot_restore(struct snapshot *s, const char *name,
		     const struct region_options *o, struct error *err);

#endif
