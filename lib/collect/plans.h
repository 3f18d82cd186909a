/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plans.h - plans of views (wire/int.h) that are kept for as long as a batch
 * lasts, which is longer than their decoder keeps them: a flood of bitmaps may
 * have more in one batch.
 */
#ifndef COLLECT_PLANS_H
#define COLLECT_PLANS_H

#include "wire/int.h"

enum {
	PLANS_CHUNK = 64, /* plans */
	PLANS_SLOTS = 256,
	PLANS_KEPT = 256, /* from batch to batch, at most */
};

struct plans_chunk;
struct plans_node;

struct plans {
	struct plans_chunk *first; /* that with room */
	unsigned n;
	const struct int_plan *latest;
	struct plans_node *slot[PLANS_SLOTS];
};

void plans_init(struct plans *ps);
void plans_fini(struct plans *ps);

/* Another batch: those of the one before may be forgotten. */
void plans_begin(struct plans *ps);

/* For plans_keep(). */
const struct int_plan *plans_find(struct plans *ps,
				  const struct int_plan *plan);

/* The same plan, which stays as it is until plans_begin(); NULL: no memory. */
static inline const struct int_plan *plans_keep(struct plans *ps,
						const struct int_plan *plan)
{
	const struct int_plan *p = ps->latest;

	if (p && p->words == plan->words && p->bitmap == plan->bitmap)
		return p;
	return ps->latest = plans_find(ps, plan);
}

#endif
