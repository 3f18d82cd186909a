/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * browse.h - tables of what a program has in hand, sorted by one of their
 * columns: live on a terminal, the first 1000 rows, or once as rows on stdout.
 *
 * On the screen ? tells the keys; bytes beyond ASCII are dots, and what is
 * wrong (row_field.good) is red.
 *
 * Looking does not hold up packets: what there is is gone through a few things
 * at a time between batches; which rows are first is known when that is done,
 * what is in them is of the moment they are drawn.
 */
#ifndef CLI_BROWSE_H
#define CLI_BROWSE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/option.h"
#include "row/row.h"

enum {
	BROWSE_LINE = 640, /* bytes of a line above the table */
};

struct browse_table {
	const struct schema *schema;
	const char *sort; /* the column by which rows are sorted unless told */
	unsigned fixed;	  /* columns from the left: what a row is about */
};

enum {
	BROWSE_ALL = UINT32_MAX, /* columns */
};

/* What there is to look at. Things of a table are numbered; not each number is
 * a row. All get ctx. */
struct browse_tables {
	const char *const *names;	  /* NULL behind the last */
	const struct browse_table *table; /* in the same order */
	int (*begin)(void *ctx); /* of a round: 0 or -ENOMEM; or NULL */
	uint32_t (*size)(void *ctx, unsigned table);
	bool (*has)(void *ctx, unsigned table, uint32_t i);
	/* Sets the row in hand: all columns, or at least that only one, of
	 * which a text may be set as the bytes that it is sorted by. */
	void (*row)(void *ctx, unsigned table, uint32_t i, unsigned only,
		    struct row_batch *b);
	/* Two lines above the table; ended: the input has. */
	void (*head)(void *ctx, unsigned table, bool ended,
		     char line[2][BROWSE_LINE]);
};

struct browse_options {
	unsigned top;	  /* 1 + table; 0: none is asked for */
	const char *sort; /* a column's name, or NULL */
	uint64_t every_ns;
	bool once;
};

/* Rows of a program's table of options, for opts with a struct browse_options;
 * what: the help of --top. Those of rows alone need what of says. */
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

/* The defaults of what was not given; whether it is to end after every_ns: once
 * on an interface that nothing else ends. */
bool browse_defaults(struct browse_options *o, bool live);

struct browse;

/* Exits if it cannot. On a terminal, unless once, the screen is on now. The
 * tables, ctx and options outlive it. */
struct browse *browse_open(const struct browse_tables *t, void *ctx,
			   const struct browse_options *o,
			   enum row_format format);

/* Between batches; idle: there was none. False: the person has had enough. */
bool browse_turn(struct browse *top, bool idle);
/* The input has ended: until the person has had enough, or a signal comes; look
 * gets ctx meanwhile, and at the end. Without a screen the rows are printed to
 * stdout. 0, or -errno of it. */
int browse_end(struct browse *top, void (*look)(void *ctx));
/* The terminal is as before; NULL is fine. */
void browse_close(struct browse *top);

#endif
