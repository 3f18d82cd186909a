/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sink.h - where rows go: a stream (encode.h), a file, a database (export/).
 *
 * A sink may be given batches of several schemas. One that is slow takes the
 * batch's rows over (row_batch_take()) and works on in a thread of its own.
 */
#ifndef ROW_SINK_H
#define ROW_SINK_H

#include "row/batch.h"

struct row_sink {
	/* Takes in the rows of a batch, which is the caller's again then. 0 or
	 * -errno; what is dropped is counted by the sink. */
	int (*put)(struct row_sink *s, struct row_batch *b);
	/* What was put is with whom it is for. 0 or -errno. */
	int (*flush)(struct row_sink *s);
	/* Flushes, and frees the sink. The first error of all, or 0. */
	int (*close)(struct row_sink *s);
};

/*
 * Gives the rows of each batch to n sinks, which stay the caller's and outlive
 * it; one that fails does not keep rows from the others. NULL: no memory.
 */
struct row_sink *tee_open(struct row_sink *const *to, unsigned n);

#endif
