/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thresholds.h - what is an event, from the command line and a file:
 *
 *	METRIC[@NODE] = CHANGE[,HIGH[,LOW]]
 *
 * CHANGE and HIGH may be off; LOW is HIGH by default. Latencies are times, a
 * bare number is ns.
 */
#ifndef INT_COLLECT_THRESHOLDS_H
#define INT_COLLECT_THRESHOLDS_H

#include "base/fault.h"
#include "options.h"
#include "telemetry/sink.h"

struct thresholds {
	struct telemetry_thresholds t;
	struct node_threshold node[THRESHOLDS_MAX];
};

/* The defaults, those of the file, those of the command line. 0 or -errno; f
 * names file, line and reason. */
int thresholds_read(struct thresholds *out, const struct opts *o,
		    struct fault *f);

#endif
