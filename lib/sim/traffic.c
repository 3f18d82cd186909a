/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/traffic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hash/bytes.h"
#include "net/be.h"

enum {
	NS_PER_S = 1000000000,
};

/* Decodes a frame, which may be cut behind its headers. 0; -ENOTSUP: neither
 * IPv4 nor IPv6; -EBADMSG: malformed or cut earlier. Then *out is as it was. */
static int traffic_decode(struct traffic_packet *out, const struct pkt *pkt)
{
	struct net_packet n;
	uint8_t same[16]; /* what stays the same along the path, but the key */
	int rc = net_packet_decode(&n, pkt->data, pkt->len);

	if (rc < 0)
		return rc;
	*out = (struct traffic_packet){
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
	out->key_len = (uint8_t)key_of_packet(out->key, &n);
	be64_store(same, (uint64_t)n.ip_len << 32 | n.tcp_seq);
	be64_store(same + 8, n.ip_id);
	out->id = hash_bytes(hash_bytes(0, out->key, out->key_len), same, 16);
	return 0;
}

struct traffic {
	struct traffic_options o;
	/* A capture: */
	struct src *src;
	struct pkt *pkts;
	int n, i;	      /* packets of the batch; the next one */
	struct flowtab *seen; /* flows that had their first packet */
	/* The model, TRAFFIC_PACKETS: */
	struct synth *synth;
	/* The model, else: the next flow, and its time: now_ns + rest / rate,
	 * to which each flow adds step_ns + step_rest / rate */
	struct synth_flows flows;
	uint64_t flow, now_ns, rest, step_ns, step_rest;
	struct traffic_packet blank; /* zeros */
};

static int open_capture(struct traffic *t, struct error *err)
{
	struct flowtab_options seen = {.max = t->o.max_flows,
				       .seed = t->o.model.seed,
				       .evicted = &t->o.ctr->evicted};
	int rc;

	t->pkts = malloc(PKT_BATCH * sizeof(*t->pkts));
	if (!t->pkts)
		return error_set(err, -ENOMEM, "out of memory");
	if (t->o.item == TRAFFIC_FLOWS) {
		rc = flowtab_open(&t->seen, &seen);
		if (rc < 0)
			return error_set(err, rc, "%s", strerror(-rc));
	}
	return src_open(&t->src, t->o.capture, err);
}

static int open_model(struct traffic *t, struct error *err)
{
	if (t->o.item == TRAFFIC_PACKETS && synth_open(&t->synth, &t->o.model))
		return error_set(err, -ENOMEM, "out of memory");
	synth_flows_init(&t->flows, &t->o.model);
	t->now_ns = t->o.model.start_ns;
	t->step_ns = NS_PER_S / t->o.model.rate;
	t->step_rest = NS_PER_S % t->o.model.rate;
	return 0;
}

int traffic_open(struct traffic **out, const struct traffic_options *o,
		 struct error *err)
{
	struct traffic *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return error_set(err, -ENOMEM, "out of memory");
	t->o = *o;
	rc = o->capture ? open_capture(t, err) : open_model(t, err);
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

static bool is_wanted(const struct traffic *t, const struct traffic_packet *p)
{
	return !t->o.wanted || t->o.wanted(t->o.ctx, p);
}

static int capture_next(struct traffic *t, struct traffic_packet *p,
			struct error *err)
{
	struct traffic_counters *c = t->o.ctr;
	bool first = true; /* of its flow */
	int rc;

	if (t->i == t->n) {
		if (t->n < PKT_BATCH && t->o.before_wait)
			t->o.before_wait(t->o.ctx);
		rc = src_rx(t->src, t->pkts, PKT_BATCH, err);
		if (rc <= 0)
			return rc;
		t->n = rc;
		t->i = 0;
	}
	while (t->i < t->n) {
		c->packets++;
		rc = traffic_decode(p, &t->pkts[t->i++]);
		if (rc == -ENOTSUP)
			c->not_ip++;
		else if (rc < 0)
			c->malformed++;
		else if (is_wanted(t, p)) {
			if (t->seen)
				flowtab_get(t->seen, p->key, p->key_len,
					    &first);
			if (first)
				return 1;
		}
	}
	return -EINTR; /* at the end of a batch, the caller looks at signals */
}

/* One packet per flow of the model. */
static bool flow_next(struct traffic *t, struct traffic_packet *p)
{
	const struct traffic_model *m = &t->o.model;

	if (t->flow == m->flows) {
		if (!t->o.again || !t->o.again(t->o.ctx))
			return false;
		t->flow = 0;
	}
	if (t->o.item == TRAFFIC_NUMBERS) {
		*p = t->blank; /* cheaper than clearing it */
		p->id = t->flow;
	} else {
		synth_flow(&t->flows, p, t->flow);
	}
	p->ts_ns = t->now_ns;
	t->flow++;
	t->now_ns += t->step_ns;
	t->rest += t->step_rest;
	if (t->rest >= m->rate) {
		t->rest -= m->rate;
		t->now_ns++;
	}
	return true;
}

int traffic_next(struct traffic *t, struct traffic_packet *p, struct error *err)
{
	if (t->src)
		return capture_next(t, p, err);
	while (t->synth && !synth_next(t->synth, p)) {
		if (!t->o.again || !t->o.again(t->o.ctx))
			return 0;
		synth_restart(t->synth);
	}
	if (!t->synth && !flow_next(t, p))
		return 0;
	t->o.ctr->packets++;
	return is_wanted(t, p) ? 1 : -EINTR;
}

const struct pkt *traffic_pkt(const struct traffic *t)
{
	return t->src ? &t->pkts[t->i - 1] : NULL;
}
