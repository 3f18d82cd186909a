/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * screen.h - a table of rows on a terminal: what is looked at, what keys do to
 * that, and how it is drawn. What the rows are is the program's.
 *
 *	q, ^C		end			1-9, letters	choose a table
 *	< >, s		sort by another column	r		the other order
 *	/		edit the filter		space		stand still
 *	arrows, page up and down, home, end	scroll		?	keys
 *
 * Of what is beyond ASCII only sparklines are shown, U+2581 to U+2588; other
 * bytes are counted a column each. What is wrong (row_field.good) is red.
 */
#ifndef SCREEN_SCREEN_H
#define SCREEN_SCREEN_H

#include <stdbool.h>

#include "row/batch.h"
#include "row/outbuf.h"

enum {
	SCREEN_FILTER_MAX = 256,
	SCREEN_COLUMNS = 32, /* of a table */
	SCREEN_HEAD = 3,     /* lines before the table's own head */
	SCREEN_CELL_MAX = 48,
};

struct screen {
	/* The program's: names of tables, NULL behind the last; the schema of
	 * the one in hand, and columns on its left that do not scroll. */
	const char *const *tables;
	const struct schema *schema;
	unsigned fixed;
	/* Whether its rows are ever sorted by a column; NULL: by any. */
	bool (*sorts)(unsigned table, unsigned column);
	bool colour;	/* it may be red */
	unsigned total; /* rows that there are to scroll through */
	/* What is looked at. */
	unsigned table, sort, first; /* first: row */
	unsigned left;		     /* columns beside the fixed ones gone */
	bool ascending, paused, help;
	char filter[SCREEN_FILTER_MAX];
	/* Private. */
	bool editing;
	char edit[SCREEN_FILTER_MAX];
	uint8_t width[SCREEN_COLUMNS]; /* so far; 0 before the first drawing */
	unsigned page;		       /* rows that had room */
	struct outbuf cell;	       /* a cell's text */
};

/* What a key has changed. */
enum screen_act {
	SCREEN_NOTHING,
	SCREEN_LOOKS,  /* only what is drawn */
	SCREEN_TABLE,  /* table: the program sets what is its */
	SCREEN_SORT,   /* sort or ascending */
	SCREEN_FILTER, /* filter: as the person left it */
	SCREEN_QUIT,
};

enum screen_act screen_press(struct screen *s, int key);

/* All zeros is a screen to begin with, once the program's part is set. */
void screen_fini(struct screen *s);

/* Another table is in hand, sorted by that column: all else from the start. */
void screen_turn(struct screen *s, const struct schema *schema, unsigned fixed,
		 unsigned sort);

/* How many rows a terminal of so many lines has room for. */
unsigned screen_rows(unsigned lines);

/*
 * Draws rows, from number s->first on, and above them SCREEN_HEAD lines of the
 * program's; as text for a terminal of that size, which it fills.
 */
void screen_draw(struct screen *s, const char *const head[SCREEN_HEAD],
		 const struct row_batch *rows, unsigned columns, unsigned lines,
		 struct outbuf *o);

#endif
