/* SPDX-License-Identifier: BSD-2-Clause */
#include "label/hop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "net/be.h"

struct specific_flow {
	uint8_t key[KEY_FLOW6_LEN];
	uint8_t len;
	bool marked;		     /* last_us is valid */
	uint64_t period_us, last_us; /* last_us: when a packet was marked */
};

struct label_hop {
	struct label_hop_options o;
	struct label_hop_ledger ctr;
	struct rng rng;
	struct label_port port[UINT16_MAX + 1];
	struct specific_flow flow[LABEL_FLOWS_MAX];
	unsigned flows;
};

static const struct ledger_field fields[] = {
	LEDGER_FIELD(struct label_hop_ledger, packets, LEDGER_IN),
	LEDGER_FIELD(struct label_hop_ledger, plain, LEDGER_DONE),
	LEDGER_FIELD(struct label_hop_ledger, carried, LEDGER_DONE),
	LEDGER_FIELD(struct label_hop_ledger, labelled, LEDGER_DONE),
	LEDGER_FIELD(struct label_hop_ledger, restored, LEDGER_DONE),
	LEDGER_FIELD(struct label_hop_ledger, malformed, LEDGER_DONE),
	LEDGER_FIELD(struct label_hop_ledger, forged, LEDGER_LOSS),
	LEDGER_FIELD(struct label_hop_ledger, too_long, LEDGER_LOSS),
	LEDGER_FIELD(struct label_hop_ledger, labels, LEDGER_NOTE),
	LEDGER_FIELD(struct label_hop_ledger, specific, LEDGER_NOTE),
	LEDGER_FIELD(struct label_hop_ledger, over_mtu, LEDGER_NOTE),
	LEDGER_FIELD(struct label_hop_ledger, over_hops, LEDGER_NOTE),
	LEDGER_FIELD(struct label_hop_ledger, fragmentable, LEDGER_NOTE),
	LEDGER_FIELD(struct label_hop_ledger, checksum, LEDGER_NOTE),
	LEDGER_FIELD(struct label_hop_ledger, local, LEDGER_NOTE),
	LEDGER_FIELD(struct label_hop_ledger, unfit, LEDGER_NOTE),
	LEDGER_FIELD(struct label_hop_ledger, exported, LEDGER_NOTE),
};
LEDGER_COMPLETE(fields, struct label_hop_ledger);

const struct ledger label_hop_ledger = {"hop", "packets", fields,
					sizeof(fields) / sizeof(fields[0])};

int label_hop_open(struct label_hop **out, const struct label_hop_options *o)
{
	struct label_hop *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	h->o = *o;
	/* To a hop, a datagram with exported labels is a packet like others. */
	h->o.format.export_port = 0;
	h->rng.state = o->device;
	*out = h;
	return 0;
}

void label_hop_close(struct label_hop *h)
{
	free(h);
}

const struct label_hop_ledger *label_hop_counters(const struct label_hop *h)
{
	return &h->ctr;
}

void label_hop_set_s(struct label_hop *h, uint16_t port, uint8_t s)
{
	h->port[port].s = s;
}

/* --- specific flows ------------------------------------------------------- */

static struct specific_flow *find_flow(struct label_hop *h, const uint8_t *key,
				       size_t len)
{
	for (unsigned i = 0; i < h->flows; i++)
		if (h->flow[i].len == len && !memcmp(h->flow[i].key, key, len))
			return &h->flow[i];
	return NULL;
}

int label_hop_flow_add(struct label_hop *h, const uint8_t *key, size_t len,
		       uint64_t period_us)
{
	struct specific_flow *flow = find_flow(h, key, len);

	if (!flow && h->flows == LABEL_FLOWS_MAX)
		return -ENOSPC;
	if (!flow) {
		flow = &h->flow[h->flows++];
		*flow = (struct specific_flow){.len = (uint8_t)len};
		memcpy(flow->key, key, len);
	}
	flow->period_us = period_us;
	return 0;
}

int label_hop_flow_del(struct label_hop *h, const uint8_t *key, size_t len)
{
	struct specific_flow *flow = find_flow(h, key, len);

	if (!flow)
		return -ENOENT;
	*flow = h->flow[--h->flows];
	return 0;
}

/* The packet's flow, if it is a specific one and its next mark is due. */
static struct specific_flow *
flow_due(struct label_hop *h, const struct label_view *v, uint64_t now_us)
{
	uint8_t key[KEY_FLOW6_LEN];
	struct specific_flow *flow;
	unsigned len;

	if (!h->flows)
		return NULL;
	len = label_flow_key(key, v);
	flow = find_flow(h, key, len);
	if (!flow || (flow->marked && ((now_us - flow->last_us) &
				       LABEL_TIME_MASK) < flow->period_us))
		return NULL;
	return flow;
}

/* --- packets -------------------------------------------------------------- */

/* A packet that passes. */
struct hop_packet {
	const struct label_transit *t;
	const uint8_t *frame;
	size_t len;
	struct label_view v;
	uint8_t *out;
	size_t cap;
};

/* Writes the packet with a label to out. Returns its length; 0: not labelled.
 */
static size_t push_label(struct label_hop *h, struct hop_packet *p,
			 bool specific)
{
	struct label_port *port = &h->port[p->t->out], after = *port;
	struct label_item item = {.device = h->o.device,
				  .in = p->t->in,
				  .out = p->t->out,
				  .time_us = p->t->now_us & LABEL_TIME_MASK,
				  .latency_ns = p->t->latency_ns,
				  .queue = p->t->queue,
				  .number = label_wrote(&after, p->t->now_us)};
	int rc = label_push(p->out, p->cap, &h->o.format, &p->v, p->frame,
			    p->len, &item, specific,
			    p->t->to_edge ? 0 : h->o.mtu);

	if (rc < 0) {
		h->ctr.over_mtu += rc == -EMSGSIZE;
		h->ctr.over_hops += rc == -E2BIG;
		h->ctr.unfit += rc != -EMSGSIZE && rc != -E2BIG;
		return 0;
	}
	*port = after; /* only now, as the label has been written */
	h->ctr.labels++;
	h->ctr.specific += specific;
	return (size_t)rc;
}

static bool is_to_router(const struct label_hop *h, const struct label_view *v)
{
	bool v4 = v->layout == LABEL_IP4;
	const uint8_t *dst = v->ip + (v4 ? NET_IP4_AT_DST : NET_IP6_AT_DST);

	for (unsigned i = 0; i < h->o.n_routers; i++) {
		const struct label_router *r = &h->o.routers[i];

		if (r->version == (v4 ? 4 : 6) &&
		    !memcmp(r->ip, dst, v4 ? 4 : 16))
			return true;
	}
	return false;
}

/* Whether a router of the path would read the packet itself: hop.h. */
static bool is_local(const struct label_hop *h, const struct hop_packet *p)
{
	const uint8_t *ip = p->v.ip, *src = ip + NET_IP4_AT_SRC;
	const uint8_t *dst = ip + NET_IP4_AT_DST;

	if (p->frame[0] & 1 || /* a multicast or broadcast MAC address */
	    is_to_router(h, &p->v))
		return true;
	if (p->v.layout == LABEL_IP4)
		return ip[NET_IP4_AT_TTL] == 255 || dst[0] >= 224 ||
		       (src[0] == 169 && src[1] == 254) || /* link-local */
		       (dst[0] == 169 && dst[1] == 254);
	src = ip + NET_IP6_AT_SRC;
	dst = ip + NET_IP6_AT_DST;
	return ip[NET_IP6_AT_HOPS] == 255 || dst[0] == 255 ||
	       (src[0] == 0xfe && (src[1] & 0xc0) == 0x80) ||
	       (dst[0] == 0xfe && (dst[1] & 0xc0) == 0x80);
}

/* Labels a packet if one is due. Returns its length; 0: not labelled. */
static size_t maybe_label(struct label_hop *h, struct hop_packet *p)
{
	const struct label_transit *t = p->t;
	struct specific_flow *flow = t->from_edge
					     ? flow_due(h, &p->v, t->now_us)
					     : NULL;
	bool specific = flow || p->v.specific;
	uint64_t *refused = NULL; /* counter */
	size_t len;

	if (!label_decide(&h->o.policy, &h->port[t->out], p->v.n, specific,
			  t->now_us, &h->rng))
		return 0;
	if (label_ip_damaged(&p->v))
		refused = &h->ctr.checksum;
	else if (is_local(h, p))
		refused = &h->ctr.local;
	else if (p->v.layout == LABEL_IP4 &&
		 !(be16_load(p->v.ip + NET_IP4_AT_FRAGMENT) & NET_IP4_DF))
		refused = &h->ctr.fragmentable;
	if (refused) {
		(*refused)++;
		return 0;
	}
	len = push_label(h, p, specific);
	if (len && flow) {
		flow->marked = true;
		flow->last_us = t->now_us;
	}
	return len;
}

/* At the last hop: exports the labels of a frame, which may be in out, and
 * writes the frame without them to out. */
static struct label_outcome restore_packet(struct label_hop *h,
					   struct hop_packet *p,
					   const uint8_t *labelled, size_t len,
					   uint8_t *export)
{
	struct label_outcome o = {0};
	struct label_view v;

	label_find(&v, &h->o.format, labelled, len);
	if (export) {
		o.export = (size_t)(v.rest - labelled) +
			   (v.rest_len < LABEL_EXPORT_REST ? v.rest_len
							   : LABEL_EXPORT_REST);
		memcpy(export, labelled, o.export);
		h->ctr.exported++;
	}
	o.len = (size_t)label_strip(p->out, p->cap, &v, labelled, len);
	h->ctr.restored++;
	return o;
}

static struct label_outcome send_unchanged(struct hop_packet *p,
					   uint64_t *counter)
{
	memcpy(p->out, p->frame, p->len);
	(*counter)++;
	return (struct label_outcome){.len = p->len};
}

static struct label_outcome drop_packet(uint64_t *counter)
{
	(*counter)++;
	return (struct label_outcome){0};
}

struct label_outcome label_hop_pass(struct label_hop *h,
				    const struct label_transit *t,
				    const uint8_t *frame, size_t len,
				    uint8_t *out, uint8_t *export, size_t cap)
{
	struct hop_packet p = {
		.t = t, .frame = frame, .len = len, .out = out, .cap = cap};
	int rc = label_find(&p.v, &h->o.format, frame, len);
	size_t grown; /* length with a new label, or 0 */

	h->ctr.packets++;
	if (cap < len)
		return drop_packet(&h->ctr.too_long);
	if (t->from_edge && p.v.claims)
		return drop_packet(&h->ctr.forged);
	if (rc == -EBADMSG)
		return send_unchanged(&p, &h->ctr.malformed);
	if (rc && rc != -ENOENT)
		return send_unchanged(&p, &h->ctr.plain);
	grown = maybe_label(h, &p);
	if ((grown || p.v.labelled) && (t->to_edge || is_to_router(h, &p.v)))
		return restore_packet(h, &p, grown ? out : frame,
				      grown ? grown : len, export);
	if (grown) {
		h->ctr.labelled++;
		return (struct label_outcome){.len = grown};
	}
	return send_unchanged(&p,
			      p.v.labelled ? &h->ctr.carried : &h->ctr.plain);
}
