/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify_age.h - answers by the age of their keys, beside the closed form of
 * model/plan.h. A key is as old as there are keys whose last report came after
 * its own: those are what may have overwritten it.
 */
#ifndef PLACES_VERIFY_AGE_H
#define PLACES_VERIFY_AGE_H

#include "places/verify.h"

enum {
	VERIFY_AGES_MAX = 1000,
};

/* Keys of some ages, the youngest first. */
struct verify_bin {
	struct score score;
	double planned; /* the sum of what is to be expected of each key */
};

struct verify_age {
	const struct table *t;
	unsigned copies; /* of all keys; 0: not of all the same */
	double load;	 /* keys for each slot, of the whole table */
	unsigned bins;
	struct verify_bin *bin;
	/* Private. */
	double pass;
	unsigned asked; /* copies that are asked at most, 0: all */
	size_t n;
	struct verify_when *when; /* by age, the oldest first */
};

/*
 * The keys of a table of Key-Write or Postcards, in so many bins with as many
 * keys each. values: how many a hop may have. Returns 0 or -ENOMEM; close()
 * after either.
 */
int verify_age_open(struct verify_age *a, const struct truth_table *tt,
		    const struct query_rule *rule, double values,
		    unsigned bins);
void verify_age_close(struct verify_age *a);

/* An answer, of all that there are: a verify's miss(), with all set. */
void verify_age_note(struct verify_age *a, const struct verify_miss *m);

#endif
