/* SPDX-License-Identifier: BSD-2-Clause */
/* options.h - dta-top's command line. */
#ifndef DTA_TOP_OPTIONS_H
#define DTA_TOP_OPTIONS_H

#include "cli/cli.h"
#include "cli/live.h"
#include "screen/browse.h"

struct opts {
	const char *region;	   /* only that one; NULL: all */
	struct browse_options top; /* top: 1 + enum table */
	const char *prometheus;	   /* ADDR:PORT, or NULL */
	struct cli_live live;	   /* its user */
	enum row_format format;
};

extern const struct cli cli;

/* Reads and checks the options; exits on a bad one. */
struct opts options_read(int argc, char **argv);

#endif
