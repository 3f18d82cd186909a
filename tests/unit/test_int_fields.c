/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each instruction of INT says of a hop, in each profile, and packets that
 * begin with their IP header, as reports have them.
 */
#include "int/int_md.h"
#include "int/int_md.h"
#include "int_packets.h"
#include "int_samples.h"

static uint8_t frame[2048];
static struct int_decoder d;

/* A packet with the hops of that hex text, put in as the profile has it. */
static bool read_hops(struct int_record *v, const char *profile,
		      uint8_t version, uint16_t bitmap, unsigned hops,
		      const char *hex)
{
	const struct int_profile *p = int_profile_named(profile);
	static struct packet packet;
	uint8_t stack[INT_HOP_MAX];
	struct int_source s = {.version = version,
			       .type = INT_TYPE_MD,
			       .over = INT_OVER_L4,
			       .by = INT_BY_DSCP,
			       .bitmap = bitmap,
			       .hops = hops,
			       .hops_max = 255,
			       .stack = stack};
	struct int_place at;
	struct rng r = {1};
	int n;

	s.stack_len = unhex(stack, sizeof(stack), hex);
	packet_make(&packet, &r, PACKET_TCP);
	n = int_insert(frame, sizeof(frame), p, &s, packet.data, packet.len);
	int_decoder_init(&d, p);
	return TEST(n > 0) &&
	       TEST(int_find(&at, p, NET_ETHERTYPE_ETH, frame, (size_t)n) ==
		    INT_OK) &&
	       TEST(int_decode(v, &d, &at, frame, (size_t)n) == INT_OK) &&
	       TEST(v->stack.n == hops);
}

static bool has(const struct int_record *v, unsigned hop, enum int_field f)
{
	uint64_t value;

	return int_get(v->stack.layout, int_hop(&v->stack, hop), f, &value);
}

static uint64_t get(const struct int_record *v, unsigned hop, enum int_field f)
{
	uint64_t value = 0;

	TEST(int_get(v->stack.layout, int_hop(&v->stack, hop), f, &value));
	return value;
}

/* All that 2.1 has: 60 bytes. */
static void test_all(void)
{
	struct int_record v;

	if (!read_hops(&v, "2.1", INT_V2_1, 0xff81, 1,
		       "00000007 00010002 00000003 04000005"
		       "0000000000000006 0000000000000007 00000008 00000009"
		       "0000000a 0b00000c ffffffff"))
		return;
	TEST(get(&v, 0, INT_NODE) == 7);
	TEST(get(&v, 0, INT_INGRESS) == 1);
	TEST(get(&v, 0, INT_EGRESS) == 2);
	TEST(get(&v, 0, INT_LATENCY) == 3);
	TEST(get(&v, 0, INT_QUEUE) == 4);
	TEST(get(&v, 0, INT_OCCUPANCY) == 5);
	TEST(get(&v, 0, INT_INGRESS_TIME) == 6);
	TEST(get(&v, 0, INT_EGRESS_TIME) == 7);
	TEST(get(&v, 0, INT_INGRESS2) == 8);
	TEST(get(&v, 0, INT_EGRESS2) == 9);
	TEST(get(&v, 0, INT_UTILIZATION) == 10);
	TEST(get(&v, 0, INT_BUFFER) == 11);
	TEST(get(&v, 0, INT_BUFFER_OCCUPANCY) == 12);
	TEST(v.stack.len == 52);
}

/* All ones: the node cannot tell; 8 bytes must all be. */
static void test_unknown(void)
{
	struct int_record v;

	if (!read_hops(&v, "2.1", INT_V2_1, 0xd800, 2,
		       "00000002 ffffffff ffffffff ffffffffffffffff"
		       "00000001 ffff0001 00ffffff 00000000ffffffff"))
		return;
	TEST(get(&v, 0, INT_NODE) == 2);
	TEST(!has(&v, 0, INT_INGRESS) && !has(&v, 0, INT_EGRESS));
	TEST(!has(&v, 0, INT_QUEUE) && !has(&v, 0, INT_OCCUPANCY));
	TEST(!has(&v, 0, INT_INGRESS_TIME));
	TEST(!has(&v, 0, INT_LATENCY)); /* not asked for */
	TEST(get(&v, 1, INT_INGRESS) == 0xffff);
	TEST(get(&v, 1, INT_OCCUPANCY) == 0xffffff);
	TEST(get(&v, 1, INT_INGRESS_TIME) == 0xffffffff);
}

/* Without a switch id nothing is taken for it. */
static void test_no_node(void)
{
	struct int_record v;

	if (!read_hops(&v, "intcollector", INT_V1_0, 0x7000, 2,
		       "00010002 00000064 00030200"
		       "00030004 00000065 00010100"))
		return;
	TEST(!has(&v, 0, INT_NODE));
	TEST(get(&v, 0, INT_EGRESS) == 2);
	TEST(get(&v, 1, INT_LATENCY) == 0x65);
	/* the published widths, 16 and 16 */
	TEST(get(&v, 0, INT_QUEUE) == 3);
	TEST(get(&v, 0, INT_OCCUPANCY) == 0x200);
}

/* Level 2 ports are 8 bytes, GEANT's are 4; its times are 8. */
static void test_widths(void)
{
	struct int_record v;

	if (read_hops(&v, "1.0", INT_V1_0, 0x8300, 2,
		      "00000002 00000003 00000004 00000005"
		      "00000001 00000006 00000007 00000008")) {
		TEST(get(&v, 0, INT_EGRESS2) == 4);
		TEST(get(&v, 1, INT_UTILIZATION) == 8);
	}
	if (read_hops(&v, "geant", INT_V1_0, 0xae00, 2,
		      "00000002 00000007 0000000100000000 0000000100000001"
		      "00030004 00000001 00000008 0000000000000005"
		      "0000000000000006 00050006")) {
		TEST(get(&v, 0, INT_LATENCY) == 7000); /* microseconds */
		TEST(get(&v, 0, INT_EGRESS_TIME) == 0x100000001);
		TEST(get(&v, 0, INT_EGRESS2) == 4);
		TEST(get(&v, 1, INT_INGRESS_TIME) == 5);
		TEST(get(&v, 1, INT_INGRESS2) == 5);
	}
	if (read_hops(&v, "0.5", INT_V0_5, 0x8600, 1,
		      "00000001 00000009 06000007")) {
		TEST(get(&v, 0, INT_QUEUE) == 6);
		TEST(get(&v, 0, INT_CONGESTION) == 7);
		TEST(get(&v, 0, INT_EGRESS_TIME) == 9);
	}
}

/* As many hops as a length of 255 words has room for. */
static void test_many(void)
{
	char hex[252 * 8 + 1];
	struct int_record v;

	for (unsigned i = 0; i < 252; i++)
		snprintf(hex + 8 * (size_t)i, 9, "%08x", 1000 + i);
	if (!read_hops(&v, "2.1", INT_V2_1, 0x8000, 252, hex))
		return;
	for (unsigned i = 0; i < 252; i++)
		TEST(get(&v, i, INT_NODE) == 1000 + i);
}

/* A header that says another version of itself: only who does not look at that
 * takes it, as it takes what GEANT counts in reserved bits. */
static void test_any_ver(void)
{
	const struct int_profile *p = int_profile_named("intcollector");
	struct int_profile strict = *p;
	struct int_place at;
	struct int_record v;
	size_t len = 0;

	read_hops(&v, "intcollector", INT_V1_0, 0x8000, 1, "00000001");
	len = sizeof(frame);
	strict.any_ver = false;
	TEST(int_find(&at, p, NET_ETHERTYPE_ETH, frame, len) == INT_OK);
	frame[at.header] = 0;
	frame[at.header + 7] = 5;
	TEST(int_find(&at, p, NET_ETHERTYPE_ETH, frame, len) == INT_OK);
	TEST(int_decode(&v, &d, &at, frame, len) == INT_OK);
	TEST(v.stack.n == 1 && v.flags == INT_RESERVED);
	/* By any DSCP, what does not look like INT is none. */
	TEST(int_find(&at, &strict, NET_ETHERTYPE_ETH, frame, len) == INT_NONE);
}

/* From the IP header on everything is the same. */
static void test_from_ip(void)
{
	uint8_t out[512], plain[512];
	int n = 0;

	for (int i = 0; i < INT_SAMPLES; i++) {
		const struct int_sample *s = &int_samples[i];
		struct int_profile p = int_sample_profile(s->profile);
		size_t len = unhex(frame, sizeof(frame), s->frame);
		size_t plain_len = unhex(plain, sizeof(plain), s->plain);
		uint16_t type = be16_load(frame + 12);
		struct int_place at;
		struct int_record v;

		if (type != NET_ETHERTYPE_IP4 && type != NET_ETHERTYPE_IP6)
			continue;
		n++;
		int_decoder_init(&d, &p);
		if (!TEST(int_find(&at, &p, type, frame + 14, len - 14) ==
			  INT_OK))
			continue;
		TEST(int_decode(&v, &d, &at, frame + 14, len - 14) == INT_OK);
		TEST(v.ip_len == s->ip_len && v.stack.n == s->hops);
		if (strstr(s->name, "whole frame"))
			continue; /* its frame is inside */
		TEST(int_strip(out, sizeof(out), &p, &at, frame + 14,
			       len - 14) == (int)plain_len - 14);
		TEST(!memcmp(out, plain + 14, plain_len - 14));
	}
	TEST(n > 30);
}

int main(void)
{
	test_all();
	test_unknown();
	test_no_node();
	test_widths();
	test_many();
	test_any_ver();
	test_from_ip();
	return test_end();
}
