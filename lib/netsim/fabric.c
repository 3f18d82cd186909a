/* SPDX-License-Identifier: BSD-2-Clause */
#include "netsim/fabric.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "netsim/fabric_private.h"

int fabric_room(struct fabric *f, uint32_t nodes, uint32_t ports)
{
	f->node = calloc(nodes, sizeof(*f->node));
	f->port = calloc(ports, sizeof(*f->port));
	f->down = calloc(ports, sizeof(*f->down));
	if (!f->node || !f->port || !f->down) {
		fabric_fini(f);
		return -ENOMEM;
	}
	return 0;
}

struct fabric_node *fabric_node(struct fabric *f, enum fabric_tier tier,
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

void fabric_join(struct fabric *f, uint32_t a, unsigned a_port, uint32_t b,
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
	free(f->down);
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

static int no_way(struct fault *why, const char *text, const char *reason)
{
	return fault_set(why, -EINVAL, "route '%s': %s", text, reason);
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

int fabric_add_way(struct fabric *f, const char *text, struct fault *why)
{
	struct fabric_way w = {0}, *more;
	const char *rest = text;
	unsigned host;
	uint32_t at;
	int used;

	if (sscanf(text, "%u%n", &host, &used) != 1 || !host ||
	    host > fabric_hosts(f))
		return no_way(why, text, "no such host");
	rest += used;
	w.src = f->switches + host - 1;
	at = f->port[f->port[f->node[w.src].first].peer].node;
	while (rest[strspn(rest, " \t")])
		if (step(f, &w, &at, &rest) < 0)
			return no_way(why, text, "a hop that is not there");
	if (f->node[at].tier != FABRIC_HOST)
		return no_way(why, text, "does not end at a host");
	w.dst = at;
	more = realloc(f->way, (f->ways + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	f->way = more;
	f->way[f->ways++] = w;
	return 0;
}
