/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * events.c - what packets do one by one: INT congestion events out of a
 * modelled queue, Sonata's raw tuples, dShark's packet summaries.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "workload/private.h"
#include "hash/bytes.h"
#include "wire/be.h"

/*
 * The queue in front of one link that all packets pass: it grows by a packet's
 * length and drains at the link's rate between packets.
 */
struct queue {
	uint64_t bits;
	uint64_t last_ns;
	uint64_t rest; /* of bits drained: billionths */
};

int work_int_congestion_start(struct workload_run *g)
{
	g->state = calloc(1, sizeof(struct queue));
	return g->state ? 0 : -ENOMEM;
}

/* Entry: the depth in bytes that a packet finds, if at least --queue. */
void work_int_congestion(struct workload_run *g, const struct traffic_packet *p)
{
	struct queue *q = g->state;
	unsigned __int128 drained;
	uint32_t depth_be;
	uint64_t depth;

	if (p->ts_ns > q->last_ns) {
		drained = (unsigned __int128)(p->ts_ns - q->last_ns) *
				  g->o.link_rate +
			  q->rest;
		q->rest = (uint64_t)(drained % 1000000000);
		drained /= 1000000000;
		q->bits = drained < q->bits ? q->bits - (uint64_t)drained : 0;
		q->last_ns = p->ts_ns;
	}
	depth = q->bits / 8;
	q->bits += 8ull * p->ip_len;
	if (depth < g->o.queue)
		return;
	depth_be = htobe32(depth > UINT32_MAX ? UINT32_MAX : (uint32_t)depth);
	work_append(
		g, false, 0, &depth_be, sizeof(depth_be),
		topo_edge(&g->topology, traffic_dst(p), traffic_addr_len(p)),
		p->ts_ns);
}

/* The queries whose tuples go to list 0, 1, ... */
static bool query_matches(unsigned query, const struct traffic_packet *p)
{
	bool tcp = p->protocol == NET_PROTO_TCP;

	switch (query) {
	case 0: /* new TCP connections */
		return tcp && (p->tcp_flags & (NET_TCP_SYN | NET_TCP_ACK)) ==
				      NET_TCP_SYN;
	case 1: /* DNS */
		return p->src_port == 53 || p->dst_port == 53;
	case 2: /* SSH, Telnet */
		return tcp && (p->dst_port == 22 || p->dst_port == 23);
	case 3: /* TCP connections that end */
		return tcp && p->tcp_flags & (NET_TCP_FIN | NET_TCP_RST);
	}
	return false;
}

/* Entry: flow (13 or 37), length of the IP packet (2), TCP flags (1). */
void work_sonata_raw(struct workload_run *g, const struct traffic_packet *p)
{
	unsigned edge = topo_edge(&g->topology, traffic_dst(p),
				  traffic_addr_len(p));
	uint8_t entry[KEY_FLOW6_LEN + 3];

	memcpy(entry, p->key, p->key_len);
	be16_store(entry + p->key_len, p->ip_len & 0xffff);
	entry[p->key_len + 2] = p->tcp_flags;
	for (unsigned query = 0; query < 4; query++)
		if (query_matches(query, p))
			work_append(g, p->v6, query, entry, p->key_len + 3u,
				    edge, p->ts_ns);
}

/*
 * Every switch on the way sends a summary; the grouper (list) is a hash of the
 * flow, so that summaries of one packet meet. Entry: flow (13 or 37), switch
 * id (4), time in microseconds mod 2^32 (4), IP id (2), IP length (2), TTL (1),
 * TCP flags (1), hop (1).
 */
void work_dshark(struct workload_run *g, const struct traffic_packet *p)
{
	uint64_t hash = hash_bytes(0xd54a, p->key, p->key_len);
	uint8_t entry[KEY_FLOW6_LEN + 15], *e = entry + p->key_len;
	struct topo_path path;

	topo_path(&g->topology, &path, p->key, p->key_len);
	memcpy(entry, p->key, p->key_len);
	be32_store(e + 4, (uint32_t)(p->ts_ns / 1000));
	be16_store(e + 8, p->ip_id);
	be16_store(e + 10, p->ip_len & 0xffff);
	e[13] = p->tcp_flags;
	for (unsigned i = 0; i < path.len; i++) {
		be32_store(e, path.hop[i].id);
		e[12] = (uint8_t)(p->ttl > i ? p->ttl - i : 0);
		e[14] = (uint8_t)i;
		work_append(g, p->v6, (uint32_t)(hash % g->o.lists), entry,
			    p->key_len + 15u, path.hop[i].id, p->ts_ns);
	}
}
