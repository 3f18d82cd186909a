/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * queue.h - a row sink before a database.
 *
 * put() hands the rows of a batch to a thread, through a queue which is bounded
 * in bytes, or holds one batch. Where there is no room, put() waits if it may
 * hold its caller up, or while the spool takes rows; else what does not fit is
 * counted (full). flush() waits for nothing. The thread makes blocks of them,
 * another sends them, again and again while the database does not answer,
 * blocks of one schema in the order they were put. With a spool all blocks go
 * through files (spool.h), and what is left there at the end is sent by the
 * next sink. A driver that takes rows itself (driver.h) has neither blocks nor
 * a spool.
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

/* Rows: in = done + dropped, once the sink has ended. */
struct queue_ledger {
	uint64_t rows;	     /* put */
	uint64_t found;	     /* in the spool, of an earlier run */
	uint64_t written;    /* the database has them */
	uint64_t kept;	     /* in the spool now; at the end for the next run */
	uint64_t full;	     /* no room in the queue, or in the spool */
	uint64_t refused;    /* by the database: what they say is not for it */
	uint64_t unsent;     /* at the end, and in no spool */
	uint64_t damaged;    /* in the spool, and not as they were written */
	uint64_t waiting;    /* in memory; 0 at the end */
	uint64_t spooled;    /* notes: rows that went into the spool, */
	uint64_t blocks;     /* blocks sent, */
	uint64_t retries;    /* tries that were in vain, */
	uint64_t spool_full; /* and blocks that the spool had no room for */
};

extern const struct ledger queue_ledger;

struct queue_options {
	const char *name;	 /* of the sink, for messages; outlives it */
	uint64_t bytes;		 /* in memory */
	const char *spool;	 /* directory, which is made; NULL: none */
	uint64_t spool_size;	 /* bytes of it for this sink */
	bool hold;		 /* put() waits for room, and the end for a
				    database that takes rows */
	uint64_t end_ns;	 /* how long the end waits for it */
	bool (*cancelled)(void); /* asked meanwhile: true is no more waiting,
				and for end_ns at most in put(); NULL: false */
	uint64_t rows;		 /* of a block */
	uint64_t linger_ns;	 /* that a block waits for more rows */
	uint64_t retry_ns;	 /* between tries at most */
};

/* How a sink fares. */
struct queue_status {
	const char *name; /* as it may be seen: no password */
	struct queue_ledger ledger;
	bool failing;	      /* the last try was in vain: why says it */
	uint64_t changes;     /* times that it began to fail, or ceased to */
	struct error why;     /* of the last failure */
	struct error refusal; /* of the last rows refused; "": none */
	struct error spool;   /* why it had no room; "": it always had */
};

/* What a sink is opened for. */
struct queue_driver {
	const struct export_driver *driver;
	void *self;		  /* the driver's, which the sink closes */
	struct export_stop *stop; /* what it looks at, set at the end */
	void *owned;		  /* freed behind it by close(); or NULL */
	const char *spool_name;	  /* of its part of the spool */
};

/* A sink before a driver, with its threads. 0 or -errno with err set: self is
 * closed then, owned is the caller's still. */
int queue_open(struct row_sink **out, const struct queue_options *o,
	       const struct queue_driver *d, struct error *err);

/* No more rows come but those of the end: put() waits for room from now on, for
 * end_ns at most. */
void queue_last(struct row_sink *s);

/* Of such a sink. */
void queue_status(struct row_sink *s, struct queue_status *out);

/*
 * Sends what is left, or keeps it, and ends the threads: the ledger adds up
 * then. Takes end_ns and a second at most, whatever the database does.
 * close() calls it if it was not called. 0; -ETIMEDOUT: not all was sent.
 */
int queue_end(struct row_sink *s);

#endif
