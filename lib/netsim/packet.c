/* SPDX-License-Identifier: BSD-2-Clause */
/* packet.c - packets come and go. */
#include <errno.h>

#include "netsim/private.h"

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

void sim_lose(struct netsim *s, uint32_t i, uint64_t *why)
{
	++*why;
	s->ctr.packets_lost += sim_packet(s, i)->kind == OF_TRAFFIC;
	sim_free(s, i);
}
