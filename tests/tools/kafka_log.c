/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kafka_log TOPIC...: librdkafka's mock cluster, on loopback. Prints its
 * address, then what comes as lines "TOPIC PARTITION KEY PAYLOAD", a blank
 * behind each and - for no key, until it is ended; a minute at most.
 */
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	PARTITIONS = 4,
	SECONDS = 60,
	POLL_MS = 100,
};

static rd_kafka_conf_t *quiet(void)
{
	rd_kafka_conf_t *c = rd_kafka_conf_new();

	rd_kafka_conf_set_log_cb(c, NULL);
	return c;
}

static rd_kafka_t *consumer(const char *address, char **topics, int n)
{
	rd_kafka_topic_partition_list_t *list =
		rd_kafka_topic_partition_list_new(n * PARTITIONS);
	rd_kafka_conf_t *c = quiet();
	rd_kafka_t *k;

	rd_kafka_conf_set(c, "bootstrap.servers", address, NULL, 0);
	rd_kafka_conf_set(c, "group.id", "log", NULL, 0);
	k = rd_kafka_new(RD_KAFKA_CONSUMER, c, NULL, 0);
	for (int i = 0; k && i < n * PARTITIONS; i++)
		rd_kafka_topic_partition_list_add(list, topics[i / PARTITIONS],
						  i % PARTITIONS)
			->offset = RD_KAFKA_OFFSET_BEGINNING;
	if (k && (rd_kafka_poll_set_consumer(k) || rd_kafka_assign(k, list)))
		k = NULL;
	rd_kafka_topic_partition_list_destroy(list);
	return k;
}

static void print(const rd_kafka_message_t *m)
{
	if (m->err)
		return;
	printf("%s %d %.*s %.*s\n", rd_kafka_topic_name(m->rkt), m->partition,
	       m->key ? (int)m->key_len : 1,
	       m->key ? (const char *)m->key : "-", (int)m->len,
	       (const char *)m->payload);
}

int main(int argc, char **argv)
{
	rd_kafka_t *host = rd_kafka_new(RD_KAFKA_PRODUCER, quiet(), NULL, 0),
		   *log;
	rd_kafka_mock_cluster_t *cluster = rd_kafka_mock_cluster_new(host, 1);
	const char *address = rd_kafka_mock_cluster_bootstraps(cluster);
	rd_kafka_message_t *m;

	alarm(SECONDS);
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 1; i < argc; i++)
		rd_kafka_mock_topic_create(cluster, argv[i], PARTITIONS, 1);
	log = consumer(address, argv + 1, argc - 1);
	if (!log)
		return 1;
	printf("%s\n", address);
	for (;;)
		if ((m = rd_kafka_consumer_poll(log, POLL_MS))) {
			print(m);
			rd_kafka_message_destroy(m);
		}
}
