/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabric.h - the network that is simulated: switches and hosts, their ports,
 * which port leads to which, and the routes from host to host.
 *
 * A node or a port is named by its index in fabric.node or fabric.port, in
 * both of which switches come before hosts. Telemetry names a switch by its id,
 * and a port by its number within the switch.
 *
 * There are two networks: the k-ary fat tree, ids and ports as in
 * sim/traffic.h, and that of the INT-label paper's prototype: 4 spine, 4 leaf
 * and 4 ToR switches, ids 0 to 11, ports from 1, and 8 hosts, two of which send
 * to all others along given routes.
 */
#ifndef SIM_FABRIC_H
#define SIM_FABRIC_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/traffic.h"

enum {
	FABRIC_NONE = UINT32_MAX,
	FABRIC_HOPS = 8, /* switches of a route, at most */
};

enum fabric_tier {
	FABRIC_EDGE, /* ToR: the switches with hosts */
	FABRIC_AGGREGATION,
	FABRIC_CORE,
	FABRIC_HOST,
};

struct fabric_node {
	uint32_t id; /* in telemetry; those of switches are consecutive */
	uint32_t first_port;
	uint16_t ports;	       /* how many */
	uint16_t first_number; /* of first_port, in telemetry */
	uint8_t tier;	       /* enum fabric_tier */
	uint8_t ip[4];	       /* of a host */
};

struct fabric_port {
	uint32_t node;
	uint32_t peer; /* the port at the other end; FABRIC_NONE: not linked */
};

/* From a host to another one: the egress port at each switch, 0 being the
 * switch's first_port. */
struct fabric_route {
	uint32_t src, dst; /* nodes */
	unsigned len;
	uint8_t out[FABRIC_HOPS];
};

struct fabric {
	struct fabric_node *node;
	struct fabric_port *port;
	uint32_t nodes, switches, ports, switch_ports;
	unsigned arity;		    /* of a fat tree; 0: the paper's */
	struct topology topo;	    /* of a fat tree */
	struct fabric_route *route; /* given routes */
	unsigned routes;
};

/* A fat tree; k is even, 4 to TOPO_ARITY_MAX. 0 or -ENOMEM. */
int fabric_tree(struct fabric *f, unsigned k);
/* The network of the paper, with its routes. 0 or -ENOMEM. */
int fabric_paper(struct fabric *f);
void fabric_fini(struct fabric *f);

/* A given route, as text: the sending host's number, from 1, and the hops,
 * "ID-PORT ...", the last of which leads to a host. 0, -ENOMEM or -EINVAL. */
int fabric_add_route(struct fabric *f, const char *text);

/* The route between two different hosts (nodes) of a fat tree: of those of the
 * same length the one that the hash picks. */
void fabric_pick_route(const struct fabric *f, uint32_t src, uint32_t dst,
		       uint64_t hash, struct fabric_route *out);

/* The port that telemetry calls by a switch's id and a number; FABRIC_NONE:
 * there is none. */
uint32_t fabric_find_port(const struct fabric *f, uint32_t id, uint32_t number);

static inline uint32_t fabric_hosts(const struct fabric *f)
{
	return f->nodes - f->switches;
}

static inline uint16_t fabric_port_number(const struct fabric *f, uint32_t port)
{
	const struct fabric_node *n = &f->node[f->port[port].node];

	return (uint16_t)(port - n->first_port + n->first_number);
}

static inline bool fabric_leads_to_host(const struct fabric *f, uint32_t port)
{
	uint32_t peer = f->port[port].peer;

	return peer != FABRIC_NONE &&
	       f->node[f->port[peer].node].tier == FABRIC_HOST;
}

/* INT-path's plan: the fewest trails that cover every link between switches
 * once (Pan et al., INFOCOM 2019). A connected graph with 2m vertices of odd
 * degree needs m trails; one without such vertices has an Euler circuit. */
struct euler_trail {
	uint32_t first, len; /* hops in euler.port[] */
};

struct euler {
	struct euler_trail *trail;
	uint32_t trails;
	uint32_t *port; /* egress port of each hop, trail by trail */
	uint32_t ports; /* one for each link */
	uint32_t odd;	/* switches of odd degree */
};

/* By Hierholzer's algorithm. 0 or -ENOMEM. */
int euler_plan(struct euler *e, const struct fabric *f);
void euler_fini(struct euler *e);

#endif
