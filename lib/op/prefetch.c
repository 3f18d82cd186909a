/* SPDX-License-Identifier: BSD-2-Clause */
#include "op/prefetch.h"

#include <stddef.h>

const char *const prefetch_names[] = {"auto", "on", "off", NULL};

static enum prefetch chosen;

void prefetch_set(enum prefetch how)
{
	chosen = how;
}

static bool is_better_here(void)
{
#ifdef __x86_64__
	return __builtin_cpu_is("intel");
#else
	return false; /* not measured */
#endif
}

bool prefetch_is_on(void)
{
	return chosen == PREFETCH_AUTO ? is_better_here()
				       : chosen == PREFETCH_ON;
}
