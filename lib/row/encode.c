/* SPDX-License-Identifier: BSD-2-Clause */
/* encode.c - rows as text, CSV or NDJSON; a sink that writes them to a stream,
 * one that copies them to several sinks (tee), and templates of fields. */
#include "row/row.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "row/outbuf.h"

/* What is the same for a field in every row. */
struct column {
	char *lead; /* NDJSON: `"name":' */
	size_t lead_len;
	size_t width; /* text: characters */
	bool right;   /* text: aligned to the right */
};

struct encoder {
	enum row_format fmt;
	const struct schema *schema;
	struct column columns[];
};

const char *const row_format_names[] = {"text", "csv", "ndjson", NULL};

bool encode_is_null(const struct row_cell *c)
{
	return c->kind == ROW_NULL || (c->kind == ROW_F64 && !isfinite(c->f64));
}

/* Writes a value that every format has alike: any but ROW_STR. */
static void put_value(struct outbuf *o, const struct row_cell *c,
		      const uint8_t *bytes)
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
	case ROW_BYTES:
		outbuf_hex(o, bytes + c->at, c->len);
		break;
	case ROW_LIST:
		outbuf_list(o, (const void *)(bytes + c->at), c->len);
		break;
	}
}

void encode_cell(struct outbuf *o, const struct row_batch *b,
		 const struct row_cell *c)
{
	const uint64_t *list = (const void *)(b->bytes + c->at);

	if (c->kind == ROW_STR)
		outbuf_bytes(o, (const char *)b->bytes + c->at, c->len);
	else if (c->kind != ROW_LIST)
		put_value(o, c, b->bytes);
	for (unsigned i = 0; c->kind == ROW_LIST && i < c->len; i++) {
		if (i)
			outbuf_char(o, ':');
		outbuf_u64(o, list[i]);
	}
}

const char *encode_text(struct outbuf *o, const struct row_batch *b,
			const struct row_cell *c, size_t *len)
{
	outbuf_cut(o, 0);
	if (!encode_is_null(c))
		encode_cell(o, b, c);
	return outbuf_text(o, len);
}

static void json_value(struct outbuf *o, const struct row_cell *c,
		       const uint8_t *bytes)
{
	static const char quotes[][2] = {
		[ROW_STR] = "\"\"",
		[ROW_BYTES] = "\"\"",
		[ROW_TIME] = "\"\"",
		[ROW_LIST] = "[]",
	};
	const char *q = quotes[c->kind];

	if (*q)
		outbuf_char(o, q[0]);
	if (c->kind == ROW_STR)
		outbuf_json(o, (const char *)bytes + c->at, c->len);
	else
		put_value(o, c, bytes);
	if (*q)
		outbuf_char(o, q[1]);
}

static void json_row(const struct encoder *e, struct outbuf *o,
		     const struct row_cell *c, const uint8_t *bytes)
{
	char before = '{';

	for (unsigned i = 0; i < e->schema->n; i++) {
		bool null = encode_is_null(&c[i]);

		if (null && e->fmt == ROW_SPARSE)
			continue;
		outbuf_char(o, before);
		outbuf_bytes(o, e->columns[i].lead, e->columns[i].lead_len);
		if (null)
			outbuf_word(o, "null");
		else
			json_value(o, &c[i], bytes);
		before = ',';
	}
	outbuf_word(o, before == '{' ? "{}" : "}");
}

static void csv_value(struct outbuf *o, const struct row_cell *c,
		      const uint8_t *bytes)
{
	bool quote = (c->kind == ROW_LIST && c->len > 1) ||
		     (c->kind == ROW_BYTES && !c->len);

	if (quote)
		outbuf_char(o, '"');
	if (c->kind == ROW_STR)
		outbuf_csv(o, (const char *)bytes + c->at, c->len);
	else
		put_value(o, c, bytes);
	if (quote)
		outbuf_char(o, '"');
}

static void encode_csv_row(const struct encoder *e, struct outbuf *o,
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
 * Pads the field that begins at offset start of the buffer to its column's
 * width. The caller skips a field longer than the buffer: it needs no padding.
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
	else if (c->kind == ROW_BYTES && !c->len)
		outbuf_word(o, "\"\"");
	else
		put_value(o, c, bytes);
}

/* Separates a text field from the one before it. Returns its buffer offset. */
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

	if (e->fmt == ROW_TEXT)
		text_row(e, o, c, b->bytes);
	else if (e->fmt == ROW_CSV)
		encode_csv_row(e, o, c, b->bytes);
	else
		json_row(e, o, c, b->bytes);
	outbuf_char(o, '\n');
}

/* measurement: the schema's name, written before the first field; or NULL. */
static bool column_init(struct column *c, const struct row_field *f,
			const char *measurement)
{
	size_t name = strlen(f->name);
	int n = asprintf(&c->lead, "%s%s%s\"%s\":",
			 measurement ? "\"measurement\":\"" : "",
			 measurement ? measurement : "",
			 measurement ? "\"," : "", f->name);

	c->width = name > f->width ? name : f->width;
	c->right = row_is_number(f);
	if (n < 0)
		c->lead = NULL;
	c->lead_len = (size_t)n;
	return n >= 0;
}

struct encoder *encoder_open(enum row_format fmt, const struct schema *s,
			     bool mixed)
{
	struct encoder *e = calloc(1,
				   sizeof(*e) + s->n * sizeof(e->columns[0]));
	bool ok = e;

	if (e) {
		e->fmt = fmt;
		e->schema = s;
	}
	for (unsigned i = 0; ok && i < s->n; i++)
		ok = column_init(&e->columns[i], &s->fields[i],
				 mixed && !i ? s->name : NULL);
	if (ok)
		return e;
	encoder_close(e);
	return NULL;
}

void encoder_close(struct encoder *e)
{
	for (unsigned i = 0; e && i < e->schema->n; i++)
		free(e->columns[i].lead);
	free(e);
}

/* --- to a stream ---------------------------------------------------------- */

struct stream_sink {
	struct row_sink sink;
	enum row_format fmt;
	bool head;  /* a header before the rows of each schema */
	bool mixed; /* of several schemas: NDJSON says which */
	const struct schema *schema; /* of e */
	struct encoder *e;
	struct row_styled *styled;
	struct outbuf o;
};

/* When the schema changes: replaces the encoder, and writes its header. */
static int use_schema(struct stream_sink *s, const struct schema *to)
{
	if (s->schema == to)
		return 0;
	encoder_close(s->e);
	s->schema = NULL;
	if (!(s->e = encoder_open(s->fmt, to, s->mixed)))
		return -ENOMEM;
	s->schema = to;
	if (s->head)
		encoder_head(s->e, &s->o);
	return 0;
}

static int stream_put(struct row_sink *sink, struct row_batch *b)
{
	struct stream_sink *s = (struct stream_sink *)sink;
	int rc = (b = row_restyle(&s->styled, b)) ? use_schema(s, b->schema)
						  : -ENOMEM;

	for (unsigned i = 0; !rc && i < b->rows; i++) {
		encoder_row(s->e, &s->o, b, i);
		outbuf_spill(&s->o);
	}
	if (s->o.len) /* a header without rows */
		outbuf_spill(&s->o);
	return rc ? rc : s->o.err;
}

static int stream_flush(struct row_sink *sink)
{
	struct stream_sink *s = (struct stream_sink *)sink;

	errno = 0;
	if (!s->o.err && fflush(s->o.out) != 0)
		s->o.err = errno ? -errno : -EIO;
	return s->o.err;
}

static int stream_close(struct row_sink *sink)
{
	struct stream_sink *s = (struct stream_sink *)sink;
	int rc = s->o.err;

	encoder_close(s->e);
	row_styled_free(s->styled);
	free(s);
	return rc;
}

struct row_sink *stream_sink_open(FILE *out, enum row_format fmt, bool head,
				  bool mixed)
{
	struct stream_sink *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->sink = (struct row_sink){stream_put, stream_flush, stream_close};
	s->fmt = fmt;
	s->head = head;
	s->mixed = mixed;
	s->o.out = out;
	return &s->sink;
}

/* --- to several ---------------------------------------------------------- */

struct tee {
	struct row_sink sink;
	unsigned n;
	struct row_sink *to[];
};

/* b NULL: flushes. */
static int tee_put(struct row_sink *sink, struct row_batch *b)
{
	struct tee *t = (struct tee *)sink;
	int first = 0, rc;

	for (unsigned i = 0; i < t->n; i++) {
		rc = b ? t->to[i]->put(t->to[i], b) : t->to[i]->flush(t->to[i]);
		first = first ? first : rc;
	}
	return first;
}

static int tee_flush(struct row_sink *sink)
{
	return tee_put(sink, NULL);
}

static int tee_close(struct row_sink *sink)
{
	int rc = tee_flush(sink);

	free(sink);
	return rc;
}

struct row_sink *tee_open(struct row_sink *const *to, unsigned n)
{
	struct tee *t = calloc(1, sizeof(*t) + n * sizeof(t->to[0]));

	if (!t)
		return NULL;
	t->sink = (struct row_sink){tee_put, tee_flush, tee_close};
	t->n = n;
	memcpy(t->to, to, n * sizeof(t->to[0]));
	return &t->sink;
}

/* --- templates ------------------------------------------------------------ */

/* Reads {FIELD} at *at, and moves *at behind it. Returns the field's number,
 * s->n for {}, or -EINVAL with err set. */
static int read_brace(const char **at, const struct schema *s,
		      struct error *err)
{
	const char *name = *at + 1;
	size_t len = strcspn(name, "}");

	if (**at != '{' || !name[len])
		return error_set(err, -EINVAL,
				 "%.64s: a brace without the other", *at);
	*at = name + len + 1;
	if (!len)
		return (int)s->n;
	for (unsigned i = 0; i < s->n; i++)
		if (!strncmp(s->fields[i].name, name, len) &&
		    !s->fields[i].name[len])
			return (int)i;
	return error_set(err, -EINVAL, "{%.*s}: %s has no such field",
			 (int)len > 64 ? 64 : (int)len, name, s->name);
}

int row_template_check(const char *text, const struct schema *s,
		       struct error *err)
{
	int rc = 0;

	while (rc >= 0 && *(text += strcspn(text, "{}")))
		rc = read_brace(&text, s, err);
	return rc < 0 ? rc : 0;
}

void row_template_encode(const char *text, struct outbuf *o,
			 const struct row_batch *b, unsigned row)
{
	const struct row_cell *c = row_batch_cell(b, row, 0);
	unsigned n = b->schema->n, field;

	for (;;) {
		size_t len = strcspn(text, "{}");

		outbuf_bytes(o, text, len);
		if (!*(text += len))
			return;
		field = (unsigned)read_brace(&text, b->schema, NULL);
		if (field == n)
			outbuf_word(o, b->schema->name);
		else if (field < n && !encode_is_null(&c[field]))
			encode_cell(o, b, &c[field]);
	}
}
