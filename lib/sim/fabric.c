/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/fabric.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- nodes, links and given routes ---------------------------------------- */

/* Returns 0, or -ENOMEM with nothing allocated. */
static int alloc_arrays(struct fabric *f, uint32_t nodes, uint32_t ports)
{
	f->node = calloc(nodes, sizeof(*f->node));
	f->port = calloc(ports, sizeof(*f->port));
	if (!f->node || !f->port) {
		fabric_fini(f);
		return -ENOMEM;
	}
	return 0;
}

/* Adds a node, switches before hosts. */
static struct fabric_node *add_node(struct fabric *f, enum fabric_tier tier,
				    uint32_t id, unsigned ports,
				    unsigned first_number)
{
	struct fabric_node *n = &f->node[f->nodes++];

	*n = (struct fabric_node){.id = id,
				  .first_port = f->ports,
				  .ports = (uint16_t)ports,
				  .first_number = (uint16_t)first_number,
				  .tier = (uint8_t)tier};
	for (unsigned i = 0; i < ports; i++)
		f->port[f->ports++] = (struct fabric_port){
			(uint32_t)(n - f->node), FABRIC_NONE};
	if (tier != FABRIC_HOST) {
		f->switches = f->nodes;
		f->switch_ports = f->ports;
	}
	return n;
}

/* Links two nodes by a port of each, counted from 0. */
static void link_ports(struct fabric *f, uint32_t a, unsigned a_port,
		       uint32_t b, unsigned b_port)
{
	uint32_t i = f->node[a].first_port + a_port,
		 j = f->node[b].first_port + b_port;

	f->port[i].peer = j;
	f->port[j].peer = i;
}

void fabric_fini(struct fabric *f)
{
	free(f->node);
	free(f->port);
	free(f->route);
	*f = (struct fabric){0};
}

uint32_t fabric_find_port(const struct fabric *f, uint32_t id, uint32_t number)
{
	uint32_t node = id - f->node[0].id; /* ids are consecutive */
	const struct fabric_node *n = &f->node[node];

	if (node >= f->switches || number < n->first_number ||
	    number - n->first_number >= n->ports)
		return FABRIC_NONE;
	return n->first_port + number - n->first_number;
}

int fabric_add_route(struct fabric *f, const char *text)
{
	struct fabric_route route = {0}, *more;
	unsigned host, id, number;
	uint32_t at, port; /* at: the node reached so far */
	int used;

	if (sscanf(text, "%u%n", &host, &used) != 1 || !host ||
	    host > fabric_hosts(f))
		return -EINVAL;
	text += used;
	route.src = f->switches + host - 1;
	at = f->port[f->port[f->node[route.src].first_port].peer].node;
	for (; text[strspn(text, " \t")]; text += used) {
		if (sscanf(text, " %u-%u%n", &id, &number, &used) != 2)
			return -EINVAL;
		port = fabric_find_port(f, id, number);
		if (port == FABRIC_NONE || f->port[port].node != at ||
		    f->port[port].peer == FABRIC_NONE ||
		    route.len == FABRIC_HOPS)
			return -EINVAL;
		route.out[route.len++] = (uint8_t)(port -
						   f->node[at].first_port);
		at = f->port[f->port[port].peer].node;
	}
	if (f->node[at].tier != FABRIC_HOST)
		return -EINVAL;
	route.dst = at;
	more = realloc(f->route, (f->routes + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	f->route = more;
	f->route[f->routes++] = route;
	return 0;
}

/* --- the network of the INT-label paper's prototype ----------------------- */

enum {
	SPINES = 4,
	LEAVES = 4,
	TORS = 4,
	HOSTS = 8,
	PORTS = 4 * 2 + (4 + 4) * 4 + 8,
};

/* From the first and the last host to others, as fabric_add_route() reads. */
static const char *const paper_routes[] = {
	"1 8-4",
	"1 8-1 4-4 9-3",
	"1 8-2 5-4 9-4",
	"1 8-1 4-1 0-2 6-3 10-3",
	"1 8-1 4-1 0-2 6-3 10-4",
	"1 8-2 5-1 2-2 7-4 11-3",
	"1 8-2 5-2 3-2 7-4 11-4",
	"8 11-2 7-2 3-1 5-3 8-3",
	"8 11-2 7-2 3-1 5-3 8-4",
	"8 11-2 7-2 3-1 5-4 9-3",
	"8 11-2 7-2 3-1 5-4 9-4",
	"8 11-1 6-3 10-3",
	"8 11-1 6-3 10-4",
	"8 11-3",
};

int fabric_paper(struct fabric *f)
{
	static const uint8_t tier[] = {FABRIC_CORE, FABRIC_AGGREGATION,
				       FABRIC_EDGE};
	const unsigned routes = sizeof(paper_routes) / sizeof(paper_routes[0]);
	int rc;

	*f = (struct fabric){0};
	rc = alloc_arrays(f, SPINES + LEAVES + TORS + HOSTS, PORTS);
	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < SPINES + LEAVES + TORS; i++)
		add_node(f, tier[i / 4], i, i < SPINES ? 2 : 4, 1);
	for (unsigned i = 0; i < HOSTS; i++) {
		const uint8_t ip[] = {10, (uint8_t)(1 + i / 4),
				      (uint8_t)(1 + i / 2 % 2),
				      (uint8_t)(1 + i % 2)};

		memcpy(add_node(f, FABRIC_HOST, i, 1, 0)->ip, ip, sizeof(ip));
	}
	/* Each of two pods has two leaves. Leaf 0 of a pod is linked to spines
	 * 0 and 1, leaf 1 to spines 2 and 3; both to both ToRs of the pod. */
	for (unsigned n = 0; n < 8; n++) {
		unsigned pod = n / 4, side = n / 2 % 2, i = n % 2;
		unsigned leaf = SPINES + 2 * pod + side;
		unsigned tor = SPINES + LEAVES + 2 * pod + i;

		link_ports(f, leaf, i, 2 * side + i, pod);
		link_ports(f, leaf, 2 + i, tor, side);
	}
	for (unsigned i = 0; i < HOSTS; i++)
		link_ports(f, SPINES + LEAVES + TORS + i, 0,
			   SPINES + LEAVES + i / 2, 2 + i % 2);
	for (unsigned i = 0; rc == 0 && i < routes; i++)
		rc = fabric_add_route(f, paper_routes[i]);
	if (rc < 0)
		fabric_fini(f);
	return rc;
}

/* --- the k-ary fat tree: numbering as in sim/traffic.h ------------------- */

int fabric_tree(struct fabric *f, unsigned k)
{
	unsigned half = k / 2, edges = k * half, hosts = edges * half;
	int rc;

	*f = (struct fabric){.arity = k};
	topo_fat_tree(&f->topo, k, 0);
	rc = alloc_arrays(f, f->topo.switches + hosts,
			  f->topo.switches * k + hosts);
	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < f->topo.switches; i++)
		add_node(f,
			 i < edges	 ? FABRIC_EDGE
			 : i < 2 * edges ? FABRIC_AGGREGATION
					 : FABRIC_CORE,
			 1 + i, k, 0);
	for (unsigned i = 0; i < hosts; i++) {
		/* 10.pod.switch.host, hosts from 2, as Al-Fares et al. */
		const uint8_t ip[] = {10, (uint8_t)(i / half / half),
				      (uint8_t)(i / half % half),
				      (uint8_t)(2 + i % half)};

		memcpy(add_node(f, FABRIC_HOST, i, 1, 0)->ip, ip, sizeof(ip));
	}
	for (unsigned i = 0; i < edges; i++) {
		unsigned pod = i / half, in_pod = i % half;

		for (unsigned j = 0; j < half; j++) {
			/* Edge switch i down and up, aggregation switch i up */
			link_ports(f, i, j, f->switches + i * half + j, 0);
			link_ports(f, i, half + j, edges + pod * half + j,
				   in_pod);
			link_ports(f, edges + i, half + j,
				   2 * edges + in_pod * half + j, pod);
		}
	}
	return 0;
}

void fabric_pick_route(const struct fabric *f, uint32_t src, uint32_t dst,
		       uint64_t hash, struct fabric_route *out)
{
	unsigned half = f->arity / 2, routes = half * half;
	unsigned pick = (unsigned)(((hash & UINT32_MAX) * routes) >> 32);
	uint32_t dst_host = dst - f->switches, to = dst_host / half;
	uint32_t from = (src - f->switches) / half; /* edge switches */
	uint8_t *hop = out->out;

	out->src = src;
	out->dst = dst;
	if (from != to) {
		*hop++ = (uint8_t)(half + pick % half); /* to aggregation */
		if (from / half != to / half) {
			*hop++ = (uint8_t)(half + pick / half); /* to core */
			*hop++ = (uint8_t)(to / half);
		}
		*hop++ = (uint8_t)(to % half);
	}
	*hop++ = (uint8_t)(dst_host % half);
	out->len = (unsigned)(hop - out->out);
}

/* --- INT-path's trails ------------------------------------------------------
 * Switches of odd degree are joined in pairs by virtual links. Then each
 * connected part of the graph has an Euler circuit; cut at the virtual links,
 * it falls into trails. */

/* An arc is a link in one direction: the port by which it leaves a node, or
 * FABRIC_NONE along a virtual link. */
struct walk {
	const struct fabric *f;
	uint32_t *memory;  /* of all arrays that follow */
	uint32_t *virtual; /* by node: other end of its virtual link, or NONE */
	uint32_t *next;	   /* by node: the next of its ports to try */
	uint32_t *used;	   /* by port: whether its link was taken */
	uint32_t *stack, *arc, depth; /* nodes, and the arcs to them */
	uint32_t *circuit, n;	      /* arcs, the last one first */
};

/* Whether the port leads to a switch. */
static bool is_link(const struct fabric *f, uint32_t port)
{
	uint32_t peer = f->port[port].peer;

	return peer != FABRIC_NONE && peer < f->switch_ports;
}

/* Adds the virtual links. Returns the number of switches of odd degree. */
static uint32_t link_odd(struct walk *w)
{
	uint32_t odd = 0, last = FABRIC_NONE;

	for (uint32_t i = 0; i < w->f->switches; i++) {
		const struct fabric_node *n = &w->f->node[i];
		unsigned links = 0;

		for (uint32_t k = 0; k < n->ports; k++)
			links += is_link(w->f, n->first_port + k);
		w->virtual[i] = FABRIC_NONE;
		if (links % 2 == 0)
			continue;
		if (odd++ % 2) {
			w->virtual[i] = last;
			w->virtual[last] = i;
		}
		last = i;
	}
	return odd;
}

/* Takes an unused arc of node, which leads to *to. False: there is none. */
static bool take_arc(struct walk *w, uint32_t node, uint32_t *to, uint32_t *arc)
{
	const struct fabric_node *n = &w->f->node[node];
	uint32_t other = w->virtual[node];

	if (other != FABRIC_NONE) {
		w->virtual[node] = w->virtual[other] = FABRIC_NONE;
		*to = other;
		*arc = FABRIC_NONE;
		return true;
	}
	while (w->next[node] < n->ports) {
		uint32_t port = n->first_port + w->next[node]++;

		if (!is_link(w->f, port) || w->used[port])
			continue;
		w->used[port] = w->used[w->f->port[port].peer] = 1;
		*to = w->f->port[w->f->port[port].peer].node;
		*arc = port;
		return true;
	}
	return false;
}

/* Appends the circuit through all unused arcs that can be reached from start to
 * w->circuit, the last arc first. */
static void walk_circuit(struct walk *w, uint32_t start)
{
	uint32_t to, arc;

	w->depth = 0;
	w->stack[w->depth] = start;
	w->arc[w->depth++] = FABRIC_NONE;
	while (w->depth) {
		if (take_arc(w, w->stack[w->depth - 1], &to, &arc)) {
			w->stack[w->depth] = to;
			w->arc[w->depth++] = arc;
		} else if (--w->depth) {
			w->circuit[w->n++] = w->arc[w->depth];
		}
	}
}

/* Cuts a circuit (n arcs, the last one first) into trails at its virtual links.
 * It begins behind a virtual link, if there is one, so that the trail in which
 * the circuit happens to begin stays whole. */
static void cut_trails(struct euler *e, const uint32_t *arc, uint32_t n)
{
	struct euler_trail *t = NULL;
	uint32_t from = 0;

	while (from < n && arc[n - 1 - from] != FABRIC_NONE)
		from++;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t port = arc[n - 1 - (from + i) % n];

		if (port == FABRIC_NONE) {
			t = NULL;
			continue;
		}
		if (!t) {
			t = &e->trail[e->trails++];
			*t = (struct euler_trail){e->ports, 0};
		}
		e->port[e->ports++] = port;
		t->len++;
	}
}

int euler_plan(struct euler *e, const struct fabric *f)
{
	uint32_t nodes = f->switches, arcs = f->switch_ports + nodes + 1;
	struct walk w = {.f = f};

	w.memory = calloc(2 * nodes + f->ports + 3 * arcs, sizeof(*w.memory));
	*e = (struct euler){.port = calloc(arcs, sizeof(*e->port)),
			    .trail = calloc(nodes, sizeof(*e->trail))};
	if (!w.memory || !e->port || !e->trail) {
		free(w.memory);
		euler_fini(e);
		return -ENOMEM;
	}
	w.virtual = w.memory;
	w.next = w.virtual + nodes;
	w.used = w.next + nodes;
	w.stack = w.used + f->ports;
	w.arc = w.stack + arcs;
	w.circuit = w.arc + arcs;
	e->odd = link_odd(&w);
	for (uint32_t i = 0; i < nodes; i++) {
		w.n = 0;
		walk_circuit(&w, i);
		if (w.n)
			cut_trails(e, w.circuit, w.n);
	}
	free(w.memory);
	return 0;
}

void euler_fini(struct euler *e)
{
	free(e->trail);
	free(e->port);
	*e = (struct euler){0};
}
