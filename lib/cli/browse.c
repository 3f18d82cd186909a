/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/browse.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "cli/table.h"
#include "cli/tty.h"
#include "row/outbuf.h"

#define EVERY_NS UINT64_C(1000000000)

enum {
	FILTER_MAX = 256,
	COLUMNS_MAX = 32, /* of a table */
	HEAD = 3,	  /* lines before the table's own head */
	CELL_MAX = 48,
	LINES_MAX = 1000,   /* rows to scroll through */
	AT_ONCE = 1 << 13,  /* numbers looked at when a round begins */
	BETWEEN = 64,	    /* between two batches */
	IDLE = 1 << 17,	    /* while no packets come */
	KEYS_NS = 50000000, /* how often keys are asked for */
	END_WAIT_MS = 100,
	NOTE_MAX = BROWSE_LINE + 4096,
};

/* --- the screen: what is looked at, what keys do to that, how it is drawn  */

struct screen {
	/* The program's: names of tables, NULL behind the last; the schema of
	 * the one in hand, and columns on its left that do not scroll. */
	const char *const *tables;
	const struct schema *schema;
	unsigned fixed;
	bool colour;	/* it may be red */
	unsigned total; /* rows that there are to scroll through */
	/* What is looked at. */
	unsigned table, sort, first; /* first: row */
	unsigned left;		     /* columns beside the fixed ones gone */
	bool ascending, paused, help;
	char filter[FILTER_MAX];
	bool editing;
	char edit[FILTER_MAX];
	uint8_t width[COLUMNS_MAX]; /* so far; 0 before the first drawing */
	unsigned page;		    /* rows that had room */
	struct outbuf cell;	    /* a cell's text */
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
	FRAME = HEAD + 2, /* lines that are no rows */
};

/* How many rows a terminal of so many lines has room for. */
static unsigned screen_rows(unsigned lines)
{
	return lines > FRAME ? lines - FRAME : 0;
}

/* Another table is in hand, sorted by that column: all else from the start. */
static void screen_turn(struct screen *s, const struct schema *schema,
			unsigned fixed, unsigned sort)
{
	s->schema = schema;
	s->fixed = fixed;
	s->sort = sort;
	s->ascending = false;
	s->first = s->left = 0;
	memset(s->width, 0, sizeof(s->width));
}

static enum screen_act edit_filter(struct screen *s, int key)
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

/* By the column so many to the right. */
static enum screen_act sort_by(struct screen *s, unsigned step)
{
	s->sort = (s->sort + step) % s->schema->n;
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

static enum screen_act screen_press(struct screen *s, int key)
{
	int table;

	if (key == KEY_END_OF_INPUT)
		return SCREEN_QUIT;
	if (key == KEY_NONE)
		return SCREEN_NOTHING;
	if (s->editing)
		return edit_filter(s, key);
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

/* The bytes of a cell as they are shown, *n of them. */
static const char *cell_text(struct screen *s, const struct row_batch *b,
			     unsigned row, unsigned column, size_t *n)
{
	const struct row_cell *c = row_batch_cell(b, row, column);
	const char *text;

	outbuf_cut(&s->cell, 0);
	if (encode_is_null(c) || c->kind == ROW_U64 || c->kind == ROW_BOOL ||
	    c->kind == ROW_TIME)
		table_cell(&s->cell, b, &s->schema->fields[column], c);
	else
		encode_cell(&s->cell, b,
			    c); /* put_printable() sees to the rest */
	text = outbuf_text(&s->cell, n);
	return text ? text : "";
}

/* Columns become as wide as what was in them, and no narrower: they stand
 * still. */
static void widen(struct screen *s, const struct row_batch *rows)
{
	for (unsigned c = 0; c < s->schema->n && c < COLUMNS_MAX; c++) {
		size_t most = strlen(s->schema->fields[c].name), n;

		for (unsigned i = 0; i < rows->rows; i++) {
			cell_text(s, rows, i, c, &n);
			most = n > most ? n : most;
		}
		if (most > CELL_MAX)
			most = CELL_MAX;
		if (most > s->width[c])
			s->width[c] = (uint8_t)most;
	}
}

/* A line of the screen that is being written. */
struct pen {
	struct outbuf *o;
	unsigned left; /* columns */
};

/* No control sequence of a stranger's. */
static void put_printable(struct pen *p, const char *text, size_t n)
{
	for (; n && p->left; n--, p->left--, text++)
		outbuf_char(p->o, isprint((unsigned char)*text) ? *text : '.');
}

static void put_blanks(struct pen *p, size_t n)
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

	if (n > room) {
		put_printable(p, text, room ? room - 1 : 0);
		put_printable(p, "+", 1);
		return;
	}
	if (right)
		put_blanks(p, room - n);
	put_printable(p, text, n);
	if (!right)
		put_blanks(p, room - n);
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
	for (unsigned c = 0; c < s->schema->n && c < COLUMNS_MAX; c++) {
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
		put_cell(p, text, n, s->width[c], row_is_number(f));
		if (sorted || bad)
			outbuf_word(p->o, sorted ? "\033[24m" : "\033[39m");
		put_printable(p, " ", 1);
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
	put_blanks(p, columns);
	outbuf_word(p->o, "\033[m");
}

static void put_foot(const struct screen *s, const struct row_batch *rows,
		     struct pen *p)
{
	char text[FILTER_MAX + 64];
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
	put_printable(p, text,
		      (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

static void put_line(struct screen *s, const char *const *head,
		     const struct row_batch *rows, unsigned i, struct pen *p)
{
	unsigned columns = p->left;

	if (i < HEAD) {
		put_printable(p, head[i], strlen(head[i]));
	} else if (i == HEAD) {
		put_head(s, columns, p);
	} else if (s->help) {
		i -= HEAD + 1;
		if (i < HELP_LINES)
			put_printable(p, help[i], strlen(help[i]));
	} else if (i - HEAD - 1 < rows->rows) {
		put_columns(s, rows, (int)(i - HEAD - 1), p);
	}
}

/*
 * Draws rows, from number s->first on, and above them HEAD lines of the
 * program's; as text for a terminal of that size, which it fills.
 */
static void screen_draw(struct screen *s, const char *const head[HEAD],
			const struct row_batch *rows, unsigned columns,
			unsigned lines, struct outbuf *o)
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

/* --- which rows are first ------------------------------------------------ */

/*
 * The first so many of things that come in any order, by a number. Of equal
 * ones the first by their own number; things whose number is not known are
 * behind all others. There is room for twice as many: when that is full, they
 * are sorted, and the second half goes.
 */
struct best_one {
	uint64_t key; /* the greatest is first */
	uint32_t at;  /* which thing it is */
	bool known;
};

struct best {
	struct best_one *one;
	uint32_t n, most;
	bool cut; /* the last of the first half is what all others must beat */
};

/* 0 or -ENOMEM. */
static int best_init(struct best *b, uint32_t most)
{
	*b = (struct best){.most = most};
	b->one = malloc((2ULL * most + 1) * sizeof(*b->one));
	return b->one ? 0 : -ENOMEM;
}

static void best_fini(struct best *b)
{
	free(b->one);
	*b = (struct best){0};
}

/* Below 0: a is before b. */
static int compare_rank(const void *one, const void *other)
{
	const struct best_one *a = one, *b = other;

	if (a->known != b->known)
		return a->known ? -1 : 1;
	if (a->known && a->key != b->key)
		return a->key > b->key ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

/* The first one first. */
static void best_sort(struct best *b)
{
	qsort(b->one, b->n, sizeof(*b->one), compare_rank);
	b->cut = b->n >= b->most;
	if (b->cut)
		b->n = b->most;
}

static void best_add(struct best *b, struct best_one one)
{
	if (b->cut && compare_rank(&one, &b->one[b->most - 1]) > 0)
		return;
	b->one[b->n++] = one;
	if (b->n > 2 * (uint64_t)b->most)
		best_sort(b);
}

struct browse {
	const struct browse_tables *tables;
	void *ctx;
	const struct browse_options *o;
	enum row_format format;
	struct best gathering, shown;
	uint32_t at, size; /* of the round: the next number, and all */
	bool round;
	struct row_batch key; /* for sorting: its row in hand only */
	bool filtered;
	/* On a terminal. */
	bool on, ended;
	struct screen s;
	struct row_batch rows;
	struct outbuf text;
	uint64_t keys_ns, draw_ns;
	char head[HEAD][BROWSE_LINE];
	char note[NOTE_MAX]; /* the last line: the filter, a message */
};

static void no_memory(void)
{
	cli_fail("out of memory");
}

static void set_table(struct browse *top, unsigned table, unsigned sort)
{
	const struct schema *schema = top->tables->schema(table);

	top->s.table = table;
	screen_turn(&top->s, schema, top->tables->fixed(table), sort);
	row_batch_fini(&top->key);
	row_batch_fini(&top->rows);
	if (row_batch_init(&top->key, schema, 1) < 0 ||
	    row_batch_init(&top->rows, schema, 64) < 0)
		no_memory();
	top->shown.n = 0;
}

/* --sort names a column, of the table that is asked for. */
static unsigned chosen_sort(const struct browse *top)
{
	unsigned table = top->o->top - 1;
	const struct schema *s = top->tables->schema(table);
	char all[BROWSE_LINE] = "";
	size_t len = 0;

	if (!top->o->sort)
		return top->tables->sort(table);
	for (unsigned i = 0; i < s->n; i++) {
		if (!strcmp(s->fields[i].name, top->o->sort))
			return i;
		if (len < sizeof(all))
			len += (size_t)snprintf(all + len, sizeof(all) - len,
						"%s%s", len ? ", " : "",
						s->fields[i].name);
	}
	cli_refuse("--sort: '%s': %s have %s", top->o->sort,
		   top->tables->names[table], all);
}

bool browse_defaults(struct browse_options *o, bool live)
{
	if (!o->every_ns)
		o->every_ns = EVERY_NS;
	return live && (o->once || !isatty(STDOUT_FILENO));
}

struct browse *browse_open(const struct browse_tables *t, void *ctx,
			   const struct browse_options *o,
			   enum row_format format)
{
	struct browse *top = calloc(1, sizeof(*top));
	int rc;

	if (!top)
		no_memory();
	top->tables = t;
	top->ctx = ctx;
	top->o = o;
	top->format = format;
	top->s.tables = t->names;
	set_table(top, o->top - 1, chosen_sort(top));
	if (o->once || !isatty(STDOUT_FILENO))
		return top;
	if ((rc = tty_open()) < 0)
		cli_fail("the terminal: %s", strerror(-rc));
	top->on = true;
	top->s.colour = tty_colour(STDOUT_FILENO);
	return top;
}

/* --- the rows that are shown --------------------------------------------- */

static void round_begin(struct browse *top)
{
	uint32_t room = top->on ? LINES_MAX : UINT32_MAX;

	top->at = 0;
	top->size = top->tables->size(top->ctx, top->s.table);
	top->round = true;
	best_fini(&top->gathering);
	if ((top->tables->begin && top->tables->begin(top->ctx) < 0) ||
	    best_init(&top->gathering, room < top->size ? room : top->size) < 0)
		no_memory();
}

static void consider_row(struct browse *top, uint32_t i)
{
	const struct browse_tables *t = top->tables;
	unsigned table = top->s.table;
	struct best_one one = {.at = i};

	if (!t->has(top->ctx, table, i) ||
	    (top->filtered && !t->match(top->ctx, table, i)))
		return;
	one.known = t->key(top->ctx, table, i, top->s.sort, &top->key,
			   &one.key);
	if (top->s.ascending)
		one.key = ~one.key;
	best_add(&top->gathering, one);
}

/* So many numbers more; whether the round ended by it. */
static bool continue_round(struct browse *top, uint32_t n)
{
	struct best old = top->shown;

	if (!top->round)
		return false;
	for (; n && top->at < top->size; n--)
		consider_row(top, top->at++);
	if (top->at < top->size)
		return false;
	best_sort(&top->gathering);
	top->shown = top->gathering;
	top->gathering = old;
	top->round = false;
	return true;
}

/* Row number i, unless what it was about is gone. */
static void fill_row(struct browse *top, uint32_t i, struct row_batch *b)
{
	uint32_t at = top->shown.one[i].at;

	if (!top->tables->has(top->ctx, top->s.table, at))
		return;
	top->tables->row(top->ctx, top->s.table, at, b);
	if (row_batch_end(b) < 0)
		no_memory();
}

/* --- what a row is sorted by --------------------------------------------- */

uint64_t browse_bytes(const uint8_t *p, uint32_t len)
{
	uint64_t key = 0;

	for (unsigned i = 0; i < 8; i++)
		key = key << 8 | (i < len ? p[i] : 0);
	return key;
}

/* By the first number; of those with the same one, that is of 32 bits, by the
 * second. */
static uint64_t key_of_list(const void *list, uint32_t len)
{
	uint64_t two[2] = {0};

	memcpy(two, list, (len < 2 ? len : 2) * sizeof(two[0]));
	if (two[0] > UINT32_MAX)
		return two[0];
	return two[0] << 32 | (two[1] < UINT32_MAX ? two[1] : UINT32_MAX);
}

bool browse_key(const struct row_batch *b, const struct row_cell *c,
		uint64_t *key)
{
	switch (c->kind) {
	case ROW_NULL:
		return false;
	case ROW_STR:
	case ROW_BYTES:
		*key = browse_bytes(b->bytes + c->at, c->len);
		return true;
	case ROW_LIST:
		*key = key_of_list(b->bytes + c->at, c->len);
		return true;
	case ROW_F64: /* of means: not below 0, and so in order */
		memcpy(key, &c->f64, sizeof(*key));
		return true;
	default: /* times are not below 0 either */
		*key = c->u64;
		return true;
	}
}

/* --- the screen ---------------------------------------------------------- */

/* A message that is held is seen here. */
static void write_head(struct browse *top)
{
	const char *held = cli_held();

	snprintf(top->note, NOTE_MAX, "%s%s%s", top->head[2],
		 held && top->head[2][0] ? "; " : "", held ? held : "");
	top->tables->head(top->ctx, top->s.table, top->ended, top->head);
}

static void draw_screen(struct browse *top)
{
	const char *head[HEAD] = {top->head[0], top->head[1], top->note};
	unsigned columns, lines, page;
	const char *text;
	size_t len;

	tty_size(&columns, &lines);
	page = screen_rows(lines);
	write_head(top);
	top->s.total = top->shown.n;
	if (top->s.first >= top->s.total)
		top->s.first = 0;
	row_batch_clear(&top->rows);
	for (unsigned i = top->s.first;
	     i < top->shown.n && i - top->s.first < page; i++)
		fill_row(top, i, &top->rows);
	outbuf_cut(&top->text, 0);
	screen_draw(&top->s, head, &top->rows, columns, lines, &top->text);
	if ((text = outbuf_text(&top->text, &len)))
		tty_put(text, len);
}

/* The person's filter; one that is wrong leaves the old one, and says why. */
static void set_filter(struct browse *top)
{
	struct error err = {0};

	top->head[2][0] = '\0';
	if (!top->tables->filter) {
		snprintf(top->head[2], BROWSE_LINE,
			 "there are no filters here");
		return;
	}
	if (top->tables->filter(top->ctx, top->s.filter, &err) < 0) {
		snprintf(top->head[2], BROWSE_LINE, "filter: %s", err.text);
		return;
	}
	top->filtered = top->s.filter[0];
	if (top->filtered)
		snprintf(top->head[2], BROWSE_LINE, "only %s", top->s.filter);
}

/* False: the end. */
static bool obey_key(struct browse *top, enum screen_act what)
{
	if (what == SCREEN_QUIT)
		return false;
	if (what == SCREEN_TABLE)
		set_table(top, top->s.table, top->tables->sort(top->s.table));
	if (what == SCREEN_FILTER)
		set_filter(top);
	if (what > SCREEN_LOOKS) {
		round_begin(top);
		continue_round(top, AT_ONCE);
	}
	if (what != SCREEN_NOTHING)
		draw_screen(top);
	return true;
}

static bool read_keys(struct browse *top, int wait_ms)
{
	int key;

	while ((key = tty_key(wait_ms)) != KEY_NONE) {
		if (!obey_key(top, screen_press(&top->s, key)))
			return false;
		wait_ms = 0;
	}
	return true;
}

bool browse_turn(struct browse *top, bool idle)
{
	uint64_t now;

	if (!top->on)
		return true;
	now = clock_coarse_ns();
	if (now >= top->draw_ns && !top->round) {
		top->draw_ns = now + top->o->every_ns;
		if (!top->s.paused) {
			round_begin(top);
			if (continue_round(top, AT_ONCE))
				draw_screen(top);
		}
	} else if (continue_round(top, idle ? IDLE : BETWEEN)) {
		draw_screen(top);
	}
	if (now < top->keys_ns)
		return true;
	top->keys_ns = now + KEYS_NS;
	return read_keys(top, 0);
}

/* --- once ---------------------------------------------------------------- */

static int print_once(struct browse *top)
{
	const struct schema *schema = top->tables->schema(top->s.table);
	struct rows *r = cli_rows(top->format, schema);
	struct error err;
	int rc = 0;

	if (!r)
		no_memory();
	round_begin(top);
	continue_round(top, UINT32_MAX);
	for (uint32_t i = 0; i < top->shown.n && !rc; i++) {
		top->tables->row(top->ctx, top->s.table, top->shown.one[i].at,
				 &r->b);
		rc = row_end(r);
	}
	rows_close(r);
	if (rc < 0) {
		error_set(&err, rc, "%s", strerror(-rc));
		cli_warn_error(cli_stdout, &err);
	}
	return rc;
}

int browse_end(struct browse *top, void (*look)(void *ctx))
{
	if (!top->on)
		return print_once(top);
	top->ended = true;
	while (!cli_stop) {
		look(top->ctx);
		if (!browse_turn(top, true) || !read_keys(top, END_WAIT_MS))
			break;
	}
	look(top->ctx); /* what a signal asked for before the last key */
	return 0;
}

void browse_close(struct browse *top)
{
	if (!top)
		return;
	if (top->on)
		tty_close();
	cli_release();
	best_fini(&top->gathering);
	best_fini(&top->shown);
	row_batch_fini(&top->key);
	row_batch_fini(&top->rows);
	free(top->s.cell.text);
	free(top->text.text);
	free(top);
}
