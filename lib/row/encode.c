/* SPDX-License-Identifier: BSD-2-Clause */
#include "row/encode.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "row/outbuf.h"

/* What of a field is the same in every row. */
struct column {
	char *lead; /* NDJSON: what stands before the value */
	size_t lead_len;
	size_t width; /* text */
	bool right;
};

struct encoder {
	enum row_format fmt;
	const struct schema *schema;
	struct column columns[];
};

int row_format_of(const char *name)
{
	static const char *const names[] = {"text", "csv", "ndjson"};

	for (int i = 0; i < 3; i++)
		if (!strcmp(name, names[i]))
			return i;
	return -1;
}

bool encode_is_null(const struct row_cell *c)
{
	return c->kind == ROW_NULL || (c->kind == ROW_F64 && !isfinite(c->f64));
}

static bool is_items(const struct row_cell *c)
{
	return c->kind == ROW_BYTES || c->kind == ROW_LIST;
}

/* What is written alike in every format. */
static void put_number(struct outbuf *o, const struct row_cell *c)
{
	switch (c->kind) {
	case ROW_U64:
		outbuf_u64(o, c->u64);
		break;
	case ROW_I64:
		outbuf_i64(o, c->i64);
		break;
	case ROW_F64:
		outbuf_f64(o, c->f64);
		break;
	case ROW_BOOL:
		outbuf_word(o, c->u64 ? "true" : "false");
		break;
	case ROW_TIME:
		outbuf_time(o, c->i64);
		break;
	}
}

static void put_items(struct outbuf *o, const struct row_cell *c,
		      const void *data)
{
	if (c->kind == ROW_BYTES)
		outbuf_hex(o, data, c->len);
	else
		outbuf_list(o, data, c->len);
}

void encode_cell(struct outbuf *o, const struct row_batch *b,
		 const struct row_cell *c)
{
	const uint64_t *list = (const void *)(b->bytes + c->at);

	if (c->kind == ROW_STR)
		outbuf_bytes(o, (const char *)b->bytes + c->at, c->len);
	else if (c->kind == ROW_BYTES)
		outbuf_hex(o, b->bytes + c->at, c->len);
	else if (c->kind != ROW_LIST)
		put_number(o, c);
	for (unsigned i = 0; c->kind == ROW_LIST && i < c->len; i++) {
		if (i)
			outbuf_char(o, ':');
		outbuf_u64(o, list[i]);
	}
}

static void json_value(struct outbuf *o, const struct row_cell *c,
		       const uint8_t *bytes)
{
	switch (c->kind) {
	case ROW_STR:
		outbuf_char(o, '"');
		outbuf_json(o, (const char *)bytes + c->at, c->len);
		outbuf_char(o, '"');
		break;
	case ROW_BYTES:
		outbuf_char(o, '"');
		put_items(o, c, bytes + c->at);
		outbuf_char(o, '"');
		break;
	case ROW_LIST:
		outbuf_char(o, '[');
		put_items(o, c, bytes + c->at);
		outbuf_char(o, ']');
		break;
	case ROW_TIME:
		outbuf_char(o, '"');
		put_number(o, c);
		outbuf_char(o, '"');
		break;
	default:
		put_number(o, c);
	}
}

static void json_row(const struct encoder *e, struct outbuf *o,
		     const struct row_cell *c, const uint8_t *bytes)
{
	for (unsigned i = 0; i < e->schema->n; i++) {
		outbuf_bytes(o, e->columns[i].lead, e->columns[i].lead_len);
		if (encode_is_null(&c[i]))
			outbuf_word(o, "null");
		else
			json_value(o, &c[i], bytes);
	}
	outbuf_char(o, '}');
}

/* Each lead has the character before it, which is '{' for the first. */
static void sparse_row(const struct encoder *e, struct outbuf *o,
		       const struct row_cell *c, const uint8_t *bytes)
{
	char before = '{';

	for (unsigned i = 0; i < e->schema->n; i++) {
		if (encode_is_null(&c[i]))
			continue;
		outbuf_char(o, before);
		outbuf_bytes(o, e->columns[i].lead + 1,
			     e->columns[i].lead_len - 1);
		json_value(o, &c[i], bytes);
		before = ',';
	}
	outbuf_word(o, before == '{' ? "{}" : "}");
}

static void csv_value(struct outbuf *o, const struct row_cell *c,
		      const uint8_t *bytes)
{
	bool quote;

	if (c->kind == ROW_STR) {
		outbuf_csv(o, (const char *)bytes + c->at, c->len);
	} else if (is_items(c)) {
		quote = c->kind == ROW_LIST ? c->len > 1 : !c->len;
		if (quote)
			outbuf_char(o, '"');
		put_items(o, c, bytes + c->at);
		if (quote)
			outbuf_char(o, '"');
	} else {
		put_number(o, c);
	}
}

static void csv_row(const struct encoder *e, struct outbuf *o,
		    const struct row_cell *c, const uint8_t *bytes)
{
	for (unsigned i = 0; i < e->schema->n; i++) {
		if (i)
			outbuf_char(o, ',');
		if (!encode_is_null(&c[i]))
			csv_value(o, &c[i], bytes);
	}
}

/*
 * Pads what was written from start on to its column's width, in characters. A
 * field that did not fit the buffer is wider than any column.
 */
static void pad(const struct encoder *e, struct outbuf *o, unsigned i,
		size_t start)
{
	const struct column *c = &e->columns[i];
	size_t chars = o->len - start - o->hidden, blanks;
	char *at = o->buf + start;

	if (chars >= c->width || o->len + c->width - chars > OUTBUF_SIZE)
		return;
	blanks = c->width - chars;
	if (c->right)
		memmove(at + blanks, at, o->len - start);
	else if (i + 1 < e->schema->n)
		at = o->buf + o->len;
	else
		return;
	memset(at, ' ', blanks);
	o->len += blanks;
}

static void text_value(struct outbuf *o, const struct row_cell *c,
		       const uint8_t *bytes, bool last)
{
	if (encode_is_null(c) || (c->kind == ROW_LIST && !c->len))
		outbuf_char(o, '-');
	else if (c->kind == ROW_STR)
		outbuf_plain(o, (const char *)bytes + c->at, c->len, last);
	else if (!is_items(c))
		put_number(o, c);
	else if (c->len)
		put_items(o, c, bytes + c->at);
	else
		outbuf_word(o, "\"\"");
}

/* Where a field of a text row begins. */
static size_t text_start(struct outbuf *o, unsigned i)
{
	if (i)
		outbuf_bytes(o, "  ", 2);
	outbuf_room(o, OUTBUF_SIZE / 2);
	o->hidden = 0;
	return o->len;
}

static void text_row(const struct encoder *e, struct outbuf *o,
		     const struct row_cell *c, const uint8_t *bytes)
{
	for (unsigned i = 0; i < e->schema->n; i++) {
		size_t start = text_start(o, i);
		unsigned spills = o->spills;

		text_value(o, &c[i], bytes, i + 1 == e->schema->n);
		if (o->spills == spills)
			pad(e, o, i, start);
	}
}

static void text_head(const struct encoder *e, struct outbuf *o)
{
	for (unsigned i = 0; i < e->schema->n; i++) {
		size_t start = text_start(o, i);

		for (const char *s = e->schema->fields[i].name; *s; s++)
			outbuf_char(o, (char)toupper((unsigned char)*s));
		pad(e, o, i, start);
	}
	outbuf_char(o, '\n');
}

static void csv_head(const struct encoder *e, struct outbuf *o)
{
	for (unsigned i = 0; i < e->schema->n; i++) {
		if (i)
			outbuf_char(o, ',');
		outbuf_csv(o, e->schema->fields[i].name,
			   strlen(e->schema->fields[i].name));
	}
	outbuf_char(o, '\n');
}

void encoder_head(const struct encoder *e, struct outbuf *o)
{
	if (e->fmt == ROW_TEXT)
		text_head(e, o);
	else if (e->fmt == ROW_CSV)
		csv_head(e, o);
}

void encoder_row(const struct encoder *e, struct outbuf *o,
		 const struct row_batch *b, unsigned row)
{
	const struct row_cell *c = row_batch_cell(b, row, 0);

	if (e->fmt == ROW_NDJSON)
		json_row(e, o, c, b->bytes);
	else if (e->fmt == ROW_SPARSE)
		sparse_row(e, o, c, b->bytes);
	else if (e->fmt == ROW_CSV)
		csv_row(e, o, c, b->bytes);
	else
		text_row(e, o, c, b->bytes);
	outbuf_char(o, '\n');
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
		snprintf(c->lead, c->lead_len + 1,
			 "%c\"%s\":", first ? '{' : ',', f->name);
	return c->lead;
}

struct encoder *encoder_open(enum row_format fmt, const struct schema *s)
{
	struct encoder *e = calloc(1,
				   sizeof(*e) + s->n * sizeof(e->columns[0]));
	bool ok = e;

	if (e) {
		e->fmt = fmt;
		e->schema = s;
	}
	for (unsigned i = 0; ok && i < s->n; i++)
		ok = column_init(&e->columns[i], &s->fields[i], i == 0);
	if (ok)
		return e;
	encoder_close(e);
	return NULL;
}

bool encoder_say_schema(struct encoder *e)
{
	static const char form[] = "{\"measurement\":\"%s\",%s";
	struct column *first = &e->columns[0];
	size_t room = sizeof(form) + strlen(e->schema->name) + first->lead_len;
	char *lead = malloc(room);

	if (!lead)
		return false;
	first->lead_len = (size_t)snprintf(lead, room, form, e->schema->name,
					   first->lead + 1);
	free(first->lead);
	first->lead = lead;
	return true;
}

void encoder_close(struct encoder *e)
{
	for (unsigned i = 0; e && i < e->schema->n; i++)
		free(e->columns[i].lead);
	free(e);
}
