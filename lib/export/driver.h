/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * driver.h - what a kind of database has to do (private to this room). A driver
 * makes blocks of rows, in its own form, and sends them; queue, retries and
 * spool are the sink's (export.c).
 *
 * Threads: shape, encode and take are called by one thread, send by another:
 * what both use does not change after open.
 */
#ifndef EXPORT_DRIVER_H
#define EXPORT_DRIVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "export/block.h"
#include "export/export.h"
#include "export/url.h"
#include "row/batch.h"
#include "row/outbuf.h"

/* Of one try, if the URL does not say. */
#define EXPORT_TIMEOUT_NS UINT64_C(10000000000)

/* The end of all waiting: fd can be read from then on. */
struct stop {
	int fd;
	atomic_bool now;
};

struct driver {
	const char *scheme;
	/* Reads the URL's options. The URL, the options and stop outlive what
	 * it makes. 0 or -errno with f set. */
	int (*open)(void **out, struct export_url *u,
		    const struct export_options *o, struct stop *stop,
		    struct fault *f);
	void (*close)(void *self); /* NULL is fine */

	/* What all rows of a schema have in common. 0 or -errno with f set: the
	 * rows of the schema are refused. */
	int (*shape)(void **out, void *self, const struct schema *s,
		     struct fault *f);
	void (*unshape)(void *shape); /* NULL is fine */

	/* A row, for a block that has `rows' before it. */
	void (*encode)(void *self, void *shape, struct outbuf *to,
		       const struct row_batch *b, unsigned row, uint32_t rows);
	/*
	 * Sends a block's rows, as many as it can: moves at, lowers rows, and
	 * counts. 0: none are left; or -errno, later again, with f set.
	 */
	int (*send)(void *self, struct block *b, struct tally *t,
		    struct fault *f);

	/* Instead of encode and send, for what is not slow: all rows of a
	 * batch, each is counted. 0, or -errno with f set. */
	int (*take)(void *self, void *shape, struct row_batch *b,
		    struct tally *t, struct fault *f);
	/* NULL is fine: what was taken is with whom it is for. */
	int (*flush)(void *self, struct fault *f);
	/* NULL is fine: where it listens. */
	uint16_t (*port)(void *self);
};

/* Those that there are; of what was not built in, open says so. */
extern const struct driver influx_driver, clickhouse_driver, redis_driver,
	kafka_driver, prometheus_driver, file_driver;

#endif
