/* SPDX-License-Identifier: BSD-2-Clause */
/* Labels in packets: put in, read, taken out bit for bit; what is malformed. */
#include <errno.h>
#include <stdbool.h>

#include "base/rng.h"
#include "bytes.h"
#include "test.h"
#include "net/be.h"
#include "label/label.h"
#include "net/net.h"

#define ETH "020000000002 020000000001 "
#define UDP "03e8 9c68 000d 0000 0102030405"
#define ADDR6                                                                  \
	"20010db8000000000000000000000001 20010db8000000000000000000000002 "
/* The item of sample() as the diagram in label.h has it. */
#define ITEM                                                                   \
	"01020304 0506 0708 090a0b0c0d0e 0000 0f101112 13141516 00000009 "     \
	"00000000"

static const struct label_format *format = &label_format_default;

static struct label_item sample(uint32_t number)
{
	return (struct label_item){
		.device = 0x01020304,
		.in = 0x0506,
		.out = 0x0708,
		.time_us = 0x090a0b0c0d0e,
		.latency_ns = 0x0f101112,
		.queue = 0x13141516,
		.number = number,
	};
}

static bool same(const struct label_item *a, const struct label_item *b)
{
	uint8_t one[LABEL_ITEM_LEN], other[LABEL_ITEM_LEN];

	label_item_put(one, a);
	label_item_put(other, b);
	return !memcmp(one, other, sizeof(one));
}

static const struct {
	const char *name, *hex;
	uint8_t layout;
} good[] = {
	{"IPv4", ETH "0800 45000021 00010000 401166c9 0a000001 0a000002 " UDP,
	 LABEL_IP4},
	{"IPv4, options, padding",
	 ETH "0800 46000025 00010000 401163c3 0a000001 0a000002 01010101 " UDP
	     "000000",
	 LABEL_IP4},
	{"IPv4, two VLAN tags",
	 ETH "88a80001 81000002 0800 45000021 00010000 401166c9 0a000001 "
	     "0a000002 " UDP,
	 LABEL_IP4},
	{"IPv6", ETH "86dd 60000000 000d 11 40 " ADDR6 UDP, LABEL_IP6},
	{"IPv6, a fragment of it",
	 ETH "86dd 60000000 0015 2c 40 " ADDR6 "11000001 00000007 " UDP,
	 LABEL_IP6},
};

enum {
	GOOD = sizeof(good) / sizeof(good[0]),
	FRAME_MAX = 512,
};

/* A frame with n labels more. */
static size_t labelled(uint8_t *out, const uint8_t *frame, size_t len,
		       unsigned n, bool specific)
{
	uint8_t from[FRAME_MAX];
	struct label_view v;

	memcpy(out, frame, len);
	for (unsigned i = 0; i < n; i++) {
		struct label_item item = sample(i + 1);
		int rc;

		memcpy(from, out, len);
		rc = label_find(&v, format, from, len);
		TEST(rc == (v.labelled ? 0 : -ENOENT));
		rc = label_push(out, FRAME_MAX, format, &v, from, len, &item,
				specific, 0);
		TEST(rc == (int)(len + (i ? 32 : 34)));
		len = (size_t)rc;
	}
	return len;
}

static bool sum_ok(const struct label_view *v)
{
	return v->layout != LABEL_IP4 ||
	       net_checksum(v->ip, (v->ip[0] & 15) * 4u) == 0;
}

static void check_items(const struct label_view *v, unsigned n)
{
	struct label_item item, want;

	TEST(v->n == n);
	for (unsigned i = 0; i < n; i++) {
		label_item_get(&item, v, i);
		want = sample(n - i); /* newest first */
		TEST(same(&item, &want));
	}
}

static void round_trip(const uint8_t *frame, size_t len, uint8_t layout,
		       unsigned n, bool specific)
{
	uint8_t with[FRAME_MAX], back[FRAME_MAX];
	size_t long_len = labelled(with, frame, len, n, specific);
	struct label_view v;

	TEST(label_find(&v, format, with, long_len) == 0);
	TEST(v.layout == layout && v.specific == specific && !v.exported);
	TEST(v.next == (with[v.option - with]) && sum_ok(&v));
	check_items(&v, n);
	TEST(label_extent(&v) == long_len - len);
	TEST(label_strip(back, len - 1, &v, with, long_len) == -ENOBUFS);
	TEST(label_strip(back, len, &v, with, long_len) == (int)len);
	TEST(!memcmp(back, frame, len));
	/* in place */
	TEST(label_strip(with, len, &v, with, long_len) == (int)len);
	TEST(!memcmp(with, frame, len));
}

static void test_round_trip(void)
{
	uint8_t frame[FRAME_MAX];

	for (unsigned i = 0; i < GOOD; i++) {
		size_t len = unhex(frame, sizeof(frame), good[i].hex);

		for (unsigned n = 1; n <= LABEL_MAX_HOP; n++) {
			round_trip(frame, len, good[i].layout, n, false);
			round_trip(frame, len, good[i].layout, n, true);
		}
		if (test_failures)
			fprintf(stderr, "in %s\n", good[i].name);
	}
}

/* Every byte of a labelled packet, by the specification. */
static void test_bytes(void)
{
	uint8_t frame[FRAME_MAX], with[FRAME_MAX], want[FRAME_MAX];
	size_t len = unhex(frame, sizeof(frame), good[0].hex), long_len;
	struct label_item item = sample(9);
	struct label_view v;

	/* header sum: 0x22 more, and the protocol 0xec more, than in 66c9 */
	long_len = unhex(want, sizeof(want),
			 ETH "0800 45000043 00010000 40fd65bb 0a000001 "
			     "0a000002 1101 " ITEM UDP);
	TEST(label_find(&v, format, frame, len) == -ENOENT);
	TEST(label_push(with, sizeof(with), format, &v, frame, len, &item,
			false, 0) == (int)long_len);
	TEST(!memcmp(with, want, long_len));
	label_push(with, sizeof(with), format, &v, frame, len, &item, true, 0);
	TEST(with[34] == 17 && with[35] == 6); /* MAX_hop and 1 */
}

static void test_limits(void)
{
	uint8_t frame[FRAME_MAX], with[FRAME_MAX], out[FRAME_MAX];
	size_t len = unhex(frame, sizeof(frame), good[0].hex), n;
	struct label_item item = sample(1);
	struct label_view v;

	n = labelled(with, frame, len, LABEL_MAX_HOP, false);
	TEST(label_find(&v, format, with, n) == 0);
	TEST(label_push(out, sizeof(out), format, &v, with, n, &item, true,
			0) == -E2BIG);
	n = labelled(with, frame, len, LABEL_MAX_HOP, true);
	TEST(label_find(&v, format, with, n) == 0);
	TEST(label_push(out, sizeof(out), format, &v, with, n, &item, false,
			0) == (int)n + 32);
	TEST(label_find(&v, format, frame, len) == -ENOENT);
	/* 33 bytes of IP, 34 more */
	TEST(label_push(out, sizeof(out), format, &v, frame, len, &item, false,
			66) == -EMSGSIZE);
	TEST(label_push(out, sizeof(out), format, &v, frame, len, &item, false,
			67) == (int)len + 34);
	TEST(label_push(out, len + 33, format, &v, frame, len, &item, false,
			0) == -ENOBUFS);
	v.ip_len = 65535 - 33;
	TEST(label_push(out, sizeof(out), format, &v, frame, len, &item, false,
			0) == -EMSGSIZE);
	frame[24] = frame[25] = 0xff; /* a header checksum that nobody makes */
	label_find(&v, format, frame, len);
	TEST(label_push(out, sizeof(out), format, &v, frame, len, &item, false,
			0) == -ENOTSUP);
}

/* Any header checksum, right or not, comes back; fragments are left alone. */
static void test_checksums(void)
{
	uint8_t frame[FRAME_MAX];
	size_t len = unhex(frame, sizeof(frame), good[0].hex);
	struct label_view v;

	for (unsigned sum = 0; sum < 0xffff; sum += 5) {
		uint8_t with[FRAME_MAX], back[FRAME_MAX];
		size_t n;

		be16_store(frame + 24, (uint16_t)sum);
		n = labelled(with, frame, len, 3, false);
		TEST(label_find(&v, format, with, n) == 0);
		TEST(label_strip(back, sizeof(back), &v, with, n) == (int)len);
		TEST(!memcmp(back, frame, len));
	}
	frame[20] = 0x20; /* more fragments */
	TEST(label_find(&v, format, frame, len) == -ENOTSUP);
	frame[20] = 0, frame[21] = 1; /* a later one */
	TEST(label_find(&v, format, frame, len) == -ENOTSUP);
}

/* Cut anywhere within what must be read; and counts that are too large. */
static void test_malformed(void)
{
	uint8_t frame[FRAME_MAX], with[FRAME_MAX];
	struct label_view v;

	for (unsigned i = 0; i < GOOD; i++) {
		size_t len = unhex(frame, sizeof(frame), good[i].hex), head;
		size_t n = labelled(with, frame, len, 2, false);

		TEST(label_find(&v, format, with, n) == 0);
		head = (size_t)(v.rest - with);
		for (size_t cut = 0; cut < n; cut++) {
			uint8_t *copy = exact_copy(with, cut);

			TEST(label_find(&v, format, copy, cut) ==
			     (cut < head ? -EBADMSG : 0));
			free(copy);
		}
		with[head - 65] = 3; /* the third is past the packet's end */
		TEST(label_find(&v, format, with, n) == -EBADMSG);
		with[head - 65] = 255;
		TEST(label_find(&v, format, with, n) == -EBADMSG);
		with[head - 65] = 0; /* the option alone */
		TEST(label_find(&v, format, with, n) == 0 && v.n == 0);
	}
	/* the IP header says less than there is */
	TEST(label_find(&v, format, with,
			unhex(with, sizeof(with),
			      ETH "0800 45000013 00010000 40fd0000 0a000001 "
				  "0a000002 " UDP)) == -EBADMSG);
	TEST(label_find(&v, format, with,
			unhex(with, sizeof(with), ETH "0806 0001")) ==
	     -ENOTSUP);
}

/* A datagram to the export port: an IP packet, cut behind its labels. */
static void test_exported(void)
{
	static const struct net_udp4 h = {.src = {10, 0, 0, 9},
					  .dst = {10, 0, 0, 8},
					  .dst_port = LABEL_EXPORT_PORT,
					  .ttl = 9};
	uint8_t frame[FRAME_MAX], with[FRAME_MAX], outer[FRAME_MAX];
	size_t len = unhex(frame, sizeof(frame), good[3].hex), n;
	struct label_format other = *format;
	struct label_view v;

	labelled(with, frame, len, 3, false);
	n = NET_IP6_LEN + LABEL_OPTION_LEN + 3 * LABEL_ITEM_LEN;
	TEST(net_udp4_encode(outer, sizeof(outer), &h, n) == 42);
	memcpy(outer + 42, with + NET_ETH_LEN, n);
	TEST(label_find(&v, format, outer, 42 + n) == 0);
	TEST(v.exported && v.layout == LABEL_IP6 && v.rest_len == 0);
	check_items(&v, 3);
	TEST(label_strip(with, sizeof(with), &v, outer, 42 + n) == -ENOTSUP);
	TEST(label_find(&v, format, outer, 42 + n - 1) == -EBADMSG);
	other.export_port = 0;
	TEST(label_find(&v, &other, outer, 42 + n) == -ENOENT);
	other.export_port = 7;
	TEST(label_find(&v, &other, outer, 42 + n) == -ENOENT);
	outer[42] = 0x05; /* no IP in it */
	TEST(label_find(&v, format, outer, 42 + n) == -EBADMSG);
}

/* Whether a labelled frame is taken for damaged with a byte of it changed. */
static bool damaged(uint8_t *frame, size_t len, size_t at)
{
	struct label_view v = {0};

	frame[at] ^= 0x10;
	TEST(label_find(&v, format, frame, len) == 0);
	frame[at] ^= 0x10;
	return v.damaged;
}

/* The checksum of an IPv4 header; of a datagram, if it has one. */
static void test_damaged(void)
{
	uint8_t frame[FRAME_MAX], with[FRAME_MAX], *udp;
	struct net_udp6 h = {.dst_port = LABEL_EXPORT_PORT, .src[0] = 0xfd};
	uint8_t outer[NET_UDP6_LEN + FRAME_MAX];
	size_t len = unhex(frame, sizeof(frame), good[0].hex), n;
	struct label_view v;

	n = labelled(with, frame, len, 1, false);
	TEST(label_find(&v, format, with, n) == 0 && !v.damaged);
	TEST(damaged(with, n, NET_ETH_LEN + NET_IP4_AT_SRC));
	TEST(!damaged(with, n, n - 1)); /* nobody looks at what it carries */
	n -= NET_ETH_LEN;
	memcpy(outer + NET_UDP6_LEN, with + NET_ETH_LEN, n);
	TEST(net_udp6_encode(outer, sizeof(outer), &h, with + NET_ETH_LEN, n) ==
	     NET_UDP6_LEN);
	n += NET_UDP6_LEN;
	TEST(label_find(&v, format, outer, n) == 0 && v.exported && !v.damaged);
	/* a label's time; the datagram's port; its address */
	TEST(damaged(outer, n, NET_UDP6_LEN + NET_IP4_LEN + 2 + 12));
	TEST(damaged(outer, n, NET_ETH_LEN + NET_IP6_LEN));
	TEST(damaged(outer, n, NET_ETH_LEN + NET_IP6_AT_SRC));
	TEST(!damaged(outer, n - 1, NET_ETH_LEN + NET_IP6_AT_SRC)); /* cut */
	/* as the sender's own host has it, before a network card completes it:
	 * the pseudo header's sum alone */
	udp = outer + NET_ETH_LEN + NET_IP6_LEN;
	be16_store(udp + NET_UDP_AT_SUM,
		   (uint16_t)(0xfd00 + NET_PROTO_UDP +
			      be16_load(udp + NET_UDP_AT_LEN)));
	TEST(label_find(&v, format, outer, n) == 0 && !v.damaged);
	memset(udp + NET_UDP_AT_SUM, 0, 2); /* there is none */
	TEST(!damaged(outer, n, NET_UDP6_LEN + NET_IP4_LEN + 2 + 12));
	be16_store(udp + NET_UDP_AT_LEN, 7); /* less than its own header */
	TEST(label_find(&v, format, outer, n) == -EBADMSG);
}

int main(void)
{
	test_bytes();
	test_round_trip();
	test_limits();
	test_checksums();
	test_malformed();
	test_exported();
	test_damaged();
	return test_end();
}
