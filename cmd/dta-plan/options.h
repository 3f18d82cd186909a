/* SPDX-License-Identifier: BSD-2-Clause */
/* options.h - what is asked of dta-plan. */
#ifndef DTA_PLAN_OPTIONS_H
#define DTA_PLAN_OPTIONS_H

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
	bool team;	  /* the verb cores, which has: */
	struct range cores;
	double alone_ns, work_ns, receive_ns; /* 0: not given */
	uint64_t bandwidth;		      /* 0: any */
	enum row_format fmt;
	/* Of the ranges, the values in hand. */
	double load, want;	/* below 0: not given */
	uint64_t flows, memory; /* 0: not given */
	uint64_t value, bits;
};

extern const struct cli program;

/* Reads, checks and completes the options; exits on a bad one. */
struct opts options_read(int argc, char **argv);

#endif
