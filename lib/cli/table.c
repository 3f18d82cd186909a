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
};

static const char red[] = "\033[31m", plain[] = "\033[m";

struct table {
	struct row_sink sink;
	const struct schema *s;
	unsigned room; /* columns of the terminal */
	bool colour, headed;
	bool live;	 /* rows come one by one */
	unsigned *whole; /* of each column: what would hold all that came */
	unsigned *width; /* what it has; 0: it is not there, */
	bool *spared;	 /* for want of room, or it is said once */
	char **said;	 /* what was said then */
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

static char *cell_text(struct table *t, const struct row_batch *b,
		       unsigned field, const struct row_cell *c)
{
	size_t len;

	people_cell(&t->o, b, &t->s->fields[field], c, t->live);
	return outbuf_take(&t->o, &len);
}

static bool is_right(const struct row_field *f)
{
	return f->type == ROW_U64 || f->type == ROW_I64 || f->type == ROW_F64;
}

static unsigned total(const struct table *t)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < t->s->n; i++)
		sum += t->width[i] ? t->width[i] + GAP : 0;
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

/* Cuts columns until all have room: the first, which tells rows apart, in its
 * middle, then the widest others, then the first again. */
static void cut(struct table *t)
{
	while (total(t) > t->room) {
		unsigned widest = 0;

		for (unsigned i = 1; i < t->s->n && t->width[0] <= FIRST; i++)
			if (t->width[i] > LEAST &&
			    (!widest || t->width[i] > t->width[widest]))
				widest = i;
		if (t->width[widest] <= LEAST)
			return;
		t->width[widest]--;
	}
}

static unsigned most(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

/* What a column begins with. */
static unsigned least_width(const struct table *t, unsigned field)
{
	const struct row_field *f = &t->s->fields[field];
	unsigned name = people_width(f->name);

	return t->live && f->type != ROW_TIME ? most(f->width, name) : name;
}

static unsigned widest_cell(const struct table *t, unsigned rows,
			    unsigned field)
{
	unsigned w = 0;

	for (unsigned r = 0; r < rows; r++)
		w = most(w, people_width(t->cell[r * t->s->n + field]));
	return w;
}

static void measure(struct table *t, unsigned rows)
{
	for (unsigned i = 0; i < t->s->n; i++) {
		unsigned w = most(least_width(t, i), widest_cell(t, rows, i));

		t->whole[i] = t->live ? most(t->whole[i], w) : w;
		t->width[i] = t->whole[i];
	}
	for (unsigned i = t->s->n; i-- > 1 && total(t) > t->room;)
		if (!t->live && is_same(t, rows, i)) {
			t->width[i] = 0;
			t->said[i] = strdup(t->cell[i]);
		}
	for (unsigned i = t->s->n; i-- > 1 && total(t) > t->room;)
		if (t->width[i] && t->s->fields[i].spare) {
			t->width[i] = 0;
			t->spared[i] = true;
		}
	cut(t);
}

static unsigned last_of(const struct table *t)
{
	unsigned last = t->s->n - 1;

	while (last && !t->width[last])
		last--;
	return last;
}

/* The columns that are said once; or those that there is no room for. */
static void put_others(const struct table *t, bool spared, const char *lead)
{
	bool any = false;

	for (unsigned i = 0; i < t->s->n; i++) {
		if (t->width[i] || t->spared[i] != spared)
			continue;
		printf("%s%s%s%s%s", any ? "" : lead, any ? ", " : ": ",
		       t->s->fields[i].name, t->said[i] ? " " : "",
		       t->said[i] ? t->said[i] : "");
		any = true;
	}
	if (any)
		putchar('\n');
}

static void put_head(struct table *t)
{
	char name[128];

	put_others(t, false, "all rows");
	put_others(t, true, "no room for");
	for (unsigned i = 0; i <= last_of(t); i++) {
		size_t n = 0;

		if (!t->width[i])
			continue;
		for (const char *p = t->s->fields[i].name;
		     *p && n < sizeof(name) - 1; p++)
			name[n++] = (char)toupper((unsigned char)*p);
		name[n] = '\0';
		printf("%*s", i ? GAP : 0, "");
		people_put(stdout, name, t->width[i],
			   is_right(&t->s->fields[i]), i == last_of(t), false);
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

		if (!t->width[i])
			continue;
		printf("%*s%s", i ? GAP : 0, "", wrong ? red : "");
		people_put(stdout, cell[i], t->width[i], is_right(f), i == last,
			   !i);
		fputs(wrong ? plain : "", stdout);
	}
	putchar('\n');
}

/* Whether what was said once is still so. */
static bool is_as_said(const struct table *t, unsigned rows)
{
	for (unsigned i = 0; i < t->s->n; i++)
		if (!t->width[i] && !t->spared[i] &&
		    (!is_same(t, rows, i) || !t->said[i] ||
		     strcmp(t->said[i], t->cell[i]) != 0))
			return false;
	return true;
}

/* Whether a column has to grow. */
static bool is_wider(const struct table *t, unsigned rows)
{
	for (unsigned i = 0; i < t->s->n; i++)
		if (t->width[i] && widest_cell(t, rows, i) > t->whole[i])
			return true;
	return false;
}

static int show(struct table *t, unsigned rows)
{
	if (!t->headed ||
	    (t->live ? is_wider(t, rows) : !is_as_said(t, rows))) {
		for (unsigned i = 0; i < t->s->n; i++) {
			free(t->said[i]);
			t->said[i] = NULL;
			t->spared[i] = false;
		}
		measure(t, rows);
		put_head(t);
	}
	for (unsigned r = 0; r < rows; r++)
		put_row(t, t->cell + (size_t)r * t->s->n);
	return fflush(stdout) || ferror(stdout) ? (errno ? -errno : -EIO) : 0;
}

static void forget_columns(struct table *t)
{
	for (unsigned i = 0; t->said && i < t->s->n; i++)
		free(t->said[i]);
	free(t->said);
	free(t->whole);
	free(t->width);
	free(t->spared);
	t->said = NULL;
	t->whole = t->width = NULL;
	t->spared = NULL;
}

/* Rows of another kind. */
static int turn_to(struct table *t, const struct schema *s)
{
	forget_columns(t);
	t->s = s;
	t->headed = false;
	t->whole = calloc(s->n, sizeof(*t->whole));
	t->width = calloc(s->n, sizeof(*t->width));
	t->spared = calloc(s->n, sizeof(*t->spared));
	t->said = calloc(s->n, sizeof(*t->said));
	if (t->whole && t->width && t->spared && t->said)
		return 0;
	forget_columns(t);
	t->s = NULL;
	return -ENOMEM;
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
	if (t->s)
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
