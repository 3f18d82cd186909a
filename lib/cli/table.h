/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table.h - rows on a terminal, in columns as wide as their cells. Headers have
 * units. Where the terminal is too narrow, texts are cut in the middle ("..."),
 * so that both ends of a flow stay; then the last columns are left out, and a
 * line names them. Values that are wrong (row_field.good) are red, unless
 * NO_COLOR is set. If stdout is no terminal, rows are printed as row/row.h
 * does.
 *
 * For rows that come one by one, a column is as wide as its schema says, or as
 * the widest cell so far.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "row/row.h"

/* rows_print() on stdout. On a terminal, text is printed when SCREENFUL rows
 * have come, and by rows_flush(). Exits if there is no memory. */
struct rows *cli_rows(enum row_format fmt, const struct schema *s);

/* row_end() of rows on stdout; exits if it cannot be written. */
void cli_row_end(struct rows *r);

/* stream_sink_open() on stdout: each batch is printed when it is put, commonly
 * of one row. Exits as cli_rows() does. */
struct row_sink *cli_stream(enum row_format fmt);

/* At its end: if it is for one kind of a set, and no row came, its header. */
void cli_stream_end(struct row_sink *s, const struct schema *schemas,
		    unsigned kinds);

/* Writes a cell for people: bytes as KiB and MiB, local times without today's
 * date, a true flag as *. */
void table_cell(struct outbuf *o, const struct row_batch *b,
		const struct row_field *f, const struct row_cell *c);

#endif
