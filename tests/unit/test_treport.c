/* SPDX-License-Identifier: BSD-2-Clause */
/* Telemetry reports, read: each version, each bit, whatever may be wrong. */
#include "treport_rig.h"

static void test_v05(void)
{
	struct heard h;
	const struct treport *t = &h.t[0];

	/* NProto 0, D and F, hw_id 0x2a */
	hear(&h, "00a0002a 00000007 11223344" ETH4);
	TEST(h.n == 1 && h.why[0] == TREPORT_OK);
	TEST(t->record->format == INT_XD);
	TEST(t->record->flags == (INT_DROPPED | INT_TRACKED));
	TEST(t->record->from.report && t->record->from.version == 0);
	TEST(t->record->from.hw_id == 0x2a && !t->record->from.has_node);
	TEST(t->record->from.sequence == 7 &&
	     t->record->from.sequence_bits == 32);
	TEST(t->record->from.has_time && t->record->from.time == 0x11223344);
	TEST(t->record->own.n == 0 && t->record->stack.n == 0);
	TEST(flow_is(t, flow_udp4) && t->record->ip_len == 40);
	TEST(t->inner_type == TREPORT_ETHERNET && t->inner == h.copy + 12);
	TEST(t->inner_len == 14 + 32);
	free(h.copy);

	/* dropped, queue 3, reason 60 */
	hear(&h, "01800001 00000008 11223344 00000009 0001 0002 033c0000" ETH4);
	TEST(h.n == 1 && h.why[0] == TREPORT_OK);
	TEST(t->record->flags == INT_DROPPED);
	TEST(t->record->from.has_node && t->record->from.node == 9);
	TEST(own_is(t, INT_NODE, 9) && own_is(t, INT_INGRESS, 1));
	TEST(own_is(t, INT_EGRESS, 2) && own_is(t, INT_QUEUE, 3));
	TEST(own_is(t, INT_DROP_REASON, 60) && t->record->own.len == 12);
	TEST(flow_is(t, flow_udp4));
	free(h.copy);

	/* the switch's local header, congested */
	hear(&h, "02400000 00000008 11223344 00000009 0001 0002 03000102"
		 "55667788" ETH4);
	TEST(h.n == 1 && h.why[0] == TREPORT_OK);
	TEST(t->record->flags == INT_CONGESTED);
	TEST(own_is(t, INT_OCCUPANCY, 0x102));
	TEST(own_is(t, INT_EGRESS_TIME, 0x55667788) &&
	     t->record->own.len == 16);
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
	TEST(h.t[0].record->from.version == 0 && flow_is(&h.t[0], flow_udp4));
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
	TEST(t->record->from.version == 1 && t->record->from.hw_id == 5);
	TEST(t->record->from.has_node && t->record->from.node == 9);
	TEST(t->record->from.sequence == 0x80000001);
	TEST(t->record->from.time == 0x11223344);
	TEST(t->record->flags == (INT_DROPPED | INT_CONGESTED | INT_TRACKED));
	TEST(t->record->own.len == 24);
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
	TEST(h.why[0] == TREPORT_OK && t->record->own.n == 0 &&
	     !t->record->flags);
	TEST(t->inner_type == TREPORT_IP4 && flow_is(t, flow_tcp4));
	free(h.copy);
	hear(&h, "14400000 00000009 00000001 11223344" UDP6);
	TEST(h.why[0] == TREPORT_OK && t->inner_type == TREPORT_IP6);
	TEST(flow_is(t, flow_udp6) && t->record->ip_len == 52);
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
		free(h.copy);
	}
	/* Length 3: less than the fixed part; 4: no room for a bit's word */
	TEST(fate("13000000 00000009 00000001 11223344" ETH4) ==
	     TREPORT_LENGTH);
	TEST(fate("14008000 00000009 00000001 11223344" ETH4) ==
	     TREPORT_LENGTH);
	TEST(fate("1f000000 00000009 00000001 11223344") == TREPORT_TRUNCATED);
}

/* The generator of the published INTCollector says Length 1. */
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

static bool stack_is(const struct treport *t, unsigned i, enum int_field field,
		     uint64_t want)
{
	const struct int_hops *s = &t->record->stack;
	uint64_t v;

	return i < s->n && int_get(s->layout, int_hop(s, i), field, &v) &&
	       v == want;
}

static void test_v2_examples(void)
{
	struct heard h;
	const struct treport *t = &h.t[0];

	hear(&h, example14);
	TEST(h.n == 1 && h.why[0] == TREPORT_OK);
	TEST(t->record->from.version == 2 && t->record->from.hw_id == 15);
	TEST(t->record->from.sequence == 5 &&
	     t->record->from.sequence_bits == 22);
	TEST(t->record->from.node == 9 && !t->record->from.has_time);
	TEST(t->record->flags == INT_TRACKED && t->record->own.len == 8);
	TEST(own_is(t, INT_INGRESS, 1) && own_is(t, INT_OCCUPANCY, 0x123));
	TEST(t->inner_type == TREPORT_IP4 && t->inner_len == 40);
	TEST(flow_is(t, flow_tcp4));
	free(h.copy);

	hear(&h, example23);
	TEST(h.n == 1 && h.why[0] == TREPORT_OK && own_is(t, INT_QUEUE, 0));
	TEST(own_is(t, INT_OCCUPANCY, 0x123));
	TEST(t->inner_type == TREPORT_IP4 && t->inner_len == 20 * 4);
	TEST(t->packet == INT_OK && t->record->format == INT_MD);
	TEST(t->record->stack.n == 2 && stack_is(t, 0, INT_NODE, 2));
	TEST(stack_is(t, 0, INT_OCCUPANCY, 0x22));
	TEST(stack_is(t, 1, INT_NODE, 1));
	TEST(stack_is(t, 1, INT_OCCUPANCY, 0x11));
	TEST(flow_is(t, flow_tcp4) && t->record->ip_len == 40);
	free(h.copy);

	/* The second: TLVs. MD Length is 3, for the domain's word counts as
	 * the text has it; the example's prose prints 2. */
	hear(&h, GROUP "11120320 50000007 8000000a 00010002 00000123 0badcafe"
		       " 0001abcd 5eed5eed 200a0000" TCP4);
	TEST(h.n == 1 && h.why[0] == TREPORT_OK);
	TEST(t->record->domain == 7 && t->record->domain_bits == 0x8000);
	TEST(t->record->own.len == 12);
	TEST(own_is(t, INT_OCCUPANCY, 0x123));
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
	TEST(t->record->flags == (INT_DROPPED | INT_INTERMEDIATE));
	TEST(own_is(t, INT_INGRESS, 1) && own_is(t, INT_LATENCY, 0xabc));
	TEST(own_is(t, INT_INGRESS_TIME, 0x100000002));
	TEST(own_is(t, INT_EGRESS_TIME, 0x300000004));
	TEST(own_is(t, INT_INGRESS2, 5) && own_is(t, INT_EGRESS2, 6));
	TEST(own_is(t, INT_UTILIZATION, 5000));
	TEST(own_is(t, INT_BUFFER, 7) &&
	     own_is(t, INT_BUFFER_OCCUPANCY, 0x809));
	TEST(own_is(t, INT_DROP_REASON, 60));
	TEST(t->inner_type == TREPORT_NONE && !t->record->key_len && !t->inner);
	free(h.copy);

	/* a reserved bit: a word that nobody knows */
	hear(&h, GROUP "10040200 90000000 00000000 ffffffff 03000405");
	TEST(h.n == 1 && h.why[0] == TREPORT_OK);
	TEST(t->record->flags == INT_RESERVED && own_is(t, INT_QUEUE, 3));
	free(h.copy);
	/* for one word less than the bits ask for */
	TEST(fate(GROUP "10030100 50000000 00000000 03000405") ==
	     TREPORT_LENGTH);
}

/* Several reports; those that cannot be read do not harm the others. */
static void test_v2_group(void)
{
	struct heard h;

	hear(&h, GROUP "03080000" UDP4	     /* not Ethernet: no flow */
		       "24010000 00000000"   /* IOAM: not defined */
		       "0408ff2f" UDP4	     /* MD Length, Rsvd: no matter */
		       "0f010000 00000000"   /* InType 15 */
		       "00010000 00000000"   /* nothing, but a word of it */
		       "0508 0040" UDP4	     /* Q */
		       "02010000 5eed5eed"); /* extension data alone */
	TEST(h.n == 7);
	TEST(h.why[0] == TREPORT_OK && !h.t[0].record->key_len);
	TEST(h.why[1] == TREPORT_TYPE);
	TEST(h.why[2] == TREPORT_OK && flow_is(&h.t[2], flow_udp4));
	TEST(h.t[2].record->flags == INT_TRACKED && h.t[2].record->own.n == 0);
	TEST(h.why[3] == TREPORT_TYPE && h.why[4] == TREPORT_LENGTH);
	TEST(h.why[5] == TREPORT_OK && h.t[5].record->flags == INT_CONGESTED);
	TEST(h.t[5].record->from.node == 9 &&
	     h.t[5].record->from.sequence == 5);
	TEST(h.why[6] == TREPORT_OK && !h.t[6].inner);
	free(h.copy);

	/* longer than what is there: the rest is one report, refused */
	hear(&h, GROUP "02010000 5eed5eed 02030000 5eed5eed 5eed5eed");
	TEST(h.n == 2 && h.why[0] == TREPORT_OK && h.why[1] == TREPORT_LENGTH);
	free(h.copy);
	/* not a whole word behind the last */
	hear(&h, GROUP "02010000 5eed5eed 020000");
	TEST(h.n == 2 && h.why[1] == TREPORT_TRUNCATED);
	free(h.copy);
	TEST(fate("23c00005 00000009") == TREPORT_TRUNCATED);
	TEST(fate("33c00005 00000009 00000000") == TREPORT_VERSION);
	TEST(fate("f0") == TREPORT_VERSION);
	TEST(fate("") == TREPORT_TRUNCATED);
}

/* Trap S7: 0xFF words, which also say: and more. What follows is inner. */
static void test_v2_open(void)
{
	uint8_t buf[2048] = {0};
	struct heard h;

	for (unsigned words = 1; words < 300; words += 1) {
		unhex(buf, sizeof(buf), GROUP "02ff0000");
		hear_bytes(&h, buf, 12 + 4 * words);
		TEST(h.n == 1 && h.why[0] == TREPORT_OK);
		free(h.copy);
	}
	hear_bytes(&h, buf, 12 + 33); /* so the last one may be odd */
	TEST(h.n == 1 && h.why[0] == TREPORT_OK);
	free(h.copy);
}

static void test_v2_tlvs(void)
{
	struct heard h;
	const struct treport *t = &h.t[0];

	/* the first of each kind is the report's; type 9 is not defined */
	hear(&h, GROUP "011a0000 90010000 00000000 30 0d 0000" UDP6
		       "20080000" UDP4 "00000000");
	TEST(h.n == 1 && h.why[0] == TREPORT_OK);
	TEST(t->inner_type == TREPORT_IP6 && flow_is(t, flow_udp6));
	free(h.copy);
	hear(&h, GROUP "010d0000 100c0000" ETH4 "0000");
	TEST(h.n == 1 && h.why[0] == TREPORT_OK);
	TEST(t->inner_type == TREPORT_ETHERNET && flow_is(t, flow_udp4));
	free(h.copy);
	/* longer than the report; no room for a header */
	TEST(fate(GROUP "01020000 00020000 00000000") == TREPORT_LENGTH);
	TEST(fate(GROUP "01ff0000 00010000 00000000 0000") == TREPORT_LENGTH);
	hear(&h, GROUP "01000000"); /* no TLV at all */
	TEST(h.n == 1 && h.why[0] == TREPORT_OK && !t->inner);
	free(h.copy);
}

/* Trap C5: a packet that looks like one with INT, but F is not set; and INT
 * that cannot be read: the report counts, the packet is as it is. */
static void test_packet(void)
{
	uint8_t buf[256];
	size_t len = unhex(buf, sizeof(buf), example23);
	const struct treport *t;
	struct heard h;

	t = &h.t[0];
	buf[11] &= 0xdf; /* F */
	hear_bytes(&h, buf, len);
	TEST(h.n == 1 && h.why[0] == TREPORT_OK && t->packet == INT_NONE);
	TEST(t->record->format == INT_XD && t->record->stack.n == 0);
	TEST(flow_is(t, "10.0.0.1:49152>10.0.0.2:4096/udp"));
	free(h.copy);
	buf[11] |= 0x20;
	buf[12 + 12 + 20 + 8 + 4 + 2] = 3; /* HopML: 4 words are no hops of 3 */
	hear_bytes(&h, buf, len);
	TEST(h.n == 1 && h.why[0] == TREPORT_OK && t->packet == INT_BAD_STACK);
	TEST(t->record->stack.n == 0 && own_is(t, INT_OCCUPANCY, 0x123));
	TEST(flow_is(t, "10.0.0.1:49152>10.0.0.2:4096/udp"));
	free(h.copy);
}

/* Reports about reports, in any wrapping, whatever is in these. */
static void test_own(void)
{
#define OWN                                                                    \
	"45000040123440004011aaaa0a0000010a000002 03e87ffe002c0000 " GROUP     \
	"04060000 450000181234400040110000 0a0000010a000002"
	TEST(fate("14200000 00000009 00000001 11223344" OWN) == TREPORT_OWN);
	TEST(fate("00200000 00000001 11223344" ETH "0800" OWN) == TREPORT_OWN);
	TEST(fate(GROUP "04ff0020" OWN) == TREPORT_OWN);
	TEST(fate(GROUP "01ff0020 200f0000" OWN) == TREPORT_OWN);
	/* which carries INT, whose shim has the port: 32766 */
	TEST(fate(GROUP "04ff0020 4500003012344000 4011aaaa 0a000001 0a000002"
			"c0001000 001c0000 14037ffe 20000206 90000000 00000000"
			"14200000") == TREPORT_OWN);
	profile.report_port = 0; /* not known: nothing is ours */
	TEST(fate("14200000 00000009 00000001 11223344" OWN) == TREPORT_OK);
	profile.report_port = 32766;
}

/* Whatever the views point to lies in the datagram; the rest shows under the
 * sanitizer. */
static void check_inside(const struct heard *h, size_t len)
{
	for (unsigned i = 0; i < h->n; i++) {
		const struct treport *t = &h->t[i];
		const uint8_t *end = h->copy + len;
		uint64_t v, sum = 0;

		if (h->why[i] != TREPORT_OK)
			continue;
		for (unsigned f = 0; t->record->own.n && f < INT_FIELDS; f++)
			if (int_get(t->record->own.layout, t->record->own.data,
				    f, &v))
				sum += v;
		TEST(!t->record->own.n ||
		     t->record->own.data + t->record->own.len <= end);
		TEST(!t->inner || t->inner + t->inner_len <= end);
		TEST(sum != 1); /* so that the loads are made */
	}
}

/* Cut anywhere; each byte with each other value. */
static void test_hostile(void)
{
	uint8_t buf[256];
	struct heard h;

	for (unsigned i = 0; i < SAMPLES; i++) {
		size_t len = unhex(buf, sizeof(buf), samples[i]);

		for (size_t n = 0; n < len; n++) {
			hear_bytes(&h, buf, n);
			check_inside(&h, n);
			TEST(n >= 12 || h.why[0] == TREPORT_TRUNCATED);
			free(h.copy);
		}
		for (size_t at = 0; at < len; at++) {
			uint8_t was = buf[at];

			for (unsigned v = 0; v < 256; v++) {
				buf[at] = (uint8_t)v;
				hear_bytes(&h, buf, len);
				check_inside(&h, len);
				free(h.copy);
			}
			buf[at] = was;
		}
	}
}

int main(void)
{
	set_up();
	test_v05();
	test_v05_profile();
	test_v1();
	test_v1_bits();
	test_v1_length_wrong();
	test_v2_examples();
	test_v2_bits();
	test_v2_group();
	test_v2_open();
	test_v2_tlvs();
	test_packet();
	test_own();
	test_hostile();
	return test_end();
}
