/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * batch.h - rows of one schema that own their bytes: they can be queued, and
 * sent elsewhere by another thread. Memory is kept from one filling to the
 * next; nothing is allocated for a row once a batch has been as large.
 *
 * Errors: sticky, -ENOMEM in err; rows that found no room are not there.
 */
#ifndef ROW_BATCH_H
#define ROW_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "row/schema.h"

enum {
	ROW_NULL = 255, /* kind of a cell that was not set */
};

struct row_cell {
	uint8_t kind; /* enum row_type, or ROW_NULL */
	union {
		uint64_t u64;
		int64_t i64; /* ROW_TIME, too */
		double f64;
		struct {
			uint32_t at, len; /* in bytes[]: len bytes, or numbers
					     of a list; a text ends with NUL */
		};
	};
};

struct row_batch {
	const struct schema *schema; /* outlives the batch */
	unsigned rows;		     /* complete ones */
	unsigned room;		     /* for so many, and the one in hand */
	struct row_cell *cells;	     /* row by row */
	struct row_cell *hand;	     /* the row in hand, behind them */
	uint8_t *bytes;
	size_t used, size; /* of bytes */
	int err;
};

/* An empty batch with room for some rows. 0 or -ENOMEM. */
int row_batch_init(struct row_batch *b, const struct schema *s, unsigned room);
void row_batch_fini(struct row_batch *b);

/* Forgets all rows, keeps the memory. */
void row_batch_clear(struct row_batch *b);

/* Moves the rows into an uninitialised batch; b is empty then, and may be
 * filled again. 0, or -ENOMEM: nothing has moved. */
int row_batch_take(struct row_batch *to, struct row_batch *b);
/* The same, but b keeps them. */
int row_batch_copy(struct row_batch *to, const struct row_batch *b);

/*
 * Set the fields of the row in hand, in any order; those not set are null.
 * What is pointed at is copied. field < schema->n.
 */
void row_batch_str(struct row_batch *b, unsigned field, const char *v);
void row_batch_bytes(struct row_batch *b, unsigned field, const void *data,
		     size_t len);
void row_batch_list(struct row_batch *b, unsigned field, const uint64_t *v,
		    size_t n);

static inline struct row_cell *row_batch_cell(const struct row_batch *b,
					      unsigned row, unsigned field)
{
	return &b->cells[(size_t)row * b->schema->n + field];
}

/* The cell of the row in hand, for what needs no bytes. */
static inline struct row_cell *row_batch_set(struct row_batch *b,
					     unsigned field, uint8_t kind)
{
	b->hand[field].kind = kind;
	return &b->hand[field];
}

/* Ends the row in hand. 0 or the sticky error. */
int row_batch_end(struct row_batch *b);

#endif
