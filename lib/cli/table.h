/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table.h - rows on a terminal: columns as wide as what is in them, and all of
 * them as wide as the terminal. What is the same in all rows is said once where
 * there is no room; what is too long then is cut, with "...", the first column
 * in its middle: both ends of a flow are still there. Cells are those of
 * row/people.h, and what is wrong (row_field.good) is red, unless NO_COLOR is
 * set. Whatever is no terminal gets rows as they are.
 *
 * Of rows that come one by one nobody knows what is in the next: columns are as
 * wide as their schema says, and as what came; nothing is said once, times have
 * microseconds, and the date is said when it changes. Fields that are
 * ROW_JOINED are, numbers give way first, and texts are cut in their middle.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "row/row.h"

/* rows_print() on stdout. Text on a terminal is shown by screenfuls, and by
 * rows_flush(). NULL: no memory. */
struct rows *cli_rows(enum row_format fmt, const struct schema *s);

/* stream_sink_mixed() on stdout, for rows that are shown as they come, each put
 * alone. NULL: no memory. */
struct row_sink *cli_stream(enum row_format fmt);

#endif
