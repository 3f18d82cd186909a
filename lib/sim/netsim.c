/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/netsim.h"

#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "net/be.h"
#include "sim/netsim_private.h"
#include "sim/traffic.h"

enum {
	STOP_EVERY = 1 << 16, /* events between two questions */
};

const char *const netsim_scheme_names[] = {"label", "label-flag", "int",
					   "hula",  "int-path",	  "pingmesh",
					   "none",  NULL};

static const struct ledger_field fields[] = {
	LEDGER_FIELD(struct netsim_counters, packets, LEDGER_IN),
	LEDGER_FIELD(struct netsim_counters, probes, LEDGER_IN),
	LEDGER_FIELD(struct netsim_counters, copies, LEDGER_IN),
	LEDGER_FIELD(struct netsim_counters, delivered, LEDGER_DONE),
	LEDGER_FIELD(struct netsim_counters, ended, LEDGER_DONE),
	LEDGER_FIELD(struct netsim_counters, queue_full, LEDGER_LOSS),
	LEDGER_FIELD(struct netsim_counters, lost, LEDGER_LOSS),
	LEDGER_FIELD(struct netsim_counters, packets_lost, LEDGER_NOTE),
	LEDGER_FIELD(struct netsim_counters, labels, LEDGER_NOTE),
	LEDGER_FIELD(struct netsim_counters, too_long, LEDGER_NOTE),
	LEDGER_FIELD(struct netsim_counters, full, LEDGER_NOTE),
	LEDGER_FIELD(struct netsim_counters, labelled, LEDGER_NOTE),
	LEDGER_FIELD(struct netsim_counters, items, LEDGER_NOTE),
	LEDGER_FIELD(struct netsim_counters, reports, LEDGER_NOTE),
	LEDGER_FIELD(struct netsim_counters, link_bytes, LEDGER_NOTE),
	LEDGER_FIELD(struct netsim_counters, label_bytes, LEDGER_NOTE),
	LEDGER_FIELD(struct netsim_counters, probe_bytes, LEDGER_NOTE),
	LEDGER_FIELD(struct netsim_counters, raised, LEDGER_NOTE),
	LEDGER_FIELD(struct netsim_counters, lowered, LEDGER_NOTE),
};
LEDGER_COMPLETE(fields, struct netsim_counters);

const struct ledger netsim_ledger = {"simulated", "packets", fields,
				     sizeof(fields) / sizeof(fields[0])};

enum {
	ROOM_FIRST = 1024, /* events, packets that there is room for */
	FIRST_PORT = 1024, /* of flow 0, in a frame */
	SERVICE = 5001,
	TTL = 64,
	FRAME_ROOM = 2048,
};

static const uint64_t SECOND = 1000000000;

/* --- packets come and go -------------------------------------------------- */

void sim_fail(struct netsim *s, int err)
{
	if (!s->err)
		s->err = err;
}

/* An array of which n are used, with room for one more; NULL after sim_fail().
 */
static void *make_room(struct netsim *s, void *array, uint32_t n,
		       uint32_t *room, size_t size)
{
	uint32_t more = 2 * *room + ROOM_FIRST;

	if (n < *room)
		return array;
	array = realloc(array, more * size);
	if (array)
		*room = more;
	else
		sim_fail(s, -ENOMEM);
	return array;
}

uint32_t sim_make(struct netsim *s, enum packet_kind kind, uint32_t bytes)
{
	uint32_t i = s->free;
	void *at;

	if (i != SIM_NONE) {
		s->free = s->packet[i].next;
	} else if (s->packets > EV_MASK) {
		sim_fail(s, -ENOMEM);
		return SIM_NONE;
	} else {
		at = make_room(s, s->packet, s->packets, &s->packet_room,
			       sizeof(*s->packet));
		if (!at)
			return SIM_NONE;
		s->packet = at;
		i = s->packets++;
	}
	s->packet[i] = (struct sim_packet){
		.port = SIM_NONE,
		.bytes = bytes,
		.kind = (uint8_t)kind,
		.flow = SIM_NONE,
	};
	return i;
}

void sim_free(struct netsim *s, uint32_t i)
{
	free(s->packet[i].item);
	s->packet[i].item = NULL;
	s->packet[i].next = s->free;
	s->free = i;
}

static void sim_lose(struct netsim *s, uint32_t i, uint64_t *why)
{
	++*why;
	s->ctr.packets_lost += sim_packet(s, i)->kind == OF_TRAFFIC;
	sim_free(s, i);
}

/* --- what happens when ---------------------------------------------------- */

void sim_at(struct netsim *s, uint64_t ns, enum event_kind kind,
	    uint32_t number)
{
	struct timer_entry e = {ns, (uint32_t)kind << EV_BITS | number,
				s->order++};
	void *at = make_room(s, s->heap, s->events, &s->room, sizeof(*s->heap));

	if (!at)
		return;
	s->heap = at;
	timer_heap_up(s->heap, s->events++, e);
}

/* --- frames --------------------------------------------------------------- */

/* A packet of the model: UDP between the hosts; flows differ by their source
 * port. */
static void packet_head(const struct netsim *s, const struct sim_packet *p,
			struct traffic_packet *t)
{
	const struct fabric_node *src = &s->f->node[p->src];
	const struct fabric_node *dst = &s->f->node[p->dst];

	*t = (struct traffic_packet){
		.protocol = IPPROTO_UDP,
		.ttl = TTL,
		.src_port = (uint16_t)(FIRST_PORT + p->flow % (1 << 15)),
		.dst_port = SERVICE,
		.ip_len = p->bytes - NET_ETH_LEN,
		.key_len = KEY_FLOW4_LEN,
	};
	memcpy(t->key, src->ip, 4);
	memcpy(t->key + 4, dst->ip, 4);
	be16_store(t->key + 8, t->src_port);
	be16_store(t->key + 10, t->dst_port);
	t->key[12] = t->protocol;
}

/* One label more; 0: it does not fit. */
static size_t push_frame_label(const struct netsim *s, uint8_t *frame,
			       size_t len, const struct sim_packet *p,
			       const struct label_item *item)
{
	uint8_t longer[FRAME_ROOM];
	struct label_view v;
	int rc = label_find(&v, &s->format, frame, len);

	if (rc < 0 && rc != -ENOENT)
		return 0;
	rc = label_push(longer, FRAME_ROOM, &s->format, &v, frame, len, item,
			p->specific, 0);
	if (rc < 0)
		return 0;
	memcpy(frame, longer, (size_t)rc);
	return (size_t)rc;
}

/* What a last hop exports, in bytes: the headers of the packet, its labels, no
 * data. Its length, or 0. */
static size_t frame_export(struct netsim *s, const struct sim_packet *p,
			   uint8_t out[FRAME_ROOM])
{
	struct traffic_packet t;
	int len;

	packet_head(s, p, &t);
	len = traffic_frame(out, FRAME_ROOM, &t, 0, 0);
	for (unsigned i = 0; i < p->labels && len > 0; i++)
		len = (int)push_frame_label(s, out, (size_t)len, p,
					    &p->item[i]);
	return len > 0 ? (size_t)len : 0;
}

/* --- the controller --------------------------------------------------------
 * What last hops export reaches it as frames, as it would from a capture, and
 * its word reaches the switches. */

static void on_interval(void *ctx, const struct label_interval_sum *sum)
{
	struct netsim *s = ctx;

	s->sum = *sum;
}

/* A later word overtakes one that is under way: both tell of the same port. */
static void on_decision(void *ctx, const struct label_decision *d)
{
	struct netsim *s = ctx;
	uint32_t port = fabric_find_port(s->f, d->port->device, d->port->out);

	if (port == FABRIC_NONE)
		return;
	s->ctr.raised += d->port->s > d->from;
	s->ctr.lowered += d->port->s < d->from;
	s->port[port].want_s = d->port->s;
	sim_at(s, s->now_ns + s->o.control_ns, EV_COMMAND, port);
}

/* The prototype's entry for a port is gone when that was not refreshed for so
 * long; the flag, set or set anew then, ten times as long later. */
static void on_silence(void *ctx, const struct label_record *r,
		       enum label_reason event, uint64_t now_ns,
		       uint64_t since_ns)
{
	struct netsim *s = ctx;
	uint32_t port = fabric_find_port(s->f, r->device, r->out);

	(void)now_ns;
	(void)since_ns;
	if (event != LABEL_SILENT || port == FABRIC_NONE)
		return;
	s->port[port].flag_ns = s->now_ns + s->o.control_ns +
				10 * s->o.telemetry_ns;
	sim_at(s, s->now_ns + s->o.control_ns, EV_COMMAND, port);
	sim_at(s, s->port[port].flag_ns, EV_COMMAND, port);
}

static int listen_open(struct netsim *s)
{
	struct label_control_options o;

	label_control_defaults(&o);
	o.format = s->format;
	o.interval_ns = s->o.telemetry_ns;
	/* Where S is not moved silence is not looked for. */
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
		.silence = s->o.scheme == NETSIM_FLAG ? on_silence : NULL,
	};
	return label_control_open(&s->control, &o);
}

/* Pro moves S when that is due, not when the next labels come. */
static void plan_look(struct netsim *s)
{
	uint64_t due = label_control_due(s->control);

	if ((!s->o.adapt && s->o.scheme != NETSIM_FLAG) || s->over ||
	    due == UINT64_MAX)
		return;
	due -= s->o.start_ns;
	if (due < s->now_ns)
		due = s->now_ns;
	if (s->look_ns && s->look_ns <= due)
		return;
	s->look_ns = due;
	sim_at(s, due, EV_LOOK, 0);
}

static void listen_take(struct netsim *s, const struct sim_packet *p,
			const uint8_t *frame, size_t len)
{
	int rc = label_control_frame(s->control, frame, len,
				     s->o.start_ns + s->now_ns);

	if (rc < 0)
		sim_fail(s, rc);
	s->ctr.reports += p->labels;
	plan_look(s);
}

static void listen_tick(struct netsim *s, struct netsim_interval *out)
{
	label_control_tick(s->control, s->o.start_ns + s->now_ns);
	out->known = s->sum.ports;
	out->covered = s->sum.covered;
	for (uint32_t i = 0; i < s->f->switch_ports; i++)
		if (s->port[i].active == s->interval + 1 &&
		    s->port[i].label.s > out->s_max)
			out->s_max = s->port[i].label.s;
	plan_look(s);
}

static void listen_command(struct netsim *s, uint32_t port)
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

/* --- labels on packets: a switch writes them, the last one takes them off - */

/*
 * A packet is sampled at the ingress (NETSIM_INT) when the port by which it
 * came has not sampled one for the interval.
 */
static bool is_sampled(struct netsim *s, const struct sim_packet *p,
		       uint32_t in, uint64_t now_us)
{
	struct sim_port *q;

	if (p->hop != 1 || in == SIM_NONE)
		return false;
	q = &s->port[in];
	if (!label_decide(&s->o.policy, &q->sampled, 0, false, now_us,
			  &s->labelling))
		return false;
	label_wrote(&q->sampled, now_us);
	return true;
}

static bool decide_label(struct netsim *s, struct sim_packet *p,
			 const struct sim_port *q, uint32_t in, uint64_t now_us)
{
	switch (s->o.scheme) {
	case NETSIM_LABEL:
	case NETSIM_FLAG:
		return label_decide(&s->o.policy, &q->label, p->labels,
				    p->specific, now_us, &s->labelling);
	case NETSIM_INT:
		if (!p->specific && is_sampled(s, p, in, now_us))
			p->specific = true;
		return p->specific;
	default:
		return false;
	}
}

/* Whether there is room; bytes less the Ethernet header are the IP packet. */
static bool fits_mtu(struct netsim *s, const struct sim_packet *p)
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
	uint64_t wait = ns - s->now_ns;
	struct label_item *item = realloc(p->item,
					  (p->labels + 1U) * sizeof(*item));

	if (!item) {
		sim_fail(s, -ENOMEM);
		return;
	}
	p->item = item;
	item[p->labels++] = (struct label_item){
		.device = s->f->node[s->f->port[port].node].id,
		.in = in == SIM_NONE ? 0 : fabric_port_number(s->f, in),
		.out = fabric_port_number(s->f, port),
		.time_us = (ns / 1000) & LABEL_TIME_MASK,
		.latency_ns = wait < UINT32_MAX ? (uint32_t)wait : UINT32_MAX,
		.queue = q->depth,
		.number = label_wrote(&q->label, ns / 1000),
	};
	s->ctr.labels++;
}

/* Labels at a port through which the packet leaves at ns. */
static void carry_label(struct netsim *s, struct sim_packet *p, uint32_t port,
			uint32_t in, uint64_t ns)
{
	bool wants = p->kind == OF_TRAFFIC
			     ? decide_label(s, p, &s->port[port], in, ns / 1000)
			     : p->kind != OF_PING;

	if (wants && fits_mtu(s, p))
		write_label(s, p, port, in, ns);
}

void carry_export(struct netsim *s, uint32_t i, uint64_t ns)
{
	struct sim_packet *p = sim_packet(s, i), *copy;
	uint32_t c = sim_make(s, p->kind, p->bytes);

	if (c == SIM_NONE)
		return;
	p = sim_packet(s, i);
	copy = sim_packet(s, c);
	*copy = *p;
	p->item = NULL;
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

static void carry_arrived(struct netsim *s, uint32_t i)
{
	const struct sim_packet *p = sim_packet(s, i);
	uint8_t frame[FRAME_ROOM];
	size_t len = s->over ? 0 : frame_export(s, p, frame);

	if (len && s->calls.export)
		s->calls.export(s->calls.ctx, s->o.start_ns + s->now_ns, frame,
				len);
	if (len)
		listen_take(s, p, frame, len);
	sim_free(s, i);
}

/* --- packets into queues and onto links ------------------------------------
 * A packet has one event under way at a time, its arrival at the other end of a
 * link, and stays in the list of the port's queue until that has let it go. */

static void sim_let_go(struct netsim *s, struct sim_port *q)
{
	while (q->depth) {
		const struct sim_packet *p = sim_packet(s, q->head);

		if (p->leave_ns > s->now_ns)
			return;
		q->head = p->next;
		q->depth--;
	}
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

static void count_bytes(struct netsim *s, const struct sim_packet *p,
			uint32_t port)
{
	uint32_t bytes = sim_bytes(p);
	struct sim_port *q = &s->port[port];

	s->ctr.link_bytes += bytes;
	if (p->kind == OF_TRAFFIC)
		s->ctr.label_bytes += bytes - p->bytes;
	else
		s->ctr.probe_bytes += bytes;
	if (p->kind == OF_TRAFFIC)
		q->active = (uint32_t)s->interval + 1;
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
		/* The last switch takes the labels off. */
		if (p->labels && p->kind == OF_TRAFFIC &&
		    fabric_leads_to_host(s->f, port)) {
			carry_export(s, i, start);
			p = sim_packet(s, i); /* it may have moved */
		}
	}
	count_bytes(s, p, port);
	p->port = port;
	p->lost = q->loss > 0 && rng_unit(&s->chance) < q->loss;
	p->leave_ns = start + busy_ns(s, port, sim_bytes(p));
	q->free_ns = p->leave_ns;
	if (q->depth++)
		sim_packet(s, q->tail)->next = i;
	else
		q->head = i;
	q->tail = i;
	sim_at(s, p->leave_ns + s->o.delay_ns, EV_ARRIVE, i);
}

/* --- the traffic: along given routes, or between pairs of hosts ----------- */

/* What a sender waits: exponential, or the mean and up to three tenths of it
 * more or less. */
static uint64_t sender_gap(struct netsim *s)
{
	double u = rng_unit(&s->traffic);

	if (s->o.arrivals == NETSIM_POISSON)
		return (uint64_t)(-log1p(-u) * s->gap_ns);
	return (uint64_t)((0.7 + 0.6 * u) * s->gap_ns);
}

/* A host puts it on its link. */
static void emit_packet(struct netsim *s, const struct fabric_route *w,
			uint32_t flow)
{
	uint32_t i = sim_make(s, OF_TRAFFIC, s->o.packet);
	struct sim_packet *p;

	if (i == SIM_NONE)
		return;
	p = sim_packet(s, i);
	p->src = w->src;
	p->dst = w->dst;
	p->flow = flow;
	p->specific = flow < s->o.specific;
	p->len = (uint8_t)w->len;
	memcpy(p->out, w->out, sizeof(p->out));
	sim_send(s, i, s->f->node[w->src].first_port, SIM_NONE);
}

/* A flow of a fat tree: two hosts and a hash, of its number alone. */
static void flow_way(const struct netsim *s, uint32_t flow,
		     struct fabric_route *w)
{
	struct rng r = {.state = rng_mix(s->o.seed + 1) + flow};
	uint32_t hosts = fabric_hosts(s->f), src, dst;

	src = (uint32_t)rng_below(&r, hosts);
	dst = (uint32_t)rng_below(&r, hosts - 1);
	dst += dst >= src;
	fabric_pick_route(s->f, s->f->switches + src, s->f->switches + dst,
			  rng_u64(&r), w);
}

static void source_send(struct netsim *s, uint32_t i)
{
	struct sim_source *from = &s->source[i];
	struct fabric_route w;
	uint32_t flow;

	if (s->over)
		return;
	s->ctr.packets++;
	if (from->host != SIM_NONE) {
		do /* the next way of the host, in turn */
			flow = from->next = (from->next + 1) % s->f->routes;
		while (s->f->route[flow].src != from->host);
		emit_packet(s, &s->f->route[flow], flow);
	} else {
		flow = (uint32_t)rng_below(&s->traffic, s->o.flows);
		flow_way(s, flow, &w);
		emit_packet(s, &w, flow);
	}
	sim_at(s, s->now_ns + sender_gap(s), EV_SOURCE, i);
}

static int source_open(struct netsim *s)
{
	unsigned routes = s->f->routes;

	s->source = calloc((uint64_t)s->o.senders * (routes ? routes : 1),
			   sizeof(*s->source));
	if (!s->source)
		return -ENOMEM;
	/* Along given routes: senders of them at each host where one begins. */
	for (uint32_t h = s->f->switches; routes && h < s->f->nodes; h++) {
		unsigned r = 0;

		while (r < routes && s->f->route[r].src != h)
			r++;
		for (uint32_t i = 0; r < routes && i < s->o.senders; i++)
			s->source[s->sources++] = (struct sim_source){h, i};
	}
	for (; !routes && s->sources < s->o.senders; s->sources++)
		s->source[s->sources].host = SIM_NONE;
	s->gap_ns = s->sources * 1e9 / s->o.rate;
	for (uint32_t i = 0; i < s->sources; i++)
		sim_at(s, (uint64_t)(rng_unit(&s->traffic) * s->gap_ns),
		       EV_SOURCE, i);
	return 0;
}

/* --- the run -------------------------------------------------------------- */

static int open_parts(struct netsim *s)
{
	int rc;

	s->port = calloc(s->f->ports, sizeof(*s->port));
	if (!s->port)
		return -ENOMEM;
	for (unsigned i = 0; i < s->o.n_losses; i++)
		s->port[s->o.losses[i].port].loss = s->o.losses[i].share;
	if ((rc = listen_open(s)) < 0 || (rc = source_open(s)) < 0 ||
	    (rc = probe_open(s)) < 0)
		return rc;
	sim_at(s, s->o.telemetry_ns, EV_TICK, 0);
	sim_at(s, s->o.duration_ns, EV_END, 0);
	return s->err;
}

int netsim_open(struct netsim **out, const struct netsim_options *o,
		const struct netsim_calls *calls, struct error *err)
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
	s->free = SIM_NONE;
	rc = open_parts(s);
	if (rc < 0) {
		netsim_close(s);
		return error_set(err, rc, "%s", strerror(-rc));
	}
	*out = s;
	return 0;
}

static void end_interval(struct netsim *s)
{
	struct netsim_interval v = {
		.number = s->interval,
		.end_ns = s->now_ns,
		.generators = probe_generators(s),
	};

	const uint64_t *now = (const uint64_t *)&s->ctr;
	uint64_t *before = (uint64_t *)&s->before, *diff = (uint64_t *)&v.ctr;

	listen_tick(s, &v);
	for (unsigned i = 0; i < sizeof(v.ctr) / sizeof(*diff); i++)
		diff[i] = now[i] - before[i];
	s->before = s->ctr;
	for (unsigned i = 1; i < NETSIM_CARRIED; i++) {
		v.carried[i] = s->carried[i] - s->carried_before[i];
		s->carried_before[i] = s->carried[i];
	}
	v.carried[0] = v.ctr.delivered > v.ctr.labelled
			       ? v.ctr.delivered - v.ctr.labelled
			       : 0;
	s->interval++;
	s->calls.interval(s->calls.ctx, &v);
	sim_at(s, s->now_ns + s->o.telemetry_ns, EV_TICK, 0);
}

static void arrive_packet(struct netsim *s, uint32_t i)
{
	struct sim_packet *p = sim_packet(s, i);
	uint32_t in = s->f->port[p->port].peer, node = s->f->port[in].node;
	const struct fabric_node *n = &s->f->node[node];

	sim_let_go(s, &s->port[p->port]);
	if (p->lost) {
		sim_lose(s, i, &s->ctr.lost);
	} else if (p->kind == OF_TRAFFIC && n->tier == FABRIC_HOST) {
		s->ctr.delivered++;
		sim_free(s, i);
	} else if (n->tier == FABRIC_HOST || p->kind == OF_WAY ||
		   p->kind == OF_FLOOD) {
		probe_arrive(s, i, in);
	} else {
		sim_send(s, i, n->first_port + p->out[p->hop++], in);
	}
}

static void run_event(struct netsim *s, const struct timer_entry *e)
{
	uint32_t i = e->who & EV_MASK;

	switch ((enum event_kind)(e->who >> EV_BITS)) {
	case EV_ARRIVE:
		arrive_packet(s, i);
		break;
	case EV_SOURCE:
		source_send(s, i);
		break;
	case EV_PROBE:
		probe_send(s, i);
		break;
	case EV_EXPORT:
		carry_arrived(s, i);
		break;
	case EV_COMMAND:
		listen_command(s, i);
		break;
	case EV_LOOK:
		s->look_ns = 0;
		label_control_tick(s->control, s->o.start_ns + s->now_ns);
		plan_look(s);
		break;
	case EV_TICK:
		if (s->now_ns <= s->o.duration_ns && !s->stopped)
			end_interval(s);
		break;
	case EV_END:
		s->over = true;
		break;
	}
}

int netsim_run(struct netsim *s, struct error *err)
{
	for (uint32_t turn = 1; !s->err && s->events; turn++) {
		const struct timer_entry e = s->heap[0];

		s->events--;
		timer_heap_down(s->heap, s->events, 0, s->heap[s->events]);
		s->now_ns = e.ns;
		run_event(s, &e);
		if (turn % STOP_EVERY == 0 && s->calls.stop &&
		    s->calls.stop(s->calls.ctx))
			s->over = s->stopped = true;
	}
	return s->err ? error_set(err, s->err, "%s", strerror(-s->err)) : 0;
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
	for (uint32_t i = 0; i < s->packets; i++)
		free(s->packet[i].item);
	free(s->packet);
	free(s->port);
	free(s);
}
