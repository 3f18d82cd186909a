/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which bits of a common report tell, one by one; and that what is taken for
 * one at a glance is one by the book, whichever instructions look.
 */
#include <stdlib.h>

#include "base/rng.h"
#include "dta/common_report.h"
#include "test.h"
#include "net/dta.h"
#include "net/net.h"

enum {
	KEY = 13,
	ID = 0x0102,
	ROOM = 128,
	IP = SHAPE_AT_IP,
	UDP = SHAPE_AT_UDP,
	DTA = SHAPE_AT_PAYLOAD,
	NOBODY = TABLE_MAX,
};

static shape_fn *looks[2];
static unsigned ways;
static struct common_report tables[TABLE_MAX + 1];
static uint8_t by_id[UINT16_MAX + 1];

static bool narrow(const struct shape *s, const uint8_t *frame)
{
	return shape_is(s, frame);
}

#ifdef __x86_64__
SHAPE_WIDE static bool wide(const struct shape *s, const uint8_t *frame)
{
	return shape_is_wide(s, frame);
}
#endif

/* All instructions that this CPU has say the same. */
static uint64_t head_of(const uint8_t *frame, size_t len)
{
	const struct pkt p = {.data = frame, .len = (uint32_t)len};
	uint64_t desc = common_report_desc(tables, by_id, &p, looks[0]);

	for (unsigned i = 1; i < ways; i++)
		TEST(common_report_desc(tables, by_id, &p, looks[i]) == desc);
	return desc;
}

/* Right again after bytes of the IPv4 header have changed. */
static void mend(uint8_t *frame)
{
	be16_store(frame + IP + NET_IP4_AT_SUM, 0);
	be16_store(frame + IP + NET_IP4_AT_SUM,
		   net_checksum(frame + IP, NET_IP4_LEN));
}

static size_t frame_of(uint8_t *frame, const struct table *t, size_t data_len)
{
	static const uint8_t some[64] = {0, 0, 0, 1, 2, 3, 4, 5, 6};
	const struct dta_report r = {.opcode = t->kind,
				     .table = t->id,
				     .key_len = (uint8_t)t->key_len,
				     .data_len = (uint16_t)data_len,
				     .copies = 2,
				     .hop = 1,
				     .path_len = 3,
				     .sequence = 0xfffe,
				     .key = some,
				     .data = some};
	const struct net_udp4 h = {.src = {10, 0, 1, 2},
				   .dst = {255, 255, 255, 251},
				   .src_port = 50000,
				   .dst_port = DTA_PORT,
				   .ip_id = 0x7fff,
				   .ttl = 64};
	int len = dta_encode(frame + DTA, ROOM - DTA, DTA_FORMAT_1, &r);

	if (len < 0 || net_udp4_encode(frame, DTA, &h, (size_t)len) != DTA)
		abort();
	return DTA + (size_t)len;
}

static struct table table_of(uint8_t kind, uint8_t immediate)
{
	return (struct table){
		.id = ID,
		.kind = kind,
		.key_len = kind == TABLE_APPEND ? 4 : KEY,
		.copies = 3,
		.hops = 5,
		.lists = 2,
		.immediate = immediate,
	};
}

static void only(const struct table *t, uint16_t data_len, bool strict)
{
	memset(by_id, NOBODY, sizeof(by_id));
	by_id[htobe16(ID)] = 7;
	for (unsigned i = 0; i <= TABLE_MAX; i++)
		common_report_clear(&tables[i]);
	common_report_init(&tables[7], t, 7, data_len, strict);
}

/* Bits of a frame that a report may have this way or that, if the sum of the
 * IPv4 header follows. */
static uint8_t free_bits(unsigned at, uint8_t kind, bool strict)
{
	if (at < IP - 2)
		return 0xff; /* Ethernet addresses */
	if (at == IP + NET_IP4_AT_FRAGMENT)
		return 0x40; /* DF */
	if (at == IP + NET_IP4_AT_TOS || at == IP + NET_IP4_AT_TTL ||
	    (at >= IP + NET_IP4_AT_ID && at < IP + NET_IP4_AT_ID + 2) ||
	    (at >= IP + NET_IP4_AT_SRC && at < UDP + 2))
		return 0xff; /* and the source port */
	if (at == DTA + 1)   /* N is 2: 3, 0; immediate, tracked, reserved */
		return strict ? 0xb3 : 0xf3;
	if (at == DTA + 3) /* hop 1 of 3: hop 0; path length 2 */
		return kind == TABLE_POSTCARD ? 0x11 : 0xff;
	if (at == DTA + 6 || at == DTA + 7)
		return 0xff; /* sequence */
	if (at >= DTA + 8 && kind == TABLE_APPEND)
		return at == DTA + 11 || at >= DTA + 12 ? 0xff : 0;
	return at >= DTA + 8 ? 0xff : 0;
}

/* A frame that was good, one bit after the other. */
static void bit_by_bit(uint8_t kind, uint16_t data_len, bool strict)
{
	struct table t = table_of(kind, 0);
	uint8_t frame[ROOM], bad[ROOM];
	size_t len = frame_of(frame, &t, data_len);
	uint64_t desc;

	only(&t, data_len, strict);
	desc = head_of(frame, len);
	TEST(desc_table(desc) == 7 && desc_copies(desc) == 2 &&
	     desc_data_at(desc) == t.key_len && desc_hop(desc) == 1 &&
	     desc_path_len(desc) == 3 && desc_data_len(desc) == data_len &&
	     desc_sequence(desc) == 0xfffe && !desc_immediate(desc));
	for (unsigned i = 0; i < len * 8; i++) {
		unsigned at = i / 8;
		uint8_t bit = (uint8_t)(1 << i % 8);
		bool sum = at >= IP + NET_IP4_AT_SUM &&
			   at < IP + NET_IP4_AT_SRC;
		bool may = free_bits(at, kind, strict) & bit;

		if (kind == TABLE_APPEND && at == DTA + 11)
			may = bit == 1; /* list 1 of 2: list 0 */
		memcpy(bad, frame, len);
		bad[at] ^= bit;
		if (at >= IP && at < UDP) /* the sum is wrong now */
			TEST(!head_of(bad, len));
		if (at >= IP && at < UDP && !sum)
			mend(bad);
		desc = head_of(bad, len);
		TEST((desc != 0) == (may && !sum));
		TEST(!(desc >> 52 & 7)); /* what is reserved */
	}
	for (size_t n = 0; n < len; n++) {
		uint8_t *cut = malloc(n ? n
					: 1); /* nothing behind it is read */

		memcpy(cut, frame, n);
		TEST(!head_of(cut, n));
		free(cut);
	}
	TEST(head_of(frame, len + 9) == head_of(frame, len)); /* Ethernet's */
	only(&t, data_len + 1, strict);
	TEST(!head_of(frame, len));
}

static void values(void)
{
	struct table t = table_of(TABLE_POSTCARD, 1);
	uint8_t frame[ROOM];
	size_t len = frame_of(frame, &t, 4);

	only(&t, 4, false);
	TEST(desc_immediate(head_of(frame, len))); /* by the table */
	for (unsigned n = 0; n < 16; n++) {
		uint64_t desc;

		frame[DTA + 1] = (uint8_t)n;
		desc = head_of(frame, len);
		TEST((desc != 0) == (n <= DTA_MAX_COPIES));
		TEST(!desc || desc_copies(desc) == (n ? n : 3));
	}
	frame[DTA + 1] = 1;
	for (unsigned i = 0; i < 256; i++) {
		unsigned hop = i >> 4, path = i & 15;

		frame[DTA + 3] = (uint8_t)i;
		TEST((head_of(frame, len) != 0) ==
		     (hop < 5 && path <= 5 && (!path || hop < path)));
	}
	frame[DTA + 3] = 0;
	memset(frame + len - 4, 0xff, 4); /* a blank */
	TEST(!head_of(frame, len));
	frame[len - 1] = 0xfe;
	TEST(head_of(frame, len) != 0);
	common_report_clear(&tables[7]);
	TEST(!head_of(frame, len));
	t = table_of(TABLE_APPEND, 0);
	len = frame_of(frame, &t, 4);
	only(&t, 4, false);
	for (unsigned list = 0; list < 4; list++) {
		frame[DTA + 11] = (uint8_t)list;
		TEST((head_of(frame, len) != 0) == (list < t.lists));
	}
}

/* Random headers, of words that make carries, too: what is taken is right by
 * the book, and what is right is taken. */
static void sums(void)
{
	static const uint8_t edges[] = {0, 1, 0x7f, 0x80, 0xfe, 0xff};
	struct table t = table_of(TABLE_KEYWRITE, 0);
	struct rng rng = {99};
	unsigned good = 0;

	only(&t, 4, false);
	for (unsigned i = 0; i < 200000; i++) {
		struct net_udp u;
		uint8_t frame[ROOM];
		size_t len = frame_of(frame, &t, 4);
		bool edge = rng_below(&rng, 2), right;

		for (unsigned at = IP; at < UDP; at++)
			if (free_bits(at, t.kind, false) == 0xff)
				frame[at] = edge ? edges[rng_below(
							   &rng, sizeof(edges))]
						 : (uint8_t)rng_u64(&rng);
		mend(frame);
		if (rng_below(&rng, 2))
			frame[IP + NET_IP4_AT_SUM + rng_below(&rng, 2)] =
				(uint8_t)rng_u64(&rng);
		right = !net_udp_decode(&u, frame, len);
		TEST((head_of(frame, len) != 0) == right);
		good += right;
	}
	TEST(good > 90000 && good < 110000);
	for (uint64_t sum = 0; sum < 0x30000; sum++) {
		TEST(shape_is_multiple(sum) == (sum % 0xffff == 0));
		TEST(shape_is_multiple(~sum) == (~sum % 0xffff == 0));
	}
}

int main(void)
{
	looks[ways++] = narrow;
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2"))
		looks[ways++] = wide;
#endif
	for (unsigned strict = 0; strict < 2; strict++) {
		bit_by_bit(TABLE_KEYWRITE, 4, strict);
		bit_by_bit(TABLE_KEYINC, 8, strict);
		bit_by_bit(TABLE_APPEND, 4, strict);
		bit_by_bit(TABLE_POSTCARD, 4, strict);
	}
	values();
	sums();
	return test_end();
}
