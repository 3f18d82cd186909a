/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * databases.h - the databases that options of a program name by URL, as sinks
 * of export/, with messages of how they fare. A slow one holds up the reading
 * of a capture; it holds up an interface only at the end.
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
	uint64_t changes[DATABASES_MAX]; /* queue_status's, when last warned */
	bool spool_warned[DATABASES_MAX], refusal_warned[DATABASES_MAX];
	bool hold; /* set by the caller, first: the input is a capture */
	unsigned n;
};

/*
 * Opens one more of DATABASES_MAX; exits if it cannot, with a message that
 * names the option. Of o->queue, cancelled and hold are not used. Returns the
 * sink, which d closes.
 */
struct row_sink *databases_add(struct databases *d, const char *option,
			       const char *url, const struct export_options *o);

/* Warns of those that have ceased to answer, answer again, or refuse rows. */
void databases_warn(struct databases *d);
/* To be called before the last rows are put: see queue_last(). */
void databases_begin_end(struct databases *d);
/* Sends what waits, until a signal. 0; -1, with a warning: rows are left. */
int databases_end(struct databases *d);
void databases_ledgers(const struct databases *d, enum row_format fmt);
void databases_close(struct databases *d);

#endif
