/* SPDX-License-Identifier: BSD-2-Clause */
/* options.h - int-collect's command line. */
#ifndef INT_COLLECT_OPTIONS_H
#define INT_COLLECT_OPTIONS_H

#include "cli/databases.h"
#include "cli/live.h"
#include "cli/option.h"
#include "telemetry/rows.h"
#include "cli/browse.h"

enum {
	EXPORTS_MAX = DATABASES_MAX,
	THRESHOLDS_MAX = 256, /* on the command line, and in a file */
};

struct opts {
	const char *read, *write, *to;
	struct cli_live live;
	unsigned cores;
	bool xdp; /* events are found in the kernel */
	const char *profile;
	const char *filter;
	uint64_t report_port;
	unsigned rows;	 /* on stdout: 1 << enum rows_kind */
	unsigned events; /* 1 << enum telemetry_kind */
	const char *threshold[THRESHOLDS_MAX];
	unsigned n_thresholds;
	const char *thresholds; /* a file */
	uint64_t flows, flow_idle_ns;
	uint64_t push_ns;
	const char *export[EXPORTS_MAX];
	unsigned n_exports;
	const char *spool, *dta;
	uint64_t spool_size, queue, end_ns;
	bool drop; /* rows without room, rather than hold a file up */
	struct browse_options top;
	enum row_format format;
	bool quiet;
};

extern const char *const table_names[]; /* of --top; NULL behind the last */

extern const struct cli cli;

struct opts options_read(int argc, char **argv);

#endif
