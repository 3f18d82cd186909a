/* SPDX-License-Identifier: BSD-2-Clause */
/* IOAM, read: each bit, each kind of option, whatever may be wrong. */
#include "ioam_rig.h"

static const char flow[] = "[2001:db8::1]:1000>[2001:db8::2]:80/udp";

static void test_linux(void)
{
	struct found f;
	const struct ioam *t = &f.t[0];

	find(&f, LINUX);
	TEST(f.n == 1 && f.why[0] == IOAM_OK);
	TEST(t->type == IOAM_PREALLOCATED && t->remaining == 15 && !t->flags);
	TEST(t->record.format == INT_IOAM && t->record.domain == 123);
	TEST(t->record.stack.n == 2 && t->record.stack.len == 60);
	TEST(t->record.flags == 0 && !t->opaque && t->option_len == 192);
	TEST(flow_is(t, flow) && t->record.ip_len == 40 + 12);

	TEST(node_is(t, 0, INT_NODE, 0xbb)); /* wide is there, so it is taken */
	TEST(node_is(t, 0, INT_HOP_LIMIT, 62));
	TEST(node_is(t, 0, INT_INGRESS, 21) && node_is(t, 0, INT_EGRESS, 22));
	TEST(node_is(t, 0, INT_NAMESPACE_DATA, 0x0badcafe00000002));
	TEST(node_is(t, 0, INT_OCCUPANCY, 292));
	TEST(!node_has(t, 0, INT_LATENCY));
	TEST(!node_has(t, 0, INT_BUFFER_OCCUPANCY));
	TEST(node_is(t, 0, INT_TIME_SECONDS, 0x6789abcd));
	TEST(node_is(t, 0, INT_TIME_FRACTION, 429611000));

	/* not wide, not even for the ingress interface: short, then */
	TEST(node_is(t, 1, INT_NODE, 2) && node_is(t, 1, INT_HOP_LIMIT, 63));
	TEST(node_is(t, 1, INT_INGRESS, 11) && node_is(t, 1, INT_EGRESS, 12));
	TEST(node_is(t, 1, INT_NAMESPACE_DATA, 0xdeadbee1));
	TEST(node_is(t, 1, INT_OCCUPANCY, 0));
	TEST(node_is(t, 1, INT_TIME_FRACTION, 429568000));
	free(f.copy);
}

/* The units of the fraction of a second: RFC 9197, section 5. */
static void test_fractions(void)
{
	static const struct {
		uint32_t unit;
		uint64_t ns;
	} as[] = {
		{0, 429611000},
		{1, 429611},
		{1000, 429611000},
		{INT_SCALE_NTP, 100026}, /* 429611 * 10^9 / 2^32 */
	};
	struct found f;

	for (size_t i = 0; i < sizeof(as) / sizeof(as[0]); i++) {
		profile.ioam_fraction = as[i].unit;
		ioam_init(&d, &profile);
		find(&f, LINUX);
		TEST(node_is(&f.t[0], 0, INT_TIME_FRACTION, as[i].ns));
		free(f.copy);
	}
	set_up();
}

static void test_opaque(void)
{
	struct ioam_snapshot s;
	struct found f;
	const struct ioam *t = &f.t[0];

	find(&f, OPAQUE);
	TEST(f.n == 1 && f.why[0] == IOAM_OK && t->opaque);
	TEST(t->record.stack.n == 2 && t->remaining == 1);
	TEST(node_is(t, 0, INT_NODE, 3) && node_is(t, 1, INT_NODE, 2));
	TEST(node_is(t, 1, INT_EGRESS, 12));
	s = ioam_snapshot_of(&t->record.stack, 0);
	TEST(s.schema == 0xabcdef && s.len == 8 && s.data[7] == 0x22);
	s = ioam_snapshot_of(&t->record.stack, 1);
	TEST(s.schema == IOAM_NO_SCHEMA && s.len == 0);
	TEST(flow_is(t, flow) && t->record.ip_len == 52);
	free(f.copy);
}

/* A packet of a trace with no other option; the data: as hex. */
static void one_trace(struct found *f, unsigned type, unsigned lengths,
		      uint32_t bitmap, const char *data)
{
	uint8_t buf[512];
	char head[128];
	size_t n, len = strlen(data) / 2, header = (16 + len + 7) / 8 * 8;

	snprintf(head, sizeof(head), ETH6 "60000000%04zx0040" ADDRESSES,
		 header + 12);
	n = unhex(buf, sizeof(buf), head);
	snprintf(head, sizeof(head), "11%02zx010031%02zx00%02x0001%04x%06x00",
		 header / 8 - 1, len + 10, type, lengths, bitmap);
	n += unhex(buf + n, sizeof(buf) - n, head);
	n += unhex(buf + n, sizeof(buf) - n, data);
	while (len++ % 8)
		buf[n++] = 0;
	n += unhex(buf + n, sizeof(buf) - n, UDP);
	find_bytes(f, buf, n);
}

/* Each bit alone, its field at its place with its width. */
static void test_bits(void)
{
	static const struct {
		unsigned bit, words;
		enum int_field field;
		const char *data;
		uint64_t value;
	} as[] = {
		{0, 1, INT_HOP_LIMIT, "40010203", 64},
		{0, 1, INT_NODE, "40010203", 0x010203},
		{0, 1, INT_NODE, "ff010203", 0x010203},
		{0, 1, INT_HOP_LIMIT, "ff010203", 255},
		{1, 1, INT_INGRESS, "00010002", 1},
		{1, 1, INT_EGRESS, "00010002", 2},
		{2, 1, INT_TIME_SECONDS, "00010002", 0x10002},
		{3, 1, INT_TIME_FRACTION, "000f423f", 999999000},
		{4, 1, INT_LATENCY, "00010002", 0x10002},
		{5, 1, INT_NAMESPACE_DATA, "00010002", 0x10002},
		{6, 1, INT_OCCUPANCY, "00010002", 0x10002},
		{8, 2, INT_HOP_LIMIT, "4001020304050607", 64},
		{8, 2, INT_NODE, "4001020304050607", 0x01020304050607},
		{9, 2, INT_INGRESS, "0001000200030004", 0x10002},
		{9, 2, INT_EGRESS, "0001000200030004", 0x30004},
		{10, 2, INT_NAMESPACE_DATA, "0001000200030004",
		 0x1000200030004},
		{11, 1, INT_BUFFER_OCCUPANCY, "00010002", 0x10002},
	};
	struct found f;

	for (size_t i = 0; i < sizeof(as) / sizeof(as[0]); i++) {
		one_trace(&f, i % 2, as[i].words << 11, 1u << (23 - as[i].bit),
			  as[i].data);
		TEST(f.n == 1 && f.why[0] == IOAM_OK);
		TEST(node_is(&f.t[0], 0, as[i].field, as[i].value));
		TEST(!f.t[0].record.flags && f.t[0].type == i % 2);
		TEST(flow_is(&f.t[0], flow) && f.t[0].record.ip_len == 52);
		free(f.copy);
	}
	/* bits 12 to 21 take a word each, 23 none; 7 has no field */
	for (unsigned bit = 12; bit < 24; bit++) {
		bool word = bit != 22 && bit != 23;

		if (bit == 22)
			continue;
		one_trace(&f, 0, (1u + word) << 11, 1u << 23 | 1u << (23 - bit),
			  word ? "40000003ffffffff" : "40000003");
		TEST(f.n == 1 && f.why[0] == IOAM_OK);
		TEST(node_is(&f.t[0], 0, INT_NODE, 3));
		TEST(f.t[0].record.flags == INT_RESERVED);
		free(f.copy);
	}
	one_trace(&f, 0, 1u << 11, 1u << 16, "40000003");
	TEST(f.why[0] == IOAM_OK && f.t[0].record.stack.n == 1);
	TEST(!f.t[0].record.flags && !f.t[0].record.stack.layout->has);
	free(f.copy);
}

static void test_flags(void)
{
	struct found f;

	one_trace(&f, 0, 1u << 11 | 8u << 7, 1u << 23, "40000003");
	TEST(f.why[0] == IOAM_OK && f.t[0].flags == IOAM_OVERFLOW);
	TEST(f.t[0].record.flags == INT_HOPS_EXCEEDED);
	free(f.copy);
	one_trace(&f, 1, 1u << 11 | 6u << 7 | 100, 1u << 23, "40000003");
	TEST(f.why[0] == IOAM_OK &&
	     f.t[0].flags == (IOAM_LOOPBACK | IOAM_ACTIVE));
	TEST(f.t[0].remaining == 100 && f.t[0].record.stack.n == 1);
	TEST(!f.t[0].record.flags);
	free(f.copy);
}

/* Empty, and as many nodes as an option can have. */
static void test_counts(void)
{
	char data[61 * 8 + 1] = "";
	struct found f;

	for (unsigned n = 0; n <= 61; n++) {
		for (unsigned type = 0; type < 2; type++) {
			one_trace(&f, type, 1u << 11, 1u << 23, data);
			TEST(f.n == 1 && f.why[0] == IOAM_OK);
			TEST(f.t[0].record.stack.n == n);
			TEST(!n || node_is(&f.t[0], n - 1, INT_NODE, 7));
			free(f.copy);
			/* only snapshots without a schema: as many */
			one_trace(&f, type, 0, 2, data);
			TEST(n % 8 || f.why[0] == IOAM_OK);
			free(f.copy);
		}
		if (n < 61)
			memcpy(data + 8 * n, "00000007", 9);
	}
	one_trace(&f, 0, 61, 2, data); /* all of it free */
	TEST(f.why[0] == IOAM_OK && f.t[0].record.stack.n == 0);
	free(f.copy);
}

static enum ioam_reason fate(unsigned type, unsigned lengths, uint32_t bitmap,
			     const char *data)
{
	struct found f;

	one_trace(&f, type, lengths, bitmap, data);
	free(f.copy);
	TEST(f.n == 1);
	return f.why[0];
}

static void test_lies(void)
{
	/* node length: one more, one less, 0, 31 */
	TEST(fate(0, 2u << 11, 1u << 23, "40000003") == IOAM_NODE_LENGTH);
	TEST(fate(0, 1u << 11, 3u << 22, "40000003") == IOAM_NODE_LENGTH);
	TEST(fate(0, 0, 1u << 23, "40000003") == IOAM_NODE_LENGTH);
	TEST(fate(0, 31u << 11, 1u << 23, "40000003") == IOAM_NODE_LENGTH);
	TEST(fate(0, 31u << 11, 0, "") == IOAM_NODE_LENGTH);
	/* remaining: more than there is; in the middle of a node */
	TEST(fate(0, 1u << 11 | 2, 1u << 23, "40000003") == IOAM_REMAINING);
	TEST(fate(0, 1u << 11 | 127, 1u << 23, "40000003") == IOAM_REMAINING);
	TEST(fate(0, 2u << 11 | 1, 3u << 22, "4000000300000000") == IOAM_NODES);
	TEST(fate(1, 2u << 11, 3u << 22, "400000030000000000000000") ==
	     IOAM_NODES);
	/* no words at all, but data */
	TEST(fate(0, 0, 0, "40000003") == IOAM_NODES);
	TEST(fate(0, 0, 0, "") == IOAM_OK);
	/* the option's length: no whole words */
	TEST(fate(0, 1u << 11, 1u << 23, "400000030000") == IOAM_LENGTH);
	/* snapshots: no room for their head, nor for their data */
	TEST(fate(0, 1u << 11, 1u << 23 | 2, "40000003") == IOAM_NODES);
	TEST(fate(0, 1u << 11, 1u << 23 | 2, "4000000301000000") == IOAM_NODES);
	TEST(fate(0, 1u << 11, 1u << 23 | 2, "40000003ff00000000000000") ==
	     IOAM_NODES);
	/* proof of transit, edge to edge, nobody's */
	TEST(fate(2, 1u << 11, 1u << 23, "40000003") == IOAM_TYPE);
	TEST(fate(3, 1u << 11, 1u << 23, "40000003") == IOAM_TYPE);
	TEST(fate(5, 1u << 11, 1u << 23, "40000003") == IOAM_TYPE);
	TEST(fate(255, 1u << 11, 1u << 23, "40000003") == IOAM_TYPE);
}

static enum ioam_reason fate_of(const char *hex)
{
	struct found f;

	find(&f, hex);
	free(f.copy);
	TEST(f.n == 1);
	return f.why[0];
}

static void test_option_lengths(void)
{
	/* beyond its header; too short for any type, for a trace */
	TEST(fate_of(ETH6 "60000000001c0040" ADDRESSES
			  "1101 0100 310b0000 00010800 80000000" UDP) ==
	     IOAM_LENGTH);
	TEST(fate_of(ETH6 "60000000001c0040" ADDRESSES
			  "1101 0100 3101 0000 00000000 00000000" UDP) ==
	     IOAM_LENGTH);
	TEST(fate_of(ETH6 "60000000001c0040" ADDRESSES
			  "1101 0100 31060000 00010800 0102 0000" UDP) ==
	     IOAM_LENGTH);
	/* its first byte is its header's last */
	TEST(fate_of(ETH6 "6000000000140040" ADDRESSES
			  "1100 010300000031" UDP) == IOAM_LENGTH);
	/* a header longer than the packet: of its options that are whole one is
	 * read, one is not */
	TEST(fate_of(ETH6 "6000000000100040" ADDRESSES
			  "11ff 0100 310a0000 00010800 80000000") == IOAM_OK);
	TEST(fate_of(ETH6
		     "6000000000100040" ADDRESSES
		     "11ff 0100 310e0000 00010800 80000000") == IOAM_TRUNCATED);
}

/* The frame's last byte is a node's: no snapshot is looked for behind it. */
static void test_snapshot_at_end(void)
{
	TEST(fate_of(ETH6 "6000000000180040" ADDRESSES
			  "3b02 0100 310e0000 00010800 80000200 40000003") ==
	     IOAM_NODES);
}

/* RFC 9326, figure 1. */
static void test_direct(void)
{
	struct found f;
	const struct ioam *t = &f.t[0];

	find(&f,
	     ETH6 "6000000000240040" ADDRESSES
		  "1102 0100 31120004 000700c0 f0000000 0000abcd 00000009" UDP);
	TEST(f.n == 1 && f.why[0] == IOAM_OK && t->type == IOAM_DIRECT);
	TEST(t->record.domain == 7 && t->record.stack.n == 0);
	TEST(t->record.stack.layout->bitmap == 0xf00000);
	TEST(flow_is(t, flow));
	free(f.copy);
	find(&f, ETH6 "60000000001c0040" ADDRESSES
		      "1101 0100 110a0004 00070000 f0000000" UDP);
	TEST(f.n == 1 && f.why[0] == IOAM_OK);
	free(f.copy);
	find(&f,
	     ETH6 "6000000000240040" ADDRESSES
		  "1102 0100 310e0004 00070040 f0000000 00000009 01020000" UDP);
	TEST(f.n == 1 && f.why[0] == IOAM_OK);
	free(f.copy);
	TEST(fate_of(ETH6 "6000000000240040" ADDRESSES
			  "1102 0100 310e0004 000700c0 f0000000 00000009"
			  "01020000" UDP) == IOAM_LENGTH);
}

/* Two traces in one header, one behind other options in a second; and a tunnel,
 * as Linux makes one, whose packet is the hosts'. */
static void test_several(void)
{
	struct found f;

	find(&f,
	     ETH6 "60000000005c0040" ADDRESSES
		  "3c03 0100 310e0000 00010800 80000000 40000003"
		  "31 0a 0002 00000000 00000000"
		  "2b01 0502 0000 0102 0000 00000000 0000"
		  "3c00 0000 00000000"
		  "1102 0100 110e0001 00020800 80000000 3f000004 01020000" UDP);
	TEST(f.n == 3 && f.why[0] == IOAM_OK && f.why[1] == IOAM_TYPE);
	TEST(f.why[2] == IOAM_OK && f.t[0].record.domain == 1);
	TEST(f.t[2].record.domain == 2 && f.t[2].type == IOAM_INCREMENTAL);
	TEST(node_is(&f.t[0], 0, INT_NODE, 3));
	TEST(node_is(&f.t[2], 0, INT_NODE, 4));
	TEST(flow_is(&f.t[0], flow) && flow_is(&f.t[2], flow));
	/* 52, routed: 8; the second options header has others: 16 */
	TEST(f.t[0].record.ip_len == 52 + 8 + 16);
	free(f.copy);

	find(&f, ETH6 "6000000000480040" ADDRESSES
		      "2901 0100 310a0000 00010800 80000000"
		      "60000000000c1140 20010db8000000000000000000000003"
		      "20010db8000000000000000000000004" UDP);
	TEST(f.n == 1 && f.why[0] == IOAM_OK && f.t[0].record.ip_len == 52);
	TEST(flow_is(&f.t[0], "[2001:db8::3]:1000>[2001:db8::4]:80/udp"));
	free(f.copy);
}

/* Frames that have nothing to do with it. */
static void test_none(void)
{
	static const char *const frames[] = {
		"",
		ETH6 "60000000000c1140" ADDRESSES UDP,
		ETH6 "6000000000140040" ADDRESSES "1100 0502 0000 0100" UDP,
		ETH6 "6000000000140040" ADDRESSES "1109 0502 0000 0100" UDP,
		ETH6 "6000000000143c40" ADDRESSES "1100 0502 0000 0109" UDP,
		/* a later fragment's payload is no header */
		ETH6 "6000000000182c40" ADDRESSES
		     "0000 0008 00000000 1101 0100 310a0000 00010800 80000000",
		"020000000002 020000000001 0800 "
		"4500002000000000401100000a000001"
		"0a000002 03e80050000c000001020304",
	};
	struct found f;

	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		find(&f, frames[i]);
		TEST(f.n == 0);
		free(f.copy);
	}
}

static void check_inside(const struct found *f, size_t len)
{
	const uint8_t *end = f->copy + len;
	uint64_t v, sum = 0;

	for (unsigned i = 0; i < f->n; i++) {
		const struct ioam *t = &f->t[i];

		if (f->why[i] != IOAM_OK)
			continue;
		TEST(t->option + t->option_len <= end);
		for (unsigned k = 0; k < t->record.stack.n; k++) {
			for (unsigned x = 0; x < INT_FIELDS; x++)
				if (int_get(t->record.stack.layout,
					    int_hop(&t->record.stack, k), x,
					    &v))
					sum += v;
			if (t->opaque) {
				struct ioam_snapshot s = ioam_snapshot_of(
					&t->record.stack, k);

				TEST(s.data + s.len <= end);
			}
		}
	}
	TEST(sum != 1); /* so that the loads are made */
}

static void test_hostile(void)
{
	static const char *const samples[] = {LINUX, OPAQUE};
	uint8_t buf[512], out[512];
	struct found f;

	for (unsigned i = 0; i < 2; i++) {
		size_t len = unhex(buf, sizeof(buf), samples[i]);

		for (size_t n = 0; n < len; n++) {
			find_bytes(&f, buf, n);
			check_inside(&f, n);
			ioam_strip(out, sizeof(out), f.copy, n);
			free(f.copy);
		}
		for (size_t at = 0; at < len; at++)
			for (unsigned v = 1; v < 256; v++) {
				buf[at] ^= (uint8_t)v;
				find_bytes(&f, buf, len);
				check_inside(&f, len);
				TEST(ioam_strip(out, sizeof(out), f.copy,
						len) <= (int)len);
				free(f.copy);
				buf[at] ^= (uint8_t)v;
			}
	}
}

int main(void)
{
	set_up();
	test_linux();
	test_fractions();
	test_opaque();
	test_bits();
	test_flags();
	test_counts();
	test_lies();
	test_option_lengths();
	test_snapshot_at_end();
	test_direct();
	test_several();
	test_none();
	test_hostile();
	return test_end();
}
