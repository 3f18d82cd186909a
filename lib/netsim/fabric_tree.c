/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric_tree.c - the k-ary fat tree: numbering as in traffic/topo.h. */
#include "hash/bytes.h"
#include "netsim/fabric_private.h"

enum {
	SALT_AGAIN = 0x403, /* of a flow whose way is down */
};

static void nodes(struct fabric *f, unsigned k)
{
	unsigned half = k / 2, pods = k * half;

	for (unsigned i = 0; i < f->topo.switches; i++)
		fabric_node(f,
			    i < pods	   ? FABRIC_EDGE
			    : i < 2 * pods ? FABRIC_AGGREGATION
					   : FABRIC_CORE,
			    1 + i, k, 0);
	for (unsigned i = 0; i < pods * half; i++) {
		struct fabric_node *n = fabric_node(f, FABRIC_HOST, i, 1, 0);

		/* 10.pod.switch.host, hosts from 2, as Al-Fares et al. */
		n->ip[0] = 10;
		n->ip[1] = (uint8_t)(i / half / half);
		n->ip[2] = (uint8_t)(i / half % half);
		n->ip[3] = (uint8_t)(2 + i % half);
	}
}

static void links(struct fabric *f, unsigned k)
{
	unsigned half = k / 2, edges = k * half;

	for (unsigned i = 0; i < edges; i++) {
		unsigned pod = i / half, place = i % half;

		for (unsigned j = 0; j < half; j++) {
			/* edge switch i; aggregation switch i */
			fabric_join(f, i, j, f->switches + i * half + j, 0);
			fabric_join(f, i, half + j, edges + pod * half + j,
				    place);
			fabric_join(f, edges + i, half + j,
				    2 * edges + place * half + j, pod);
		}
	}
}

int fabric_tree(struct fabric *f, unsigned k)
{
	unsigned half = k / 2, hosts = k * half * half;
	int rc;

	*f = (struct fabric){.arity = k};
	topo_fat_tree(&f->topo, k, 0);
	rc = fabric_room(f, f->topo.switches + hosts,
			 f->topo.switches * k + hosts);
	if (rc < 0)
		return rc;
	nodes(f, k);
	links(f, k);
	return 0;
}

static void hop(struct fabric_way *w, unsigned out)
{
	w->out[w->len++] = (uint8_t)out;
}

/* Through aggregation switch agg of each pod and its core switch core. */
static void lay(struct fabric_way *w, unsigned half, uint32_t src, uint32_t dst,
		unsigned agg, unsigned core)
{
	uint32_t from = src / half, to = dst / half; /* edge switches */

	w->len = 0;
	if (from != to) {
		hop(w, half + agg);
		if (from / half != to / half) {
			hop(w, half + core);
			hop(w, to / half);
		}
		hop(w, to % half);
	}
	hop(w, dst % half);
}

/* Either end of a link that is down is enough. */
static bool open_way(const struct fabric *f, const struct fabric_way *w)
{
	uint32_t at = f->port[f->port[f->node[w->src].first].peer].node;

	for (unsigned i = 0; i < w->len; i++) {
		uint32_t port = f->node[at].first + w->out[i];

		if (f->down[port] || f->down[f->port[port].peer])
			return false;
		at = f->port[f->port[port].peer].node;
	}
	return true;
}

bool fabric_pick(const struct fabric *f, uint32_t src, uint32_t dst,
		 uint64_t hash, struct fabric_way *out)
{
	unsigned half = f->arity / 2, ways = half * half;
	uint32_t s = src - f->switches, d = dst - f->switches;
	unsigned first;

	if (s == d)
		return false;
	out->src = src;
	out->dst = dst;
	first = (unsigned)(((hash & UINT32_MAX) * ways) >> 32);
	for (unsigned i = 0; i < ways; i++) {
		unsigned way = (first + i) % ways;

		lay(out, half, s, d, way % half, way / half);
		if (open_way(f, out))
			return true;
	}
	return false;
}

bool fabric_flow(const struct fabric *f, const uint8_t *key, size_t key_len,
		 struct fabric_way *out)
{
	unsigned half = f->arity / 2;
	struct topo_path path;
	uint32_t first, last;

	topo_path(&f->topo, &path, key, key_len);
	first = path.hop[0].id - 1;
	last = path.hop[path.len - 1].id - 1;
	out->src = f->switches + first * half + path.hop[0].in;
	out->dst = f->switches + last * half + path.hop[path.len - 1].out;
	out->len = path.len;
	for (unsigned i = 0; i < path.len; i++)
		out->out[i] = (uint8_t)path.hop[i].out;
	if (open_way(f, out))
		return true;
	return fabric_pick(f, out->src, out->dst,
			   hash_bytes(SALT_AGAIN, key, key_len), out);
}
