/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plans.h - plans of views (wire/int.h) that are kept for as long as a batch
 * lasts, which is longer than their decoder keeps them: a flood of bitmaps may
 * have more in one batch.
 */
#ifndef COLLECT_PLANS_H
#define COLLECT_PLANS_H

#include "collect/arena.h"
#include "wire/int.h"

enum {
	PLANS_SLOTS = 256,
};

struct plans_node;

struct plans {
	const struct int_plan *latest;
	struct plans_node *slot[PLANS_SLOTS];
};

/* Another batch: those of the one before are forgotten. */
void plans_begin(struct plans *ps);

/* For plans_keep(). */
const struct int_plan *plans_find(struct plans *ps, const struct int_plan *plan,
				  struct arena *a);

/* The same plan, which lasts as long as what is in the arena; NULL: no memory.
 */
static inline const struct int_plan *
plans_keep(struct plans *ps, const struct int_plan *plan, struct arena *a)
{
	const struct int_plan *p = ps->latest;

	if (p && p->words == plan->words && p->bitmap == plan->bitmap)
		return p;
	return ps->latest = plans_find(ps, plan, a);
}

#endif
