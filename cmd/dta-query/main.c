/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dta-query - looks up keys, paths, lists and counters in a collector's memory:
 * once, in bulk, or interactively; and verifies answers. options.h has its
 * options, run.h its subcommands.
 */
#include <errno.h>
#include <stdlib.h>

#include "run.h"

void sources_open(struct query_sources *p, const struct opts *o)
{
	struct error err = {""};
	int rc;

	rc = query_sources_open(p, &o->from, &err);
	if (rc < 0 && cli_stop) { /* not lost: the program was told to stop */
		query_sources_close(p);
		exit(CLI_NOTHING);
	}
	if (rc == -EINVAL && o->from.verbs)
		cli_refuse("--verbs: %s", err.text);
	if (rc < 0)
		cli_fail("%s", err.text);
}

void sources_check(const struct query_sources *p)
{
	if (p->gone)
		cli_fail("%s: %s", p->source[0].path, p->gone);
}

void sources_pick(struct query_targets *out, const struct query_sources *p,
		  int kind, const char *name)
{
	struct error err = {""};

	if (query_targets_pick(out, p, kind, name, &err) < 0)
		cli_fail("%s", err.text);
}

int run_query(const struct opts *o, struct query_sources *p)
{
	int rc = verb_rows[o->verb].run(o, p);

	return p->failed ? CLI_FAIL : rc;
}

int main(int argc, char **argv)
{
	static struct opts o; /* too large for the stack */
	static struct query_sources p;
	int rc;

	cli_start(&cli);
	options_read(&o, argc, argv);
	cli_signals();
	sources_open(&p, &o);
	rc = o.interactive ? run_shell(&o, &p) : run_query(&o, &p);
	query_sources_close(&p);
	return rc;
}
