/* SPDX-License-Identifier: BSD-2-Clause */
/* carry.c - labels on packets: a switch writes them, the last one takes them
 * off, and the controller gets them. */
#include <errno.h>

#include "netsim/private.h"

enum {
	EXPORT_MAX = 2048, /* bytes of a frame made of an export */
};

/*
 * A packet is sampled at the ingress (NETSIM_INT) when the port by which it
 * came has not sampled one for the interval.
 */
static bool sampled(struct netsim *s, const struct sim_packet *p, uint32_t in,
		    uint64_t now_us)
{
	struct sim_port *q;

	if (p->hop != 1 || in == POOL_NONE)
		return false;
	q = &s->port[in];
	if (!label_decide(&s->o.policy, &q->sampled, 0, false, now_us,
			  &s->labelling))
		return false;
	label_wrote(&q->sampled, now_us);
	return true;
}

static bool decide(struct netsim *s, struct sim_packet *p,
		   const struct sim_port *q, uint32_t in, uint64_t now_us)
{
	switch (s->o.scheme) {
	case NETSIM_LABEL:
	case NETSIM_FLAG:
		return label_decide(&s->o.policy, &q->label, p->labels,
				    p->specific, now_us, &s->labelling);
	case NETSIM_INT:
		if (!p->specific && sampled(s, p, in, now_us))
			p->specific = true;
		return p->specific;
	default:
		return false;
	}
}

/* Whether there is room; bytes less the Ethernet header are the IP packet. */
static bool fits(struct netsim *s, const struct sim_packet *p)
{
	uint32_t more = p->labels ? LABEL_ITEM_LEN : LABEL_GROWTH;

	if (!p->specific && p->labels >= s->format.max_hop) {
		s->ctr.full++;
		return false;
	}
	if (s->o.mtu && sim_bytes(p) - 14 + more > s->o.mtu) {
		s->ctr.too_long++;
		return false;
	}
	return true;
}

/* Through port, at ns; it came by in. */
static void write_label(struct netsim *s, struct sim_packet *p, uint32_t port,
			uint32_t in, uint64_t ns)
{
	struct sim_port *q = &s->port[port];
	uint32_t i = pool_take(&s->labels);
	uint64_t wait = ns - s->now_ns;
	struct sim_label *l;

	if (i == POOL_NONE) {
		sim_fail(s, -ENOMEM);
		return;
	}
	l = sim_label(s, i);
	l->next = p->label;
	l->item = (struct label_item){
		.device = s->f->node[s->f->port[port].node].id,
		.in = in == POOL_NONE ? 0 : fabric_number(s->f, in),
		.out = fabric_number(s->f, port),
		.time_us = (ns / 1000) & LABEL_TIME_MASK,
		.latency_ns = wait < UINT32_MAX ? (uint32_t)wait : UINT32_MAX,
		.queue = q->depth,
		.number = label_wrote(&q->label, ns / 1000),
	};
	p->label = i;
	p->labels++;
	s->ctr.labels++;
}

void carry_label(struct netsim *s, struct sim_packet *p, uint32_t port,
		 uint32_t in, uint64_t ns)
{
	bool wants = p->kind == OF_TRAFFIC
			     ? decide(s, p, &s->port[port], in, ns / 1000)
			     : p->kind != OF_PING;

	if (wants && fits(s, p))
		write_label(s, p, port, in, ns);
}

void carry_export(struct netsim *s, uint32_t i, uint64_t ns)
{
	struct sim_packet *p = sim_packet(s, i), *copy;
	uint32_t c = sim_make(s, p->kind, p->bytes);

	if (c == POOL_NONE)
		return;
	p = sim_packet(s, i);
	copy = sim_packet(s, c);
	*copy = *p;
	if (s->capture && p->kind == OF_TRAFFIC) {
		copy->flow = pool_take(&s->heads);
		if (copy->flow == POOL_NONE) {
			sim_fail(s, -ENOMEM);
			return;
		}
		*(struct traffic_packet *)pool_get(&s->heads, copy->flow) = *(
			struct traffic_packet *)pool_get(&s->heads, p->flow);
	}
	p->label = POOL_NONE;
	p->labels = 0;
	s->ctr.items += copy->labels;
	if (p->kind == OF_TRAFFIC) {
		s->ctr.labelled++;
		s->carried[copy->labels < NETSIM_CARRIED
				   ? copy->labels
				   : NETSIM_CARRIED - 1]++;
	}
	sim_at(s, ns + s->o.control_ns, EV_EXPORT, c);
}

void carry_arrived(struct netsim *s, uint32_t i)
{
	const struct sim_packet *p = sim_packet(s, i);
	uint8_t frame[EXPORT_MAX];
	size_t len = s->over ? 0 : frame_export(s, p, frame, sizeof(frame));

	if (len && s->calls.export)
		s->calls.export(s->calls.ctx, s->o.start_ns + s->now_ns, frame,
				len);
	if (len)
		listen_take(s, p, frame, len);
	sim_free(s, i);
}
