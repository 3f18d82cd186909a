/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load.h - how full a table is, and what follows for its keys. It is counted,
 * since a region keeps no count of what is written into it (dta-region(5)).
 */
#ifndef QUERY_LOAD_H
#define QUERY_LOAD_H

#include <stdatomic.h>
#include <stdbool.h>

#include "region/memory.h"

/*
 * Calls each() with every unit of a table (slot, chunk, counter, entry of all
 * rings) whose bytes are not all zero, until *stop. Returns how many could not
 * be read, or -ENOMEM.
 */
typedef void query_scan_unit(void *ctx, uint64_t unit, const uint8_t *bytes);
int64_t query_scan(const struct table_view *v, query_scan_unit *each, void *ctx,
		   const atomic_int *stop);

/* Of a table in an epoch. What is not known, or makes no sense, is NAN. */
struct query_load {
	uint64_t used;	     /* units that are not all zero; append: entries */
	uint64_t unreadable; /* units, lists; they are left out below */
	double used_share;
	/* model/plan.h; each report stored in all of the table's copies */
	double load, above;
	double success, average; /* of the oldest key, of all keys */
	double success_below, average_below; /* where only above is known */
	/* append */
	uint64_t written, lists_used;
	/* keyinc: of all counters */
	uint64_t sum;
	bool sum_fits; /* 64 bits */
};

/*
 * Only the share of used units, estimated from a sample of at most so many,
 * evenly apart (append: from so many lists). With 10,000 its standard error is
 * at most half of one per cent. NAN: none could be read.
 */
double query_load_sample(const struct table_view *v, uint64_t at_most);

/* 0 or -ENOMEM. *stop ends it early. */
int query_load_of(struct query_load *l, const struct table_view *v,
		  const atomic_int *stop);

#endif
