/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * driver.h - what a kind of database has to do (private to this room). A driver
 * encodes rows into blocks and sends these: encode() and send(); the queue,
 * retries and spool are queue.h's. Or it takes batches of rows: take().
 *
 * Threads: send() is called by one thread, wake() by any, all others by another
 * thread: what both use does not change after open().
 */
#ifndef EXPORT_DRIVER_H
#define EXPORT_DRIVER_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "export/export.h"
#include "export/url.h"
#include "row/outbuf.h"
#include "row/row.h"

/* Set at the end of a sink: nothing waits for a database any longer. */
struct export_stop {
	atomic_bool now;
};

/* Rows as a driver encoded them. One from a spool may have been written by
 * an earlier version of the program: send() checks it. */
struct export_block {
	char *bytes;
	size_t len;
	size_t at;     /* offset of the first row that is not sent */
	uint32_t rows; /* not sent yet */
};

/* What became of rows in one call. */
struct export_tally {
	uint64_t written, refused;
	struct error why; /* the first one was refused */
};

/* Counts the rest of a block: export_tally.written, .refused. */
static inline void export_block_end(struct export_block *b, uint64_t *rows)
{
	*rows += b->rows;
	b->rows = 0;
	b->at = b->len;
}

/* Counts it as refused, for this reason. */
static inline void export_block_refuse(struct export_block *b,
				       struct export_tally *t, const char *why)
{
	if (!t->refused)
		error_set(&t->why, 0, "%s", why);
	export_block_end(b, &t->refused);
}

struct export_driver {
	void (*close)(void *self);

	/* Prepares what rows of a schema have in common, in state_size bytes,
	 * 0 at first. 0; or -errno with err set: its rows are refused.
	 * close_schema() gets the bytes after either. Both may be NULL. */
	size_t state_size;
	int (*open_schema)(void *schema_state, void *self,
			   const struct schema *s, struct error *err);
	void (*close_schema)(void *schema_state);

	/* Appends a row to a block that has `rows' already. */
	void (*encode)(void *self, void *schema_state, struct outbuf *to,
		       const struct row_batch *b, unsigned row, uint32_t rows);
	/* Sends as many of a block's rows as it can: moves at, lowers rows, and
	 * counts. 0: none are left; or -errno, to try again, with err set. */
	int (*send)(void *self, struct export_block *b, struct export_tally *t,
		    struct error *err);

	/* Wakes a send() from another thread; NULL: it looks at export_stop. */
	void (*wake)(void *self);

	/* Instead of encode() and send(): takes all rows of a batch, counted
	 * here or by poll_results(). 0; or -errno with err set: the same batch
	 * comes again, and the driver knows which rows it has taken. */
	int (*take)(void *self, void *schema_state, const struct row_batch *b,
		    struct export_tally *t, struct error *err);
	/* What has become of rows since the last call; NULL: take() counts all.
	 * 1; 0: nothing new; or -errno with err set: writing fails for now. */
	int (*poll_results)(void *self, struct export_tally *t,
			    struct error *err);
};

/* How long a try takes at most, if the URL does not say. */
#define EXPORT_TIMEOUT_NS UINT64_C(10000000000)

/* A kind of database, by the scheme of its URL. */
struct export_scheme {
	const char *scheme;
	/* The driver's self: a copy of the `size' bytes of defaults, with the
	 * URL's options set. close() frees it, after a failed open() too. */
	size_t size;
	const void *defaults;
	const struct field *fields;
	/* The URL, options and stop outlive it. 0 or -errno, err set. */
	int (*open)(void *self, struct url *u, const struct export_options *o,
		    struct export_stop *stop, struct error *err);
	struct export_driver driver;
	const char *missing; /* a library that this build lacks; or NULL */
};

/* The caller's rule of a schema, or NULL. */
static inline const struct export_rule *
export_rule_of(const struct export_options *o, const char *schema)
{
	for (unsigned i = 0; i < o->n_rules; i++)
		if (!strcmp(o->rules[i].schema, schema))
			return &o->rules[i];
	return NULL;
}

extern const struct export_scheme export_influx, export_clickhouse,
	export_redis, export_kafka, export_prometheus, export_file;

#endif
