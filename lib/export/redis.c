/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * redis.c - a Redis server.
 *
 *	stream.SCHEMA=KEY	rows are added to a stream (XADD)
 *	hash.SCHEMA=KEY		the latest row is a hash, with expiry
 *	expire=TIME		of hashes; 60s, 0: never
 *	maxlen=N		of a stream, about; 100000
 *
 * KEY as in row_template_open(); in a URL, { and } as they are. Rows of schemas
 * that neither the URL nor the caller's rules name go to a stream of their
 * measurement.
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
	REASON = 200,	 /* characters of an error that are told */
	AHEAD = 1 << 18, /* bytes sent before replies are read */
	CUT_EVERY = 16,	 /* rows */
	NUMBERS = 2,	 /* before an item's commands */
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
	struct outbuf key, words, cell, commands; /* the packer's */
	/* The sender's. */
	const struct export_stop *stop;
	char *host;
	uint16_t port;
	redisContext *c; /* NULL: not connected */
	atomic_int fd;	 /* its socket, or -1: for the end */
	/* Of the block in hand, whose items are read. */
	struct item *item;
	bool *keep; /* by item: it is not written or refused yet */
	uint32_t items, room;
	uint32_t write, read; /* the next item to send, to hear of */
	uint32_t heard;	      /* commands of that which are answered */
	enum fate fate;	      /* as far as they are */
	bool later;	      /* any item: others may not overtake it */
	struct export_tally *t;
	struct error why;
};

struct form {
	const struct schema *schema;
	struct row_template *key;
	uint8_t kind;	 /* enum export_kind */
	bool many;	 /* keys: fields say which */
	uint32_t added;	 /* rows, to one stream */
	char *names;	 /* of the fields, as words of commands */
	size_t *name_at; /* where each begins, and the last ends */
};

static const char *const families[] = {
	[EXPORT_EVENT] = "stream",
	[EXPORT_STATE] = "hash",
};

enum {
	FAMILIES = sizeof(families) / sizeof(families[0]),
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

/* --- commands as Redis reads them (RESP) --------------------------------- */

/* A command of so many words, "*N\r\n"; its words, "$LENGTH\r\nBYTES\r\n". */
static void put_command(struct outbuf *o, uint32_t words)
{
	outbuf_char(o, '*');
	outbuf_u64(o, words);
	outbuf_bytes(o, "\r\n", 2);
}

static void put_word(struct outbuf *o, const char *text, size_t len)
{
	outbuf_char(o, '$');
	outbuf_u64(o, len);
	outbuf_bytes(o, "\r\n", 2);
	outbuf_bytes(o, text, len);
	outbuf_bytes(o, "\r\n", 2);
}

static void put_text(struct outbuf *o, const char *text)
{
	put_word(o, text, strlen(text));
}

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
	int rc = 0;

	x->c = redisConnectWithTimeout(
		x->host, x->port,
		timeval_of(x->timeout_ns < SECOND ? x->timeout_ns : SECOND));
	if (!x->c)
		return error_set(err, -ENOMEM, "out of memory");
	if (x->c->err)
		return error_set(err, -EAGAIN, "%s:%u: %.128s", x->host,
				 (unsigned)x->port, x->c->errstr);
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

static bool begins_with_any(const char *text, const char *const *begins,
			    unsigned n)
{
	while (n && strncmp(text, begins[n - 1], strlen(begins[n - 1])) != 0)
		n--;
	return n;
}

/* Errors that pass (Redis: server.c), or will once an administrator mends what
 * is wrong. What a user may not do is that user's rows' fault: others need not
 * wait. */
static enum fate fate_of_error(struct redis *x, const char *text)
{
	static const char *const cluster[] = {
		"MOVED ",
		"ASK ",
		"CLUSTERDOWN",
		"TRYAGAIN",
	};
	static const char *const passes[] = {
		"LOADING",
		"MASTERDOWN",
		"READONLY",
		"NOAUTH",
		"WRONGPASS",
		"OOM",
		"NOREPLICAS",
		"BUSY",
		"MISCONF",
		"ERR max number of clients",
		"ERR invalid password",
		"ERR DB index",
		"ERR Client sent AUTH",
		"ERR AUTH",
	};

	error_set(&x->why, 0, "%.*s", REASON, text);
	if (begins_with_any(text, cluster,
			    sizeof(cluster) / sizeof(*cluster))) {
		error_set(&x->why, 0,
			  "a node of a Redis Cluster, which is not supported "
			  "(%.*s): take one Redis server, or kafka: or "
			  "clickhouse:",
			  REASON, text);
		return LATER;
	}
	return begins_with_any(text, passes, sizeof(passes) / sizeof(*passes))
		       ? LATER
		       : REFUSED;
}

/* The reply to a command of the item that is read. */
static int read_reply(struct redis *x, struct error *err)
{
	redisReply *reply;

	if (redisGetReply(x->c, (void **)&reply) != REDIS_OK)
		return connection_error(x, err);
	if (reply->type == REDIS_REPLY_ERROR && x->fate == WRITTEN)
		x->fate = fate_of_error(x, reply->str);
	freeReplyObject(reply);
	if (++x->heard < x->item[x->read].n)
		return 0;
	if (x->fate == REFUSED && !x->t->refused++)
		x->t->why = x->why;
	x->t->written += x->fate == WRITTEN;
	x->later |= x->fate == LATER;
	x->keep[x->read++] = x->fate == LATER;
	x->heard = 0;
	x->fate = WRITTEN;
	return 0;
}

/* All items; many are sent before the replies are read. */
static int send_items(struct redis *x, struct error *err)
{
	int rc = x->c ? 0 : connect_to(x, err);

	while (!rc && !x->later && x->read < x->items && !x->stop->now) {
		size_t ahead = 0;

		for (; x->write < x->items && ahead < AHEAD; x->write++) {
			const struct item *i = &x->item[x->write];

			redisAppendFormattedCommand(x->c, i->commands, i->len);
			ahead += i->len;
		}
		while (!rc && x->read < x->write)
			rc = read_reply(x, err);
	}
	if (rc < 0)
		disconnect(x);
	return rc;
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

/* What is no item is the end of the block. */
static int begin_block(struct redis *x, const struct export_block *b)
{
	size_t at = b->at;

	if (b->rows > x->room) {
		free(x->item);
		free(x->keep);
		x->item = calloc(b->rows, sizeof(*x->item));
		x->keep = calloc(b->rows, sizeof(*x->keep));
		x->room = x->item && x->keep ? b->rows : 0;
		if (!x->room)
			return -ENOMEM;
	}
	x->items = x->write = x->read = x->heard = 0;
	x->fate = WRITTEN;
	x->later = false;
	x->why.text[0] = '\0';
	while (x->items < b->rows && next_item(&x->item[x->items], b, &at))
		x->keep[x->items++] = true;
	return 0;
}

/* What is left of a block: the items that are kept. */
static void end_block(const struct redis *x, struct export_block *b)
{
	size_t from = b->at, to = from;

	b->rows = 0;
	for (uint32_t i = 0; i < x->items; i++) {
		size_t len = NUMBERS * sizeof(uint32_t) + x->item[i].len;

		if (x->keep[i]) {
			memmove(b->bytes + to, b->bytes + from, len);
			to += len;
			b->rows++;
		}
		from += len;
	}
	b->len = to;
}

/* A thread that waits for an answer gets an error. */
static void redis_wake(void *self)
{
	struct redis *x = self;
	int fd = x->fd;

	if (fd >= 0)
		shutdown(fd, SHUT_RDWR);
}

static int redis_send(void *self, struct export_block *b,
		      struct export_tally *t, struct error *err)
{
	struct redis *x = self;
	int rc = begin_block(x, b);
	struct export_block none = {.rows = b->rows - x->items};

	if (rc < 0)
		return error_set(err, rc, "out of memory");
	x->t = t;
	rc = x->items ? send_items(x, err) : 0;
	if (none.rows)
		export_block_refuse(&none, t, "a block that is none of Redis");
	end_block(x, b);
	return !rc && b->rows
		       ? error_set(err, -EAGAIN, "%.*s", REASON,
				   *x->why.text ? x->why.text : "it is the end")
		       : rc;
}

/* --- opened, closed ------------------------------------------------------ */

static void redis_close(void *self)
{
	struct redis *x = self;

	disconnect(x);
	free(x->host);
	free(x->item);
	free(x->keep);
	free(x->key.text);
	free(x->words.text);
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
	bool six = u->host[0] == '['; /* brackets are not the resolver's */

	x->options = o;
	x->url = u;
	x->stop = stop;
	x->port = u->port ? u->port : PORT;
	for (unsigned i = 0; i < FAMILIES; i++)
		url_family(u, families[i]);
	if (!*u->host || strchr(u->host, ','))
		return error_set(err, -EINVAL, "'%s' is not a host", u->host);
	x->host = strndup(u->host + six, strlen(u->host) - 2 * six);
	return x->host ? 0 : error_set(err, -ENOMEM, "out of memory");
}

/* --- rows as commands ---------------------------------------------------- */

/* How a schema is kept: by the URL, by the rules, or as a stream. */
static struct export_rule rule_of(const struct redis *x, const char *schema)
{
	struct export_rule rule = {schema, EXPORT_EVENT, NULL};
	const char *key;

	for (unsigned i = 0; i < x->options->n_rules; i++)
		if (!strcmp(x->options->rules[i].schema, schema))
			rule = x->options->rules[i];
	for (unsigned i = 0; i < FAMILIES; i++)
		if ((key = url_of(x->url, families[i], schema)))
			rule = (struct export_rule){schema, (uint8_t)i, key};
	if (!rule.key)
		rule.key = "{}";
	return rule;
}

static void redis_unshape(void *shape)
{
	struct form *m = shape;

	row_template_close(m->key);
	free(m->names);
	free(m->name_at);
}

static int shape_names(struct form *m, const struct schema *s)
{
	struct outbuf *o = calloc(1, sizeof(*o));
	size_t len;

	m->name_at = calloc(s->n + 1, sizeof(*m->name_at));
	if (o && m->name_at) {
		for (unsigned i = 0; i < s->n; i++) {
			const char *name = s->fields[i].name;

			put_word(o, name, strlen(name));
			m->name_at[i + 1] = outbuf_len(o);
		}
		m->names = outbuf_take(o, &len);
	}
	free(o);
	return m->names ? 0 : -ENOMEM;
}

static int redis_shape(void *shape, void *self, const struct schema *s,
		       struct error *err)
{
	struct export_rule rule = rule_of(self, s->name);
	struct form *m = shape;
	int rc = row_template_open(&m->key, rule.key, s, err);

	if (rc == 0 && shape_names(m, s) < 0)
		rc = error_set(err, -ENOMEM, "out of memory");
	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < s->n; i++)
		m->many = m->many || row_template_has(m->key, i);
	m->schema = s;
	m->kind = rule.kind;
	return 0;
}

/* A cell as a word; null is empty. */
static void put_cell(struct redis *x, const struct row_batch *b,
		     const struct row_cell *c)
{
	const char *text;
	size_t len;

	outbuf_cut(&x->cell, 0);
	if (!encode_is_null(c))
		encode_cell(&x->cell, b, c);
	text = outbuf_text(&x->cell, &len);
	put_word(&x->words, text ? text : "", len);
}

static void put_number(struct outbuf *o, uint64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
	put_text(o, text);
}

/* Names and values of what is not null, in x->words. Returns their number: a
 * hash and a stream want a pair. */
static uint32_t put_pairs(struct redis *x, const struct form *m,
			  const struct row_batch *b, unsigned row)
{
	const struct row_cell *c = row_batch_cell(b, row, 0);
	uint32_t n = 0;

	for (unsigned i = 0; i < m->schema->n; i++) {
		if (encode_is_null(&c[i]))
			continue;
		outbuf_bytes(&x->words, m->names + m->name_at[i],
			     m->name_at[i + 1] - m->name_at[i]);
		put_cell(x, b, &c[i]);
		n += 2;
	}
	if (n)
		return n;
	put_text(&x->words, "none");
	put_text(&x->words, "true");
	return 2;
}

/* A command begins, of so many words with its name and the row's key. */
static void begin_command(struct redis *x, uint32_t words, const char *name)
{
	size_t len;
	const char *key = outbuf_text(&x->key, &len);

	put_command(&x->commands, words);
	put_text(&x->commands, name);
	put_word(&x->commands, key ? key : "", key ? len : 0);
}

/* A stream is cut to maxlen, about, by every so many rows: to look at it for
 * each costs the server a tenth of its time. */
static void begin_add(struct redis *x, struct form *m, uint32_t pairs)
{
	bool cut = m->many || m->added++ % CUT_EVERY == 0;

	begin_command(x, pairs + (cut ? 6 : 3), "XADD");
	if (cut) {
		put_text(&x->commands, "MAXLEN");
		put_text(&x->commands, "~");
		put_number(&x->commands, x->maxlen);
	}
	put_text(&x->commands, "*");
}

/* The commands of a row, in x->commands. Returns how many. */
static uint32_t put_commands(struct redis *x, struct form *m,
			     const struct row_batch *b, unsigned row)
{
	uint32_t words = put_pairs(x, m, b, row);
	size_t len;
	const char *pairs = outbuf_text(&x->words, &len);

	if (m->kind == EXPORT_EVENT)
		begin_add(x, m, words);
	else
		begin_command(x, words + 2, "HSET");
	outbuf_bytes(&x->commands, pairs ? pairs : "", pairs ? len : 0);
	if (m->kind == EXPORT_EVENT || !x->expire_ns)
		return 1;
	begin_command(x, 3, "PEXPIRE");
	put_number(&x->commands, x->expire_ns / 1000000);
	return 2;
}

static void redis_encode(void *self, void *shape, struct outbuf *to,
			 const struct row_batch *b, unsigned row, uint32_t rows)
{
	struct redis *x = self;
	struct form *m = shape;
	uint32_t n[NUMBERS];
	const char *text;
	size_t len;

	(void)rows;
	outbuf_cut(&x->key, 0);
	outbuf_cut(&x->words, 0);
	outbuf_cut(&x->commands, 0);
	row_template_encode(m->key, &x->key, b, row);
	n[1] = put_commands(x, m, b, row);
	text = outbuf_text(&x->commands, &len);
	n[0] = (uint32_t)len;
	if (!text || x->key.err || x->words.err || x->cell.err) {
		to->err = -ENOMEM;
		return;
	}
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
			.unshape = redis_unshape,
			.encode = redis_encode,
			.send = redis_send,
			.wake = redis_wake,
		},
};
