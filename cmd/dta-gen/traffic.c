/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * traffic.c - packets of the monitored traffic, from where the options say: a
 * capture; the traffic model of synth.c; or, for workloads that look at the
 * first packet of a flow only, one packet per synthetic flow, made without any
 * memory of the flows, as fast as can be.
 */
#include <errno.h>
#include <stdlib.h>

#include "gen.h"

enum {
	NS_PER_S = 1000000000,
};

/* Synthetic time begins here: 2023-11-14 22:13:20 UTC. */
static const uint64_t start_ns = 1700000000ull * NS_PER_S;

struct traffic {
	struct gen *g;
	struct src *src; /* a capture */
	struct pkt *pkts;
	int n, i;	      /* packets at hand, the next */
	struct flowtab *seen; /* per flow: flows that had their first packet */
	struct synth *synth;
	/* per flow, synthetic: the next one, its time and the rest of that */
	uint64_t flow, now_ns, rest;
};

static int open_capture(struct traffic *t, struct fault *f)
{
	const struct gen_options *o = &t->g->o;
	int rc;

	t->pkts = malloc(PKT_BATCH * sizeof(*t->pkts));
	if (!t->pkts)
		return fault_set(f, -ENOMEM, "out of memory");
	if (t->g->w->per_flow) {
		rc = flowtab_open(&t->seen, o->max_flows, o->seed);
		if (rc < 0)
			return fault_set(f, rc, "%s", strerror(-rc));
		flowtab_on_evict(t->seen, NULL, t->g);
	}
	return src_open(&t->src, o->from, f);
}

int traffic_open(struct traffic **out, struct gen *g, struct fault *f)
{
	struct traffic *t = calloc(1, sizeof(*t));
	int rc = 0;

	if (!t)
		return fault_set(f, -ENOMEM, "out of memory");
	t->g = g;
	t->now_ns = start_ns;
	if (g->o.from)
		rc = open_capture(t, f);
	else if (!g->w->per_flow)
		rc = synth_open(&t->synth, &g->o, start_ns, &g->ctr.reports);
	if (rc < 0) {
		traffic_close(t);
		return rc;
	}
	*out = t;
	return 0;
}

void traffic_close(struct traffic *t)
{
	if (!t)
		return;
	src_close(t->src);
	synth_close(t->synth);
	flowtab_close(t->seen);
	free(t->pkts);
	free(t);
}

/* What the reports tell of a packet, if its headers hold up. */
static int decode(struct gen_packet *p, const struct pkt *pkt)
{
	struct net_packet n;
	uint8_t same[16];
	int rc = net_packet_decode(&n, pkt->data, pkt->len);

	if (rc < 0)
		return rc;
	*p = (struct gen_packet){
		.ts_ns = pkt->ts_ns,
		.v6 = n.version == 6,
		.fragment = n.fragment,
		.protocol = n.protocol,
		.ttl = n.ttl,
		.tcp_flags = n.tcp_flags,
		.src_port = n.src_port,
		.dst_port = n.dst_port,
		.ip_id = n.ip_id,
		.ip_len = n.ip_len,
		.seq = n.tcp_seq,
		.payload = n.tcp_payload,
	};
	p->key_len = (uint8_t)key_of_packet(p->key, &n);
	memcpy(same, &(uint64_t){htobe64((uint64_t)n.ip_len << 32 | n.tcp_seq)},
	       8);
	memcpy(same + 8, &(uint64_t){htobe64(n.ip_id)}, 8);
	p->id = hash_bytes(hash_bytes(0, p->key, p->key_len), same, 16);
	return 0;
}

/* Whether the workload can use the packet; else the reason is counted. */
static bool wanted(struct gen *g, const struct gen_packet *p)
{
	struct gen_ledger *c = &g->ctr;

	if (p->v6 && g->o.format != DTA_FORMAT_1 &&
	    g->w->key[1] != g->w->key[0]) {
		c->ipv6++;
		return false;
	}
	if (p->fragment && g->w->needs != NEEDS_HOST) {
		c->fragments++;
		return false;
	}
	if (p->protocol != NET_PROTO_TCP && g->w->needs == NEEDS_TCP) {
		c->not_tcp++;
		return false;
	}
	c->used++;
	return true;
}

static bool first_of_flow(struct traffic *t, const struct gen_packet *p)
{
	bool fresh;

	flowtab_get(t->seen, p->key, p->key_len, &fresh);
	return fresh;
}

/* One that is wanted; -EINTR: there is no more in this batch. */
static int capture_next(struct traffic *t, struct gen_packet *p,
			struct fault *f)
{
	struct gen_ledger *c = &t->g->ctr;
	int rc;

	if (t->i == t->n) {
		if (t->n < PKT_BATCH)
			emit_flush(t->g); /* we may have to wait */
		rc = src_rx(t->src, t->pkts, PKT_BATCH, f);
		if (rc <= 0)
			return rc;
		t->n = rc;
		t->i = 0;
	}
	while (t->i < t->n) {
		c->packets++;
		rc = decode(p, &t->pkts[t->i++]);
		if (rc == -ENOTSUP)
			c->not_ip++;
		else if (rc < 0)
			c->malformed++;
		else if (wanted(t->g, p) && (!t->seen || first_of_flow(t, p)))
			return 1;
	}
	return -EINTR; /* who asks hears a clock */
}

/* One packet per flow; they may come round again. */
static int flow_next(struct traffic *t, struct gen_packet *p)
{
	const struct gen_options *o = &t->g->o;

	if (t->flow == o->flows) {
		if (!o->repeat || !t->g->ctr.reports)
			return 0;
		t->flow = 0;
	}
	if (t->g->w->needs == NEEDS_NOTHING)
		*p = (struct gen_packet){.id = t->flow};
	else
		synth_flow(p, o, t->flow);
	p->ts_ns = t->now_ns;
	t->flow++;
	t->now_ns += NS_PER_S / o->rate;
	t->rest += NS_PER_S % o->rate;
	if (t->rest >= o->rate) {
		t->rest -= o->rate;
		t->now_ns++;
	}
	return 1;
}

int traffic_next(struct traffic *t, struct gen_packet *p, struct fault *f)
{
	struct gen *g = t->g;

	if (t->src)
		return capture_next(t, p, f);
	if (t->synth ? !synth_next(t->synth, p) : !flow_next(t, p))
		return 0;
	g->ctr.packets++;
	return wanted(g, p) ? 1 : -EINTR; /* who asks hears a clock */
}

void traffic_place(const struct traffic *t, struct cli_progress *p)
{
	if (t->src) {
		p->bytes = src_done(t->src);
		p->bytes_all = src_size(t->src);
	} else if (!t->synth && !t->g->o.repeat) {
		p->unit = "flows";
		p->count = t->flow;
		p->count_all = t->g->o.flows;
	}
}
