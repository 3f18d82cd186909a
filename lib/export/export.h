/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * export.h - row sinks that carry rows to databases, by URL:
 *
 *	influx:[http:|https:]//[USER:PASSWORD@]HOST[:8086]/DB	InfluxDB 1.x
 *	clickhouse:[http:|https:]//[USER:PASSWORD@]HOST[:8123][/DB]
 *	redis://[:PASSWORD@]HOST[:6379][/NUMBER]
 *	kafka://HOST[:PORT][,HOST...][/TOPIC]
 *	prometheus://[ADDRESS]:PORT	where it is asked for /metrics
 *	file:PATH	NDJSON, CSV, text
 *
 * and behind it options: ?NAME=VALUE&NAME=VALUE. Those of all:
 *
 *	rows	 of a block at most, which is sent at once: 5000
 *	linger	 how long a block waits for more rows: 200ms; 0: not at all;
 *		 Kafka, Prometheus and files take rows without blocks
 *	timeout	 of one try: 10s; of Kafka until a row is lost: 5m; not of
 *		 files and prometheus; 1ms or more
 *	retry	 between tries at most: 10s. They begin at 100ms, and double;
 *		 1ms or more
 *
 * What comes of the rows, and of a database that is slow or away: queue.h.
 * queue_status() and queue_end() are for these sinks. Where it shows that rows
 * come at least once: Redis streams, and ClickHouse tables that do not drop
 * repeated blocks, hold some twice. InfluxDB writes the same points again;
 * Kafka tells repetitions by their number.
 *
 * Signals are blocked in the sink's own threads.
 */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "export/queue.h"

/* What the rows of a schema are to a store of keys and values. */
enum export_kind {
	EXPORT_EVENT, /* one more: appended to a stream */
	EXPORT_STATE, /* the latest: fields of a hash, with expiry */
};

/* How the rows of a schema are kept, where the URL does not say. */
struct export_rule {
	const char *schema;
	uint8_t kind;	 /* enum export_kind */
	const char *key; /* row_template_check(); NULL: the measurement */
	/* Of messages in a log, Kafka's: those of one group stay in their
	 * order. NULL: key. */
	const char *group;
};

/* Zero: the defaults. What is pointed at outlives the sink. */
struct export_options {
	struct queue_options queue; /* but rows to retry, which are the URL's;
				       32 MiB, 1 GiB in a spool, 5 s */
	const struct export_rule *rules;
	unsigned n_rules;
	/* For /healthz of prometheus: what is wrong in text, or true. Called by
	 * another thread; NULL: all is well. */
	bool (*healthy)(void *ctx, struct error *why);
	void *ctx;
};

/* 0, or -errno with err set: "redis://HOST: reason". A database that does not
 * answer is no error: it may come. The URL is copied. */
int export_open(struct row_sink **out, const char *url,
		const struct export_options *o, struct error *err);

#endif
