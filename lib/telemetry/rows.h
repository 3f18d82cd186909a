/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rows.h - what the sink tells, as rows. Measurements and fields:
 *
 * int_event  one a happening: time, event, metric; node, egress, queue, buffer,
 *            hw_id, flow: of what, those that the metric's key has (metric.h);
 *            value, reference (what was told before), threshold (that was
 *            passed), path, old_path. event is one of
 *            new_key       the first value, or path, of a key
 *            change        value differs from reference by more than threshold
 *            rise          value >= threshold, for the first time since a fall
 *            fall          value < threshold, after a rise
 *            path_change   of a flow, from old_path to path
 *            loop          a node is twice in path
 *            report_loss   value reports of node and hw_id did not come, the
 *                          first of them numbered reference
 *            restart       a reporter has begun its numbers anew
 *            drop          a node has dropped a packet of the flow, which came
 *                          from ingress, for the reason value
 * int_value  the same of a key that is alive, from time to time
 * int_flow   a flow that leaves the cache, for a reason: evicted, expired,
 *            flushed
 * int_hop    a node of such a flow: hop counts from the source, 1 is the first;
 *            null: it is not on the path any more
 * int_distribution  how many samples of a metric at a node, or on a path from
 *            end to end, and the bounds of the bins of its quantiles
 * int_bin    a bin of it that is not empty: low <= value <= high
 * int_snapshot  what a node of IOAM has put behind its data (RFC 9197, section
 *            4.4.2.13), when it differs from the last: opaque bytes of a schema
 *
 * Latencies are in ns, other metrics in units of the nodes. In a list of nodes
 * an unknown one is 4294967295: no switch of INT has that id.
 */
#ifndef TELEMETRY_ROWS_H
#define TELEMETRY_ROWS_H

#include "row/row.h"
#include "telemetry/dist.h"
#include "telemetry/flows.h"
#include "telemetry/metric.h"
#include "telemetry/fields.h"
#include "net/key.h"

enum telemetry_kind {
	EVENT_NEW_KEY,
	EVENT_CHANGE,
	EVENT_RISE,
	EVENT_FALL,
	EVENT_PATH_CHANGE,
	EVENT_LOOP,
	EVENT_REPORT_LOSS,
	EVENT_RESTART,
	EVENT_DROP,
	EVENTS,
	EVENTS_ALL = (1 << EVENTS) - 1, /* as a set: 1 << each */
};

const char *event_name(enum telemetry_kind k);
int event_of(const char *name); /* -1: none */

/* A node's id in a list. */
static inline uint64_t rows_node(uint64_t id)
{
	return id == NODE_UNKNOWN ? UINT32_MAX : id;
}

/* Where each measurement goes; NULL: nowhere. They may be the same. */
struct telemetry_sinks {
	struct row_sink *event, *value, *flow, *hop, *distribution, *bin,
		*snapshot;
};

/* In the same order. */
enum rows_kind {
	ROWS_EVENT,
	ROWS_VALUE,
	ROWS_FLOW,
	ROWS_HOP,
	ROWS_DISTRIBUTION,
	ROWS_BIN,
	ROWS_SNAPSHOT,
	ROWS_KINDS,
};

/* "event": without the int_ of the measurement. */
const char *rows_kind_name(enum rows_kind k);

struct telemetry_rows {
	struct rows *of[ROWS_KINDS]; /* NULL: they go nowhere */
	int err;		     /* of the sinks, the first */
};

/* A list of nodes, n 0: none. */
struct nodes {
	const uint64_t *at;
	unsigned n;
};

/* What is told, and of what. */
struct telemetry_event {
	uint64_t ts_ns;
	uint8_t kind;	    /* of events */
	int8_t metric;	    /* -1: none */
	const uint8_t *key; /* of a flow, or NULL */
	uint8_t key_len;
	uint64_t node;			/* NODE_UNKNOWN: none */
	uint32_t egress, queue, buffer; /* METRIC_NONE: none */
	int hw_id;			/* -1: none */
	uint32_t ingress;		/* METRIC_NONE: none */
	bool has_value, has_reference, has_threshold;
	uint64_t value, reference, threshold;
	struct nodes path, old_path;
};

extern const struct telemetry_event telemetry_event_none; /* to begin with */

/* 0 or -ENOMEM. gather: rows that are put at once. */
int telemetry_rows_open(struct telemetry_rows *rs,
			const struct telemetry_sinks *s, unsigned gather);
int telemetry_rows_flush(struct telemetry_rows *rs);
void telemetry_rows_close(struct telemetry_rows *rs);

void telemetry_row_event(struct telemetry_rows *rs,
			 const struct telemetry_event *what);
void telemetry_row_value(struct telemetry_rows *rs,
			 const struct telemetry_event *what);

/* A flow and a hop of it that leave at a time. wide may be NULL; hop 0: it is
 * not on the path. */
void telemetry_row_flow(struct telemetry_rows *rs, uint64_t ts_ns,
			const struct flow_entry *f, enum flow_leaves why,
			struct nodes path);
void telemetry_row_hop(struct telemetry_rows *rs, uint64_t ts_ns,
		       const struct flow_entry *f, unsigned hop, uint64_t node,
		       uint32_t egress, uint32_t queue,
		       const struct flow_hop *h, const struct flow_wide *wide);

/* Of a packet's hop, 1 is the first. */
void telemetry_row_snapshot(struct telemetry_rows *rs,
			    const struct int_record *v, unsigned hop,
			    uint64_t node, uint32_t schema, const uint8_t *data,
			    size_t len);

/* Of a node, or with NODE_UNKNOWN of a path; with its bins. */
void telemetry_row_distribution(struct telemetry_rows *rs, uint64_t ts_ns,
				enum metric m, uint64_t node, struct nodes path,
				const struct dist *d);

#endif
