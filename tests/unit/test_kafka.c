/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows to Kafka: librdkafka's own mock cluster takes them, and gives them
 * back. */
#include <errno.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "row/row.h"
#include "test.h"

enum {
	ROWS = 2000,
	PATIENCE_MS = 60000,
};

/* Of the protocol (Kafka's guide, "API keys"). */
enum {
	PRODUCE = 0,
};

static const struct row_field fields[] = {
	{"node", ROW_STR, 0, ROW_TAG},
	{"n", ROW_U64, 0},
};

static const struct schema hop = {"hop", fields, 2};
static const struct export_rule rules[] = {{"hop", EXPORT_EVENT, "at {node}"}};

static rd_kafka_t *client; /* that has the cluster */
static rd_kafka_mock_cluster_t *cluster;

static void put(struct row_sink *sink, unsigned from, unsigned n)
{
	struct rows *r = rows_open(sink, &hop, 100);

	for (unsigned i = from; i < from + n; i++) {
		row_str(r, 0, i & 1 ? "odd" : "even");
		row_u64(r, 1, i);
		row_end(r);
	}
	rows_close(r);
}

static struct row_sink *open_sink(const char *options)
{
	struct export_options o = {.rules = rules, .n_rules = 1};
	struct row_sink *sink = NULL;
	struct error err = {""};
	char url[512];

	snprintf(url, sizeof(url), "kafka://%s%s",
		 rd_kafka_mock_cluster_bootstraps(cluster), options);
	if (!TEST(export_open(&sink, url, &o, &err) == 0))
		fprintf(stderr, "%s\n", err.text);
	return sink;
}

/* A message as it must be: its number, or -1. */
static int number_of(const rd_kafka_message_t *m, const char *topic)
{
	/* of a topic for all it says of which measurement it is */
	const char *lead = strcmp(topic, hop.name) ? "\"measurement\":\"hop\","
						   : "";
	const char *keys[] = {"at even", "at odd"};
	char want[64], text[64] = "", *at;
	unsigned n;

	if (m->err || m->len >= sizeof(text))
		return -1;
	memcpy(text, m->payload, m->len);
	at = strstr(text, "\"n\":");
	if (!at || sscanf(at, "\"n\":%u", &n) != 1)
		return -1;
	snprintf(want, sizeof(want), "{%s\"node\":\"%s\",\"n\":%u}", lead,
		 keys[n & 1] + 3, n);
	TEST(!strcmp(text, want));
	TEST(m->key_len == strlen(keys[n & 1]) &&
	     !memcmp(m->key, keys[n & 1], m->key_len));
	return (int)n;
}

/* All messages of a topic: each of 0 to n - 1 once. */
static void expect(const char *topic, unsigned n)
{
	rd_kafka_conf_t *c = rd_kafka_conf_new();
	rd_kafka_topic_partition_list_t *list;
	unsigned *seen = calloc(n, sizeof(*seen)), got = 0, once = 0;
	rd_kafka_message_t *m;
	rd_kafka_t *rk;

	rd_kafka_conf_set(c, "bootstrap.servers",
			  rd_kafka_mock_cluster_bootstraps(cluster), NULL, 0);
	rd_kafka_conf_set(c, "group.id", topic, NULL, 0);
	rk = rd_kafka_new(RD_KAFKA_CONSUMER, c, NULL, 0);
	rd_kafka_poll_set_consumer(rk);
	list = rd_kafka_topic_partition_list_new(4);
	for (int i = 0; i < 4; i++)
		rd_kafka_topic_partition_list_add(list, topic, i)->offset =
			RD_KAFKA_OFFSET_BEGINNING;
	rd_kafka_assign(rk, list);
	while (got < n && (m = rd_kafka_consumer_poll(rk, PATIENCE_MS))) {
		int number = number_of(m, topic);

		if (number >= 0 && (unsigned)number < n)
			once += seen[number]++ == 0;
		got++;
		rd_kafka_message_destroy(m);
	}
	m = rd_kafka_consumer_poll(rk, 200); /* and no more */
	TEST(!m);
	if (m)
		rd_kafka_message_destroy(m);
	TEST(got == n && once == n);
	rd_kafka_topic_partition_list_destroy(list);
	rd_kafka_destroy(rk);
	free(seen);
}

static struct queue_ledger end(struct row_sink *sink)
{
	struct queue_status st;

	queue_end(sink);
	queue_status(sink, &st);
	TEST(ledger_balanced(&queue_ledger, &st.ledger));
	sink->close(sink);
	return st.ledger;
}

static void test_all_there(void)
{
	struct row_sink *sink = open_sink("");

	put(sink, 0, ROWS);
	TEST(end(sink).written == ROWS);
	expect("hop", ROWS);
}

static void test_brokers_away(void)
{
	struct row_sink *sink = open_sink("/away?"
					  "conf.reconnect.backoff.max.ms=100");
	struct queue_status st = {0};

	put(sink, 0, ROWS / 2);
	while (st.ledger.written < ROWS / 2)
		queue_status(sink, &st);
	for (int i = 1; i <= 3; i++)
		rd_kafka_mock_broker_set_down(cluster, i);
	put(sink, ROWS / 2, ROWS / 2);
	for (int i = 0; i < PATIENCE_MS && !st.failing; i++) {
		rd_kafka_poll(client, 1);
		queue_status(sink, &st);
	}
	TEST(st.failing && *st.why.text);
	for (int i = 1; i <= 3; i++)
		rd_kafka_mock_broker_set_up(cluster, i);
	for (int i = 0; i < PATIENCE_MS && st.ledger.written < ROWS; i++) {
		rd_kafka_poll(client, 1);
		queue_status(sink, &st);
	}
	TEST(end(sink).written == ROWS);
	expect("away", ROWS);
}

static void test_refused(void)
{
	struct row_sink *sink = open_sink("/refused");
	struct queue_ledger l;

	rd_kafka_mock_push_request_errors(cluster, PRODUCE, 1,
					  RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
	put(sink, 0, 10);
	l = end(sink);
	TEST(l.written + l.refused == 10 && l.refused > 0);
}

static void test_nobody(void)
{
	struct export_options o = {.queue = {.end_ns = 300000000}};
	struct row_sink *sink;
	struct error err;

	if (!TEST(export_open(&sink, "kafka://127.0.0.1:1/x", &o, &err) == 0))
		return;
	put(sink, 0, 10);
	TEST(end(sink).unsent == 10);
	TEST(export_open(&sink, "kafka://h/x?conf.no=1", &o, &err) < 0);
	TEST(!!strstr(err.text, "kafka://h/x: No such configuration property"));
}

int main(void)
{
	rd_kafka_conf_t *c = rd_kafka_conf_new();

	rd_kafka_conf_set_log_cb(c, NULL);
	client = rd_kafka_new(RD_KAFKA_PRODUCER, c, NULL, 0);
	cluster = rd_kafka_mock_cluster_new(client, 3);
	test_all_there();
	test_brokers_away();
	test_refused();
	test_nobody();
	rd_kafka_mock_cluster_destroy(cluster);
	rd_kafka_destroy(client);
	return test_end();
}
