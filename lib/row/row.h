/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * row.h - the row: everything a person or a database sees is a row of named,
 * typed fields. Rows of one schema are made here, field by field, gathered in
 * batches, and put into a sink.
 */
#ifndef ROW_ROW_H
#define ROW_ROW_H

#include "row/encode.h"

/* The row in hand is the batch's; the rest is private. */
struct rows {
	struct row_batch b;
	struct row_sink *sink;
	bool own; /* the sink is ours to close */
	unsigned gather;
	int err;
};

/*
 * Rows of a schema, which outlives them, for a sink: put when there are so many
 * as gather says, and by rows_flush(). NULL: no memory.
 */
struct rows *rows_open(struct row_sink *sink, const struct schema *s,
		       unsigned gather);

/*
 * The same on a stream of the caller's, each row at once; a program that prints
 * several kinds of rows opens several. The header is written before the first
 * row, or by rows_close() if there were none (CSV and text).
 */
struct rows *rows_print(FILE *out, enum row_format fmt, const struct schema *s,
			bool head);

/*
 * Set the fields of the row in hand, in any order; those not set are null.
 * What is pointed at is copied. field < n.
 */
static inline void row_str(struct rows *r, unsigned field, const char *v)
{
	row_batch_str(&r->b, field, v); /* NULL: null */
}

static inline void row_u64(struct rows *r, unsigned field, uint64_t v)
{
	row_batch_set(&r->b, field, ROW_U64)->u64 = v;
}

static inline void row_i64(struct rows *r, unsigned field, int64_t v)
{
	row_batch_set(&r->b, field, ROW_I64)->i64 = v;
}

static inline void row_f64(struct rows *r, unsigned field, double v)
{
	row_batch_set(&r->b, field, ROW_F64)->f64 = v;
}

static inline void row_bool(struct rows *r, unsigned field, bool v)
{
	row_batch_set(&r->b, field, ROW_BOOL)->u64 = v;
}

static inline void row_time(struct rows *r, unsigned field, int64_t ns)
{
	row_batch_set(&r->b, field, ROW_TIME)->i64 = ns;
}

static inline void row_bytes(struct rows *r, unsigned field, const void *data,
			     size_t len)
{
	row_batch_bytes(&r->b, field, data, len);
}

static inline void row_list(struct rows *r, unsigned field, const uint64_t *v,
			    size_t n)
{
	row_batch_list(&r->b, field, v, n);
}

/* The header at once, of rows that come from elsewhere: once, and before any. 0
 * or -errno. */
int rows_head(struct rows *r);
/* Ends the row. Returns 0, or -errno of the sink, which stays. */
int row_end(struct rows *r);
int rows_flush(struct rows *r);
/* Flushes; closes the sink of rows_print(), no other. NULL is fine. */
void rows_close(struct rows *r);

#endif
