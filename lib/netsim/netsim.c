/* SPDX-License-Identifier: BSD-2-Clause */
#include "netsim/netsim.h"

#include <errno.h>
#include <stdlib.h>

#include "netsim/private.h"

enum {
	STOP_EVERY = 1 << 16, /* events between two questions */
};

const char *const netsim_scheme_names[] = {"label", "label-flag", "int",
					   "hula",  "int-path",	  "pingmesh",
					   "none",  NULL};

/* clang-format off */
#define FIELD(counter, role) LEDGER_FIELD(struct netsim_counters, counter, role)
static const struct ledger_field fields[] = {
	FIELD(packets, LEDGER_IN),
	FIELD(probes, LEDGER_IN),
	FIELD(copies, LEDGER_IN),
	FIELD(delivered, LEDGER_DONE),
	FIELD(ended, LEDGER_DONE),
	FIELD(queue_full, LEDGER_LOSS),
	FIELD(lost, LEDGER_LOSS),
	FIELD(down, LEDGER_LOSS),
	FIELD(no_route, LEDGER_LOSS),
	FIELD(packets_lost, LEDGER_NOTE),
	FIELD(labels, LEDGER_NOTE),
	FIELD(too_long, LEDGER_NOTE),
	FIELD(full, LEDGER_NOTE),
	FIELD(foreign, LEDGER_NOTE),
	FIELD(labelled, LEDGER_NOTE),
	FIELD(items, LEDGER_NOTE),
	FIELD(reports, LEDGER_NOTE),
	FIELD(link_bytes, LEDGER_NOTE),
	FIELD(label_bytes, LEDGER_NOTE),
	FIELD(probe_bytes, LEDGER_NOTE),
	FIELD(raised, LEDGER_NOTE),
	FIELD(lowered, LEDGER_NOTE),
};
#undef FIELD
LEDGER_COMPLETE(fields, struct netsim_counters);
/* clang-format on */

const struct ledger netsim_ledger = {"simulated", "packets", fields,
				     sizeof(fields) / sizeof(fields[0])};

static void set_loss(struct netsim *s)
{
	for (uint32_t i = 0; i < s->f->switch_ports; i++)
		if (!fabric_last(s->f, i))
			s->port[i].loss = s->o.loss;
	for (unsigned i = 0; i < s->o.n_losses; i++)
		s->port[s->o.losses[i].port].loss = s->o.losses[i].share;
}

static void set_failures(struct netsim *s)
{
	for (unsigned i = 0; i < s->o.n_failures; i++) {
		const struct netsim_failure *x = &s->o.failures[i];

		sim_at(s, x->down_ns, EV_LINK, 2 * i);
		sim_at(s, x->down_ns + s->o.reroute_ns, EV_ROUTE, 2 * i);
		if (!x->up_ns)
			continue;
		sim_at(s, x->up_ns, EV_LINK, 2 * i + 1);
		sim_at(s, x->up_ns + s->o.reroute_ns, EV_ROUTE, 2 * i + 1);
	}
}

/* Both ends of a link; odd numbers are recoveries. */
static void link_event(struct netsim *s, uint32_t i)
{
	uint32_t port = s->o.failures[i / 2].port;
	uint32_t peer = s->f->port[port].peer;

	s->port[port].down = !(i & 1);
	if (peer != FABRIC_NONE)
		s->port[peer].down = !(i & 1);
}

static void route_event(struct netsim *s, uint32_t i)
{
	s->f->down[s->o.failures[i / 2].port] = !(i & 1);
}

static int open_parts(struct netsim *s, struct fault *f)
{
	int rc;

	s->port = calloc(s->f->ports, sizeof(*s->port));
	if (!s->port)
		return -ENOMEM;
	set_loss(s);
	set_failures(s);
	if ((rc = listen_open(s)) < 0 || (rc = source_open(s, f)) < 0 ||
	    (rc = probe_open(s, f)) < 0)
		return rc;
	s->tick_ns = s->o.telemetry_ns;
	sim_at(s, s->tick_ns, EV_TICK, 0);
	sim_at(s, s->o.duration_ns, EV_END, 0);
	return s->events.err;
}

int netsim_open(struct netsim **out, const struct netsim_options *o,
		const struct netsim_calls *calls, struct fault *f)
{
	struct netsim *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return -ENOMEM;
	s->o = *o;
	s->calls = *calls;
	s->f = o->fabric;
	s->format = label_format_default;
	s->format.max_hop = o->policy.max_hop;
	/* Streams apart, so that the traffic is the same under any policy. */
	s->traffic.state = rng_mix(3 * o->seed + 1);
	s->chance.state = rng_mix(3 * o->seed + 2);
	s->labelling.state = rng_mix(3 * o->seed + 3);
	pool_init(&s->packets, sizeof(struct sim_packet));
	pool_init(&s->labels, sizeof(struct sim_label));
	rc = open_parts(s, f);
	if (rc < 0) {
		netsim_close(s);
		return rc == -ENOMEM ? fault_set(f, rc, "out of memory") : rc;
	}
	*out = s;
	return 0;
}

/* What has happened since before; before is now. */
static struct netsim_counters since(struct netsim *s)
{
	const uint64_t *now = (const uint64_t *)&s->ctr;
	uint64_t *before = (uint64_t *)&s->before;
	struct netsim_counters out = {0};
	uint64_t *diff = (uint64_t *)&out;

	for (unsigned i = 0; i < sizeof(out) / sizeof(*diff); i++) {
		diff[i] = now[i] - before[i];
		before[i] = now[i];
	}
	return out;
}

static void tick(struct netsim *s)
{
	struct netsim_interval v = {
		.number = s->interval,
		.end_ns = s->now_ns,
		.active = s->active,
		.seen = s->seen,
		.generators = probe_generators(s),
	};

	listen_tick(s, &v);
	v.ctr = since(s);
	for (unsigned i = 1; i < NETSIM_CARRIED; i++) {
		v.carried[i] = s->carried[i] - s->carried_before[i];
		s->carried_before[i] = s->carried[i];
	}
	v.carried[0] = v.ctr.delivered > v.ctr.labelled
			       ? v.ctr.delivered - v.ctr.labelled
			       : 0;
	s->interval++;
	s->active = s->seen = 0;
	s->calls.interval(s->calls.ctx, &v);
	s->tick_ns = s->now_ns + s->o.telemetry_ns;
	sim_at(s, s->tick_ns, EV_TICK, 0);
}

static void deliver(struct netsim *s, uint32_t i)
{
	s->ctr.delivered++;
	sim_free(s, i);
}

static void arrive(struct netsim *s, uint32_t i)
{
	struct sim_packet *p = sim_packet(s, i);
	uint32_t in = s->f->port[p->port].peer, node = s->f->port[in].node;
	const struct fabric_node *n = &s->f->node[node];

	sim_let_go(s, &s->port[p->port]);
	if (s->port[p->port].down || s->port[in].down)
		sim_lose(s, i, &s->ctr.down);
	else if (p->lost)
		sim_lose(s, i, &s->ctr.lost);
	else if (p->kind != OF_TRAFFIC)
		probe_arrive(s, i, in);
	else if (n->tier == FABRIC_HOST)
		deliver(s, i);
	else if (p->hop >= p->len)
		sim_lose(s, i, &s->ctr.no_route);
	else
		sim_send(s, i, n->first + p->out[p->hop++], in);
}

static void happen(struct netsim *s, const struct due *e)
{
	uint32_t i = e->who & EV_MASK;

	switch ((enum event_kind)(e->who >> EV_BITS)) {
	case EV_ARRIVE:
		arrive(s, i);
		break;
	case EV_SOURCE:
		source_send(s, i);
		break;
	case EV_PROBE:
		probe_send(s, i);
		break;
	case EV_EXPORT:
		/* Behind the end of an interval, as the controller has it. */
		if (s->now_ns == s->tick_ns)
			sim_at(s, s->now_ns, EV_EXPORT, i);
		else
			carry_arrived(s, i);
		break;
	case EV_COMMAND:
		listen_command(s, i);
		break;
	case EV_LINK:
		link_event(s, i);
		break;
	case EV_ROUTE:
		route_event(s, i);
		break;
	case EV_LOOK:
		listen_look(s);
		break;
	case EV_TICK:
		s->tick_ns = 0;
		if (s->now_ns <= s->o.duration_ns)
			tick(s);
		break;
	case EV_END:
		s->over = true;
		break;
	}
}

static bool stopped(const struct netsim *s, uint32_t turn)
{
	return turn % STOP_EVERY == 0 && s->calls.stop &&
	       s->calls.stop(s->calls.ctx);
}

int netsim_run(struct netsim *s, struct fault *f)
{
	struct due e;

	for (uint32_t turn = 1; !s->err && events_take(&s->events, &e);
	     turn++) {
		s->now_ns = e.ns;
		happen(s, &e);
		if (s->events.err)
			sim_fail(s, s->events.err);
		if (stopped(s, turn))
			s->over = true;
	}
	if (s->err == -ENOMEM)
		return fault_set(f, s->err, "out of memory");
	if (s->err)
		*f = s->fault;
	return s->err;
}

const struct netsim_counters *netsim_counters(const struct netsim *s)
{
	return &s->ctr;
}

uint32_t netsim_most(const struct netsim *s)
{
	return s->packets.made;
}

void netsim_close(struct netsim *s)
{
	if (!s)
		return;
	probe_close(s);
	source_close(s);
	listen_close(s);
	events_fini(&s->events);
	pool_fini(&s->packets);
	pool_fini(&s->labels);
	free(s->port);
	free(s);
}
