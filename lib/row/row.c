/* SPDX-License-Identifier: BSD-2-Clause */
#include "row/row.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "row/outbuf.h"

enum {
	ROW_NULL = 255, /* kind of a cell that was not set */
};

struct cell {
	uint8_t kind; /* enum row_type, or ROW_NULL */
	union {
		uint64_t u64;
		int64_t i64;
		double f64;
		const void *data;
	};
	size_t len; /* of data: bytes, or numbers of a list */
};

/* What of a field is the same in every row. */
struct column {
	char *lead; /* NDJSON: what stands before the value */
	size_t lead_len;
	size_t width; /* text */
	bool right;
};

struct rows {
	enum row_format fmt;
	const struct row_field *fields;
	unsigned n;
	bool header; /* still to be written */
	struct outbuf o;
	struct column *columns;
	struct cell cells[];
};

int row_format_of(const char *name)
{
	static const char *const names[] = {"text", "csv", "ndjson"};

	for (int i = 0; i < 3; i++)
		if (!strcmp(name, names[i]))
			return i;
	return -1;
}

static bool cell_is_null(const struct cell *c)
{
	return c->kind == ROW_NULL || (c->kind == ROW_F64 && !isfinite(c->f64));
}

/* What is written alike in every format. */
static void put_number(struct rows *r, const struct cell *c)
{
	switch (c->kind) {
	case ROW_U64:
		outbuf_u64(&r->o, c->u64);
		break;
	case ROW_I64:
		outbuf_i64(&r->o, c->i64);
		break;
	case ROW_F64:
		outbuf_f64(&r->o, c->f64);
		break;
	case ROW_BOOL:
		outbuf_word(&r->o, c->u64 ? "true" : "false");
		break;
	}
}

static void put_items(struct rows *r, const struct cell *c)
{
	if (c->kind == ROW_BYTES)
		outbuf_hex(&r->o, c->data, c->len);
	else
		outbuf_list(&r->o, c->data, c->len);
}

static void json_cell(struct rows *r, unsigned i)
{
	const struct cell *c = &r->cells[i];

	outbuf_bytes(&r->o, r->columns[i].lead, r->columns[i].lead_len);
	if (cell_is_null(c)) {
		outbuf_word(&r->o, "null");
	} else if (c->kind == ROW_STR || c->kind == ROW_BYTES) {
		outbuf_char(&r->o, '"');
		if (c->kind == ROW_STR)
			outbuf_json(&r->o, c->data);
		else
			put_items(r, c);
		outbuf_char(&r->o, '"');
	} else if (c->kind == ROW_LIST) {
		outbuf_char(&r->o, '[');
		put_items(r, c);
		outbuf_char(&r->o, ']');
	} else {
		put_number(r, c);
	}
}

static void csv_cell(struct rows *r, unsigned i)
{
	const struct cell *c = &r->cells[i];
	bool quote;

	if (i)
		outbuf_char(&r->o, ',');
	if (cell_is_null(c))
		return;
	if (c->kind == ROW_STR) {
		outbuf_csv(&r->o, c->data);
	} else if (c->kind == ROW_BYTES || c->kind == ROW_LIST) {
		quote = !c->len || (c->kind == ROW_LIST && c->len > 1);
		if (quote)
			outbuf_char(&r->o, '"');
		put_items(r, c);
		if (quote)
			outbuf_char(&r->o, '"');
	} else {
		put_number(r, c);
	}
}

/*
 * Pads what was written from start on to its column's width, in characters. A
 * field that did not fit the buffer is wider than any column.
 */
static void pad(struct rows *r, unsigned i, size_t start)
{
	const struct column *c = &r->columns[i];
	size_t chars = r->o.len - start - r->o.hidden, blanks;
	char *at = r->o.buf + start;

	if (chars >= c->width || r->o.len + c->width - chars > OUTBUF_SIZE)
		return;
	blanks = c->width - chars;
	if (c->right)
		memmove(at + blanks, at, r->o.len - start);
	else if (i + 1 < r->n)
		at = r->o.buf + r->o.len;
	else
		return;
	memset(at, ' ', blanks);
	r->o.len += blanks;
}

static void text_value(struct rows *r, unsigned i)
{
	const struct cell *c = &r->cells[i];

	if (cell_is_null(c))
		outbuf_char(&r->o, '-');
	else if (c->kind == ROW_STR)
		outbuf_plain(&r->o, c->data, i + 1 == r->n);
	else if (c->kind != ROW_BYTES && c->kind != ROW_LIST)
		put_number(r, c);
	else if (c->len)
		put_items(r, c);
	else
		outbuf_word(&r->o, "\"\"");
}

static void text_cell(struct rows *r, unsigned i)
{
	unsigned spills;
	size_t start;

	if (i)
		outbuf_bytes(&r->o, "  ", 2);
	outbuf_room(&r->o, OUTBUF_SIZE / 2);
	start = r->o.len;
	r->o.hidden = 0;
	spills = r->o.spills;
	text_value(r, i);
	if (r->o.spills == spills)
		pad(r, i, start);
}

static void text_header(struct rows *r)
{
	for (unsigned i = 0; i < r->n; i++) {
		size_t start;

		if (i)
			outbuf_bytes(&r->o, "  ", 2);
		outbuf_room(&r->o, OUTBUF_SIZE / 2);
		start = r->o.len;
		r->o.hidden = 0;
		for (const char *s = r->fields[i].name; *s; s++)
			outbuf_char(&r->o, (char)toupper((unsigned char)*s));
		pad(r, i, start);
	}
	outbuf_char(&r->o, '\n');
}

static void csv_header(struct rows *r)
{
	for (unsigned i = 0; i < r->n; i++) {
		if (i)
			outbuf_char(&r->o, ',');
		outbuf_csv(&r->o, r->fields[i].name);
	}
	outbuf_char(&r->o, '\n');
}

static void header(struct rows *r)
{
	if (r->header && r->fmt == ROW_TEXT)
		text_header(r);
	else if (r->header && r->fmt == ROW_CSV)
		csv_header(r);
	r->header = false;
}

static void release(struct rows *r)
{
	for (unsigned i = 0; i < r->n && r->columns; i++)
		free(r->columns[i].lead);
	free(r->columns);
	free(r);
}

static void clear(struct rows *r)
{
	for (unsigned i = 0; i < r->n; i++)
		r->cells[i].kind = ROW_NULL;
}

static bool column_init(struct column *c, const struct row_field *f, bool first)
{
	size_t name = strlen(f->name);

	c->width = name > f->width ? name : f->width;
	c->right = f->type == ROW_U64 || f->type == ROW_I64 ||
		   f->type == ROW_F64;
	c->lead_len = name + 4; /* {"name": or ,"name": */
	c->lead = malloc(c->lead_len + 1);
	if (c->lead)
		snprintf(c->lead, c->lead_len + 1, "%c\"%s\":",
			 first ? '{' : ',', f->name);
	return c->lead;
}

struct rows *rows_open(FILE *out, enum row_format fmt,
		       const struct row_field *fields, unsigned n, bool head)
{
	struct rows *r = malloc(sizeof(*r) + n * sizeof(r->cells[0]));
	bool ok;

	if (!r)
		return NULL;
	r->o.out = out;
	r->fmt = fmt;
	r->fields = fields;
	r->n = n;
	r->header = head;
	r->o.err = 0;
	r->o.len = 0;
	r->o.spills = 0;
	r->o.hidden = 0;
	r->columns = calloc(n, sizeof(r->columns[0]));
	ok = r->columns;
	for (unsigned i = 0; i < n && ok; i++)
		ok = column_init(&r->columns[i], &fields[i], i == 0);
	clear(r);
	if (ok)
		return r;
	release(r);
	return NULL;
}

void row_str(struct rows *r, unsigned field, const char *v)
{
	r->cells[field].kind = v ? ROW_STR : ROW_NULL;
	r->cells[field].data = v;
}

void row_u64(struct rows *r, unsigned field, uint64_t v)
{
	r->cells[field].kind = ROW_U64;
	r->cells[field].u64 = v;
}

void row_i64(struct rows *r, unsigned field, int64_t v)
{
	r->cells[field].kind = ROW_I64;
	r->cells[field].i64 = v;
}

void row_f64(struct rows *r, unsigned field, double v)
{
	r->cells[field].kind = ROW_F64;
	r->cells[field].f64 = v;
}

void row_bool(struct rows *r, unsigned field, bool v)
{
	r->cells[field].kind = ROW_BOOL;
	r->cells[field].u64 = v;
}

void row_bytes(struct rows *r, unsigned field, const void *data, size_t len)
{
	r->cells[field].kind = ROW_BYTES;
	r->cells[field].data = data;
	r->cells[field].len = len;
}

void row_list(struct rows *r, unsigned field, const uint32_t *v, size_t n)
{
	r->cells[field].kind = ROW_LIST;
	r->cells[field].data = v;
	r->cells[field].len = n;
}

int row_end(struct rows *r)
{
	header(r);
	for (unsigned i = 0; i < r->n; i++) {
		if (r->fmt == ROW_NDJSON)
			json_cell(r, i);
		else if (r->fmt == ROW_CSV)
			csv_cell(r, i);
		else
			text_cell(r, i);
	}
	if (r->fmt == ROW_NDJSON)
		outbuf_char(&r->o, '}');
	outbuf_char(&r->o, '\n');
	outbuf_spill(&r->o);
	clear(r);
	return r->o.err;
}

void rows_close(struct rows *r)
{
	if (!r)
		return;
	header(r);
	outbuf_spill(&r->o);
	release(r);
}
