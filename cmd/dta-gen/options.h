/* SPDX-License-Identifier: BSD-2-Clause */
/* options.h - dta-gen's command line. */
#ifndef DTA_GEN_OPTIONS_H
#define DTA_GEN_OPTIONS_H

#include "cli/cli.h"
#include "gen.h"

struct settings {
	struct gen_options gen;
	const struct workload *workload;
	bool list;
};

extern const struct cli cli;

/* Reads, checks and completes the options; exits on a bad one. */
void options_read(struct settings *s, int argc, char **argv);

/* Its part in check.c: what goes together, and what was not given. */
void options_check(struct settings *s);

#endif
