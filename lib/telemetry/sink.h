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
 * it is the last node of that path. Records of a part of a path only (INT-XD
 * and MX, reports of drops, intermediate reports, packets that had no room or
 * hops left) update the state of their nodes, and no path.
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
	uint64_t views;
	uint64_t used;
	uint64_t empty; /* no flow that is known, and no metadata */
	/* notes */
	uint64_t keyless; /* metadata, but no flow */
	uint64_t hopless; /* a flow, but no metadata */
	uint64_t partial; /* not of the whole path */
	uint64_t hops;
	uint64_t values;	/* metric values that were told */
	uint64_t unavailable;	/* all ones: the node cannot tell */
	uint64_t saturated;	/* values above 32 bits */
	uint64_t skewed;	/* latencies below 0, by clocks that differ */
	uint64_t unplaced;	/* times that there was no room for a place, a
				   node, an object, or a snapshot */
	uint64_t undistributed; /* values that are in no distribution */
	uint64_t pathless;	/* times that there was no room for a path */
	uint64_t forgotten;	/* hops not kept: no room in the flow */
	uint64_t events;
	uint64_t pushed;		    /* rows of live values */
	uint64_t snapshots, snapshots_told; /* of nodes; those that differed */
	uint64_t reports_lost, reports_late, reports_repeated, restarts;
	uint64_t unnumbered; /* reports: no room for their reporter */
};

extern const struct ledger telemetry_ledger;

/* For one node instead of what is for all. */
struct node_threshold {
	uint64_t node;
	uint8_t metric; /* below METRIC_OF_HOP */
	struct threshold threshold;
};

struct telemetry_thresholds {
	struct threshold all[METRIC_NUMBERS];
	/* From METRIC_FLOW_QUEUE_OCCUPANCY on; ends: which of them are
	 * watched, 1 << each. They cost ingest, and flows memory. */
	struct threshold end[METRIC_ENDS];
	unsigned ends;
	const struct node_threshold *node;
	unsigned nodes; /* of node[]; the last that fits counts */
};

enum {
	TELEMETRY_KEEP_NS = 10000000, /* things are looked after so often */
};

/* When that is, after a time: as time enters the next piece of so long, so that
 * all who keep a part of it do so at the same packet. */
static inline uint64_t telemetry_keep_at(uint64_t now_ns)
{
	return (now_ns / TELEMETRY_KEEP_NS + 1) * TELEMETRY_KEEP_NS;
}

struct telemetry_options {
	/* Where queues, links and buffers are kept apart from flows
	 * (int_collector.h): by so many; and there, whose places are others',
	 * too. */
	unsigned owners;
	bool places_again;
	bool no_numbers; /* of reports that come: they are no sequence */
	bool scalar;	 /* AVX-512 is not used where it is there, either */
	struct flows_options flows;
	struct objects_options objects;
	uint32_t paths; /* and nodes of all together: PATH_NODES of each */
	uint32_t reporters;
	uint32_t states;   /* snapshots of nodes that are kept */
	size_t dist_bytes; /* for all distributions */
	uint64_t push_ns;  /* values of live keys, so often; 0: never */
	uint32_t kinds;	   /* events that are told: 1 << enum telemetry_kind */
	unsigned gather;   /* rows that are put at once */
};

/* 2^19 rows of 12 buckets, 6 hops, 60 s; 10 s; bins of a sixteenth, and the
 * rest below 64 MB. */
void telemetry_defaults(struct telemetry_options *o);

struct telemetry;

/* 0, -EINVAL or -ENOMEM. All that is pointed at is copied; sinks outlive the
 * telemetry. */
int telemetry_open(struct telemetry **out, const struct telemetry_options *o,
		   const struct telemetry_thresholds *th,
		   const struct telemetry_sinks *sinks);

/* From now on; nothing is forgotten. 0 or -ENOMEM: as it was. */
int telemetry_set_thresholds(struct telemetry *t,
			     const struct telemetry_thresholds *th);

/* These return 0, or the first -errno of a sink. */
int telemetry_add_records(struct telemetry *t, const struct int_record *v,
			  size_t n);
/* Numbers of a reporter that came without records: n, from from->sequence on.
 * from->has_node: numbers of no known node are no sequence. */
int telemetry_add_numbers(struct telemetry *t, uint64_t ts_ns,
			  const struct int_from *from, uint32_t n);
/* It is so late now, though no records come: flows expire, values are pushed.
 */
int telemetry_tick(struct telemetry *t, uint64_t now_ns);
/* The rows that there are go out. */
int telemetry_put_rows(struct telemetry *t);
/* All flows leave, missing reports are lost, distributions and rows go out. */
int telemetry_flush(struct telemetry *t);

const struct telemetry_ledger *telemetry_counters(struct telemetry *t);
const struct flows_ledger *telemetry_flows(const struct telemetry *t);

void telemetry_close(struct telemetry *t); /* does not flush; NULL is fine */

/*
 * Looking at what is kept, a number at a time: i from 0 to below so many of its
 * kind. Nothing changes by it; pointers hold until records are taken or time
 * goes on. NULL or false: nothing has that number now.
 */
enum telemetry_item {
	TELEMETRY_FLOW,
	TELEMETRY_NODE,
	TELEMETRY_PORT,
	TELEMETRY_PATH,
};

uint32_t telemetry_items(const struct telemetry *t, enum telemetry_item kind);

struct flow_entry *telemetry_flow_at(const struct telemetry *t, uint32_t i);
/* The nodes of a flow's path, none: not known; room for PATH_NODES_MAX. */
struct nodes telemetry_flow_path(const struct telemetry *t,
				 struct flow_entry *f, uint64_t *room);
/* The hop key of a hop of a flow, k < f->kept; NULL: not known. of: its
 * metrics. */
const struct hop_key *telemetry_flow_hop(const struct telemetry *t,
					 struct flow_entry *f, unsigned k,
					 const struct meter *of[METRIC_OF_HOP]);

const struct node *telemetry_node_at(const struct telemetry *t, uint32_t i);
/* Of all packets that told the metric there; NULL: none. */
const struct dist *telemetry_node_dist(const struct telemetry *t,
				       const struct node *n, enum metric m);

const struct port_state *telemetry_port_at(const struct telemetry *t,
					   uint32_t i);

/* Of latencies from end to end; NULL: nobody told them. */
struct telemetry_path {
	struct nodes nodes;
	bool loop;
	const struct dist *latency;
};

bool telemetry_path_at(const struct telemetry *t, uint32_t i,
		       struct telemetry_path *out);

#endif
