/* SPDX-License-Identifier: BSD-2-Clause */
#include "resend/backoff.h"

bool backoff_cut(struct backoff *b, double at, uint64_t now_ns)
{
	if (b->cuts && now_ns - b->since_ns < BACKOFF_STEP_NS)
		return false;
	if (b->rate > 0 && b->rate < at)
		at = b->rate;
	b->rate = at / 2 > 1 ? at / 2 : 1;
	b->step = b->rate / BACKOFF_STEPS;
	b->since_ns = now_ns;
	b->cuts++;
	return true;
}

bool backoff_grow(struct backoff *b, uint64_t now_ns)
{
	uint64_t steps = (now_ns - b->since_ns) / BACKOFF_STEP_NS;

	if (!b->cuts || !steps || b->rate == b->ceiling)
		return false;
	b->rate += (double)steps * b->step;
	if (b->ceiling > 0 && b->rate > b->ceiling)
		b->rate = b->ceiling;
	b->since_ns += steps * BACKOFF_STEP_NS;
	return true;
}
