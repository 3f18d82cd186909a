/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inband.h - what the nodes on a packet's way would say about it: a model of
 * in-band telemetry, for packets and reports that carry it.
 *
 * Paths are those of the topology, or as long as is wanted: then nodes follow
 * each other in a ring that the flow picks a place in, so that none comes
 * twice. Ports of such nodes: in 0, out 1, as in a ring.
 *
 * Values are exponential, as in the SmartNIC paper (section IV-A): a draw of
 * its own for each packet, node and metric. Or steady, as INTCollector's
 * reports are (section V-A): of each node, and of each flow at it, one value,
 * but for spikes, so many a second: one packet is SPIKE_FACTOR times as long at
 * one of its nodes. Where changes are events, each is two: up, and back.
 *
 * Integers only, but for a table of 256 logarithms: the same model says the
 * same on every machine.
 */
#ifndef SIM_INBAND_H
#define SIM_INBAND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "sim/traffic.h"
#include "sim/topo.h"
#include "int/int.h"

enum {
	INBAND_HOPS_MAX = 32,
	INBAND_SPIKE_FACTOR = 10,
	INBAND_CELLS = 256,    /* of the table of exponential values */
	INBAND_LINK_NS = 1000, /* from a node to the next */
	/* Means of nodes, queues, links (per cent) and buffers. */
	INBAND_LATENCY_NS = 2000,
	INBAND_OCCUPANCY = 60,
	INBAND_UTILIZATION = 30,
	INBAND_BUFFER = 1000,
};

struct inband_options {
	uint64_t seed;
	struct topology topology;
	unsigned hops; /* of all paths, up to INBAND_HOPS_MAX, at most as many
			  as there are switches; 0: the topology's */
	bool steady;
	uint64_t spikes; /* a second of the packets' time; steady only */
};

/* One node's words about a packet: has says which, as struct int_layout's. */
struct inband_hop {
	uint32_t has;
	uint64_t value[INT_FIELDS];
};

struct inband_path {
	unsigned n; /* from the source to the sink */
	bool spike; /* at one of them */
	struct inband_hop hop[INBAND_HOPS_MAX];
};

struct inband {
	struct inband_options o;
	struct rng rng;
	uint64_t spike_ns; /* when the next one comes; 0: not begun */
	uint64_t cell[INBAND_CELLS + 1];
};

void inband_init(struct inband *m, const struct inband_options *o);

/* What all nodes say of a packet. Times end at the packet's. */
void inband_say(struct inband *m, struct inband_path *out,
		const struct traffic_packet *p);

#endif
