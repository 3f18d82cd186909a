/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/plans.h"

#include "base/rng.h"

struct plans_node {
	struct int_plan plan;
	struct plans_node *next; /* of the slot */
};

void plans_begin(struct plans *ps)
{
	*ps = (struct plans){0};
}

const struct int_plan *plans_find(struct plans *ps, const struct int_plan *plan,
				  struct arena *a)
{
	uint64_t hash = rng_mix((uintptr_t)plan->words ^ plan->bitmap);
	struct plans_node **slot = &ps->slot[hash % PLANS_SLOTS], *n;

	for (n = *slot; n; n = n->next)
		if (n->plan.words == plan->words &&
		    n->plan.bitmap == plan->bitmap)
			return &n->plan;
	if (!(n = arena_room(a, sizeof(*n))))
		return NULL;
	arena_take(a, sizeof(*n));
	n->plan = *plan;
	n->next = *slot;
	*slot = n;
	return &n->plan;
}
