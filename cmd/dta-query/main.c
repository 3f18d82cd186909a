/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dta-query - ask a collector's memory: keys, paths, lists, counters; once, in
 * bulk, interactively; and check answers against what was reported.
 */
#include "run.h"
#include "shell.h"
#include "sources.h"

int main(int argc, char **argv)
{
	static struct opts o; /* much for a stack that shares it with batches */
	static struct places p;
	int rc;

	cli_start(&cli);
	options_read(&o, argc, argv);
	cli_signals();
	sources_open(&p, &o);
	rc = o.interactive ? run_shell(&o, &p) : run(&o, &p);
	places_close(&p);
	return rc;
}
