/* SPDX-License-Identifier: BSD-2-Clause */
/* table.c - a cell as people read it; then columns, and rows in them. */
#include "cli/table.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/private.h"
#include "cli/tty.h"
#include "row/outbuf.h"

enum {
	SCREENFUL = 128, /* rows whose columns are measured together */
	GAP = 2,	 /* blanks between columns */
	TEXT_MIN = 16,	 /* texts are cut to no fewer characters */
	FIRST_MAX = 36,	 /* a longer first column is cut before others */
};

static const char red[] = "\033[31m", plain[] = "\033[m";

/* --- a cell, a text in a column ------------------------------------------- */

static void put_byte_count(struct outbuf *o, uint64_t v)
{
	static const char *const unit[] = {"", "KiB", "MiB", "GiB", "TiB"};
	double x = (double)v;
	unsigned i = 0;
	char text[32];

	while (x >= 1024 && i < 4) {
		x /= 1024;
		i++;
	}
	snprintf(text, sizeof(text), x < 10 && i ? "%.1f%s" : "%.0f%s", x,
		 unit[i]);
	outbuf_word(o, text);
}

/* Puts a local time: no date if it is today, no microseconds if they are 0. */
static void put_time(struct outbuf *o, int64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000), now = time(NULL);
	long rest = (long)(ns % 1000000000);
	struct tm at, today;
	char text[64], fraction[16];

	localtime_r(&seconds, &at);
	localtime_r(&now, &today);
	strftime(text, sizeof(text),
		 at.tm_year == today.tm_year && at.tm_yday == today.tm_yday
			 ? "%H:%M:%S"
			 : "%Y-%m-%d %H:%M:%S",
		 &at);
	outbuf_word(o, text);
	snprintf(fraction, sizeof(fraction), ".%06ld", rest / 1000);
	if (rest)
		outbuf_word(o, fraction);
}

void table_cell(struct outbuf *o, const struct row_batch *b,
		const struct row_field *f, const struct row_cell *c)
{
	char text[32];

	if (c->kind == ROW_F64)
		snprintf(text, sizeof(text), "%.4g", c->f64);
	if (encode_is_null(c))
		outbuf_char(o, '-');
	else if (c->kind == ROW_BOOL)
		outbuf_word(o, c->u64 ? "*" : "");
	else if (c->kind == ROW_TIME)
		put_time(o, c->i64);
	else if (c->kind == ROW_U64 && f->unit && !strcmp(f->unit, "bytes"))
		put_byte_count(o, c->u64);
	else if (c->kind == ROW_F64)
		outbuf_word(o, text);
	else if (c->kind == ROW_STR)
		outbuf_plain(o, (const char *)b->bytes + c->at, c->len, true);
	else if (c->kind == ROW_LIST)
		outbuf_list(o, (const void *)(b->bytes + c->at), c->len);
	else
		encode_cell(o, b, c);
}

/* Characters of a UTF-8 text: all bytes but continuation bytes. */
static unsigned width_of(const char *text)
{
	unsigned n = 0;

	for (; *text; text++)
		n += (*text & 0xc0) != 0x80;
	return n;
}

/* Prints the first n characters of a text. Returns what follows them. */
static const char *put_chars(const char *text, unsigned n)
{
	while (n || (*text & 0xc0) == 0x80) {
		n -= (*text & 0xc0) != 0x80;
		putchar(*text++);
	}
	return text;
}

/* Prints a text in a column of width characters; the last column has no blanks
 * at its end. A text that is too long gets "..." there or in its middle. */
static void put_text(const char *text, unsigned width, bool right, bool last,
		     bool middle)
{
	unsigned n = width_of(text), tail = middle ? (width - 3) / 2 : 0;

	if (n <= width) {
		printf("%*s%s%*s", right ? (int)(width - n) : 0, "", text,
		       right || last ? 0 : (int)(width - n), "");
		return;
	}
	text = put_chars(text, width - 3 - tail);
	fputs("...", stdout);
	for (n -= width - 3; n || (*text & 0xc0) == 0x80; text++)
		n -= (*text & 0xc0) != 0x80;
	put_chars(text, tail);
}

/* --- columns -------------------------------------------------------------- */

struct column {
	unsigned whole; /* characters of the longest cell so far */
	unsigned width; /* characters that it has; 0: it is not shown */
};

struct text_table {
	struct row_sink sink;
	const struct schema *s;
	unsigned room; /* characters in a line of the terminal */
	bool colour, header_printed;
	bool live; /* rows come one by one */
	struct column *column;
	char **cell;	 /* the texts of a batch */
	struct outbuf o; /* for cells */
	struct row_styled *styled;
};

/* The rows of cli_rows(); at exit, those that it still holds are printed. */
static struct rows *unprinted;

static void print_rest(void)
{
	if (unprinted)
		rows_flush(unprinted);
}

static unsigned total_width(const struct text_table *t)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < t->s->n; i++)
		sum += t->column[i].width ? t->column[i].width + GAP : 0;
	return sum ? sum - GAP : 0;
}

static unsigned larger(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

/* A column's name and unit, unless the unit is seen without: bytes have theirs
 * in each cell, rates in their names, and shares are from 0 to 1. */
static const char *column_title(char out[128], const struct row_field *f)
{
	bool is_known = !f->unit || !strcmp(f->unit, "bytes") ||
			!strcmp(f->unit, "ratio") || !strcmp(f->unit, "1/s");
	int n = snprintf(out, 64, "%s", f->name);

	for (char *c = out; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	if (!is_known)
		snprintf(out + n, 64, " %s", f->unit);
	return out;
}

/* The characters that a column needs for its name and the cells of rows. */
static unsigned width_needed(const struct text_table *t, unsigned rows,
			     unsigned field)
{
	char head[128];
	unsigned w = (unsigned)strlen(column_title(head, &t->s->fields[field]));

	if (t->live)
		w = larger(w, t->s->fields[field].width);
	for (unsigned r = 0; r < rows; r++)
		w = larger(w, width_of(t->cell[r * t->s->n + field]));
	return w;
}

/* Takes a character from the first column, if it is a text above FIRST_MAX;
 * else from the widest text. False: none can be shorter. */
static bool shorten_column(struct text_table *t)
{
	struct column *widest = NULL;

	for (unsigned i = 0; i < t->s->n; i++) {
		struct column *c = &t->column[i];

		if (t->s->fields[i].type == ROW_STR && c->width > TEXT_MIN &&
		    (!widest || c->width > widest->width))
			widest = c;
		if (!i && widest && c->width > FIRST_MAX)
			break;
	}
	if (widest)
		widest->width--;
	return widest;
}

/* Makes columns as wide as their cells. Where there is no room for all, columns
 * that are `spare' are left out, from the last one on; then texts are cut; then
 * other columns are left out, from the last one on. */
static void measure_columns(struct text_table *t, unsigned rows)
{
	for (unsigned i = 0; i < t->s->n; i++) {
		t->column[i].whole = larger(t->column[i].whole,
					    width_needed(t, rows, i));
		t->column[i].width = t->column[i].whole;
	}
	for (unsigned i = t->s->n; i-- > 1 && total_width(t) > t->room;)
		if (t->s->fields[i].spare)
			t->column[i].width = 0;
	while (total_width(t) > t->room && shorten_column(t))
		;
	for (unsigned i = t->s->n; i-- > 1 && total_width(t) > t->room;)
		t->column[i].width = 0;
}

/* The index of the last column that is shown. */
static unsigned last_column(const struct text_table *t)
{
	unsigned last = t->s->n - 1;

	while (last && !t->column[last].width)
		last--;
	return last;
}

static void put_column(const struct text_table *t, unsigned i, const char *text)
{
	const struct row_field *f = &t->s->fields[i];

	put_text(text, t->column[i].width, row_is_number(f),
		 i == last_column(t), f->type == ROW_STR);
}

static void put_head(struct text_table *t)
{
	const char *before = "no room for: ";
	char name[128];

	for (unsigned i = 0; i < t->s->n; i++) {
		if (t->column[i].width)
			continue;
		printf("%s%s", before, t->s->fields[i].name);
		before = ", ";
	}
	if (*before == ',')
		putchar('\n');
	for (unsigned i = 0; i <= last_column(t); i++) {
		if (!t->column[i].width)
			continue;
		printf("%*s", i ? GAP : 0, "");
		put_column(t, i, column_title(name, &t->s->fields[i]));
	}
	putchar('\n');
	t->header_printed = true;
}

static void put_row(const struct text_table *t, char *const *cell)
{
	for (unsigned i = 0; i <= last_column(t); i++) {
		const char *good = t->s->fields[i].good;
		bool wrong = t->colour && good && strcmp(cell[i], "-") &&
			     strcmp(cell[i], good) != 0;

		if (!t->column[i].width)
			continue;
		printf("%*s%s", i ? GAP : 0, "", wrong ? red : "");
		put_column(t, i, cell[i]);
		fputs(wrong ? plain : "", stdout);
	}
	putchar('\n');
}

/* Whether a column has to grow for these rows. */
static bool is_wider(const struct text_table *t, unsigned rows)
{
	for (unsigned i = 0; i < t->s->n; i++)
		if (t->column[i].width &&
		    width_needed(t, rows, i) > t->column[i].whole)
			return true;
	return false;
}

static int print_rows(struct text_table *t, unsigned rows)
{
	if (!t->header_printed || is_wider(t, rows)) {
		measure_columns(t, rows);
		put_head(t);
	}
	for (unsigned r = 0; r < rows; r++)
		put_row(t, t->cell + (size_t)r * t->s->n);
	return fflush(stdout) || ferror(stdout) ? (errno ? -errno : -EIO) : 0;
}

static int table_put(struct row_sink *sink, struct row_batch *b)
{
	struct text_table *t = (struct text_table *)sink;
	size_t cells;
	int rc = -ENOMEM;

	if (!(b = row_restyle(&t->styled, b)))
		return rc;
	cells = (size_t)b->rows * b->schema->n;
	if (t->s != b->schema) { /* rows of another kind */
		free(t->column);
		t->header_printed = false;
		t->column = calloc(b->schema->n, sizeof(*t->column));
		t->s = t->column ? b->schema : NULL;
		if (!t->s)
			return -ENOMEM;
	}
	if (!b->rows && t->header_printed)
		return 0;
	t->cell = calloc(cells + 1, sizeof(*t->cell));
	for (size_t i = 0; t->cell && i < cells; i++) {
		size_t len;

		table_cell(&t->o, b, &t->s->fields[i % t->s->n], &b->cells[i]);
		if (!(t->cell[i] = outbuf_take(&t->o, &len)))
			goto out;
	}
	if (t->cell)
		rc = print_rows(t, b->rows);
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
	struct text_table *t = (struct text_table *)sink;

	if (!t->live)
		unprinted = NULL;
	free(t->column);
	row_styled_free(t->styled);
	free(t);
	return 0;
}

static struct row_sink *table_open(bool live)
{
	struct text_table *t = calloc(1, sizeof(*t));
	unsigned lines;

	if (!t)
		return NULL;
	t->sink = (struct row_sink){table_put, table_flush, table_close};
	t->live = live;
	t->colour = tty_colour(STDOUT_FILENO);
	tty_size(&t->room, &lines);
	return &t->sink;
}

static bool shows_rows;

bool cli_shows_rows(void)
{
	return shows_rows;
}

struct row_sink *cli_stream(enum row_format fmt)
{
	struct row_sink *s = fmt != ROW_TEXT || !isatty(STDOUT_FILENO)
				     ? stream_sink_open(stdout, fmt, true, true)
				     : table_open(true);

	shows_rows = shows_rows || isatty(STDOUT_FILENO);
	return cli_allocated(s);
}

void cli_stream_end(struct row_sink *s, const struct schema *schemas,
		    unsigned kinds)
{
	if (__builtin_popcount(kinds) == 1) /* flush() tells of an error */
		s->put(s, &(struct row_batch){
				  .schema = &schemas[__builtin_ctz(kinds)]});
}

struct rows *cli_rows(enum row_format fmt, const struct schema *s)
{
	static bool hooked;
	struct rows *r;

	shows_rows = shows_rows || isatty(STDOUT_FILENO);
	if (fmt != ROW_TEXT || !isatty(STDOUT_FILENO)) {
		r = rows_print(stdout, fmt, s, true);
	} else {
		if (!hooked)
			atexit(print_rest);
		hooked = true;
		r = unprinted = rows_open_own(table_open(false), s, SCREENFUL);
	}
	return cli_allocated(r);
}

void cli_row_end(struct rows *r)
{
	int rc = row_end(r);

	if (rc < 0)
		cli_fail("%s: %s", cli_stdout, strerror(-rc));
}
