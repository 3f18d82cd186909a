/* SPDX-License-Identifier: BSD-2-Clause */
/* verify_age.h - the rows of verify --by-age. */
#ifndef QUERY_VERIFY_AGE_H
#define QUERY_VERIFY_AGE_H

#include "options.h"
#include "asking/verifiers.h"

extern const struct schema age_rows;

/* verifiers_table(), with a row for each bin; tables whose keys do not age have
 * none. */
int age_table(struct rows *r, const struct verifiers_options *by,
	      const struct verify *v, const struct truth_table *tt,
	      unsigned bins, struct score *s, struct fault *f);

#endif
