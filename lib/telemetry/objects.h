/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * objects.h - what is known of the network itself: nodes; and of their links,
 * queues and buffers a metric each (metric.h), watched.
 *
 * A place is what a hop of a packet says about where it was: node, egress
 * interface, queue, buffer, any of which may be METRIC_NONE. It leads to its
 * node and to the objects. Flows remember the number of the place they met, so
 * that nothing is looked up for a hop that is where it was before.
 *
 * Memory: taken at the beginning, bounded by the options; what finds no room is
 * counted.
 */
#ifndef TELEMETRY_OBJECTS_H
#define TELEMETRY_OBJECTS_H

#include <stdbool.h>

#include "telemetry/dist.h"
#include "telemetry/metric.h"
#include "telemetry/watch.h"

struct node {
	uint64_t id;
	struct threshold threshold[METRIC_OF_HOP];
	uint32_t owner; /* of several, which keeps its queues and links */
	struct dist *dist[METRIC_OF_HOP]; /* never NULL: dist_none */
};

struct object {
	struct watch watch;
	uint32_t latest;
	uint8_t flags; /* enum watch_flag */
	uint8_t metric;
	uint32_t egress, id; /* id: of the queue or the buffer */
	struct node *node;
	uint64_t last_ns;   /* when it was reported */
	uint64_t pushed_ns; /* when its value was pushed, or 0 */
};

struct place {
	/* What a hop tells is compared with these as one vector: vector.c. */
	uint64_t node_id;
	uint32_t id[FIELD_IDS];
	struct node *node;
	/* By metric - 1: of hop latency each flow has its own. Never NULL:
	 * `nothing` until something is reported, and then `unplaced` if there
	 * was no room. */
	struct object *object[METRIC_OF_HOP - 1];
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct place) == 64 &&
		       offsetof(struct place, id) == sizeof(uint64_t),
	       "a line, which node and ids begin as a vector");

struct objects_options {
	uint32_t nodes, places, objects; /* at most; below 2^24 */
};

struct objects_counters {
	uint64_t nodes, places, objects;       /* that there are */
	uint64_t no_node, no_place, no_object; /* times there was no room */
};

struct objects {
	struct objects_options o;
	struct area area;
	struct node *node;     /* 1 to counters.nodes */
	struct place *place;   /* the same; place 0 is nowhere */
	struct object *object; /* from 0 */
	uint32_t *node_slot, *place_slot, *object_slot; /* hash tables */
	uint32_t node_mask, place_mask, object_mask;
	struct objects_counters counters;
	struct node nobody; /* what place 0 leads to */
	/* What nothing is known of, nor kept, yet; and the same of what there
	 * was no room for, nor will be: any value is outside of their watch's
	 * range. */
	struct object nothing, unplaced;
};

/* A node is new: thresholds and distributions are to be set. */
typedef void node_begin(void *ctx, struct node *n);

/* 0, -EINVAL or -ENOMEM. */
int objects_init(struct objects *os, const struct objects_options *o);
void objects_fini(struct objects *os);

/* The number of a place; 0: there is no room for another. */
uint32_t place_of(struct objects *os, uint64_t node,
		  const uint32_t id[FIELD_IDS], node_begin *begin, void *ctx);

/* A node; NULL: there is no room for another. */
struct node *objects_node(struct objects *os, uint64_t id, node_begin *begin,
			  void *ctx);

/* That of which a place tells a metric of queue, link or buffer; its watch is
 * new where it is; `unplaced` if there is no room, each time counted. */
struct object *object_of(struct objects *os, struct place *p, enum metric m);

/* The slot in which its number is, or behind which: others were there. */
uint32_t object_home(const struct objects *os, const struct object *o);

#endif
