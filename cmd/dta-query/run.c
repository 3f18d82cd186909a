/* SPDX-License-Identifier: BSD-2-Clause */
#include "run.h"

static int run_verb(const struct opts *o, struct places *p)
{
	switch (o->verb) {
	case VERB_LIST:
		return run_list(o, p);
	case VERB_VERIFY:
		return run_verify(o, p);
	case VERB_TOP:
		return run_top(o, p);
	case VERB_WHY:
		return run_why(o, p);
	default:
		return run_keys(o, p);
	}
}

int run(const struct opts *o, struct places *p)
{
	int rc = run_verb(o, p);

	/* Not all could be asked. */
	return p->collectors && collectors_failed(p->collectors) ? CLI_FAIL
								 : rc;
}
