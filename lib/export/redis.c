/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * redis.c - a Redis server.
 *
 *	stream.SCHEMA=KEY	rows are added to a stream (XADD)
 *	hash.SCHEMA=KEY		the latest row is a hash, with expiry
 *	list.SCHEMA=KEY		the latest row is a list, with expiry: the
 *				values of fields that the key does not say
 *	push.SCHEMA=KEY		the values are added to a list
 *	value.SCHEMA=KEY	the latest row's value is a string (SET); of
 *				fields that the key does not say there is one
 *	expire=TIME		of hashes and latest rows; 60s, 0: never
 *	maxlen=N		of a stream, about, and of a list; 100000
 *
 * KEY as in template.h; in a URL, { and } as they are. Rows of schemas that
 * neither the URL nor the caller's rules name go to a stream of their
 * measurement.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/private.h"
#include "redis/send.h"
#include "redis/words.h"
#include "row/encode.h"
#include "row/template.h"

struct redis {
	struct redis_node *node;
	const struct export_options *options;
	struct url *url;
	uint64_t expire_ns, maxlen, timeout_ns;
	struct outbuf key, words, cell, commands; /* the packer's */
};

struct form {
	const struct schema *schema;
	struct template *key;
	uint8_t kind;	 /* enum export_kind */
	bool many;	 /* keys: fields say which */
	uint32_t added;	 /* rows, to one stream */
	char *names;	 /* of the fields, as words of commands */
	size_t *name_at; /* where each begins, and the last ends */
};

static const char *const families[] = {
	[EXPORT_EVENT] = "stream", [EXPORT_STATE] = "hash",
	[EXPORT_LIST] = "list",	   [EXPORT_PUSH] = "push",
	[EXPORT_VALUE] = "value",
};

enum {
	CUT_EVERY = 16, /* rows */
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

static void redis_close(void *self)
{
	struct redis *x = self;

	if (!x)
		return;
	redis_node_close(x->node);
	free(x->key.text);
	free(x->words.text);
	free(x->cell.text);
	free(x->commands.text);
	free(x);
}

static int redis_open(void **out, struct url *u, const struct export_options *o,
		      struct stop *stop, struct fault *f)
{
	struct redis *x = calloc(1, sizeof(*x));
	int rc;

	if (!x)
		return fault_set(f, -ENOMEM, "out of memory");
	x->expire_ns = UINT64_C(60000000000);
	x->maxlen = 100000;
	x->timeout_ns = EXPORT_TIMEOUT_NS;
	x->options = o;
	x->url = u;
	rc = url_set(u, fields, x, f);
	for (unsigned i = 0; i < FAMILIES; i++)
		url_family(u, families[i]);
	if (rc == 0 && (!*u->host || strchr(u->host, ',')))
		rc = fault_set(f, -EINVAL, "'%s' is not a host", u->host);
	if (rc == 0 && redis_node_open(&x->node, u, x->timeout_ns, stop) < 0)
		rc = fault_set(f, -ENOMEM, "out of memory");
	if (rc < 0) {
		redis_close(x);
		return rc;
	}
	*out = x;
	return 0;
}

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

	if (m) {
		template_close(m->key);
		free(m->names);
		free(m->name_at);
	}
	free(m);
}

static int shape_names(struct form *m, const struct schema *s)
{
	struct outbuf *o = calloc(1, sizeof(*o));
	size_t len;

	m->name_at = calloc(s->n + 1, sizeof(*m->name_at));
	if (o && m->name_at) {
		for (unsigned i = 0; i < s->n; i++) {
			const char *name = s->fields[i].name;

			redis_word(o, name, strlen(name));
			m->name_at[i + 1] = outbuf_len(o);
		}
		m->names = outbuf_take(o, &len);
	}
	free(o);
	return m->names ? 0 : -ENOMEM;
}

static int redis_shape(void **out, void *self, const struct schema *s,
		       struct fault *f)
{
	struct export_rule rule = rule_of(self, s->name);
	struct form *m = calloc(1, sizeof(*m));
	int rc = m ? template_open(&m->key, rule.key, s, f) : -ENOMEM;

	if (rc == 0)
		rc = shape_names(m, s);
	if (rc < 0) {
		redis_unshape(m);
		return rc;
	}
	for (unsigned i = 0; i < s->n; i++)
		m->many = m->many || template_has(m->key, i);
	m->schema = s;
	m->kind = rule.kind;
	*out = m;
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
	redis_word(&x->words, text ? text : "", len);
}

static void put_number(struct outbuf *o, uint64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
	redis_text(o, text);
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
	redis_text(&x->words, "none");
	redis_text(&x->words, "true");
	return 2;
}

static uint32_t put_values(struct redis *x, const struct form *m,
			   const struct row_batch *b, unsigned row)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < m->schema->n; i++)
		if (!template_has(m->key, i)) {
			put_cell(x, b, row_batch_cell(b, row, i));
			n++;
		}
	return n;
}

static void begin(struct redis *x, uint32_t words, const char *name,
		  const struct item *i)
{
	redis_command(&x->commands, words);
	redis_text(&x->commands, name);
	redis_word(&x->commands, i->key, i->key_len);
}

static void expire(struct redis *x, struct item *i)
{
	begin(x, 3, "PEXPIRE", i);
	put_number(&x->commands, x->expire_ns / 1000000);
	i->parts++;
}

/* The last maxlen values stay. */
static void trim(struct redis *x, struct item *i)
{
	char first[24];

	snprintf(first, sizeof(first), "-%llu", (unsigned long long)x->maxlen);
	begin(x, 4, "LTRIM", i);
	redis_text(&x->commands, first);
	redis_text(&x->commands, "-1");
	i->parts++;
}

/* A stream is cut to maxlen, about, by every so many rows: to look at it for
 * each costs the server a tenth of its time. */
static void add(struct redis *x, struct form *m, struct item *i, uint32_t pairs)
{
	bool cut = m->many || m->added++ % CUT_EVERY == 0;

	begin(x, pairs + (cut ? 6 : 3), "XADD", i);
	if (cut) {
		redis_text(&x->commands, "MAXLEN");
		redis_text(&x->commands, "~");
		put_number(&x->commands, x->maxlen);
	}
	redis_text(&x->commands, "*");
}

/* The commands of a row, in x->commands. */
static void command(struct redis *x, struct form *m, struct item *i,
		    const struct row_batch *b, unsigned row)
{
	bool values = m->kind >= EXPORT_LIST;
	uint32_t n = values ? put_values(x, m, b, row)
			    : put_pairs(x, m, b, row);
	size_t len;
	const char *words = outbuf_text(&x->words, &len);

	i->parts = 1;
	if (m->kind == EXPORT_EVENT) {
		add(x, m, i, n);
	} else if (m->kind == EXPORT_STATE) {
		begin(x, n + 2, "HSET", i);
	} else if (m->kind == EXPORT_VALUE) {
		begin(x, n + 2, "SET", i);
	} else {
		if (m->kind == EXPORT_LIST) {
			begin(x, 2, "DEL", i);
			i->parts++;
		}
		begin(x, n + 2, "RPUSH", i);
	}
	outbuf_bytes(&x->commands, words ? words : "", words ? len : 0);
	if (m->kind == EXPORT_PUSH)
		trim(x, i);
	else if ((m->kind == EXPORT_STATE || m->kind == EXPORT_LIST) &&
		 x->expire_ns)
		expire(x, i);
}

static void redis_encode(void *self, void *shape, struct outbuf *to,
			 const struct row_batch *b, unsigned row, uint32_t rows)
{
	struct form *m = shape;
	struct redis *x = self;
	struct item i = {0};
	size_t len;

	(void)rows;
	outbuf_cut(&x->key, 0);
	outbuf_cut(&x->words, 0);
	outbuf_cut(&x->commands, 0);
	template_row(m->key, &x->key, b, row);
	i.key = outbuf_text(&x->key, &len);
	i.key_len = (uint32_t)len;
	command(x, m, &i, b, row);
	i.payload = outbuf_text(&x->commands, &len);
	i.len = (uint32_t)len;
	if (!i.key || !i.payload || x->words.err || x->cell.err)
		to->err = -ENOMEM;
	else
		item_put(to, &i);
}

static int redis_send(void *self, struct block *b, struct tally *t,
		      struct fault *f)
{
	struct redis *x = self;

	return redis_node_send(x->node, b, t, f);
}

const struct export_scheme export_redis = {
	.scheme = "redis",
	.open = redis_open,
	.driver =
		{
			.close = redis_close,
			.shape = redis_shape,
			.unshape = redis_unshape,
			.encode = redis_encode,
			.send = redis_send,
		},
};
