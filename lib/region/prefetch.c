/* SPDX-License-Identifier: BSD-2-Clause */
#include "region/memory.h"

static enum prefetch chosen;

void prefetch_set(enum prefetch how)
{
	chosen = how;
}

static enum prefetch best_here(void)
{
#ifdef __x86_64__
	if (__builtin_cpu_is("intel"))
		return PREFETCH_ON;
	if (__builtin_cpu_is("amd"))
		return PREFETCH_L2;
#endif
	return PREFETCH_OFF; /* not measured */
}

enum prefetch prefetch_here(void)
{
	return chosen == PREFETCH_AUTO ? best_here() : chosen;
}
