/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * range.h - one value of an option, or several: "0.1:2:0.1" (from, to, step),
 * "1:4" (whole numbers, step 1).
 */
#ifndef DTA_PLAN_RANGE_H
#define DTA_PLAN_RANGE_H

#include "cli/option.h"

enum {
	RANGE_MAX = 1000, /* values */
};

struct range {
	unsigned n; /* 0: not given */
	double value[RANGE_MAX];
};

/*
 * Reads one. type: CLI_F64, CLI_U64 or CLI_SIZE; whole numbers up to 2^53.
 * Returns 0, or -EINVAL and why is what is behind the text: "is not ...".
 */
int range_read(struct range *r, const char *text, enum cli_type type,
	       double low, double high, struct fault *why);

#endif
