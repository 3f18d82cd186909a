/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * redis.c - a Redis server.
 *
 *	stream.SCHEMA=KEY	rows are added to a stream (XADD)
 *	hash.SCHEMA=KEY		the latest row is a hash, with expiry
 *	expire=TIME		of hashes; 60s, 0: never
 *	maxlen=N		entries of a stream, about; 100000
 *
 * KEY is as in row_template_check(), with { and } not escaped. Rows of schemas
 * that neither the URL nor the caller's rules name go to a stream of their
 * schema's name.
 *
 * A block has an item for each row: the length in bytes of the row's commands
 * and their number, 4 bytes each in host order, and the commands in RESP. All
 * items are sent before the replies are read. A Redis Cluster is not supported:
 * rows for its other nodes are not sent, and the status says why.
 */
#include <errno.h>
#include <hiredis/hiredis.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "export/driver.h"
#include "row/row.h"

enum {
	PORT = 6379,
	REASON_MAX = 200, /* characters of an error that are kept */
	TRIM_EVERY = 16,  /* rows */
};

#define SECOND UINT64_C(1000000000) /* ns */

/* What became of an item. */
enum outcome {
	WRITTEN,
	REFUSED,
	LATER, /* the server is not ready for it */
};

/* What an item begins with. */
struct item {
	uint32_t len; /* bytes of commands */
	uint32_t commands;
};

struct redis {
	const struct export_options *options;
	struct url *url;
	uint64_t expire_ns, maxlen, timeout_ns;
	struct outbuf key, cell, commands; /* used by encode() */
	/* Used by send(). */
	const struct export_stop *stop;
	redisContext *c; /* NULL: not connected */
	atomic_int fd;	 /* c's socket, for wake(); or -1 */
};

struct schema_state {
	const struct schema *schema;
	const char *key; /* row_template_check() */
	uint8_t kind;	 /* enum export_kind */
	bool many_keys;	 /* the key names fields */
	uint32_t added;	 /* rows, to the only stream */
};

static const char *const families[] = {
	[EXPORT_EVENT] = "stream",
	[EXPORT_STATE] = "hash",
};

/* clang-format off */
static const struct field fields[] = {
	{"expire", FIELD_OTHER, 0, offsetof(struct redis, expire_ns),
	 .set = export_set_duration},
	{"maxlen", FIELD_NUMBER, 8, offsetof(struct redis, maxlen), 1,
	 UINT32_MAX},
	EXPORT_WAIT("timeout", struct redis, timeout_ns),
	{NULL},
};
/* clang-format on */

/* --- a server, and what it is sent --------------------------------------- */

static void disconnect(struct redis *x)
{
	x->fd = -1;
	if (x->c)
		redisFree(x->c);
	x->c = NULL;
}

static int connection_error(const struct redis *x, struct error *err)
{
	if (x->c->err == REDIS_ERR_IO && errno == EAGAIN)
		return error_set(err, -EAGAIN, "no answer for %u ms",
				 (unsigned)(x->timeout_ns / 1000000));
	return error_set(err, -EAGAIN, "%.128s", x->c->errstr);
}

/* Runs a command. may_lack_permission: NOPERM is no error. */
static int run_command(struct redis *x, bool may_lack_permission,
		       struct error *err, const char *fmt, ...)
{
	redisReply *reply;
	va_list ap;
	int rc = 0;

	va_start(ap, fmt);
	reply = redisvCommand(x->c, fmt, ap);
	va_end(ap);
	if (!reply)
		return connection_error(x, err);
	if (reply->type == REDIS_REPLY_ERROR &&
	    !(may_lack_permission && !strncmp(reply->str, "NOPERM", 6)))
		rc = error_set(err, -EAGAIN, "%.*s", REASON_MAX, reply->str);
	freeReplyObject(reply);
	return rc;
}

static struct timeval timeval_of(uint64_t ns)
{
	return (struct timeval){.tv_sec = (time_t)(ns / SECOND),
				.tv_usec = (suseconds_t)(ns % SECOND / 1000)};
}

/* Connects, for a second at most, as the sink's end waits for it. PING ends the
 * handshake: a server that wants a password rejects a long command. */
static int connect_to(struct redis *x, struct error *err)
{
	const struct url *u = x->url;
	int port = u->port ? u->port : PORT, rc = 0;

	x->c = redisConnectWithTimeout(
		u->host, port,
		timeval_of(x->timeout_ns < SECOND ? x->timeout_ns : SECOND));
	if (!x->c)
		return error_set(err, -ENOMEM, "out of memory");
	if (x->c->err)
		return error_set(err, -EAGAIN, "%s:%d: %.128s", u->host, port,
				 x->c->errstr);
	redisSetTimeout(x->c, timeval_of(x->timeout_ns));
	x->fd = x->c->fd;
	if (x->stop->now) /* redis_wake() may have been too early */
		return error_set(err, -EAGAIN, "it is the end");
	if (u->password && u->user && *u->user)
		rc = run_command(x, false, err, "AUTH %s %s", u->user,
				 u->password);
	else if (u->password)
		rc = run_command(x, false, err, "AUTH %s", u->password);
	if (!rc && *u->path)
		rc = run_command(x, false, err, "SELECT %s", u->path);
	return rc ? rc : run_command(x, true, err, "PING");
}

/* LATER for errors (Redis: server.c) that pass or can be mended. REFUSED also
 * for NOPERM: it concerns one key, and other rows need not wait. */
static enum outcome classify_error(struct error *why, const char *text)
{
	enum { CLUSTER_ERRORS = 4 }; /* at the beginning */
	static const char *const passing[] = {
		"MOVED ",  "ASK ",	 "CLUSTERDOWN", "TRYAGAIN",
		"LOADING", "READONLY",	 "NOAUTH",	"MASTERDOWN",
		"OOM",	   "NOREPLICAS", "BUSY",	"MISCONF",
	};
	unsigned i = 0, n = sizeof(passing) / sizeof(passing[0]);

	while (i < n && strncmp(text, passing[i], strlen(passing[i])) != 0)
		i++;
	if (i < CLUSTER_ERRORS)
		error_set(why, 0,
			  "a node of a Redis Cluster, which is not supported "
			  "(%.*s): take one Redis server, or kafka: or "
			  "clickhouse:",
			  REASON_MAX, text);
	else
		error_set(why, 0, "%.*s", REASON_MAX, text);
	return i < n ? LATER : REFUSED;
}

/* Reads the replies to n commands, which are an item's. 0 or -errno. */
static int read_replies(struct redis *x, uint32_t n, enum outcome *outcome,
			struct error *why, struct error *err)
{
	redisReply *reply;

	for (*outcome = WRITTEN; n; n--) {
		if (redisGetReply(x->c, (void **)&reply) != REDIS_OK) {
			*outcome = LATER;
			return connection_error(x, err);
		}
		if (reply->type == REDIS_REPLY_ERROR && *outcome == WRITTEN)
			*outcome = classify_error(why, reply->str);
		freeReplyObject(reply);
	}
	return 0;
}

/* Reads the item at *at, and moves *at to its end, which its commands reach.
 * False: there is none, or it is cut off. */
static bool next_item(struct item *out, const struct export_block *b,
		      size_t *at)
{
	size_t left = b->len - *at;

	if (left < sizeof(*out))
		return false;
	memcpy(out, b->bytes + *at, sizeof(*out));
	if (out->len > left - sizeof(*out) || !out->commands)
		return false;
	*at += sizeof(*out) + out->len;
	return true;
}

/* Shuts the connection: send() gets an error instead of an answer. */
static void redis_wake(void *self)
{
	struct redis *x = self;
	int fd = x->fd;

	if (fd >= 0)
		shutdown(fd, SHUT_RDWR);
}

/* Sends all items, and then reads the replies. The items without a reply, and
 * those with the outcome LATER, are what is left of the block. */
static int redis_send(void *self, struct export_block *b,
		      struct export_tally *t, struct error *err)
{
	struct redis *x = self;
	size_t at = b->at, to = b->at;
	uint32_t items = 0;
	struct export_block unreadable = {0};
	struct error why, later;
	struct item item;
	int rc = 0;

	for (; items < b->rows && next_item(&item, b, &at); items++) {
		if (!x->c && rc == 0)
			rc = connect_to(x, err);
		if (rc == 0)
			redisAppendFormattedCommand(
				x->c, b->bytes + at - item.len, item.len);
	}
	unreadable.rows = b->rows - items;
	if (unreadable.rows)
		export_block_refuse(&unreadable, t,
				    "a block that is not for Redis");
	for (at = b->at, b->rows = 0; items; items--) {
		enum outcome outcome = LATER;
		size_t from = at;

		next_item(&item, b, &at);
		if (rc == 0)
			rc = read_replies(x, item.commands, &outcome, &why,
					  err);
		t->written += outcome == WRITTEN;
		if (outcome == REFUSED && !t->refused++)
			t->why = why;
		if (outcome != LATER)
			continue;
		later = why;
		memmove(b->bytes + to, b->bytes + from, at - from);
		to += at - from;
		b->rows++;
	}
	b->len = to;
	if (rc < 0)
		disconnect(x);
	else if (b->rows)
		rc = error_set(err, -EAGAIN, "%s", later.text);
	return rc;
}

/* --- opened, closed ------------------------------------------------------ */

static void redis_close(void *self)
{
	struct redis *x = self;

	disconnect(x);
	free(x->key.text);
	free(x->cell.text);
	free(x->commands.text);
	free(x);
}

static const struct redis defaults = {.expire_ns = 60 * SECOND,
				      .maxlen = 100000,
				      .timeout_ns = EXPORT_TIMEOUT_NS,
				      .fd = -1};

static int redis_open(void *self, struct url *u, const struct export_options *o,
		      struct export_stop *stop, struct error *err)
{
	struct redis *x = self;

	x->options = o;
	x->url = u;
	x->stop = stop;
	for (unsigned i = EXPORT_EVENT; i <= EXPORT_STATE; i++)
		url_use_options(u, families[i]);
	if (!*u->host || strchr(u->host, ','))
		return error_set(err, -EINVAL, "'%s' is not a host", u->host);
	url_strip_brackets(u);
	return 0;
}

/* --- rows as commands ---------------------------------------------------- */

static int redis_open_schema(void *schema_state, void *self,
			     const struct schema *s, struct error *err)
{
	const struct redis *x = self;
	const struct export_rule *rule = export_rule_of(x->options, s->name);
	struct schema_state *state = schema_state;
	const char *key;

	/* As the rules say, if the URL says nothing; else as a stream. */
	state->schema = s;
	state->kind = rule ? rule->kind : EXPORT_EVENT;
	state->key = rule && rule->key ? rule->key : "{}";
	for (uint8_t i = EXPORT_EVENT; i <= EXPORT_STATE; i++)
		if ((key = url_option(x->url, families[i], s->name))) {
			state->kind = i;
			state->key = key;
		}
	for (const char *at = state->key; (at = strchr(at, '{')); at++)
		state->many_keys |= at[1] != '}';
	return row_template_check(state->key, s, err);
}

/* RESP: a command is "*WORDS\r\n" and words of "$LENGTH\r\nBYTES\r\n". */
static void put_count(struct outbuf *o, char type, size_t n)
{
	outbuf_char(o, type);
	outbuf_u64(o, n);
	outbuf_bytes(o, "\r\n", 2);
}

static void put_word(struct outbuf *o, const char *text, size_t len)
{
	put_count(o, '$', len);
	outbuf_bytes(o, text ? text : "", len);
	outbuf_bytes(o, "\r\n", 2);
}

static void put_text(struct outbuf *o, const char *text)
{
	put_word(o, text, strlen(text));
}

static void put_number(struct outbuf *o, uint64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
	put_text(o, text);
}

/* Begins a command of so many words: its name, the row's key, others. */
static void begin_command(struct redis *x, size_t words, const char *name)
{
	size_t len = 0;
	const char *key = outbuf_text(&x->key, &len);

	put_count(&x->commands, '*', words);
	put_text(&x->commands, name);
	put_word(&x->commands, key, len);
}

/* Puts names and values of the fields that are not null. */
static void put_pairs(struct redis *x, const struct schema_state *state,
		      const struct row_batch *b, const struct row_cell *c)
{
	for (unsigned i = 0; i < state->schema->n; i++) {
		const char *text;
		size_t len = 0;

		if (encode_is_null(&c[i]))
			continue;
		put_text(&x->commands, state->schema->fields[i].name);
		text = encode_text(&x->cell, b, &c[i], &len);
		put_word(&x->commands, text, len);
	}
}

/* A stream is trimmed to maxlen, about, at every TRIM_EVERYth row: doing so at
 * each row takes a tenth of the server's time. */
static void redis_encode(void *self, void *schema_state, struct outbuf *to,
			 const struct row_batch *b, unsigned row, uint32_t rows)
{
	const struct row_cell *c = row_batch_cell(b, row, 0);
	struct redis *x = self;
	struct schema_state *state = schema_state;
	bool event = state->kind == EXPORT_EVENT;
	bool trim = event &&
		    (state->many_keys || state->added++ % TRIM_EVERY == 0);
	uint32_t words = !event ? 2 : trim ? 6 : 3;
	struct item item = {.commands = 1};
	const char *text;
	size_t len;

	(void)rows;
	outbuf_cut(&x->key, 0);
	outbuf_cut(&x->commands, 0);
	row_template_encode(state->key, &x->key, b, row);
	for (unsigned i = 0; i < state->schema->n; i++)
		words += encode_is_null(&c[i]) ? 0 : 2;
	begin_command(x, words, event ? "XADD" : "HSET");
	if (trim) {
		put_text(&x->commands, "MAXLEN");
		put_text(&x->commands, "~");
		put_number(&x->commands, x->maxlen);
	}
	if (event)
		put_text(&x->commands, "*");
	put_pairs(x, state, b, c);
	if (!event && x->expire_ns) {
		begin_command(x, 3, "PEXPIRE");
		put_number(&x->commands, x->expire_ns / 1000000);
		item.commands++;
	}
	text = outbuf_text(&x->commands, &len);
	if (!text || x->key.err || x->cell.err) {
		to->err = -ENOMEM;
		return;
	}
	item.len = (uint32_t)len;
	outbuf_bytes(to, (const char *)&item, sizeof(item));
	outbuf_bytes(to, text, len);
}

const struct export_scheme export_redis = {
	.scheme = "redis",
	.size = sizeof(defaults),
	.defaults = &defaults,
	.fields = fields,
	.open = redis_open,
	.driver = {.close = redis_close,
		   .state_size = sizeof(struct schema_state),
		   .open_schema = redis_open_schema,
		   .encode = redis_encode,
		   .send = redis_send,
		   .wake = redis_wake},
};
