/* SPDX-License-Identifier: BSD-2-Clause */
#include "row/line.h"

#include <stdlib.h>
#include <string.h>

#include "row/row.h"
#include "row/outbuf.h"

/* What a backslash stands before (InfluxDB 1.x, line protocol reference). */
#define IN_MEASUREMENT ", \n"
#define IN_NAME	       ",= \n" /* tags, their values, fields */
#define IN_TEXT	       "\"\\"

struct line {
	const struct schema *schema;
	struct outbuf tag; /* its text, before it is escaped */
	int when;	   /* the field of the time; -1: none */
};

struct line *line_open(const struct schema *s)
{
	struct line *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->schema = s;
	l->when = -1;
	for (unsigned i = 0; i < s->n; i++)
		if (s->fields[i].role == ROW_WHEN)
			l->when = (int)i;
	return l;
}

static void put_name(struct outbuf *o, const char *name)
{
	outbuf_escaped(o, name, strlen(name), IN_NAME);
}

static void put_tag(struct line *l, struct outbuf *o, const struct row_batch *b,
		    const struct row_cell *c, const char *name)
{
	const char *text;
	size_t len;

	outbuf_cut(&l->tag, 0);
	if (!encode_is_null(c))
		encode_cell(&l->tag, b, c);
	text = outbuf_text(&l->tag, &len);
	while (text && len && text[len - 1] == '\\')
		len--;
	if (!text || !len)
		return;
	outbuf_char(o, ',');
	put_name(o, name);
	outbuf_char(o, '=');
	outbuf_escaped(o, text, len, IN_NAME);
}

void line_series(struct line *l, struct outbuf *o, const struct row_batch *b,
		 unsigned row)
{
	const struct schema *s = l->schema;

	outbuf_escaped(o, s->name, strlen(s->name), IN_MEASUREMENT);
	for (unsigned i = 0; i < s->n; i++)
		if (s->fields[i].role == ROW_TAG)
			put_tag(l, o, b, row_batch_cell(b, row, i),
				s->fields[i].name);
}

static void put_text(struct outbuf *o, const struct row_batch *b,
		     const struct row_cell *c)
{
	outbuf_char(o, '"');
	if (c->kind == ROW_STR)
		outbuf_escaped(o, (const char *)b->bytes + c->at, c->len,
			       IN_TEXT);
	else if (c->kind == ROW_LIST)
		outbuf_list(o, (const void *)(b->bytes + c->at), c->len);
	else
		encode_cell(o, b, c);
	outbuf_char(o, '"');
}

static void put_value(struct outbuf *o, const struct row_batch *b,
		      const struct row_cell *c)
{
	switch (c->kind) {
	case ROW_U64:
		outbuf_u64(o, c->u64 < INT64_MAX ? c->u64 : INT64_MAX);
		outbuf_char(o, 'i');
		break;
	case ROW_I64:
	case ROW_TIME:
		outbuf_i64(o, c->i64);
		outbuf_char(o, 'i');
		break;
	case ROW_F64:
	case ROW_BOOL:
		encode_cell(o, b, c);
		break;
	default:
		put_text(o, b, c);
	}
}

void line_rest(struct line *l, struct outbuf *o, const struct row_batch *b,
	       unsigned row, int64_t time_ns)
{
	const struct row_cell *c = row_batch_cell(b, row, 0);
	const struct row_field *f = l->schema->fields;
	char before = ' ';

	for (unsigned i = 0; i < l->schema->n; i++) {
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

int64_t line_time(const struct line *l, const struct row_batch *b, unsigned row,
		  int64_t none)
{
	const struct row_cell *c = l->when < 0
					   ? NULL
					   : row_batch_cell(b, row,
							    (unsigned)l->when);

	return c && c->kind == ROW_TIME ? c->i64 : none;
}

void line_close(struct line *l)
{
	if (!l)
		return;
	free(l->tag.text);
	free(l);
}
