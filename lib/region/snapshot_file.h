/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * snapshot_file.h - private to this room: a snapshot's file (dta-region(5)).
 *
 *	struct snapshot_header
 *	struct region_header      of the region, as it was
 *	V sets                    as in the region
 *	blocks                    struct snapshot_block and packed bytes, each
 *	index                     struct snapshot_entry for each block there is
 *	struct snapshot_trailer   at the very end
 *
 * A block is 64 KiB of one table in one epoch (the last one of a table is
 * shorter), deflated, or as it is where that is not longer. Blocks that are all
 * zero have no bytes: a run of them is one struct snapshot_block. Blocks are
 * numbered through: epoch by epoch, table by table.
 *
 * All in the byte order of the machine that made it.
 */
#ifndef REGION_SNAPSHOT_FILE_H
#define REGION_SNAPSHOT_FILE_H

#include <stdint.h>

#include <zlib.h>

#include "region/region_file.h"
#include "region/snapshot.h"

enum {
	SNAPSHOT_VERSION = REGION_VERSION, /* equal so far */
	SNAPSHOT_BLOCK = 64 << 10,
	/* Inflated blocks kept, 128 MiB: keys are scattered, and to inflate a
	 * block for each of them takes a hundred times as long. */
	SNAPSHOT_CACHE = 2048,
};

extern const char snapshot_block_magic[4];

struct snapshot_header {
	char magic[8];
	uint32_t order;	      /* REGION_ORDER */
	uint32_t version;     /* SNAPSHOT_VERSION */
	uint32_t block;	      /* SNAPSHOT_BLOCK */
	uint32_t crc;	      /* CRC-32C of all up to data_at, this field 0 */
	uint64_t data_at;     /* of the first block */
	uint64_t first, last; /* epochs */
	uint64_t blocks;
	uint8_t reserved[8];
};

_Static_assert(sizeof(struct snapshot_header) == 64, "the snapshot format");

struct snapshot_block {
	char magic[4];
	uint32_t crc;	 /* CRC-32C of this struct, this field 0 */
	uint64_t number; /* of the first block */
	uint64_t count;	 /* blocks: 1, or a run of zero blocks of one table */
	uint32_t packed; /* bytes that follow; 0: the blocks are all zero */
	uint32_t sum;	 /* CRC-32C of them */
};

_Static_assert(sizeof(struct snapshot_block) == 32, "the snapshot format");

struct snapshot_entry {
	uint64_t at;	 /* of the packed bytes in the file */
	uint32_t packed; /* 0: all zero */
	uint32_t sum;
};

_Static_assert(sizeof(struct snapshot_entry) == 16, "the snapshot format");

struct snapshot_trailer {
	uint64_t index_at;
	uint64_t blocks;
	uint32_t index_crc; /* CRC-32C of the index */
	uint32_t crc;	    /* CRC-32C of this struct before this field */
	char magic[8];
};

_Static_assert(sizeof(struct snapshot_trailer) == 32, "the snapshot format");

/* What a block holds: so many bytes of a table in an epoch. */
struct snapshot_place {
	uint64_t epoch;
	unsigned table;
	uint64_t offset; /* in the table */
	uint32_t length;
};

/* Which blocks there are: the same for writing and reading. */
struct snapshot_plan {
	const struct region_header *h;
	uint64_t first, last;
	/* Each table's first block in an epoch; then an epoch's blocks. */
	uint64_t start[TABLE_MAX + 1];
	uint64_t blocks; /* in all epochs */
};

struct snapshot_place snapshot_place(const struct snapshot_plan *p,
				     uint64_t block);

uint32_t snapshot_header_crc(const struct snapshot_header *h,
			     const struct region_header *r,
			     const uint8_t *values);
uint32_t snapshot_block_crc(const struct snapshot_block *b);
uint32_t snapshot_trailer_crc(const struct snapshot_trailer *t);

struct snapshot_cached {
	uint64_t block; /* UINT64_MAX: none */
	uint8_t *data;
};

struct snapshot {
	struct memory memory; /* snapshot_memory() */
	int fd;
	char *path;
	uint64_t size;
	struct snapshot_header head;
	struct region_header h;
	uint8_t *values;
	struct snapshot_plan plan;
	struct snapshot_entry *index; /* entries with at 0: damaged blocks */
	struct snapshot_cached cache[SNAPSHOT_CACHE];
	uint8_t *packed; /* room for a block's bytes */
	z_stream z;
	bool z_open;
};

/* Inflates a block into out (snapshot_place().length bytes). 0 or -errno. */
int snapshot_block_read(struct snapshot *s, uint64_t block, uint8_t *out);

#endif
