/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * line.h - rows in InfluxDB's line protocol (1.x):
 *
 *	measurement,tag=value field=1i,other="text" 1600000000000000000
 *
 * Fields of role ROW_TAG become tags, those of ROW_VALUE fields. Integers end
 * in i; above 2^63 - 1 they become that. Bytes and lists become strings. Nulls
 * are left out; a row without values gets the field none=true, as a line needs
 * one. An empty tag cannot be written and is left out; a backslash at the end
 * of a tag is dropped, a newline in a tag written as \n.
 */
#ifndef ROW_LINE_H
#define ROW_LINE_H

#include "row/row.h"

struct outbuf;

/* Appends measurement and tags, which identify a series, to o. tag: a scratch
 * buffer for the text of one tag. */
void line_series(struct outbuf *tag, struct outbuf *o,
		 const struct row_batch *b, unsigned row);
/* Appends the rest of the line: fields and time. */
void line_rest(struct outbuf *o, const struct row_batch *b, unsigned row,
	       int64_t time_ns);

/* The row's time, or `none' if it has no time. */
int64_t line_time(const struct row_batch *b, unsigned row, int64_t none);

#endif
