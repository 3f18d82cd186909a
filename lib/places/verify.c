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

struct verify_at verify_at(const struct places *p, const struct table *t)
{
	struct verify_at at = {0, 0};

	for (; at.source < p->sources; at.source++)
		for (at.table = 0;
		     at.table < source_tables(&p->source[at.source]);
		     at.table++)
			if (source_table(&p->source[at.source], at.table) == t)
				return at;
	return at;
}

int verify_table(const struct verify *v, const struct truth_table *tt,
		 struct score *s)
{
	struct verify_at at = verify_at(v->places, tt->t);
	struct verifying w = {.v = v, .truth = tt, .s = s};

	if (tt->t->kind != TABLE_APPEND)
		return verify_keys(v, tt, at, s);
	target_of(&w.target, v->places, at.source, tt->t);
	return verify_lists(&w);
}
