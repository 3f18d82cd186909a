/* SPDX-License-Identifier: BSD-2-Clause */
#include "row/line.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "row/encode.h"
#include "row/outbuf.h"
#include "row/template.h"

/* What a backslash stands before (InfluxDB 1.x, line protocol reference). */
#define IN_MEASUREMENT ", \n"
#define IN_NAME	       ",= \n" /* tags, their values, fields */
#define IN_TEXT	       "\"\\"

/* Names for some of the rows; of the last, the schema's own, names is NULL. */
struct form {
	const struct line_names *names;
	struct template *measurement; /* of names */
	const char **say; /* as which name, by field; NULL: not at all */
};

struct line {
	const struct schema *schema;
	struct outbuf name; /* for what is made of names */
	int when;	    /* the field of the time; -1: none */
	unsigned n;	    /* of form[] */
	struct form form[];
};

static int field_of(const struct schema *s, const char *name)
{
	for (unsigned i = 0; i < s->n; i++)
		if (!strcmp(s->fields[i].name, name))
			return (int)i;
	return -1;
}

static const char *name_in(const struct line_names *names, const char *field)
{
	for (unsigned i = 0; names->fields[i][0]; i++)
		if (!strcmp(names->fields[i][0], field))
			return names->fields[i][1];
	return NULL;
}

static int open_form(struct line *l, const struct line_names *names,
		     struct fault *f)
{
	const struct row_field *fields = l->schema->fields;
	struct form *m = &l->form[l->n++];

	m->names = names;
	m->say = calloc(l->schema->n, sizeof(m->say[0]));
	if (!m->say)
		return -ENOMEM;
	for (unsigned i = 0; i < l->schema->n; i++)
		if (fields[i].role == ROW_WHEN)
			l->when = (int)i;
		else
			m->say[i] = names ? name_in(names, fields[i].name)
					  : fields[i].name;
	return names ? template_open(&m->measurement, names->measurement,
				     l->schema, f)
		     : 0;
}

int line_open(struct line **out, const struct schema *s,
	      const struct line_names *names, unsigned n, struct fault *f)
{
	struct line *l = calloc(1, sizeof(*l) + (n + 1) * sizeof(l->form[0]));
	int rc = l ? 0 : -ENOMEM;

	if (l) {
		l->schema = s;
		l->when = -1;
	}
	for (unsigned i = 0; !rc && i < n; i++)
		if (!strcmp(names[i].schema, s->name))
			rc = open_form(l, &names[i], f);
	if (!rc)
		rc = open_form(l, NULL, f);
	if (rc < 0) {
		line_close(l);
		return rc;
	}
	*out = l;
	return 0;
}

static bool is_any(const struct line *l, const struct line_when *w,
		   const struct row_batch *b, unsigned row)
{
	int field = field_of(l->schema, w->field);
	const struct row_cell *c;

	if (field < 0)
		return false;
	c = row_batch_cell(b, row, (unsigned)field);
	for (unsigned i = 0; c->kind == ROW_STR && w->any[i]; i++)
		if (!strcmp((const char *)b->bytes + c->at, w->any[i]))
			return true;
	return false;
}

static const struct form *form_of(const struct line *l,
				  const struct row_batch *b, unsigned row)
{
	const struct form *m = l->form;
	const struct line_when *w;

	for (; m->names; m++) {
		for (w = m->names->when; w && w->field; w++)
			if (!is_any(l, w, b, row))
				break;
		if (!w || !w->field)
			break;
	}
	return m;
}

const char *line_field(const struct line *l, const struct row_batch *b,
		       unsigned row)
{
	const struct form *m = form_of(l, b, row);

	return m->names ? m->names->fields[0][1] : "";
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
	const struct form *m = form_of(l, b, row);
	const struct schema *s = l->schema;
	const char *text;
	size_t len;

	if (m->names) {
		outbuf_cut(&l->name, 0);
		template_row(m->measurement, &l->name, b, row);
		text = outbuf_text(&l->name, &len);
		outbuf_escaped(o, text ? text : "", len, IN_NAME);
		return;
	}
	outbuf_escaped(o, s->name, strlen(s->name), IN_MEASUREMENT);
	for (unsigned i = 0; i < s->n; i++)
		if (s->fields[i].role == ROW_TAG)
			put_tag(l, o, b, row_batch_cell(b, row, i), m->say[i]);
}

static void put_whole(const struct form *m, struct outbuf *o,
		      const struct row_cell *c)
{
	if (c->kind == ROW_U64)
		outbuf_u64(o, c->u64 < INT64_MAX ? c->u64 : INT64_MAX);
	else
		outbuf_i64(o, c->i64);
	if (!m->names)
		outbuf_char(o, 'i');
}

static void put_text(const struct form *m, struct outbuf *o,
		     const struct row_batch *b, const struct row_cell *c)
{
	outbuf_char(o, '"');
	if (c->kind == ROW_STR)
		outbuf_escaped(o, (const char *)b->bytes + c->at, c->len,
			       IN_TEXT);
	else if (c->kind == ROW_LIST && !m->names)
		outbuf_list(o, (const void *)(b->bytes + c->at), c->len);
	else
		encode_cell(o, b, c);
	outbuf_char(o, '"');
}

static void put_value(const struct form *m, struct outbuf *o,
		      const struct row_batch *b, const struct row_cell *c)
{
	switch (c->kind) {
	case ROW_U64:
	case ROW_I64:
	case ROW_TIME:
		put_whole(m, o, c);
		break;
	case ROW_F64:
	case ROW_BOOL:
		encode_cell(o, b, c);
		break;
	default:
		put_text(m, o, b, c);
	}
}

void line_rest(struct line *l, struct outbuf *o, const struct row_batch *b,
	       unsigned row, int64_t time_ns)
{
	const struct row_cell *c = row_batch_cell(b, row, 0);
	const struct form *m = form_of(l, b, row);
	char before = ' ';

	for (unsigned i = 0; i < l->schema->n; i++) {
		if (!m->say[i] || encode_is_null(&c[i]) ||
		    (!m->names && l->schema->fields[i].role == ROW_TAG))
			continue;
		outbuf_char(o, before);
		put_name(o, m->say[i]);
		outbuf_char(o, '=');
		put_value(m, o, b, &c[i]);
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
	for (unsigned i = 0; i < l->n; i++) {
		template_close(l->form[i].measurement);
		free(l->form[i].say);
	}
	free(l->name.text);
	free(l);
}
