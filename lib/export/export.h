/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * export.h - row sinks that carry rows to databases, by URL:
 *
 *	influx:[http:|https:]//[USER:PASSWORD@]HOST[:8086]/DB	InfluxDB 1.x
 *	clickhouse:[http:|https:]//[USER:PASSWORD@]HOST[:8123][/DB]
 *	redis://[:PASSWORD@]HOST[:6379][/NUMBER]
 *	kafka://HOST[:PORT][,HOST...][/TOPIC]
 *	prometheus://[ADDRESS]:PORT	listens there, serves /metrics
 *	file:PATH	NDJSON, CSV, text
 *
 * Options may follow: ?NAME=VALUE&NAME=VALUE. Those that every sink knows:
 *
 *	rows	 in a block at most; a full block is sent at once: 5000
 *	linger	 how long a block waits for more rows: 200ms; 0: not at all;
 *		 Kafka, Prometheus and files take rows without blocks
 *	timeout	 of one try: 10s; Kafka: until a row is given up: 5m; unused
 *		 by files and prometheus; 1ms or more
 *	retry	 longest pause between tries: 10s. Pauses begin at 100ms and
 *		 double; 1ms or more
 *
 * queue.h says what happens to rows while a database is slow or unreachable;
 * its queue_status() and queue_end() take these sinks. Rows are delivered at
 * least once: Redis streams, and ClickHouse tables that do not drop repeated
 * blocks, may hold some twice. InfluxDB overwrites a point with itself; Kafka
 * drops repetitions by their sequence number.
 *
 * Signals are blocked in the sink's own threads.
 */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "export/queue.h"

/* How a key-value store keeps the rows of a schema. */
enum export_kind {
	EXPORT_EVENT, /* each row is appended to a stream */
	EXPORT_STATE, /* the latest row: a hash, with expiry */
};

/* How the rows of a schema are kept, where the URL does not say. */
struct export_rule {
	const char *schema;
	uint8_t kind;	 /* enum export_kind */
	const char *key; /* as row_template_check(); NULL: {} */
	/* Template of Kafka's message key: messages with the same key stay in
	 * order. NULL: as key. */
	const char *group;
};

/* All zero: the defaults. The rules and ctx must outlive the sink. */
struct export_options {
	/* rows, linger_ns and retry_ns are the URL's. Zero stands for 32 MiB in
	 * bytes, 1 GiB in spool_size, 5 s in end_ns. */
	struct queue_options queue;
	const struct export_rule *rules;
	unsigned n_rules;
	/* Answers Prometheus's /healthz: true, or false with why set. Called by
	 * another thread; NULL: always healthy. */
	bool (*healthy)(void *ctx, struct error *why);
	void *ctx;
};

/* Opens a sink. 0, or -errno with err set: "redis://HOST: reason". A database
 * that does not answer is no error: it may start later. The URL is copied. */
int export_open(struct row_sink **out, const char *url,
		const struct export_options *o, struct error *err);

#endif
