/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * line.h - rows in InfluxDB's line protocol (1.x):
 *
 *	measurement,tag=value field=1i,other="text" 1600000000000000000
 *
 * Fields of ROW_TAG are tags, those of ROW_VALUE fields. Whole numbers have an
 * i (their type; above 2^63 - 1 they are that), bytes and lists are texts.
 * Nulls are left out; a row without values has the field none=true, for there
 * must be one. What the protocol cannot say: an empty tag, which is left out; a
 * backslash at the end of a tag, dropped; a line's end in a tag, \n.
 */
#ifndef ROW_LINE_H
#define ROW_LINE_H

#include "base/fault.h"
#include "row/batch.h"

struct outbuf;
struct line;

/* A field that has one of these texts, up to a NULL. */
struct line_when {
	const char *field;
	const char *const *any;
};

/* Names other than the schema's, for those who have queries for others. Fields
 * without such a name are left out; there are no tags, numbers have no i, and
 * lists are joined by colons. */
struct line_names {
	const char *schema;		/* whose */
	const struct line_when *when;	/* in which rows: all of it, up to a
					   field that is NULL; NULL: any */
	const char *measurement;	/* template.h */
	const char *const (*fields)[2]; /* ours, theirs; up to a NULL */
};

/* For the rows of a schema, which outlives it, as do the n names: a row has the
 * first that are for it, or else its own. 0; -EINVAL with f set: a name of no
 * field; or -ENOMEM. */
int line_open(struct line **out, const struct schema *s,
	      const struct line_names *names, unsigned n, struct fault *f);

/* Measurement and tags: rows in which they are the same are a series. Of names
 * that are not its own, rows with other fields are points beside it: the first
 * of them, or "". */
const char *line_field(const struct line *l, const struct row_batch *b,
		       unsigned row);
void line_series(struct line *l, struct outbuf *o, const struct row_batch *b,
		 unsigned row);
/* All behind them. */
void line_rest(struct line *l, struct outbuf *o, const struct row_batch *b,
	       unsigned row, int64_t time_ns);

/* The row's time; none if it has not got one. */
int64_t line_time(const struct line *l, const struct row_batch *b, unsigned row,
		  int64_t none);

void line_close(struct line *l); /* NULL is fine */

#endif
