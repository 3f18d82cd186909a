/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * block.h - rows on their way to a database: a block of
 * bytes in a driver's own form, or of items, for those that send rows one by
 * one.
 */
#ifndef QUEUE_BLOCK_H
#define QUEUE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

struct outbuf;

/* Rows in a driver's form. What a spool holds has been written by an earlier
 * version of the program perhaps, or by anybody: send() checks it. */
struct block {
	struct block *next;
	char *bytes;
	size_t len;
	size_t at;	/* where the rows begin which are not sent */
	uint32_t rows;	/* not sent yet */
	bool spooled;	/* it is in the spool, too */
	size_t charged; /* bytes that count as queued for it */
};

/* What became of rows in one call. */
struct tally {
	uint64_t written, refused;
	struct fault why; /* of those refused, the first */
};

/* The rest of a block is refused, for this reason. */
void block_refuse(struct block *b, struct tally *t, const char *why);

/* The rest of a block is written. */
static inline void block_written(struct block *b, struct tally *t)
{
	t->written += b->rows;
	b->rows = 0;
	b->at = b->len;
}

/*
 * A row with its key. In a block, machine's order (it does not leave it):
 *
 *	key_len 4 | len 4 | parts 4 | key | payload of len bytes
 */
struct item {
	const char *key, *payload;
	uint32_t key_len, len;
	uint32_t parts; /* of the payload, as the driver counts */
};

void item_put(struct outbuf *o, const struct item *i);

/* The item at *at, which moves behind it. 1; 0: there are no more; -EBADMSG:
 * it is not whole. */
int item_next(struct item *out, const struct block *b, size_t *at);

/* Takes those items out of a block whose keep is false; rows is what is left,
 * n, how many there were, at its beginning. */
void items_keep(struct block *b, const bool *keep, uint32_t n);

#endif
