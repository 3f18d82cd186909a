/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * topo.h - the network that telemetry tells of: switches, their ports, the path
 * that a flow takes.
 *
 * Switches have ids from 1, ports are numbered from 0 in each. A host is
 * connected to the edge switch that a hash of its address picks. Equal paths
 * are shared out by flow (ECMP): a hash of its key picks one. The two
 * directions of a connection are two flows and may go different ways.
 *
 * The k-ary fat tree (Al-Fares et al., SIGCOMM 2008): k pods of k/2 edge and
 * k/2 aggregation switches, k*k/4 cores. Ids: edge switches, pod by pod; then
 * aggregation switches, pod by pod; then cores. 80 for k = 8.
 *
 * switch                        port      leads to
 * edge e of pod p               h         a host, h < k/2
 *                               k/2 + a   aggregation a of p, its port e
 * aggregation a of pod p        e         edge e of p, its port k/2 + a
 *                               k/2 + c   core a * k/2 + c, its port p
 * core                          p         pod p
 *
 * A path has 5 switches, 3 within a pod, 1 between hosts of one edge switch.
 */
#ifndef SIM_TOPO_H
#define SIM_TOPO_H

#include <stddef.h>
#include <stdint.h>

enum {
	TOPO_HOPS_MAX = 5,   /* of a path */
	TOPO_ARITY_MAX = 64, /* of a fat tree */
};

struct topology {
	unsigned switches; /* ids 1 .. switches */
	unsigned edges;	   /* ids 1 .. edges: those with hosts */
	unsigned ports;	   /* of each */
	unsigned hops;	   /* of all paths; 0: as the addresses say */
};

struct topo_hop {
	uint32_t id;
	uint16_t in, out; /* ports */
};

/* From the sender's switch to the receiver's. */
struct topo_path {
	unsigned len;
	struct topo_hop hop[TOPO_HOPS_MAX];
};

/*
 * A fat tree of switches with k ports, even, 4 to TOPO_ARITY_MAX. With hops 1,
 * 3 or 5, all paths are that long: the receiver is moved to the sender's own
 * switch, to another one of its pod, to another pod.
 */
void topo_fat_tree(struct topology *t, unsigned k, unsigned hops);

/* The path of a flow: key as of net/key.h, flow4 or flow6, by its length. */
void topo_path(const struct topology *t, struct topo_path *out,
	       const uint8_t *key, size_t key_len);

/* The switch of a host, 4 or 16 bytes of address: the first one of its flows,
 * and, if paths are as the addresses say, the last one of those to it. */
unsigned topo_edge(const struct topology *t, const uint8_t *addr, size_t len);

#endif
