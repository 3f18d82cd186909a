/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe.c - the probes of the schemes that INT-label is compared with.
 *
 * HULA (Katta et al., SOSR 2016, section 4.1): each ToR switch sends a probe up
 * each of its links. An aggregation switch copies a probe from below to all
 * other links, one from above to the links below; a core switch to all other
 * links. At a ToR switch a probe ends.
 *
 * INT-path (Pan et al., INFOCOM 2019): a probe along each of the trails that
 * cover every link once, from both ends, as each direction of a link has a port
 * of its own. A probe that is full of labels leaves them at the switch. The
 * bytes of a probe's source route are not counted.
 *
 * Pingmesh (Guo et al., SIGCOMM 2015, section 3.3): each host pings all others
 * of its rack and, in every other rack, the host that has its own index there;
 * they answer.
 *
 * Each generator's first probe is at a random time of the first interval.
 */
#include <errno.h>
#include <string.h>

#include "sim/netsim_private.h"

enum {
	PROBE_BYTES = 64,  /* without labels: the shortest frame */
	PROBE_LABELS = 40, /* so many fit the usual MTU */
};

struct probes {
	struct euler plan;
	uint32_t senders; /* EV_PROBE has a sender's number */
	uint32_t *pings;  /* that each host has sent */
};

/* A new probe of a node; SIM_NONE: no memory. */
static uint32_t make_probe(struct netsim *s, enum packet_kind kind,
			   uint32_t node)
{
	uint32_t i = sim_new_packet(s, kind, PROBE_BYTES);
	struct sim_packet *p;

	if (i == SIM_NONE)
		return i;
	s->ctr.probes++;
	p = sim_packet(s, i);
	p->src = p->dst = node;
	p->specific = true; /* not limited to MAX_hop labels */
	return i;
}

static void end_probe(struct netsim *s, uint32_t i)
{
	s->ctr.ended++;
	if (sim_packet(s, i)->labels)
		sim_export_labels(s, i, s->now_ns);
	sim_free_packet(s, i);
}

/* Copies a probe with its labels; SIM_NONE: no memory. */
static uint32_t copy_probe(struct netsim *s, uint32_t i)
{
	uint32_t c = sim_new_packet(s, PACKET_FLOOD, PROBE_BYTES);
	struct sim_packet *p, *copy;
	size_t len;

	if (c == SIM_NONE)
		return c;
	s->ctr.copies++;
	p = sim_packet(s, i);
	copy = sim_packet(s, c);
	*copy = *p;
	len = p->labels * sizeof(*p->item);
	copy->item = len ? malloc(len) : NULL;
	if (copy->item) {
		memcpy(copy->item, p->item, len);
	} else if (len) {
		sim_fail(s, -ENOMEM);
		return SIM_NONE;
	}
	return c;
}

/* Whether a port leads to a switch of a higher tier (up), or of a lower one. */
static bool leads_to_switch(const struct netsim *s, uint32_t port, bool up)
{
	uint32_t peer = s->f->port[port].peer;
	unsigned here = s->f->node[s->f->port[port].node].tier, there;

	if (peer == FABRIC_NONE)
		return false;
	there = s->f->node[s->f->port[peer].node].tier;
	return there != FABRIC_HOST && (there > here) == up;
}

static void flood_probe(struct netsim *s, uint32_t i, uint32_t in)
{
	const struct fabric_node *n = &s->f->node[s->f->port[in].node];

	for (uint32_t q = n->first_port; q < n->first_port + n->ports; q++) {
		uint32_t c;

		if (q == in || (!leads_to_switch(s, q, false) &&
				!(leads_to_switch(s, in, false) &&
				  leads_to_switch(s, q, true))))
			continue;
		c = copy_probe(s, i);
		if (c == SIM_NONE)
			return;
		sim_send(s, c, q, in);
	}
	s->ctr.ended++;
	sim_free_packet(s, i);
}

static void send_up(struct netsim *s, uint32_t node)
{
	const struct fabric_node *n = &s->f->node[node];

	for (uint32_t q = n->first_port; q < n->first_port + n->ports; q++) {
		uint32_t i;

		if (!leads_to_switch(s, q, true))
			continue;
		i = make_probe(s, PACKET_FLOOD, node);
		if (i != SIM_NONE)
			sim_send(s, i, q, SIM_NONE);
	}
}

/* The egress port of a probe's next hop along its trail. */
static uint32_t trail_port(const struct netsim *s, const struct sim_packet *p)
{
	const struct euler *e = &s->probes->plan;
	const struct euler_trail *t = &e->trail[p->flow / 2];

	if (p->flow % 2 == 0)
		return e->port[t->first + p->hop];
	return s->f->port[e->port[t->first + t->len - 1 - p->hop]].peer;
}

static void walk_trail(struct netsim *s, uint32_t i, uint32_t in)
{
	struct sim_packet *p = sim_packet(s, i);
	uint32_t port;

	if (p->hop >= s->probes->plan.trail[p->flow / 2].len) {
		end_probe(s, i);
		return;
	}
	if (p->labels >= PROBE_LABELS)
		sim_export_labels(s, i, s->now_ns);
	p = sim_packet(s, i); /* it may have moved */
	port = trail_port(s, p);
	p->hop++;
	sim_send(s, i, port, in);
}

static void send_along_trail(struct netsim *s, uint32_t flow)
{
	uint32_t i = make_probe(s, PACKET_TRAIL, 0);
	struct sim_packet *p;

	if (i == SIM_NONE)
		return;
	p = sim_packet(s, i);
	p->flow = flow;
	p->src = p->dst = s->f->port[trail_port(s, p)].node;
	walk_trail(s, i, SIM_NONE);
}

static void send_ping(struct netsim *s, uint32_t src, uint32_t dst, bool answer)
{
	struct fabric_route route;
	uint32_t i;
	struct sim_packet *p;

	fabric_pick_route(s->f, src, dst, rng_u64(&s->chance), &route);
	i = make_probe(s, PACKET_PING, src);
	if (i == SIM_NONE)
		return;
	p = sim_packet(s, i);
	p->dst = dst;
	p->answer = answer;
	p->len = (uint8_t)route.len;
	memcpy(p->out, route.out, sizeof(p->out));
	sim_send(s, i, s->f->node[src].first_port, SIM_NONE);
}

/* How many others each host pings. */
static uint32_t pinged_hosts(const struct netsim *s)
{
	return s->f->arity / 2 - 1 + s->f->topo.edges - 1;
}

/* A host pings the next of the others: first those of its rack. */
static void ping_next(struct netsim *s, uint32_t host)
{
	uint32_t half = s->f->arity / 2; /* hosts of a rack */
	uint32_t rack = host / half, in_rack = host % half, to;
	uint32_t ping = s->probes->pings[host]++ % pinged_hosts(s);

	if (ping < half - 1) {
		to = ping + (ping >= in_rack); /* not itself */
		to += rack * half;
	} else {
		ping -= half - 1;
		to = (ping + (ping >= rack)) * half + in_rack;
	}
	send_ping(s, s->f->switches + host, s->f->switches + to, false);
}

static void answer_ping(struct netsim *s, uint32_t i)
{
	const struct sim_packet *p = sim_packet(s, i);
	uint32_t src = p->src, dst = p->dst;
	bool answer = p->answer;

	end_probe(s, i);
	if (!answer && !s->over)
		send_ping(s, dst, src, true);
}

void probe_arrive(struct netsim *s, uint32_t i, uint32_t in)
{
	const struct sim_packet *p = sim_packet(s, i);
	const struct fabric_node *n = &s->f->node[s->f->port[in].node];

	if (p->kind == PACKET_TRAIL)
		walk_trail(s, i, in);
	else if (p->kind == PACKET_FLOOD && n->tier == FABRIC_EDGE)
		end_probe(s, i);
	else if (p->kind == PACKET_FLOOD)
		flood_probe(s, i, in);
	else
		answer_ping(s, i);
}

void probe_send(struct netsim *s, uint32_t i)
{
	uint64_t gap = s->o.probe_ns;

	if (s->over)
		return;
	if (s->o.scheme == NETSIM_HULA) {
		for (uint32_t n = 0, tor = 0; n < s->f->switches; n++)
			if (s->f->node[n].tier == FABRIC_EDGE && tor++ == i)
				send_up(s, n);
	} else if (s->o.scheme == NETSIM_INT_PATH) {
		send_along_trail(s, i);
	} else {
		ping_next(s, i);
		gap /= pinged_hosts(s);
	}
	sim_schedule(s, s->now_ns + (gap ? gap : 1), EV_PROBE, i);
}

static int open_scheme(struct netsim *s)
{
	struct probes *p = s->probes;
	int rc;

	switch (s->o.scheme) {
	case NETSIM_HULA:
		for (uint32_t i = 0; i < s->f->switches; i++)
			p->senders += s->f->node[i].tier == FABRIC_EDGE;
		s->generators = p->senders;
		return 0;
	case NETSIM_INT_PATH:
		rc = euler_plan(&p->plan, s->f);
		p->senders = 2 * p->plan.trails;
		s->generators = p->plan.odd ? p->plan.odd : p->plan.trails;
		return rc;
	case NETSIM_PINGMESH:
		p->senders = s->generators = fabric_hosts(s->f);
		p->pings = calloc(p->senders, sizeof(*p->pings));
		return p->pings ? 0 : -ENOMEM;
	default:
		return 0;
	}
}

int probe_open(struct netsim *s)
{
	int rc;

	s->probes = calloc(1, sizeof(*s->probes));
	if (!s->probes)
		return -ENOMEM;
	rc = open_scheme(s);
	for (uint32_t i = 0; rc == 0 && i < s->probes->senders; i++)
		sim_schedule(s, rng_below(&s->chance, s->o.probe_ns), EV_PROBE,
			     i);
	return rc;
}

void probe_close(struct netsim *s)
{
	if (!s->probes)
		return;
	euler_fini(&s->probes->plan);
	free(s->probes->pings);
	free(s->probes);
}
