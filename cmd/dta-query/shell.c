/* SPDX-License-Identifier: BSD-2-Clause */
#include "run.h"
int run_shell(const struct opts *o, struct places *p)
{
	(void)o, (void)p;
	return 0;
}
