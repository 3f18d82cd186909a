/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * redis.c - a Redis server.
 *
 *	stream.SCHEMA=KEY	rows are added to a stream (XADD)
 *	hash.SCHEMA=KEY		the latest row is a hash, with expiry
 *	expire=TIME		of hashes; 60s, 0: never
 *	maxlen=N		of a stream, about; 100000
 *
 * KEY as in row_template_check(); in a URL, { and } as they are. Rows of
 * schemas that neither the URL nor the caller's rules name go to a stream of
 * their measurement.
 *
 * A block has an item for each row, the machine's numbers (it does not leave
 * it): length 4 | commands 4 | that many commands in RESP. They are sent
 * pipelined. The rows of a Redis Cluster's other nodes wait, and why is told.
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
	REASON = 200,	/* characters of an error that are told */
	CUT_EVERY = 16, /* rows */
	NUMBERS = 2,	/* before an item's commands */
};

#define SECOND UINT64_C(1000000000)

/* What became of an item. */
enum fate {
	WRITTEN,
	REFUSED,
	LATER, /* the server is not ready for it */
};

struct item {
	const char *commands;
	uint32_t len, n;
};

struct redis {
	const struct export_options *options;
	struct url *url;
	uint64_t expire_ns, maxlen, timeout_ns;
	struct outbuf key, cell, commands; /* the packer's */
	/* The sender's. */
	const struct export_stop *stop;
	redisContext *c; /* NULL: not connected */
	atomic_int fd;	 /* its socket, or -1: for the end */
};

struct form {
	const struct schema *schema;
	const char *key; /* row_template_check() */
	uint8_t kind;	 /* enum export_kind */
	bool many;	 /* keys: fields say which */
	uint32_t added;	 /* rows, to one stream */
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

/* One command, and what is said to it. Those that a user may not give are no
 * error if may_not. */
static int run_command(struct redis *x, bool may_not, struct error *err,
		       const char *fmt, ...)
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
	    !(may_not && !strncmp(reply->str, "NOPERM", 6)))
		rc = error_set(err, -EAGAIN, "%.*s", REASON, reply->str);
	freeReplyObject(reply);
	return rc;
}

static struct timeval timeval_of(uint64_t ns)
{
	return (struct timeval){.tv_sec = (time_t)(ns / SECOND),
				.tv_usec = (suseconds_t)(ns % SECOND / 1000)};
}

/* A try takes a second at most, as the end waits for it. What the connection
 * begins with is answered before items are sent: a server that wants a password
 * takes none for a long command. */
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

/* Errors that pass (Redis: server.c), or will once an administrator mends what
 * is wrong. What a user may not do is that user's rows' fault: others need not
 * wait. */
static enum fate fate_of_error(struct error *why, const char *text)
{
	enum { CLUSTER = 4 };
	static const char *const passes[] = {
		"MOVED ",  "ASK ",	 "CLUSTERDOWN", "TRYAGAIN",
		"LOADING", "READONLY",	 "NOAUTH",	"MASTERDOWN",
		"OOM",	   "NOREPLICAS", "BUSY",	"MISCONF",
	};
	unsigned i = 0, n = sizeof(passes) / sizeof(passes[0]);

	while (i < n && strncmp(text, passes[i], strlen(passes[i])) != 0)
		i++;
	if (i < CLUSTER)
		error_set(why, 0,
			  "a node of a Redis Cluster, which is not supported "
			  "(%.*s): take one Redis server, or kafka: or "
			  "clickhouse:",
			  REASON, text);
	else
		error_set(why, 0, "%.*s", REASON, text);
	return i < n ? LATER : REFUSED;
}

/* The replies to an item's commands. */
static int read_replies(struct redis *x, uint32_t n, enum fate *fate,
			struct error *why, struct error *err)
{
	redisReply *reply;

	for (*fate = WRITTEN; n; n--) {
		if (redisGetReply(x->c, (void **)&reply) != REDIS_OK) {
			*fate = LATER;
			return connection_error(x, err);
		}
		if (reply->type == REDIS_REPLY_ERROR && *fate == WRITTEN)
			*fate = fate_of_error(why, reply->str);
		freeReplyObject(reply);
	}
	return 0;
}

/* The item at *at, which moves behind it. False: there is none, or none that is
 * whole. */
static bool next_item(struct item *out, const struct export_block *b,
		      size_t *at)
{
	uint32_t n[NUMBERS];
	size_t left = b->len - *at;

	if (left < sizeof(n))
		return false;
	memcpy(n, b->bytes + *at, sizeof(n));
	if (n[0] > left - sizeof(n) || !n[1])
		return false;
	*out = (struct item){b->bytes + *at + sizeof(n), n[0], n[1]};
	*at += sizeof(n) + n[0];
	return true;
}

/* A thread that waits for an answer gets an error. */
static void redis_wake(void *self)
{
	struct redis *x = self;
	int fd = x->fd;

	if (fd >= 0)
		shutdown(fd, SHUT_RDWR);
}

/* All items are sent before the replies are read; what is left of the block are
 * those of which nothing is heard, or that Redis wants later. */
static int redis_send(void *self, struct export_block *b,
		      struct export_tally *t, struct error *err)
{
	struct redis *x = self;
	size_t at = b->at, to = b->at;
	uint32_t items = 0;
	struct export_block none = {0};
	struct error why, later;
	struct item i;
	int rc = 0;

	for (; items < b->rows && next_item(&i, b, &at); items++) {
		if (!x->c && rc == 0)
			rc = connect_to(x, err);
		if (rc == 0)
			redisAppendFormattedCommand(x->c, i.commands, i.len);
	}
	none.rows = b->rows - items;
	if (none.rows)
		export_block_refuse(&none, t, "a block that is none of Redis");
	for (at = b->at, b->rows = 0; items; items--) {
		enum fate fate = LATER;
		size_t from = at;

		next_item(&i, b, &at);
		if (rc == 0)
			rc = read_replies(x, i.n, &fate, &why, err);
		t->written += fate == WRITTEN;
		if (fate == REFUSED && !t->refused++)
			t->why = why;
		if (fate != LATER)
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

static const struct redis defaults = {
	.expire_ns = 60 * SECOND,
	.maxlen = 100000,
	.timeout_ns = EXPORT_TIMEOUT_NS,
	.fd = -1,
};

static int redis_open(void *self, struct url *u, const struct export_options *o,
		      struct export_stop *stop, struct error *err)
{
	struct redis *x = self;

	x->options = o;
	x->url = u;
	x->stop = stop;
	for (unsigned i = EXPORT_EVENT; i <= EXPORT_STATE; i++)
		url_family(u, families[i]);
	if (!*u->host || strchr(u->host, ','))
		return error_set(err, -EINVAL, "'%s' is not a host", u->host);
	url_bare_host(u);
	return 0;
}

/* --- rows as commands ---------------------------------------------------- */

static int redis_shape(void *shape, void *self, const struct schema *s,
		       struct error *err)
{
	const struct redis *x = self;
	const struct export_rule *rule = export_rule_of(x->options, s->name);
	struct form *m = shape;
	const char *key;

	/* As the rules say, if the URL says nothing; else as a stream. */
	m->schema = s;
	m->kind = rule ? rule->kind : EXPORT_EVENT;
	m->key = rule && rule->key ? rule->key : "{}";
	for (uint8_t i = EXPORT_EVENT; i <= EXPORT_STATE; i++)
		if ((key = url_of(x->url, families[i], s->name))) {
			m->kind = i;
			m->key = key;
		}
	for (const char *at = m->key; (at = strchr(at, '{')); at++)
		m->many |= at[1] != '}';
	return row_template_check(m->key, s, err);
}

/* As Redis reads them (RESP): a command is "*WORDS\r\n", and words, each of
 * which is "$LENGTH\r\nBYTES\r\n". */
static void put_count(struct outbuf *o, char what, size_t n)
{
	outbuf_char(o, what);
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

/* A command begins, of so many words with its name and the row's key. */
static void begin_command(struct redis *x, size_t words, const char *name)
{
	size_t len = 0;
	const char *key = outbuf_text(&x->key, &len);

	put_count(&x->commands, '*', words);
	put_text(&x->commands, name);
	put_word(&x->commands, key, len);
}

/* Names and values of what is not null. */
static void put_pairs(struct redis *x, const struct form *m,
		      const struct row_batch *b, const struct row_cell *c)
{
	for (unsigned i = 0; i < m->schema->n; i++) {
		const char *text;
		size_t len = 0;

		if (encode_is_null(&c[i]))
			continue;
		put_text(&x->commands, m->schema->fields[i].name);
		text = encode_text(&x->cell, b, &c[i], &len);
		put_word(&x->commands, text, len);
	}
}

/* A stream is cut to maxlen, about, by every so many rows: to look at it for
 * each costs the server a tenth of its time. */
static void redis_encode(void *self, void *shape, struct outbuf *to,
			 const struct row_batch *b, unsigned row, uint32_t rows)
{
	const struct row_cell *c = row_batch_cell(b, row, 0);
	struct redis *x = self;
	struct form *m = shape;
	bool event = m->kind == EXPORT_EVENT;
	bool cut = event && (m->many || m->added++ % CUT_EVERY == 0);
	uint32_t n[NUMBERS] = {0, 1}, words = !event ? 2 : cut ? 6 : 3;
	const char *text;
	size_t len;

	(void)rows;
	outbuf_cut(&x->key, 0);
	outbuf_cut(&x->commands, 0);
	row_template_encode(m->key, &x->key, b, row);
	for (unsigned i = 0; i < m->schema->n; i++)
		words += encode_is_null(&c[i]) ? 0 : 2;
	begin_command(x, words, event ? "XADD" : "HSET");
	if (cut) {
		put_text(&x->commands, "MAXLEN");
		put_text(&x->commands, "~");
		put_number(&x->commands, x->maxlen);
	}
	if (event)
		put_text(&x->commands, "*");
	put_pairs(x, m, b, c);
	if (!event && x->expire_ns) {
		begin_command(x, 3, "PEXPIRE");
		put_number(&x->commands, x->expire_ns / 1000000);
		n[1]++;
	}
	text = outbuf_text(&x->commands, &len);
	if (!text || x->key.err || x->cell.err) {
		to->err = -ENOMEM;
		return;
	}
	n[0] = (uint32_t)len;
	outbuf_bytes(to, (const char *)n, sizeof(n));
	outbuf_bytes(to, text, len);
}

const struct export_scheme export_redis = {
	.scheme = "redis",
	.size = sizeof(defaults),
	.defaults = &defaults,
	.fields = fields,
	.open = redis_open,
	.driver =
		{
			.close = redis_close,
			.shape_size = sizeof(struct form),
			.shape = redis_shape,
			.encode = redis_encode,
			.send = redis_send,
			.wake = redis_wake,
		},
};
