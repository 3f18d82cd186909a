/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * metric.h - what is measured, and of what: the keys of INTCollector's table I,
 * and buffers. An id that nothing has told is METRIC_NONE, a node NODE_UNKNOWN.
 *
 * metric             key                   value
 * hop_latency        flow, node            ns within the node
 * queue_occupancy    node, egress, queue   as the node counts
 * link_utilization   node, egress          as the node counts
 * queue_congestion   node, egress, queue   INT 0.5
 * buffer_occupancy   node, buffer          INT 2.x
 * flow_latency       flow                  ns from end to end
 * path               flow                  nodes, the source first
 * flow_*             flow                  of another metric, the largest that
 *                                          the nodes of a packet's path told
 *
 * Values have 32 bits; what is larger is UINT32_MAX and counted.
 */
#ifndef TELEMETRY_METRIC_H
#define TELEMETRY_METRIC_H

#include <stdint.h>

#define METRIC_NONE  UINT32_MAX
#define NODE_UNKNOWN UINT64_MAX

/* What identifies that of which a hop tells. */
enum field_id {
	FIELD_EGRESS,
	FIELD_QUEUE,
	FIELD_BUFFER,
	FIELD_IDS,
};

enum metric {
	METRIC_HOP_LATENCY,
	METRIC_QUEUE_OCCUPANCY,
	METRIC_LINK_UTILIZATION,
	METRIC_QUEUE_CONGESTION,
	METRIC_BUFFER_OCCUPANCY,
	METRIC_OF_HOP, /* those above are told by each node */
	METRIC_FLOW_LATENCY = METRIC_OF_HOP,
	METRIC_NUMBERS, /* those above are numbers */
	METRIC_PATH = METRIC_NUMBERS,
	/* From end to end, those of a hop but its latency, in their order. */
	METRIC_FLOW_QUEUE_OCCUPANCY,
	METRIC_FLOW_LINK_UTILIZATION,
	METRIC_FLOW_QUEUE_CONGESTION,
	METRIC_FLOW_BUFFER_OCCUPANCY,
	METRICS,
	METRIC_ENDS = METRICS - METRIC_FLOW_QUEUE_OCCUPANCY,
};

/* Names of rows and options; metric_of() gives -1 for others. */
const char *metric_name(enum metric m);
int metric_of(const char *name);

#endif
