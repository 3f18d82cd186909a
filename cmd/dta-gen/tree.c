/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree.c - the network that the reports tell of: a k-ary fat tree (Al-Fares et
 * al., SIGCOMM 2008) with ECMP.
 *
 * Switch ids: 1 .. k*k/2 edge switches, pod by pod; then as many
 * aggregation switches, pod by pod; then k*k/4 cores. 80 for k = 8.
 *
 * Ports:  edge         0 .. k/2-1 to hosts, k/2 .. k-1 to aggregation
 *         aggregation  0 .. k/2-1 to edges, k/2 .. k-1 to cores
 *         core         0 .. k-1 to the pods
 *
 * A host hangs from the edge switch that a hash of its address picks, a flow
 * takes the aggregation and core switch that a hash of its key picks. The two
 * directions of a connection are two flows and may go different ways.
 */
#include "gen.h"

enum {
	SALT_HOST = 0x401,
	SALT_ECMP = 0x402,
};

void tree_init(struct tree *t, unsigned k, unsigned hops)
{
	*t = (struct tree){
		.k = k,
		.switches = k * k + k * k / 4,
		.hops = hops,
	};
}

static uint64_t host_hash(const uint8_t *addr, size_t len)
{
	return hash_bytes(SALT_HOST, addr, len);
}

/* A number below n out of 32 bits of a hash. */
static unsigned pick(uint32_t hash, unsigned n)
{
	return (unsigned)(((uint64_t)hash * n) >> 32);
}

unsigned tree_edge(const struct tree *t, const uint8_t *addr, size_t len)
{
	return 1 + pick((uint32_t)host_hash(addr, len), t->k * t->k / 2);
}

/*
 * With a fixed number of hops (tree.hops) the destination's switch is moved:
 * to the source's own, next to it, or to the next pod.
 */
static unsigned move_edge(const struct tree *t, unsigned src, unsigned dst)
{
	unsigned half = t->k / 2, pod = src / half;

	if (t->hops == 1)
		return src;
	if (t->hops == 3) {
		dst = pod * half + dst % half;
		return dst != src ? dst : pod * half + (dst + 1) % half;
	}
	return dst / half != pod ? dst : (dst + half) % (t->k * half);
}

void tree_path(const struct tree *t, struct path *out,
	       const struct gen_packet *p)
{
	unsigned half = t->k / 2, edges = t->k * half;
	uint64_t s = host_hash(packet_src(p), packet_addr_len(p));
	uint64_t d = host_hash(packet_dst(p), packet_addr_len(p));
	uint64_t way = hash_bytes(SALT_ECMP, p->key, p->key_len);
	unsigned src = pick((uint32_t)s, edges), dst = pick((uint32_t)d, edges);
	unsigned agg = pick((uint32_t)way, half);
	unsigned up = pick((uint32_t)(way >> 32), half);
	uint16_t in = (uint16_t)pick((uint32_t)(s >> 32), half);
	uint16_t host = (uint16_t)pick((uint32_t)(d >> 32), half);
	uint16_t to_agg = (uint16_t)(half + agg),
		 to_core = (uint16_t)(half + up);
	struct hop *h = out->hop;

	if (t->hops)
		dst = move_edge(t, src, dst);
	if (src == dst) {
		*h++ = (struct hop){1 + src, in, host};
	} else {
		unsigned sp = src / half, dp = dst / half;
		uint16_t down = (uint16_t)(dst % half);
		uint16_t from = (uint16_t)(src % half);
		uint32_t core = 1 + 2 * edges + agg * half + up;

		*h++ = (struct hop){1 + src, in, to_agg};
		if (sp == dp) {
			*h++ = (struct hop){1 + edges + sp * half + agg, from,
					    down};
		} else {
			*h++ = (struct hop){1 + edges + sp * half + agg, from,
					    to_core};
			*h++ = (struct hop){core, (uint16_t)sp, (uint16_t)dp};
			*h++ = (struct hop){1 + edges + dp * half + agg,
					    to_core, down};
		}
		*h++ = (struct hop){1 + dst, to_agg, host};
	}
	out->len = (unsigned)(h - out->hop);
}
