/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the simulator stands on: the two networks, routes through them,
 * Euler trails over them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "sim/fabric.h"
#include "test.h"
#include "net/key.h"

/* Each port's peer has it for a peer. */
static void check_links(const struct fabric *f)
{
	for (uint32_t i = 0; i < f->ports; i++) {
		const struct fabric_port *p = &f->port[i];

		TEST(p->peer != FABRIC_NONE && f->port[p->peer].peer == i);
		if (i < f->switch_ports)
			TEST(fabric_find_port(f, f->node[p->node].id,
					      fabric_port_number(f, i)) == i);
	}
}

/* Follows a way; true if it ends where it says. */
static int leads_there(const struct fabric *f, const struct fabric_route *w)
{
	uint32_t at = f->port[f->port[f->node[w->src].first_port].peer].node;

	for (unsigned i = 0; i < w->len; i++) {
		uint32_t port = f->node[at].first_port + w->out[i];

		if (f->node[at].tier == FABRIC_HOST)
			return 0;
		at = f->port[f->port[port].peer].node;
	}
	return at == w->dst;
}

static void test_paper(void)
{
	struct fabric f;
	bool used[64] = {false};
	unsigned n = 0, hops = 0;

	TEST(fabric_paper(&f) == 0);
	TEST(f.switches == 12 && fabric_hosts(&f) == 8 && f.routes == 14);
	check_links(&f);
	for (unsigned i = 0; i < f.routes; i++) {
		const struct fabric_route *w = &f.route[i];
		uint32_t at =
			f.port[f.port[f.node[w->src].first_port].peer].node;

		TEST(leads_there(&f, w));
		hops += w->len;
		for (unsigned h = 0; h < w->len; h++) {
			uint32_t port = f.node[at].first_port + w->out[h];

			n += !used[port];
			used[port] = true;
			at = f.port[f.port[port].peer].node;
		}
	}
	/* INT-label's prototype: ports in use, hops of all routes. */
	TEST(n == 25 && hops == 2 * 27);
	TEST(fabric_add_route(&f, "9 8-4") == -EINVAL);
	TEST(fabric_add_route(&f, "1 8-5") == -EINVAL);
	TEST(fabric_add_route(&f, "1 9-3") == -EINVAL);
	TEST(fabric_add_route(&f, "1 8-1") == -EINVAL);
	TEST(fabric_add_route(&f, "1 8-1 4-4 9-3 x") == -EINVAL);
	TEST(fabric_add_route(&f, "2 8-3") == 0 && f.routes == 15);
	fabric_fini(&f);
}

static void random_key(uint8_t *key, struct rng *r)
{
	for (unsigned i = 0; i < KEY_FLOW4_LEN; i++)
		key[i] = (uint8_t)rng_u64(r);
}

/* Ids and ports are those of sim/traffic.h. */
static void same_as_topo(const struct fabric *f, struct rng *r)
{
	uint8_t key[KEY_FLOW4_LEN];
	struct topo_path path;

	random_key(key, r);
	topo_path(&f->topo, &path, key, sizeof(key));
	for (unsigned i = 0; i < path.len; i++) {
		uint32_t port = fabric_find_port(f, path.hop[i].id,
						 path.hop[i].out);
		uint32_t in = fabric_find_port(f, path.hop[i].id,
					       path.hop[i].in);

		TEST(port != FABRIC_NONE && in != FABRIC_NONE);
		TEST(fabric_leads_to_host(f, port) == (i + 1 == path.len));
		TEST(fabric_leads_to_host(f, in) == !i);
		if (i + 1 < path.len)
			TEST(f->port[port].peer ==
			     fabric_find_port(f, path.hop[i + 1].id,
					      path.hop[i + 1].in));
	}
}

static void test_tree(void)
{
	struct rng r = {.state = 5};

	for (unsigned k = 4; k <= 16; k += 2) {
		struct fabric f;
		struct fabric_route w;

		TEST(fabric_tree(&f, k) == 0);
		TEST(f.switches == 5 * k * k / 4);
		TEST(fabric_hosts(&f) == k * k * k / 4);
		check_links(&f);
		for (unsigned i = 0; i < 200; i++) {
			uint32_t hosts = fabric_hosts(&f);
			uint32_t a = (uint32_t)rng_below(&r, hosts);
			uint32_t b = (uint32_t)rng_below(&r, hosts);

			same_as_topo(&f, &r);
			if (a == b)
				continue;
			fabric_pick_route(&f, f.switches + a, f.switches + b,
					  rng_u64(&r), &w);
			TEST(leads_there(&f, &w));
		}
		fabric_fini(&f);
	}
}

/* Every equal way is taken. */
static void test_ecmp(void)
{
	struct rng r = {.state = 9};
	unsigned seen[8][8] = {{0}};
	struct fabric_route w;
	struct fabric f;
	uint32_t src, dst;

	fabric_tree(&f, 8);
	src = f.switches;
	dst = f.switches + 127;
	for (unsigned i = 0; i < 16000; i++) {
		fabric_pick_route(&f, src, dst, rng_u64(&r), &w);
		seen[w.out[0]][w.out[1]]++;
	}
	for (unsigned a = 4; a < 8; a++)
		for (unsigned c = 4; c < 8; c++) /* 1000, 3 deviations: 92 */
			TEST(seen[a][c] > 900 && seen[a][c] < 1100);
	fabric_fini(&f);
}

/* Each link is on one trail, once, and trails hang together. */
static void check_trails(const struct fabric *f, const struct euler *e,
			 uint32_t links)
{
	bool *seen = calloc(f->ports, sizeof(*seen));
	uint32_t n = 0;

	for (uint32_t t = 0; t < e->trails; t++)
		for (uint32_t i = 0; i < e->trail[t].len; i++) {
			uint32_t q = e->port[e->trail[t].first + i];

			TEST(!seen[q] && !seen[f->port[q].peer]);
			seen[q] = true;
			n++;
			if (i)
				TEST(f->port[q].node ==
				     f->port[f->port[e->port[e->trail[t].first +
							     i - 1]]
						     .peer]
					     .node);
		}
	TEST(n == links && e->ports == links);
	free(seen);
}

static void test_euler(void)
{
	for (unsigned k = 4; k <= 20; k += 2) {
		struct fabric f;
		struct euler e;

		fabric_tree(&f, k);
		TEST(euler_plan(&e, &f) == 0);
		/* Edge switches have k/2 links: k^2/2 odd ones, or none. */
		TEST(e.odd == (k % 4 ? k * k / 2 : 0));
		TEST(e.trails == (e.odd ? e.odd / 2 : 1));
		check_trails(&f, &e, k * k * k / 2);
		euler_fini(&e);
		fabric_fini(&f);
	}
}

int main(void)
{
	test_paper();
	test_tree();
	test_ecmp();
	test_euler();
	return test_end();
}
