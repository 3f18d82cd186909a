/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * driver.h - what a kind of database has to do. A driver
 * makes blocks of rows, in its own form, and sends them; queue, retries and
 * spool are queue.h's.
 *
 * Threads: shape, encode and take are called by one thread, send by another:
 * what both use does not change after open.
 */
#ifndef QUEUE_DRIVER_H
#define QUEUE_DRIVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "queue/block.h"
#include "row/batch.h"
#include "row/outbuf.h"

/* The end of all waiting: fd can be read from then on. */
struct stop {
	int fd;
	atomic_bool now;
};

struct driver {
	void (*close)(void *self); /* NULL is fine */

	/* What all rows of a schema have in common. 0 or -errno with f set: the
	 * rows of the schema are refused. */
	int (*shape)(void **out, void *self, const struct schema *s,
		     struct fault *f);
	void (*unshape)(void *shape); /* NULL is fine */

	/* A row, for a block that has `rows' before it. */
	void (*encode)(void *self, void *shape, struct outbuf *to,
		       const struct row_batch *b, unsigned row, uint32_t rows);
	/* Sends a block's rows, as many as it can: moves at, lowers rows, and
	 * counts. 0: none are left; or -errno, later again, with f set. */
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

#endif
