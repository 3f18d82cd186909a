/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/browse.h"

#include <ctype.h>
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
	HEAD = 3,	  /* lines before that of the columns' names */
	FRAME = HEAD + 2, /* lines that are no rows */
	CELL_MAX = 48,	  /* characters */
	ROWS_MAX = 1000,  /* rows to scroll through */
	/* Items that a round visits at a time: */
	ITEMS_FIRST = 1 << 13, /* when it begins */
	ITEMS_BUSY = 64,       /* between two batches */
	ITEMS_IDLE = 1 << 17,  /* while no packets come */
	KEYS_NS = 50000000,    /* between looks for keys */
	END_WAIT_MS = 100,     /* the same, when the input has ended */
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

/* --- top k: which rows are first ----------------------------------------- */

/*
 * The k items with the greatest keys, of items that are added in any order. Of
 * equal keys the lower item is first; items without a key come last. There is
 * room for 2 k: when it is full, the items are sorted, and the second half is
 * dropped.
 */
struct ranked {
	uint64_t key;
	uint32_t item;
	bool has_key;
};

struct top_k {
	struct ranked *ranked;
	uint32_t n, k;
	bool cut; /* sorted once: ranked[k - 1] is what others must beat */
};

/* Below 0: one comes before other. */
static int compare_rank(const void *one, const void *other)
{
	const struct ranked *a = one, *b = other;

	if (a->has_key != b->has_key)
		return a->has_key ? -1 : 1;
	if (a->has_key && a->key != b->key)
		return a->key > b->key ? -1 : 1;
	return a->item < b->item ? -1 : a->item > b->item;
}

/* Sorts, and keeps the first k. */
static void top_k_sort(struct top_k *t)
{
	qsort(t->ranked, t->n, sizeof(*t->ranked), compare_rank);
	t->cut = t->n >= t->k;
	if (t->cut)
		t->n = t->k;
}

static void top_k_add(struct top_k *t, struct ranked r)
{
	if (t->cut && compare_rank(&r, &t->ranked[t->k - 1]) > 0)
		return;
	t->ranked[t->n++] = r;
	if (t->n > 2 * (uint64_t)t->k)
		top_k_sort(t);
}

struct browse {
	const struct browse_tables *tables;
	void *ctx;
	const struct browse_options *o;
	enum row_format format;
	struct top_k next; /* of the round that is under way */
	struct top_k shown;
	uint32_t item, size; /* of the round: the next item, and their number */
	bool in_round;
	struct row_batch one; /* its row in hand is the item that is visited */
	/* What the user has chosen. */
	unsigned table, sort; /* indices of table and column */
	const struct schema *schema;
	bool ascending;
	char filter[FILTER_MAX];
	/* On a terminal. */
	bool on, ended, colour, paused, help, editing;
	unsigned first;		    /* the first row on the screen */
	unsigned page;		    /* rows that it has room for */
	unsigned left;		    /* columns that are scrolled out */
	uint8_t width[COLUMNS_MAX]; /* 0 before the first drawing */
	char edit[FILTER_MAX];	    /* the filter while it is edited */
	struct row_batch rows;	    /* on the screen */
	struct outbuf cell, text;
	unsigned room;		   /* characters left in the line */
	uint64_t keys_ns, draw_ns; /* when keys and drawing are due next */
	char head[2][BROWSE_LINE];
};

/* Changes to a table, sorted by a named column (NULL: by its own). */
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
		cli_fail("out of memory");
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
	struct browse *top = cli_allocated(calloc(1, sizeof(*top)));
	int rc;

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

static void begin_round(struct browse *top)
{
	uint32_t room = top->on ? ROWS_MAX : UINT32_MAX;

	top->item = 0;
	top->size = top->tables->size(top->ctx, top->table);
	top->in_round = true;
	room = room < top->size ? room : top->size;
	free(top->next.ranked);
	top->next = (struct top_k){
		.ranked = cli_allocated(
			malloc((2ULL * room + 1) * sizeof(struct ranked))),
		.k = room,
	};
	if (top->tables->begin && top->tables->begin(top->ctx) < 0)
		cli_fail("out of memory");
}

/* Reads an item's row into top->one: all columns or `only' one. */
static void read_item(struct browse *top, uint32_t i, unsigned only)
{
	row_batch_clear(&top->one);
	top->tables->row(top->ctx, top->table, i, only, &top->one);
}

/* Whether a cell of top->one matches the filter: a text contains it, a list has
 * its number, or a tag is its number. */
static bool cell_matches(const struct browse *top, unsigned column)
{
	const struct row_cell *c = &top->one.hand[column];
	const uint8_t *bytes = top->one.bytes + c->at;
	uint64_t number, element;

	if (c->kind == ROW_STR)
		return strstr((const char *)bytes, top->filter);
	if (!text_u64(&number, top->filter, UINT64_MAX))
		return false;
	for (unsigned i = 0; c->kind == ROW_LIST && i < c->len; i++) {
		memcpy(&element, bytes + i * sizeof(element), sizeof(element));
		if (element == number)
			return true;
	}
	return c->kind == ROW_U64 && c->u64 == number &&
	       top->schema->fields[column].role == ROW_TAG;
}

static bool passes_filter(struct browse *top, uint32_t i)
{
	if (!top->filter[0])
		return true;
	read_item(top, i, BROWSE_ALL);
	for (unsigned c = 0; c < top->schema->n; c++)
		if (cell_matches(top, c))
			return true;
	return false;
}

/* The first 8 bytes, as a number. */
static uint64_t key_of_bytes(const uint8_t *p, uint32_t len)
{
	uint64_t key = 0;

	for (unsigned i = 0; i < 8; i++)
		key = key << 8 | (i < len ? p[i] : 0);
	return key;
}

/* The first number of a list; if below 2^32, followed by the second. */
static uint64_t key_of_list(const void *list, uint32_t len)
{
	uint64_t two[2] = {0};

	memcpy(two, list, (len < 2 ? len : 2) * sizeof(two[0]));
	if (two[0] > UINT32_MAX)
		return two[0];
	return two[0] << 32 | (two[1] < UINT32_MAX ? two[1] : UINT32_MAX);
}

/* The number that a cell is sorted by: negative numbers count as 0; texts,
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
	case ROW_F64: /* not negative, so its bits are in order */
		memcpy(&key, &c->f64, sizeof(key));
		return key;
	case ROW_I64:
		return c->i64 < 0 ? 0 : c->u64;
	default: /* times are not negative */
		return c->u64;
	}
}

static void visit_item(struct browse *top, uint32_t i)
{
	const struct row_cell *c;
	struct ranked r = {.item = i};

	if (!top->tables->has(top->ctx, top->table, i) ||
	    !passes_filter(top, i))
		return;
	read_item(top, i, top->sort);
	c = &top->one.hand[top->sort];
	r.has_key = c->kind != ROW_NULL;
	r.key = r.has_key ? key_of_cell(&top->one, c) : 0;
	if (top->ascending)
		r.key = ~r.key;
	top_k_add(&top->next, r);
}

/* Visits n more items. True: the round has ended, and its rows are shown. */
static bool continue_round(struct browse *top, uint32_t n)
{
	struct top_k old = top->shown;

	if (!top->in_round)
		return false;
	for (; n && top->item < top->size; n--)
		visit_item(top, top->item++);
	if (top->item < top->size)
		return false;
	top_k_sort(&top->next);
	top->shown = top->next;
	top->next = old;
	top->in_round = false;
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
	else /* put_printable() replaces control characters */
		encode_cell(&top->cell, &top->rows, c);
	text = outbuf_text(&top->cell, n);
	return text ? text : "";
}

/* Widens columns to their cells; they never shrink, so nothing jumps. */
static void widen_columns(struct browse *top)
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

/* Dots stand for all but printable ASCII, so no control sequence passes. */
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

/* Puts a text into a column of that width. One that does not fit there or on
 * the screen ends in +: a number must not look like a smaller one. */
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

/* Puts the columns of a row; row -1: their names. Wrong values are red. */
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

/* Puts the filter and the last message that is held. */
static void put_note(struct browse *top)
{
	const char *held = cli_held_message();

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
		uint32_t at = top->shown.ranked[i].item;

		if (!t->has(top->ctx, top->table, at))
			continue; /* it has been removed since */
		t->row(top->ctx, top->table, at, BROWSE_ALL, &top->rows);
		if (row_batch_end(&top->rows) < 0)
			cli_fail("out of memory");
	}
	widen_columns(top);
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

/* What is to be done after a key. */
enum action {
	ACTION_NONE,
	ACTION_DRAW,
	ACTION_SORT, /* a new round, and draw */
	ACTION_QUIT,
};

static enum action edit_filter(struct browse *top, int key)
{
	size_t len = strlen(top->edit);

	if (key == '\r' || key == '\n') {
		top->editing = false;
		memcpy(top->filter, top->edit, sizeof(top->filter));
		return ACTION_SORT;
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
	return ACTION_DRAW;
}

/* The table for a key: a digit, or a name's first letter but q, r, s; or -1. */
static int find_table(const struct browse *top, int key)
{
	const char *const *name = top->tables->names;

	for (int i = 0; name[i]; i++)
		if (key == '1' + i ||
		    (key && key == name[i][strspn(name[i], "qsr")]))
			return i;
	return -1;
}

/* Scrolls; false: the key does not do that. */
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

/* Sorts by the column so many to the right. */
static enum action move_sort(struct browse *top, unsigned step)
{
	top->sort = (top->sort + step) % top->schema->n;
	top->first = 0;
	return ACTION_SORT;
}

static enum action press_letter(struct browse *top, int key)
{
	int table = find_table(top, key);

	if (table >= 0) {
		set_table(top, (unsigned)table, NULL);
		return ACTION_SORT;
	}
	switch (key) {
	case 'q':
		return ACTION_QUIT;
	case '>':
	case 's':
		return move_sort(top, 1);
	case '<':
		return move_sort(top, top->schema->n - 1);
	case 'r':
		top->ascending = !top->ascending;
		return move_sort(top, 0);
	case '/':
		top->editing = true;
		memcpy(top->edit, top->filter, sizeof(top->edit));
		return ACTION_DRAW;
	case ' ':
		top->paused = !top->paused;
		return ACTION_DRAW;
	case '?':
		top->help = true;
		return ACTION_DRAW;
	default:
		return ACTION_NONE;
	}
}

static enum action press_key(struct browse *top, int key)
{
	if (key == KEY_END_OF_INPUT)
		return ACTION_QUIT;
	if (top->editing)
		return edit_filter(top, key);
	if (top->help && key != 'q') {
		top->help = false;
		return ACTION_DRAW;
	}
	return scroll(top, key) ? ACTION_DRAW : press_letter(top, key);
}

/* Handles keys that come within wait_ms. False: the user quits. */
static bool read_keys(struct browse *top, int wait_ms)
{
	int key;

	for (; (key = tty_key(wait_ms)) != KEY_NONE; wait_ms = 0) {
		enum action action = press_key(top, key);

		if (action == ACTION_QUIT)
			return false;
		if (action == ACTION_SORT) {
			begin_round(top);
			continue_round(top, ITEMS_FIRST);
		}
		if (action != ACTION_NONE)
			draw_screen(top);
	}
	return true;
}

bool browse_update(struct browse *top, bool idle)
{
	uint64_t now;

	if (!top->on)
		return true;
	now = clock_coarse_ns();
	if (now >= top->draw_ns && !top->in_round) {
		top->draw_ns = now + top->o->every_ns;
		if (!top->paused) {
			begin_round(top);
			if (continue_round(top, ITEMS_FIRST))
				draw_screen(top);
		}
	} else if (continue_round(top, idle ? ITEMS_IDLE : ITEMS_BUSY)) {
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

	begin_round(top);
	continue_round(top, UINT32_MAX);
	for (uint32_t i = 0; i < top->shown.n && !rc; i++) {
		top->tables->row(top->ctx, top->table,
				 top->shown.ranked[i].item, BROWSE_ALL, &r->b);
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
		if (!browse_update(top, true) || !read_keys(top, END_WAIT_MS))
			break;
	}
	look(top->ctx); /* a signal may have come before the last key */
	return 0;
}

void browse_close(struct browse *top)
{
	if (!top)
		return;
	if (top->on)
		tty_close();
	cli_print_held();
	free(top->next.ranked);
	free(top->shown.ranked);
	row_batch_fini(&top->one);
	row_batch_fini(&top->rows);
	free(top->cell.text);
	free(top->text.text);
	free(top);
}
