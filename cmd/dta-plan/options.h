/* SPDX-License-Identifier: BSD-2-Clause */
/* options.h - what is asked of dta-plan. */
#ifndef DTA_PLAN_OPTIONS_H
#define DTA_PLAN_OPTIONS_H

#include "cli/cli.h"

/* More than any machine has; its bytes still fit 64 bits. */
#define SLOTS_MAX (UINT64_C(1) << 50)

enum {
	RANGE_MAX = 1000, /* values */
};

/* One value of an option, or several: "0.1:2:0.1" (from, to, step), "1:4"
 * (whole numbers, step 1). */
struct range {
	unsigned n; /* 0: not given */
	double value[RANGE_MAX];
};

/* Options that may be ranges: each makes rows for each of its values. */
enum dim {
	DIM_VALUE,
	DIM_BITS,
	DIM_FLOWS,
	DIM_MEMORY,
	DIM_WANT,
	DIM_LOAD,
	DIM_COPIES,
	DIM_CORES,
	DIMS,
};

struct opts {
	bool postcard, packed, average;
	bool layout;		/* no rows: a layout of the one plan */
	const char *text[DIMS]; /* as given; NULL: it was not */
	struct range range[DIMS];
	uint64_t values, hops;
	uint64_t reports; /* of a key, as DART writes them; 0: not asked */
	bool team;	  /* the verb cores, which has: */
	double alone_ns, work_ns, receive_ns; /* 0: not given */
	uint64_t bandwidth;		      /* 0: any */
	enum row_format fmt;
	double at[DIMS]; /* of the ranges, the value in hand; load, want below
			    0, flows, memory 0: not given */
};

extern const struct cli program;

/* Reads, checks and completes the options; exits on a bad one. */
struct opts options_read(int argc, char **argv);

/* Rows of the verb cores: what several cores make of a translator. 0 or the
 * -errno of stdout. */
extern const struct schema cores_schema;
int cores_rows(struct rows *r, const struct opts *o);

#endif
