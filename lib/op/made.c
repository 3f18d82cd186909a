/* SPDX-License-Identifier: BSD-2-Clause */
#include "op/made.h"

#include <stdlib.h>

struct made *made_new(void)
{
	struct made *m = aligned_alloc(_Alignof(struct made), sizeof(*m));

	if (m)
		m->n = m->used = 0;
	return m;
}

struct asking *asking_new(void)
{
	struct asking *a = calloc(1, sizeof(*a));

	if (a && !(a->made = made_new())) {
		free(a);
		return NULL;
	}
	return a;
}

void asking_free(struct asking *a)
{
	if (a)
		free(a->made);
	free(a);
}

void asking_swap(struct asking *a, struct made **made)
{
	struct made *m = *made;

	*made = a->made;
	a->made = m;
	a->next = a->end;
}

void asking_start(struct asking *a, const struct road *r, size_t times)
{
	a->mem = r->mem;
	a->next = a->made->op;
	a->end = a->next + a->made->n;
	a->each = (unsigned)((a->made->n + times - 1) / times);
}
