/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dta-query - ask a collector's memory: keys, paths, lists, counters; once, in
 * bulk, interactively; and check answers against what was reported.
 */
#include <stdlib.h>

#include "crew.h"
#include "run.h"

static int run_verb(const struct opts *o, struct places *p)
{
	switch (o->verb) {
	case VERB_LIST:
		return run_list(o, p);
	case VERB_VERIFY:
		return run_verify(o, p);
	default:
		return run_keys(o, p);
	}
}

int run(const struct opts *o, struct places *p)
{
	int rc = run_verb(o, p);

	/* Not all could be asked. */
	return p->crew && crew_failed(p->crew) ? CLI_FAIL : rc;
}

int main(int argc, char **argv)
{
	static struct opts o; /* much for a stack that shares it with batches */
	static struct places p;
	int rc;

	cli_start(&cli);
	options_read(&o, argc, argv);
	cli_signals();
	places_open(&p, &o);
	rc = o.interactive ? run_shell(&o, &p) : run(&o, &p);
	places_close(&p);
	return rc;
}
