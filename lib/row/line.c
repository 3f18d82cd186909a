/* SPDX-License-Identifier: BSD-2-Clause */
#include "row/line.h"

#include <string.h>

#include "row/outbuf.h"

/* What a backslash stands before (InfluxDB 1.x, line protocol reference). */
#define IN_MEASUREMENT ", \n"
#define IN_NAME	       ",= \n" /* tags, their values, fields */
#define IN_TEXT	       "\"\\"

static void put_name(struct outbuf *o, const char *name)
{
	outbuf_escaped(o, name, strlen(name), IN_NAME);
}

void line_series(struct outbuf *tag, struct outbuf *o,
		 const struct row_batch *b, unsigned row)
{
	const struct row_cell *c = row_batch_cell(b, row, 0);
	const struct schema *s = b->schema;
	const char *text;
	size_t len;

	outbuf_escaped(o, s->name, strlen(s->name), IN_MEASUREMENT);
	for (unsigned i = 0; i < s->n; i++) {
		if (s->fields[i].role != ROW_TAG)
			continue;
		text = encode_text(tag, b, &c[i], &len);
		while (text && len && text[len - 1] == '\\')
			len--;
		if (!text || !len)
			continue;
		outbuf_char(o, ',');
		put_name(o, s->fields[i].name);
		outbuf_char(o, '=');
		outbuf_escaped(o, text, len, IN_NAME);
	}
}

static void put_value(struct outbuf *o, const struct row_batch *b,
		      const struct row_cell *c)
{
	bool quote = c->kind == ROW_STR || c->kind == ROW_LIST ||
		     c->kind == ROW_BYTES;

	if (quote)
		outbuf_char(o, '"');
	if (c->kind == ROW_STR)
		outbuf_escaped(o, (const char *)b->bytes + c->at, c->len,
			       IN_TEXT);
	else if (c->kind == ROW_LIST)
		outbuf_list(o, (const void *)(b->bytes + c->at), c->len);
	else if (c->kind == ROW_U64)
		outbuf_u64(o, c->u64 < INT64_MAX ? c->u64 : INT64_MAX);
	else if (c->kind == ROW_TIME)
		outbuf_i64(o, c->i64);
	else
		encode_cell(o, b, c);
	if (quote)
		outbuf_char(o, '"');
	else if (c->kind != ROW_F64 && c->kind != ROW_BOOL)
		outbuf_char(o, 'i');
}

void line_rest(struct outbuf *o, const struct row_batch *b, unsigned row,
	       int64_t time_ns)
{
	const struct row_cell *c = row_batch_cell(b, row, 0);
	const struct row_field *f = b->schema->fields;
	char before = ' ';

	for (unsigned i = 0; i < b->schema->n; i++) {
		if (f[i].role != ROW_VALUE || encode_is_null(&c[i]))
			continue;
		outbuf_char(o, before);
		put_name(o, f[i].name);
		outbuf_char(o, '=');
		put_value(o, b, &c[i]);
		before = ',';
	}
	if (before == ' ')
		outbuf_word(o, " none=true");
	outbuf_char(o, ' ');
	outbuf_i64(o, time_ns);
	outbuf_char(o, '\n');
}

int64_t line_time(const struct row_batch *b, unsigned row, int64_t none)
{
	const struct row_cell *c = row_batch_cell(b, row, 0);

	for (unsigned i = 0; i < b->schema->n; i++)
		if (b->schema->fields[i].role == ROW_WHEN &&
		    c[i].kind == ROW_TIME)
			return c[i].i64;
	return none;
}
