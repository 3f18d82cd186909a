/* SPDX-License-Identifier: BSD-2-Clause */
/* plan.h - the rows that answer what is asked of dta-plan. */
#ifndef DTA_PLAN_PLAN_H
#define DTA_PLAN_PLAN_H

#include "options.h"

/* All rows of what is asked for. 0 or the -errno of stdout. */
int plan_rows(struct opts *o);

/* Those of --frontier: success rates, and among them, marked, what was asked
 * for: a rate, or what a number of keys has in some memory. */
extern const struct schema frontier_schema;
int frontier_rows(struct rows *r, struct opts *o);

/* Those of the verb cores: what several cores make of a translator. */
extern const struct schema cores_schema;
int cores_rows(struct rows *r, const struct opts *o);

#endif
