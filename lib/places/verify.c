/* SPDX-License-Identifier: BSD-2-Clause */
#include "places/verify.h"

#include <errno.h>
#include <stdlib.h>

#include "places/verify_private.h"

int verify_tables(const struct table *const **out, const struct places *p)
{
	const struct table **t = calloc(SOURCES_MAX * TABLE_MAX, sizeof(*t));
	int n = 0;

	if (!t)
		return -ENOMEM;
	for (unsigned s = 0; s < p->sources; s++)
		for (unsigned i = 0; i < source_tables(&p->source[s]); i++)
			t[n++] = source_table(&p->source[s], i);
	*out = t;
	return n;
}

/* The source that has a table. */
static unsigned source_of(const struct places *p, const struct table *t)
{
	unsigned s = 0;

	for (; s < p->sources; s++)
		for (unsigned i = 0; i < source_tables(&p->source[s]); i++)
			if (source_table(&p->source[s], i) == t)
				return s;
	return s;
}

int verify_table(const struct verify *v, const struct truth_table *tt,
		 struct score *s)
{
	struct verifying w = {.v = v, .truth = tt, .s = s};

	target_of(&w.target, v->places, source_of(v->places, tt->t), tt->t);
	return tt->t->kind == TABLE_APPEND ? verify_lists(&w) : verify_keys(&w);
}
