/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch.h - one metric key, and when its value is an event.
 *
 * change:   |value - reference| > threshold, strictly (paper 003, III-D). The
 *           reference is what was last told of this key, in whatever row; it
 *           moves with nothing else. So what was told is never further than the
 *           threshold from the truth (wire-facts C6 has a collector that moves
 *           it more often).
 * rise:     the value is at least high, and was not since it last fell.
 * fall:     it is below low, and had risen.
 *
 * Between reports only this is kept: which values are no event, as a range of
 * numbers. One comparison decides; where it says no, watch_judge() looks
 * closer. The program in the kernel (xdp/int_fast.bpf.c) judges by these
 * functions, too.
 */
#ifndef TELEMETRY_WATCH_H
#define TELEMETRY_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#define THRESHOLD_OFF UINT32_MAX /* no change is an event */

/* high 0: crossings are no events. low <= high; a value between is neither. */
struct threshold {
	uint32_t change, high, low;
};

struct watch {
	uint32_t lo, width; /* lo .. lo + width - 1 are no events; zeros: a key
			       of which nothing is known */
	uint32_t ref;	    /* what was last told */
};

enum watch_flag {
	WATCH_KNOWN = 1 << 0,
	WATCH_RISEN = 1 << 1,
};

enum watch_event {
	WATCH_NEW = 1 << 0, /* the first value of the key */
	WATCH_CHANGE = 1 << 1,
	WATCH_RISE = 1 << 2,
	WATCH_FALL = 1 << 3,
};

/* Whether a value may be an event. */
static inline bool watch_out(const struct watch *w, uint32_t v)
{
	return v - w->lo >= w->width;
}

/* The value was told otherwise; or, with v = w->ref, the thresholds are others
 * now: reference and state stay what they are. */
static inline void watch_tell(struct watch *w, unsigned flags,
			      const struct threshold *th, uint32_t v)
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

static inline bool watch_changed(const struct watch *w,
				 const struct threshold *th, uint32_t v)
{
	uint32_t by = v > w->ref ? v - w->ref : w->ref - v;

	return by > th->change;
}

/*
 * Which events (enum watch_event) a value is, 0 to several. It is told then:
 * the reference moves. flags are the key's, enum watch_flag.
 */
static inline unsigned watch_judge(struct watch *w, unsigned *flags,
				   const struct threshold *th, uint32_t v)
{
	unsigned events = 0;

	if (!(*flags & WATCH_KNOWN))
		events |= WATCH_NEW;
	else if (watch_changed(w, th, v))
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

#endif
