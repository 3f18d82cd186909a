/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
/*
 * kafka.c - Kafka, by librdkafka: a row is a message, as JSON. librdkafka has
 * the queue and the retries, and tells what became of each message; delivery is
 * idempotent.
 *
 *	kafka://HOST[,HOST...]/TOPIC
 *			the measurement by default; of a topic for all each
 *			object says of which it is
 *	key.SCHEMA=KEY	as in row_template_check(); by the caller's rules, or
 *			none
 *	conf.NAME=VALUE	of librdkafka: conf.compression.type=lz4
 *	timeout=TIME	until a row that is not delivered is lost: 5m
 */
/* clang-format on */
#include <errno.h>
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/driver.h"
#include "row/row.h"

enum {
	POLL_MS = 100, /* between looks at whether it is the end */
	REASON = 300,  /* characters of one that are told */
};

#define TIMEOUT_NS UINT64_C(300000000000)

struct kafka {
	rd_kafka_t *rk;
	struct url *url;
	const struct export_options *options;
	const struct export_stop *stop;
	uint64_t timeout_ns;
	struct outbuf key, json;
	unsigned row;		   /* the next to take of the batch in hand */
	struct export_tally heard; /* since hear() was asked last */
	bool fails;		   /* the same: a broker, or its connection */
	struct error why;
};

struct form {
	rd_kafka_topic_t *topic;
	struct encoder *e;
	const char *key; /* row_template_check(); NULL: none */
};

/* clang-format off */
static const struct field fields[] = {
	EXPORT_WAIT("timeout", struct kafka, timeout_ns),
	{NULL},
};
/* clang-format on */

static void count_refusal(struct kafka *x, rd_kafka_resp_err_t err)
{
	if (!x->heard.refused++)
		error_set(&x->heard.why, 0, "%.*s", REASON,
			  rd_kafka_err2str(err));
}

static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *m, void *self)
{
	struct kafka *x = self;

	(void)rk;
	if (m->err) {
		count_refusal(x, m->err);
	} else {
		x->heard.written++;
		x->fails = false;
	}
}

/* What a broker or the connection to it says. */
static void on_error(rd_kafka_t *rk, int err, const char *reason, void *self)
{
	struct kafka *x = self;

	(void)rk;
	(void)err;
	x->fails = true;
	error_set(&x->why, 0, "%.*s", REASON, reason);
}

static int set_property(rd_kafka_conf_t *c, const char *name, const char *value,
			struct error *err)
{
	char why[REASON];

	if (rd_kafka_conf_set(c, name, value, why, sizeof(why)) ==
	    RD_KAFKA_CONF_OK)
		return 0;
	return error_set(err, -EINVAL, "%s", why);
}

static int configure_producer(struct kafka *x, rd_kafka_conf_t *c,
			      struct error *err)
{
	const struct url *u = x->url;
	char ms[24];
	int rc = set_property(c, "bootstrap.servers", u->hosts, err);

	snprintf(ms, sizeof(ms), "%llu",
		 (unsigned long long)(x->timeout_ns / 1000000));
	if (rc == 0)
		rc = set_property(c, "message.timeout.ms", ms, err);
	if (rc == 0)
		rc = set_property(c, "enable.idempotence", "true", err);
	for (unsigned i = 0; rc == 0 && i < u->options; i++)
		if (!strncmp(u->option[i].name, "conf.", 5))
			rc = set_property(c, u->option[i].name + 5,
					  u->option[i].value, err);
	rd_kafka_conf_set_opaque(c, x);
	rd_kafka_conf_set_dr_msg_cb(c, on_delivery);
	rd_kafka_conf_set_error_cb(c, on_error);
	rd_kafka_conf_set_log_cb(c, NULL);
	return rc;
}

static int make_producer(struct kafka *x, struct error *err)
{
	rd_kafka_conf_t *c = rd_kafka_conf_new();
	int rc = configure_producer(x, c, err);
	char why[REASON];

	if (rc == 0)
		x->rk = rd_kafka_new(RD_KAFKA_PRODUCER, c, why, sizeof(why));
	if (rc == 0 && x->rk)
		return 0;
	rd_kafka_conf_destroy(c); /* rd_kafka_new() has not taken it */
	return rc < 0 ? rc : error_set(err, -EINVAL, "%s", why);
}

static void kafka_close(void *self)
{
	struct kafka *x = self;

	if (x->rk) {
		rd_kafka_purge(x->rk, RD_KAFKA_PURGE_F_QUEUE |
					      RD_KAFKA_PURGE_F_INFLIGHT);
		rd_kafka_destroy(x->rk);
	}
	free(x->key.text);
	free(x->json.text);
	free(x);
}

static const struct kafka defaults = {.timeout_ns = TIMEOUT_NS};

static int kafka_open(void *self, struct url *u, const struct export_options *o,
		      struct export_stop *stop, struct error *err)
{
	struct kafka *x = self;

	x->url = u;
	x->options = o;
	x->stop = stop;
	url_family(u, "key");
	url_family(u, "conf");
	return *u->hosts ? make_producer(x, err)
			 : error_set(err, -EINVAL, "no host");
}

static void kafka_unshape(void *shape)
{
	struct form *m = shape;

	if (m->topic)
		rd_kafka_topic_destroy(m->topic);
	encoder_close(m->e);
}

/* To open the topic asks for its partitions at once; one that messages only
 * name is looked for within a second, each. */
static int kafka_shape(void *shape, void *self, const struct schema *s,
		       struct error *err)
{
	struct kafka *x = self;
	const struct export_rule *rule = export_rule_of(x->options, s->name);
	const char *topic = x->url->path;
	struct form *m = shape;
	int rc;

	m->key = url_of(x->url, "key", s->name);
	if (!m->key && rule)
		m->key = rule->group ? rule->group : rule->key;
	if (!(m->e = encoder_open(ROW_NDJSON, s, *topic)))
		return error_set(err, -ENOMEM, "out of memory");
	if (m->key && (rc = row_template_check(m->key, s, err)) < 0)
		return rc;
	m->topic = rd_kafka_topic_new(x->rk, *topic ? topic : s->name, NULL);
	return m->topic ? 0
			: error_set(err, -EINVAL, "topic: %s",
				    rd_kafka_err2str(rd_kafka_last_error()));
}

static rd_kafka_resp_err_t produce_message(struct kafka *x,
					   const struct form *m,
					   const struct row_batch *b,
					   unsigned row)
{
	const char *key, *json;
	size_t key_len, len;

	outbuf_cut(&x->key, 0);
	outbuf_cut(&x->json, 0);
	if (m->key)
		row_template_encode(m->key, &x->key, b, row);
	encoder_row(m->e, &x->json, b, row);
	key = outbuf_text(&x->key, &key_len);
	json = outbuf_text(&x->json, &len);
	if (!key || !json) {
		x->key.err = x->json.err = 0;
		return RD_KAFKA_RESP_ERR__QUEUE_FULL; /* no memory, now */
	}
	return rd_kafka_producev(x->rk, RD_KAFKA_V_RKT(m->topic),
				 RD_KAFKA_V_KEY(key_len ? key : NULL, key_len),
				 /* without the line's end */
				 RD_KAFKA_V_VALUE((void *)json, len - 1),
				 RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
				 RD_KAFKA_V_END);
}

/* Full: librdkafka's queue, until brokers take some of it. */
static int kafka_take(void *self, void *shape, const struct row_batch *b,
		      struct export_tally *t, struct error *err)
{
	struct kafka *x = self;

	(void)t; /* kafka_hear() has it */
	while (x->row < b->rows) {
		rd_kafka_resp_err_t rc = produce_message(x, shape, b, x->row);

		if (rc != RD_KAFKA_RESP_ERR__QUEUE_FULL) {
			x->row++;
			if (rc)
				count_refusal(x, rc);
			continue;
		}
		rd_kafka_poll(x->rk, POLL_MS);
		if (x->fails || x->stop->now) {
			x->fails = false;
			return error_set(err, -EAGAIN, "%s", x->why.text);
		}
	}
	x->row = 0;
	return 0;
}

static int kafka_hear(void *self, struct export_tally *t, struct error *err)
{
	struct kafka *x = self;
	int rc;

	rd_kafka_poll(x->rk, 0);
	*t = x->heard;
	/* A broker may end a connection that is idle. */
	rc = x->fails && rd_kafka_outq_len(x->rk)
		     ? error_set(err, -EAGAIN, "%s", x->why.text)
		     : t->written || t->refused;
	x->heard = (struct export_tally){0};
	x->fails = false;
	return rc;
}

const struct export_scheme export_kafka = {
	.scheme = "kafka",
	.size = sizeof(defaults),
	.defaults = &defaults,
	.fields = fields,
	.open = kafka_open,
	.driver =
		{
			.close = kafka_close,
			.shape_size = sizeof(struct form),
			.shape = kafka_shape,
			.unshape = kafka_unshape,
			.take = kafka_take,
			.hear = kafka_hear,
		},
};
