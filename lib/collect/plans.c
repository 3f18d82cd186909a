/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/plans.h"

#include <stdlib.h>

#include "base/rng.h"

struct plans_node {
	struct int_plan plan;
	struct plans_node *next; /* of the slot */
};

struct plans_chunk {
	struct plans_chunk *next;
	struct plans_node node[PLANS_CHUNK];
};

void plans_init(struct plans *ps)
{
	*ps = (struct plans){0};
}

void plans_fini(struct plans *ps)
{
	while (ps->first) {
		struct plans_chunk *next = ps->first->next;

		free(ps->first);
		ps->first = next;
	}
	plans_init(ps);
}

void plans_begin(struct plans *ps)
{
	if (ps->n > PLANS_KEPT)
		plans_fini(ps);
}

static struct plans_node *another(struct plans *ps)
{
	unsigned at = ps->n % PLANS_CHUNK;
	struct plans_chunk *c;

	if (!at) {
		if (!(c = malloc(sizeof(*c))))
			return NULL;
		c->next = ps->first;
		ps->first = c;
	}
	ps->n++;
	return &ps->first->node[at];
}

const struct int_plan *plans_find(struct plans *ps, const struct int_plan *plan)
{
	uint64_t hash = rng_mix((uintptr_t)plan->words ^ plan->bitmap);
	struct plans_node **slot = &ps->slot[hash % PLANS_SLOTS], *n;

	for (n = *slot; n; n = n->next)
		if (n->plan.words == plan->words &&
		    n->plan.bitmap == plan->bitmap)
			return &n->plan;
	if (!(n = another(ps)))
		return NULL;
	n->plan = *plan;
	n->next = *slot;
	*slot = n;
	return &n->plan;
}
