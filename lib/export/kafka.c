/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
/*
 * kafka.c - Kafka, by librdkafka: a row is a message, as JSON. librdkafka has
 * the queue and the retries, and reports what became of each message; delivery
 * is idempotent.
 *
 *	kafka://HOST[,HOST...]/TOPIC
 *			all rows go to TOPIC, and each names its schema; without
 *			TOPIC, rows go to a topic of their schema's name
 *	key.SCHEMA=KEY	as in row_template_check(); else as the caller's rules
 *			say; else none
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
	POLL_MS = 100,	  /* between looks at export_stop */
	REASON_MAX = 300, /* characters of an error that are kept */
};

#define TIMEOUT_NS UINT64_C(300000000000)

struct kafka {
	rd_kafka_t *rk;
	struct url *url;
	const struct export_options *options;
	const struct export_stop *stop;
	uint64_t timeout_ns;
	struct outbuf key, json;
	unsigned row;		     /* the next to take of the batch in hand */
	struct export_tally results; /* since the last poll_results() */
	bool fails; /* a broker or its connection, since then */
	struct error why;
};

struct schema_state {
	rd_kafka_topic_t *topic;
	struct encoder *encoder;
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
	if (!x->results.refused++)
		error_set(&x->results.why, 0, "%.*s", REASON_MAX,
			  rd_kafka_err2str(err));
}

static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *m, void *self)
{
	struct kafka *x = self;

	(void)rk;
	if (m->err) {
		count_refusal(x, m->err);
	} else {
		x->results.written++;
		x->fails = false;
	}
}

/* An error of a broker or of the connection to it. */
static void on_error(rd_kafka_t *rk, int err, const char *reason, void *self)
{
	struct kafka *x = self;

	(void)rk;
	(void)err;
	x->fails = true;
	error_set(&x->why, 0, "%.*s", REASON_MAX, reason);
}

static int set_property(rd_kafka_conf_t *c, const char *name, const char *value,
			struct error *err)
{
	char why[REASON_MAX];

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
	for (unsigned i = 0; rc == 0 && i < u->n_options; i++)
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
	char why[REASON_MAX];

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
	url_use_options(u, "key");
	url_use_options(u, "conf");
	return *u->hosts ? make_producer(x, err)
			 : error_set(err, -EINVAL, "no host");
}

static void kafka_close_schema(void *schema_state)
{
	struct schema_state *state = schema_state;

	if (state->topic)
		rd_kafka_topic_destroy(state->topic);
	encoder_close(state->encoder);
}

/* Opens the topic, so that librdkafka asks for its partitions at once: for a
 * topic that only messages name, it asks once a second. */
static int kafka_open_schema(void *schema_state, void *self,
			     const struct schema *s, struct error *err)
{
	struct kafka *x = self;
	const struct export_rule *rule = export_rule_of(x->options, s->name);
	const char *topic = x->url->path;
	struct schema_state *state = schema_state;
	int rc;

	state->key = url_option(x->url, "key", s->name);
	if (!state->key && rule)
		state->key = rule->group ? rule->group : rule->key;
	if (!(state->encoder = encoder_open(ROW_NDJSON, s, *topic)))
		return error_set(err, -ENOMEM, "out of memory");
	if (state->key && (rc = row_template_check(state->key, s, err)) < 0)
		return rc;
	state->topic = rd_kafka_topic_new(x->rk, *topic ? topic : s->name,
					  NULL);
	return state->topic
		       ? 0
		       : error_set(err, -EINVAL, "topic: %s",
				   rd_kafka_err2str(rd_kafka_last_error()));
}

static rd_kafka_resp_err_t produce_message(struct kafka *x,
					   const struct schema_state *state,
					   const struct row_batch *b,
					   unsigned row)
{
	const char *key, *json;
	size_t key_len, len;

	outbuf_cut(&x->key, 0);
	outbuf_cut(&x->json, 0);
	if (state->key)
		row_template_encode(state->key, &x->key, b, row);
	encoder_row(state->encoder, &x->json, b, row);
	key = outbuf_text(&x->key, &key_len);
	json = outbuf_text(&x->json, &len);
	if (!key || !json) {
		x->key.err = x->json.err = 0;
		return RD_KAFKA_RESP_ERR__QUEUE_FULL; /* no memory for now */
	}
	return rd_kafka_producev(x->rk, RD_KAFKA_V_RKT(state->topic),
				 RD_KAFKA_V_KEY(key_len ? key : NULL, key_len),
				 /* without the line's end */
				 RD_KAFKA_V_VALUE((void *)json, len - 1),
				 RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
				 RD_KAFKA_V_END);
}

/* While librdkafka's queue is full, waits until brokers take some of it. */
static int kafka_take(void *self, void *schema_state, const struct row_batch *b,
		      struct export_tally *t, struct error *err)
{
	const struct schema_state *state = schema_state;
	struct kafka *x = self;

	(void)t; /* kafka_poll_results() counts */
	while (x->row < b->rows) {
		rd_kafka_resp_err_t rc = produce_message(x, state, b, x->row);

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

static int kafka_poll_results(void *self, struct export_tally *t,
			      struct error *err)
{
	struct kafka *x = self;
	int rc;

	rd_kafka_poll(x->rk, 0);
	*t = x->results;
	/* With an empty queue, the broker may just end an idle connection. */
	rc = x->fails && rd_kafka_outq_len(x->rk)
		     ? error_set(err, -EAGAIN, "%s", x->why.text)
		     : t->written || t->refused;
	x->results = (struct export_tally){0};
	x->fails = false;
	return rc;
}

const struct export_scheme export_kafka = {
	.scheme = "kafka",
	.size = sizeof(defaults),
	.defaults = &defaults,
	.fields = fields,
	.open = kafka_open,
	.driver = {.close = kafka_close,
		   .state_size = sizeof(struct schema_state),
		   .open_schema = kafka_open_schema,
		   .close_schema = kafka_close_schema,
		   .take = kafka_take,
		   .poll_results = kafka_poll_results},
};
