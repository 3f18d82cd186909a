/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
/*
 * threshold.h - the threshold state of one metric key: when a value is an
 * event.
 *
 *	change	|value - reference| > threshold, strictly (INTCollector, section
 *		III-D)
 *	rise	the value is at least high, and was not since it last fell
 *	fall	the value is below low, and had risen
 *
 * The reference is the value last reported for this key, in an event or in a
 * periodic row, and moves with nothing else. So the reported value is never
 * further than the threshold from the truth (the published INTCollector moves
 * it more often).
 *
 * Between reports a key keeps the range of values that are no event. One
 * comparison tells whether a value is within it; threshold_check() decides
 * about the others. The program in the kernel (xdp/int_fast.bpf.c) uses these
 * functions, too, so this file includes nothing of the library.
 */
/* clang-format on */
#ifndef TELEMETRY_THRESHOLD_H
#define TELEMETRY_THRESHOLD_H

#include <stdbool.h>
#include <stdint.h>

/* clang-format off */
/*
 * What is measured, and of what: the keys of INTCollector's table I, and
 * buffers. An id that no hop has reported is ID_UNKNOWN, a node NODE_UNKNOWN.
 *
 * metric             key                   value
 * hop_latency        flow, node            ns within the node
 * queue_occupancy    node, port, queue     as the node counts
 * link_utilization   node, port            as the node counts
 * queue_congestion   node, port, queue     INT 0.5
 * buffer_occupancy   node, buffer          INT 2.x
 * flow_latency       flow                  ns from end to end
 * path               flow                  nodes, the source first
 * flow_*             flow                  the largest value of another metric
 *                                          along a packet's path
 *
 * Values have 32 bits. Larger ones become UINT32_MAX, and are counted.
 */
/* clang-format on */

#define ID_UNKNOWN   UINT32_MAX
#define NODE_UNKNOWN UINT64_MAX

/* The ids in a hop's metadata that, with its node, are the key of a metric. */
enum field_id { FIELD_EGRESS, FIELD_QUEUE, FIELD_BUFFER, FIELD_IDS };

enum metric {
	METRIC_HOP_LATENCY,
	METRIC_QUEUE_OCCUPANCY,
	METRIC_LINK_UTILIZATION,
	METRIC_QUEUE_CONGESTION,
	METRIC_BUFFER_OCCUPANCY,
	HOP_METRICS, /* those above are reported by each hop */
	METRIC_FLOW_LATENCY = HOP_METRICS,
	NUMERIC_METRICS, /* those above are numbers */
	METRIC_PATH = NUMERIC_METRICS,
	/* End to end: those of a hop but its latency, in the same order. */
	METRIC_FLOW_QUEUE_OCCUPANCY,
	METRIC_FLOW_LINK_UTILIZATION,
	METRIC_FLOW_QUEUE_CONGESTION,
	METRIC_FLOW_BUFFER_OCCUPANCY,
	METRICS,
	END_METRICS = METRICS - METRIC_FLOW_QUEUE_OCCUPANCY,
};

/* Names of rows and options; metric_of() gives -1 for others. */
const char *metric_name(enum metric m);
int metric_of(const char *name);

#define THRESHOLD_OFF UINT32_MAX /* no change is an event */

/* high 0: there is no rise and no fall. low <= high. */
struct threshold {
	uint32_t change, high, low;
};

struct threshold_state {
	uint32_t lo, width; /* lo .. lo + width - 1 are no events; zeros: a key
			       of which nothing is known */
	uint32_t ref;	    /* the reference */
};

enum threshold_flag {
	THRESHOLD_KNOWN = 1 << 0,
	THRESHOLD_RISEN = 1 << 1,
};

enum threshold_event {
	THRESHOLD_NEW = 1 << 0, /* the first value of the key */
	THRESHOLD_CHANGE = 1 << 1,
	THRESHOLD_RISE = 1 << 2,
	THRESHOLD_FALL = 1 << 3,
};

/* Whether a value may be an event. */
static inline bool threshold_outside(const struct threshold_state *w,
				     uint32_t v)
{
	return v - w->lo >= w->width;
}

/* Makes v the reference, as it was reported in a periodic row. With v = w->ref
 * it adapts the range to new thresholds. flags (threshold_flag) stay. */
static inline void threshold_set_reference(struct threshold_state *w,
					   unsigned flags,
					   const struct threshold *th,
					   uint32_t v)
{
	uint32_t margin = th->change, lo, hi;

	w->ref = v;
	lo = v > margin ? v - margin : 0;
	hi = v < UINT32_MAX - margin ? v + margin : UINT32_MAX;
	if (th->high && flags & THRESHOLD_RISEN && lo < th->low)
		lo = th->low;
	if (th->high && !(flags & THRESHOLD_RISEN) && hi >= th->high)
		hi = th->high - 1;
	/* A width of 2^32 does not fit: UINT32_MAX goes to threshold_check() */
	w->lo = lo;
	w->width = lo > hi		   ? 0
		   : hi - lo == UINT32_MAX ? UINT32_MAX
					   : hi - lo + 1;
}

static inline bool threshold_changed(const struct threshold_state *w,
				     const struct threshold *th, uint32_t v)
{
	uint32_t by = v > w->ref ? v - w->ref : w->ref - v;

	return by > th->change;
}

/* Returns which events (enum threshold_event) a value is; 0: none. If it is
 * any, it becomes the reference. flags: the key's, enum threshold_flag. */
static inline unsigned threshold_check(struct threshold_state *w,
				       unsigned *flags,
				       const struct threshold *th, uint32_t v)
{
	unsigned events = 0;

	if (!(*flags & THRESHOLD_KNOWN))
		events |= THRESHOLD_NEW;
	else if (threshold_changed(w, th, v))
		events |= THRESHOLD_CHANGE;
	if (th->high && !(*flags & THRESHOLD_RISEN) && v >= th->high) {
		events |= THRESHOLD_RISE;
		*flags |= THRESHOLD_RISEN;
	} else if (th->high && *flags & THRESHOLD_RISEN && v < th->low) {
		events |= THRESHOLD_FALL;
		*flags &= ~(unsigned)THRESHOLD_RISEN;
	}
	*flags |= THRESHOLD_KNOWN;
	if (events)
		threshold_set_reference(w, *flags, th, v);
	return events;
}

#endif
