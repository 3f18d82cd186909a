/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * snapshot.h - regions on disk: compressed (zlib), in blocks with a checksum
 * and an index, so that one key is read without inflating the file, and damage
 * stays in its block. Format: dta-region(5).
 *
 * A snapshot is whole or absent: written aside, fsynced, renamed. "-" is
 * stdout.
 */
#ifndef SNAPSHOT_SNAPSHOT_H
#define SNAPSHOT_SNAPSHOT_H

#include <stdint.h>

#include "base/fault.h"
#include "query/query.h"
#include "store/region.h"

struct snapshot;

/* Progress: bytes done of all. */
typedef void snapshot_progress(void *ctx, uint64_t done, uint64_t all);

/* Writes the epochs first..last of a region. */
int snapshot_write(const struct region *r, uint64_t first, uint64_t last,
		   const char *path, snapshot_progress *tick, void *ctx,
		   struct fault *f);

int snapshot_open(struct snapshot **out, const char *path, struct fault *f);
void snapshot_close(struct snapshot *s);

unsigned snapshot_tables(const struct snapshot *s);
const struct table *snapshot_table(const struct snapshot *s, unsigned i);
const struct table *snapshot_pick(const struct snapshot *s, int kind,
				  const char *name_or_id, struct fault *f);
uint64_t snapshot_oldest(const struct snapshot *s);
uint64_t snapshot_newest(const struct snapshot *s);
const uint32_t *snapshot_values(const struct snapshot *s,
				const struct table *t);

/* A view of a table in an epoch; read() gives -EBADMSG in a damaged block. */
void snapshot_view(struct view *out, struct snapshot *s, const struct table *t,
		   uint64_t epoch);

/* Blocks in all, and damaged ones, after reading every one. */
int snapshot_verify(struct snapshot *s, uint64_t *blocks, uint64_t *damaged,
		    struct fault *f);

/* As region_digest() gives it; -EBADMSG if a block is damaged. */
int snapshot_digest(struct snapshot *s, const struct table *t, uint64_t epoch,
		    uint32_t *out);

/* Makes the region again under a new name. Damaged blocks stay zero and are
 * counted; with any, returns -EBADMSG after the readable rest is restored. */
int snapshot_restore(struct snapshot *s, const char *name,
		     const struct region_options *o, uint64_t *damaged,
		     struct fault *f);

#endif
