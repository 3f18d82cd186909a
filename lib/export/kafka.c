/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kafka.c - Kafka, by librdkafka: a row is a message, as JSON. Delivery is
 * idempotent: what it sends again within a connection is told from the first.
 *
 *	kafka://HOST[,HOST...]/TOPIC	the measurement by default; of a topic
 *for all each object says of which it is key.SCHEMA=KEY		as in
 *template.h; by the caller's rules, or none
 *	conf.NAME=VALUE		of librdkafka: conf.compression.type=lz4
 *	timeout=TIME		until a message counts as not delivered
 */
#include <errno.h>
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/private.h"
#include "row/encode.h"
#include "row/template.h"

enum {
	POLL_MS = 100, /* between looks at whether it is the end */
	REASON = 300,  /* characters of one that are told */
};

/* What became of a message. */
enum {
	WAITS,
	WRITTEN,
	REFUSED,
};

struct kafka {
	rd_kafka_t *rk; /* NULL: it is to be made, after a fatal error */
	struct url *url;
	const struct export_options *options;
	const struct stop *stop;
	uint64_t timeout_ns;
	struct outbuf key, json; /* the packer's */
	/* The sender's, of the block in hand. */
	rd_kafka_topic_t *topic; /* of the last message, or NULL */
	uint8_t *state;
	uint32_t room, reports; /* messages that were reported */
	struct fault why, refusal;
};

struct form {
	const char *topic;
	struct encoder *e;
	struct template *key; /* NULL: none */
};

/* clang-format off */
static const struct field fields[] = {
	EXPORT_WAIT("timeout", struct kafka, timeout_ns),
	{NULL},
};
/* clang-format on */

/* Errors of a message itself, which is no better the next time. */
static bool is_refusal(rd_kafka_resp_err_t err)
{
	return err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE ||
	       err == RD_KAFKA_RESP_ERR_INVALID_MSG ||
	       err == RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE ||
	       err == RD_KAFKA_RESP_ERR_INVALID_RECORD;
}

static void judge(struct kafka *x, uint8_t *state, rd_kafka_resp_err_t err)
{
	const char *why = rd_kafka_err2str(err);

	if (!err) {
		*state = WRITTEN;
	} else if (is_refusal(err)) {
		*state = REFUSED;
		fault_set(&x->refusal, 0, "%.*s", REASON, why);
	} else if (!*x->why.text) {
		fault_set(&x->why, 0, "%.*s", REASON, why);
	}
}

static void reported(rd_kafka_t *rk, const rd_kafka_message_t *m, void *self)
{
	struct kafka *x = self;

	(void)rk;
	judge(x, m->_private, m->err);
	x->reports++;
}

/* What a broker or the connection to it says: nearer than "timed out". */
static void failed(rd_kafka_t *rk, int err, const char *reason, void *self)
{
	struct kafka *x = self;

	(void)rk;
	(void)err;
	fault_set(&x->why, 0, "%.*s", REASON, reason);
}

static int set(rd_kafka_conf_t *c, const char *name, const char *value,
	       struct fault *f)
{
	char why[REASON];

	if (rd_kafka_conf_set(c, name, value, why, sizeof(why)) ==
	    RD_KAFKA_CONF_OK)
		return 0;
	return fault_set(f, -EINVAL, "%s", why);
}

static int configure(struct kafka *x, rd_kafka_conf_t *c, struct fault *f)
{
	const struct url *u = x->url;
	char ms[24];
	int rc = set(c, "bootstrap.servers", u->hosts, f);

	snprintf(ms, sizeof(ms), "%llu",
		 (unsigned long long)(x->timeout_ns / 1000000));
	if (rc == 0)
		rc = set(c, "message.timeout.ms", ms, f);
	if (rc == 0)
		rc = set(c, "enable.idempotence", "true", f);
	for (unsigned i = 0; rc == 0 && i < u->options; i++)
		if (!strncmp(u->option[i].name, "conf.", 5))
			rc = set(c, u->option[i].name + 5, u->option[i].value,
				 f);
	rd_kafka_conf_set_opaque(c, x);
	rd_kafka_conf_set_dr_msg_cb(c, reported);
	rd_kafka_conf_set_error_cb(c, failed);
	rd_kafka_conf_set_log_cb(c, NULL);
	return rc;
}

static int make_producer(struct kafka *x, struct fault *f)
{
	rd_kafka_conf_t *c = rd_kafka_conf_new();
	int rc = configure(x, c, f);
	char why[REASON];

	if (rc == 0)
		x->rk = rd_kafka_new(RD_KAFKA_PRODUCER, c, why, sizeof(why));
	if (rc == 0 && x->rk)
		return 0;
	rd_kafka_conf_destroy(c); /* rd_kafka_new() has not taken it */
	return rc < 0 ? rc : fault_set(f, -EINVAL, "%s", why);
}

static void kafka_close(void *self)
{
	struct kafka *x = self;

	if (!x)
		return;
	if (x->rk)
		rd_kafka_destroy(x->rk);
	free(x->key.text);
	free(x->json.text);
	free(x->state);
	free(x);
}

static int kafka_open(void **out, struct url *u, const struct export_options *o,
		      struct stop *stop, struct fault *f)
{
	struct kafka *x = calloc(1, sizeof(*x));
	int rc;

	if (!x)
		return fault_set(f, -ENOMEM, "out of memory");
	x->url = u;
	x->options = o;
	x->stop = stop;
	x->timeout_ns = EXPORT_TIMEOUT_NS;
	rc = url_set(u, fields, x, f);
	url_family(u, "key");
	url_family(u, "conf");
	if (rc == 0 && !*u->hosts)
		rc = fault_set(f, -EINVAL, "no host");
	if (rc == 0)
		rc = make_producer(x, f);
	if (rc < 0) {
		kafka_close(x);
		return rc;
	}
	*out = x;
	return 0;
}

static void kafka_unshape(void *shape)
{
	struct form *m = shape;

	if (!m)
		return;
	template_close(m->key);
	encoder_close(m->e);
	free(m);
}

static const char *group_of(const struct export_rule *r)
{
	return r->group ? r->group : r->key;
}

static const char *key_of(const struct kafka *x, const char *schema)
{
	const char *key = url_of(x->url, "key", schema);

	for (unsigned i = 0; !key && i < x->options->n_rules; i++)
		if (!strcmp(x->options->rules[i].schema, schema))
			key = group_of(&x->options->rules[i]);
	return key;
}

static int kafka_shape(void **out, void *self, const struct schema *s,
		       struct fault *f)
{
	struct kafka *x = self;
	const char *key = key_of(x, s->name);
	struct form *m = calloc(1, sizeof(*m));
	int rc = m && (m->e = encoder_open(ROW_NDJSON, s)) ? 0 : -ENOMEM;

	if (rc == 0 && key)
		rc = template_open(&m->key, key, s, f);
	if (rc < 0) {
		kafka_unshape(m);
		return rc;
	}
	m->topic = *x->url->path ? x->url->path : s->name;
	if (*x->url->path && !encoder_say_schema(m->e)) {
		kafka_unshape(m);
		return -ENOMEM;
	}
	*out = m;
	return 0;
}

/* An item's payload is the topic, of `parts' bytes, and the object. */
static void kafka_encode(void *self, void *shape, struct outbuf *to,
			 const struct row_batch *b, unsigned row, uint32_t rows)
{
	struct form *m = shape;
	struct kafka *x = self;
	struct item i = {.parts = (uint32_t)strlen(m->topic)};
	size_t len;

	(void)rows;
	outbuf_cut(&x->key, 0);
	outbuf_cut(&x->json, 0);
	if (m->key)
		template_row(m->key, &x->key, b, row);
	i.key = outbuf_text(&x->key, &len);
	i.key_len = (uint32_t)len;
	outbuf_bytes(&x->json, m->topic, i.parts);
	encoder_row(m->e, &x->json, b, row);
	i.payload = outbuf_text(&x->json, &len);
	i.len = (uint32_t)len - 1; /* without the line's end */
	if (!i.key || !i.payload)
		to->err = -ENOMEM;
	else
		item_put(to, &i);
}

static void leave_topic(struct kafka *x)
{
	if (x->topic)
		rd_kafka_topic_destroy(x->topic);
	x->topic = NULL;
}

/* The topic of an item is x->topic. To open it asks for its partitions at once;
 * one that messages only name is looked for within a second, each. */
static bool enter_topic(struct kafka *x, const struct item *i)
{
	char name[256];

	if (i->parts >= sizeof(name) || i->parts > i->len)
		return false;
	memcpy(name, i->payload, i->parts);
	name[i->parts] = '\0';
	if (x->topic && !strcmp(rd_kafka_topic_name(x->topic), name))
		return true;
	leave_topic(x);
	x->topic = rd_kafka_topic_new(x->rk, name, NULL);
	return x->topic;
}

/* True: a report will come. */
static bool produce(struct kafka *x, const struct item *i, uint8_t *state)
{
	const char *key = i->key_len ? i->key : NULL;
	rd_kafka_resp_err_t err;

	if (!enter_topic(x, i)) {
		judge(x, state, RD_KAFKA_RESP_ERR_INVALID_MSG);
		return false;
	}
	do {
		err = rd_kafka_producev(
			x->rk, RD_KAFKA_V_RKT(x->topic),
			RD_KAFKA_V_KEY(key, i->key_len),
			RD_KAFKA_V_VALUE((void *)(i->payload + i->parts),
					 i->len - i->parts),
			RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
			RD_KAFKA_V_OPAQUE(state), RD_KAFKA_V_END);
		if (err == RD_KAFKA_RESP_ERR__QUEUE_FULL)
			rd_kafka_poll(x->rk, POLL_MS);
	} while (err == RD_KAFKA_RESP_ERR__QUEUE_FULL && !x->stop->now);
	if (err)
		judge(x, state, err);
	return !err;
}

/* Until all are reported; at the end those that are not yet are given up. */
static void hear(struct kafka *x, uint32_t produced)
{
	bool purged = false;

	while (x->reports < produced) {
		if (x->stop->now && !purged) {
			rd_kafka_purge(x->rk,
				       RD_KAFKA_PURGE_F_QUEUE |
					       RD_KAFKA_PURGE_F_INFLIGHT);
			purged = true;
		}
		rd_kafka_poll(x->rk, POLL_MS);
	}
}

static void send_items(struct kafka *x, const struct block *b)
{
	uint32_t produced = 0;
	size_t at = b->at;
	struct item item;

	for (uint32_t i = 0; i < b->rows; i++) {
		if (item_next(&item, b, &at) <= 0) {
			for (; i < b->rows; i++)
				judge(x, &x->state[i],
				      RD_KAFKA_RESP_ERR_INVALID_MSG);
			break;
		}
		produced += produce(x, &item, &x->state[i]);
	}
	hear(x, produced);
	leave_topic(x);
}

/* A producer that cannot go on: the next send makes another. */
static void check_fatal(struct kafka *x)
{
	char why[REASON];

	if (!rd_kafka_fatal_error(x->rk, why, sizeof(why)))
		return;
	fault_set(&x->why, 0, "%s", why);
	rd_kafka_destroy(x->rk);
	x->rk = NULL;
}

static int make_room(struct kafka *x, uint32_t rows)
{
	uint8_t *more;

	if (rows > x->room) {
		if (!(more = realloc(x->state, rows)))
			return -ENOMEM;
		x->state = more;
		x->room = rows;
	}
	memset(x->state, WAITS, rows);
	return 0;
}

static int settle(struct kafka *x, struct block *b, struct tally *t,
		  struct fault *f)
{
	uint32_t n = b->rows;
	bool *keep = calloc(n, sizeof(*keep));

	if (!keep)
		return fault_set(f, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < n; i++) {
		keep[i] = x->state[i] == WAITS;
		t->written += x->state[i] == WRITTEN;
		t->refused += x->state[i] == REFUSED;
	}
	t->why = x->refusal;
	items_keep(b, keep, n);
	free(keep);
	return b->rows ? fault_set(f, -EAGAIN, "%s", x->why.text) : 0;
}

static int kafka_send(void *self, struct block *b, struct tally *t,
		      struct fault *f)
{
	struct kafka *x = self;
	int rc = x->rk ? 0 : make_producer(x, f);

	if (rc == 0 && make_room(x, b->rows) < 0)
		rc = fault_set(f, -ENOMEM, "out of memory");
	if (rc < 0)
		return rc;
	x->reports = 0;
	x->why = x->refusal = (struct fault){""};
	send_items(x, b);
	check_fatal(x);
	return settle(x, b, t, f);
}

const struct export_scheme export_kafka = {
	.scheme = "kafka",
	.open = kafka_open,
	.driver =
		{
			.close = kafka_close,
			.shape = kafka_shape,
			.unshape = kafka_unshape,
			.encode = kafka_encode,
			.send = kafka_send,
		},
};
