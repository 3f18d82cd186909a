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
 * and behind it options: ?NAME=VALUE&NAME=VALUE. Those of all databases:
 *
 *	rows	 of a block at most, which is sent at once: 5000
 *	linger	 how long a block waits for more rows: 200ms
 *	timeout	 of one try: 10s; not of files and prometheus
 *	retry	 between tries at most: 10s. They begin at 100ms, and double
 *
 * put() hands the rows of a batch to a thread, through a queue which is bounded
 * in bytes, and never waits; what does not fit is counted (full). The thread
 * makes blocks of them, another sends them, again and again while the database
 * does not answer, blocks of one schema in the order they were put. With a
 * spool, blocks that do not fit memory, or that come while the database does
 * not answer, are kept in files (spool.h), and sent once it does, in order; so
 * is what is left at the end, and it is sent by the next one with the same URL.
 *
 * At least once: a database that has taken a block, but whose answer is lost,
 * gets it again. Where that shows: Redis streams and lists, and ClickHouse
 * tables that do not drop repeated blocks, hold rows twice. InfluxDB writes the
 * same points again; Kafka tells repetitions by their number.
 *
 * Threads: a sink's calls come from one thread, export_status() from any. All
 * signals are blocked in the sink's own threads.
 */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/ledger.h"
#include "row/line.h"
#include "row/sink.h"

/* Rows: in = done + dropped, once the sink has ended. */
struct export_ledger {
	uint64_t rows;	  /* put */
	uint64_t found;	  /* in the spool, of an earlier run */
	uint64_t written; /* the database has them */
	uint64_t kept;	  /* in the spool at the end */
	uint64_t full;	  /* no room in the queue, or in the spool */
	uint64_t refused; /* by the database: what they say is not for it */
	uint64_t unsent;  /* at the end, and no spool */
	uint64_t damaged; /* in the spool, and not as they were written */
	uint64_t spooled; /* notes: rows that went into the spool, */
	uint64_t blocks;  /* blocks sent, */
	uint64_t retries; /* and tries that were in vain */
};

extern const struct ledger export_ledger;

/* What the rows of a schema are to a store of keys and values. */
enum export_kind {
	EXPORT_EVENT, /* one more: appended to a stream */
	EXPORT_STATE, /* the latest: fields of a hash, with expiry */
	EXPORT_LIST,  /* the same, a list of values in the schema's order */
};

/* How the rows of a schema are kept, where the URL does not say. */
struct export_rule {
	const char *schema;
	uint8_t kind;	 /* enum export_kind */
	const char *key; /* template.h; NULL: the measurement */
};

/* Names of somebody else's, for names=NAME. */
struct export_names {
	const char *name;
	const struct line_names *lines;
	unsigned n;
};

/* Zero: the defaults. What is pointed at outlives the sink. */
struct export_options {
	uint64_t queue;	     /* bytes in memory; 32 MiB */
	const char *spool;   /* directory, which is made; NULL: none */
	uint64_t spool_size; /* bytes of it for this sink; 1 GiB */
	uint64_t end_ns;     /* how long the end waits for it; 5 s */
	const struct export_rule *rules;
	unsigned n_rules;
	const struct export_names *names;
	unsigned n_names;
	/* For /healthz of prometheus: what is wrong in text, or true. Called by
	 * another thread; NULL: all is well. */
	bool (*healthy)(void *ctx, struct fault *why);
	void *ctx;
};

/* How a sink fares. */
struct export_status {
	struct export_ledger ledger;
	bool failing;	      /* the last try was in vain: why says it */
	uint64_t changes;     /* times that it began to fail, or ceased to */
	struct fault why;     /* of the last failure */
	struct fault refusal; /* of the last rows refused; "": none */
	uint16_t port;	      /* prometheus: where it listens */
};

/* 0, or -errno with f set: "redis://HOST: reason". A database that does not
 * answer is no error: it may come. The URL is copied. */
int export_open(struct row_sink **out, const char *url,
		const struct export_options *o, struct fault *f);

void export_status(struct row_sink *s, struct export_status *out);

/*
 * Sends what is left, or keeps it, and ends the threads: the ledger adds up
 * then. Takes end_ns and half a second at most, whatever the database does.
 * close() does it if nobody has. 0; -ETIMEDOUT: not all was sent.
 */
int export_end(struct row_sink *s);

#endif
