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

/* Reads, checks and completes the options; exits on a bad one. */
void options_read(struct settings *s, int argc, char **argv);

#endif
