/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * objects.h - the state of the network itself: for each node its thresholds and
 * distributions; for each metric (threshold.h) of a link, queue or buffer its
 * threshold state.
 *
 * A hop key is what a hop of a packet says about where it was: node, egress
 * interface, queue, buffer. Each id may be ID_UNKNOWN. The table of hop keys
 * leads to the node and to the port states. A flow remembers the number of each
 * hop's key: while its path does not change, no key is looked up.
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

/* A hash table of records of one size, each of which begins with its key. They
 * are numbered from 1, in the order they were added; number 0 is none. */
struct key_table {
	struct area area;
	void *at;	      /* the records; the owner may use record 0 */
	uint32_t *slot, mask; /* record numbers, by hash; at most half full */
	uint32_t size, key_len;
	uint32_t max, used;
	uint64_t no_room; /* how often a key found the table full */
};

/* A table of at most max records, max < 2^31. Returns 0 or -ENOMEM. It is freed
 * by area_fini() of its area. */
int key_table_init(struct key_table *t, uint32_t max, size_t size,
		   size_t key_len);

/* Finds or adds a key. Returns its number, or 0 if the table is full; *fresh:
 * it was added, and its record is zero behind the key. */
uint32_t key_table_get(struct key_table *t, uint64_t hash, const void *key,
		       bool *fresh);

/* A table of the latest opaque state snapshot (RFC 9197, section 4.4.2.13) of
 * each IOAM node, namespace and schema. Returns as key_table_init(). */
int snapshots_init(struct key_table *t, uint32_t max);

/* Stores a node's snapshot. Returns whether it is the first or differs from the
 * one before; always true if there is no room for it, or it is longer than the
 * 1020 bytes that the format allows. */
bool snapshot_is_new(struct key_table *t, uint64_t node, uint16_t domain,
		     uint32_t schema, const uint8_t *data, size_t len);

/*
 * Distributions: histograms with log-linear bins: one for each value below 16,
 * and 16 for each power of two above. So no bin is wider than a sixteenth of
 * its values.
 *
 * Memory: 8 bytes a bin, out of one area that is reserved at the beginning and
 * touched only as distributions are made.
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
	/* Bit DIST_SUB is set, so that shift is 0 for the bins of one value. */
	unsigned shift = 31u - (unsigned)__builtin_clz(v | 1U << DIST_SUB) -
			 DIST_SUB;

	return (shift << DIST_SUB) + (v >> shift);
}

static inline void dist_add(struct dist *d, uint32_t v)
{
	d->count[dist_bin(v)]++;
}

/* The smallest and the largest value of a bin. */
void dist_bounds(uint32_t bin, uint32_t *from, uint32_t *to);

uint64_t dist_samples(const struct dist *d);
/* Adds the samples of `from' to `to', and empties `from'. */
void dist_move(struct dist *to, struct dist *from);

/* Where the quantile is, 0 < q <= 1: the bounds of the bin that holds the
 * sample of rank ceil(q * samples). False: there are no samples. */
bool dist_quantile(const struct dist *d, double q, uint32_t *from,
		   uint32_t *to);

/* Memory for distributions; the caller makes the area, and sets used to 0. */
struct dists {
	struct area area;
	size_t used;
};

/* An empty one; NULL: there is no room for another. */
struct dist *dists_new(struct dists *ds);

struct node {
	uint64_t id;
	struct threshold threshold[HOP_METRICS];
	uint32_t owner; /* the worker that keeps its port states */
	struct dist *dist[HOP_METRICS]; /* not NULL: telemetry.dist_none */
};

/* One metric of a queue, an egress link or a buffer: metric says which. */
struct port_state {
	struct node *node;
	uint32_t egress, id; /* id: of the queue or the buffer */
	uint8_t metric;	     /* the key ends with it */
	uint8_t flags;	     /* enum threshold_flag */
	struct threshold_state watch;
	uint32_t latest;    /* value */
	uint64_t last_ns;   /* when a hop told that */
	uint64_t pushed_ns; /* when its value was pushed, or 0 */
};

struct hop_key {
	/* The key: vector.c compares it with a hop as one vector. */
	uint64_t node_id;
	uint32_t id[FIELD_IDS];
	struct node *node;
	/* By metric - 1, as the state of hop latency is the flow's. Never NULL:
	 * &nothing until something is reported, then &unplaced if there was no
	 * room (struct objects). */
	struct port_state *port[HOP_METRICS - 1];
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct hop_key) == 64 &&
		       offsetof(struct hop_key, id) == sizeof(uint64_t),
	       "a cache line, at whose begin vector.c loads the key");

struct objects_options {
	uint32_t nodes, hop_keys, ports; /* table sizes, below 2^24 */
};

struct objects {
	struct key_table nodes, hop_keys, ports;
	/* Their records. Hop key 0 equals that of no hop, and leads to node 0,
	 * NODE_UNKNOWN. */
	struct node *node;
	struct hop_key *hop_key;
	struct port_state *port;
	/* Stand-ins for a port of which nothing was reported yet, and for one
	 * that there was no room for. Every value is outside of their range,
	 * and so takes the slow path. */
	struct port_state nothing, unplaced;
};

struct telemetry;

/* 0 or -ENOMEM. */
int objects_init(struct telemetry *t, const struct objects_options *o);
void objects_fini(struct objects *os);

/* Finds or adds a hop key. Returns its number; 0: there is no room. */
uint32_t telemetry_hop_key(struct telemetry *t, uint64_t node,
			   const uint32_t id[FIELD_IDS]);

/* Finds or adds a node; NULL: there is no room. */
struct node *objects_node(struct telemetry *t, uint64_t id);

/* Finds or adds the port state for a metric of a hop key. If there is no room,
 * it returns &unplaced and counts that, each time. */
struct port_state *objects_port(struct telemetry *t, struct hop_key *p,
				enum metric m);

/* The slot of the table of ports where the search for this one begins. */
uint32_t objects_port_slot(const struct objects *os,
			   const struct port_state *o);

#endif
