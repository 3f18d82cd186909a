/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spool.h - blocks, in order, until they are sent: in memory, or in files.
 *
 * A directory of files NUMBER.spool, in hexadecimal, the oldest has the lowest;
 * each is a block, little-endian:
 *
 *	"DTSB" | rows 4 | length 4 | CRC-32 of rows, length, block 4 | block
 *
 * A file goes when its block is sent. One that is damaged, or was cut by a
 * crash, is found out when it is read: it is dropped, and its rows are told.
 * The files are synced at close, not before: a machine that loses its power
 * loses what the kernel had not written.
 *
 * Threads: one appends, one reads.
 */
#ifndef EXPORT_SPOOL_H
#define EXPORT_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct export_block;
struct spool;

/*
 * Opens the spool of that name in a directory; both are made. NULL: blocks stay
 * in memory. size: bytes that it may hold; one block may be more. -EBUSY:
 * another process has it open. *found: rows in it.
 */
int spool_open(struct spool **out, const char *dir, const char *name,
	       uint64_t size, uint64_t *found, struct error *err);

/* 0: the block is the spool's; or -errno with err set, which names the file:
 * -ENOSPC, the disk is full, or the spool holds as much as it may. */
int spool_append(struct spool *s, struct export_block *b, struct error *err);

/*
 * The oldest block, which is the spool's: 1; 0: there is none; -EBADMSG: its
 * file is damaged or gone, and so are *lost rows; or -errno. It stays until
 * spool_done() of it.
 */
int spool_next(struct spool *s, struct export_block **out, uint64_t *lost);
void spool_done(struct spool *s);

/* Rows that are not sent: as many as when their blocks were put. */
uint64_t spool_rows(struct spool *s);

/* NULL is fine. */
void spool_close(struct spool *s);

#endif
