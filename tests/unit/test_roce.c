/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Vectors: a frame captured from a ConnectX-4 Lx (public: scapy's
 * test/contrib/roce.uts), whose NIC computed the iCRC; and the Key-Write of
 * the published DTA translator. IPv6 frames are checked against zlib's CRC-32,
 * with the masked bytes listed one by one.
 */
#include <errno.h>
#include <stdbool.h>
#include <zlib.h>

#include "bytes.h"
#include "test.h"
#include "net/roce.h"

static const char cnp[] =
	"e41d2dab2bc27cfe90643b32080045c2003c718c4000401191610a0011010a001201"
	"000012b7002800008100ffff40000118000000000000000000000000000000000000"
	"000082fd002a";

static const char keywrite[] =
	"b8cef6d212c7b8cef6d213260800450000442c7540004011f99c0a0000650a000033"
	"271012b7003000000a40ffff000012340000000700007f0000000568000011110000"
	"000879b8f8990000002ad3ca19b6";

static void test_icrc(void)
{
	uint8_t buf[128];
	size_t len = unhex(buf, sizeof(buf), cnp);

	TEST(len == 74);
	TEST(roce_icrc(buf + 14, len - 18) == 0x2a00fd82);
	buf[14 + 1] = 0; /* what routers change does not matter */
	buf[14 + 8] = 1;
	buf[14 + 10] ^= 0x55;
	buf[14 + 27] ^= 0x55;
	buf[14 + 32] = 0x40;
	TEST(roce_icrc(buf + 14, len - 18) == 0x2a00fd82);
	for (size_t i = 15; i < len - 4; i++) { /* all the rest does */
		bool masked = i == 15 || i == 22 || i == 24 || i == 25 ||
			      i == 40 || i == 41 || i == 46;

		buf[i] ^= 0x04;
		TEST((roce_icrc(buf + 14, len - 18) == 0x2a00fd82) == masked);
		buf[i] ^= 0x04;
	}
	for (size_t n = 0; n < 40; n++)
		TEST(roce_icrc(buf + 14, n) == 0);
}

static void test_foreign_opcode(void)
{
	uint8_t buf[128];
	size_t len = unhex(buf, sizeof(buf), cnp);
	struct roce r;

	TEST(roce_decode(&r, buf, len) == -ENOTSUP);
}

static void test_keywrite(void)
{
	static const uint8_t payload[] = {0x79, 0xb8, 0xf8, 0x99,
					  0x00, 0x00, 0x00, 0x2a};
	uint8_t buf[128], again[128], *copy;
	size_t len = unhex(buf, sizeof(buf), keywrite);
	struct roce r;

	copy = exact_copy(buf, len);
	TEST(roce_decode(&r, copy, len) == 0 && r.icrc_ok);
	TEST(!memcmp(r.eth_dst, "\xb8\xce\xf6\xd2\x12\xc7", 6));
	TEST(!memcmp(r.eth_src, "\xb8\xce\xf6\xd2\x13\x26", 6));
	TEST(r.version == 4 && r.ttl == 64 && r.tos == 0);
	TEST(r.ip_id == 11381 && r.src_port == 10000);
	TEST(!memcmp(r.src, "\x0a\x00\x00\x65", 4));
	TEST(!memcmp(r.dst, "\x0a\x00\x00\x33", 4));
	TEST(r.opcode == ROCE_RC_WRITE_ONLY && r.pad == 0 && r.tver == 0);
	TEST(!r.solicited && r.migreq && !r.ack_req && r.pkey == 0xffff);
	TEST(r.dest_qp == 0x1234 && r.psn == 7);
	TEST(r.va == 0x7f0000000568 && r.rkey == 0x1111 && r.dma_len == 8);
	TEST(r.len == 8 && !memcmp(r.payload, payload, 8));
	TEST(roce_encode(again, sizeof(again), &r) == (int)len);
	TEST(!memcmp(again, buf, len));
	free(copy);
	buf[len - 5] ^= 1;
	TEST(roce_decode(&r, buf, len) == 0 && !r.icrc_ok);
}

static bool same(const struct roce *a, const struct roce *b)
{
	size_t n = a->version == 4 ? 4 : 16;

	return !memcmp(a->eth_dst, b->eth_dst, 6) &&
	       !memcmp(a->eth_src, b->eth_src, 6) && a->version == b->version &&
	       !memcmp(a->src, b->src, n) && !memcmp(a->dst, b->dst, n) &&
	       a->src_port == b->src_port && a->tos == b->tos &&
	       a->ttl == b->ttl && a->opcode == b->opcode &&
	       a->solicited == b->solicited && a->migreq == b->migreq &&
	       a->ack_req == b->ack_req && a->tver == b->tver &&
	       a->pkey == b->pkey && a->dest_qp == b->dest_qp &&
	       a->psn == b->psn && a->len == b->len &&
	       (!a->len || !memcmp(a->payload, b->payload, a->len));
}

/* What the extended headers of each opcode carry, and their bytes. */
static const struct {
	uint8_t opcode, extended;
	bool reth, atomic, aeth, original, imm, payload;
	const char *name;
} kinds[] = {
	{0x0a, 16, true, false, false, false, false, true, "rc_write_only"},
	{0x0b, 20, true, false, false, false, true, true, "rc_write_only_imm"},
	{0x11, 4, false, false, true, false, false, false, "rc_ack"},
	{0x12, 12, false, false, true, true, false, false, "rc_atomic_ack"},
	{0x13, 28, false, true, false, false, false, false, "rc_cmp_swap"},
	{0x14, 28, false, true, false, false, false, false, "rc_fetch_add"},
	{0x2a, 16, true, false, false, false, false, true, "uc_write_only"},
	{0x2b, 20, true, false, false, false, true, true, "uc_write_only_imm"},
};

enum {
	KINDS = sizeof(kinds) / sizeof(kinds[0]),
};

static struct roce specimen(int kind, int version)
{
	static const uint8_t payload[] = "0123456789abcdef";

	return (struct roce){
		.eth_dst = {2, 0, 0, 0, 0, 2},
		.eth_src = {2, 0, 0, 0, 0, 1},
		.version = (uint8_t)version,
		.src = {0x20, 1, 0xd, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8, 9},
		.dst = {0x20, 1, 0xd, 0xb8, 9, 8, 7, 6, 5, 4, 3, 2, 1},
		.src_port = 49152,
		.tos = 0xb8,
		.ttl = 17,
		.opcode = kinds[kind].opcode,
		.solicited = kind & 1,
		.migreq = kind & 2,
		.ack_req = kind & 4,
		.pkey = 0x7fff,
		.dest_qp = 0xabcdef,
		.psn = 0xfffffe,
		.va = 0x0102030405060708,
		.rkey = 0x11223344,
		.dma_len = 0x55667788,
		.swap_add = 0x99aabbccddeeff00,
		.compare = 0xf0e0d0c0b0a09080,
		.syndrome = ROCE_NAK_ACCESS,
		.msn = 0x123456,
		.original = 0x1020304050607080,
		.imm = 0xdeadbeef,
		.payload = payload,
		.len = kinds[kind].payload ? 13 + (size_t)kind % 4 : 0,
	};
}

static void check_kind(const uint8_t *frame, size_t len, const struct roce *r,
		       int kind)
{
	struct roce d;

	if (!TEST(roce_decode(&d, frame, len) == 0))
		return;
	TEST(d.icrc_ok && same(r, &d) && d.pad == (-r->len & 3));
	if (kinds[kind].reth || kinds[kind].atomic)
		TEST(d.va == r->va && d.rkey == r->rkey);
	TEST(d.dma_len == (kinds[kind].reth ? r->dma_len : 0));
	TEST(d.swap_add == (kinds[kind].atomic ? r->swap_add : 0));
	TEST(d.compare == (kinds[kind].atomic ? r->compare : 0));
	TEST(d.syndrome == (kinds[kind].aeth ? r->syndrome : 0));
	TEST(d.msn == (kinds[kind].aeth ? r->msn : 0));
	TEST(d.original == (kinds[kind].original ? r->original : 0));
	TEST(d.imm == (kinds[kind].imm ? r->imm : 0));
}

/* Every opcode, over IPv4 and IPv6: sizes, fields, prefixes. */
static void test_kinds(void)
{
	for (int i = 0; i < KINDS * 2; i++) {
		int kind = i / 2, version = i % 2 ? 6 : 4;
		struct roce r = specimen(kind, version), d;
		uint8_t buf[ROCE_FRAME_MAX], *copy;
		size_t len = 14 + (version == 4 ? 20 : 40) + 8 + 12 +
			     kinds[kind].extended + ((r.len + 3) & ~3ul) + 4;

		TEST(!strcmp(roce_opcode_name(r.opcode), kinds[kind].name));
		if (!TEST(roce_encode(buf, sizeof(buf), &r) == (int)len))
			continue;
		for (size_t n = 0; n < len; n++) {
			copy = exact_copy(buf, n);
			TEST(roce_decode(&d, copy, n) == -EBADMSG);
			TEST(roce_encode(copy, n, &r) == -ENOBUFS);
			free(copy);
		}
		check_kind(buf, len, &r, kind);
		memset(buf + len, 0xee, 9); /* behind the IP length */
		check_kind(buf, len + 9, &r, kind);
	}
}

static void test_icrc6(void)
{
	static const uint8_t masked[] = {8 + 1,	 8 + 2,	 8 + 3, 8 + 7,
					 8 + 46, 8 + 47, 8 + 52};
	struct roce r = specimen(0, 6);
	uint8_t buf[256], flat[256];
	int len = roce_encode(buf, sizeof(buf), &r);
	size_t n = (size_t)len - 14 - 4;
	uint32_t sum;

	memset(flat, 0xff, 8);
	memcpy(flat + 8, buf + 14, n);
	flat[8] = 0x6f;
	for (size_t i = 0; i < sizeof(masked); i++)
		flat[masked[i]] = 0xff;
	sum = (uint32_t)crc32(0, flat, (unsigned)n + 8);
	TEST(roce_icrc(buf + 14, n) == sum);
	TEST(buf[len - 4] == (sum & 0xff) && buf[len - 1] == sum >> 24);
}

static void test_encode_refused(void)
{
	static const uint8_t zero[5000];
	uint8_t buf[5000];
	struct roce r;

	r = specimen(0, 4), r.payload = zero, r.len = 4096;
	TEST(roce_encode(buf, sizeof(buf), &r) == 14 + 20 + 8 + 28 + 4096 + 4);
	r.len = 4097;
	TEST(roce_encode(buf, sizeof(buf), &r) == -EINVAL);
	r = specimen(2, 4), r.len = 1;
	TEST(roce_encode(buf, sizeof(buf), &r) == -EINVAL);
	r = specimen(0, 5);
	TEST(roce_encode(buf, sizeof(buf), &r) == -EINVAL);
	r = specimen(0, 4), r.opcode = 0x81;
	TEST(roce_encode(buf, sizeof(buf), &r) == -EINVAL);
	r = specimen(0, 4), r.psn = 0x1000000;
	TEST(roce_encode(buf, sizeof(buf), &r) == -EINVAL);
	r = specimen(0, 4), r.dest_qp = 0x1000000;
	TEST(roce_encode(buf, sizeof(buf), &r) == -EINVAL);
	r = specimen(2, 4), r.msn = 0x1000000;
	TEST(roce_encode(buf, sizeof(buf), &r) == -EINVAL);
	r = specimen(0, 4), r.tver = 16;
	TEST(roce_encode(buf, sizeof(buf), &r) == -EINVAL);
}

/* Whole UDP datagrams that the InfiniBand headers do not fill rightly. */
static void test_malformed(void)
{
	uint8_t buf[256];
	struct roce r = specimen(2, 6), d = {.psn = 77};
	int len = roce_encode(buf, sizeof(buf), &r);

	buf[14 + 48] = ROCE_RC_FETCH_ADD; /* 4 bytes where 28 belong */
	TEST(roce_decode(&d, buf, (size_t)len) == -EBADMSG);
	buf[14 + 48] = ROCE_RC_ACK;
	buf[14 + 49] = 0x10; /* a pad that is not there */
	TEST(roce_decode(&d, buf, (size_t)len) == -EBADMSG);
	TEST(d.psn == 77);
	buf[14 + 43] ^= 1; /* another port */
	TEST(roce_decode(&d, buf, (size_t)len) == -ENOTSUP);
	r = specimen(4, 6);
	len = roce_encode(buf, sizeof(buf), &r);
	buf[14 + 48] = ROCE_RC_ACK; /* a payload where none belongs */
	TEST(roce_decode(&d, buf, (size_t)len) == -EBADMSG);
	buf[14 + 48] = ROCE_RC_WRITE_ONLY; /* a wrong pad is the caller's */
	buf[14 + 49] = 0x30;
	TEST(roce_decode(&d, buf, (size_t)len) == 0);
	TEST(d.len == 9 && d.pad == 3 && !d.icrc_ok);
}

static void test_names(void)
{
	TEST(!roce_opcode_name(0) && !roce_opcode_name(0x0c));
	TEST(!roce_opcode_name(0x2c) && !roce_opcode_name(0xff));
}

int main(void)
{
	test_icrc();
	test_foreign_opcode();
	test_keywrite();
	test_kinds();
	test_icrc6();
	test_encode_refused();
	test_malformed();
	test_names();
	return test_end();
}
