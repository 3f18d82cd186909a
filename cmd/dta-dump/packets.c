/* SPDX-License-Identifier: BSD-2-Clause */
#include "dump.h"
int dump_packets(const struct opts *o)
{
	(void)o;
	return 0;
}
