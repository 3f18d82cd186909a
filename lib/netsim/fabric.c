/* SPDX-License-Identifier: BSD-2-Clause */
#include "netsim/fabric.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what networks are built with ----------------------------------------- */

/* Room for that many; 0 or -ENOMEM, with nothing held. */
static int room(struct fabric *f, uint32_t nodes, uint32_t ports)
{
	f->node = calloc(nodes, sizeof(*f->node));
	f->port = calloc(ports, sizeof(*f->port));
	if (!f->node || !f->port) {
		fabric_fini(f);
		return -ENOMEM;
	}
	return 0;
}

/* One more node; all switches before all hosts. */
static struct fabric_node *add_node(struct fabric *f, enum fabric_tier tier,
				    uint32_t id, unsigned ports, unsigned base)
{
	struct fabric_node *n = &f->node[f->nodes++];

	*n = (struct fabric_node){
		.id = id,
		.first = f->ports,
		.ports = (uint16_t)ports,
		.base = (uint16_t)base,
		.tier = (uint8_t)tier,
	};
	for (unsigned i = 0; i < ports; i++)
		f->port[f->ports++] = (struct fabric_port){
			(uint32_t)(n - f->node), FABRIC_NONE};
	if (tier != FABRIC_HOST) {
		f->switches = f->nodes;
		f->switch_ports = f->ports;
	}
	return n;
}

/* A link, by nodes and places of their ports. */
static void join(struct fabric *f, uint32_t a, unsigned a_port, uint32_t b,
		 unsigned b_port)
{
	uint32_t i = f->node[a].first + a_port, j = f->node[b].first + b_port;

	f->port[i].peer = j;
	f->port[j].peer = i;
}

void fabric_fini(struct fabric *f)
{
	free(f->node);
	free(f->port);
	free(f->way);
	*f = (struct fabric){0};
}

uint32_t fabric_find(const struct fabric *f, uint32_t id, uint32_t number)
{
	uint32_t node = id - f->node[0].id; /* ids are in a row */
	const struct fabric_node *n = &f->node[node];

	if (node >= f->switches || number < n->base ||
	    number - n->base >= n->ports)
		return FABRIC_NONE;
	return n->first + number - n->base;
}

/* Takes the next "ID-PORT", the node that the way has come to being at. */
static int step(const struct fabric *f, struct fabric_way *w, uint32_t *at,
		const char **text)
{
	unsigned id, number;
	uint32_t port;
	int used;

	if (sscanf(*text, " %u-%u%n", &id, &number, &used) != 2)
		return -EINVAL;
	port = fabric_find(f, id, number);
	if (port == FABRIC_NONE || f->port[port].node != *at ||
	    f->port[port].peer == FABRIC_NONE || w->len == FABRIC_HOPS)
		return -EINVAL;
	w->out[w->len++] = (uint8_t)(port - f->node[*at].first);
	*at = f->port[f->port[port].peer].node;
	*text += used;
	return 0;
}

int fabric_add_way(struct fabric *f, const char *text)
{
	struct fabric_way w = {0}, *more;
	const char *rest = text;
	unsigned host;
	uint32_t at;
	int used;

	if (sscanf(text, "%u%n", &host, &used) != 1 || !host ||
	    host > fabric_hosts(f))
		return -EINVAL;
	rest += used;
	w.src = f->switches + host - 1;
	at = f->port[f->port[f->node[w.src].first].peer].node;
	while (rest[strspn(rest, " \t")])
		if (step(f, &w, &at, &rest) < 0)
			return -EINVAL;
	if (f->node[at].tier != FABRIC_HOST)
		return -EINVAL;
	w.dst = at;
	more = realloc(f->way, (f->ways + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	f->way = more;
	f->way[f->ways++] = w;
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

/* From the first and the last host to all others. */
static const char *const paper_ways[] = {
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

static void paper_nodes(struct fabric *f)
{
	static const uint8_t tier[] = {FABRIC_CORE, FABRIC_AGGREGATION,
				       FABRIC_EDGE};

	for (unsigned i = 0; i < SPINES + LEAVES + TORS; i++)
		add_node(f, tier[i / 4], i, i < SPINES ? 2 : 4, 1);
	for (unsigned i = 0; i < HOSTS; i++) {
		struct fabric_node *n = add_node(f, FABRIC_HOST, i, 1, 0);
		const uint8_t ip[] = {10, (uint8_t)(1 + i / 4),
				      (uint8_t)(1 + i / 2 % 2),
				      (uint8_t)(1 + i % 2)};

		memcpy(n->ip, ip, sizeof(ip));
	}
}

/* Leaf l of a pod and all spines of set l; all leaves and ToRs of a pod. */
static void paper_links(struct fabric *f)
{
	for (unsigned pod = 0; pod < 2; pod++) {
		for (unsigned l = 0; l < 2; l++) {
			unsigned leaf = SPINES + 2 * pod + l;

			for (unsigned i = 0; i < 2; i++) {
				unsigned tor = SPINES + LEAVES + 2 * pod + i;

				join(f, leaf, i, 2 * l + i, pod);
				join(f, leaf, 2 + i, tor, l);
			}
		}
	}
	for (unsigned i = 0; i < HOSTS; i++)
		join(f, SPINES + LEAVES + TORS + i, 0, SPINES + LEAVES + i / 2,
		     2 + i % 2);
}

int fabric_paper(struct fabric *f)
{
	int rc;

	*f = (struct fabric){0};
	rc = room(f, SPINES + LEAVES + TORS + HOSTS, PORTS);
	if (rc < 0)
		return rc;
	paper_nodes(f);
	paper_links(f);
	for (unsigned i = 0;
	     rc == 0 && i < sizeof(paper_ways) / sizeof(paper_ways[0]); i++)
		rc = fabric_add_way(f, paper_ways[i]);
	if (rc < 0)
		fabric_fini(f);
	return rc;
}

/* --- the k-ary fat tree: numbering as in traffic/topo.h ------------------- */

static void tree_nodes(struct fabric *f, unsigned k)
{
	unsigned half = k / 2, pods = k * half;

	for (unsigned i = 0; i < f->topo.switches; i++)
		add_node(f,
			 i < pods	? FABRIC_EDGE
			 : i < 2 * pods ? FABRIC_AGGREGATION
					: FABRIC_CORE,
			 1 + i, k, 0);
	for (unsigned i = 0; i < pods * half; i++) {
		struct fabric_node *n = add_node(f, FABRIC_HOST, i, 1, 0);

		/* 10.pod.switch.host, hosts from 2, as Al-Fares et al. */
		n->ip[0] = 10;
		n->ip[1] = (uint8_t)(i / half / half);
		n->ip[2] = (uint8_t)(i / half % half);
		n->ip[3] = (uint8_t)(2 + i % half);
	}
}

static void tree_links(struct fabric *f, unsigned k)
{
	unsigned half = k / 2, edges = k * half;

	for (unsigned i = 0; i < edges; i++) {
		unsigned pod = i / half, place = i % half;

		for (unsigned j = 0; j < half; j++) {
			/* edge switch i; aggregation switch i */
			join(f, i, j, f->switches + i * half + j, 0);
			join(f, i, half + j, edges + pod * half + j, place);
			join(f, edges + i, half + j,
			     2 * edges + place * half + j, pod);
		}
	}
}

int fabric_tree(struct fabric *f, unsigned k)
{
	unsigned half = k / 2, hosts = k * half * half;
	int rc;

	*f = (struct fabric){.arity = k};
	topo_fat_tree(&f->topo, k, 0);
	rc = room(f, f->topo.switches + hosts, f->topo.switches * k + hosts);
	if (rc < 0)
		return rc;
	tree_nodes(f, k);
	tree_links(f, k);
	return 0;
}

static void hop(struct fabric_way *w, unsigned out)
{
	w->out[w->len++] = (uint8_t)out;
}

/* Through aggregation switch agg of each pod and its core switch core. */
static void lay(struct fabric_way *w, unsigned half, uint32_t src, uint32_t dst,
		unsigned agg, unsigned core)
{
	uint32_t from = src / half, to = dst / half; /* edge switches */

	w->len = 0;
	if (from != to) {
		hop(w, half + agg);
		if (from / half != to / half) {
			hop(w, half + core);
			hop(w, to / half);
		}
		hop(w, to % half);
	}
	hop(w, dst % half);
}

void fabric_pick(const struct fabric *f, uint32_t src, uint32_t dst,
		 uint64_t hash, struct fabric_way *out)
{
	unsigned half = f->arity / 2, ways = half * half;
	unsigned way = (unsigned)(((hash & UINT32_MAX) * ways) >> 32);

	out->src = src;
	out->dst = dst;
	lay(out, half, src - f->switches, dst - f->switches, way % half,
	    way / half);
}
