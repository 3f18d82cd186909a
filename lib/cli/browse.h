/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * browse.h - tables of what a program holds in memory, sorted by one of their
 * columns: live on a terminal, the first 1000 rows; or printed once on stdout.
 *
 * On the screen ? lists the keys; bytes beyond ASCII are shown as dots, and
 * values that are wrong (row_field.good) in red.
 *
 * Sorting does not hold up packets: a round goes through all items of a table,
 * a few at a time between batches. The order of rows is that of the last whole
 * round; their values are read when they are drawn.
 */
#ifndef CLI_BROWSE_H
#define CLI_BROWSE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/option.h"
#include "row/row.h"

enum {
	BROWSE_LINE = 640, /* bytes of a line above the table */
};

struct browse_table {
	const struct schema *schema;
	const char *sort; /* the column by which rows are sorted unless told */
	unsigned fixed;	  /* columns on the left that do not scroll */
};

enum {
	BROWSE_ALL = UINT32_MAX, /* all columns, for row() */
};

/* The tables, and what reads them. Items of a table have numbers from 0 to
 * size - 1; some of these may have no row. All functions get ctx. */
struct browse_tables {
	const char *const *names;	  /* ends with NULL */
	const struct browse_table *table; /* in the same order */
	/* Called when a round begins: 0 or -ENOMEM; or NULL. */
	int (*begin)(void *ctx);
	uint32_t (*size)(void *ctx, unsigned table);
	/* Whether item i has a row. */
	bool (*has)(void *ctx, unsigned table, uint32_t i);
	/* Fills b's row in hand: all columns, or the column `only' at least. A
	 * text of that one may be set as the bytes that it is sorted by. */
	void (*row)(void *ctx, unsigned table, uint32_t i, unsigned only,
		    struct row_batch *b);
	/* Writes the two lines above the table; ended: the input has ended. */
	void (*head)(void *ctx, unsigned table, bool ended,
		     char line[2][BROWSE_LINE]);
};

struct browse_options {
	unsigned top;	  /* 1 + the table's index; 0: no table */
	const char *sort; /* a column's name, or NULL: the table's own */
	uint64_t every_ns;
	bool once;
};

/* Entries of a program's table of options, for opts with a struct
 * browse_options in field; what: the help of --top. BROWSE_ROW_OPTIONS() alone
 * is for a program whose option `of' has a table. */
/* clang-format off */
#define BROWSE_OPTIONS(opts, field, what, table_names)                        \
	{ 0, "top", "TABLE", what, CLI_WORD, CLI_AT(opts, field.top),          \
	  .min = 1, .words = table_names },                                    \
	{ 0, "once", NULL,                                                     \
	  "the table as rows: at the end of FILE, or after --every",           \
	  CLI_FLAG, CLI_AT(opts, field.once), .needs = "--top" },              \
	BROWSE_ROW_OPTIONS(opts, field, "--top")
#define BROWSE_ROW_OPTIONS(opts, field, of)                                   \
	{ 0, "sort", "COLUMN", "by which rows of the table are sorted",        \
	  CLI_STR, CLI_AT(opts, field.sort), .needs = of },                    \
	{ 0, "every", "TIME", "draw the table so often (1s)", CLI_TIME,        \
	  CLI_AT(opts, field.every_ns), .min = 1000000, .needs = of }
/* clang-format on */

/* Sets defaults of options that were not given. Returns whether the program is
 * to end after every_ns: it prints once, and its live input would not end. */
bool browse_defaults(struct browse_options *o, bool live);

struct browse;

/* Opens the table, and on a terminal the screen, unless once is set; exits if
 * it cannot. The tables, ctx and options must outlive it. */
struct browse *browse_open(const struct browse_tables *t, void *ctx,
			   const struct browse_options *o,
			   enum row_format format);

/* Reads keys and draws, as far as it is time: to be called between batches.
 * idle: there was no batch. False: the user has quit. */
bool browse_update(struct browse *top, bool idle);
/* To be called when the input has ended. On a screen, goes on until the user
 * quits or a signal comes, and calls look with ctx meanwhile and at the end.
 * Without one, prints the rows to stdout. 0, or -errno of that. */
int browse_end(struct browse *top, void (*look)(void *ctx));
/* Restores the terminal; NULL is fine. */
void browse_close(struct browse *top);

#endif
