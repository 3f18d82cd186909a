/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * INT in packets, read and taken out: each sample says what it is to say, and
 * what is not INT, is cut or lies about its lengths is told as that.
 */
#include "int/int_md.h"

#include "int_samples.h"
#include "net/be.h"
#include "net/key.h"

enum {
	FRAME_MAX = 512,
};

/* Found, then read. */
static enum int_result read_int(struct int_record *v, struct int_place *at,
				const struct int_profile *p,
				const uint8_t *frame, size_t len)
{
	static struct int_decoder d;
	enum int_result r = int_find(at, p, NET_ETHERTYPE_ETH, frame, len);

	if (r)
		return r;
	int_decoder_init(&d, p);
	return int_decode(v, &d, at, frame, len);
}

static enum int_result read_hex(struct int_record *v, const char *profile,
				const char *hex)
{
	static uint8_t frame[FRAME_MAX];
	struct int_profile p = int_sample_profile(profile);
	struct int_place at;

	return read_int(v, &at, &p, frame, unhex(frame, sizeof(frame), hex));
}

static uint64_t field(const struct int_record *v, unsigned hop,
		      enum int_field f)
{
	uint64_t value = 0;

	TEST(int_get(v->stack.layout, int_hop(&v->stack, hop), f, &value));
	return value;
}

static void test_view(const struct int_sample *s, const struct int_record *v)
{
	uint8_t source[32];
	size_t source_len = unhex(source, sizeof(source), s->source);
	char flow[KEY_TEXT_MAX];

	TEST(v->flags == s->flags);
	TEST(v->ip_len == s->ip_len);
	TEST(v->source_len == source_len);
	TEST(!memcmp(v->source, source, source_len));
	key_format(flow, v->key_len == KEY_FLOW4_LEN ? KEY_FLOW4 : KEY_FLOW6,
		   v->key, v->key_len);
	TEST(!strcmp(flow, s->flow));
	TEST(v->format == (strncmp(s->name, "MX", 2) ? INT_MD : INT_MX));
	if (!TEST(v->stack.n == s->hops) || !s->hops)
		return;
	TEST(v->stack.len == s->hop_len);
	TEST(field(v, 0, INT_NODE) == s->last);
	TEST(field(v, v->stack.n - 1u, INT_NODE) == s->first);
}

static void test_sample(const struct int_sample *s)
{
	uint8_t frame[FRAME_MAX], plain[FRAME_MAX], out[FRAME_MAX];
	size_t len = unhex(frame, sizeof(frame), s->frame);
	size_t plain_len = unhex(plain, sizeof(plain), s->plain);
	struct int_profile p = int_sample_profile(s->profile);
	struct int_place at;
	struct int_record v;
	int failures = test_failures;

	if (TEST(read_int(&v, &at, &p, frame, len) == INT_OK)) {
		test_view(s, &v);
		TEST(int_strip(out, sizeof(out), &p, &at, frame, len) ==
		     (int)plain_len);
		TEST(!memcmp(out, plain, plain_len));
		TEST(int_strip(out, plain_len - 1, &p, &at, frame, len) < 0);
	}
	/* The plain packet has none. */
	TEST(int_find(&at, &p, NET_ETHERTYPE_ETH, plain, plain_len) ==
	     INT_NONE);
	if (test_failures > failures)
		fprintf(stderr, "... of \"%s\"\n", s->name);
}

/* A header of version 2, 1, 0 in a frame for "any". */
static void test_any(void)
{
	struct int_record v;
	int n = 0;

	for (int i = 0; i < INT_SAMPLES; i++) {
		const struct int_sample *s = &int_samples[i];

		if (strchr(s->profile, ' ') || !strcmp(s->profile, "domain") ||
		    strstr(s->name, "options"))
			continue;
		n++;
		TEST(read_hex(&v, "any", s->frame) == INT_OK);
		test_view(s, &v);
	}
	TEST(n > 30);
}

/* Cut anywhere: told as cut where headers go on, and never read beyond. */
static void test_cut(const struct int_sample *s)
{
	uint8_t frame[FRAME_MAX], out[FRAME_MAX];
	size_t len = unhex(frame, sizeof(frame), s->frame);
	struct int_profile p = int_sample_profile(s->profile);
	struct int_place whole, at;
	struct int_record v;

	TEST(int_find(&whole, &p, NET_ETHERTYPE_ETH, frame, len) == INT_OK);
	for (size_t n = 0; n <= len; n++) {
		uint8_t *copy = exact_copy(frame, n);
		enum int_result r = read_int(&v, &at, &p, copy, n);

		TEST((r == INT_OK) == (n >= whole.end));
		if (r == INT_OK)
			TEST(int_strip(out, sizeof(out), &p, &at, copy, n) ==
			     (int)(n - (whole.end - whole.begin)));
		if (n >= whole.shim && n < whole.end && !TEST(r == INT_CUT))
			fprintf(stderr, "... \"%s\" at %zu: %d\n", s->name, n,
				(int)r);
		free(copy);
	}
}

/* Any byte of the headers with any value: whatever is found stays inside. */
static void test_lies(const struct int_sample *s)
{
	uint8_t frame[FRAME_MAX], out[FRAME_MAX];
	size_t len = unhex(frame, sizeof(frame), s->frame);
	struct int_profile p = int_sample_profile(s->profile);
	struct int_place at;
	struct int_record v;

	for (size_t i = 12; i < len * 256; i++) {
		uint8_t *copy = exact_copy(frame, len);
		enum int_result r;

		copy[i / 256] = (uint8_t)i;
		r = int_find(&at, &p, NET_ETHERTYPE_ETH, copy, len);
		if (r == INT_OK) {
			TEST(at.begin <= at.shim && at.shim < at.header);
			TEST(at.stack + at.stack_len <= at.end);
			TEST(at.end <= len);
			int_strip(out, sizeof(out), &p, &at, copy, len);
			r = read_int(&v, &at, &p, copy, len);
			TEST(r == INT_OK || r == INT_BAD_HOP ||
			     r == INT_BAD_STACK);
			for (unsigned hop = 0; !r && hop < v.stack.n; hop++)
				TEST(int_hop(&v.stack, hop) + v.stack.len <=
				     copy + at.end);
		}
		free(copy);
	}
}

/* Over UDP to port 0x1000 without a checksum: 2.1. */
#define UDP21                                                                  \
	"020000000002020000000001 0800"                                        \
	"45000047123440003d1100000a0000010a000002 157d100000330000"
/* Over TCP with DSCP 0x17. */
#define TCP10                                                                  \
	"020000000002020000000001 0800"                                        \
	"455c004f123440003d0600000a0000010a000002"                             \
	"157d01bb010203040506070850182000ea1b0000"
#define REST "00000002 07000064 00000001 0500000a 48656c6c6f2c20494e5421"

static const struct {
	const char *name, *profile, *frame;
	enum int_result result;
} bad[] = {
	{"length 0", "2.1", UDP21 "14001f90 20000206 90000000 00000000" REST,
	 INT_BAD_LENGTH},
	{"length 2: less than a header", "2.1",
	 UDP21 "14021f90 20000206 90000000 00000000" REST, INT_BAD_LENGTH},
	{"length 255", "2.1", UDP21 "14ff1f90 20000206 90000000 00000000" REST,
	 INT_BAD_LENGTH},
	{"a word too many", "2.1",
	 UDP21 "14081f90 20000206 90000000 00000000" REST, INT_BAD_STACK},
	{"1.0, length 0", "1.0", TCP10 "01000028 10000206 90000000" REST,
	 INT_BAD_LENGTH},
	{"1.0, length 1: itself", "1.0",
	 TCP10 "01000128 10000206 90000000" REST, INT_BAD_LENGTH},
	{"1.0, length 255", "1.0", TCP10 "0100ff28 10000206 90000000" REST,
	 INT_BAD_LENGTH},
	{"1.0, length 8 as its document prints", "1.0",
	 TCP10 "01000828 10000206 90000000" REST, INT_BAD_STACK},
	{"0.5 without room for its tail", "0.5",
	 TCP10 "01000300 00020800 90000000" REST, INT_BAD_LENGTH},
	{"0.5, length 0, as INTCollector's generator sends it", "0.5",
	 TCP10 "01000000 00020802 90000000" REST, INT_BAD_LENGTH},
	{"0.5 counts three hops and has two", "0.5",
	 TCP10 "01000800 00020803 90000000" REST, INT_BAD_STACK},
	{"0.5 counts one instruction and has two", "0.5",
	 TCP10 "01000800 00010802 90000000" REST, INT_BAD_HOP},
	{"HopML 0", "2.1", UDP21 "14071f90 20000006 90000000 00000000" REST,
	 INT_BAD_HOP},
	{"HopML 1 for two words", "2.1",
	 UDP21 "14071f90 20000106 90000000 00000000" REST, INT_BAD_HOP},
	{"HopML 3 for four words", "2.1",
	 UDP21 "14071f90 20000306 90000000 00000000" REST, INT_BAD_STACK},
	{"HopML 31", "2.1", UDP21 "14071f90 20001f06 90000000 00000000" REST,
	 INT_BAD_STACK},
	{"type 2, destination", "2.1",
	 UDP21 "24071f90 20000206 90000000 00000000" REST, INT_BAD_TYPE},
	{"type 0", "2.1", UDP21 "04071f90 20000206 90000000 00000000" REST,
	 INT_BAD_TYPE},
	{"1.0's type 2", "1.0", TCP10 "02000728 10000206 90000000" REST,
	 INT_BAD_TYPE},
	{"a shim of 2.1 where 1.0 is spoken", "1.0",
	 TCP10 "10060028 10000206 90000000" REST, INT_BAD_TYPE},
	{"version 3", "2.1", UDP21 "14071f90 30000206 90000000 00000000" REST,
	 INT_BAD_VERSION},
	{"version 1 behind a shim of 2.1", "any",
	 UDP21 "14071f90 10000206 90000000 00000000" REST, INT_BAD_VERSION},
	{"version 2 behind a shim of 1.0", "any",
	 TCP10 "01000728 20000206 90000000" REST, INT_BAD_VERSION},
	{"0.5 where 1.0 is spoken", "1.0",
	 TCP10 "01000728 00000206 90000000" REST, INT_BAD_VERSION},
	{"NPT 0 at INT's port", "2.1",
	 UDP21 "10071f90 20000206 90000000 00000000" REST, INT_BAD_NEXT},
	{"NPT 3", "2.1", UDP21 "1c071f90 20000206 90000000 00000000" REST,
	 INT_BAD_NEXT},
	{"1.0 by port", "any", UDP21 "01000728 10000206 90000000" REST,
	 INT_BAD_NEXT},
	{"NPT 1 by DSCP", "2.1",
	 TCP10 "14060028 20000106 80000000 00000000" REST, INT_BAD_NEXT},
	{"1.0 over GRE, which came with 2.0", "any",
	 "020000000002020000000001 0800"
	 "4500003f123440003d2f00000a0000010a000002 000088b5"
	 "01000700 10000206 90000000" REST,
	 INT_BAD_VERSION},
	{"GRE with a route", "2.1",
	 "020000000002020000000001 0800"
	 "45000043123440003d2f00000a0000010a000002 400088b5"
	 "10076558 20000206 90000000 00000000" REST,
	 INT_BAD_PACKET},
	{"Geneve, options beyond the packet", "2.1",
	 "020000000002020000000001 0800"
	 "45000034123440003d1100000a0000010a000002 157d17c100200000"
	 "0a006558 00006400 01030109 20000205 90000000 00000000",
	 INT_BAD_PACKET},
	{"Geneve, an option of no words", "2.1",
	 "020000000002020000000001 0800"
	 "45000028123440003d1100000a0000010a000002 157d17c100140000"
	 "01006558 00006400 01030100 20000205",
	 INT_BAD_LENGTH},
	{"Geneve, an option beyond the options", "2.1",
	 "020000000002020000000001 0800"
	 "45000034123440003d1100000a0000010a000002 157d17c100200000"
	 "04006558 00006400 01030109 20000205 90000000 00000000",
	 INT_BAD_LENGTH},
	{"Geneve, type 2", "2.1",
	 "020000000002020000000001 0800"
	 "45000034123440003d1100000a0000010a000002 157d17c100200000"
	 "04006558 00006400 01030203 20000205 90000000 00000000",
	 INT_BAD_TYPE},
	{"VXLAN-GPE with another protocol inside", "2.1",
	 "020000000002020000000001 0800"
	 "45000028123440003d1100000a0000010a000002 157d12b600140000"
	 "0c000003 00006400 01030100 20000205",
	 INT_NONE},
	{"VXLAN-GPE without P", "2.1",
	 "020000000002020000000001 0800"
	 "45000028123440003d1100000a0000010a000002 157d12b600140000"
	 "08000082 00006400 01030100 20000205",
	 INT_NONE},
	{"three tags", "2.1",
	 "020000000002020000000001 88a80001 88a80002 81000003 0800"
	 "45000047123440003d1100000a0000010a000002 157d100000330000"
	 "14071f90 20000206 90000000 00000000" REST,
	 INT_NONE},
	{"a TCP header that is cut", "2.1",
	 "020000000002020000000001 0800"
	 "45000028123440003d0600000a0000010a000002 157d01bb01020304050607",
	 INT_CUT},
	{"a TCP header that cannot be", "2.1",
	 "020000000002020000000001 0800"
	 "45000027123440003d0600000a0000010a000002"
	 "157d01bb0102030405060708501820000a0b0c00",
	 INT_BAD_PACKET},
	{"another DSCP", "1.0",
	 "020000000002020000000001 0800"
	 "4558004f123440003d0600000a0000010a000002"
	 "157d01bb010203040506070850182000ea1b0000 01000728 10000206"
	 "90000000" REST,
	 INT_NONE},
	{"ARP", "2.1", "020000000002020000000001 0806" REST REST, INT_NONE},
	{"a fragment", "2.1",
	 "020000000002020000000001 0800"
	 "45000047123420003d1100000a0000010a000002 157d100000330000"
	 "14071f90 20000206 90000000 00000000" REST,
	 INT_NONE},
	{"a UDP length beyond IP's", "2.1",
	 "020000000002020000000001 0800"
	 "45000047123440003d1100000a0000010a000002 157d100000340000"
	 "14071f90 20000206 90000000 00000000" REST,
	 INT_BAD_PACKET},
	{"an IP length of 19", "2.1",
	 "020000000002020000000001 0800"
	 "45000013123440003d1100000a0000010a000002 157d100000330000"
	 "14071f90 20000206 90000000 00000000" REST,
	 INT_BAD_PACKET},
	{"a UDP length that ends in the stack", "2.1",
	 "020000000002020000000001 0800"
	 "45000047123440003d1100000a0000010a000002 157d1000001c0000"
	 "14071f90 20000206 90000000 00000000" REST,
	 INT_BAD_LENGTH},
};

/* A packet under labels of MPLS is known by its first four bits (RFC 4928): of
 * IPv4 and IPv6; what is neither is none of ours. */
static void test_mpls(void)
{
	static const char *const links[] = {
		"020000000002020000000001 8847 00064140",
		"020000000002020000000001 8848 00064040 00065140",
		"020000000002 020000000001 81000003 8847 00064040 00066140",
	};
	static const char ip4[] =
		"45000033123440003d1100000a0000010a000002 157d1000001f0000"
		"14041f90 20000105 80000000 00000000 00000007 000000";
	static const char not_ip[] = "00000033123440003d1100000a0000010a000002";
	char hex[1024];
	struct int_record v;

	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		snprintf(hex, sizeof(hex), "%s %s", links[i], ip4);
		TEST(read_hex(&v, "2.1", hex) == INT_OK);
		TEST(v.key_len == 13 && v.stack.n == 1);
		snprintf(hex, sizeof(hex), "%s %s", links[i], not_ip);
		TEST(read_hex(&v, "2.1", hex) == INT_NONE);
	}
}

static void test_bad(void)
{
	struct int_record v;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!TEST(read_hex(&v, bad[i].profile, bad[i].frame) ==
			  bad[i].result))
			fprintf(stderr, "... of \"%s\": %d\n", bad[i].name,
				(int)read_hex(&v, bad[i].profile,
					      bad[i].frame));
}

int main(void)
{
	for (int i = 0; i < INT_SAMPLES; i++) {
		test_sample(&int_samples[i]);
		test_cut(&int_samples[i]);
		test_lies(&int_samples[i]);
	}
	test_any();
	test_bad();
	test_mpls();
	return test_end();
}
