/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports are laid out here byte by byte, from the bit diagrams of Telemetry
 * Report 0.5, 1.0 and 2.0 and the examples of 2.0; what the encoder makes is
 * only compared with them.
 */
#include <errno.h>

#include "base/rng.h"
#include "bytes.h"
#include "test.h"
#include "wire/key.h"
#include "wire/treport.h"

/* 10.0.0.1:1000 > 10.0.0.2:80, UDP of 12 bytes and TCP without data. */
#define UDP4                                                                   \
	"45000028123440004011aaaa0a0000010a000002 03e80050000c0000 01020304"
#define TCP4                                                                   \
	"45000028123440004006aaaa0a0000010a000002"                             \
	" 03e80050000000010000000250100000aaaa0000"
#define UDP6                                                                   \
	"60000000000c1140 20010db8000000000000000000000001"                    \
	" 20010db8000000000000000000000002 03e80050000c0000 01020304"
#define ETH  "020000000002 020000000001 "
#define ETH4 ETH "0800" UDP4
#define ETH6 ETH "86dd" UDP6

static struct int_profile profile = {
	.version = INT_ANY,
	.report_port = 32766,
	.report1 =
		{
			{4, {{INT_INGRESS, 0, 2}, {INT_EGRESS, 2, 2}}},
			{4, {{INT_LATENCY, 0, 4}}},
			{4, {{INT_QUEUE, 0, 1}, {INT_OCCUPANCY, 1, 3}}},
			{4, {{INT_EGRESS_TIME, 0, 4}}},
			{4, {{INT_QUEUE, 0, 1}, {INT_DROP_REASON, 1, 1}}},
			{4, {{INT_UTILIZATION, 0, 4}}},
		},
	.report2 =
		{
			[1] = {4, {{INT_INGRESS, 0, 2}, {INT_EGRESS, 2, 2}}},
			[2] = {4, {{INT_LATENCY, 0, 4}}},
			[3] = {4, {{INT_QUEUE, 0, 1}, {INT_OCCUPANCY, 1, 3}}},
			[4] = {8, {{INT_INGRESS_TIME, 0, 8}}},
			[5] = {8, {{INT_EGRESS_TIME, 0, 8}}},
			[6] = {8, {{INT_INGRESS2, 0, 4}, {INT_EGRESS2, 4, 4}}},
			[7] = {4, {{INT_UTILIZATION, 0, 4}}},
			[8] = {4,
			       {{INT_BUFFER, 0, 1},
				{INT_BUFFER_OCCUPANCY, 1, 3}}},
			[15] = {4,
				{{INT_QUEUE, 0, 1}, {INT_DROP_REASON, 1, 1}}},
		},
};

static struct treport_decoder d;

/* All reports of a datagram, at most max, in a copy of exactly its length. The
 * copy is *keep's, who frees it. */
struct heard {
	uint8_t *copy;
	unsigned n; /* read, those refused among them */
	enum treport_reason why[8];
	struct treport t[8];
};

static void hear_bytes(struct heard *h, const uint8_t *data, size_t len)
{
	struct treport_reader r;

	memset(h, 0, sizeof(*h));
	h->copy = exact_copy(data, len);
	h->why[0] = treport_begin(&r, &d, h->copy, len);
	if (h->why[0] != TREPORT_OK) {
		h->n = 1;
		return;
	}
	while (h->n < 8) {
		h->why[h->n] = treport_next(&r, &h->t[h->n]);
		if (h->why[h->n] == TREPORT_END)
			return;
		h->n++;
	}
}

static void hear(struct heard *h, const char *hex)
{
	uint8_t buf[4096];

	hear_bytes(h, buf, unhex(buf, sizeof(buf), hex));
}

/* Of one report alone: what became of it. */
static enum treport_reason fate(const char *hex)
{
	struct heard h;

	hear(&h, hex);
	free(h.copy);
	TEST(h.n == 1);
	return h.why[0];
}

static bool own_is(const struct treport *t, enum int_field field, uint64_t want)
{
	uint64_t v;

	return t->view.own.n == 1 &&
	       int_get(t->view.own.plan, t->view.own.data, field, &v) &&
	       v == want;
}

static bool flow_is(const struct treport *t, const char *text)
{
	char buf[KEY_TEXT_MAX];

	key_format(buf,
		   t->view.key_len == KEY_FLOW4_LEN ? KEY_FLOW4 : KEY_FLOW6,
		   t->view.key, t->view.key_len);
	return t->view.key_len && !strcmp(buf, text);
}

static const char flow_udp4[] = "10.0.0.1:1000>10.0.0.2:80/udp";
static const char flow_tcp4[] = "10.0.0.1:1000>10.0.0.2:80/tcp";
static const char flow_udp6[] = "[2001:db8::1]:1000>[2001:db8::2]:80/udp";

static void test_v05(void)
{
	struct heard h;
	const struct treport *t = &h.t[0];

	/* NProto 0, D and F, hw_id 0x2a */
	hear(&h, "00a0002a 00000007 11223344" ETH4);
	TEST(h.n == 1 && h.why[0] == TREPORT_OK);
	TEST(t->view.format == INT_XD);
	TEST(t->view.flags == (INT_DROPPED | INT_TRACKED));
	TEST(t->view.from.report && t->view.from.version == 0);
	TEST(t->view.from.hw_id == 0x2a && !t->view.from.has_node);
	TEST(t->view.from.sequence == 7 && t->view.from.sequence_bits == 32);
	TEST(t->view.from.has_time && t->view.from.time == 0x11223344);
	TEST(t->view.own.n == 0 && t->view.stack.n == 0);
	TEST(flow_is(t, flow_udp4) && t->view.ip_len == 40);
	TEST(t->inner_type == TREPORT_ETHERNET && t->inner == h.copy + 12);
	TEST(t->inner_len == 14 + 32);
	free(h.copy);

	/* dropped, queue 3, reason 60 */
	hear(&h, "01800001 00000008 11223344 00000009 0001 0002 033c0000" ETH4);
	TEST(h.n == 1 && h.why[0] == TREPORT_OK);
	TEST(t->view.flags == INT_DROPPED && t->view.drop_reason == 60);
	TEST(t->view.from.has_node && t->view.from.node == 9);
	TEST(own_is(t, INT_NODE, 9) && own_is(t, INT_INGRESS, 1));
	TEST(own_is(t, INT_EGRESS, 2) && own_is(t, INT_QUEUE, 3));
	TEST(own_is(t, INT_DROP_REASON, 60) && t->view.own.len == 12);
	TEST(flow_is(t, flow_udp4));
	free(h.copy);

	/* the switch's local header, congested */
	hear(&h, "02400000 00000008 11223344 00000009 0001 0002 03000102"
		 "55667788" ETH4);
	TEST(h.n == 1 && h.why[0] == TREPORT_OK);
	TEST(t->view.flags == INT_CONGESTED);
	TEST(own_is(t, INT_OCCUPANCY, 0x102));
	TEST(own_is(t, INT_EGRESS_TIME, 0x55667788) && t->view.own.len == 16);
	TEST(flow_is(t, flow_udp4));
	free(h.copy);
	TEST(fate("03000000 00000008 11223344" ETH4) == TREPORT_TYPE);
}

/* Trap S8: what stands in the first four bits is not said. */
static void test_v05_profile(void)
{
	struct heard h;

	profile.version = INT_V0_5;
	hear(&h, "10200001 00000007 11223344" ETH4);
	TEST(h.n == 1 && h.why[0] == TREPORT_OK);
	TEST(h.t[0].view.from.version == 0 && flow_is(&h.t[0], flow_udp4));
	free(h.copy);
	profile.version = INT_ANY;
}

static void test_v1(void)
{
	struct heard h;
	const struct treport *t = &h.t[0];

	/* all metadata; D, Q and F; hw_id 5 */
	hear(&h, "1a1f81c5 00000009 80000001 11223344"
		 "00010002 00000abc 03000405 55667788 033d0000 00001388" ETH4);
	TEST(h.n == 1 && h.why[0] == TREPORT_OK);
	TEST(t->view.from.version == 1 && t->view.from.hw_id == 5);
	TEST(t->view.from.has_node && t->view.from.node == 9);
	TEST(t->view.from.sequence == 0x80000001);
	TEST(t->view.from.time == 0x11223344);
	TEST(t->view.flags == (INT_DROPPED | INT_CONGESTED | INT_TRACKED));
	TEST(t->view.own.len == 24 && t->view.drop_reason == 0x3d);
	TEST(own_is(t, INT_INGRESS, 1) && own_is(t, INT_EGRESS, 2));
	TEST(own_is(t, INT_LATENCY, 0xabc));
	TEST(own_is(t, INT_OCCUPANCY, 0x405));
	TEST(own_is(t, INT_EGRESS_TIME, 0x55667788));
	TEST(own_is(t, INT_DROP_REASON, 0x3d));
	TEST(own_is(t, INT_UTILIZATION, 5000));
	TEST(flow_is(t, flow_udp4));
	free(h.copy);

	/* no metadata; IPv4, IPv6 */
	hear(&h, "14200000 00000009 00000001 11223344" TCP4);
	TEST(h.why[0] == TREPORT_OK && t->view.own.n == 0 && !t->view.flags);
	TEST(t->inner_type == TREPORT_IP4 && flow_is(t, flow_tcp4));
	free(h.copy);
	hear(&h, "14400000 00000009 00000001 11223344" UDP6);
	TEST(h.why[0] == TREPORT_OK && t->inner_type == TREPORT_IP6);
	TEST(flow_is(t, flow_udp6) && t->view.ip_len == 52);
	free(h.copy);
	TEST(fate("14600000 00000009 00000001 11223344" UDP6) == TREPORT_TYPE);
}

/* Trap C4: each bit alone, and a header longer than the bits we know. */
static void test_v1_bits(void)
{
	static const struct {
		const char *hex;
		enum int_field field;
		uint64_t value;
	} bit[] = {
		{"15100000 00000009 00000001 11223344 00010002", INT_EGRESS, 2},
		{"15080000 00000009 00000001 11223344 00010002", INT_LATENCY,
		 0x10002},
		{"15040000 00000009 00000001 11223344 00010002", INT_OCCUPANCY,
		 0x10002},
		{"15020000 00000009 00000001 11223344 00010002",
		 INT_EGRESS_TIME, 0x10002},
		{"15010000 00000009 00000001 11223344 00010002",
		 INT_DROP_REASON, 1},
		{"15008000 00000009 00000001 11223344 00010002",
		 INT_UTILIZATION, 0x10002},
		{"16008000 00000009 00000001 11223344 00010002 ffffffff",
		 INT_UTILIZATION, 0x10002},
	};

	for (size_t i = 0; i < sizeof(bit) / sizeof(bit[0]); i++) {
		char hex[512];
		struct heard h;

		snprintf(hex, sizeof(hex), "%s%s", bit[i].hex, ETH4);
		hear(&h, hex);
		TEST(h.n == 1 && h.why[0] == TREPORT_OK);
		TEST(own_is(&h.t[0], bit[i].field, bit[i].value));
		TEST(flow_is(&h.t[0], flow_udp4));
		TEST(!h.t[0].view.drop_reason); /* D is not set */
		free(h.copy);
	}
	/* Length 3: less than the fixed part; 4: no room for a bit's word */
	TEST(fate("13000000 00000009 00000001 11223344" ETH4) ==
	     TREPORT_LENGTH);
	TEST(fate("14008000 00000009 00000001 11223344" ETH4) ==
	     TREPORT_LENGTH);
	TEST(fate("1f000000 00000009 00000001 11223344") == TREPORT_TRUNCATED);
}

/* wire-facts 5.6: INTCollector's generator says Length 1. */
static void test_v1_length_wrong(void)
{
	static const char hex[] =
		"11008040 00000009 00000001 11223344 00010002" ETH4;
	struct heard h;

	TEST(fate(hex) == TREPORT_LENGTH);
	profile.report_length_wrong = true;
	hear(&h, hex);
	TEST(h.n == 1 && h.why[0] == TREPORT_OK);
	TEST(own_is(&h.t[0], INT_UTILIZATION, 0x10002));
	TEST(flow_is(&h.t[0], flow_udp4));
	free(h.copy);
	profile.report_length_wrong = false;
}

#define GROUP "23c00005 00000009 " /* hw_id 15, sequence 5, node 9 */

/* The first example of the specification: ReportLength 14. */
static const char example14[] = GROUP "140e0220 50000000 00000000 00010002"
				      " 00000123" TCP4;

/* The third: INT-MD in a new UDP header, ReportLength 23; trap S5: not 0x900.
 */
static const char example23[] = GROUP
	"14170120 10000000 00000000 00000123"
	" 45000044 12344000 4011aaaa 0a000001 0a000002"
	" c0001000 00300000 18070006 20000206 90000000 00000000"
	" 00000002 00000022 00000001 00000011"
	" 03e80050 00000001 00000002 50100000 aaaa0000";

static void test_v2_examples(void)
{
	struct heard h;
	const struct treport *t = &h.t[0];

	hear(&h, example14);
	TEST(h.n == 1 && h.why[0] == TREPORT_OK);
	TEST(t->view.from.version == 2 && t->view.from.hw_id == 15);
	TEST(t->view.from.sequence == 5 && t->view.from.sequence_bits == 22);
	TEST(t->view.from.node == 9 && !t->view.from.has_time);
	TEST(t->view.flags == INT_TRACKED && t->view.own.len == 8);
	TEST(own_is(t, INT_INGRESS, 1) && own_is(t, INT_OCCUPANCY, 0x123));
	TEST(t->inner_type == TREPORT_IP4 && t->inner_len == 40);
	TEST(flow_is(t, flow_tcp4));
	free(h.copy);

	hear(&h, example23);
	TEST(h.n == 1 && h.why[0] == TREPORT_OK && own_is(t, INT_QUEUE, 0));
	TEST(own_is(t, INT_OCCUPANCY, 0x123));
	TEST(t->inner_type == TREPORT_IP4 && t->inner_len == 20 * 4);
	free(h.copy);

	/* The second: TLVs. MD Length is 3, for the domain's word counts as
	 * the text has it; the example's prose prints 2. */
	hear(&h, GROUP "11110320 50000007 8000000a 00010002 00000123 0badcafe"
		       " 0001abcd 5eed5eed 200a0000" TCP4);
	TEST(h.n == 1 && h.why[0] == TREPORT_OK);
	TEST(t->view.domain == 7 && t->view.domain_bits == 0x8000);
	TEST(t->domain_status == 10 && t->view.own.len == 12);
	TEST(own_is(t, INT_OCCUPANCY, 0x123));
	TEST(t->extension_len == 4 && t->extension_template == 0xabcd);
	TEST(t->extension && t->extension[0] == 0x5e);
	TEST(t->inner_type == TREPORT_IP4 && flow_is(t, flow_tcp4));
	free(h.copy);
}

static void test_v2_bits(void)
{
	struct heard h;
	const struct treport *t = &h.t[0];

	/* all that are defined: 4 4 4 8 8 8 4 4 4 bytes; D, I */
	hear(&h, GROUP "100e0c90 7f810000 00000000 00010002 00000abc 03000405"
		       "0000000100000002 0000000300000004 0000000500000006"
		       "00001388 07000809 033c0000");
	TEST(h.n == 1 && h.why[0] == TREPORT_OK);
	TEST(t->view.flags == (INT_DROPPED | INT_INTERMEDIATE));
	TEST(own_is(t, INT_INGRESS, 1) && own_is(t, INT_LATENCY, 0xabc));
	TEST(own_is(t, INT_INGRESS_TIME, 0x100000002));
	TEST(own_is(t, INT_EGRESS_TIME, 0x300000004));
	TEST(own_is(t, INT_INGRESS2, 5) && own_is(t, INT_EGRESS2, 6));
	TEST(own_is(t, INT_UTILIZATION, 5000));
	TEST(own_is(t, INT_BUFFER, 7) &&
	     own_is(t, INT_BUFFER_OCCUPANCY, 0x809));
	TEST(own_is(t, INT_DROP_REASON, 60) && t->view.drop_reason == 60);
	TEST(t->inner_type == TREPORT_NONE && !t->view.key_len && !t->inner);
	free(h.copy);

	/* a reserved bit: a word that nobody knows */
	hear(&h, GROUP "10040200 90000000 00000000 ffffffff 03000405");
	TEST(h.n == 1 && h.why[0] == TREPORT_OK);
	TEST(t->view.flags == INT_RESERVED && own_is(t, INT_QUEUE, 3));
	free(h.copy);
	/* for one word less than the bits ask for */
	TEST(fate(GROUP "10030100 50000000 00000000 03000405") ==
	     TREPORT_LENGTH);
}

/* Several reports; those that cannot be read do not harm the others. */
static void test_v2_group(void)
{
	struct heard h;

	hear(&h, GROUP "03080000" UDP4 "00000000" /* cut IPv4 as Ethernet */
		       "2401 0000 00000000"	  /* IOAM: not defined */
		       "0408 ff20" UDP4		  /* MD Length does not count */
		       "0f010000 00000000"	  /* InType 15 */
		       "00010000 00000000"	  /* nothing, but one word */
		       "0508 0000" UDP4 "02010000 5eed5eed");
	TEST(h.n == 7);
	TEST(h.why[0] == TREPORT_OK && !h.t[0].view.key_len);
	TEST(h.why[1] == TREPORT_OK || h.why[1] == TREPORT_TYPE);
	free(h.copy);
}

int main(void)
{
	treport_init(&d, &profile);
	test_v05();
	test_v05_profile();
	test_v1();
	test_v1_bits();
	test_v1_length_wrong();
	test_v2_examples();
	test_v2_bits();
	test_v2_group();
	return test_end();
}
