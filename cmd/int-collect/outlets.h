/* SPDX-License-Identifier: BSD-2-Clause */
/* outlets.h - where int-collect's rows go: stdout, and databases. */
#ifndef INT_COLLECT_OUTLETS_H
#define INT_COLLECT_OUTLETS_H

#include "cli/databases.h"
#include "options.h"
#include "telemetry/rows.h"

struct outlets {
	struct telemetry_sinks sinks; /* for telemetry_open() */
	struct row_sink *screen;
	struct databases list;
	struct row_sink *dta;
	struct row_sink *databases;	  /* all of them; NULL: none */
	struct row_sink *tee[ROWS_KINDS]; /* one for each kind of rows */
	const char *dta_name;
};

/* Exits if one cannot be opened. */
void outlets_open(struct outlets *out, const struct opts *o);
/* Says which databases have ceased to answer, or do again, since last time. */
void outlets_look(struct outlets *out);
/* Sends what waits. 0, or -1: not all could be, and that was said. */
int outlets_end(struct outlets *out);
void outlets_ledgers(struct outlets *out, enum row_format fmt);
void outlets_close(struct outlets *out);

#endif
