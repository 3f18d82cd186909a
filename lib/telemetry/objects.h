/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * objects.h - the state of the network itself: of each node its thresholds and
 * distributions; of each link, queue and buffer one metric (threshold.h) and
 * its threshold state.
 *
 * A hop key is what a hop of a packet says about where it was: node, egress
 * interface, queue, buffer. Each of them may be METRIC_NONE. The table of hop
 * keys leads to the node and to the port states. A flow remembers the number of
 * the key of each of its hops, so a hop that did not move needs no lookup.
 *
 * Memory is taken at the beginning and bounded by the options; what finds no
 * room is counted.
 */
#ifndef TELEMETRY_OBJECTS_H
#define TELEMETRY_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/area.h"
#include "telemetry/threshold.h"

/*
 * A hash table of records of one size, each of which begins with its key. They
 * are numbered from 1, in the order of their coming; number 0 is none.
 */
struct key_table {
	struct area area;
	void *at;	      /* the records; 0 is the owner's to use */
	uint32_t *slot, mask; /* numbers, by hash; at most half are used */
	uint32_t size, key_len;
	uint32_t max, used;
	uint64_t no_room; /* times */
};

/* At most so many, below 2^31. 0 or -ENOMEM; area_fini() of its area ends it.
 */
int key_table_init(struct key_table *t, uint32_t max, size_t size,
		   size_t key_len);

/* The number of a key, and whether it is new: then its record is zeros behind
 * the key. 0: there is no room for another. */
uint32_t key_table_get(struct key_table *t, uint64_t hash, const void *key,
		       bool *fresh);

/*
 * The latest opaque state snapshot of each IOAM node: bytes (RFC 9197, section
 * 4.4.2.13), one for each node, namespace and schema, of 1036 bytes.
 */
int states_init(struct key_table *states,
		uint32_t max); /* as key_table_init() */

/*
 * Whether a node's state is the first, or another than the last; it is the last
 * one now. If there is no room for it, or it is longer than the format has it
 * (1020 bytes), it always is.
 */
bool states_differ(struct key_table *states, uint64_t node, uint16_t domain,
		   uint32_t schema, const uint8_t *data, size_t len);

/*
 * Distributions: how often a value was in each of some bins, which are
 * log-linear: 16 for each power of two, and 16 of one number each below. So no
 * bin is wider than a sixteenth of its values.
 *
 * Memory: 8 bytes a bin, out of one piece that is taken at the beginning and
 * touched as distributions begin.
 */

enum {
	DIST_SUB = 4, /* 2^DIST_SUB bins for each power of two */
	DIST_BINS = (33 - DIST_SUB) << DIST_SUB,
};

struct dist {
	uint64_t count[DIST_BINS];
};

static inline uint32_t dist_bin(uint32_t v)
{
	/* The first bins are of one: as if v had a bit more. */
	unsigned shift = 31u - (unsigned)__builtin_clz(v | 1U << DIST_SUB) -
			 DIST_SUB;

	return (shift << DIST_SUB) + (v >> shift);
}

static inline void dist_add(struct dist *d, uint32_t v)
{
	d->count[dist_bin(v)]++;
}

/* The values, from and to inclusive, of a bin. */
void dist_bounds(uint32_t bin, uint32_t *from, uint32_t *to);

uint64_t dist_samples(const struct dist *d);
/* All samples of one to another; it has none then. */
void dist_move(struct dist *to, struct dist *from);

/*
 * Where the quantile is, 0 < q <= 1: the bounds of the bin that holds the
 * sample of rank ceil(q * samples). False: there are no samples.
 */
bool dist_quantile(const struct dist *d, double q, uint32_t *from,
		   uint32_t *to);

/* Memory for distributions; area and used (0) are the caller's to make. */
struct dists {
	struct area area;
	size_t used;
};

/* An empty one; NULL: there is no room for another. */
struct dist *dists_new(struct dists *ds);

struct node {
	uint64_t id;
	struct threshold threshold[METRIC_OF_HOP];
	uint32_t owner; /* the worker that keeps its port states */
	struct dist *dist[METRIC_OF_HOP]; /* never NULL: dist_none */
};

/* A queue, an egress link or a buffer, by its metric. */
struct port_state {
	struct node *node;
	uint32_t egress, id; /* id: of the queue or the buffer */
	uint8_t metric;	     /* the last of its key */
	uint8_t flags;	     /* enum threshold_flag */
	struct threshold_state watch;
	uint32_t latest;
	uint64_t last_ns;   /* when it was reported */
	uint64_t pushed_ns; /* when its value was pushed, or 0 */
};

struct hop_key {
	/* What a hop tells is compared with these as one vector: vector.c. */
	uint64_t node_id;
	uint32_t id[FIELD_IDS];
	struct node *node;
	/* By metric - 1: of hop latency each flow has its own. Never NULL:
	 * `nothing` until something is reported, and then `unplaced` if there
	 * was no room. */
	struct port_state *object[METRIC_OF_HOP - 1];
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct hop_key) == 64 &&
		       offsetof(struct hop_key, id) == sizeof(uint64_t),
	       "a line, which node and ids begin as a vector");

struct objects_options {
	uint32_t nodes, places, objects; /* at most; below 2^24 */
};

struct objects {
	struct key_table nodes, places, ports;
	/* Their records. Place 0 is nowhere, and node 0 nobody, to whom it
	 * leads. */
	struct node *node;
	struct hop_key *place;
	struct port_state *port;
	/* Stand-ins: for a port of which nothing was reported yet, and for one
	 * that there was no room for. Every value is outside of their range. */
	struct port_state nothing, unplaced;
};

struct telemetry;

/* 0 or -ENOMEM. */
int objects_init(struct telemetry *t, const struct objects_options *o);
void objects_fini(struct objects *os);

/* The number of a place; 0: there is no room for another. */
uint32_t objects_hop_key(struct telemetry *t, uint64_t node,
			 const uint32_t id[FIELD_IDS]);

/* A node; NULL: there is no room for another. */
struct node *objects_node(struct telemetry *t, uint64_t id);

/* That of which a place tells a metric of queue, link or buffer; its watch is
 * new where it is; `unplaced` if there is no room, each time counted. */
struct port_state *objects_port(struct telemetry *t, struct hop_key *p,
				enum metric m);

/* The slot in which its number is, or behind which: others were there. */
uint32_t objects_port_slot(const struct objects *os,
			   const struct port_state *o);

#endif
