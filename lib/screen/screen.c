/* SPDX-License-Identifier: BSD-2-Clause */
#include "screen/screen.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tty.h"
#include "row/people.h"

static const char *const help[] = {
	"q           end",
	"1 to 9      the table; or a letter of its name",
	"< >         sort by the column on the left, on the right",
	"s           sort by the next column",
	"r           the other order",
	"/           edit the filter; enter: use it, escape: leave it",
	"space       stand still, go on",
	"up down     scroll a row; page up, page down, home, end",
	"left right  scroll columns",
	"?           this",
};

enum {
	HELP_LINES = sizeof(help) / sizeof(help[0]),
	FRAME = SCREEN_HEAD + 2, /* lines that are no rows */
};

unsigned screen_rows(unsigned lines)
{
	return lines > FRAME ? lines - FRAME : 0;
}

void screen_turn(struct screen *s, const struct schema *schema, unsigned fixed,
		 unsigned sort)
{
	s->schema = schema;
	s->fixed = fixed;
	s->sort = sort;
	s->ascending = false;
	s->first = s->left = 0;
	memset(s->width, 0, sizeof(s->width));
}

static enum screen_act edit(struct screen *s, int key)
{
	size_t len = strlen(s->edit);

	if (key == '\r' || key == '\n') {
		s->editing = false;
		memcpy(s->filter, s->edit, sizeof(s->filter));
		return SCREEN_FILTER;
	}
	if (key == KEY_ESCAPE)
		s->editing = false;
	else if ((key == KEY_ERASE || key == '\b') && len)
		s->edit[len - 1] = '\0';
	else if (key == 'U' - '@')
		s->edit[0] = '\0';
	else if (key < 128 && isprint(key) && len + 1 < sizeof(s->edit)) {
		s->edit[len] = (char)key;
		s->edit[len + 1] = '\0';
	} else {
		return SCREEN_NOTHING;
	}
	return SCREEN_LOOKS;
}

/* The letter of a table: the first one of its name that is no other key. */
static char letter_of(const char *name)
{
	return name[strspn(name, "qsr")];
}

/* The table of a digit or a letter; -1: none. */
static int table_of(const struct screen *s, int key)
{
	for (int i = 0; s->tables[i]; i++)
		if (key == '1' + i || (key && key == letter_of(s->tables[i])))
			return i;
	return -1;
}

/* Whether it is a key that scrolls. */
static bool scroll(struct screen *s, int key)
{
	unsigned last = s->total > s->page ? s->total - s->page : 0;
	unsigned page = s->page ? s->page : 1, at = s->first;

	if (key == KEY_DOWN)
		at++;
	else if (key == KEY_UP)
		at -= at > 0;
	else if (key == KEY_PAGE_DOWN)
		at += page;
	else if (key == KEY_PAGE_UP)
		at -= at < page ? at : page;
	else if (key == KEY_HOME)
		at = 0;
	else if (key == KEY_END)
		at = last;
	else if (key == KEY_RIGHT)
		s->left += s->fixed + s->left + 1 < s->schema->n;
	else if (key == KEY_LEFT)
		s->left -= s->left > 0;
	else
		return false;
	s->first = at < last ? at : last;
	return true;
}

/* By the column so many to the right, or the next one that rows may be sorted
 * by; 0: by the same. */
static enum screen_act sort_by(struct screen *s, unsigned step)
{
	do
		s->sort = (s->sort + step) % s->schema->n;
	while (step && s->sorts && !s->sorts(s->table, s->sort));
	s->first = 0;
	return SCREEN_SORT;
}

static enum screen_act press_letter(struct screen *s, int key)
{
	switch (key) {
	case 'q':
		return SCREEN_QUIT;
	case '>':
	case 's':
		return sort_by(s, 1);
	case '<':
		return sort_by(s, s->schema->n - 1);
	case 'r':
		s->ascending = !s->ascending;
		return sort_by(s, 0);
	case '/':
		s->editing = true;
		memcpy(s->edit, s->filter, sizeof(s->edit));
		return SCREEN_LOOKS;
	case ' ':
		s->paused = !s->paused;
		return SCREEN_LOOKS;
	case '?':
		s->help = true;
		return SCREEN_LOOKS;
	default:
		return SCREEN_NOTHING;
	}
}

enum screen_act screen_press(struct screen *s, int key)
{
	int table;

	if (key == KEY_END_OF_INPUT)
		return SCREEN_QUIT;
	if (key == KEY_NONE)
		return SCREEN_NOTHING;
	if (s->editing)
		return edit(s, key);
	if (s->help && key != 'q') {
		s->help = false;
		return SCREEN_LOOKS;
	}
	if (scroll(s, key))
		return SCREEN_LOOKS;
	table = table_of(s, key);
	if (table < 0)
		return press_letter(s, key);
	s->table = (unsigned)table;
	return SCREEN_TABLE;
}

void screen_fini(struct screen *s)
{
	free(s->cell.text);
	s->cell.text = NULL;
}

/* --- drawing ------------------------------------------------------------- */

static bool is_number(const struct row_field *f)
{
	return f->type == ROW_U64 || f->type == ROW_I64 || f->type == ROW_F64;
}

/* The bytes of a cell as they are shown, *n of them. */
static const char *cell_text(struct screen *s, const struct row_batch *b,
			     unsigned row, unsigned column, size_t *n)
{
	const struct row_cell *c = row_batch_cell(b, row, column);
	const char *text;

	outbuf_cut(&s->cell, 0);
	if (encode_is_null(c) || c->kind == ROW_U64 || c->kind == ROW_BOOL ||
	    c->kind == ROW_TIME)
		people_cell(&s->cell, b, &s->schema->fields[column], c, false);
	else
		encode_cell(&s->cell, b, c); /* put() sees to the rest */
	text = outbuf_text(&s->cell, n);
	return text ? text : "";
}

/* Bytes of the character at the beginning of a text, n > 0: U+2581 to U+2588
 * have three. */
static size_t glyph(const char *text, size_t n)
{
	const uint8_t *p = (const uint8_t *)text;

	return n >= 3 && p[0] == 0xe2 && p[1] == 0x96 && p[2] >= 0x81 &&
			       p[2] <= 0x88
		       ? 3
		       : 1;
}

static size_t columns_of(const char *text, size_t n)
{
	size_t columns = 0;

	for (size_t i = 0; i < n; i += glyph(text + i, n - i))
		columns++;
	return columns;
}

/* Columns become as wide as what was in them, and no narrower: they stand
 * still. */
static void widen(struct screen *s, const struct row_batch *rows)
{
	for (unsigned c = 0; c < s->schema->n && c < SCREEN_COLUMNS; c++) {
		size_t most = strlen(s->schema->fields[c].name), n;

		for (unsigned i = 0; i < rows->rows; i++) {
			const char *text = cell_text(s, rows, i, c, &n);

			n = columns_of(text, n);
			most = n > most ? n : most;
		}
		if (most > SCREEN_CELL_MAX)
			most = SCREEN_CELL_MAX;
		if (most > s->width[c])
			s->width[c] = (uint8_t)most;
	}
}

/* A line of the screen that is being written. */
struct pen {
	struct outbuf *o;
	unsigned left; /* columns */
};

static void put(struct pen *p, const char *text, size_t n)
{
	size_t bytes;

	for (size_t i = 0; i < n && p->left; i += bytes, p->left--) {
		bytes = glyph(text + i, n - i);
		if (bytes > 1)
			outbuf_bytes(p->o, text + i, bytes);
		else /* no control sequence of a stranger's */
			outbuf_char(p->o, isprint((unsigned char)text[i])
						  ? text[i]
						  : '.');
	}
}

static void blanks(struct pen *p, size_t n)
{
	while (n-- && p->left) {
		outbuf_char(p->o, ' ');
		p->left--;
	}
}

/* A text in a column of that width. What does not fit, there or at the edge of
 * the screen, ends in +: a number must not pass for a smaller one. */
static void put_cell(struct pen *p, const char *text, size_t n, unsigned width,
		     bool right)
{
	size_t room = width < p->left ? width : p->left;
	size_t columns = columns_of(text, n);

	if (columns > room) {
		struct pen cut = {p->o, room ? (unsigned)room - 1 : 0};

		put(&cut, text, n);
		p->left -= room ? (unsigned)room - 1 : 0;
		put(p, "+", 1);
		return;
	}
	if (right)
		blanks(p, room - columns);
	put(p, text, n);
	if (!right)
		blanks(p, room - columns);
}

/* Whether a cell says that something is wrong. */
static bool is_bad(const struct screen *s, const struct row_batch *rows,
		   unsigned row, unsigned column, const char *text, size_t n)
{
	const char *good = s->schema->fields[column].good;

	return s->colour && good &&
	       !encode_is_null(row_batch_cell(rows, row, column)) &&
	       (strlen(good) != n || memcmp(good, text, n) != 0);
}

/* The columns that are shown one after the other: of row -1 the names. */
static void put_columns(struct screen *s, const struct row_batch *rows, int row,
			struct pen *p)
{
	for (unsigned c = 0; c < s->schema->n && c < SCREEN_COLUMNS; c++) {
		const struct row_field *f = &s->schema->fields[c];
		bool sorted = row < 0 && c == s->sort;
		const char *text = f->name;
		size_t n = strlen(text);
		bool bad;

		if (c >= s->fixed && c < s->fixed + s->left)
			continue;
		if (row >= 0)
			text = cell_text(s, rows, (unsigned)row, c, &n);
		bad = row >= 0 && is_bad(s, rows, (unsigned)row, c, text, n);
		if (sorted || bad)
			outbuf_word(p->o, sorted ? "\033[4m" : "\033[31m");
		put_cell(p, text, n, s->width[c], is_number(f));
		if (sorted || bad)
			outbuf_word(p->o, sorted ? "\033[24m" : "\033[39m");
		put(p, " ", 1);
	}
}

/* To the line's end; and to the next one, unless it is the last. */
static void end_line(struct pen *p, unsigned columns, bool last)
{
	outbuf_word(p->o, last ? "\033[K" : "\033[K\r\n");
	p->left = columns;
}

static void put_head(struct screen *s, unsigned columns, struct pen *p)
{
	outbuf_word(p->o, "\033[7m");
	put_columns(s, NULL, -1, p);
	blanks(p, columns);
	outbuf_word(p->o, "\033[m");
}

static void put_foot(const struct screen *s, const struct row_batch *rows,
		     struct pen *p)
{
	char text[SCREEN_FILTER_MAX + 64];
	int n;

	if (s->editing)
		n = snprintf(text, sizeof(text), "filter: %s_", s->edit);
	else
		n = snprintf(text, sizeof(text),
			     "%u to %u of %u, by %s%s%s%s%s%s; ? for keys",
			     rows->rows ? s->first + 1 : 0,
			     s->first + rows->rows, s->total,
			     s->schema->fields[s->sort].name,
			     s->ascending ? ", the least first" : "",
			     s->filter[0] ? ", filter " : "",
			     s->filter[0] ? "on" : "", s->paused ? ", " : "",
			     s->paused ? "paused" : "");
	put(p, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

static void put_line(struct screen *s, const char *const *head,
		     const struct row_batch *rows, unsigned i, struct pen *p)
{
	unsigned columns = p->left;

	if (i < SCREEN_HEAD) {
		put(p, head[i], strlen(head[i]));
	} else if (i == SCREEN_HEAD) {
		put_head(s, columns, p);
	} else if (s->help) {
		i -= SCREEN_HEAD + 1;
		if (i < HELP_LINES)
			put(p, help[i], strlen(help[i]));
	} else if (i - SCREEN_HEAD - 1 < rows->rows) {
		put_columns(s, rows, (int)(i - SCREEN_HEAD - 1), p);
	}
}

void screen_draw(struct screen *s, const char *const head[SCREEN_HEAD],
		 const struct row_batch *rows, unsigned columns, unsigned lines,
		 struct outbuf *o)
{
	struct pen p = {o, columns};

	s->page = screen_rows(lines);
	widen(s, rows);
	outbuf_word(o, "\033[H");
	for (unsigned i = 0; i + 1 < lines; i++) {
		put_line(s, head, rows, i, &p);
		end_line(&p, columns, false);
	}
	put_foot(s, rows, &p);
	end_line(&p, columns, true);
}
