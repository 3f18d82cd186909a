/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table.h - rows on a terminal: columns as wide as what is in them, and all of
 * them as wide as the terminal. What is too long then is cut, with "...", texts
 * in their middle: both ends of a flow are still there; columns that find no
 * room are named. What is wrong (row_field.good) is red, unless NO_COLOR is
 * set. Whatever is no terminal gets rows as they are.
 *
 * Of rows that come one by one the next is not known: columns are as wide as
 * their schema says, and as what came.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "row/row.h"

/* rows_print() on stdout. Text on a terminal is shown by screenfuls, and by
 * rows_flush(). NULL: no memory. */
struct rows *cli_rows(enum row_format fmt, const struct schema *s);

/* stream_sink_open() on stdout, for rows that are shown as they come, each put
 * alone. NULL: no memory. */
struct row_sink *cli_stream(enum row_format fmt);

/* A cell as people read it: bytes are KiB and MiB, times local, without the
 * date if it is today's, a flag is *. */
void table_cell(struct outbuf *o, const struct row_batch *b,
		const struct row_field *f, const struct row_cell *c);

#endif
