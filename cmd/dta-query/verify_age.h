/* SPDX-License-Identifier: BSD-2-Clause */
/* verify_age.h - the rows of verify --by-age. */
#ifndef QUERY_VERIFY_AGE_H
#define QUERY_VERIFY_AGE_H

#include "options.h"
#include "places/verify.h"

extern const struct schema age_rows;

/* verify_table(), with a row for each bin; tables whose keys do not age have
 * none. */
int age_table(struct rows *r, const struct verify *v,
	      const struct truth_table *tt, unsigned bins, struct score *s);

#endif
