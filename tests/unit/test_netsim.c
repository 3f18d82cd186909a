/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulated network: every packet is accounted for, whatever happens to it;
 * losses, queues, limits do what they say; the controller is in the
 * loop; what INT-label is compared with works as published.
 */
#include "netsim_rig.h"

static void same_seed(void)
{
	struct rig a, b, c;

	rig_init(&a, 4);
	a.o.rate_pps = 20000;
	a.o.duration_ns = 1000 * MS;
	rig_lose(&a, .1);
	a.o.policy.kind = LABEL_BASE_B;
	b = c = a;
	fabric_tree(&b.f, 4);
	fabric_tree(&c.f, 4);
	b.o.fabric = &b.f;
	c.o.fabric = &c.f;
	c.o.seed = 2;
	a.o.fabric = &a.f;
	rig_run(&a);
	rig_run(&b);
	rig_run(&c);
	TEST(!memcmp(&a.end, &b.end, sizeof(a.end)));
	TEST(memcmp(&a.end, &c.end, sizeof(a.end)) != 0);
}

/* The policy does not change the traffic. */
static void same_traffic(void)
{
	struct rig a, b;

	rig_init(&a, 4);
	rig_init(&b, 4);
	a.o.rate_pps = b.o.rate_pps = 20000;
	a.o.duration_ns = b.o.duration_ns = 2000 * (uint64_t)MS;
	b.o.policy.kind = LABEL_BASE_B;
	b.o.policy.interval_us = 1000;
	rig_run(&a);
	rig_run(&b);
	TEST(a.end.packets == b.end.packets && a.end.labels < b.end.labels);
	TEST(a.end.link_bytes - a.end.label_bytes ==
	     b.end.link_bytes - b.end.label_bytes);
}

/* All schemes under all that may go wrong; rig_run() looks at the ledger. */
static void hostile(void)
{
	for (int scheme = NETSIM_LABEL; scheme <= NETSIM_NONE; scheme++) {
		struct rig r;

		rig_init(&r, 4);
		r.o.scheme = (enum netsim_scheme)scheme;
		r.o.duration_ns = 1000 * MS;
		r.o.rate_pps = 30000;
		r.o.link_bps = 20000000;
		r.o.queue_max = 5;
		rig_lose(&r, .05);
		r.o.probe_ns = 5 * MS;
		r.o.adapt = true;
		r.o.specific_flows = 10;
		rig_run(&r);
		TEST(r.end.lost && r.end.queue_full);
		TEST(r.end.packets_lost + r.end.delivered == r.end.packets);
	}
}

static void loss_rate(void)
{
	struct netsim_loss loss;
	struct rig r;
	double n;

	rig_init(&r, 0);
	r.f.routes = 0;
	TEST(fabric_add_route(&r.f, "1 8-1 4-4 9-3") == 0);
	loss = (struct netsim_loss){fabric_find_port(&r.f, 4, 4), .3};
	r.o.losses = &loss;
	r.o.n_losses = 1;
	r.o.rate_pps = 2000;
	rig_run(&r);
	n = (double)r.end.packets;
	TEST(r.end.lost == r.end.packets_lost);
	TEST(rig_near("loss", (double)r.end.lost / n, .3, sqrt(.21), n));
}

/* Twice what a link carries: half is lost, and labels tell of full queues. */
static unsigned deepest;

static void look_at_queue(void *ctx, uint64_t ns, const uint8_t *frame,
			  size_t len)
{
	struct label_view v;
	struct label_item item;
	uint64_t newer = UINT64_MAX;

	(void)ctx, (void)ns;
	TEST(label_find(&v, &label_format_default, frame, len) == 0);
	for (unsigned i = 0; i < v.n; i++) {
		label_item_get(&item, &v, i);
		TEST(item.time_us < newer);
		newer = item.time_us;
		if (item.queue > deepest)
			deepest = item.queue;
		/* 1000 bytes at 8 Mbit/s: 1 ms for each packet before it, less
		 * what has left of the first one. */
		TEST(item.queue <= 19);
		TEST(item.latency_ns / (1100 * 1000) <= item.queue);
	}
}

static void queues(void)
{
	struct rig r;

	rig_init(&r, 0);
	r.f.routes = 0;
	TEST(fabric_add_route(&r.f, "1 8-4") == 0);
	TEST(fabric_add_route(&r.f, "8 11-1 6-3 10-3") == 0);
	TEST(fabric_add_route(&r.f, "3 9-1 4-3 8-4") == 0);
	r.o.link_bps = 8000000;
	r.o.queue_max = 20;
	r.o.rate_pps = 3 * 900;
	r.export = look_at_queue;
	rig_run(&r);
	TEST(deepest == 19);
	/* Two hosts share port 8-4, with 900 each. */
	TEST(rig_near("loss", (double)r.end.queue_full / 10, 800, 20, 1));
	TEST(r.end.queue_full == r.end.packets_lost);
}

/* A label that would not fit is not written, and the packet goes on. */
static void limits(void)
{
	struct rig r;

	rig_init(&r, 4);
	r.o.rate_pps = 1000;
	r.o.mtu = 1000 + 2 * 32; /* of a frame of 1000 + 14 */
	r.o.frame_len = 1014;
	r.o.policy.interval_us = 1;
	rig_run(&r);
	TEST(r.end.too_long && r.end.delivered == r.end.packets);
	TEST(r.carried[1] && !r.carried[2] && !r.carried[3]);
	rig_init(&r, 4);
	r.o.rate_pps = 1000;
	r.o.policy.interval_us = 1;
	r.o.policy.max_hop = 2;
	rig_run(&r);
	TEST(r.end.full && r.carried[2] && !r.carried[3]);
}

/* Packets of a specific flow carry a label of each hop. */
static void specific(void)
{
	struct rig r;

	rig_init(&r, 4);
	r.o.flows = r.o.specific_flows = 1000;
	r.o.policy.interval_us = 1000000000;
	rig_run(&r);
	TEST(r.carried[0] == 0 && r.carried[2] == 0 && r.carried[4] == 0);
	TEST(r.carried[1] && r.carried[3] && r.carried[5] > r.carried[3]);
}

/* What is lost on a link is made up for: section 3.2. */
static void pro(void)
{
	struct rig a, b;

	rig_init(&a, 4);
	rig_init(&b, 4);
	a.o.rate_pps = b.o.rate_pps = 20000;
	rig_lose(&a, .2);
	rig_lose(&b, .2);
	a.skip = b.skip = 20;
	b.o.adapt = true;
	b.o.k = .5;
	rig_run(&a);
	rig_run(&b);
	TEST(a.end.raised == 0 && a.s_max == 0);
	TEST(b.end.raised > b.end.lowered && b.s_max > 0 && b.s_max <= 6);
	TEST((double)a.covered / (double)a.known < .95);
	TEST(b.covered * a.known > a.covered * b.known);
	TEST((double)b.covered / (double)b.known > .97);
}

/* The probes that a scheme sends in ten intervals, give or take what was on
 * its way when counting began. */
static struct netsim_counters probing(enum netsim_scheme scheme, unsigned k)
{
	struct rig r;

	rig_init(&r, k);
	r.o.scheme = scheme;
	r.o.duration_ns = 1100 * MS;
	r.o.rate_pps = 20000;
	r.o.link_bps = UINT64_C(10000000000);
	r.skip = 1;
	rig_run(&r);
	TEST(r.sum.delivered > 19000);
	if (scheme != NETSIM_PINGMESH) /* all links between switches */
		TEST(r.covered >= 99 * k * k * k / 10 &&
		     r.covered <= 10 * k * k * k);
	return r.sum;
}

static void schemes(void)
{
	for (unsigned k = 4; k <= 6; k += 2) {
		unsigned half = k / 2, tors = k * half, hosts = tors * half;
		struct netsim_counters c = probing(NETSIM_HULA, k);
		/* Of a ToR: half go up; each aggregation switch copies to the
		 * other ToRs and its cores, those to the other pods, and
		 * there each copy goes to all ToRs. */
		unsigned copies = half * (half - 1 + half +
					  half * (k - 1) * (1 + half));

		TEST(c.probes == 10 * tors * half);
		TEST(c.copies == 10 * tors * copies);
		c = probing(NETSIM_INT_PATH, k);
		TEST(c.probes == 10 * (half % 2 ? tors : 2));
		c = probing(NETSIM_PINGMESH, k);
		TEST(c.probes >= 20 * hosts * (half - 1 + tors - 1) - hosts);
		TEST(c.probes <= 20 * hosts * (half - 1 + tors - 1) + hosts);
		TEST(c.items == 0);
	}
}

/* Sampled at the ingress: all hops or none. */
static void ingress(void)
{
	struct rig r;

	rig_init(&r, 4);
	r.o.scheme = NETSIM_INT;
	r.o.rate_pps = 20000;
	rig_run(&r);
	TEST(r.carried[2] == 0 && r.carried[4] == 0 && r.carried[5] > 0);
	/* 16 hosts, 50 ms and a packet's gap of .8 ms. */
	TEST(r.end.labelled > 16 * 190 && r.end.labelled <= 16 * 200);
}

int main(void)
{
	same_seed();
	same_traffic();
	hostile();
	loss_rate();
	queues();
	limits();
	specific();
	pro();
	schemes();
	ingress();
	return test_end();
}
