/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * queue.h - a row sink before a database.
 *
 * put() hands a copy of a batch to a thread, through a queue which is bounded
 * in bytes, or holds one batch. Where there is no room, put() waits if it may
 * (hold), or while the spool takes rows; else the batch is counted (full) and
 * dropped. flush() does nothing. The thread makes blocks of the rows; another
 * thread sends the blocks of a schema in the order of their rows, and tries
 * again while the database does not answer. With a spool all blocks go through
 * files (spool.h), and what is left there at the end is sent by the next sink.
 * A driver that takes rows itself (driver.h) has neither blocks nor a spool.
 *
 * At least once: a database that has taken a block, but whose answer is lost,
 * gets it again.
 *
 * Threads: a sink's calls come from one thread, queue_status() from any. The
 * sink's own threads inherit the signal mask of the thread that makes it.
 */
#ifndef EXPORT_QUEUE_H
#define EXPORT_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/ledger.h"
#include "row/row.h"

struct export_driver;
struct export_stop;

/* Rows: in = done + loss, once the sink has ended. */
struct queue_ledger {
	uint64_t rows;	  /* put */
	uint64_t found;	  /* in the spool, of an earlier run */
	uint64_t written; /* the database has them */
	uint64_t kept;	  /* in the spool now; at the end for the next run */
	uint64_t full;	  /* no room in the queue, or in the spool */
	uint64_t refused; /* by the database, or the driver: no retry helps */
	uint64_t unsent;  /* at the end, and in no spool */
	uint64_t damaged; /* in a file of the spool that is damaged */
	uint64_t waiting; /* in memory; 0 at the end */
	uint64_t spooled; /* note: rows that went into the spool */
	uint64_t blocks;  /* note: blocks sent */
	uint64_t retries; /* note: tries that failed */
	uint64_t spool_full; /* note: blocks that waited for room in it */
};

extern const struct ledger queue_ledger;

struct queue_options {
	const char *name;    /* of the sink, for messages; outlives it */
	uint64_t bytes;	     /* of memory that rows may take */
	const char *spool;   /* directory, made if missing; NULL: none */
	uint64_t spool_size; /* bytes of it for this sink */
	bool hold;	     /* put() waits for room, and the end waits
				as long as the database takes rows */
	uint64_t end_ns;     /* how long the end waits; hold: for each block */
	/* Called while put() or the end waits. True: the end waits no more, and
	 * put() for end_ns at most. NULL: false. */
	bool (*cancelled)(void);
	uint64_t rows;	    /* of a block at most */
	uint64_t linger_ns; /* that a block waits for more rows */
	uint64_t retry_ns;  /* between tries at most */
};

/* How a sink fares. */
struct queue_status {
	const char *name; /* of the sink */
	struct queue_ledger ledger;
	bool failing;	      /* the last try failed */
	uint64_t changes;     /* times that it began to fail, or ceased to */
	struct error why;     /* of the last failure */
	struct error refusal; /* of the last rows refused; "": none */
	struct error spool;   /* why it had no room; "": it always had */
};

/* The driver that a sink hands rows to. */
struct queue_driver {
	const struct export_driver *driver;
	void *self;		  /* the driver's, which the sink closes */
	struct export_stop *stop; /* which self looks at; set at the end */
	void *owned;		  /* freed after self, by close(); or NULL */
	const char *spool_name;	  /* directory below that of the spool */
};

/* Makes a sink for a driver, and starts its threads. 0 or -errno with err set:
 * self is closed then, and owned is still the caller's. */
int queue_open(struct row_sink **out, const struct queue_options *o,
	       const struct queue_driver *d, struct error *err);

/* Call before the last rows: from now on put() waits, for end_ns at most. */
void queue_last(struct row_sink *s);

/* How a sink of queue_open() fares. */
void queue_status(struct row_sink *s, struct queue_status *out);

/* Sends what is left, or keeps it, and ends the threads: the ledger adds up
 * then. Takes end_ns and a second at most, whatever the database does.
 * close() calls it if it was not called. 0; -ETIMEDOUT: not all was sent. */
int queue_end(struct row_sink *s);

#endif
