/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * paths.h - the paths that packets took: lists of nodes, the source first, each
 * kept once. Bounded; what finds no room is counted.
 */
#ifndef TELEMETRY_PATHS_H
#define TELEMETRY_PATHS_H

#include "telemetry/dist.h"

enum {
	PATH_NODES_MAX = 256, /* INT_HOP_MAX of 4 bytes, and a reporter */
};

struct path {
	uint64_t hash; /* of the nodes: the same in every run */
	uint32_t at;   /* in nodes[] */
	uint16_t n;
	bool loop;	   /* a node is in it twice */
	struct dist *dist; /* latency from end to end; dist_none */
};

struct paths {
	struct area area;
	struct path *path; /* 1 to used */
	uint64_t *nodes;   /* of all paths */
	uint32_t *slot, mask;
	uint32_t max, used;
	uint32_t nodes_max, nodes_used;
	uint64_t no_room; /* times */
};

/* At most so many, of so many nodes in all. 0 or -ENOMEM. */
int paths_init(struct paths *ps, uint32_t paths, uint32_t nodes);
void paths_fini(struct paths *ps);

/* The number of a path of n nodes, and whether it is new; 0: no room. */
uint32_t paths_find(struct paths *ps, const uint64_t *nodes, unsigned n,
		    bool *fresh);

static inline const uint64_t *path_nodes(const struct paths *ps, uint32_t path)
{
	return ps->nodes + ps->path[path].at;
}

/* What is in path.hash. */
uint64_t path_hash(const uint64_t *nodes, unsigned n);

/* Whether one of n nodes is there twice; those that are not known are not
 * the same. */
bool path_loops(const uint64_t *nodes, unsigned n);

#endif
