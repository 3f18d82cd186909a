/* SPDX-License-Identifier: BSD-2-Clause */
/* run.h - the controller's command line, and what its files share. */
#ifndef INT_LABEL_CTL_RUN_H
#define INT_LABEL_CTL_RUN_H

#include "cli/databases.h"
#include "cli/live.h"
#include "label/rows.h"
#include "orders.h"
#include "tables.h"

enum {
	RANGES_MAX = 64,
};

struct run_options {
	const char *read;
	struct cli_live live;
	unsigned rows; /* a set, 1 << enum label_rows_kind */
	struct label_control_options control;
	struct label_range device[RANGES_MAX];
	const char *export[DATABASES_MAX];
	unsigned n_exports;
	const char *state;
	struct browse_options top;
	bool commands; /* to stdout */
	const char *exec, *send;
	enum row_format format;
	bool quiet;
};

extern const struct cli run_cli;

/* Whether switches are told what was decided. */
static inline bool run_gives_orders(const struct run_options *o)
{
	return o->commands || o->exec || o->send;
}

void run_options_read(struct run_options *o, int argc, char **argv);

/* Rows of what the controller calls back with; run_rows.c. */
struct run_rows {
	struct row_sink *screen;
	struct databases list;
	struct row_sink *databases;	   /* all of -x; NULL: none */
	struct row_sink *tees[LABEL_ROWS]; /* NULL: not asked for */
	struct rows *rows[LABEL_ROWS];	   /* NULL: not asked for */
	struct label_orders *orders;	   /* NULL: nobody is told */
	int err;			   /* the first of stdout */
};

/* Exits if there is no memory. calls gets what it calls. */
void run_rows_open(struct run_rows *r, const struct run_options *o,
		   struct label_control_calls *calls);
/* Those that wait are written. 0 or the first -errno. */
int run_rows_flush(struct run_rows *r);
/* The same at the end, for databases, too. 0, or -1, and that was said. */
int run_rows_end(struct run_rows *r);
void run_rows_close(struct run_rows *r);

#endif
