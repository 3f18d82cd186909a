/* SPDX-License-Identifier: BSD-2-Clause */
/* plan.h - what is asked of dta-plan, and the rows that answer it. */
#ifndef DTA_PLAN_PLAN_H
#define DTA_PLAN_PLAN_H

#include "cli/cli.h"
#include "range.h"

/* More than any machine has; its bytes still fit 64 bits. */
#define SLOTS_MAX (UINT64_C(1) << 50)

/* Options that may be ranges: each makes rows for each of its values. */
enum dim {
	DIM_VALUE,
	DIM_BITS,
	DIM_FLOWS,
	DIM_MEMORY,
	DIM_WANT,
	DIM_LOAD,
	DIM_COPIES,
	DIMS,
};

struct opts {
	bool postcard, packed, average, dart, frontier;
	struct range range[DIMS];
	uint64_t max_copies, ages; /* 0: not given */
	uint64_t values, hops;
	uint64_t reports; /* DART's; 0: not given */
	enum row_format fmt;
	/* Of the ranges, the values in hand. */
	double load, want;	/* below 0: not given */
	uint64_t flows, memory; /* 0: not given */
	uint64_t value, bits;
};

extern const struct cli program;

/* All rows of what is asked for. 0 or the -errno of stdout. */
int plan_rows(struct opts *o);

/* Those of --frontier: success rates, and among them, marked, what was asked
 * for: a rate, or what a number of keys has in some memory. */
extern const struct schema frontier_schema;
int frontier_rows(struct rows *r, struct opts *o);

#endif
