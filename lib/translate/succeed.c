/* SPDX-License-Identifier: BSD-2-Clause */
/* succeed.c - a translator goes on with other collectors. */
#include "translate/private.h"

/* What does not depend on who the collectors are. */
static void inherit(struct translator *t, struct translator *from)
{
	struct reporters *reporters = t->reporters;
	uint64_t *expected = t->expected;

	t->ctr = from->ctr;
	t->rate = from->rate;
	t->last_ns = from->last_ns;
	t->idle_ns = from->idle_ns;
	t->reporters = from->reporters;
	from->reporters = reporters;
	t->expected = from->expected;
	from->expected = expected;
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
