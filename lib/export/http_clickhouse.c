/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * http_clickhouse.c - ClickHouse, by its HTTP interface: INSERT ... FORMAT
 * JSONEachRow, a table for each schema.
 *
 *	create=yes	makes the database and the tables that there are not
 *	engine=TEXT	of those tables, with all behind ENGINE =, {} for the
 *			measurement: Distributed(CLUSTER, DB, {}_local, rand())
 *			MergeTree by default. A MergeTree of any kind is ordered
 *			by tags and time, if TEXT does not say
 *	table.SCHEMA=NAME  the measurement by default
 *	timeout=TIME	of one try
 *
 * An INSERT is taken whole, or refused whole: so are a block's rows.
 *
 * A block: the line CREATE TABLE, the line INSERT, and then rows; so a spool
 * needs no schemas.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "export/http.h"
#include "export/driver.h"
#include "row/row.h"

enum {
	PORT = 8123,
	PATH = 2 * EXPORT_URL_MAX,
};

/* Codes of errors (ErrorCodes.cpp). */
enum {
	UNKNOWN_TYPE = 50,
	UNKNOWN_TABLE = 60,
	UNKNOWN_DATABASE = 81,
};

/* Since 20.1; before that, as in Debian, a text, which sorts as well. */
static const char time_type[] = "DateTime64(9)";
static const char time_text[] = "String       ";

struct clickhouse {
	struct http *http;
	struct url *url;
	uint8_t create;
	uint64_t timeout_ns;
	const char *engine;
	char path[PATH]; /* ?database= */
	struct http_reply reply;
};

struct form {
	struct encoder *e;
	struct outbuf head;
};

static const char *const yes[] = {"no", "yes", NULL};

/* clang-format off */
static const struct field fields[] = {
	{"create", FIELD_NAME, 1, offsetof(struct clickhouse, create),
	 .names = yes},
	{"engine", FIELD_OTHER, 0, offsetof(struct clickhouse, engine),
	 .set = export_set_text},
	EXPORT_WAIT("timeout", struct clickhouse, timeout_ns),
	{NULL},
};
/* clang-format on */

static void clickhouse_close(void *self)
{
	struct clickhouse *x = self;

	http_close(x->http);
	free(x);
}

static const struct clickhouse defaults = {
	.engine = "MergeTree",
	.timeout_ns = EXPORT_TIMEOUT_NS,
};

static int clickhouse_open(void *self, struct url *u,
			   const struct export_options *o,
			   struct export_stop *stop, struct error *err)
{
	struct clickhouse *x = self;

	(void)o;
	x->url = u;
	url_family(u, "table");
	if (!http_is_plain(u->path))
		return error_set(err, -EINVAL,
				 "a database is of letters, digits, - . _ ~");
	snprintf(x->path, PATH, "?database=%s", *u->path ? u->path : "default");
	return http_open(&x->http, u, PORT, x->timeout_ns, stop, err);
}

/* `name`: a backslash before what ends it. */
static void put_name(struct outbuf *o, const char *name)
{
	outbuf_char(o, '`');
	outbuf_escaped(o, name, strlen(name), "`\\\n");
	outbuf_char(o, '`');
}

static const char *type_of(const struct row_field *f)
{
	static const char *const types[] = {
		[ROW_STR] = "String",	      [ROW_U64] = "UInt64",
		[ROW_I64] = "Int64",	      [ROW_F64] = "Float64",
		[ROW_BYTES] = "String",	      [ROW_BOOL] = "UInt8",
		[ROW_LIST] = "Array(UInt64)", [ROW_TIME] = time_type,
	};

	return types[f->type];
}

/* Time, and arrays, and texts by which rows are ordered may not be null. */
static bool is_nullable(const struct row_field *f)
{
	return f->role != ROW_WHEN && f->type != ROW_LIST &&
	       !(f->role == ROW_TAG && f->type == ROW_STR);
}

static void put_column(struct outbuf *o, const struct row_field *f)
{
	put_name(o, f->name);
	outbuf_word(o, is_nullable(f) ? " Nullable(" : " ");
	outbuf_word(o, type_of(f));
	if (is_nullable(f))
		outbuf_char(o, ')');
}

/* ORDER BY: tags, time. A key may not be null. */
static void put_order(struct outbuf *o, const struct schema *s)
{
	const char *before = " ORDER BY (";

	for (int role = ROW_TAG; role <= ROW_WHEN; role++)
		for (unsigned i = 0; i < s->n; i++) {
			const struct row_field *f = &s->fields[i];

			if (f->role != role)
				continue;
			outbuf_word(o, before);
			if (is_nullable(f))
				outbuf_word(o, "ifNull(");
			put_name(o, f->name);
			if (is_nullable(f))
				outbuf_word(o, ", 0)");
			before = ", ";
		}
	outbuf_word(o, *before == ',' ? ")" : " ORDER BY tuple()");
}

static void put_engine(struct outbuf *o, const char *engine,
		       const struct schema *s)
{
	bool order = strstr(engine, "MergeTree") &&
		     strncmp(engine, "Distributed", 11) != 0 &&
		     !strcasestr(engine, "order by");

	outbuf_word(o, " ENGINE = ");
	for (const char *at = engine; *at; at++) {
		if (!strncmp(at, "{}", 2)) {
			outbuf_word(o, s->name);
			at++;
		} else {
			outbuf_char(o, (char)(*at == '\n' ? ' ' : *at));
		}
	}
	if (order)
		put_order(o, s);
}

static void put_head(struct clickhouse *x, struct outbuf *o,
		     const struct schema *s)
{
	const char *table = url_of(x->url, "table", s->name);

	if (!table)
		table = s->name;
	outbuf_word(o, "CREATE TABLE IF NOT EXISTS ");
	put_name(o, table);
	for (unsigned i = 0; i < s->n; i++) {
		outbuf_word(o, i ? ", " : " (");
		put_column(o, &s->fields[i]);
	}
	outbuf_char(o, ')');
	put_engine(o, x->engine, s);
	outbuf_word(o, "\nINSERT INTO ");
	put_name(o, table);
	outbuf_word(o, " FORMAT JSONEachRow\n");
}

static void clickhouse_unshape(void *shape)
{
	struct form *m = shape;

	encoder_close(m->e);
	free(m->head.text);
}

static int clickhouse_shape(void *shape, void *self, const struct schema *s,
			    struct error *err)
{
	struct form *m = shape;
	size_t len;

	put_head(self, &m->head, s);
	m->e = encoder_open(ROW_SPARSE, s, false);
	if (!m->e || !outbuf_text(&m->head, &len))
		return error_set(err, -ENOMEM, "out of memory");
	return 0;
}

static void clickhouse_encode(void *self, void *shape, struct outbuf *to,
			      const struct row_batch *b, unsigned row,
			      uint32_t rows)
{
	struct form *m = shape;
	const char *head;
	size_t len;

	(void)self;
	if (!rows) {
		head = outbuf_text(&m->head, &len);
		outbuf_bytes(to, head, len);
	}
	encoder_row(m->e, to, b, row);
}

/* "Code: N, e.displayText() = ...": N, or 0. */
static unsigned code_of(const struct http_reply *r)
{
	const char *at = strstr(r->text, "Code: ");
	uint64_t n = 0;

	if (at)
		text_digits(&n, at + strlen("Code: "), UINT32_MAX);
	return (unsigned)n;
}

/* Errors that the rows are to blame for: they do not fit the table. */
static bool is_refusal(const struct http_reply *r)
{
	static const uint16_t codes[] = {
		6,  /* CANNOT_PARSE_TEXT */
		10, /* NOT_FOUND_COLUMN_IN_BLOCK */
		16, /* NO_SUCH_COLUMN_IN_TABLE */
		26, /* CANNOT_PARSE_QUOTED_STRING, and so on */
		27, 33, 34, 38,	 41,  43,  44,	53,  62,
		69, 70, 72, 117, 130, 321, 349, 469,
	};
	unsigned code = code_of(r);

	for (unsigned i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (code == codes[i])
			return true;
	return r->status == 400 && !code;
}

/* The first line: an exception has a trace behind it. */
static int set_http_error(const struct clickhouse *x, struct error *err)
{
	return error_set(err, -EAGAIN, "HTTP %ld: %.*s", x->reply.status,
			 (int)strcspn(x->reply.text, "\n"), x->reply.text);
}

static int run_query(struct clickhouse *x, const char *path, const char *text,
		     size_t len, struct error *err)
{
	int rc = http_post(x->http, path, text, len, &x->reply, err);

	return rc == 0 && x->reply.status != 200 ? set_http_error(x, err) : rc;
}

/* By the block's first line, with the type of time that the server knows; and
 * the database. */
static int create_missing(struct clickhouse *x, const char *line, size_t len,
			  struct error *err)
{
	char text[PATH], *copy, *at;
	int rc = 0;

	if (code_of(&x->reply) == UNKNOWN_DATABASE) {
		snprintf(text, PATH, "CREATE DATABASE IF NOT EXISTS `%s`",
			 x->url->path);
		rc = run_query(x, "", text, strlen(text), err);
	}
	if (rc == 0)
		rc = run_query(x, x->path, line, len, err);
	if (rc == 0 || code_of(&x->reply) != UNKNOWN_TYPE ||
	    !(copy = strndup(line, len)))
		return rc;
	for (at = copy; (at = strstr(at, time_type)); at++)
		memcpy(at, time_text, sizeof(time_text) - 1);
	rc = run_query(x, x->path, copy, len, err);
	free(copy);
	return rc;
}

static int clickhouse_send(void *self, struct export_block *b,
			   struct export_tally *t, struct error *err)
{
	struct clickhouse *x = self;
	const char *end = memchr(b->bytes, '\n', b->len);
	size_t line = end ? (size_t)(end - b->bytes) + 1 : 0;
	unsigned tries = 0, code;
	int rc;

	if (!end) {
		export_block_refuse(b, t, "a block that is none of ClickHouse");
		return 0;
	}
	do {
		rc = http_post(x->http, x->path, b->bytes + line, b->len - line,
			       &x->reply, err);
		code = x->reply.status == 200 ? 0 : code_of(&x->reply);
		if (rc < 0 || !x->create || tries++ ||
		    (code != UNKNOWN_TABLE && code != UNKNOWN_DATABASE))
			break;
		rc = create_missing(x, b->bytes, line - 1, err);
	} while (rc == 0);
	if (rc < 0)
		return rc;
	if (x->reply.status == 200) {
		export_block_written(b, t);
	} else if (is_refusal(&x->reply)) {
		set_http_error(x, err);
		export_block_refuse(b, t, err->text);
	} else {
		rc = set_http_error(x, err);
	}
	return rc;
}

const struct export_scheme export_clickhouse = {
	.scheme = "clickhouse",
	.size = sizeof(defaults),
	.defaults = &defaults,
	.fields = fields,
	.open = clickhouse_open,
	.driver =
		{
			.close = clickhouse_close,
			.shape_size = sizeof(struct form),
			.shape = clickhouse_shape,
			.unshape = clickhouse_unshape,
			.encode = clickhouse_encode,
			.send = clickhouse_send,
		},
};
