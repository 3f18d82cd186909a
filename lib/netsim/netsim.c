/* SPDX-License-Identifier: BSD-2-Clause */
#include "netsim/netsim.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
	FIELD(packets_lost, LEDGER_NOTE),
	FIELD(labels, LEDGER_NOTE),
	FIELD(too_long, LEDGER_NOTE),
	FIELD(full, LEDGER_NOTE),
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

/* --- the traffic: along given routes, or between pairs of hosts ----------- */

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
static void emit(struct netsim *s, const struct fabric_way *w, uint32_t flow)
{
	uint32_t i = sim_make(s, OF_TRAFFIC, s->o.packet);
	struct sim_packet *p;

	if (i == POOL_NONE)
		return;
	p = sim_packet(s, i);
	p->src = w->src;
	p->dst = w->dst;
	p->flow = flow;
	p->specific = flow < s->o.specific;
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
static void flow_way(const struct netsim *s, uint32_t flow,
		     struct fabric_way *w)
{
	struct rng r = {.state = rng_mix(s->o.seed + 1) + flow};
	uint32_t hosts = fabric_hosts(s->f), src, dst;

	src = (uint32_t)rng_below(&r, hosts);
	dst = (uint32_t)rng_below(&r, hosts - 1);
	dst += dst >= src;
	fabric_pick(s->f, s->f->switches + src, s->f->switches + dst,
		    rng_u64(&r), w);
}

static void source_send(struct netsim *s, uint32_t i)
{
	struct sim_source *from = &s->source[i];
	struct fabric_way w;
	uint32_t flow;

	if (s->over)
		return;
	s->ctr.packets++;
	if (from->host != POOL_NONE) {
		flow = next_way(s, from);
		emit(s, &s->f->way[flow], flow);
	} else {
		flow = (uint32_t)rng_below(&s->traffic, s->o.flows);
		flow_way(s, flow, &w);
		emit(s, &w, flow);
	}
	sim_at(s, s->now_ns + gap(s), EV_SOURCE, i);
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

static int source_open(struct netsim *s)
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

/* --- the run -------------------------------------------------------------- */

static void set_loss(struct netsim *s)
{
	for (unsigned i = 0; i < s->o.n_losses; i++)
		s->port[s->o.losses[i].port].loss = s->o.losses[i].share;
}

static int open_parts(struct netsim *s, struct fault *f)
{
	int rc;

	s->port = calloc(s->f->ports, sizeof(*s->port));
	if (!s->port)
		return -ENOMEM;
	set_loss(s);
	if ((rc = listen_open(s)) < 0 || (rc = source_open(s)) < 0 ||
	    (rc = probe_open(s, f)) < 0)
		return rc;
	s->tick_ns = s->o.telemetry_ns;
	sim_at(s, s->tick_ns, EV_TICK, 0);
	sim_at(s, s->o.duration_ns, EV_END, 0);
	return s->err;
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
	if (p->lost)
		sim_lose(s, i, &s->ctr.lost);
	else if (p->kind != OF_TRAFFIC)
		probe_arrive(s, i, in);
	else if (n->tier == FABRIC_HOST)
		deliver(s, i);
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

	for (uint32_t turn = 1; !s->err && sim_take(s, &e); turn++) {
		s->now_ns = e.ns;
		happen(s, &e);
		if (stopped(s, turn))
			s->over = true;
	}
	return s->err ? fault_set(f, s->err, "%s", strerror(-s->err)) : 0;
}

const struct netsim_counters *netsim_counters(const struct netsim *s)
{
	return &s->ctr;
}

void netsim_close(struct netsim *s)
{
	if (!s)
		return;
	probe_close(s);
	label_control_close(s->control);
	free(s->source);
	free(s->heap);
	pool_fini(&s->packets);
	pool_fini(&s->labels);
	free(s->port);
	free(s);
}
