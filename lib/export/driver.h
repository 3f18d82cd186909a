/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * driver.h - what a kind of database has to do. A driver makes blocks of rows,
 * in its own form, and sends them: encode() and send(); queue, retries and
 * spool are queue.h's. Or it takes rows as they are: take().
 *
 * Threads: shape, encode, take and hear are called by one thread, send by
 * another: what both use does not change after open.
 */
#ifndef EXPORT_DRIVER_H
#define EXPORT_DRIVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "export/export.h"
#include "export/url.h"
#include "row/outbuf.h"
#include "row/row.h"

/* The end of all waiting. */
struct export_stop {
	atomic_bool now;
};

/* Rows in a driver's form. What a spool holds has been written by an earlier
 * version of the program, or damaged: send() checks it. */
struct export_block {
	char *bytes;
	size_t len;
	size_t at;     /* where the rows begin which are not sent */
	uint32_t rows; /* not sent yet */
};

/* What became of rows in one call. */
struct export_tally {
	uint64_t written, refused;
	struct error why; /* of those refused, the first */
};

/* The rest of a block is refused, for this reason. */
static inline void export_block_refuse(struct export_block *b,
				       struct export_tally *t, const char *why)
{
	if (!t->refused)
		error_set(&t->why, 0, "%s", why);
	t->refused += b->rows;
	b->rows = 0;
	b->at = b->len;
}

/* The rest of a block is written. */
static inline void export_block_written(struct export_block *b,
					struct export_tally *t)
{
	t->written += b->rows;
	b->rows = 0;
	b->at = b->len;
}

struct export_driver {
	void (*close)(void *self);

	/* What all rows of a schema have in common, of so many bytes that are
	 * zero. 0 or -errno with err set: the rows of the schema are refused.
	 * unshape() gets what either has left; NULL: there is nothing. */
	size_t shape_size;
	int (*shape)(void *shape, void *self, const struct schema *s,
		     struct error *err);
	void (*unshape)(void *shape);

	/* A row, for a block that has `rows' before it. */
	void (*encode)(void *self, void *shape, struct outbuf *to,
		       const struct row_batch *b, unsigned row, uint32_t rows);
	/* Sends a block's rows, as many as it can: moves at, lowers rows, and
	 * counts. 0: none are left; or -errno, later again, with err set. */
	int (*send)(void *self, struct export_block *b, struct export_tally *t,
		    struct error *err);

	/* All waiting ends: a send() that cannot see that by itself is woken,
	 * by another thread. NULL: it can. */
	void (*wake)(void *self);

	/* Instead of encode and send: all rows of a batch, which are counted
	 * here or by hear(). 0; or -errno with err set: the same batch later
	 * again, and no other, of which it knows what it has taken. */
	int (*take)(void *self, void *shape, const struct row_batch *b,
		    struct export_tally *t, struct error *err);
	/* With take, NULL where that counts all: what has become of rows since
	 * the last call. 1; 0: nothing new; or -errno with err set: for now it
	 * goes wrong. */
	int (*hear)(void *self, struct export_tally *t, struct error *err);
};

/* private to this room: the kinds of databases. */

/* Of one try, if the URL does not say. */
#define EXPORT_TIMEOUT_NS UINT64_C(10000000000)

struct export_scheme {
	const char *scheme;
	/* What it is made of: so many bytes, a copy of defaults in which the
	 * URL's options have set fields. close() frees it, or what open() has
	 * left. */
	size_t size;
	const void *defaults;
	const struct field *fields;
	/* The URL, the options and stop outlive it. 0 or -errno with err set.
	 */
	int (*open)(void *self, struct url *u, const struct export_options *o,
		    struct export_stop *stop, struct error *err);
	struct export_driver driver;
	const char *missing; /* what it was built without, in place of these */
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
