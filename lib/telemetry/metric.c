/* SPDX-License-Identifier: BSD-2-Clause */
#include "telemetry/objects.h"

#include <string.h>

static const char *const names[METRICS] = {
	[METRIC_HOP_LATENCY] = "hop_latency",
	[METRIC_QUEUE_OCCUPANCY] = "queue_occupancy",
	[METRIC_LINK_UTILIZATION] = "link_utilization",
	[METRIC_QUEUE_CONGESTION] = "queue_congestion",
	[METRIC_BUFFER_OCCUPANCY] = "buffer_occupancy",
	[METRIC_FLOW_LATENCY] = "flow_latency",
	[METRIC_PATH] = "path",
	[METRIC_FLOW_QUEUE_OCCUPANCY] = "flow_queue_occupancy",
	[METRIC_FLOW_LINK_UTILIZATION] = "flow_link_utilization",
	[METRIC_FLOW_QUEUE_CONGESTION] = "flow_queue_congestion",
	[METRIC_FLOW_BUFFER_OCCUPANCY] = "flow_buffer_occupancy",
};

const char *metric_name(enum metric m)
{
	return names[m];
}

int metric_of(const char *name)
{
	for (int m = 0; m < METRICS; m++)
		if (!strcmp(names[m], name))
			return m;
	return -1;
}
