/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabric.h - the network that is simulated: switches and hosts, their ports,
 * which port leads to which, and the ways from host to host.
 *
 * Nodes are numbered from 0, the switches first. All ports of all nodes are
 * numbered through, node by node, so that what is kept of a port is in one
 * array; those of switches come first. What telemetry says of a switch and a
 * port is the node's id and the port's number.
 *
 * Two networks: the k-ary fat tree with ids and ports as sim/traffic.h has
 * them, and that of the INT-label paper's prototype: 4 spine, 4 leaf and 4 ToR
 * switches, ids 0 to 11, ports from 1, and 8 hosts, two of which send to all
 * others along given routes.
 */
#ifndef SIM_FABRIC_H
#define SIM_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/traffic.h"

enum {
	FABRIC_NONE = UINT32_MAX,
	FABRIC_HOPS = 8, /* switches of a way or of a given route, at most */
};

enum fabric_tier {
	FABRIC_EDGE, /* those with hosts: ToR */
	FABRIC_AGGREGATION,
	FABRIC_CORE,
	FABRIC_HOST,
};

struct fabric_node {
	uint32_t id;	/* what telemetry calls it; switches' are in a row */
	uint32_t first; /* of its ports */
	uint16_t ports;
	uint16_t base; /* number of the first one */
	uint8_t tier;  /* enum fabric_tier */
	uint8_t ip[4]; /* of a host */
};

struct fabric_port {
	uint32_t node;
	uint32_t peer; /* the port at the other end; FABRIC_NONE */
};

/* From a host to another one: the ports through which it leaves switch after
 * switch, the number of the port being place and base of its switch. */
struct fabric_route {
	uint32_t src, dst; /* nodes */
	unsigned len;
	uint8_t out[FABRIC_HOPS]; /* places among a switch's ports */
};

struct fabric {
	struct fabric_node *node;
	struct fabric_port *port;
	uint32_t nodes, switches, ports, switch_ports;
	unsigned arity;		  /* of a fat tree; 0: the paper's */
	struct topology topo;	  /* of a fat tree */
	struct fabric_route *way; /* given routes */
	unsigned ways;
};

/* A fat tree, 4 to TOPO_ARITY_MAX and even. 0 or -ENOMEM. */
int fabric_tree(struct fabric *f, unsigned k);
/* The paper's, with its routes. */
int fabric_paper(struct fabric *f);
void fabric_fini(struct fabric *f);

/*
 * A given route, as text: the sending host's number, from 1, and the hops,
 * "ID-PORT ...", the last of which leads to a host. 0, -ENOMEM or -EINVAL.
 */
int fabric_add_route(struct fabric *f, const char *text);

/* A way between two hosts of a fat tree, nodes, which are not one: the equal
 * one that the hash picks. */
void fabric_pick(const struct fabric *f, uint32_t src, uint32_t dst,
		 uint64_t hash, struct fabric_route *out);

/* The port of that id and number, of a switch; FABRIC_NONE. */
uint32_t fabric_find(const struct fabric *f, uint32_t id, uint32_t number);

static inline uint32_t fabric_hosts(const struct fabric *f)
{
	return f->nodes - f->switches;
}

static inline uint16_t fabric_number(const struct fabric *f, uint32_t port)
{
	const struct fabric_node *n = &f->node[f->port[port].node];

	return (uint16_t)(port - n->first + n->base);
}

/* Whether a port leads to a host. */
static inline bool fabric_last(const struct fabric *f, uint32_t port)
{
	uint32_t peer = f->port[port].peer;

	return peer != FABRIC_NONE &&
	       f->node[f->port[peer].node].tier == FABRIC_HOST;
}

/*
 * INT-path's plan: the fewest trails that cover every link between switches
 * once (Pan et al., INFOCOM 2019). A connected graph of 2m vertices of odd
 * degree falls into m trails, one of none into one circuit.
 */
struct euler_trail {
	uint32_t first, len; /* in ports[] */
};

struct euler {
	struct euler_trail *trail;
	uint32_t trails;
	uint32_t *port; /* through which each hop is left, trail by trail */
	uint32_t ports; /* one for each link */
	uint32_t odd;	/* switches of odd degree */
};

/* By Hierholzer's algorithm. 0 or -ENOMEM. */
int euler_plan(struct euler *e, const struct fabric *f);
void euler_fini(struct euler *e);

#endif
