/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * measure.h - peers on the same reports and the same questions, in turn, round
 * by round: these machines drift.
 */
#ifndef TESTS_BENCH_PEERS_MEASURE_H
#define TESTS_BENCH_PEERS_MEASURE_H

#include "peer.h"

enum {
	PEERS_MAX = 16,
	ROUNDS_MAX = 99,
};

/* What is known of a peer before it runs, also of one that is not there. */
struct entry {
	const char *name, *package;
	const struct peer *peer; /* NULL: the package is missing */
	const char *gives;	 /* words of what it has */
	/* No answer is missing or wrong; it is a store: slower by far, so it
	 * gets a part of the reports and questions. */
	int exact, store;
};

struct rates {
	double median, spread; /* M/s; the quartiles' distance, of the median */
};

struct result {
	int measured;
	struct rates updates, lookups;
	double key_bytes; /* 0: not known */
	double found;	  /* share of the answers, */
	uint64_t wrong;	  /* and how many of them were */
	char pages[32];	  /* "": nobody asked */
	char why[160];	  /* if it was not measured */
};

struct plan_of_run {
	uint64_t flows;
	unsigned rounds;
	uint64_t reports;     /* of a round; a store's: a part of them */
	uint64_t store_flows; /* stores: no more */
	uint64_t memory;
	const char *dir;
};

/* r[i] of e[i], for n <= PEERS_MAX. */
void measure(const struct plan_of_run *p, const struct entry *e, unsigned n,
	     struct result *r);

#endif
