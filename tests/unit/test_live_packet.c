/* SPDX-License-Identifier: BSD-2-Clause */
/* AF_PACKET in a network namespace: rings both ways, VLAN tags, filters,
 * interfaces that go down, come back, and are removed. */
#include "live_net.h"

#include "hash/crc.h"

enum {
	PORT = 40040,
	MTU = 1500,
};

static const struct live_options plain = {.kind = LIVE_PACKET};

static void test_frames(void)
{
	struct src *s = net_source("vb", &plain);
	struct snk *k = net_sink("va");
	volatile uint8_t sum = 0;
	struct error err = {0};
	struct pkt p;

	TEST(!strcmp(src_kind(s), "AF_PACKET"));
	TEST(!strcmp(snk_kind(k), "AF_PACKET"));
	for (uint32_t len = 42; len <= MTU + 14; len += 46)
		if (net_send(k, len, 0, PORT, len),
		    !net_expect(s, len, 0, PORT, len))
			break;
	/* The kernel takes a tag out; the frame is shown as it was. */
	for (unsigned tags = 1; tags <= 2; tags++) {
		net_send(k, MTU + 18, tags, PORT, tags);
		net_expect(s, MTU + 18, tags, PORT, tags);
	}
	net_send(k, 100, 0, PORT, 1);
	TEST(src_rx(s, &p, 1, &err) == 1);
	for (int i = 1; i <= CRC_HEADROOM; i++)
		sum = (uint8_t)(sum + p.data[-i]);
	TEST(p.ts_ns > UINT64_C(1700000000000000000));
	net_row(s, k, PORT, 100000);
	TEST(src_done(s) > 100000 * 100 && src_size(s) == 0);
	TEST(!snk_close(k));
	src_close(s);
}

/* What the interface cannot carry is counted, and harms nothing else. */
static void test_misfits(void)
{
	static const uint8_t bytes[70000];
	const struct pkt misfit[] = {
		{bytes, 0, 0, 0},
		{bytes, 13, 13, 0},
		{bytes, MTU + 15, MTU + 15, 0},
		{bytes, 70000, 70000, 0},
	};
	struct src *s = net_source("vb", &plain);
	struct snk *k = net_sink("va");

	TEST(!snk_tx(k, misfit, 4) && !snk_flush(k));
	TEST(snk_drops(k) == 4);
	net_nothing_before(s, k, PORT, 1);
	TEST(snk_drops(k) == 4);
	TEST(!snk_room(k, PKT_MAX + 1));
	TEST(!snk_close(k));
	src_close(s);
}

/* A source hears its peer, not itself. */
static void test_own(void)
{
	struct src *s = net_source("va", &plain);
	struct snk *own = net_sink("va"), *peer = net_sink("vb");

	for (uint32_t i = 0; i < 100; i++)
		net_send(own, 100, 0, PORT, i);
	net_nothing_before(s, peer, PORT, 1000);
	TEST(!snk_close(own) && !snk_close(peer));
	src_close(s);
}

/* By expression, in the kernel or here, and by ports, whatever the tags. */
static void test_filters(void)
{
	static const struct live_options o[] = {
		{.kind = LIVE_PACKET, .filter = "udp dst port 5 and len < 200"},
		{.kind = LIVE_PACKET, .filter = "vlan 7 and udp dst port 5"},
		{.kind = LIVE_PACKET, .port = {5, 6}},
		{.kind = LIVE_PACKET, .port = {5, 6}, .filter = "len < 200"},
		{.kind = LIVE_PACKET, .port = {5, 6}, .filter = "vlan"},
	};
	/* which of them see it */
	static const struct {
		uint32_t len;
		unsigned tags;
		uint16_t port;
		bool seen[5];
	} cases[] = {
		{100, 0, 5, {true, false, true, true, false}},
		{100, 0, 6, {false, false, true, true, false}},
		{100, 0, 7, {false, false, false, false, false}},
		{300, 0, 5, {false, false, true, false, false}},
		{100, 1, 5, {true, true, true, true, true}},
		{300, 2, 6, {false, false, true, false, true}},
		{100, 2, 7, {false, false, false, false, false}},
		{100, 1, 6, {false, false, true, true, true}},
	};
	enum { CASES = sizeof(cases) / sizeof(cases[0]) };
	struct snk *k = net_sink("va");

	for (unsigned i = 0; i < 5; i++) {
		struct src *s = net_source("vb", &o[i]);

		for (uint32_t c = 0; c < CASES; c++)
			net_send(k, cases[c].len, cases[c].tags, cases[c].port,
				 c);
		for (uint32_t c = 0; c < CASES; c++)
			if (cases[c].seen[i] &&
			    !net_expect(s, cases[c].len, cases[c].tags,
					cases[c].port, c))
				fprintf(stderr, "filter %u\n", i);
		/* and nothing else: this one all of them see */
		net_send(k, 100, 1, 5, 99);
		net_expect(s, 100, 1, 5, 99);
		src_close(s);
	}
	TEST(!snk_close(k));
}

static void test_drops(void)
{
	struct src *s = net_source("vb", &plain);
	struct snk *k = net_sink("va");

	net_flood(s, k, PORT);
	net_nothing_before(s, k, PORT, 7);
	TEST(!snk_close(k));
	src_close(s);
}

/* Few frames, and nobody reads for long: blocks are handed over nearly empty
 * until there are none left. Then each frame is shown once, in order. */
static void test_sparse(void)
{
	static struct pkt p[PKT_BATCH];
	struct src *s = net_source("vb", &plain);
	struct snk *k = net_sink("va");
	uint32_t got = 0, bad = 0, sent, number;
	struct error err = {0};
	int n;

	for (sent = 0; sent < 1000 && src_drops(s) == 0; sent++) {
		net_send(k, 100, 0, PORT, sent);
		usleep(3000);
	}
	src_wait(s, 0);
	while (got < 10 * sent && (n = src_rx(s, p, PKT_BATCH, &err)) > 0)
		for (int i = 0; i < n; i++, got++) {
			memcpy(&number, p[i].data + 42, 4);
			bad += number != got;
		}
	if (!TEST(bad == 0 && got + src_drops(s) == sent))
		fprintf(stderr, "sent %u, received %u, %u not in order\n", sent,
			got, bad);
	TEST(!snk_close(k));
	src_close(s);
}

static void test_down_and_up(void)
{
	struct src *s = net_source("vb", &plain);
	struct snk *k = net_sink("va");
	struct error err = {0};
	struct pkt p;

	for (int i = 0; i < 2; i++) {
		uint64_t before = snk_drops(k);

		net_nothing_before(s, k, PORT, 1);
		net_run(i ? "ip link set va down" : "ip link set vb down");
		net_send(k, 100, 0, PORT, 2);
		net_send(k, 100, 0, PORT, 3);
		TEST(snk_drops(k) == before + 2);
		src_wait(s, 0);
		TEST(src_rx(s, &p, 1, &err) == -EAGAIN);
		src_wait(s, PATIENCE_MS);
		net_run(i ? "ip link set va up" : "ip link set vb up");
		net_run("until ip link show va | grep -q LOWER_UP &&"
			" ip link show vb | grep -q LOWER_UP;"
			" do sleep 0.01; done");
		net_nothing_before(s, k, PORT, 4);
		TEST(snk_drops(k) == before + 2);
	}
	TEST(!snk_close(k));
	src_close(s);
}

static void test_opened_down(void)
{
	struct src *s;
	struct snk *k;

	net_run("ip link set va down && ip link set vb down");
	s = net_source("vb", &plain);
	k = net_sink("va");
	net_send(k, 100, 0, PORT, 1);
	TEST(snk_drops(k) == 1);
	net_run("ip link set va up && ip link set vb up");
	net_run("until ip link show va | grep -q LOWER_UP; do sleep 0.01; "
		"done");
	net_nothing_before(s, k, PORT, 2);
	TEST(!snk_close(k));
	src_close(s);
}

static void test_removed(void)
{
	struct src *s = net_source("vb", &plain);
	struct snk *k = net_sink("va");
	uint8_t bytes[60] = {0};
	struct pkt p = {bytes, sizeof(bytes), sizeof(bytes), 0};
	struct error err = {0};

	net_run("ip link del va");
	TEST(src_rx(s, &p, 1, &err) == -ENODEV);
	TEST(!strcmp(err.text, "vb: the interface was removed"));
	p.data = bytes;
	p.len = sizeof(bytes);
	snk_tx(k, &p, 1);
	TEST(snk_flush(k) == -ENODEV);
	TEST(snk_close(k) == -ENODEV);
	src_close(s);
}

static void check_permission(void)
{
	struct error err = {0};
	struct src *s;
	struct snk *k;

	TEST(!setuid(65534));
	TEST(src_open_live(&s, "vb", &plain, &err) == -EPERM);
	TEST(!!strstr(err.text, "vb: needs the capability CAP_NET_RAW"));
	TEST(!!strstr(err.text, "setcap cap_net_raw+ep"));
	err.text[0] = '\0';
	TEST(snk_open_live(&k, "vb", LIVE_AUTO, &err) == -EPERM);
	TEST(!!strstr(err.text, "CAP_NET_RAW"));
}

static void test_neighbour(void)
{
	static const uint8_t ip[4] = {10, 0, 0, 9}, other[4] = {10, 0, 0, 8};
	static const uint8_t expected[6] = {2, 0, 0, 0, 0, 9};
	uint8_t mac[6];

	TEST(!live_neighbour(mac, "va", 4, ip));
	net_run("ip neigh add 10.0.0.9 lladdr 02:00:00:00:00:09 dev va");
	TEST(live_neighbour(mac, "va", 4, ip));
	TEST(!memcmp(mac, expected, sizeof(mac)));
	TEST(!live_neighbour(mac, "va", 4, other));
	TEST(!live_neighbour(mac, "vb", 4, ip));
	TEST(!live_neighbour(mac, "vc", 4, ip));
	net_run("ip neigh change 10.0.0.9 dev va nud failed");
	TEST(!live_neighbour(mac, "va", 4, ip));
}

int main(void)
{
	net_start("ip link add va type veth peer name vb");
	test_neighbour();
	test_frames();
	test_misfits();
	test_own();
	test_filters();
	test_drops();
	test_sparse();
	test_down_and_up();
	test_opened_down();
	net_promiscuous(plain);
	net_child(check_permission);
	test_removed();
	return test_end();
}
