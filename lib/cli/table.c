/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/tty.h"
#include "row/outbuf.h"
#include "row/people.h"

enum {
	SCREENFUL = 128, /* rows whose columns are measured together */
	GAP = 2,	 /* blanks between columns */
	LEAST = 8,	 /* columns are not cut shorter, */
	FIRST = 36,	 /* nor the first while others can be */
	SAY_MAX = 96,	 /* of a value that is said once */
	NAME_MAX_LEN = 128,
};

static const char red[] = "\033[31m", plain[] = "\033[m";

struct column {
	unsigned whole; /* what would hold all that came */
	unsigned width; /* what it has; 0: it is not there, */
	bool spared;	/* for want of room, or it is said once: */
	char *said;	/* what was said then */
};

struct table {
	struct row_sink sink;
	const struct schema *s;
	unsigned room; /* columns of the terminal */
	bool colour, headed;
	bool live;     /* rows come one by one */
	bool join;     /* fields that are ROW_JOINED are */
	bool dated;    /* the date is another one, and not yet said */
	char date[16]; /* of the row's time, if it is not today's */
	struct column *column;
	char **cell;	 /* the texts of a batch */
	struct outbuf o; /* for cells */
};

/* A program that fails shows what it had so far. */
static struct rows *showing;

static void show_rest(void)
{
	if (showing)
		rows_flush(showing);
}

/* The date is said when it changes, not in every row. */
static void take_date(struct table *t, char *text)
{
	char *time = strchr(text, ' ');
	size_t len = time ? (size_t)(time - text) : 0;

	if (!time || len >= sizeof(t->date))
		return;
	*time = '\0';
	t->dated = t->dated || strcmp(t->date, text) != 0;
	memcpy(t->date, text, len + 1);
	memmove(text, time + 1, strlen(time + 1) + 1);
}

static char *cell_text(struct table *t, const struct row_batch *b,
		       unsigned field, const struct row_cell *c)
{
	char *text;
	size_t len;

	people_cell(&t->o, b, &t->s->fields[field], c, t->live);
	text = outbuf_take(&t->o, &len);
	if (text && t->live && t->s->fields[field].role == ROW_WHEN)
		take_date(t, text);
	return text;
}

/* Whether a field stands in another one's column. */
static bool is_joined(const struct table *t, unsigned field)
{
	return t->join && t->s->fields[field].spare == ROW_JOINED;
}

static bool is_number(const struct row_field *f)
{
	return f->type == ROW_U64 || f->type == ROW_I64 || f->type == ROW_F64;
}

/* Whether others are joined to this field. */
static bool is_joint(const struct table *t, unsigned field)
{
	const struct row_field *f = &t->s->fields[field];

	while (t->join && !f->spare && ++field < t->s->n &&
	       t->s->fields[field].spare)
		if (t->s->fields[field].spare == ROW_JOINED)
			return true;
	return false;
}

static bool is_right(const struct table *t, unsigned field)
{
	return is_number(&t->s->fields[field]) && !is_joint(t, field);
}

/* The cells of a row that are joined to others. */
static bool join_cells(const struct table *t, char **cell)
{
	unsigned to = 0;

	for (unsigned i = 0; i < t->s->n; i++) {
		const struct row_field *f = &t->s->fields[i];
		bool alone = !strcmp(cell[to], "-");
		char *text;

		to = f->spare ? to : i;
		if (f->spare != ROW_JOINED || !strcmp(cell[i], "-"))
			continue;
		if (asprintf(&text, "%s%s%s%s%s", alone ? "" : cell[to],
			     alone ? "" : " ", is_number(f) ? f->name : "",
			     is_number(f) ? " " : "", cell[i]) < 0)
			return false;
		free(cell[to]);
		cell[to] = text;
	}
	return true;
}

static unsigned total(const struct table *t)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < t->s->n; i++)
		sum += t->column[i].width ? t->column[i].width + GAP : 0;
	return sum ? sum - GAP : 0;
}

/* Whether all rows of the batch have one text in a column. */
static bool is_same(const struct table *t, unsigned rows, unsigned field)
{
	for (unsigned r = 1; r < rows; r++)
		if (strcmp(t->cell[r * t->s->n + field], t->cell[field]) != 0)
			return false;
	return rows > 0 && people_width(t->cell[field]) <= SAY_MAX;
}

/* Which columns give way first. Of rows that come one by one numbers and lists
 * do, then texts, which say whose a row is, then the words that are tags. */
static unsigned rank(const struct table *t, unsigned field)
{
	const struct row_field *f = &t->s->fields[field];

	if (!t->live)
		return 0;
	if (f->role == ROW_TAG)
		return is_joint(t, field) ? 1 : 2;
	return f->type == ROW_STR;
}

static unsigned most(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

/* Cuts columns until all have room: the first, which tells rows apart, in its
 * middle, then the widest others, then the first again. */
static void cut(struct table *t)
{
	unsigned ranks = 0;

	while (total(t) > t->room) {
		unsigned widest = 0;

		for (unsigned i = 1; i < t->s->n && t->column[0].width <= FIRST;
		     i++)
			if (t->column[i].width > LEAST && rank(t, i) <= ranks &&
			    (!widest ||
			     t->column[i].width > t->column[widest].width))
				widest = i;
		if (!widest && ranks < 2) {
			ranks++;
			continue;
		}
		if (t->column[widest].width <= LEAST)
			return;
		t->column[widest].width--;
	}
}

/* The name of a column, and of texts and lists that are joined to it. */
static void put_name(const struct table *t, unsigned field, char *to,
		     size_t room)
{
	const struct row_field *f = &t->s->fields[field];
	size_t n = (size_t)snprintf(to, room, "%s", f->name);

	for (unsigned i = field + 1;
	     is_joint(t, field) && i < t->s->n && t->s->fields[i].spare; i++) {
		f = &t->s->fields[i];
		if (f->spare == ROW_JOINED && !is_number(f) && n < room)
			n += (size_t)snprintf(to + n, room - n, " %s", f->name);
	}
	for (; *to; to++)
		*to = (char)toupper((unsigned char)*to);
}

/* What a column begins with: one of words no more than they need, where room is
 * scarce. */
static unsigned least_width(const struct table *t, unsigned field)
{
	const struct row_field *f = &t->s->fields[field];
	char name[NAME_MAX_LEN];
	unsigned width;

	put_name(t, field, name, sizeof(name));
	width = people_width(name);
	if (!t->live || f->type == ROW_TIME ||
	    (t->join && rank(t, field) == 2 && f->type == ROW_STR))
		return width;
	width = most(width, f->width);
	for (unsigned i = field + 1;
	     is_joint(t, field) && i < t->s->n && t->s->fields[i].spare; i++)
		if (t->s->fields[i].spare == ROW_JOINED)
			width = most(width, t->s->fields[i].width);
	return width;
}

static unsigned widest_cell(const struct table *t, unsigned rows,
			    unsigned field)
{
	unsigned w = 0;

	for (unsigned r = 0; r < rows; r++)
		w = most(w, people_width(t->cell[r * t->s->n + field]));
	return w;
}

/* What each column would have if there were room for all. */
static void widen(struct table *t, unsigned rows)
{
	for (unsigned i = 0; i < t->s->n; i++) {
		unsigned w = most(least_width(t, i), widest_cell(t, rows, i));

		t->column[i].whole = t->live ? most(t->column[i].whole, w) : w;
		t->column[i].width = is_joined(t, i) ? 0 : t->column[i].whole;
	}
}

/* False: no memory. */
static bool measure(struct table *t, unsigned rows)
{
	widen(t, rows);
	if (!t->join && total(t) > t->room) {
		t->join = true;
		for (unsigned r = 0; r < rows; r++)
			if (!join_cells(t, t->cell + (size_t)r * t->s->n))
				return false;
		for (unsigned i = 0; i < t->s->n; i++)
			t->column[i].whole = 0;
		widen(t, rows);
	}
	for (unsigned i = t->s->n; i-- > 1 && total(t) > t->room;)
		if (!t->live && is_same(t, rows, i)) {
			t->column[i].width = 0;
			t->column[i].said = strdup(t->cell[i]);
		}
	for (unsigned i = t->s->n; i-- > 1 && total(t) > t->room;)
		if (t->column[i].width && t->s->fields[i].spare) {
			t->column[i].width = 0;
			t->column[i].spared = true;
		}
	cut(t);
	return true;
}

static unsigned last_of(const struct table *t)
{
	unsigned last = t->s->n - 1;

	while (last && !t->column[last].width)
		last--;
	return last;
}

/* The columns that are said once; or those that there is no room for. */
static void put_others(const struct table *t, bool spared, const char *lead)
{
	bool any = false;

	for (unsigned i = 0; i < t->s->n; i++) {
		if (t->column[i].width || t->column[i].spared != spared ||
		    is_joined(t, i))
			continue;
		printf("%s%s%s%s%s", any ? "" : lead, any ? ", " : ": ",
		       t->s->fields[i].name, t->column[i].said ? " " : "",
		       t->column[i].said ? t->column[i].said : "");
		any = true;
	}
	if (any)
		putchar('\n');
}

static void put_head(struct table *t)
{
	char name[NAME_MAX_LEN];

	put_others(t, false, "all rows");
	put_others(t, true, "no room for");
	for (unsigned i = 0; i <= last_of(t); i++) {
		if (!t->column[i].width)
			continue;
		put_name(t, i, name, sizeof(name));
		printf("%*s", i ? GAP : 0, "");
		people_put(stdout, name, t->column[i].width, is_right(t, i),
			   i == last_of(t), false);
	}
	putchar('\n');
	t->headed = true;
}

static void put_row(const struct table *t, char *const *cell)
{
	unsigned last = last_of(t);

	for (unsigned i = 0; i <= last; i++) {
		const struct row_field *f = &t->s->fields[i];
		bool wrong = t->colour && f->good && strcmp(cell[i], "-") &&
			     strcmp(cell[i], f->good) != 0;

		if (!t->column[i].width)
			continue;
		printf("%*s%s", i ? GAP : 0, "", wrong ? red : "");
		people_put(stdout, cell[i], t->column[i].width, is_right(t, i),
			   i == last, !i || rank(t, i) == 1);
		fputs(wrong ? plain : "", stdout);
	}
	putchar('\n');
}

/* Whether what was said once is still so. */
static bool is_as_said(const struct table *t, unsigned rows)
{
	for (unsigned i = 0; i < t->s->n; i++)
		if (!t->column[i].width && !t->column[i].spared &&
		    !is_joined(t, i) &&
		    (!is_same(t, rows, i) || !t->column[i].said ||
		     strcmp(t->column[i].said, t->cell[i]) != 0))
			return false;
	return true;
}

/* Whether a column has to grow. */
static bool is_wider(const struct table *t, unsigned rows)
{
	for (unsigned i = 0; i < t->s->n; i++)
		if (t->column[i].width &&
		    widest_cell(t, rows, i) > t->column[i].whole)
			return true;
	return false;
}

static int show(struct table *t, unsigned rows)
{
	if (!t->headed ||
	    (t->live ? is_wider(t, rows) : !is_as_said(t, rows))) {
		for (unsigned i = 0; i < t->s->n; i++) {
			free(t->column[i].said);
			t->column[i].said = NULL;
			t->column[i].spared = false;
		}
		if (!measure(t, rows))
			return -ENOMEM;
		put_head(t);
	}
	if (t->dated)
		puts(t->date);
	t->dated = false;
	for (unsigned r = 0; r < rows; r++)
		put_row(t, t->cell + (size_t)r * t->s->n);
	return fflush(stdout) || ferror(stdout) ? (errno ? -errno : -EIO) : 0;
}

static void forget_columns(struct table *t)
{
	for (unsigned i = 0; t->column && i < t->s->n; i++)
		free(t->column[i].said);
	free(t->column);
	t->column = NULL;
}

/* Rows of another kind. */
static int turn_to(struct table *t, const struct schema *s)
{
	forget_columns(t);
	t->s = NULL;
	t->headed = t->join = false;
	if (!(t->column = calloc(s->n, sizeof(*t->column))))
		return -ENOMEM;
	t->s = s;
	return 0;
}

static int table_put(struct row_sink *sink, struct row_batch *b)
{
	struct table *t = (struct table *)sink;
	size_t cells = (size_t)b->rows * b->schema->n;
	int rc = -ENOMEM;

	if (t->s != b->schema && turn_to(t, b->schema) < 0)
		return -ENOMEM;
	if (!b->rows && t->headed)
		return 0;
	t->cell = calloc(cells + 1, sizeof(*t->cell));
	for (size_t i = 0; t->cell && i < cells; i++)
		if (!(t->cell[i] = cell_text(t, b, i % t->s->n, &b->cells[i])))
			goto out;
	for (unsigned r = 0; t->cell && t->join && r < b->rows; r++)
		if (!join_cells(t, t->cell + (size_t)r * t->s->n))
			goto out;
	if (t->cell)
		rc = show(t, b->rows);
out:
	for (size_t i = 0; t->cell && i < cells; i++)
		free(t->cell[i]);
	free(t->cell);
	t->cell = NULL;
	return rc;
}

static int table_flush(struct row_sink *sink)
{
	(void)sink;
	return fflush(stdout) ? -errno : 0;
}

static int table_close(struct row_sink *sink)
{
	struct table *t = (struct table *)sink;

	if (!t->live)
		showing = NULL;
	forget_columns(t);
	free(t);
	return 0;
}

static struct table *table_open(bool live)
{
	struct table *t = calloc(1, sizeof(*t));
	unsigned lines;

	if (!t)
		return NULL;
	t->sink = (struct row_sink){table_put, table_flush, table_close};
	t->live = live;
	t->colour = tty_colour(STDOUT_FILENO);
	tty_size(&t->room, &lines);
	return t;
}

struct row_sink *cli_stream(enum row_format fmt)
{
	struct table *t;

	if (fmt != ROW_TEXT || !isatty(STDOUT_FILENO))
		return stream_sink_mixed(stdout, fmt, true);
	t = table_open(true);
	return t ? &t->sink : NULL;
}

struct rows *cli_rows(enum row_format fmt, const struct schema *s)
{
	static bool hooked;
	struct table *t;
	struct rows *r;

	if (fmt != ROW_TEXT || !isatty(STDOUT_FILENO))
		return rows_print(stdout, fmt, s, true);
	if (!(t = table_open(false)))
		return NULL;
	r = rows_open(&t->sink, s, SCREENFUL);
	if (!r) {
		table_close(&t->sink);
		return NULL;
	}
	r->own = true;
	if (!hooked)
		atexit(show_rest);
	hooked = true;
	showing = r;
	return r;
}
