/* SPDX-License-Identifier: BSD-2-Clause */
#include "row/line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "row/encode.h"
#include "row/outbuf.h"
#include "row/template.h"

/* What a backslash stands before (InfluxDB 1.x, line protocol reference). */
#define IN_MEASUREMENT ", \n"
#define IN_NAME	       ",= \n" /* tags, their values, fields */
#define IN_TEXT	       "\"\\"

struct line {
	const struct schema *schema;
	const struct line_names *names;
	struct template *measurement; /* of names */
	struct outbuf name;	      /* for what it makes */
	int when;		      /* the field of the time; -1: none */
	const char *say[];	      /* as which name, by field; NULL: not */
};

static const char *name_in(const struct line_names *names, const char *field)
{
	for (unsigned i = 0; names->fields && names->fields[i][0]; i++)
		if (!strcmp(names->fields[i][0], field))
			return names->fields[i][1];
	return NULL;
}

static void name_fields(struct line *l)
{
	const struct row_field *f = l->schema->fields;

	l->when = -1;
	for (unsigned i = 0; i < l->schema->n; i++) {
		if (f[i].role == ROW_WHEN)
			l->when = (int)i;
		else if (!l->names)
			l->say[i] = f[i].name;
		else if (!(l->say[i] = name_in(l->names, f[i].name)) &&
			 !template_has(l->measurement, i))
			l->say[i] = f[i].name;
	}
}

int line_open(struct line **out, const struct schema *s,
	      const struct line_names *names, struct fault *f)
{
	struct line *l = calloc(1, sizeof(*l) + s->n * sizeof(l->say[0]));
	int rc = l ? 0 : -ENOMEM;

	if (l) {
		l->schema = s;
		l->names = names;
	}
	if (!rc && names)
		rc = template_open(&l->measurement, names->measurement, s, f);
	if (rc < 0) {
		line_close(l);
		return rc;
	}
	name_fields(l);
	*out = l;
	return 0;
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

	outbuf_cut(&l->name, 0);
	if (!encode_is_null(c))
		encode_cell(&l->name, b, c);
	text = outbuf_text(&l->name, &len);
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
	const char *text;
	size_t len;

	if (l->names) {
		outbuf_cut(&l->name, 0);
		template_row(l->measurement, &l->name, b, row);
		text = outbuf_text(&l->name, &len);
		outbuf_escaped(o, text ? text : "", len, IN_NAME);
		return;
	}
	outbuf_escaped(o, s->name, strlen(s->name), IN_MEASUREMENT);
	for (unsigned i = 0; i < s->n; i++)
		if (s->fields[i].role == ROW_TAG)
			put_tag(l, o, b, row_batch_cell(b, row, i), l->say[i]);
}

static void put_whole(const struct line *l, struct outbuf *o,
		      const struct row_cell *c)
{
	if (c->kind == ROW_U64)
		outbuf_u64(o, c->u64 < INT64_MAX ? c->u64 : INT64_MAX);
	else
		outbuf_i64(o, c->i64);
	if (!l->names)
		outbuf_char(o, 'i');
}

static void put_text(const struct line *l, struct outbuf *o,
		     const struct row_batch *b, const struct row_cell *c)
{
	outbuf_char(o, '"');
	if (c->kind == ROW_STR)
		outbuf_escaped(o, (const char *)b->bytes + c->at, c->len,
			       IN_TEXT);
	else if (c->kind == ROW_LIST && !l->names)
		outbuf_list(o, (const void *)(b->bytes + c->at), c->len);
	else
		encode_cell(o, b, c);
	outbuf_char(o, '"');
}

static void put_value(const struct line *l, struct outbuf *o,
		      const struct row_batch *b, const struct row_cell *c)
{
	switch (c->kind) {
	case ROW_U64:
	case ROW_I64:
	case ROW_TIME:
		put_whole(l, o, c);
		break;
	case ROW_F64:
	case ROW_BOOL:
		encode_cell(o, b, c);
		break;
	default:
		put_text(l, o, b, c);
	}
}

void line_rest(struct line *l, struct outbuf *o, const struct row_batch *b,
	       unsigned row, int64_t time_ns)
{
	const struct row_cell *c = row_batch_cell(b, row, 0);
	char before = ' ';

	for (unsigned i = 0; i < l->schema->n; i++) {
		if (!l->say[i] || encode_is_null(&c[i]) ||
		    (!l->names && l->schema->fields[i].role == ROW_TAG))
			continue;
		outbuf_char(o, before);
		put_name(o, l->say[i]);
		outbuf_char(o, '=');
		put_value(l, o, b, &c[i]);
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
	template_close(l->measurement);
	free(l->name.text);
	free(l);
}
