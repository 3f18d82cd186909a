/* SPDX-License-Identifier: BSD-2-Clause */
#include "sources.h"

#include <errno.h>
#include <stdlib.h>

void sources_open(struct places *p, struct opts *o)
{
	struct fault f = {""};
	int rc;

	o->from.snapshot = o->snapshot;
	o->from.cluster.stop = &cli_stop;
	o->from.cluster.warn = cli_warn;
	rc = places_open(p, &o->from, &f);
	if (rc < 0 && cli_stop) { /* not lost: nobody waited for it */
		places_close(p);
		exit(CLI_NOTHING);
	}
	if (rc == -EINVAL && o->from.verbs)
		cli_refuse("--verbs: %s", f.text);
	if (rc < 0)
		cli_fail("%s", f.text);
}

void sources_check(const struct places *p)
{
	if (p->gone)
		cli_fail("%s: %s", p->source[0].path, p->gone);
}

void sources_pick(struct targets *out, const struct places *p, int kind,
		  const char *name)
{
	struct fault f = {""};

	if (targets_pick(out, p, kind, name, &f) < 0)
		cli_fail("%s", f.text);
}
