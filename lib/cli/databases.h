/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * databases.h - the sinks of export/ that a program was told of by URL: they
 * take rows in their own time, which holds up a capture that is read, but no
 * interface before the end; and what becomes of the rows is said.
 */
#ifndef CLI_DATABASES_H
#define CLI_DATABASES_H

#include "export/export.h"
#include "row/row.h"

enum {
	DATABASES_MAX = 8,
};

struct databases {
	struct row_sink *sink[DATABASES_MAX];
	uint64_t changes[DATABASES_MAX]; /* that were said */
	bool hold; /* set before they are added: a capture is read */
	bool spool_said[DATABASES_MAX];
	unsigned n;
};

/*
 * One more; exits if the URL is none, having named the option.
 * o->queue.cancelled and hold are set here. Returns the sink, which is closed
 * with d; its flush waits for nothing.
 */
struct row_sink *databases_add(struct databases *d, const char *option,
			       const char *url, const struct export_options *o);

/* A sink before all of them, which is the caller's, and whose flush waits for
 * nothing. NULL: there are none. */
struct row_sink *databases_all(const struct databases *d);

/* Says which have ceased to answer, or do again, since last time. */
void databases_warn(struct databases *d);
/* The rows of the end are all that is to come. */
void databases_no_more(struct databases *d);
/* Sends what waits, until a signal comes. 0, or -1: not all rows could be, and
 * that was said. */
int databases_end(struct databases *d);
void databases_ledgers(const struct databases *d, enum row_format fmt);
void databases_close(struct databases *d);

#endif
