/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * w_flows.c - workloads that follow each flow: Marple's flowlets, TCP timeouts
 * and lossy flows; loss events of NetSeer and PacketScope. A loss is seen by
 * its retransmission.
 */
#include <stdlib.h>

#include "gen.h"
#include "hash/family.h"

enum {
	FLOWLET_LISTS = 16,
	LOSSY_MIN = 5, /* segments: a rate of fewer means nothing */
	/* PacketScope: where in the pipeline a packet was dropped */
	STAGE_QUEUE = 2,
};

/* Lossy flows: list i holds flows with a loss rate of at least this, in %. */
static const unsigned lossy_percent[] = {1, 2, 5, 10, 20, 50};

static unsigned first_switch(const struct gen *g, const uint8_t *key, bool v6)
{
	return tree_edge(&g->tree, key, v6 ? 16 : 4);
}

static struct flow *flow_of(struct gen *g, const struct gen_packet *p,
			    bool *fresh)
{
	struct flow *f = flowtab_get(g->flows, p->key, p->key_len, fresh);

	g->now_ns = p->ts_ns;
	if (*fresh) {
		f->v6 = p->v6;
		f->start_ns = p->ts_ns;
		f->last_ns = p->ts_ns;
	}
	return f;
}

static enum tcp_verdict track(struct gen *g, const struct gen_packet *p,
			      struct flow **out)
{
	bool fresh;
	struct flow *f = flow_of(g, p, &fresh);
	enum tcp_verdict v = tcp_track(f, p, fresh, g->o.rto_ns);

	if (v >= TCP_RETRANSMITTED)
		g->ctr.retransmissions++;
	f->last_ns = p->ts_ns;
	*out = f;
	return v;
}

int flows_start(struct gen *g)
{
	int rc = flowtab_open(&g->flows, g->o.max_flows, g->o.seed);

	if (rc == 0)
		flowtab_on_evict(g->flows, NULL, g);
	return rc;
}

void flows_end(struct gen *g)
{
	flowtab_drain(g->flows);
}

/* List: floor(log2(packets of the flowlet)), at most 15. Entry: the flow. */
static void report_flowlet(struct gen *g, struct flow *f)
{
	unsigned list = 31 - (unsigned)__builtin_clz(f->packets | 1);

	if (list >= FLOWLET_LISTS)
		list = FLOWLET_LISTS - 1;
	emit_append(g, f->v6, list, f->key, f->key_len,
		    first_switch(g, f->key, f->v6), g->now_ns);
}

int marple_flowlets_start(struct gen *g)
{
	int rc = flows_start(g);

	if (rc == 0)
		flowtab_on_evict(g->flows, report_flowlet, g);
	return rc;
}

void marple_flowlets(struct gen *g, const struct gen_packet *p)
{
	bool fresh;
	struct flow *f = flow_of(g, p, &fresh);

	if (p->ts_ns > f->last_ns && p->ts_ns - f->last_ns > g->o.gap_ns) {
		report_flowlet(g, f);
		f->packets = 0;
	}
	f->packets++;
	f->last_ns = p->ts_ns;
}

/* Value: timeouts of the flow so far. */
void marple_timeouts(struct gen *g, const struct gen_packet *p)
{
	uint32_t count_be;
	struct flow *f;

	if (track(g, p, &f) != TCP_TIMED_OUT)
		return;
	count_be = htobe32(++f->lost);
	emit_keywrite(g, f->v6, f->key, f->key_len, &count_be, sizeof(count_be),
		      first_switch(g, f->key, f->v6), p->ts_ns);
}

/* A window of a flow is over: is it lossy, and how? */
static void report_lossy(struct gen *g, struct flow *f)
{
	unsigned list = sizeof(lossy_percent) / sizeof(lossy_percent[0]);

	if (f->packets < LOSSY_MIN)
		return;
	while (list && (uint64_t)f->lost * 100 <
			       (uint64_t)f->packets * lossy_percent[list - 1])
		list--;
	if (list)
		emit_append(g, f->v6, list - 1, f->key, f->key_len,
			    first_switch(g, f->key, f->v6), g->now_ns);
}

int marple_lossy_start(struct gen *g)
{
	int rc = flows_start(g);

	if (rc == 0)
		flowtab_on_evict(g->flows, report_lossy, g);
	return rc;
}

void marple_lossy(struct gen *g, const struct gen_packet *p)
{
	struct flow *f;
	enum tcp_verdict v = track(g, p, &f);

	if (p->ts_ns > f->start_ns && p->ts_ns - f->start_ns > g->o.window_ns) {
		report_lossy(g, f);
		f->start_ns = p->ts_ns;
		f->packets = 0;
		f->lost = 0;
	}
	if (!p->payload)
		return;
	f->packets++;
	f->lost += v >= TCP_RETRANSMITTED;
}

/*
 * Which switch dropped the segment cannot be seen from here; a hash picks one
 * of its path.
 */
static const struct hop *culprit(const struct path *path,
				 const struct gen_packet *p)
{
	return &path->hop[rng_mix(p->seq) % path->len];
}

/*
 * Entry: flow (13 or 37), how the loss was repaired (1): 1 fast
 * retransmission, 2 timeout; sequence number of the lost segment (4).
 */
void netseer_loss(struct gen *g, const struct gen_packet *p)
{
	uint8_t entry[FLOW6_LEN + 5];
	struct path path;
	struct flow *f;
	enum tcp_verdict v = track(g, p, &f);

	if (v < TCP_RETRANSMITTED)
		return;
	tree_path(&g->tree, &path, p);
	memcpy(entry, p->key, p->key_len);
	entry[p->key_len] = v == TCP_TIMED_OUT ? 2 : 1;
	store32(entry + p->key_len + 1, p->seq);
	emit_append(g, p->v6, 0, entry, p->key_len + 5u, culprit(&path, p)->id,
		    p->ts_ns);
}

/*
 * Entry: switch id (4), ingress port (2), egress port (2), stage (1: 2, the
 * queue), protocol (1), CRC-32C of the flow key (4): 14 bytes for IPv4 and
 * IPv6.
 */
void packetscope_loss(struct gen *g, const struct gen_packet *p)
{
	const struct hop *hop;
	uint8_t entry[14];
	struct path path;
	struct flow *f;

	if (track(g, p, &f) < TCP_RETRANSMITTED)
		return;
	tree_path(&g->tree, &path, p);
	hop = culprit(&path, p);
	store32(entry, hop->id);
	store32(entry + 4, (uint32_t)hop->in << 16 | hop->out);
	entry[8] = STAGE_QUEUE;
	entry[9] = p->protocol;
	store32(entry + 10, hash_checksum(HASH_DTA1, p->key, p->key_len));
	emit_append(g, false, 0, entry, sizeof(entry), hop->id, p->ts_ns);
}
