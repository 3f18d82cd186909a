/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load.h - how full a table is, and what can be told from that: a region keeps
 * no count of what is written into it (dta-region(5)).
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
typedef void view_unit(void *ctx, uint64_t unit, const uint8_t *bytes);
int64_t view_scan(const struct view *v, view_unit *each, void *ctx,
		  const atomic_int *stop);

/* Of a table in an epoch. What is not known, or makes no sense, is NAN. */
struct load {
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
 * The share of units used alone, from so many of them at most, evenly apart
 * (append: from so many lists): half of one per cent off at the most, with
 * 10,000 and 2 of 3 times. NAN: none could be read.
 */
double load_sample(const struct view *v, uint64_t at_most);

/* 0 or -ENOMEM. *stop ends it early. */
int load_of(struct load *l, const struct view *v, const atomic_int *stop);

#endif
