/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/browse.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/table.h"
#include "cli/tty.h"
#include "row/outbuf.h"

#define EVERY_NS UINT64_C(1000000000)

enum {
	FILTER_MAX = 256,
	COLUMNS_MAX = 32, /* of a table */
	HEAD = 3,	  /* lines before the table's own head */
	FRAME = HEAD + 2, /* lines that are no rows */
	CELL_MAX = 48,
	LINES_MAX = 1000,   /* rows to scroll through */
	AT_ONCE = 1 << 13,  /* numbers looked at when a round begins */
	BETWEEN = 64,	    /* between two batches */
	IDLE = 1 << 17,	    /* while no packets come */
	KEYS_NS = 50000000, /* how often keys are asked for */
	END_WAIT_MS = 100,
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
	struct row_batch one; /* what is judged: its row in hand only */
	/* What is looked at. */
	unsigned table, sort;
	const struct schema *schema;
	bool ascending;
	char filter[FILTER_MAX];
	/* On a terminal. */
	bool on, ended, colour, paused, help, editing;
	unsigned first, page;	    /* row, rows that had room */
	unsigned left;		    /* columns beside the fixed ones gone */
	uint8_t width[COLUMNS_MAX]; /* so far; 0 before the first drawing */
	char edit[FILTER_MAX];
	struct row_batch rows;
	struct outbuf cell, text;
	unsigned room; /* columns of the line that is being written */
	uint64_t keys_ns, draw_ns;
	char head[2][BROWSE_LINE];
};

static void no_memory(void)
{
	cli_fail("out of memory");
}

/* Another table is in hand, sorted by a column that the person names (NULL: by
 * its own): all else from the start. */
static void set_table(struct browse *top, unsigned table, const char *sort)
{
	const struct browse_table *t = &top->tables->table[table];
	char all[BROWSE_LINE] = "";
	size_t len = 0;
	unsigned i;

	for (i = 0; i < t->schema->n; i++) {
		const char *name = t->schema->fields[i].name;

		if (!strcmp(name, sort ? sort : t->sort))
			break;
		if (len < sizeof(all))
			len += (size_t)snprintf(all + len, sizeof(all) - len,
						"%s%s", len ? ", " : "", name);
	}
	if (i == t->schema->n)
		cli_refuse("--sort: '%s': %s have %s", sort,
			   top->tables->names[table], all);
	top->table = table;
	top->schema = t->schema;
	top->sort = i;
	top->ascending = false;
	top->first = top->left = 0;
	memset(top->width, 0, sizeof(top->width));
	row_batch_fini(&top->one);
	row_batch_fini(&top->rows);
	if (row_batch_init(&top->one, top->schema, 1) < 0 ||
	    row_batch_init(&top->rows, top->schema, 64) < 0)
		no_memory();
	top->shown.n = 0;
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
	set_table(top, o->top - 1, o->sort);
	if (o->once || !isatty(STDOUT_FILENO))
		return top;
	if ((rc = tty_open()) < 0)
		cli_fail("the terminal: %s", strerror(-rc));
	top->on = true;
	top->colour = tty_colour(STDOUT_FILENO);
	return top;
}

/* --- the rows that are shown --------------------------------------------- */

static void round_begin(struct browse *top)
{
	uint32_t room = top->on ? LINES_MAX : UINT32_MAX;

	top->at = 0;
	top->size = top->tables->size(top->ctx, top->table);
	top->round = true;
	room = room < top->size ? room : top->size;
	free(top->gathering.one);
	top->gathering = (struct best){
		.one = malloc((2ULL * room + 1) * sizeof(struct best_one)),
		.most = room,
	};
	if ((top->tables->begin && top->tables->begin(top->ctx) < 0) ||
	    !top->gathering.one)
		no_memory();
}

/* The row in hand that is judged: of thing i, all of it or that column. */
static void look_at(struct browse *top, uint32_t i, unsigned only)
{
	row_batch_clear(&top->one);
	top->tables->row(top->ctx, top->table, i, only, &top->one);
}

/* Whether a cell of the row in hand has the filter's text in it; or the
 * filter's number is one of its list, or is its own and tells rows apart. */
static bool cell_matches(const struct browse *top, unsigned column)
{
	const struct row_cell *c = &top->one.hand[column];
	const uint8_t *bytes = top->one.bytes + c->at;
	uint64_t number, of;

	if (c->kind == ROW_STR)
		return strstr((const char *)bytes, top->filter);
	if (!text_u64(&number, top->filter, UINT64_MAX))
		return false;
	for (unsigned i = 0; c->kind == ROW_LIST && i < c->len; i++) {
		memcpy(&of, bytes + i * sizeof(of), sizeof(of));
		if (of == number)
			return true;
	}
	return c->kind == ROW_U64 && c->u64 == number &&
	       top->schema->fields[column].role == ROW_TAG;
}

static bool is_wanted(struct browse *top, uint32_t i)
{
	if (!top->filter[0])
		return true;
	look_at(top, i, BROWSE_ALL);
	for (unsigned c = 0; c < top->schema->n; c++)
		if (cell_matches(top, c))
			return true;
	return false;
}

/* By how bytes begin. */
static uint64_t key_of_bytes(const uint8_t *p, uint32_t len)
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

/* What a cell is sorted by: its number, what falls as if it stood still; texts,
 * bytes and lists by how they begin. */
static uint64_t key_of_cell(const struct row_batch *b, const struct row_cell *c)
{
	uint64_t key;

	switch (c->kind) {
	case ROW_STR:
	case ROW_BYTES:
		return key_of_bytes(b->bytes + c->at, c->len);
	case ROW_LIST:
		return key_of_list(b->bytes + c->at, c->len);
	case ROW_F64: /* of means: not below 0, and so in order */
		memcpy(&key, &c->f64, sizeof(key));
		return key;
	case ROW_I64:
		return c->i64 < 0 ? 0 : c->u64;
	default: /* times are not below 0 either */
		return c->u64;
	}
}

static void consider_row(struct browse *top, uint32_t i)
{
	const struct row_cell *c;
	struct best_one one = {.at = i};

	if (!top->tables->has(top->ctx, top->table, i) || !is_wanted(top, i))
		return;
	look_at(top, i, top->sort);
	c = &top->one.hand[top->sort];
	one.known = c->kind != ROW_NULL;
	one.key = one.known ? key_of_cell(&top->one, c) : 0;
	if (top->ascending)
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

/* --- how they are drawn --------------------------------------------------- */

/* The bytes of a cell as they are shown, *n of them. */
static const char *cell_text(struct browse *top, unsigned row, unsigned column,
			     size_t *n)
{
	const struct row_cell *c = row_batch_cell(&top->rows, row, column);
	const char *text;

	outbuf_cut(&top->cell, 0);
	if (encode_is_null(c) || c->kind == ROW_U64 || c->kind == ROW_BOOL ||
	    c->kind == ROW_TIME)
		table_cell(&top->cell, &top->rows, &top->schema->fields[column],
			   c);
	else /* put_printable() sees to the rest */
		encode_cell(&top->cell, &top->rows, c);
	text = outbuf_text(&top->cell, n);
	return text ? text : "";
}

/* Columns become as wide as what was in them, and no narrower: they stand
 * still. */
static void widen(struct browse *top)
{
	for (unsigned c = 0; c < top->schema->n && c < COLUMNS_MAX; c++) {
		size_t most = strlen(top->schema->fields[c].name), n;

		for (unsigned i = 0; i < top->rows.rows; i++) {
			cell_text(top, i, c, &n);
			most = n > most ? n : most;
		}
		if (most > CELL_MAX)
			most = CELL_MAX;
		if (most > top->width[c])
			top->width[c] = (uint8_t)most;
	}
}

/* No control sequence of a stranger's. */
static void put_printable(struct browse *top, const char *text, size_t n)
{
	for (; n && top->room; n--, top->room--, text++)
		outbuf_char(&top->text,
			    isprint((unsigned char)*text) ? *text : '.');
}

static void put_word(struct browse *top, const char *text)
{
	put_printable(top, text, strlen(text));
}

static void put_blanks(struct browse *top, size_t n)
{
	while (n-- && top->room)
		put_printable(top, " ", 1);
}

/* A text in a column of that width. What does not fit, there or at the edge of
 * the screen, ends in +: a number must not pass for a smaller one. */
static void put_cell(struct browse *top, const char *text, size_t n,
		     unsigned width, bool right)
{
	size_t room = width < top->room ? width : top->room;

	if (n > room) {
		put_printable(top, text, room ? room - 1 : 0);
		put_word(top, "+");
		return;
	}
	if (right)
		put_blanks(top, room - n);
	put_printable(top, text, n);
	if (!right)
		put_blanks(top, room - n);
}

/* The columns that are shown one after the other: of row -1 the names. What is
 * wrong is red. */
static void put_columns(struct browse *top, int row)
{
	unsigned fixed = top->tables->table[top->table].fixed;

	for (unsigned c = 0; c < top->schema->n && c < COLUMNS_MAX; c++) {
		const struct row_field *f = &top->schema->fields[c];
		bool sorted = row < 0 && c == top->sort, bad = false;
		const char *text = f->name;
		size_t n = strlen(text);

		if (c >= fixed && c < fixed + top->left)
			continue;
		if (row >= 0) {
			text = cell_text(top, (unsigned)row, c, &n);
			bad = top->colour && f->good && strcmp(text, "-") &&
			      strcmp(f->good, text) != 0;
		}
		if (sorted || bad)
			outbuf_word(&top->text,
				    sorted ? "\033[4m" : "\033[31m");
		put_cell(top, text, n, top->width[c], row_is_number(f));
		if (sorted || bad)
			outbuf_word(&top->text,
				    sorted ? "\033[24m" : "\033[39m");
		put_word(top, " ");
	}
}

/* The filter, and the last message that is held. */
static void put_note(struct browse *top)
{
	const char *held = cli_held();

	put_word(top, top->filter[0] ? "only " : "");
	put_word(top, top->filter);
	put_word(top, top->filter[0] && held ? "; " : "");
	put_word(top, held ? held : "");
}

static void put_foot(struct browse *top)
{
	char text[FILTER_MAX + 64];

	if (top->editing)
		snprintf(text, sizeof(text), "filter: %s_", top->edit);
	else
		snprintf(text, sizeof(text),
			 "%u to %u of %u, by %s%s%s%s; ? for keys",
			 top->rows.rows ? top->first + 1 : 0,
			 top->first + top->rows.rows, top->shown.n,
			 top->schema->fields[top->sort].name,
			 top->ascending ? ", the least first" : "",
			 top->filter[0] ? ", filter on" : "",
			 top->paused ? ", paused" : "");
	put_word(top, text);
}

static void put_line(struct browse *top, unsigned i)
{
	if (i < HEAD - 1) {
		put_word(top, top->head[i]);
	} else if (i < HEAD) {
		put_note(top);
	} else if (i == HEAD) {
		outbuf_word(&top->text, "\033[7m");
		put_columns(top, -1);
		put_blanks(top, top->room);
		outbuf_word(&top->text, "\033[m");
	} else if (top->help) {
		i -= HEAD + 1;
		if (i < sizeof(help) / sizeof(help[0]))
			put_word(top, help[i]);
	} else if (i - HEAD - 1 < top->rows.rows) {
		put_columns(top, (int)(i - HEAD - 1));
	}
}

static void draw_screen(struct browse *top)
{
	const struct browse_tables *t = top->tables;
	unsigned columns, lines;
	const char *text;
	size_t len;

	tty_size(&columns, &lines);
	top->page = lines > FRAME ? lines - FRAME : 0;
	t->head(top->ctx, top->table, top->ended, top->head);
	if (top->first >= top->shown.n)
		top->first = 0;
	row_batch_clear(&top->rows);
	for (unsigned i = top->first;
	     i < top->shown.n && i - top->first < top->page; i++) {
		uint32_t at = top->shown.one[i].at;

		if (!t->has(top->ctx, top->table, at))
			continue; /* what it was about is gone */
		t->row(top->ctx, top->table, at, BROWSE_ALL, &top->rows);
		if (row_batch_end(&top->rows) < 0)
			no_memory();
	}
	widen(top);
	outbuf_cut(&top->text, 0);
	outbuf_word(&top->text, "\033[H");
	for (unsigned i = 0; i < lines; i++) {
		top->room = columns;
		if (i + 1 < lines)
			put_line(top, i);
		else
			put_foot(top);
		outbuf_word(&top->text,
			    i + 1 < lines ? "\033[K\r\n" : "\033[K");
	}
	if ((text = outbuf_text(&top->text, &len)))
		tty_put(text, len);
}

/* --- what keys do --------------------------------------------------------- */

/* What a key has changed. */
enum act {
	ACT_NOTHING,
	ACT_LOOKS, /* only what is drawn */
	ACT_ROWS,  /* which rows are first */
	ACT_QUIT,
};

static enum act edit_filter(struct browse *top, int key)
{
	size_t len = strlen(top->edit);

	if (key == '\r' || key == '\n') {
		top->editing = false;
		memcpy(top->filter, top->edit, sizeof(top->filter));
		return ACT_ROWS;
	}
	if (key == KEY_ESCAPE)
		top->editing = false;
	else if ((key == KEY_ERASE || key == '\b') && len)
		top->edit[len - 1] = '\0';
	else if (key == 'U' - '@')
		top->edit[0] = '\0';
	else if (key < 128 && isprint(key) && len + 1 < sizeof(top->edit)) {
		top->edit[len] = (char)key;
		top->edit[len + 1] = '\0';
	}
	return ACT_LOOKS;
}

/* The table of a digit, or of the first letter of its name that is no other
 * key; -1: none. */
static int table_of(const struct browse *top, int key)
{
	const char *const *name = top->tables->names;

	for (int i = 0; name[i]; i++)
		if (key == '1' + i ||
		    (key && key == name[i][strspn(name[i], "qsr")]))
			return i;
	return -1;
}

/* Whether it is a key that scrolls. */
static bool scroll(struct browse *top, int key)
{
	unsigned all = top->shown.n, at = top->first;
	unsigned last = all > top->page ? all - top->page : 0;
	unsigned page = top->page ? top->page : 1;
	unsigned fixed = top->tables->table[top->table].fixed;

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
		top->left += fixed + top->left + 1 < top->schema->n;
	else if (key == KEY_LEFT)
		top->left -= top->left > 0;
	else
		return false;
	top->first = at < last ? at : last;
	return true;
}

/* By the column so many to the right. */
static enum act sort_by(struct browse *top, unsigned step)
{
	top->sort = (top->sort + step) % top->schema->n;
	top->first = 0;
	return ACT_ROWS;
}

static enum act press_letter(struct browse *top, int key)
{
	int table = table_of(top, key);

	if (table >= 0) {
		set_table(top, (unsigned)table, NULL);
		return ACT_ROWS;
	}
	switch (key) {
	case 'q':
		return ACT_QUIT;
	case '>':
	case 's':
		return sort_by(top, 1);
	case '<':
		return sort_by(top, top->schema->n - 1);
	case 'r':
		top->ascending = !top->ascending;
		return sort_by(top, 0);
	case '/':
		top->editing = true;
		memcpy(top->edit, top->filter, sizeof(top->edit));
		return ACT_LOOKS;
	case ' ':
		top->paused = !top->paused;
		return ACT_LOOKS;
	case '?':
		top->help = true;
		return ACT_LOOKS;
	default:
		return ACT_NOTHING;
	}
}

static enum act press_key(struct browse *top, int key)
{
	if (key == KEY_END_OF_INPUT)
		return ACT_QUIT;
	if (top->editing)
		return edit_filter(top, key);
	if (top->help && key != 'q') {
		top->help = false;
		return ACT_LOOKS;
	}
	return scroll(top, key) ? ACT_LOOKS : press_letter(top, key);
}

/* False: the end. */
static bool read_keys(struct browse *top, int wait_ms)
{
	int key;

	for (; (key = tty_key(wait_ms)) != KEY_NONE; wait_ms = 0) {
		enum act act = press_key(top, key);

		if (act == ACT_QUIT)
			return false;
		if (act == ACT_ROWS) {
			round_begin(top);
			continue_round(top, AT_ONCE);
		}
		if (act != ACT_NOTHING)
			draw_screen(top);
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
		if (!top->paused) {
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
	struct rows *r = cli_rows(top->format, top->schema);
	struct error err;
	int rc = 0;

	if (!r)
		no_memory();
	round_begin(top);
	continue_round(top, UINT32_MAX);
	for (uint32_t i = 0; i < top->shown.n && !rc; i++) {
		top->tables->row(top->ctx, top->table, top->shown.one[i].at,
				 BROWSE_ALL, &r->b);
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
	free(top->gathering.one);
	free(top->shown.one);
	row_batch_fini(&top->one);
	row_batch_fini(&top->rows);
	free(top->cell.text);
	free(top->text.text);
	free(top);
}
