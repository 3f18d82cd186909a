/* SPDX-License-Identifier: BSD-2-Clause */
/* The model of in-band telemetry, and the frames of the model's packets. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "test.h"
#include "sim/traffic.h"
#include "net/net.h"

enum {
	PACKETS = 20000,
};

static struct traffic_model model(unsigned ipv6)
{
	return (struct traffic_model){
		.seed = 7,
		.flows = 500,
		.rate = 1000000,
		.start_ns = 1700000000000000000,
		.ipv6_percent = ipv6,
	};
}

static struct inband_options options(void)
{
	struct inband_options o = {
		.seed = 3,
	};

	topo_fat_tree(&o.topology, 8, 0);
	return o;
}

/* Mean and variance of an exponential draw are its mean and its square. */
static void test_values_are_exponential(void)
{
	struct inband_options o = options();
	struct traffic_model tm = model(0);
	double sum = 0, squares = 0, n = 0, above = 0;
	struct inband_path path;
	struct traffic_packet p;
	struct inband m;
	struct synth *s;

	o.hops = 5;
	inband_init(&m, &o);
	TEST(synth_open(&s, &tm) == 0);
	for (unsigned i = 0; i < PACKETS && synth_next(s, &p); i++) {
		inband_draw(&m, &path, &p);
		for (unsigned k = 0; k < path.n; k++) {
			double v = (double)path.hop[k].value[INT_LATENCY];

			sum += v;
			squares += v * v;
			above += v >= 3 * 2000;
			n++;
		}
	}
	synth_close(s);
	TEST(fabs(sum / n - 2000) < 50);
	TEST(fabs(sqrt(squares / n - sum / n * (sum / n)) - 2000) < 80);
	TEST(fabs(above / n - exp(-3)) < 0.005);
}

/* Times: each node's latency lies between them, the links' between nodes, and
 * the last is the packet's. */
static void test_times_fit_the_latencies(void)
{
	const struct inband_hop *before;
	struct inband_options o = options();
	struct traffic_model tm = model(50);
	struct inband_path path;
	struct traffic_packet p;
	struct inband m;
	struct synth *s;

	inband_init(&m, &o);
	TEST(synth_open(&s, &tm) == 0);
	for (unsigned i = 0; i < 1000 && synth_next(s, &p); i++) {
		inband_draw(&m, &path, &p);
		TEST(path.n >= 1 && path.n <= 5);
		TEST(path.hop[path.n - 1].value[INT_EGRESS_TIME] == p.ts_ns);
		before = NULL;
		for (unsigned k = 0; k < path.n; k++) {
			const uint64_t *v = path.hop[k].value;

			TEST(v[INT_EGRESS_TIME] - v[INT_INGRESS_TIME] ==
			     v[INT_LATENCY]);
			if (k)
				TEST(v[INT_INGRESS_TIME] -
					     before->value[INT_EGRESS_TIME] ==
				     INBAND_LINK_NS);
			before = &path.hop[k];
		}
	}
	synth_close(s);
}

/* Paths of any length have no node twice, and those of a flow are the same. */
static void test_rings(void)
{
	struct inband_options o = options();
	struct traffic_model tm = model(0);
	struct inband_path a, b;
	struct traffic_packet p;
	struct inband m;
	struct synth *s;

	o.hops = INBAND_HOPS_MAX;
	inband_init(&m, &o);
	TEST(synth_open(&s, &tm) == 0);
	for (unsigned i = 0; i < 100 && synth_next(s, &p); i++) {
		uint64_t seen[2] = {0};

		inband_draw(&m, &a, &p);
		inband_draw(&m, &b, &p);
		TEST(a.n == INBAND_HOPS_MAX);
		for (unsigned k = 0; k < a.n; k++) {
			uint64_t node = a.hop[k].value[INT_NODE];

			TEST(node >= 1 && node <= o.topology.switches);
			TEST(node == b.hop[k].value[INT_NODE]);
			TEST(!(seen[node / 64] >> node % 64 & 1));
			seen[node / 64] |= UINT64_C(1) << node % 64;
		}
	}
	synth_close(s);
}

/* Steady values do not change but for the spikes, which are as many as asked.
 */
static void test_spikes(void)
{
	struct inband_options o = options();
	struct traffic_model tm = model(0);
	struct inband_path path;
	struct traffic_packet p;
	unsigned spikes = 0, longer = 0;
	uint64_t first = 0, last = 0;
	struct inband m;
	struct synth *s;

	o.steady = true;
	inband_init(&m, &o);
	TEST(synth_open(&s, &tm) == 0);
	TEST(synth_next(s, &p));
	inband_draw(&m, &path, &p);
	synth_close(s);
	for (unsigned k = 0; k < path.n; k++) { /* the same, asked again */
		struct inband_path again;

		inband_draw(&m, &again, &p);
		TEST(again.hop[k].value[INT_LATENCY] ==
		     path.hop[k].value[INT_LATENCY]);
		TEST(again.hop[k].value[INT_OCCUPANCY] ==
		     path.hop[k].value[INT_OCCUPANCY]);
	}
	o.spikes_per_s = 1000;
	inband_init(&m, &o);
	TEST(synth_open(&s, &tm) == 0);
	while (synth_next(s, &p)) {
		struct inband_options calm = o;
		struct inband quiet;
		struct inband_path usual;

		first = first ? first : p.ts_ns;
		last = last ? last + 1000 : first;
		p.ts_ns = last; /* as densely to the end */
		inband_draw(&m, &path, &p);
		calm.spikes_per_s = 0;
		quiet = m;
		quiet.o = calm;
		inband_draw(&quiet, &usual, &p);
		spikes += path.spike;
		for (unsigned k = 0; k < path.n; k++)
			longer += path.hop[k].value[INT_LATENCY] !=
				  usual.hop[k].value[INT_LATENCY];
	}
	synth_close(s);
	TEST(spikes == (last - first) / 1000000);
	TEST(longer == spikes); /* no steady latency is 0 here */
}

/* Frames are decoded to what they were made of, by sums that are right. */
static void test_frames(void)
{
	struct traffic_model tm = model(50);
	uint8_t buf[200];
	struct traffic_packet p;
	struct net_packet n;
	struct net_udp u;
	unsigned udp = 0;
	struct synth *s;

	TEST(synth_open(&s, &tm) == 0);
	for (unsigned i = 0; i < PACKETS && synth_next(s, &p); i++) {
		int len = traffic_frame(buf, sizeof(buf), &p, 100, 9);
		uint8_t key[KEY_MAX];

		TEST(len > 0);
		TEST(net_packet_decode(&n, buf, (size_t)len) == 0);
		TEST(key_of_packet(key, &n) == p.key_len);
		TEST(!memcmp(key, p.key, p.key_len));
		TEST(n.ip_len <= p.ip_len);
		TEST(n.ip_len + NET_ETH_LEN == (unsigned)len);
		if (p.protocol != NET_PROTO_UDP)
			continue;
		TEST(net_udp_decode(&u, buf, (size_t)len) == 0);
		udp++;
	}
	TEST(udp);
	TEST(traffic_frame(buf, 50, &p, 100, 0) == -ENOBUFS);
	synth_close(s);
}

int main(void)
{
	test_values_are_exponential();
	test_times_fit_the_latencies();
	test_rings();
	test_spikes();
	test_frames();
	return test_end();
}
