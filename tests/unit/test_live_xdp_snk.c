/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sending by AF_XDP in a network namespace: the same bytes arrive, in order;
 * what does not arrive is counted; whose the queues are; what it lacks.
 */
#include "live_net.h"

#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum {
	PORT = 40040,
	WAITING = 2048, /* frames that wait for an interface that is down */
};

static const struct live_options by_packet = {.kind = LIVE_PACKET};
static const struct live_options by_xdp = {.kind = LIVE_XDP};

static void test_frames(const char *from, const char *to,
			const struct live_options *by)
{
	struct src *s = net_source(to, by);
	struct snk *k = net_sink_of(from, LIVE_XDP);

	TEST(!strcmp(snk_kind(k), "AF_XDP copy"));
	for (uint32_t len = 60; len <= 1514; len++) {
		net_send(k, len, 0, PORT, len);
		if (!net_expect(s, len, 0, PORT, len))
			break;
	}
	for (unsigned tags = 1; tags <= 2; tags++) {
		net_send(k, 1514, tags, PORT, tags);
		net_expect(s, 1514, tags, PORT, tags);
	}
	net_row(s, k, PORT, 100000);
	TEST(!snk_close(k));
	src_close(s);
}

/* What was built and not flushed goes out with the sink. */
static void test_close(void)
{
	struct src *s = net_source("vb", &by_packet);
	struct snk *k = net_sink_of("va", LIVE_XDP);

	net_frame(snk_room(k, 100), 100, 0, PORT, 5);
	snk_done(k, 100, 0);
	TEST(snk_drops(k) == 0);
	TEST(!snk_close(k));
	net_expect(s, 100, 0, PORT, 5);
	src_close(s);
}

/* As AF_PACKET judges it: Ethernet's header, the MTU, and a tag. */
static void test_lengths(void)
{
	static const struct {
		size_t len;
		unsigned tags;
	} bad[] = {{13, 0}, {1515, 0}, {1519, 1}, {65536, 0}, {0, 0}};
	static uint8_t frame[65536];
	struct src *s = net_source("vb", &by_packet);
	struct snk *k = net_sink_of("va", LIVE_XDP);

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint8_t *at = snk_room(k, bad[i].len);

		net_frame(frame, sizeof(frame), bad[i].tags, PORT, i);
		memcpy(at, frame, bad[i].len);
		snk_done(k, bad[i].len, 0);
		TEST(snk_drops(k) == i + 1);
	}
	net_nothing_before(s, k, PORT, 1);
	net_send(k, 1518, 1, PORT, 2);
	net_expect(s, 1518, 1, PORT, 2);
	TEST(!snk_room(k, PKT_MAX + 1) && errno == EMSGSIZE);
	TEST(!snk_close(k));
	src_close(s);
}

/* A page is the most that a frame may take. */
static void test_large(void)
{
	struct error err = {0};
	struct src *s;
	struct snk *k;

	net_run("ip link set va mtu 4078 && ip link set vb mtu 4078");
	s = net_source("vb", &by_packet);
	k = net_sink_of("va", LIVE_XDP);
	net_send(k, 4092, 0, PORT, 1);
	net_expect(s, 4092, 0, PORT, 1);
	net_send(k, 4096, 1, PORT, 2);
	net_expect(s, 4096, 1, PORT, 2);
	net_row(s, k, PORT, 5000);
	TEST(!snk_close(k));
	net_run("ip link set va mtu 4079");
	TEST(snk_open_live(&k, "va", LIVE_XDP, &err) == -ENOTSUP);
	TEST(!!strstr(err.text, "va: AF_XDP: the MTU is 4079"));
	k = net_sink_of("va", LIVE_AUTO);
	TEST(!strcmp(snk_kind(k), "AF_PACKET"));
	TEST(!snk_close(k));
	src_close(s);
	net_run("ip link set va mtu 1500 && ip link set vb mtu 1500");
}

/* What an interface does not take while it is down waits; what finds no room is
 * lost. Both are counted as long as that is so. */
static void test_down(void)
{
	struct src *s = net_source("vb", &by_packet);
	struct snk *k = net_sink_of("va", LIVE_XDP);

	net_nothing_before(s, k, PORT, 1);
	net_run("ip link set va down");
	net_send(k, 100, 0, PORT, 0);
	TEST(snk_drops(k) == 1);
	for (uint32_t i = 1; i < WAITING + 500; i++) {
		net_frame(snk_room(k, 100), 100, 0, PORT, i);
		snk_done(k, 100, 0);
	}
	TEST(!snk_flush(k) && snk_drops(k) == WAITING + 500);
	net_run("ip link set va up");
	net_run("until ip link show va | grep -q LOWER_UP; do sleep 0.01; "
		"done");
	TEST(!snk_flush(k) && snk_drops(k) == 500);
	for (uint32_t i = 0; i < WAITING; i++)
		if (!net_expect(s, 100, 0, PORT, i))
			break;
	net_nothing_before(s, k, PORT, 3);
	TEST(!snk_close(k));
	src_close(s);
}

/* Without a peer the interface takes frames, and drops them. */
static void test_no_carrier(void)
{
	struct src *s = net_source("vb", &by_packet);
	struct snk *k = net_sink_of("va", LIVE_XDP);
	struct error err = {0};
	struct pkt p;

	net_run("ip link set vb down");
	for (uint32_t i = 1; i <= 100; i++) {
		net_frame(snk_room(k, 100), 100, 0, PORT, i);
		snk_done(k, 100, 0);
	}
	TEST(!snk_flush(k) && snk_drops(k) == 100);
	net_run("ip link set vb up");
	net_run("until ip link show va | grep -q LOWER_UP; do sleep 0.01; "
		"done");
	src_wait(s, 0);
	while (src_rx(s, &p, 1, &err) == -ENETDOWN)
		; /* told once */
	src_wait(s, PATIENCE_MS);
	net_nothing_before(s, k, PORT, 3);
	TEST(snk_drops(k) == 100);
	TEST(!snk_close(k));
	src_close(s);
}

/* One queue, one sender; two, two. Where there is none left, AF_PACKET. */
static void test_queues(void)
{
	static const char *const kind[] = {"AF_XDP copy", "AF_XDP copy",
					   "AF_PACKET"};
	struct src *s = net_source("qb", &by_packet);
	struct error err = {0};
	struct snk *k[4];

	for (unsigned i = 0; i < 3; i++) {
		k[i] = net_sink_of("qa", LIVE_AUTO);
		TEST(!strcmp(snk_kind(k[i]), kind[i]));
		net_row(s, k[i], PORT, 1000);
	}
	TEST(snk_open_live(&k[3], "qa", LIVE_XDP, &err) == -EBUSY);
	TEST(!!strstr(err.text, "qa: another XDP program or AF_XDP socket"));
	for (unsigned i = 0; i < 3; i++)
		TEST(!snk_close(k[i]));
	k[0] = net_sink_of("qa", LIVE_XDP); /* free again */
	TEST(!snk_close(k[0]));
	src_close(s);
}

/* --no-xdp */
static void test_packet(void)
{
	struct snk *k = net_sink_of("va", LIVE_PACKET);

	TEST(!strcmp(snk_kind(k), "AF_PACKET"));
	TEST(!snk_close(k));
}

static void test_removed(void)
{
	struct snk *k = net_sink_of("va", LIVE_XDP);

	net_run("ip link del va");
	net_frame(snk_room(k, 100), 100, 0, PORT, 1);
	snk_done(k, 100, 0);
	TEST(snk_flush(k) == -ENODEV && snk_drops(k) == 1);
	errno = 0;
	for (int i = 0; i < 2 * WAITING && snk_room(k, 100); i++)
		snk_done(k, 100, 0);
	TEST(errno == ENODEV && snk_close(k) == -ENODEV);
}

static void check_permission(void)
{
	struct error err = {0};
	struct snk *k;

	TEST(!setuid(65534));
	TEST(snk_open_live(&k, "va", LIVE_XDP, &err) == -EPERM);
	TEST(!!strstr(err.text, "cap_net_raw"));
}

/* All capabilities but the one to lock memory without limit. */
static void check_memlock(void)
{
	struct __user_cap_header_struct h = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct c[_LINUX_CAPABILITY_U32S_3];
	struct rlimit l = {1 << 20, 1 << 20};
	struct error err = {0};
	struct snk *k;

	TEST(!syscall(SYS_capget, &h, c));
	c[0].effective &= ~(1u << CAP_IPC_LOCK);
	c[0].permitted &= ~(1u << CAP_IPC_LOCK);
	TEST(!syscall(SYS_capset, &h, c) && !setrlimit(RLIMIT_MEMLOCK, &l));
	TEST(snk_open_live(&k, "va", LIVE_XDP, &err) == -ENOBUFS);
	TEST(!!strstr(err.text, "locks 8 MB of memory, the limit is 1024 KB"));
}

int main(void)
{
	struct error err = {0};
	struct snk *k;

	net_start("ip link add va type veth peer name vb &&"
		  " ip link add qa numtxqueues 2 numrxqueues 2 type veth"
		  " peer name qb numtxqueues 2 numrxqueues 2 &&"
		  " ip link set qa up && ip link set qb up &&"
		  " ip link set lo mtu 1500");
	if (snk_open_live(&k, "va", LIVE_XDP, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return TEST_SKIP; /* not built in, or no such kernel */
	}
	TEST(!snk_close(k));
	test_frames("va", "vb", &by_packet);
	test_frames("va", "vb", &by_xdp);
	test_frames("lo", "lo", &by_packet);
	test_close();
	test_lengths();
	test_large();
	test_down();
	test_no_carrier();
	test_queues();
	test_packet();
	net_child(check_permission);
	net_child(check_memlock);
	test_removed();
	return test_end();
}
