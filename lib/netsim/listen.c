/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * listen.c - the controller: what last hops export reaches it as frames, as it
 * would from a capture, and its word reaches the switches.
 */
#include <errno.h>
#include <stdlib.h>

#include "label/control.h"
#include "netsim/private.h"

struct listener {
	struct label_control *control;
	struct label_interval_sum sum; /* of the last interval */
	uint64_t look_ns;	       /* of EV_LOOK; 0: there is none */
};

static void on_interval(void *ctx, const struct label_interval_sum *sum)
{
	struct netsim *s = ctx;

	s->listener->sum = *sum;
}

/* A later word overtakes one that is under way: both tell of the same port. */
static void on_decision(void *ctx, const struct label_decision *d)
{
	struct netsim *s = ctx;
	uint32_t port = fabric_find(s->f, d->port->device, d->port->out);

	if (port == FABRIC_NONE)
		return;
	s->ctr.raised += d->port->s > d->from;
	s->ctr.lowered += d->port->s < d->from;
	s->port[port].want_s = d->port->s;
	sim_at(s, s->now_ns + s->o.control_ns, EV_COMMAND, port);
}

/* The prototype's entry for a port is gone when that was not refreshed for so
 * long; the flag, set or set anew then, ten times as long later. */
static void on_silent(void *ctx, const struct label_record *r, bool silent,
		      uint64_t now_ns, uint64_t since_ns)
{
	struct netsim *s = ctx;
	uint32_t port = fabric_find(s->f, r->device, r->out);

	(void)now_ns;
	(void)since_ns;
	if (!silent || port == FABRIC_NONE)
		return;
	s->port[port].flag_ns = s->now_ns + s->o.control_ns +
				10 * s->o.telemetry_ns;
	sim_at(s, s->now_ns + s->o.control_ns, EV_COMMAND, port);
	sim_at(s, s->port[port].flag_ns, EV_COMMAND, port);
}

int listen_open(struct netsim *s)
{
	struct label_control_options o;

	s->listener = calloc(1, sizeof(*s->listener));
	if (!s->listener)
		return -ENOMEM;
	label_control_defaults(&o);
	o.format = s->format;
	o.interval_ns = s->o.telemetry_ns;
	/* Where S is not moved nobody asks for silent ports. */
	o.t_ns = s->o.telemetry_ns;
	if (s->o.adapt) {
		o.t_ns = s->o.policy.interval_us * 1000;
		o.k = s->o.k;
	}
	if (s->o.scheme == NETSIM_FLAG)
		o.k = 1;
	o.pro = s->o.adapt;
	o.s_max = s->o.s_max;
	o.calls = (struct label_control_calls){
		.ctx = s,
		.interval = on_interval,
		.decision = on_decision,
		.silent = s->o.scheme == NETSIM_FLAG ? on_silent : NULL,
	};
	return label_control_open(&s->listener->control, &o);
}

/* Pro moves S when that is due, not when the next labels come. */
static void plan_look(struct netsim *s)
{
	struct listener *l = s->listener;
	uint64_t due = label_control_due(l->control);

	if ((!s->o.adapt && s->o.scheme != NETSIM_FLAG) || s->over ||
	    due == UINT64_MAX)
		return;
	due -= s->o.start_ns;
	if (due < s->now_ns)
		due = s->now_ns;
	if (l->look_ns && l->look_ns <= due)
		return;
	l->look_ns = due;
	sim_at(s, due, EV_LOOK, 0);
}

void listen_look(struct netsim *s)
{
	s->listener->look_ns = 0;
	label_control_tick(s->listener->control, s->o.start_ns + s->now_ns);
	plan_look(s);
}

/* Ports that carry traffic and that the controller has heard of. */
static void hear(struct netsim *s, const struct label_item *item)
{
	uint32_t port = fabric_find(s->f, item->device, item->out);
	struct sim_port *q = &s->port[port];

	s->ctr.reports++;
	if (q->active == s->interval + 1 && q->seen != s->interval + 1) {
		q->seen = (uint32_t)s->interval + 1;
		s->seen++;
	}
}

void listen_take(struct netsim *s, const struct sim_packet *p,
		 const uint8_t *frame, size_t len)
{
	int rc = label_control_frame(s->listener->control, frame, len,
				     s->o.start_ns + s->now_ns);

	if (rc < 0)
		sim_fail(s, rc);
	for (uint32_t l = p->label; l != POOL_NONE; l = sim_label(s, l)->next)
		hear(s, &sim_label(s, l)->item);
	plan_look(s);
}

/* S over the ports that carry traffic. */
static void intervals(const struct netsim *s, struct netsim_interval *out)
{
	uint64_t sum = 0, n = 0;

	for (uint32_t i = 0; i < s->f->switch_ports; i++) {
		const struct sim_port *q = &s->port[i];

		if (q->active != s->interval + 1)
			continue;
		n++;
		sum += q->label.s;
		if (q->label.s > out->s_max)
			out->s_max = q->label.s;
	}
	out->s_mean = n ? (double)sum / (double)n : 0;
}

void listen_tick(struct netsim *s, struct netsim_interval *out)
{
	struct listener *l = s->listener;

	label_control_tick(l->control, s->o.start_ns + s->now_ns);
	out->known = l->sum.ports;
	out->covered = l->sum.covered;
	intervals(s, out);
	plan_look(s);
}

void listen_command(struct netsim *s, uint32_t port)
{
	struct sim_port *q = &s->port[port];
	uint8_t s_before = q->label.s;

	if (s->o.scheme != NETSIM_FLAG) {
		q->label.s = q->want_s;
		return;
	}
	q->label.s = s->now_ns < q->flag_ns ? LABEL_S_MAX : 0;
	s->ctr.raised += q->label.s > s_before;
	s->ctr.lowered += q->label.s < s_before;
}

void listen_close(struct netsim *s)
{
	if (!s->listener)
		return;
	label_control_close(s->listener->control);
	free(s->listener);
}
