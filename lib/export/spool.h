/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spool.h - keeps blocks in order until they are sent: in memory, or in files
 * (private to this room).
 *
 * The files are NUMBER.spool in a directory. NUMBER is hexadecimal, and the
 * oldest file has the lowest. A file holds a block, little-endian, sizes in
 * bytes:
 *
 *	"DTSB" | rows 4 | length 4 | CRC-32 of rows, length, block 4 | block
 *
 * A file is removed when its block is sent. One that is damaged, or was cut by
 * a crash, is found when it is read: it is removed, and its rows are reported
 * as lost. Files are synced at close, not before: a machine that loses its
 * power loses what the kernel had not written.
 *
 * Threads: one appends, one reads.
 */
#ifndef EXPORT_SPOOL_H
#define EXPORT_SPOOL_H

#include <stdint.h>

#include "base/error.h"

struct export_block;
struct spool;

/*
 * Opens the spool of that name in dir, and makes both if missing. dir NULL:
 * blocks stay in memory. size: bytes that it may hold; one block may be more.
 * *found: rows in it. 0 or -errno with err set; -EBUSY: another process has it
 * open.
 */
int spool_open(struct spool **out, const char *dir, const char *name,
	       uint64_t size, uint64_t *found, struct error *err);

/* Appends a block. 0: the spool owns it now; or -errno with err set: -ENOSPC,
 * the disk is full, or the spool holds as much as it may. */
int spool_append(struct spool *s, struct export_block *b, struct error *err);

/* Finds the oldest block, which the spool goes on to own. 1; 0: there is none;
 * -EBADMSG: its file is damaged or gone, and *lost rows with it; or -errno. The
 * block stays the oldest until spool_done() removes it. */
int spool_next(struct spool *s, struct export_block **out, uint64_t *lost);
void spool_done(struct spool *s);

/* Rows in the spool. A block that is sent in part counts whole. */
uint64_t spool_rows(struct spool *s);

/* NULL is fine. */
void spool_close(struct spool *s);

#endif
