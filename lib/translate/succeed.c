/* SPDX-License-Identifier: BSD-2-Clause */
/* succeed.c - a translator goes on with other collectors. */
#include "translate/private.h"

/* What does not depend on who the collectors are. */
static void inherit(struct translator *t, struct translator *from)
{
	struct reporters *reporters = t->reporters;
	uint64_t *expected = t->expected;

	t->ctr = from->ctr;
	t->last_ns = from->last_ns;
	t->rate = from->rate;
	t->reporters = from->reporters;
	from->reporters = reporters;
	t->expected = from->expected;
	from->expected = expected;
	for (unsigned i = 0; i < t->n; i++) {
		t->lane[i].copy = from->lane[i].copy;
		t->lane[i].drawn = from->lane[i].drawn;
		t->lane[i].draws = from->lane[i].draws;
	}
}

int translate_succeed(struct translator **t, const struct table *tables,
		      unsigned n, struct road *road,
		      const struct translate_options *o, struct fault *f)
{
	struct translator *next;
	int rc = translate_open(&next, tables, n, road, o, f);

	if (rc < 0)
		return rc;
	inherit(next, *t);
	translate_close(*t);
	*t = next;
	return 0;
}
