/* SPDX-License-Identifier: BSD-2-Clause */
/* source.c - the traffic: along given routes, between pairs of hosts, or of a
 * capture. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "netsim/private.h"

enum {
	ETHERNET = 14,
};

/* What a sender waits: exponential, or the mean and up to three tenths of it
 * more or less. */
static uint64_t gap(struct netsim *s)
{
	double u = rng_unit(&s->traffic);

	if (s->o.arrivals == NETSIM_POISSON)
		return (uint64_t)(-log1p(-u) * s->gap_ns);
	return (uint64_t)((0.7 + 0.6 * u) * s->gap_ns);
}

/* A host puts it on its link. */
static void emit(struct netsim *s, const struct fabric_way *w, uint32_t flow,
		 uint32_t bytes)
{
	uint32_t i = sim_make(s, OF_TRAFFIC, bytes);
	struct sim_packet *p;

	if (i == POOL_NONE)
		return;
	p = sim_packet(s, i);
	p->src = w->src;
	p->dst = w->dst;
	p->flow = flow;
	p->specific = !s->capture && flow < s->o.specific;
	p->len = (uint8_t)w->len;
	memcpy(p->out, w->out, sizeof(p->out));
	sim_send(s, i, s->f->node[w->src].first, POOL_NONE);
}

/* The next way of a sender's host, in turn. */
static uint32_t next_way(struct netsim *s, struct sim_source *from)
{
	do
		from->next = (from->next + 1) % s->f->ways;
	while (s->f->way[from->next].src != from->host);
	return from->next;
}

/* A flow of a fat tree: two hosts and a hash, of its number alone. */
static bool flow_way(const struct netsim *s, uint32_t flow,
		     struct fabric_way *w)
{
	struct rng r = {.state = rng_mix(s->o.seed + 1) + flow};
	uint32_t hosts = fabric_hosts(s->f), src, dst;

	src = (uint32_t)rng_below(&r, hosts);
	dst = (uint32_t)rng_below(&r, hosts - 1);
	dst += dst >= src;
	return fabric_pick(s->f, s->f->switches + src, s->f->switches + dst,
			   rng_u64(&r), w);
}

static void of_model(struct netsim *s, uint32_t i)
{
	struct sim_source *from = &s->source[i];
	struct fabric_way w;
	uint32_t flow;

	s->ctr.packets++;
	if (from->host != POOL_NONE) {
		flow = next_way(s, from);
		emit(s, &s->f->way[flow], flow, s->o.packet);
	} else {
		flow = (uint32_t)rng_below(&s->traffic, s->o.flows);
		if (flow_way(s, flow, &w)) {
			emit(s, &w, flow, s->o.packet);
		} else {
			s->ctr.no_route++;
			s->ctr.packets_lost++;
		}
	}
	sim_at(s, s->now_ns + gap(s), EV_SOURCE, i);
}

/* The next packet of the capture that is a host's; false at its end, or s->err
 * is set. Of labels from elsewhere nobody here could tell the ports. */
static bool look_ahead(struct netsim *s)
{
	bool foreign;
	int rc;

	do {
		rc = traffic_next(s->capture, &s->ahead, &s->fault);
		foreign = rc > 0 && s->ahead.protocol == s->format.protocol;
		s->ctr.foreign += foreign;
	} while (rc == -EINTR || foreign);
	if (rc < 0)
		sim_fail(s, rc);
	return rc > 0;
}

static void later(struct netsim *s)
{
	uint64_t ns = s->ahead.ts_ns > s->capture_ns
			      ? s->ahead.ts_ns - s->capture_ns
			      : 0;

	sim_at(s, ns > s->now_ns ? ns : s->now_ns, EV_SOURCE, 0);
}

static void of_capture(struct netsim *s)
{
	struct fabric_way w;
	uint32_t head = pool_take(&s->heads);

	s->ctr.packets++;
	if (head == POOL_NONE) {
		sim_fail(s, -ENOMEM);
		return;
	}
	*(struct traffic_packet *)pool_get(&s->heads, head) = s->ahead;
	if (fabric_flow(s->f, s->ahead.key, s->ahead.key_len, &w)) {
		emit(s, &w, head, ETHERNET + s->ahead.ip_len);
	} else {
		pool_give(&s->heads, head);
		s->ctr.no_route++;
		s->ctr.packets_lost++;
	}
	if (look_ahead(s))
		later(s);
}

void source_send(struct netsim *s, uint32_t i)
{
	if (s->over)
		return;
	if (s->o.capture)
		of_capture(s);
	else
		of_model(s, i);
}

/* Each host that given ways begin at, so many times. */
static void place_senders(struct netsim *s)
{
	for (uint32_t h = s->f->switches; h < s->f->nodes; h++)
		for (unsigned w = 0; w < s->f->ways; w++)
			if (s->f->way[w].src == h) {
				for (uint32_t i = 0; i < s->o.senders; i++)
					s->source[s->sources++] =
						(struct sim_source){h, i};
				break;
			}
}

static int open_model(struct netsim *s)
{
	uint64_t most = (uint64_t)s->o.senders * (s->f->ways ? s->f->ways : 1);

	s->source = calloc(most, sizeof(*s->source));
	if (!s->source)
		return -ENOMEM;
	if (s->f->ways)
		place_senders(s);
	else
		for (; s->sources < s->o.senders; s->sources++)
			s->source[s->sources].host = POOL_NONE;
	s->gap_ns = s->sources * 1e9 / s->o.rate;
	for (uint32_t i = 0; i < s->sources; i++)
		sim_at(s, (uint64_t)(rng_unit(&s->traffic) * s->gap_ns),
		       EV_SOURCE, i);
	return 0;
}

int source_open(struct netsim *s, struct fault *f)
{
	struct traffic_options t = {.capture = s->o.capture, .ctr = &s->read};
	int rc;

	pool_init(&s->heads, sizeof(struct traffic_packet));
	if (!s->o.capture)
		return open_model(s);
	rc = traffic_open(&s->capture, &t, f);
	if (rc < 0)
		return rc;
	if (look_ahead(s)) {
		s->capture_ns = s->ahead.ts_ns;
		later(s);
	} else if (s->err) {
		*f = s->fault;
	}
	return s->err;
}

void source_close(struct netsim *s)
{
	free(s->source);
	traffic_close(s->capture);
	pool_fini(&s->heads);
}
