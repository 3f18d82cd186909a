/* SPDX-License-Identifier: BSD-2-Clause */
/* dta-plan - size a deployment, from the closed forms of model/plan.h. */
#include <string.h>

#include "plan.h"

int main(int argc, char **argv)
{
	static struct opts o;
	int rc;

	cli_start(&program);
	o = options_read(argc, argv);
	rc = plan_rows(&o);
	if (rc)
		cli_fail("%s: %s", cli_stdout, strerror(-rc));
	return CLI_OK;
}
