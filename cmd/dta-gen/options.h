/* SPDX-License-Identifier: BSD-2-Clause */
/* options.h - dta-gen's command line. */
#ifndef DTA_GEN_OPTIONS_H
#define DTA_GEN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"
#include "cli/live.h"
#include "reading/csv_reports.h"
#include "wire/dta.h"
#include "workload/workload.h"

struct gen_options {
	const char *from, *out, *truth;
	const char *ticket, *cluster; /* --dart */
	bool dart;
	uint64_t flows, count;
	struct workload_options work;
	bool repeat; /* synthetic flows come round again, until told to stop */
	enum dta_format format;
	bool tracked, immediate;
	uint64_t copies, table;
	uint8_t collector[4];
	uint64_t rate; /* packets/s, of the clock of synthetic traffic */
	/* where reports go: link.c */
	struct cli_live live;
	const char *nacks;
	uint8_t to_mac[6];
	bool has_mac, wait, quiet;
	enum row_format output; /* of list and ledger */
	uint32_t source;	/* address of switch 0 */
	uint64_t pace;		/* reports/s on an interface; 0: any */
	uint64_t duration_ns;	/* 0: to the end */
	uint64_t resend;	/* reports kept of each switch */
	uint64_t ipv6;		/* per cent of the synthetic flows */
	uint64_t arity, hops;
	struct csv_options csv;
};

struct settings {
	struct gen_options gen;
	const struct workload *workload;
	bool list;
};

extern const struct cli cli;

/* Reads, checks and completes the options; exits on a bad one. */
void options_read(struct settings *s, int argc, char **argv);

/* What goes together, and what was not given. */
void options_check(struct settings *s);

#endif
