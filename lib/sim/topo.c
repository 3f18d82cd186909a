/* SPDX-License-Identifier: BSD-2-Clause */
/* topo.c - a fat tree, and the path of a flow through it. */
#include "sim/traffic.h"

#include "hash/bytes.h"

enum {
	SALT_HOST = 0x401, /* for the edge switch and the port of a host */
	SALT_ECMP = 0x402, /* for the choice among equal paths */
};

void topo_fat_tree(struct topology *t, unsigned k, unsigned hops)
{
	*t = (struct topology){.switches = k * k + k * k / 4,
			       .edges = k * k / 2,
			       .ports = k,
			       .hops = hops};
}

static uint64_t host_hash(const uint8_t *addr, size_t len)
{
	return hash_bytes(SALT_HOST, addr, len);
}

/* Maps 32 bits of a hash to a number below n. */
static unsigned hash_below(uint32_t hash, unsigned n)
{
	return (unsigned)(((uint64_t)hash * n) >> 32);
}

unsigned topo_edge(const struct topology *t, const uint8_t *addr, size_t len)
{
	return 1 + hash_below((uint32_t)host_hash(addr, len), t->edges);
}

/* The edge switch to be taken for dst, so that the path has t->hops hops. */
static unsigned move_edge(const struct topology *t, unsigned src, unsigned dst)
{
	unsigned half = t->ports / 2, pod = src / half;

	if (t->hops == 1)
		return src;
	if (t->hops == 3) {
		dst = pod * half + dst % half;
		return dst != src ? dst : pod * half + (dst + 1) % half;
	}
	return dst / half != pod ? dst : (dst + half) % t->edges;
}

void topo_path(const struct topology *t, struct topo_path *out,
	       const uint8_t *key, size_t key_len)
{
	unsigned half = t->ports / 2, edges = t->edges;
	size_t addr = key_len == KEY_FLOW6_LEN ? 16 : 4;
	uint64_t src_hash = host_hash(key, addr),
		 dst_hash = host_hash(key + addr, addr);
	uint64_t ecmp = hash_bytes(SALT_ECMP, key, key_len);
	unsigned src = hash_below((uint32_t)src_hash, edges),
		 dst = hash_below((uint32_t)dst_hash, edges);
	unsigned agg = hash_below((uint32_t)ecmp, half);
	unsigned up = hash_below((uint32_t)(ecmp >> 32), half);
	uint16_t from_host = (uint16_t)hash_below((uint32_t)(src_hash >> 32),
						  half);
	uint16_t to_host = (uint16_t)hash_below((uint32_t)(dst_hash >> 32),
						half);
	uint16_t to_agg = (uint16_t)(half + agg),
		 to_core = (uint16_t)(half + up);
	struct topo_hop *h = out->hop;

	if (t->hops)
		dst = move_edge(t, src, dst);
	if (src == dst) {
		*h++ = (struct topo_hop){1 + src, from_host, to_host};
	} else {
		unsigned src_pod = src / half, dst_pod = dst / half;
		uint32_t src_agg = 1 + edges + src_pod * half + agg;
		uint32_t dst_agg = 1 + edges + dst_pod * half + agg;
		uint32_t core = 1 + 2 * edges + agg * half + up;
		uint16_t down = (uint16_t)(dst % half);
		uint16_t from = (uint16_t)(src % half);

		*h++ = (struct topo_hop){1 + src, from_host, to_agg};
		if (src_pod == dst_pod) {
			*h++ = (struct topo_hop){src_agg, from, down};
		} else {
			*h++ = (struct topo_hop){src_agg, from, to_core};
			*h++ = (struct topo_hop){core, (uint16_t)src_pod,
						 (uint16_t)dst_pod};
			*h++ = (struct topo_hop){dst_agg, to_core, down};
		}
		*h++ = (struct topo_hop){1 + dst, to_agg, to_host};
	}
	out->len = (unsigned)(h - out->hop);
}
