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

#include "row/row.h"

struct outbuf;

/* Measurement and tags: rows in which they are the same are a series. tag: room
 * for the text of one. */
void line_series(struct outbuf *tag, struct outbuf *o,
		 const struct row_batch *b, unsigned row);
/* All behind them. */
void line_rest(struct outbuf *o, const struct row_batch *b, unsigned row,
	       int64_t time_ns);

/* The row's time; none if it has not got one. */
int64_t line_time(const struct row_batch *b, unsigned row, int64_t none);

#endif
