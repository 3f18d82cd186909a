/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <string.h>

#include "net/be.h"
#include "sim/netsim_private.h"
#include "sim/traffic.h"

enum {
	STOP_EVERY = 1 << 16, /* events between two calls of calls.stop() */
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
	ROOM_FIRST = 1024, /* events or packets that there is room for */
	SRC_PORT = 1024,   /* of flow 0 */
	DST_PORT = 5001,
	TTL = 64,
	FRAME_MAX = 2048, /* bytes */
};

static const uint64_t SECOND = 1000000000;

/* --- packets come and go -------------------------------------------------- */

void sim_fail(struct netsim *s, int err)
{
	if (!s->err)
		s->err = err;
}

/* The array, of which n are used, with room for one more; NULL: sim_fail(). */
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

uint32_t sim_new_packet(struct netsim *s, enum packet_kind kind, uint32_t bytes)
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
	s->packet[i] = (struct sim_packet){.port = SIM_NONE,
					   .bytes = bytes,
					   .kind = (uint8_t)kind,
					   .flow = SIM_NONE};
	return i;
}

void sim_free_packet(struct netsim *s, uint32_t i)
{
	free(s->packet[i].item);
	s->packet[i].item = NULL;
	s->packet[i].next = s->free;
	s->free = i;
}

static void lose_packet(struct netsim *s, uint32_t i, uint64_t *counter)
{
	++*counter;
	s->ctr.packets_lost += sim_packet(s, i)->kind == PACKET_TRAFFIC;
	sim_free_packet(s, i);
}

/* --- what happens when ---------------------------------------------------- */

void sim_schedule(struct netsim *s, uint64_t ns, enum event_kind kind,
		  uint32_t number)
{
	struct timer_entry e = {ns, (uint32_t)kind << EV_BITS | number,
				s->order++};
	void *at = make_room(s, s->heap, s->events, &s->heap_room,
			     sizeof(*s->heap));

	if (!at)
		return;
	s->heap = at;
	timer_heap_up(s->heap, s->events++, e);
}

/* --- frames --------------------------------------------------------------- */

/* A simulated packet as UDP between its hosts; flows differ by their source
 * port. */
static void describe_packet(const struct netsim *s, const struct sim_packet *p,
			    struct traffic_packet *t)
{
	const struct fabric_node *src = &s->f->node[p->src];
	const struct fabric_node *dst = &s->f->node[p->dst];

	*t = (struct traffic_packet){
		.protocol = IPPROTO_UDP,
		.ttl = TTL,
		.src_port = (uint16_t)(SRC_PORT + p->flow % (1 << 15)),
		.dst_port = DST_PORT,
		.ip_len = p->bytes - NET_ETH_LEN,
		.key_len = KEY_FLOW4_LEN,
	};
	memcpy(t->key, src->ip, 4);
	memcpy(t->key + 4, dst->ip, 4);
	be16_store(t->key + 8, t->src_port);
	be16_store(t->key + 10, t->dst_port);
	t->key[12] = t->protocol;
}

/* Adds a label to a frame. Returns the new length; 0: it does not fit. */
static size_t push_frame_label(const struct netsim *s, uint8_t *frame,
			       size_t len, const struct sim_packet *p,
			       const struct label_item *item)
{
	uint8_t longer[FRAME_MAX];
	struct label_view v;
	int rc = label_find(&v, &s->format, frame, len);

	if (rc < 0 && rc != -ENOENT)
		return 0;
	rc = label_push(longer, FRAME_MAX, &s->format, &v, frame, len, item,
			p->specific, 0);
	if (rc < 0)
		return 0;
	memcpy(frame, longer, (size_t)rc);
	return (size_t)rc;
}

/* Writes the frame that a last hop exports: the headers of the packet and its
 * labels, without data. Returns its length, or 0. */
static size_t frame_export(struct netsim *s, const struct sim_packet *p,
			   uint8_t out[FRAME_MAX])
{
	struct traffic_packet t;
	int len;

	describe_packet(s, p, &t);
	len = traffic_frame(out, FRAME_MAX, &t, 0, 0);
	for (unsigned i = 0; i < p->labels && len > 0; i++)
		len = (int)push_frame_label(s, out, (size_t)len, p,
					    &p->item[i]);
	return len > 0 ? (size_t)len : 0;
}

/* --- the controller --------------------------------------------------------
 * Exported labels reach it as frames, as they would from a capture; its
 * commands reach the switches. */

static void on_interval(void *ctx, const struct label_interval_sum *sum)
{
	struct netsim *s = ctx;

	s->sum = *sum;
}

/* A decision replaces an earlier one of its port that is still under way. */
static void on_decision(void *ctx, const struct label_decision *d)
{
	struct netsim *s = ctx;
	uint32_t port = fabric_find_port(s->f, d->port->device, d->port->out);

	if (port == FABRIC_NONE)
		return;
	s->ctr.raised += d->port->s > d->from;
	s->ctr.lowered += d->port->s < d->from;
	s->port[port].s_under_way = d->port->s;
	sim_schedule(s, s->now_ns + s->o.control_ns, EV_COMMAND, port);
}

/* In the prototype a port's entry expires when nothing refreshes it for a
 * telemetry interval. That sets the port's flag, for ten intervals. */
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
	sim_schedule(s, s->now_ns + s->o.control_ns, EV_COMMAND, port);
	sim_schedule(s, s->port[port].flag_ns, EV_COMMAND, port);
}

static int open_controller(struct netsim *s)
{
	struct label_control_options o;

	label_control_defaults(&o);
	o.format = s->format;
	o.interval_ns = s->o.telemetry_ns;
	/* Silence matters only where it changes S. */
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

/* Schedules the controller's next decision: S changes when that is due, not
 * when the next labels come. */
static void schedule_controller(struct netsim *s)
{
	uint64_t due = label_control_due(s->control);

	if ((!s->o.adapt && s->o.scheme != NETSIM_FLAG) || s->over ||
	    due == UINT64_MAX)
		return;
	due -= s->o.start_ns;
	if (due < s->now_ns)
		due = s->now_ns;
	if (s->controller_ns && s->controller_ns <= due)
		return;
	s->controller_ns = due;
	sim_schedule(s, due, EV_CONTROLLER, 0);
}

static void tell_controller(struct netsim *s, const struct sim_packet *p,
			    const uint8_t *frame, size_t len)
{
	int rc = label_control_frame(s->control, frame, len,
				     s->o.start_ns + s->now_ns);

	if (rc < 0)
		sim_fail(s, rc);
	s->ctr.reports += p->labels;
	schedule_controller(s);
}

static void end_controller_interval(struct netsim *s,
				    struct netsim_interval *out)
{
	label_control_tick(s->control, s->o.start_ns + s->now_ns);
	out->known = s->sum.ports;
	out->covered = s->sum.covered;
	for (uint32_t i = 0; i < s->f->switch_ports; i++)
		if (s->port[i].active == s->interval + 1 &&
		    s->port[i].label.s > out->s_max)
			out->s_max = s->port[i].label.s;
	schedule_controller(s);
}

static void carry_out_command(struct netsim *s, uint32_t port)
{
	struct sim_port *q = &s->port[port];
	uint8_t s_before = q->label.s;

	if (s->o.scheme != NETSIM_FLAG) {
		q->label.s = q->s_under_way;
		return;
	}
	q->label.s = s->now_ns < q->flag_ns ? LABEL_S_MAX : 0;
	s->ctr.raised += q->label.s > s_before;
	s->ctr.lowered += q->label.s < s_before;
}

/* --- labels on packets: a switch writes them, the last one takes them off - */

/* Whether the ingress samples a packet (NETSIM_INT): its port has not sampled
 * one for an interval. */
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

/* Whether there is room for one more label. */
static bool fits_mtu(struct netsim *s, const struct sim_packet *p)
{
	uint32_t more = p->labels ? LABEL_ITEM_LEN : LABEL_GROWTH;

	if (!p->specific && p->labels >= s->format.max_hop) {
		s->ctr.full++;
		return false;
	}
	if (s->o.mtu && sim_wire_bytes(p) - NET_ETH_LEN + more > s->o.mtu) {
		s->ctr.too_long++;
		return false;
	}
	return true;
}

/* Writes the label of port, by which the packet leaves at ns. */
static void write_label(struct netsim *s, struct sim_packet *p, uint32_t port,
			uint32_t in, uint64_t ns)
{
	struct sim_port *q = &s->port[port];
	uint64_t waited_ns = ns - s->now_ns;
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
		.latency_ns = waited_ns < UINT32_MAX ? (uint32_t)waited_ns
						     : UINT32_MAX,
		.queue = q->depth,
		.number = label_wrote(&q->label, ns / 1000),
	};
	s->ctr.labels++;
}

/* Labels a packet that leaves through port at ns, if it is to be labelled. */
static void label_packet(struct netsim *s, struct sim_packet *p, uint32_t port,
			 uint32_t in, uint64_t ns)
{
	bool wants = p->kind == PACKET_TRAFFIC
			     ? decide_label(s, p, &s->port[port], in, ns / 1000)
			     : p->kind != PACKET_PING;

	if (wants && fits_mtu(s, p))
		write_label(s, p, port, in, ns);
}

void sim_export_labels(struct netsim *s, uint32_t i, uint64_t ns)
{
	struct sim_packet *p = sim_packet(s, i), *copy;
	uint32_t c = sim_new_packet(s, p->kind, p->bytes);

	if (c == SIM_NONE)
		return;
	p = sim_packet(s, i);
	copy = sim_packet(s, c);
	*copy = *p;
	p->item = NULL;
	p->labels = 0;
	s->ctr.items += copy->labels;
	if (p->kind == PACKET_TRAFFIC) {
		s->ctr.labelled++;
		s->carried[copy->labels < NETSIM_CARRIED
				   ? copy->labels
				   : NETSIM_CARRIED - 1]++;
	}
	sim_schedule(s, ns + s->o.control_ns, EV_EXPORT, c);
}

static void deliver_export(struct netsim *s, uint32_t i)
{
	const struct sim_packet *p = sim_packet(s, i);
	uint8_t frame[FRAME_MAX];
	size_t len = s->over ? 0 : frame_export(s, p, frame);

	if (len && s->calls.export)
		s->calls.export(s->calls.ctx, s->o.start_ns + s->now_ns, frame,
				len);
	if (len)
		tell_controller(s, p, frame, len);
	sim_free_packet(s, i);
}

/* --- packets into queues and onto links ------------------------------------
 * A packet has one event at a time, its arrival at the other end of a link. It
 * stays in the list of the port's queue until release_sent(). */

/* Removes from a queue the packets that have left. */
static void release_sent(struct netsim *s, struct sim_port *q)
{
	while (q->depth) {
		const struct sim_packet *p = sim_packet(s, q->head);

		if (p->leave_ns > s->now_ns)
			return;
		q->head = p->next;
		q->depth--;
	}
}

/* How long a packet occupies a port: by the link's rate or, if that is longer,
 * by port_pps, whatever its length. */
static uint64_t busy_ns(struct netsim *s, uint32_t port, uint32_t bytes)
{
	uint64_t link_ns = bytes * 8 * SECOND / s->o.link_bps, port_ns = 0;

	if (s->o.port_pps && port < s->f->switch_ports)
		port_ns = (uint64_t)((double)SECOND / (double)s->o.port_pps);
	if (port_ns && s->o.port_jitter > 0)
		port_ns = (uint64_t)((double)port_ns *
				     (1 +
				      s->o.port_jitter *
					      (2 * rng_unit(&s->chance) - 1)));
	return (link_ns > port_ns ? link_ns : port_ns) + 1;
}

static void count_bytes(struct netsim *s, const struct sim_packet *p,
			uint32_t port)
{
	uint32_t bytes = sim_wire_bytes(p);
	struct sim_port *q = &s->port[port];

	s->ctr.link_bytes += bytes;
	if (p->kind == PACKET_TRAFFIC)
		s->ctr.label_bytes += bytes - p->bytes;
	else
		s->ctr.probe_bytes += bytes;
	if (p->kind == PACKET_TRAFFIC)
		q->active = (uint32_t)s->interval + 1;
}

void sim_send(struct netsim *s, uint32_t i, uint32_t port, uint32_t in)
{
	struct sim_port *q = &s->port[port];
	struct sim_packet *p = sim_packet(s, i);
	uint64_t start;

	release_sent(s, q);
	if (q->depth >= s->o.queue_max && port < s->f->switch_ports) {
		lose_packet(s, i, &s->ctr.queue_full);
		return;
	}
	start = q->free_ns > s->now_ns ? q->free_ns : s->now_ns;
	if (port < s->f->switch_ports) {
		label_packet(s, p, port, in, start);
		/* The last switch takes the labels off. */
		if (p->labels && p->kind == PACKET_TRAFFIC &&
		    fabric_leads_to_host(s->f, port)) {
			sim_export_labels(s, i, start);
			p = sim_packet(s, i); /* it may have moved */
		}
	}
	count_bytes(s, p, port);
	p->port = port;
	p->lost = q->loss > 0 && rng_unit(&s->chance) < q->loss;
	p->leave_ns = start + busy_ns(s, port, sim_wire_bytes(p));
	q->free_ns = p->leave_ns;
	if (q->depth++)
		sim_packet(s, q->tail)->next = i;
	else
		q->head = i;
	q->tail = i;
	sim_schedule(s, p->leave_ns + s->o.delay_ns, EV_ARRIVE, i);
}

/* --- the traffic: along given routes, or between pairs of hosts ----------- */

/* Draws the time until a sender's next packet: enum netsim_arrivals. */
static uint64_t sender_gap(struct netsim *s)
{
	double u = rng_unit(&s->traffic);

	if (s->o.arrivals == NETSIM_POISSON)
		return (uint64_t)(-log1p(-u) * s->gap_ns);
	return (uint64_t)((0.7 + 0.6 * u) * s->gap_ns);
}

/* Sends a packet of a flow along its route. */
static void emit_packet(struct netsim *s, const struct fabric_route *route,
			uint32_t flow)
{
	uint32_t i = sim_new_packet(s, PACKET_TRAFFIC, s->o.frame_len);
	struct sim_packet *p;

	if (i == SIM_NONE)
		return;
	p = sim_packet(s, i);
	p->src = route->src;
	p->dst = route->dst;
	p->flow = flow;
	p->specific = flow < s->o.specific_flows;
	p->len = (uint8_t)route->len;
	memcpy(p->out, route->out, sizeof(p->out));
	sim_send(s, i, s->f->node[route->src].first_port, SIM_NONE);
}

/* The route of a flow in a fat tree: a function of its number. */
static void flow_route(const struct netsim *s, uint32_t flow,
		       struct fabric_route *route)
{
	struct rng r = {.state = rng_mix(s->o.seed + 1) + flow};
	uint32_t hosts = fabric_hosts(s->f), src, dst;

	src = (uint32_t)rng_below(&r, hosts);
	dst = (uint32_t)rng_below(&r, hosts - 1);
	dst += dst >= src;
	fabric_pick_route(s->f, s->f->switches + src, s->f->switches + dst,
			  rng_u64(&r), route);
}

static void source_send(struct netsim *s, uint32_t i)
{
	struct sim_source *from = &s->source[i];
	struct fabric_route route;
	uint32_t flow;

	if (s->over)
		return;
	s->ctr.packets++;
	if (from->host != SIM_NONE) {
		do /* the routes of the host take turns */
			flow = from->route = (from->route + 1) % s->f->routes;
		while (s->f->route[flow].src != from->host);
		emit_packet(s, &s->f->route[flow], flow);
	} else {
		flow = (uint32_t)rng_below(&s->traffic, s->o.flows);
		flow_route(s, flow, &route);
		emit_packet(s, &route, flow);
	}
	sim_schedule(s, s->now_ns + sender_gap(s), EV_SOURCE, i);
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
	s->gap_ns = s->sources * 1e9 / s->o.rate_pps;
	for (uint32_t i = 0; i < s->sources; i++)
		sim_schedule(s, (uint64_t)(rng_unit(&s->traffic) * s->gap_ns),
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
	if ((rc = open_controller(s)) < 0 || (rc = source_open(s)) < 0 ||
	    (rc = probe_open(s)) < 0)
		return rc;
	sim_schedule(s, s->o.telemetry_ns, EV_TICK, 0);
	sim_schedule(s, s->o.duration_ns, EV_END, 0);
	return s->err;
}

int netsim_open(struct netsim **out, const struct netsim_options *o,
		const struct netsim_calls *calls, struct error *err)
{
	struct netsim *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return error_set(err, -ENOMEM, "out of memory");
	s->o = *o;
	s->calls = *calls;
	s->f = o->fabric;
	s->format = label_format_default;
	s->format.max_hop = o->policy.max_hop;
	/* Separate streams: the traffic is the same under any policy. */
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
	struct netsim_interval sum = {.number = s->interval,
				      .end_ns = s->now_ns,
				      .generators = s->generators};
	const uint64_t *now = (const uint64_t *)&s->ctr;
	uint64_t *before = (uint64_t *)&s->ctr_before,
		 *diff = (uint64_t *)&sum.ctr;

	end_controller_interval(s, &sum);
	for (unsigned i = 0; i < sizeof(sum.ctr) / sizeof(*diff); i++)
		diff[i] = now[i] - before[i];
	s->ctr_before = s->ctr;
	for (unsigned i = 1; i < NETSIM_CARRIED; i++) {
		sum.carried[i] = s->carried[i] - s->carried_before[i];
		s->carried_before[i] = s->carried[i];
	}
	/* Labels are counted a link before the packet is delivered. */
	sum.carried[0] = sum.ctr.delivered > sum.ctr.labelled
				 ? sum.ctr.delivered - sum.ctr.labelled
				 : 0;
	s->interval++;
	s->calls.interval(s->calls.ctx, &sum);
	sim_schedule(s, s->now_ns + s->o.telemetry_ns, EV_TICK, 0);
}

static void arrive_packet(struct netsim *s, uint32_t i)
{
	struct sim_packet *p = sim_packet(s, i);
	uint32_t in = s->f->port[p->port].peer, node = s->f->port[in].node;
	const struct fabric_node *n = &s->f->node[node];

	release_sent(s, &s->port[p->port]);
	if (p->lost) {
		lose_packet(s, i, &s->ctr.lost);
	} else if (p->kind == PACKET_TRAFFIC && n->tier == FABRIC_HOST) {
		s->ctr.delivered++;
		sim_free_packet(s, i);
	} else if (n->tier == FABRIC_HOST || p->kind == PACKET_TRAIL ||
		   p->kind == PACKET_FLOOD) {
		probe_arrive(s, i, in);
	} else {
		sim_send(s, i, n->first_port + p->out[p->hop++], in);
	}
}

static void run_event(struct netsim *s, const struct timer_entry *e)
{
	uint32_t i = e->id & EV_MASK;

	switch ((enum event_kind)(e->id >> EV_BITS)) {
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
		deliver_export(s, i);
		break;
	case EV_COMMAND:
		carry_out_command(s, i);
		break;
	case EV_CONTROLLER:
		s->controller_ns = 0;
		label_control_tick(s->control, s->o.start_ns + s->now_ns);
		schedule_controller(s);
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
	for (uint32_t done = 1; !s->err && s->events; done++) {
		const struct timer_entry e = s->heap[0];

		s->events--;
		timer_heap_down(s->heap, s->events, 0, s->heap[s->events]);
		s->now_ns = e.ns;
		run_event(s, &e);
		if (done % STOP_EVERY == 0 && s->calls.stop &&
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
