/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * path.c - workloads that tell of paths: INT-MD path tracing, INT postcards,
 * PacketScope traversal, PINT, Trajectory Sampling.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "workload/private.h"
#include "wire/be.h"

/* Value: five switch ids, 0 past the path's end. Reporter: the INT sink. */
void work_int_path(struct workload_run *g, const struct traffic_packet *p)
{
	uint8_t value[4 * TOPO_HOPS_MAX] = {0};
	struct topo_path path;

	topo_path(&g->topology, &path, p->key, p->key_len);
	for (unsigned i = 0; i < path.len; i++)
		be32_store(value + 4 * i, path.hop[i].id);
	work_keywrite(g, p->v6, p->key, p->key_len, value, sizeof(value),
		      path.hop[path.len - 1].id, p->ts_ns);
}

/*
 * Postcards: with --interleave N, N+1 flows at a time send theirs hop by hop,
 * so that N other postcards lie between two of one flow.
 */
struct carded {
	struct traffic_packet p;
	struct topo_path path;
};

struct postcards {
	uint64_t n, room;
	struct carded flow[];
};

int work_int_postcard_start(struct workload_run *g)
{
	uint64_t room = g->o.interleave + 1;
	struct postcards *s = calloc(1, sizeof(*s) + room * sizeof(s->flow[0]));

	if (!s)
		return -ENOMEM;
	s->room = room;
	g->state = s;
	return 0;
}

void work_int_postcard_end(struct workload_run *g)
{
	struct postcards *s = g->state;

	for (unsigned hop = 0; hop < TOPO_HOPS_MAX; hop++) {
		for (uint64_t i = 0; i < s->n; i++) {
			const struct carded *c = &s->flow[i];
			uint32_t id = c->path.hop[hop].id;

			if (hop < c->path.len)
				work_postcard(g, c->p.v6, c->p.key,
					      c->p.key_len, hop, c->path.len,
					      id, id, c->p.ts_ns);
		}
	}
	s->n = 0;
}

void work_int_postcard(struct workload_run *g, const struct traffic_packet *p)
{
	struct postcards *s = g->state;
	struct carded *c = &s->flow[s->n++];

	c->p = *p;
	topo_path(&g->topology, &c->path, p->key, p->key_len);
	if (s->n == s->room)
		work_int_postcard_end(g);
}

/*
 * Key: switch id and flow. Value: ingress port (2), egress port (2), time of
 * the flow's first packet in microseconds mod 2^32 (4).
 */
void work_packetscope_path(struct workload_run *g,
			   const struct traffic_packet *p)
{
	uint8_t key[4 + KEY_MAX], value[8];
	struct topo_path path;

	topo_path(&g->topology, &path, p->key, p->key_len);
	memcpy(key + 4, p->key, p->key_len);
	be32_store(value + 4, (uint32_t)(p->ts_ns / 1000));
	for (unsigned i = 0; i < path.len; i++) {
		be32_store(key, path.hop[i].id);
		be16_store(value, path.hop[i].in);
		be16_store(value + 2, path.hop[i].out);
		work_keywrite(g, p->v6, key, 4u + p->key_len, value,
			      sizeof(value), path.hop[i].id, p->ts_ns);
	}
}

/*
 * PINT: each packet carries one byte: a hash of the id of one of the
 * switches on its way, which one being a function of the packet's id. The
 * collector, who knows packet ids, narrows the path down report by report.
 * "using redundancies for data compression through n = f(pktID)" (Table 2): the
 * number of copies is 1 + f(id) mod 4.
 */
void work_pint(struct workload_run *g, const struct traffic_packet *p)
{
	uint64_t f = rng_mix(p->id);
	struct topo_path path;
	uint8_t digest;
	struct dta_report r = {
		.opcode = DTA_KEYWRITE,
		.copies = (uint8_t)(1 + f % DTA_MAX_COPIES),
		.key = p->key,
		.key_len = p->key_len,
		.data = &digest,
		.data_len = 1,
	};

	topo_path(&g->topology, &path, p->key, p->key_len);
	digest = (uint8_t)rng_mix(p->id ^ path.hop[(f >> 32) % path.len].id);
	work_report(g, &r, p->v6, path.hop[path.len - 1].id, p->ts_ns);
}

/*
 * Trajectory Sampling: all switches sample the same packets, by a hash of what
 * does not change on the way. Key: 32 bits of that hash. Label: the switch's id
 * (upper 16 bits), 16 more bits of the hash; unique to the packet and the hop.
 */
void work_trajectory(struct workload_run *g, const struct traffic_packet *p)
{
	uint64_t hash = rng_mix(p->id);
	struct topo_path path;
	uint8_t key[4];

	if (hash % g->o.sample)
		return;
	hash = rng_mix(hash);
	be32_store(key, (uint32_t)(hash >> 32));
	topo_path(&g->topology, &path, p->key, p->key_len);
	for (unsigned i = 0; i < path.len; i++) {
		uint32_t id = path.hop[i].id;

		work_postcard(g, false, key, sizeof(key), i, path.len,
			      id << 16 | (hash & 0xffff), id, p->ts_ns);
	}
}
