/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * http_clickhouse.c - ClickHouse, by its HTTP interface: INSERT ... FORMAT
 * JSONEachRow, a table for each schema.
 *
 *	create=yes	makes the database and the tables that are missing
 *	engine=TEXT	of those tables: all that follows "ENGINE =". {} stands
 *			for the schema's name, as in
 *			Distributed(CLUSTER, DB, {}_local, rand()). MergeTree by
 *			default; a MergeTree of any kind is ordered by tags and
 *			time, if TEXT has no ORDER BY
 *	table.SCHEMA=NAME  the schema's name by default
 *	timeout=TIME	of one try
 *
 * ClickHouse takes or refuses the rows of an INSERT, and so of a block, all
 * together. A block is a line CREATE TABLE, a line INSERT, and rows: with these
 * lines, blocks from a spool can be sent before any row of their schema came.
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

/* The type of time, and what an older server than 20.1, which does not know it,
 * gets in its place: a text sorts as well. They are of one length. */
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

struct schema_state {
	struct encoder *encoder;
	struct outbuf head; /* the first two lines of a block */
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

static const struct clickhouse defaults = {.engine = "MergeTree",
					   .timeout_ns = EXPORT_TIMEOUT_NS};

static int clickhouse_open(void *self, struct url *u,
			   const struct export_options *o,
			   struct export_stop *stop, struct error *err)
{
	struct clickhouse *x = self;

	(void)o;
	x->url = u;
	url_use_options(u, "table");
	if (!http_is_plain(u->path))
		return error_set(err, -EINVAL,
				 "a database is of letters, digits, - . _ ~");
	snprintf(x->path, PATH, "?database=%s", *u->path ? u->path : "default");
	return http_open(&x->http, u, PORT, x->timeout_ns, stop, err);
}

/* An identifier in backquotes, with a backslash before special characters. */
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

/* Time, arrays, and tags that are texts are never null. */
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

/* ORDER BY tags and time. A key may not be null. */
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
	const char *table = url_option(x->url, "table", s->name);

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

static void clickhouse_close_schema(void *schema_state)
{
	struct schema_state *state = schema_state;

	encoder_close(state->encoder);
	free(state->head.text);
}

static int clickhouse_open_schema(void *schema_state, void *self,
				  const struct schema *s, struct error *err)
{
	struct schema_state *state = schema_state;
	size_t len;

	put_head(self, &state->head, s);
	state->encoder = encoder_open(ROW_SPARSE, s, false);
	if (!state->encoder || !outbuf_text(&state->head, &len))
		return error_set(err, -ENOMEM, "out of memory");
	return 0;
}

static void clickhouse_encode(void *self, void *schema_state, struct outbuf *to,
			      const struct row_batch *b, unsigned row,
			      uint32_t rows)
{
	struct schema_state *state = schema_state;
	const char *head;
	size_t len;

	(void)self;
	if (!rows) {
		head = outbuf_text(&state->head, &len);
		outbuf_bytes(to, head, len);
	}
	encoder_row(state->encoder, to, b, row);
}

/* N of a reply "Code: N, e.displayText() = ..."; 0: there is none. */
static unsigned error_code(const struct http_reply *r)
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
	unsigned code = error_code(r);

	for (unsigned i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (code == codes[i])
			return true;
	return r->status == 400 && !code;
}

/* Only the first line of the reply: a stack trace may follow. */
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

/* Makes the database, if it is missing, and the table by the block's first
 * line, with a type of time that the server knows. */
static int create_missing(struct clickhouse *x, const char *line, size_t len,
			  struct error *err)
{
	char text[PATH], *copy, *at;
	int rc = 0;

	if (error_code(&x->reply) == UNKNOWN_DATABASE) {
		snprintf(text, PATH, "CREATE DATABASE IF NOT EXISTS `%s`",
			 x->url->path);
		rc = run_query(x, "", text, strlen(text), err);
	}
	if (rc == 0)
		rc = run_query(x, x->path, line, len, err);
	if (rc == 0 || error_code(&x->reply) != UNKNOWN_TYPE ||
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
		export_block_refuse(b, t, "a block that is not for ClickHouse");
		return 0;
	}
	do {
		rc = http_post(x->http, x->path, b->bytes + line, b->len - line,
			       &x->reply, err);
		code = x->reply.status == 200 ? 0 : error_code(&x->reply);
		if (rc < 0 || !x->create || tries++ ||
		    (code != UNKNOWN_TABLE && code != UNKNOWN_DATABASE))
			break;
		rc = create_missing(x, b->bytes, line - 1, err);
	} while (rc == 0);
	if (rc < 0)
		return rc;
	if (x->reply.status == 200) {
		export_block_end(b, &t->written);
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
	.driver = {.close = clickhouse_close,
		   .state_size = sizeof(struct schema_state),
		   .open_schema = clickhouse_open_schema,
		   .close_schema = clickhouse_close_schema,
		   .encode = clickhouse_encode,
		   .send = clickhouse_send},
};
