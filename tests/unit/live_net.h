/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_net.h - the tests of live interfaces: a network namespace with a pair of
 * interfaces, va and vb, that nobody else speaks on; it goes with the process.
 */
#ifndef TESTS_UNIT_LIVE_NET_H
#define TESTS_UNIT_LIVE_NET_H

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packet/live.h"
#include "test.h"
#include "net/net.h"

enum {
	PATIENCE_MS = 60000, /* for what must come */
};

/* Runs a command of a shell; the test needs it to work. */
static inline void net_run(const char *command)
{
	if (!TEST(system(command) == 0)) {
		fprintf(stderr, "%s\n", command);
		exit(test_end());
	}
}

/* Exits with TEST_SKIP where there can be none. links: a command that makes va
 * and vb. */
static inline void net_start(const char *links)
{
	if (geteuid() != 0 || unshare(CLONE_NEWNET) < 0 ||
	    system("ip link show lo >/dev/null 2>&1") != 0) {
		fprintf(stderr, "not root, no namespaces or no iproute2\n");
		exit(TEST_SKIP);
	}
	net_run("cd /proc/sys/net/ipv6/conf 2>/dev/null || exit 0; "
		"echo 1 | tee all/disable_ipv6 >default/disable_ipv6");
	net_run(links);
	net_run("ip link set va up && ip link set vb up && ip link set lo up");
}

/* A source that must open; it waits for PATIENCE_MS. */
static inline struct src *net_source(const char *name,
				     const struct live_options *o)
{
	struct error err = {0};
	struct src *s;

	if (!TEST(!src_open_live(&s, name, o, &err))) {
		fprintf(stderr, "%s: %s\n", name, err.text);
		exit(test_end());
	}
	src_wait(s, PATIENCE_MS);
	return s;
}

static inline struct snk *net_sink_of(const char *name, enum live_kind kind)
{
	struct error err = {0};
	struct snk *k;

	if (!TEST(!snk_open_live(&k, name, kind, &err))) {
		fprintf(stderr, "%s: %s\n", name, err.text);
		exit(test_end());
	}
	return k;
}

static inline struct snk *net_sink(const char *name)
{
	return net_sink_of(name, LIVE_PACKET);
}

/* A frame of len bytes, at least 42: UDP to a port, behind tags VLAN tags; its
 * number is in front of the padding. */
static inline void net_frame(uint8_t *p, size_t len, unsigned tags,
			     uint16_t port, uint32_t number)
{
	static const uint8_t tag[4] = {0x81, 0x00, 0x20, 0x07}; /* 7 */
	struct net_udp4 h = {.eth_dst = {2, 0, 0, 0, 0, 2},
			     .eth_src = {2, 0, 0, 0, 0, 1},
			     .src = {10, 0, 0, 1},
			     .dst = {10, 0, 0, 2},
			     .src_port = 1000,
			     .dst_port = port,
			     .ttl = 64};
	size_t head = 42 + (size_t)tags * 4;

	memset(p, (int)number, len);
	net_udp4_encode(p, 42, &h, len - head);
	memmove(p + 12 + tags * 4, p + 12, 30);
	for (unsigned i = 0; i < tags; i++)
		memcpy(p + 12 + i * 4, tag, 4);
	if (len >= head + 4)
		memcpy(p + head, &number, 4);
}

/* One such frame, sent at once. */
static inline void net_send(struct snk *k, size_t len, unsigned tags,
			    uint16_t port, uint32_t number)
{
	uint8_t *p = snk_room(k, len);

	if (!TEST(p != NULL))
		exit(test_end());
	net_frame(p, len, tags, port, number);
	snk_done(k, len, 0);
	TEST(!snk_flush(k));
}

/* The next packet is that frame, byte for byte. */
static inline int net_expect(struct src *s, size_t len, unsigned tags,
			     uint16_t port, uint32_t number)
{
	static uint8_t want[65536];
	struct error err = {0};
	struct pkt p;
	int n = src_rx(s, &p, 1, &err);

	net_frame(want, len, tags, port, number);
	if (TEST(n == 1) && TEST(p.len == len && p.wire_len == len) &&
	    TEST(!memcmp(p.data, want, len)))
		return 1;
	fprintf(stderr, "frame %u of %zu bytes by %s: %s, %u bytes\n", number,
		len, src_kind(s), n < 0 ? strerror(-n) : "other",
		n == 1 ? p.len : 0);
	return 0;
}

/* Nothing is there, nor comes: the frame with that number is the next one. */
static inline void net_nothing_before(struct src *s, struct snk *k,
				      uint16_t port, uint32_t number)
{
	net_send(k, 100, 0, port, number);
	net_expect(s, 100, 0, port, number);
}

/* n frames in a row, each once and in order. */
static inline void net_row(struct src *s, struct snk *k, uint16_t port,
			   uint32_t n)
{
	static struct pkt p[PKT_BATCH];
	uint32_t got = 0, bad = 0, number;
	struct error err = {0};

	for (uint32_t sent = 0; sent < n;) {
		for (int i = 0; i < 200 && sent < n; i++, sent++) {
			/* asks for more than it needs, as crafters do */
			uint8_t *at = snk_room(k, sent % 3 ? 100 : 4200);

			if (!TEST(at != NULL))
				return;
			net_frame(at, 100, 0, port, sent);
			snk_done(k, 100, 0);
		}
		TEST(!snk_flush(k));
		while (got < sent) {
			int m = src_rx(s, p, PKT_BATCH, &err);

			if (!TEST(m > 0)) {
				fprintf(stderr, "%u of %u: %s\n", got, n,
					strerror(-m));
				return;
			}
			for (int i = 0; i < m; i++, got++) {
				memcpy(&number, p[i].data + 42, 4);
				bad += number != got || p[i].len != 100;
			}
		}
	}
	TEST(bad == 0 && got == n);
	if (!TEST(snk_drops(k) == 0 && src_drops(s) == 0))
		fprintf(stderr, "%ju %ju dropped\n", (uintmax_t)snk_drops(k),
			(uintmax_t)src_drops(s));
}

/* More than any ring holds, while nobody reads: what is read then and what was
 * dropped are what was sent. */
static inline void net_flood(struct src *s, struct snk *k, uint16_t port)
{
	static struct pkt p[PKT_BATCH];
	uint64_t sent = 0, got = 0;
	struct error err = {0};
	int n;

	while (src_drops(s) == 0 && sent < 10000000)
		for (int i = 0; i < 1000; i++, sent++) {
			net_frame(snk_room(k, 1500), 1500, 0, port, i);
			snk_done(k, 1500, 0);
		}
	TEST(!snk_flush(k));
	TEST(src_drops(s) > 0 && snk_drops(k) == 0);
	net_send(k, 60, 0, port, 0); /* may be dropped as well */
	sent++;
	while (got + src_drops(s) < sent &&
	       (n = src_rx(s, p, PKT_BATCH, &err)) > 0)
		got += (uint64_t)n;
	src_wait(s, 0);
	while ((n = src_rx(s, p, PKT_BATCH, &err)) > 0)
		got += (uint64_t)n;
	src_wait(s, PATIENCE_MS);
	if (!TEST(got + src_drops(s) == sent))
		fprintf(stderr, "sent %ju, received %ju, dropped %ju\n",
			(uintmax_t)sent, (uintmax_t)got,
			(uintmax_t)src_drops(s));
}

/* Other hosts' frames, as long as the source is there. */
static inline void net_promiscuous(struct live_options o)
{
	struct src *s;

	o.promiscuous = true;
	s = net_source("vb", &o);
	net_run("ip -d link show vb | grep -q 'promiscuity 1'");
	src_close(s);
	net_run("ip -d link show vb | grep -q 'promiscuity 0'");
}

/* Runs a check in a child that may lose what it needs; its checks are ours. */
static inline void net_child(void (*check)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		test_failures = 0;
		check();
		_exit(test_end());
	}
	TEST(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
}

#endif
