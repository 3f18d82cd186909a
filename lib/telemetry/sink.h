/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sink.h - the INT sink: INT records (int/int.h) in; rows (rows.h) of events,
 * values, flows and distributions out.
 *
 * Time is that of the records. The same records give the same rows, however
 * they are divided into batches. Records should come in the order of their
 * times; time does not go back.
 *
 * A stack is the path of its packet. If the reporter adds metadata of its own,
 * it is the last node of that path. Records of only a part of a path (INT-XD
 * and MX, reports of drops, intermediate reports, packets whose MTU or hop
 * count was exceeded) update the state of their nodes, and no path.
 *
 * Threads: none; nothing here reads a clock or makes a system call, but row
 * sinks may.
 */
#ifndef TELEMETRY_SINK_H
#define TELEMETRY_SINK_H

#include "base/ledger.h"
#include "telemetry/objects.h"
#include "telemetry/flows.h"
#include "telemetry/rows.h"
#include "int/int.h"

/* views = used + empty. */
struct telemetry_ledger {
	uint64_t views; /* records */
	uint64_t used;
	uint64_t empty; /* neither a flow key nor metadata */
	/* notes */
	uint64_t keyless; /* records with metadata, but no flow */
	uint64_t hopless; /* records with a flow, but no metadata */
	uint64_t partial; /* records not of the whole path */
	uint64_t hops;
	uint64_t values;	/* of metrics */
	uint64_t unavailable;	/* values of all ones: not known to the node */
	uint64_t saturated;	/* values above 32 bits */
	uint64_t skewed;	/* latencies below 0, by clocks that differ */
	uint64_t unplaced;	/* times that there was no room for a hop key, a
				   node, a port state, or a snapshot */
	uint64_t undistributed; /* values that are in no distribution */
	uint64_t pathless;	/* times that there was no room for a path */
	uint64_t forgotten;	/* hops not kept: no room in the flow */
	uint64_t events;
	uint64_t pushed;		       /* rows of live values */
	uint64_t snapshots, snapshots_changed; /* all; those that were news */
	uint64_t reports_lost, reports_late, reports_repeated, restarts;
	uint64_t reporters_full; /* reports not checked: no room for the
				    reporter */
};

extern const struct ledger telemetry_ledger;

/* Overrides, for one node, the threshold that holds for all. */
struct node_threshold {
	uint64_t node;
	uint8_t metric; /* enum metric, below HOP_METRICS */
	struct threshold threshold;
};

struct telemetry_thresholds {
	struct threshold all[NUMERIC_METRICS];
	/* Of the end-to-end metrics, METRIC_FLOW_QUEUE_OCCUPANCY first.
	 * ends_watched: a bit for each that is compared with its threshold,
	 * which costs time, and memory in each flow. */
	struct threshold end[END_METRICS];
	unsigned ends_watched;
	const struct node_threshold *node;
	unsigned nodes; /* of node[]; the last one for a node and metric wins */
};

enum {
	TELEMETRY_UPKEEP_NS = 10000000, /* between expiring flows, pushing */
};

/* When the upkeep after now_ns is: at a multiple of TELEMETRY_UPKEEP_NS, so
 * that on several cores all run it at the same packet. */
static inline uint64_t telemetry_next_upkeep(uint64_t now_ns)
{
	return (now_ns / TELEMETRY_UPKEEP_NS + 1) * TELEMETRY_UPKEEP_NS;
}

struct telemetry_options {
	unsigned owners; /* on several cores: workers that own port states */
	bool hop_keys_counted; /* by another sink: the nodes and hop keys that
				  found no room */
	bool no_numbers;       /* do not check reports' sequence numbers */
	bool scalar;	       /* do not use AVX-512 even if the CPU has it */
	struct flows_options flows;
	struct objects_options objects;
	uint32_t paths; /* with PATH_NODES nodes each, on average */
	uint32_t reporters;
	uint32_t snapshots; /* as in snapshots_init() */
	size_t dist_bytes;  /* for all distributions */
	uint64_t push_ns;   /* between two pushes of a live value; 0: none */
	uint32_t kinds; /* bits: enum telemetry_event_kind, wanted as rows */
	unsigned batch_rows; /* of a batch for the sinks */
};

/* Flows: 2^19 rows of 12 buckets, 6 hops, 60 s idle; push_ns: 10 s. All else
 * takes less than 64 MB. */
void telemetry_defaults(struct telemetry_options *o);

struct telemetry;

/* 0, -EINVAL or -ENOMEM. Copies all that is pointed at, but the row sinks must
 * outlive the telemetry. */
int telemetry_open(struct telemetry **out, const struct telemetry_options *o,
		   const struct telemetry_thresholds *th,
		   const struct telemetry_sinks *sinks);

/* Sets thresholds, and keeps all state. 0, or -ENOMEM: nothing changed. */
int telemetry_set_thresholds(struct telemetry *t,
			     const struct telemetry_thresholds *th);

/* These return 0, or the first -errno of a sink. */
int telemetry_add_records(struct telemetry *t, const struct int_record *v,
			  size_t n);
/* Adds n sequence numbers, from->sequence and on, of reports that have no
 * record of their own. from->has_node must be set. */
int telemetry_add_numbers(struct telemetry *t, uint64_t ts_ns,
			  const struct int_from *from, uint32_t n);
/* Lets time pass without records: expires flows, pushes values. */
int telemetry_tick(struct telemetry *t, uint64_t now_ns);
/* Puts out the rows of batches that are not full yet. */
int telemetry_put_rows(struct telemetry *t);
/* Expires all flows, counts missing reports as lost, and puts out all rows. */
int telemetry_flush(struct telemetry *t);

const struct telemetry_ledger *telemetry_counters(struct telemetry *t);
const struct flows_ledger *telemetry_flows(const struct telemetry *t);

void telemetry_close(struct telemetry *t); /* does not flush; NULL is fine */

/* Reading the state, an item at a time: i from 0 to telemetry_items() - 1.
 * Pointers are valid until records are added or time goes on. NULL or false:
 * there is no item of that number now. */
enum telemetry_item {
	TELEMETRY_FLOW,
	TELEMETRY_NODE,
	TELEMETRY_PORT,
	TELEMETRY_PATH,
};

uint32_t telemetry_items(const struct telemetry *t, enum telemetry_item kind);

struct flow_entry *telemetry_flow_at(const struct telemetry *t, uint32_t i);
/* The nodes of a flow's path; none: unknown. room: for PATH_NODES_MAX. */
struct nodes telemetry_flow_path(const struct telemetry *t,
				 struct flow_entry *f, uint64_t *room);
/* The hop key of hop k < f->kept of a flow; NULL: not known. Sets meter[] to
 * the hop's meters, by metric. */
const struct hop_key *
telemetry_flow_hop(const struct telemetry *t, struct flow_entry *f, unsigned k,
		   const struct meter *meter[HOP_METRICS]);

const struct node *telemetry_node_at(const struct telemetry *t, uint32_t i);
/* The distribution of a metric of a node over all packets; NULL: none. */
const struct dist *telemetry_node_dist(const struct telemetry *t,
				       const struct node *n, enum metric m);

const struct port_state *telemetry_port_at(const struct telemetry *t,
					   uint32_t i);

struct telemetry_path {
	struct nodes nodes;
	bool loop;
	const struct dist *latency; /* from end to end; NULL: not reported */
};

bool telemetry_path_at(const struct telemetry *t, uint32_t i,
		       struct telemetry_path *out);

#endif
