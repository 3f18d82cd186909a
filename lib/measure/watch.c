/* SPDX-License-Identifier: BSD-2-Clause */
#include "measure/watch.h"

void watch_tell(struct watch *w, unsigned flags, const struct threshold *th,
		uint32_t v)
{
	uint32_t margin = th->change, lo, hi;

	w->ref = v;
	lo = v > margin ? v - margin : 0;
	hi = v < UINT32_MAX - margin ? v + margin : UINT32_MAX;
	if (th->high && flags & WATCH_RISEN && lo < th->low)
		lo = th->low;
	if (th->high && !(flags & WATCH_RISEN) && hi >= th->high)
		hi = th->high - 1;
	/* One less than all numbers: watch_judge() knows the last one. */
	w->lo = lo;
	w->width = lo > hi		   ? 0
		   : hi - lo == UINT32_MAX ? UINT32_MAX
					   : hi - lo + 1;
}

static bool changed(const struct watch *w, const struct threshold *th,
		    uint32_t v)
{
	uint32_t by = v > w->ref ? v - w->ref : w->ref - v;

	return by > th->change;
}

unsigned watch_judge(struct watch *w, unsigned *flags,
		     const struct threshold *th, uint32_t v)
{
	unsigned events = 0;

	if (!(*flags & WATCH_KNOWN))
		events |= WATCH_NEW;
	else if (changed(w, th, v))
		events |= WATCH_CHANGE;
	if (th->high && !(*flags & WATCH_RISEN) && v >= th->high) {
		events |= WATCH_RISE;
		*flags |= WATCH_RISEN;
	} else if (th->high && *flags & WATCH_RISEN && v < th->low) {
		events |= WATCH_FALL;
		*flags &= ~(unsigned)WATCH_RISEN;
	}
	*flags |= WATCH_KNOWN;
	if (events)
		watch_tell(w, *flags, th, v);
	return events;
}
