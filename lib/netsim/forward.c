/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * forward.c - packets through queues and links. A packet has one event under
 * way at a time, its arrival at the other end of a link, and stays in the list
 * of the port's queue until that has forgotten it.
 */
#include <errno.h>

#include "netsim/private.h"

static const uint64_t SECOND = 1000000000;

void sim_fail(struct netsim *s, int err)
{
	if (!s->err)
		s->err = err;
}

uint32_t sim_make(struct netsim *s, enum packet_kind kind, uint32_t bytes)
{
	uint32_t i = pool_take(&s->packets);

	if (i == POOL_NONE || i > EV_MASK) {
		sim_fail(s, -ENOMEM);
		return POOL_NONE;
	}
	*sim_packet(s, i) = (struct sim_packet){
		.port = POOL_NONE,
		.label = POOL_NONE,
		.bytes = bytes,
		.kind = (uint8_t)kind,
		.flow = POOL_NONE,
	};
	return i;
}

void sim_free(struct netsim *s, uint32_t i)
{
	struct sim_packet *p = sim_packet(s, i);
	uint32_t label = p->label;

	while (label != POOL_NONE) {
		uint32_t next = sim_label(s, label)->next;

		pool_give(&s->labels, label);
		label = next;
	}
	if (s->capture && p->flow != POOL_NONE && p->kind == OF_TRAFFIC)
		pool_give(&s->heads, p->flow);
	pool_give(&s->packets, i);
}

/* One that does not arrive. */
static void gone(struct netsim *s, uint32_t i, uint64_t *why)
{
	++*why;
	s->ctr.packets_lost += sim_packet(s, i)->kind == OF_TRAFFIC;
	sim_free(s, i);
}

void sim_unroutable(struct netsim *s, uint32_t i)
{
	gone(s, i, &s->ctr.no_route);
}

/* The port forgets those that have left. */
static void let_go(struct netsim *s, struct sim_port *q)
{
	while (q->depth) {
		const struct sim_packet *p = sim_packet(s, q->head);

		if (p->leave_ns > s->now_ns)
			return;
		q->head = p->next;
		q->depth--;
	}
}

static void enqueue(struct netsim *s, struct sim_port *q, uint32_t i)
{
	if (q->depth++)
		sim_packet(s, q->tail)->next = i;
	else
		q->head = i;
	q->tail = i;
}

/* How long the port is busy with so many bytes: the link's time, or that of
 * what forwards packets, whatever their length. */
static uint64_t busy_ns(const struct netsim *s, uint32_t bytes)
{
	uint64_t link = bytes * 8 * SECOND / s->o.link_bps;
	uint64_t packet = s->o.port_pps ? SECOND / s->o.port_pps : 0;

	return (link > packet ? link : packet) + 1;
}

static void count(struct netsim *s, const struct sim_packet *p, uint32_t port)
{
	uint32_t bytes = sim_bytes(p);
	struct sim_port *q = &s->port[port];

	s->ctr.link_bytes += bytes;
	if (p->kind == OF_TRAFFIC)
		s->ctr.label_bytes += bytes - p->bytes;
	else
		s->ctr.probe_bytes += bytes;
	if (p->kind == OF_TRAFFIC && port < s->f->switch_ports &&
	    q->active != s->interval + 1) {
		q->active = (uint32_t)s->interval + 1;
		s->active++;
	}
}

/* The last switch takes the labels off. */
static bool takes_off(const struct netsim *s, const struct sim_packet *p,
		      uint32_t port)
{
	return p->labels && p->kind == OF_TRAFFIC && fabric_last(s->f, port);
}

static bool lost(struct netsim *s, const struct sim_port *q)
{
	return q->loss > 0 && rng_unit(&s->chance) < q->loss;
}

void sim_send(struct netsim *s, uint32_t i, uint32_t port, uint32_t in)
{
	struct sim_port *q = &s->port[port];
	struct sim_packet *p = sim_packet(s, i);
	uint64_t start;

	let_go(s, q);
	if (q->depth >= s->o.queue && port < s->f->switch_ports) {
		gone(s, i, &s->ctr.queue_full);
		return;
	}
	start = q->free_ns > s->now_ns ? q->free_ns : s->now_ns;
	if (port < s->f->switch_ports) {
		carry_label(s, p, port, in, start);
		if (takes_off(s, p, port)) {
			carry_export(s, i, start);
			p = sim_packet(s, i); /* the pool may have moved */
		}
	}
	count(s, p, port);
	p->port = port;
	p->lost = lost(s, q);
	p->leave_ns = start + busy_ns(s, sim_bytes(p));
	q->free_ns = p->leave_ns;
	enqueue(s, q, i);
	sim_at(s, p->leave_ns + s->o.delay_ns, EV_ARRIVE, i);
}

static void deliver(struct netsim *s, uint32_t i)
{
	s->ctr.delivered++;
	sim_free(s, i);
}

void sim_arrive(struct netsim *s, uint32_t i)
{
	struct sim_packet *p = sim_packet(s, i);
	uint32_t in = s->f->port[p->port].peer, node = s->f->port[in].node;
	const struct fabric_node *n = &s->f->node[node];

	let_go(s, &s->port[p->port]);
	if (s->port[p->port].down || s->port[in].down)
		gone(s, i, &s->ctr.down);
	else if (p->lost)
		gone(s, i, &s->ctr.lost);
	else if (p->kind != OF_TRAFFIC)
		probe_arrive(s, i, in);
	else if (n->tier == FABRIC_HOST)
		deliver(s, i);
	else if (p->hop >= p->len)
		sim_unroutable(s, i);
	else
		sim_send(s, i, n->first + p->out[p->hop++], in);
}
