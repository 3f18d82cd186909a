/* SPDX-License-Identifier: BSD-2-Clause */
/* serve: a region's bytes for a program on another machine, which asks. */
#include <unistd.h>

#include "dump.h"
#include "query/far_wire.h"
#include "store/region.h"

int dump_serve(const struct opts *o)
{
	struct fault f = {0};
	struct region *r;

	if (isatty(STDOUT_FILENO))
		cli_fail("%s: serve is for dta-query --cluster, by ssh; a "
			 "terminal cannot read it",
			 o->what);
	if (region_open(&r, o->what, false, &f) < 0)
		cli_fault(o->what, &f);
	if (wire_serve(region_file(r), region_size(r), STDIN_FILENO,
		       STDOUT_FILENO, &cli_stop, &f) < 0)
		cli_fault(o->what, &f);
	region_close(r);
	return CLI_OK;
}
