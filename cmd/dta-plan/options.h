/* SPDX-License-Identifier: BSD-2-Clause */
/* options.h - the options of dta-plan, and what its files share. */
#ifndef DTA_PLAN_OPTIONS_H
#define DTA_PLAN_OPTIONS_H

#include "cli/cli.h"

/* More than any machine has; its bytes still fit 64 bits. */
#define SLOTS_MAX (UINT64_C(1) << 50)

enum { RANGE_MAX = 1000 }; /* values */

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
	bool cores;	  /* the verb is cores; the next four are its options */
	double alone_ns, work_ns, receive_ns; /* of a report; 0: not given */
	uint64_t bandwidth;		      /* bytes a second; 0: no bound */
	bool fleet; /* the verb is fleet; the next are its options */
	uint64_t switches, arity; /* one of them is 0 */
	uint64_t rate;		  /* reports a second of a switch */
	uint64_t history_ns;	  /* 0: keys are given */
	uint64_t messages;	  /* RDMA writes a second of a NIC */
	bool mirror;
	const char *svg;
	enum row_format fmt;
	double at[DIMS]; /* the current value of each range; not given: load
			    and want -1, flows and memory 0 */
};

extern const struct cli program;

/* Reads, checks and completes the options; exits on a bad one. */
struct opts options_read(int argc, char **argv);

/* Bytes from one slot or chunk to the next, as a collector lays them out. */
uint64_t slot_stride(const struct opts *o);

/* Make the rows of the verbs cores and fleet. */
extern const struct schema cores_schema, fleet_schema;
void cores_rows(struct rows *r, const struct opts *o);
void fleet_rows(struct rows *r, const struct opts *o);

#endif
