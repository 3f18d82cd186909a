/* SPDX-License-Identifier: BSD-2-Clause */
/* private.h - the sink's state, for its own files. */
#ifndef TELEMETRY_PRIVATE_H
#define TELEMETRY_PRIVATE_H

#include "measure/loss.h"
#include "measure/states.h"
#include "measure/paths.h"
#include "telemetry/picks.h"
#include "telemetry/sink.h"

enum {
	PLANS = 64, /* plans that are kept made ready */
};

/* A plan made ready. */
struct made {
	struct fields fields;
	struct picks picks;
};

/* Those that were met, and the one that was met last. */
struct made_plans {
	struct made plan[PLANS], own;
	const struct made *latest; /* of plan[] */
};

/* Shapes of distributions, a lane for each metric of a hop: vector.c. */
struct vector_lanes {
	uint32_t min[8], range[8], sub[8], first[8], most_shift[8];
	unsigned fixed; /* bits: metrics whose bins are of one width */
} __attribute__((aligned(64)));

/* Two metrics of queues, links and buffers that a hop tells, where these are
 * kept by others than flows (int_collector.c). */
struct far_hop {
	uint32_t view; /* its number in the batch */
	uint32_t what; /* far_what() */
	uint32_t value[2];
};

/* Its place, of the flows' sink; the first of the metrics; which are told. */
static inline uint32_t far_what(uint32_t place, unsigned metric, unsigned told)
{
	return place << 8 | metric << 4 | told;
}

/* Of a batch, for one who keeps them. */
struct far_hops {
	struct far_hop *hop;
	size_t n, room;
};

struct telemetry {
	struct telemetry_options o;
	struct far_hops *far; /* by who keeps them; NULL: they are here */
	uint32_t view;	      /* number of the one that is taken */
	struct threshold all[METRIC_NUMBERS], end[METRIC_ENDS];
	unsigned ends; /* of end[], those that are watched: 1 << each */
	struct node_threshold *node_threshold;
	unsigned node_thresholds;
	struct node_threshold *node_room; /* telemetry_set_room() */
	unsigned node_rooms;
	uint32_t generation; /* of thresholds; 0 is none */
	uint32_t widen;	     /* thresholds of change are multiplied by */
	bool widen_due;

	struct flows flows;
	struct objects objects;
	struct paths paths;
	struct dists dists;
	struct losses losses;
	struct states states;
	struct telemetry_rows rows;
	struct dist *none; /* for what has no distribution: counts only */
	bool vector;	   /* vector.h does what steady.h does */
	struct vector_lanes lanes;

	uint64_t now_ns, keep_ns; /* it is; when to look after things next:
				     telemetry_step() */
	uint64_t second_ns, second_events; /* of the budget: its end */
	bool second_widened;
	struct sweep push_flows, push_objects, settle;
	struct telemetry_ledger ledger;

	struct made_plans plans;
	struct flow_hop scratch_hop; /* of hops that are not kept */
	struct flow_wide scratch_wide;
};

/* A number as a metric's value. */
static inline uint32_t value_of(struct telemetry *t, uint64_t number)
{
	if (number <= UINT32_MAX)
		return (uint32_t)number;
	t->ledger.saturated++;
	return UINT32_MAX;
}

#endif
