/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * forward.c - packets into queues and onto links. A packet has one event under
 * way at a time, its arrival at the other end of a link, and stays in the list
 * of the port's queue until that has let it go.
 */
#include "netsim/private.h"

static const uint64_t SECOND = 1000000000;

void sim_let_go(struct netsim *s, struct sim_port *q)
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
 * what forwards packets in a switch, whatever their length. */
static uint64_t busy_ns(struct netsim *s, uint32_t port, uint32_t bytes)
{
	uint64_t link = bytes * 8 * SECOND / s->o.link_bps, packet = 0;

	if (s->o.port_pps && port < s->f->switch_ports)
		packet = (uint64_t)((double)SECOND / (double)s->o.port_pps);
	if (packet && s->o.port_jitter > 0)
		packet = (uint64_t)((double)packet *
				    (1 +
				     s->o.port_jitter *
					     (2 * rng_unit(&s->chance) - 1)));
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

	sim_let_go(s, q);
	if (q->depth >= s->o.queue && port < s->f->switch_ports) {
		sim_lose(s, i, &s->ctr.queue_full);
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
	p->leave_ns = start + busy_ns(s, port, sim_bytes(p));
	q->free_ns = p->leave_ns;
	enqueue(s, q, i);
	sim_at(s, p->leave_ns + s->o.delay_ns, EV_ARRIVE, i);
}
