/* SPDX-License-Identifier: BSD-2-Clause */
/* topo.c - a fat tree, and the path of a flow through it. */
#include "sim/traffic.h"

#include "hash/bytes.h"
#include "net/key.h"

enum {
	SALT_HOST = 0x401, /* for the edge and the port of a host */
	SALT_ECMP = 0x402, /* for the choice among equal paths */
};

void topo_fat_tree(struct topology *t, unsigned k, unsigned hops)
{
	*t = (struct topology){
		.switches = k * k + k * k / 4,
		.edges = k * k / 2,
		.ports = k,
		.hops = hops,
	};
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

/* The edge, at dst or near it, to which the path has t->hops hops: 1, 3 or 5.
 */
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
	uint64_t s = host_hash(key, addr), d = host_hash(key + addr, addr);
	uint64_t ecmp = hash_bytes(SALT_ECMP, key, key_len);
	unsigned src = hash_below((uint32_t)s, edges),
		 dst = hash_below((uint32_t)d, edges);
	unsigned agg = hash_below((uint32_t)ecmp, half);
	unsigned up = hash_below((uint32_t)(ecmp >> 32), half);
	uint16_t in = (uint16_t)hash_below((uint32_t)(s >> 32), half);
	uint16_t host = (uint16_t)hash_below((uint32_t)(d >> 32), half);
	uint16_t to_agg = (uint16_t)(half + agg),
		 to_core = (uint16_t)(half + up);
	struct topo_hop *h = out->hop;

	if (t->hops)
		dst = move_edge(t, src, dst);
	if (src == dst) {
		*h++ = (struct topo_hop){1 + src, in, host};
	} else {
		unsigned sp = src / half, dp = dst / half; /* pods */
		uint16_t down = (uint16_t)(dst % half);
		uint16_t from = (uint16_t)(src % half);
		uint32_t core = 1 + 2 * edges + agg * half + up;

		*h++ = (struct topo_hop){1 + src, in, to_agg};
		if (sp == dp) {
			*h++ = (struct topo_hop){1 + edges + sp * half + agg,
						 from, down};
		} else {
			*h++ = (struct topo_hop){1 + edges + sp * half + agg,
						 from, to_core};
			*h++ = (struct topo_hop){core, (uint16_t)sp,
						 (uint16_t)dp};
			*h++ = (struct topo_hop){1 + edges + dp * half + agg,
						 to_core, down};
		}
		*h++ = (struct topo_hop){1 + dst, to_agg, host};
	}
	out->len = (unsigned)(h - out->hop);
}
