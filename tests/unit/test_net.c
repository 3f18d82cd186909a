/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames are laid out here byte by byte; checksums come from published examples
 * and from a sum of 16-bit words, one at a time.
 */
#include <errno.h>
#include <stdbool.h>

#include "base/rng.h"
#include "bytes.h"
#include "test.h"
#include "net/be.h"
#include "net/net.h"

#define ETH "020000000002 020000000001 "
#define ADDR6                                                                  \
	"20010db8000000000000000000000001 20010db8000000000000000000000002 "

/* Wikipedia's IPv4 header example has UDP in it, length 115. */
static const char ip4_example[] = "45000073000040004011b861c0a80001c0a800c7";

static uint16_t slow_checksum(const uint8_t *p, size_t len)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < len; i++) {
		sum += i % 2 ? p[i] : (uint32_t)p[i] << 8;
		if (sum > 0xffff)
			sum -= 0xffff; /* the carry comes in at the end */
	}
	return (uint16_t)~sum;
}

static void test_checksum(void)
{
	/* RFC 1071 section 3 */
	static const uint8_t rfc[] = {0x00, 0x01, 0xf2, 0x03,
				      0xf4, 0xf5, 0xf6, 0xf7};
	uint8_t buf[1600];
	struct rng r = {1};

	TEST(net_checksum(rfc, sizeof(rfc)) == (uint16_t)~0xddf2);
	TEST(net_checksum(buf, unhex(buf, sizeof(buf), ip4_example)) == 0);
	for (int i = 0; i < 3000; i++) {
		size_t off = rng_below(&r, 8), len = rng_below(&r, 1500);

		for (size_t k = 0; k < len; k++)
			buf[off + k] = i % 3 ? (uint8_t)rng_u64(&r) : 0xff;
		TEST(net_checksum(buf + off, len) ==
		     slow_checksum(buf + off, len));
	}
}

/* Good frames, all of the same datagram: 1000 > 40040, payload 0102030405. */
static const struct {
	const char *name, *hex;
	uint8_t version;
	bool cuttable; /* no: the last bytes are padding */
} good[] = {
	{"plain",
	 ETH "0800 45000021123440004011 0f7e 0a0000010a000002"
	     " 03e89c68000d0000 0102030405",
	 4, true},
	{"UDP checksum",
	 ETH "0800 45000021123440004011 1495 0a0000010a000002"
	     " 03e89c68000d4267 0102030405",
	 4, true},
	{"VLAN",
	 ETH "81000064 0800 45000021123440004011 0f7e 0a0000010a000002"
	     " 03e89c68000d0000 0102030405",
	 4, true},
	{"two VLANs",
	 ETH "88a80064 81000065 0800 45000021123440004011 0f7e"
	     " 0a0000010a000002 03e89c68000d0000 0102030405",
	 4, true},
	{"options",
	 ETH "0800 47000029123440004011 0f7e 0a0000010a000002"
	     " 0101010101010100 03e89c68000d0000 0102030405",
	 4, true},
	{"padded frame",
	 ETH "0800 45000021123440004011 0f7e 0a0000010a000002"
	     " 03e89c68000d0000 0102030405 0000000000000000",
	 4, false},
	{"IP longer than UDP",
	 ETH "0800 45000023123440004011 0f7e 0a0000010a000002"
	     " 03e89c68000d0000 0102030405 ffff",
	 4, true},
	{"IPv6",
	 ETH "86dd 60000000000d1140 " ADDR6 "03e89c68000d0000 0102030405", 6,
	 true},
	{"IPv6, UDP checksum",
	 ETH "86dd 60000000000d1140 " ADDR6 "03e89c68000dffff 0102030405", 6,
	 true},
	{"IPv6, hop-by-hop, destination options, routed to its end",
	 ETH "86dd 60000000002d0040 " ADDR6 "3c00000000000000"
	     " 2b01000000000000 0000000000000000 1100000000000000"
	     " 03e89c68000d0000 0102030405",
	 6, true},
	{"IPv6, whole in one fragment",
	 ETH "86dd 6000000000152c40 " ADDR6 "1100000000000007"
	     " 03e89c68000d0000 0102030405",
	 6, true},
};

/* Puts the right checksums where the sample leaves it to us. */
static void mend(uint8_t *frame, size_t len)
{
	uint8_t *ip, *udp, pseudo[2048];
	uint16_t sum;
	size_t at = 12, hlen;

	while (frame[at] == 0x81 || frame[at] == 0x88)
		at += 4;
	ip = frame + at + 2;
	hlen = ip[0] >> 4 == 4 ? (ip[0] & 15) * 4u : 40;
	if (ip[0] >> 4 == 4) {
		ip[10] = ip[11] = 0;
		sum = slow_checksum(ip, hlen);
		ip[10] = (uint8_t)(sum >> 8);
		ip[11] = (uint8_t)sum;
	}
	udp = ip + hlen;
	if (udp + 8 > frame + len || udp + udp[5] > frame + len ||
	    !(udp[6] | udp[7]) || (ip[0] >> 4 == 6 && ip[6] != 17))
		return;
	udp[6] = udp[7] = 0;
	hlen = ip[0] >> 4 == 4 ? 8 : 32;
	memcpy(pseudo, udp - hlen, hlen);
	memcpy(pseudo + hlen, (uint8_t[4]){0, 17, udp[4], udp[5]}, 4);
	memcpy(pseudo + hlen + 4, udp, udp[5]);
	sum = slow_checksum(pseudo, hlen + 4 + udp[5]);
	udp[6] = (uint8_t)(sum >> 8);
	udp[7] = (uint8_t)sum;
}

static size_t sample(uint8_t *buf, size_t cap, const char *hex)
{
	size_t n = unhex(buf, cap, hex);

	mend(buf, n);
	return n;
}

static void check_fields(const struct net_udp *u, const uint8_t *frame,
			 unsigned version, const char *name)
{
	static const uint8_t payload[] = {1, 2, 3, 4, 5};
	static const uint8_t a4[] = {10, 0, 0, 1, 10, 0, 0, 2};
	uint8_t a6[32];

	unhex(a6, sizeof(a6), ADDR6);
	if (!TEST(u->version == version && u->src_port == 1000 &&
		  u->dst_port == 40040 && u->len == 5))
		fprintf(stderr, "%s\n", name);
	TEST(!memcmp(u->payload, payload, 5));
	TEST(u->ip > frame && u->ip[0] >> 4 == version);
	if (version == 4)
		TEST(!memcmp(u->src, a4, 4) && !memcmp(u->dst, a4 + 4, 4));
	else
		TEST(!memcmp(u->src, a6, 16) && !memcmp(u->dst, a6 + 16, 16));
}

static void test_good(void)
{
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		uint8_t buf[256], *copy;
		size_t len = sample(buf, sizeof(buf), good[i].hex);
		struct net_udp u;

		copy = exact_copy(buf, len);
		if (TEST(net_udp_decode(&u, copy, len) == 0))
			check_fields(&u, copy, good[i].version, good[i].name);
		else
			fprintf(stderr, "%s\n", good[i].name);
		free(copy);
		for (size_t n = 0; n < len && good[i].cuttable; n++) {
			copy = exact_copy(buf, n);
			TEST(net_udp_decode(&u, copy, n) == -EBADMSG);
			free(copy);
		}
	}
}

/* One byte of a good frame changed; offsets count from the IP header. */
static void test_bad(void)
{
	static const struct {
		int sample, at;
		uint8_t value;
		bool mended;
		int rc;
	} bad[] = {
		{0, -2, 0x07, false, -ENOTSUP}, /* not IP */
		{0, 0, 0x65, true, -EBADMSG},	/* version 6 in 0x0800 */
		{0, 0, 0x44, true, -EBADMSG},	/* header of 16 bytes */
		{0, 0, 0x4f, true, -EBADMSG},	/* longer than the packet */
		{0, 3, 0x22, true, -EBADMSG},	/* IP above the frame */
		{0, 3, 0x13, true, -EBADMSG},	/* IP below its header */
		{0, 3, 0x20, true, -EBADMSG},	/* UDP above IP */
		{0, 6, 0x20, true, -ENOTSUP},	/* more fragments */
		{0, 7, 0x01, true, -ENOTSUP},	/* a later fragment */
		{0, 9, 6, true, -ENOTSUP},	/* TCP */
		{0, 10, 0xff, false, -EBADE},	/* header checksum */
		{0, 13, 0xff, false, -EBADE},	/* address corrupted */
		{0, 25, 0x07, true, -EBADMSG},	/* UDP length 7 */
		{0, 25, 0x0e, true, -EBADMSG},	/* UDP length too long */
		{1, 32, 0x06, false, -EBADE},	/* payload corrupted */
		{1, 27, 0x01, false, -EBADE},	/* UDP checksum */
		{7, 0, 0x45, true, -EBADMSG},	/* version 4 in 0x86dd */
		{7, 5, 0x0c, true, -EBADMSG},	/* UDP above IP */
		{7, 5, 0x0e, true, -EBADMSG},	/* IP above the frame */
		{7, 6, 58, true, -ENOTSUP},	/* ICMPv6 */
		{7, 6, 59, true, -ENOTSUP},	/* no next header */
		{8, 52, 0x06, false, -EBADE},	/* payload corrupted */
		{9, 41, 0x20, true, -EBADMSG},	/* extension too long */
		{9, 59, 0x01, true, 0},		/* inside an option */
		{9, 67, 0x01, true, -ENOTSUP},	/* segments left */
		{10, 43, 0x01, true, -ENOTSUP}, /* more fragments */
		{10, 42, 0x01, true, -ENOTSUP}, /* a later fragment */
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint8_t buf[256], *copy;
		size_t len = sample(buf, sizeof(buf), good[bad[i].sample].hex);
		struct net_udp u = {.len = 77};

		if (!TEST(buf[14 + bad[i].at] != bad[i].value))
			fprintf(stderr, "bad[%zu] changes nothing\n", i);
		buf[14 + bad[i].at] = bad[i].value;
		if (bad[i].mended)
			mend(buf, len);
		copy = exact_copy(buf, len);
		if (!TEST(net_udp_decode(&u, copy, len) == bad[i].rc))
			fprintf(stderr, "bad[%zu]\n", i);
		TEST(bad[i].rc == 0 || u.len == 77);
		free(copy);
	}
}

/* The pseudo header's sum: addresses, protocol, length. */
static void test_partial(void)
{
	static const uint8_t of[] = {1, 8};

	for (size_t i = 0; i < sizeof(of); i++) {
		uint8_t buf[256];
		size_t len = sample(buf, sizeof(buf), good[of[i]].hex);
		uint8_t *ip = buf + NET_ETH_LEN, pseudo[40] = {0};
		bool six = ip[0] >> 4 == 6;
		uint8_t *udp = ip + (six ? NET_IP6_LEN : NET_IP4_LEN);
		struct net_udp u = {.len = 77};

		if (six)
			memcpy(pseudo, ip + NET_IP6_AT_SRC, 32);
		else
			memcpy(pseudo, ip + NET_IP4_AT_SRC, 8);
		pseudo[33] = NET_PROTO_UDP;
		memcpy(pseudo + 34, udp + 4, 2);
		TEST(!net_udp_decode(&u, buf, len) && !u.partial);
		be16_store(udp + NET_UDP_AT_SUM,
			   (uint16_t)~net_checksum(pseudo, sizeof(pseudo)));
		TEST(!net_udp_decode(&u, buf, len) && u.partial);
		udp[NET_UDP_AT_SUM] ^= 1;
		TEST(net_udp_decode(&u, buf, len) == -EBADE);
	}
}

static void test_three_tags(void)
{
	uint8_t buf[64];
	size_t len = unhex(buf, sizeof(buf),
			   ETH "81000001 81000002 81000003 0800 45000021");
	struct net_packet p;
	struct net_udp u;

	TEST(net_udp_decode(&u, buf, len) == -ENOTSUP);
	TEST(net_packet_decode(&p, buf, len) == -ENOTSUP);
}

static const char tcp_syn[] = ETH
	"0800 45000040abcd40003306 0000 0a0000010a000002"
	" 01bb1f90 01020304 05060708 b0020000 00000000";

static void test_packet_tcp(void)
{
	uint8_t buf[256], *copy;
	size_t len = unhex(buf, sizeof(buf), tcp_syn);
	struct net_packet p;

	copy = exact_copy(buf, len); /* cut behind the fixed header */
	TEST(net_packet_decode(&p, copy, len) == 0);
	TEST(p.version == 4 && p.protocol == NET_PROTO_TCP && p.ttl == 0x33);
	TEST(!p.fragment && p.src_port == 443 && p.dst_port == 8080);
	TEST(p.ip_id == 0xabcd && p.ip_len == 64);
	TEST(p.tcp_flags == NET_TCP_SYN && p.tcp_seq == 0x01020304);
	TEST(p.tcp_payload == 0);
	TEST(p.src == copy + 26 && p.dst == copy + 30);
	free(copy);
	for (size_t n = 0; n < len; n++) {
		copy = exact_copy(buf, n);
		TEST(net_packet_decode(&p, copy, n) == -EBADMSG);
		free(copy);
	}
	buf[14 + 3] = 0x54; /* 84 bytes: 20, 44, and 20 of data */
	TEST(net_packet_decode(&p, buf, len) == 0 && p.tcp_payload == 20);
	buf[14 + 3] = 0x3f; /* the options end behind the packet */
	TEST(net_packet_decode(&p, buf, len) == -EBADMSG);
	buf[14 + 3] = 0x40;
	buf[14 + 32] = 0x40; /* a TCP header of 16 bytes */
	TEST(net_packet_decode(&p, buf, len) == -EBADMSG);
	buf[14 + 7] = 1; /* a later fragment has no header to judge */
	TEST(net_packet_decode(&p, buf, len) == 0);
	TEST(p.fragment && !p.src_port && !p.dst_port && !p.tcp_seq);
}

static void test_packet_others(void)
{
	uint8_t buf[256];
	struct net_packet p;
	size_t len;

	/* only eight bytes of a long UDP datagram were captured */
	len = unhex(buf, sizeof(buf),
		    ETH "0800 450005dc000000000111 0000 0a0000010a000002"
			" 00351f9005c80000");
	TEST(net_packet_decode(&p, buf, len) == 0);
	TEST(p.src_port == 53 && p.dst_port == 8080 && p.ip_len == 1500);
	TEST(p.tcp_payload == 0 && p.ttl == 1);
	TEST(net_packet_decode(&p, buf, len - 1) == -EBADMSG);
	/* ICMP: no ports, and nothing behind the IP header is read */
	buf[14 + 9] = 1;
	TEST(net_packet_decode(&p, buf, 34) == 0);
	TEST(p.protocol == 1 && !p.src_port && !p.dst_port);
	/* IPv6: UDP behind a first fragment's header */
	len = unhex(buf, sizeof(buf),
		    ETH "86dd 6000000004d02c40 " ADDR6 "1100000100000007"
			" 00351f9005c80000");
	TEST(net_packet_decode(&p, buf, len) == 0);
	TEST(p.version == 6 && p.protocol == NET_PROTO_UDP && !p.fragment);
	TEST(p.src_port == 53 && p.ip_len == 0x4d0 + 40 && p.ip_id == 0);
	/* a later one */
	buf[14 + 43] = 9;
	TEST(net_packet_decode(&p, buf, len) == 0);
	TEST(p.fragment && p.protocol == NET_PROTO_UDP && !p.src_port);
	/* ESP: what follows is no business of ours */
	buf[14 + 6] = 50;
	TEST(net_packet_decode(&p, buf, len) == 0);
	TEST(p.protocol == 50 && !p.src_port);
}

static void test_encode(void)
{
	struct net_udp4 h = {
		.eth_dst = {2, 0, 0, 0, 0, 2},
		.eth_src = {2, 0, 0, 0, 0, 1},
		.src = {10, 0, 0, 1},
		.dst = {10, 0, 0, 2},
		.src_port = 1000,
		.dst_port = 40040,
		.ip_id = 0x1234,
		.ttl = 64,
	};
	uint8_t want[64], buf[64];
	size_t len = sample(want, sizeof(want), good[0].hex);

	TEST(net_udp4_encode(buf, sizeof(buf), &h, 5) == 42);
	memcpy(buf + 42, want + 42, 5);
	TEST(!memcmp(buf, want, len));
	for (size_t n = 0; n < 42; n++)
		TEST(net_udp4_encode(buf, n, &h, 5) == -ENOBUFS);
	TEST(net_udp4_encode(buf, 42, &h, 65507) == 42);
	TEST(net_udp4_encode(buf, 42, &h, 65508) == -ENOBUFS);
}

/* Read back; the checksum is of all bytes, and none is written as 0. */
static void test_encode6(void)
{
	struct net_udp6 h = {
		.eth_dst = {2, 0, 0, 0, 0, 2},
		.eth_src = {2, 0, 0, 0, 0, 1},
		.src = {0x20, 1, [15] = 1},
		.dst = {0x20, 1, [15] = 2},
		.src_port = 1000,
		.dst_port = 40040,
		.tos = 0x5a,
		.ttl = 63,
	};
	uint8_t buf[NET_UDP6_LEN + 5], *at = buf + NET_UDP6_LEN;
	struct net_udp u;

	for (unsigned v = 0; v <= UINT16_MAX; v++) {
		memcpy(at, (uint8_t[]){(uint8_t)(v >> 8), (uint8_t)v, 1, 2, 3},
		       5);
		if (!TEST(net_udp6_encode(buf, sizeof(buf), &h, at, 5) == 62) ||
		    !TEST(net_udp_decode(&u, buf, sizeof(buf)) == 0) ||
		    !TEST(be16_load(at - 2)))
			return;
	}
	TEST(u.version == 6 && u.src_port == 1000 && u.dst_port == 40040 &&
	     u.len == 5 && u.payload == at && !memcmp(u.src, h.src, 16) &&
	     !memcmp(u.dst, h.dst, 16));
	TEST(be32_load(buf + 14) == 0x65a00000 && buf[14 + 7] == 63);
	at[4] ^= 1;
	TEST(net_udp_decode(&u, buf, sizeof(buf)) == -EBADE);
	TEST(net_udp6_encode(buf, sizeof(buf), &h, NULL, 5) == 62);
	TEST(!be16_load(at - 2) && !net_udp_decode(&u, buf, sizeof(buf)));
	for (size_t n = 0; n < 62; n++)
		TEST(net_udp6_encode(buf, n, &h, NULL, 5) == -ENOBUFS);
	TEST(net_udp6_encode(buf, 62, &h, NULL, 65527) == 62);
	TEST(net_udp6_encode(buf, 62, &h, NULL, 65528) == -ENOBUFS);
}

int main(void)
{
	test_checksum();
	test_good();
	test_bad();
	test_partial();
	test_three_tags();
	test_packet_tcp();
	test_packet_others();
	test_encode();
	test_encode6();
	return test_end();
}
