/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flows.c - workloads that follow each flow: Marple's flowlets, TCP timeouts
 * and lossy flows; loss events of NetSeer and PacketScope. A loss is seen by
 * its retransmission.
 */
#include <string.h>

#include "base/rng.h"
#include "workload/private.h"
#include "hash/family.h"
#include "traffic/tcp.h"
#include "wire/be.h"

enum {
	FLOWLET_LISTS = 16,
	LOSSY_MIN = 5, /* segments: a rate of fewer means nothing */
	/* PacketScope: where in the pipeline a packet was dropped */
	STAGE_QUEUE = 2,
};

/* Lossy flows: list i holds flows with a loss rate of at least this, in %. */
static const unsigned lossy_percent[] = {1, 2, 5, 10, 20, 50};

/* What is kept of a flow: of its segments, of its packets. */
struct tracked {
	struct tcp_flow tcp;
	uint64_t start_ns; /* of the window */
	uint32_t packets, lost;
};

struct flowlet {
	uint64_t last_ns;
	uint32_t packets;
};

static int open_flows(struct workload_run *g, size_t data_len,
		      void (*on_evict)(void *ctx, struct flow *f))
{
	struct flowtab_options o = {
		.max = g->o.max_flows,
		.data_len = data_len,
		.seed = g->o.seed,
		.on_evict = on_evict,
		.ctx = g,
		.evicted = &g->traffic->evicted,
	};

	return flowtab_open(&g->flows, &o);
}

int work_flows_start(struct workload_run *g)
{
	return open_flows(g, sizeof(struct tracked), NULL);
}

void work_flows_end(struct workload_run *g)
{
	flowtab_drain(g->flows);
}

static enum tcp_verdict track(struct workload_run *g,
			      const struct traffic_packet *p, struct flow **out)
{
	bool fresh;
	struct flow *f = flowtab_get(g->flows, p->key, p->key_len, &fresh);
	struct tracked *t = flow_data(f);
	enum tcp_verdict v = tcp_track(&t->tcp, p, g->o.rto_ns);

	g->now_ns = p->ts_ns;
	if (fresh)
		t->start_ns = p->ts_ns;
	if (v >= TCP_RETRANSMITTED)
		g->ctr->retransmissions++;
	*out = f;
	return v;
}

static bool is_v6(const struct flow *f)
{
	return f->key_len == KEY_FLOW6_LEN;
}

static unsigned first_switch(const struct workload_run *g, const struct flow *f)
{
	return topo_edge(&g->topology, f->key, is_v6(f) ? 16 : 4);
}

/* A flow to a list, by its first switch. */
static void append_flow(struct workload_run *g, unsigned list,
			const struct flow *f)
{
	work_append(g, is_v6(f), list, f->key, f->key_len, first_switch(g, f),
		    g->now_ns);
}

/* List: floor(log2(packets of the flowlet)), at most 15. Entry: the flow. */
static void report_flowlet(void *ctx, struct flow *f)
{
	const struct flowlet *l = flow_data(f);
	unsigned list = 31 - (unsigned)__builtin_clz(l->packets | 1);

	append_flow(ctx, list < FLOWLET_LISTS ? list : FLOWLET_LISTS - 1, f);
}

int work_marple_flowlets_start(struct workload_run *g)
{
	return open_flows(g, sizeof(struct flowlet), report_flowlet);
}

void work_marple_flowlets(struct workload_run *g,
			  const struct traffic_packet *p)
{
	bool fresh;
	struct flow *f = flowtab_get(g->flows, p->key, p->key_len, &fresh);
	struct flowlet *l = flow_data(f);

	g->now_ns = p->ts_ns;
	if (!fresh && p->ts_ns > l->last_ns &&
	    p->ts_ns - l->last_ns > g->o.gap_ns) {
		report_flowlet(g, f);
		l->packets = 0;
	}
	l->packets++;
	l->last_ns = p->ts_ns;
}

/* Value: timeouts of the flow so far. */
void work_marple_timeouts(struct workload_run *g,
			  const struct traffic_packet *p)
{
	struct tracked *t;
	uint32_t count_be;
	struct flow *f;

	if (track(g, p, &f) != TCP_TIMED_OUT)
		return;
	t = flow_data(f);
	count_be = htobe32(++t->lost);
	work_keywrite(g, p->v6, f->key, f->key_len, &count_be, sizeof(count_be),
		      first_switch(g, f), p->ts_ns);
}

/* A window of a flow is over: is it lossy, and how? */
static void report_lossy(void *ctx, struct flow *f)
{
	unsigned list = sizeof(lossy_percent) / sizeof(lossy_percent[0]);
	const struct tracked *t = flow_data(f);

	if (t->packets < LOSSY_MIN)
		return;
	while (list && (uint64_t)t->lost * 100 <
			       (uint64_t)t->packets * lossy_percent[list - 1])
		list--;
	if (list)
		append_flow(ctx, list - 1, f);
}

int work_marple_lossy_start(struct workload_run *g)
{
	return open_flows(g, sizeof(struct tracked), report_lossy);
}

void work_marple_lossy(struct workload_run *g, const struct traffic_packet *p)
{
	struct flow *f;
	enum tcp_verdict v = track(g, p, &f);
	struct tracked *t = flow_data(f);

	if (p->ts_ns > t->start_ns && p->ts_ns - t->start_ns > g->o.window_ns) {
		report_lossy(g, f);
		t->start_ns = p->ts_ns;
		t->packets = 0;
		t->lost = 0;
	}
	if (!p->payload)
		return;
	t->packets++;
	t->lost += v >= TCP_RETRANSMITTED;
}

/*
 * Which switch dropped the segment cannot be seen from here; a hash picks one
 * of its path.
 */
static const struct topo_hop *culprit(const struct topo_path *path,
				      const struct traffic_packet *p)
{
	return &path->hop[rng_mix(p->seq) % path->len];
}

/*
 * Entry: flow (13 or 37), how the loss was repaired (1): 1 fast
 * retransmission, 2 timeout; sequence number of the lost segment (4).
 */
void work_netseer_loss(struct workload_run *g, const struct traffic_packet *p)
{
	uint8_t entry[KEY_FLOW6_LEN + 5];
	struct topo_path path;
	struct flow *f;
	enum tcp_verdict v = track(g, p, &f);

	if (v < TCP_RETRANSMITTED)
		return;
	topo_path(&g->topology, &path, p->key, p->key_len);
	memcpy(entry, p->key, p->key_len);
	entry[p->key_len] = v == TCP_TIMED_OUT ? 2 : 1;
	be32_store(entry + p->key_len + 1, p->seq);
	work_append(g, p->v6, 0, entry, p->key_len + 5u, culprit(&path, p)->id,
		    p->ts_ns);
}

/*
 * Entry: switch id (4), ingress port (2), egress port (2), stage (1: 2, the
 * queue), protocol (1), CRC-32C of the flow key (4): 14 bytes for IPv4 and
 * IPv6.
 */
void work_packetscope_loss(struct workload_run *g,
			   const struct traffic_packet *p)
{
	const struct topo_hop *hop;
	uint8_t entry[14];
	struct topo_path path;
	struct flow *f;

	if (track(g, p, &f) < TCP_RETRANSMITTED)
		return;
	topo_path(&g->topology, &path, p->key, p->key_len);
	hop = culprit(&path, p);
	be32_store(entry, hop->id);
	be32_store(entry + 4, (uint32_t)hop->in << 16 | hop->out);
	entry[8] = STAGE_QUEUE;
	entry[9] = p->protocol;
	be32_store(entry + 10, hash_checksum(HASH_DTA1, p->key, p->key_len));
	work_append(g, false, 0, entry, sizeof(entry), hop->id, p->ts_ns);
}
