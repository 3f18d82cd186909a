/* SPDX-License-Identifier: BSD-2-Clause */
#include "values.h"

#include <errno.h>

#include "base/text.h"
#include "measure/metric.h"

int number_metric(const char *name, bool ends, struct fault *why)
{
	int metric = metric_of(name);

	if (metric >= 0 && metric != METRIC_PATH &&
	    metric < (ends ? (int)METRICS : (int)METRIC_NUMBERS))
		return metric;
	return fault_set(
		why, -EINVAL,
		"'%s' is no metric: hop_latency, queue_occupancy, "
		"link_utilization, queue_congestion, buffer_occupancy, "
		"flow_latency%s",
		name,
		ends ? ", flow_queue_occupancy, flow_link_utilization, "
		       "flow_queue_congestion, flow_buffer_occupancy"
		     : "");
}

static bool is_latency(int metric)
{
	return metric == METRIC_HOP_LATENCY || metric == METRIC_FLOW_LATENCY;
}

int value_of(uint32_t *out, int metric, const char *text)
{
	uint64_t v;

	if (!text_number(&v, text, UINT32_MAX) &&
	    !(is_latency(metric) && text_duration_ns(&v, text)))
		return -EINVAL;
	if (v >= UINT32_MAX)
		return -EINVAL;
	*out = (uint32_t)v;
	return 0;
}
