/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Paths of fat trees, against the wiring of Al-Fares et al. written down here
 * once more, port by port.
 */
#include <stdbool.h>
#include <string.h>

#include "base/rng.h"
#include "test.h"
#include "sim/traffic.h"
#include "net/be.h"
#include "net/key.h"

enum {
	KEYS = 20000,
};

/* Where a port leads: to a port of another switch, or to a host (id 0). */
struct end {
	uint32_t id;
	unsigned port;
};

static struct end far_end(unsigned k, uint32_t id, unsigned port)
{
	unsigned half = k / 2, n = id - 1, layer = k * half;

	if (n < layer) { /* edge */
		unsigned pod = n / half, edge = n % half;

		if (port < half)
			return (struct end){0};
		return (struct end){1 + layer + pod * half + port - half, edge};
	}
	n -= layer;
	if (n < layer) { /* aggregation */
		unsigned pod = n / half, agg = n % half;

		if (port < half)
			return (struct end){1 + pod * half + port, half + agg};
		return (struct end){1 + 2 * layer + agg * half + port - half,
				    pod};
	}
	n -= layer; /* core: of all pods the same aggregation switch */
	return (struct end){1 + layer + port * half + n / half,
			    half + n % half};
}

/* The wiring itself: every cable has two ends, and k^3/4 hosts have a port. */
static void wiring(unsigned k)
{
	struct topology t;
	unsigned hosts = 0;

	topo_fat_tree(&t, k, 0);
	TEST(t.switches == 5 * k * k / 4 && t.edges == k * k / 2);
	TEST(t.ports == k);
	for (uint32_t id = 1; id <= t.switches; id++) {
		for (unsigned port = 0; port < k; port++) {
			struct end far = far_end(k, id, port), back;

			if (!far.id) {
				hosts++;
				continue;
			}
			back = far_end(k, far.id, far.port);
			TEST(back.id == id && back.port == port);
		}
	}
	TEST(hosts == k * k * k / 4);
}

static size_t random_key(uint8_t *key, struct rng *r)
{
	size_t len = rng_below(r, 2) ? KEY_FLOW6_LEN : KEY_FLOW4_LEN;

	for (size_t i = 0; i < len; i++)
		key[i] = (uint8_t)rng_u64(r);
	return len;
}

/* From a host's port to a host's port, along cables. */
static bool connected(unsigned k, const struct topo_path *p)
{
	const struct topo_hop *h = p->hop, *last = h + p->len - 1;

	if (far_end(k, h->id, h->in).id || far_end(k, last->id, last->out).id)
		return false;
	for (; h < last; h++) {
		struct end far = far_end(k, h->id, h->out);

		if (far.id != h[1].id || far.port != h[1].in)
			return false;
	}
	return true;
}

/* The length of the shortest way between two edge switches. */
static unsigned distance(unsigned k, uint32_t a, uint32_t b)
{
	if (a == b)
		return 1;
	return (a - 1) / (k / 2) == (b - 1) / (k / 2) ? 3 : 5;
}

static void paths(unsigned k, unsigned hops)
{
	static unsigned visits[5 * TOPO_ARITY_MAX * TOPO_ARITY_MAX / 4 + 1];
	struct rng r = {.state = k + hops};
	unsigned lengths = 0;
	struct topology t;

	memset(visits, 0, sizeof(visits));
	topo_fat_tree(&t, k, hops);
	for (int i = 0; i < KEYS; i++) {
		uint8_t key[KEY_MAX];
		size_t len = random_key(key, &r), addr = (len - 5) / 2;
		struct topo_path p;

		topo_path(&t, &p, key, len);
		lengths |= 1u << p.len;
		TEST(p.len == distance(k, p.hop[0].id, p.hop[p.len - 1].id));
		TEST(connected(k, &p));
		TEST(p.hop[0].id == topo_edge(&t, key, addr));
		if (!hops)
			TEST(p.hop[p.len - 1].id ==
			     topo_edge(&t, key + addr, addr));
		for (unsigned h = 0; h < p.len; h++)
			visits[p.hop[h].id]++;
	}
	TEST(lengths == (hops ? 1u << hops : 1 << 1 | 1 << 3 | 1 << 5));
	if (hops != 5 || k > 16)
		return;
	/* ECMP leaves none out: a core has a path in k*k/4 */
	for (unsigned id = 1; id <= t.switches; id++)
		TEST(visits[id] > KEYS / (k * k / 4) / 2);
}

/* All flows of two hosts: the same ports at both ends, one of the (k/2)^2 ways
 * each, every way used. */
static void ways(unsigned k)
{
	static unsigned used[5 * TOPO_ARITY_MAX * TOPO_ARITY_MAX / 4 + 1];
	uint8_t key[KEY_FLOW4_LEN] = {10, 0, 0, 1, 10, 0, 0, 2};
	unsigned cores = 0, n = 400 * k * k / 4;
	struct topo_path first, p;
	struct topology t;

	memset(used, 0, sizeof(used));
	topo_fat_tree(&t, k, 5);
	topo_path(&t, &first, key, sizeof(key));
	for (unsigned i = 0; i < n; i++) {
		be32_store(key + 8, i);
		topo_path(&t, &p, key, sizeof(key));
		TEST(p.hop[0].in == first.hop[0].in);
		TEST(p.hop[0].id == first.hop[0].id);
		TEST(p.hop[4].out == first.hop[4].out);
		TEST(p.hop[4].id == first.hop[4].id);
		cores += !used[p.hop[2].id]++;
		TEST(used[p.hop[2].id] < 2 * 400);
	}
	TEST(cores == k * k / 4);
	memset(key + 8, 0, 5);
	topo_path(&t, &p, key, sizeof(key));
	TEST(!memcmp(&p, &first, sizeof(p)));
}

int main(void)
{
	static const unsigned arity[] = {4, 6, 8, 16, TOPO_ARITY_MAX};

	for (unsigned i = 0; i < sizeof(arity) / sizeof(arity[0]); i++) {
		wiring(arity[i]);
		for (unsigned hops = 1; hops <= TOPO_HOPS_MAX; hops += 2)
			paths(arity[i], hops);
		paths(arity[i], 0);
	}
	ways(4);
	ways(8);
	return test_end();
}
