/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * track.h - a flow's hops kept in the order of its path; private to the sink.
 * Slow: for flows that are new, and paths and places that change.
 */
#ifndef TELEMETRY_TRACK_H
#define TELEMETRY_TRACK_H

#include "telemetry/hops.h"

/* The whole path of a packet: hop i of the view is the flow's hop i then, if
 * that is kept, and where it was is its place. */
void track_path(struct telemetry *t, struct flow_entry *f,
		const struct view_hops *vh);

/* Of a part of a path: the number of the flow's hop of the node of hop i; it is
 * -1 if there is no room. */
int track_hop(struct telemetry *t, struct flow_entry *f,
	      const struct view_hops *vh, unsigned i);

/* The nodes of a flow's path, room for PATH_NODES_MAX; none: not known. */
struct nodes track_nodes(const struct telemetry *t, struct flow_entry *f,
			 uint64_t *room);

/* The number of a path, with its distribution if it is new; 0: no room. */
uint32_t track_path_of(struct telemetry *t, struct nodes now);

/* Its distributions begin with a node's first values. */
void track_dist(struct telemetry *t, struct node *n, enum metric m);

#endif
