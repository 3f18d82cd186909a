/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_crc.c - every engine against zlib, a published check value, and a CRC
 * computed bit by bit.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/rng.h"
#include "hash/crc_engine.h"
#include "test.h"

enum {
	MAX_KEYS = 1024,
	MAX_IDS = 5,
};

/* The definition: message bits, least significant first, through a register. */
static uint32_t reference(uint32_t poly, uint32_t sum, const uint8_t *p,
			  size_t len)
{
	uint32_t mirrored = 0, reg = ~sum;

	for (int i = 0; i < 32; i++)
		if (poly >> i & 1)
			mirrored |= 0x80000000u >> i;
	for (; len; p++, len--) {
		for (int bit = 0; bit < 8; bit++) {
			uint32_t out = (reg ^ (uint32_t)*p >> bit) & 1;

			reg >>= 1;
			if (out)
				reg ^= mirrored;
		}
	}
	return ~reg;
}

static void fill(struct rng *r, uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)rng_u64(r);
}

/* dta(7), HASHING, and the published DTA translator's, typed in a second time.
 */
static void test_polys(void)
{
	static const uint32_t want[CRC_IDS] = {
		0x04C11DB7, 0xF5D8E6B9, 0x38D956C9, 0xBE1BC3BB, 0x1EDC6F41,
		0x8C2BFECF, 0x1E671611, 0x42BA8535, 0x9459DBBF, 0x617C6A11,
		0x7076CE85, 0x101CECEF, 0x5B8EA50B, 0x676BDD11, 0x1E12A701,
		0x65B96595, 0x49CF878B, 0x36518F0D, 0x7A40A909,
	};

	for (unsigned i = 0; i < CRC_IDS; i++)
		TEST(crc_poly(i) == want[i]);
}

static void test_published(void)
{
	TEST(crc(CRC_SLOT0, "123456789", 9) == 0xcbf43926);
	TEST(crc(CRC_CHECKSUM, "123456789", 9) == 0xe3069283);
	for (unsigned id = 0; id < CRC_IDS; id++) {
		TEST(crc(id, "", 0) == 0);
		TEST(crc_extend(id, 0x12345678, "", 0) == 0x12345678);
	}
	/* The register after the iCRC's eight bytes of ones (IBTA annex A17).
	 */
	TEST(~crc(CRC_SLOT0, "\377\377\377\377\377\377\377\377", 8) ==
	     0xdebb20e3);
}

static void test_zlib(struct rng *r)
{
	enum { SIZE = 1 << 16 };
	uint8_t *buf = malloc(SIZE);

	if (!TEST(buf != NULL))
		return;
	fill(r, buf, SIZE);
	for (size_t len = 0; len < 1200; len++) {
		uint32_t sum = (uint32_t)rng_u64(r);

		TEST(crc(CRC_SLOT0, buf + len, len) ==
		     crc32(0, buf + len, (uInt)len));
		TEST(crc_extend(CRC_SLOT0, sum, buf + len, len) ==
		     crc32(sum, buf + len, (uInt)len));
	}
	for (int i = 0; i < 100; i++) {
		size_t from = rng_below(r, SIZE);
		size_t len = rng_below(r, SIZE - from);

		TEST(crc(CRC_SLOT0, buf + from, len) ==
		     crc32(0, buf + from, (uInt)len));
	}
	free(buf);
}

/* Exact-size copies: the sanitizers see a read past either end. */
static void test_single(struct rng *r)
{
	uint8_t data[400];

	fill(r, data, sizeof(data));
	for (size_t len = 0; len < sizeof(data); len++) {
		uint8_t *exact = malloc(len ? len : 1);

		if (!TEST(exact != NULL))
			return;
		memcpy(exact, data, len);
		for (unsigned id = 0; id < CRC_IDS; id++) {
			uint32_t sum = (uint32_t)rng_u64(r);

			TEST(crc_extend(id, sum, exact, len) ==
			     reference(crc_poly(id), sum, data, len));
		}
		free(exact);
	}
}

static void test_extend(struct rng *r)
{
	uint8_t data[300];

	fill(r, data, sizeof(data));
	for (size_t cut = 0; cut <= sizeof(data); cut++) {
		unsigned id = cut % CRC_IDS;
		uint32_t a = crc(id, data, cut);

		TEST(crc_extend(id, a, data + cut, sizeof(data) - cut) ==
		     crc(id, data, sizeof(data)));
	}
}

/*
 * Keys lie where the batch's headroom starts and end where their allocation
 * ends: nothing behind the last byte may be read.
 */
static uint8_t *make_key(struct rng *r, size_t align, size_t len, uint8_t **mem)
{
	size_t before = CRC_HEADROOM + align;

	*mem = malloc(before + len);
	if (!*mem)
		abort();
	fill(r, *mem, before + len);
	return *mem + before;
}

/* Keys of one length, n of them, under nids polynomials starting at first. */
static void check_batch(struct rng *r, unsigned first, unsigned nids,
			size_t len, size_t n)
{
	static uint32_t sums[MAX_IDS][MAX_KEYS + 1];
	static uint8_t *mem[MAX_KEYS];
	static const uint8_t *keys[MAX_KEYS];
	enum crc_id ids[MAX_IDS];
	uint32_t *out[MAX_IDS];
	int wrong = 0;

	for (unsigned i = 0; i < nids; i++) {
		ids[i] = (first + i) % CRC_IDS;
		out[i] = sums[i];
		memset(sums[i], 0xa5, sizeof(sums[i]));
	}
	for (size_t k = 0; k < n; k++)
		keys[k] = make_key(r, k % 16, len, &mem[k]);
	crc_batch(ids, nids, keys, len, n, out);
	for (unsigned i = 0; i < nids; i++) {
		for (size_t k = 0; k < n; k++)
			wrong += sums[i][k] !=
				 reference(crc_poly(ids[i]), 0, keys[k], len);
		TEST(sums[i][n] == 0xa5a5a5a5); /* wrote n, no more */
	}
	TEST(wrong == 0);
	for (size_t k = 0; k < n; k++)
		free(mem[k]);
}

static void test_batch(struct rng *r)
{
	static const size_t long_lens[] = {127, 128, 255, 256, 257, 400};

	/* 16 keys have all 16 alignments; 17 make a tail as well. */
	for (size_t len = 0; len <= 80; len++)
		for (unsigned id = 0; id < CRC_IDS; id++)
			check_batch(r, id, 1, len, 17);
	for (size_t n = 0; n <= 20; n++)
		for (unsigned nids = 1; nids <= MAX_IDS; nids++)
			check_batch(r, CRC_SLOT0, nids, 13, n);
	for (size_t n = 1; n <= 20; n++)
		check_batch(r, CRC_SLOT3, 2, 37, n);
	for (unsigned i = 0; i < 6; i++)
		check_batch(r, CRC_SLOT3, 3, long_lens[i], 19);
	check_batch(r, CRC_SLOT0, MAX_IDS, 13, MAX_KEYS);
	check_batch(r, CRC_SLOT1, 2, 41, MAX_KEYS);
}

/* Keys that lie close together, as in packets: headroom is other data. */
static void test_batch_overlap(struct rng *r)
{
	const enum crc_id id = CRC_SLOT2;
	const uint8_t *keys[64];
	uint32_t sums[64], *out = sums;
	uint8_t buf[256];
	int wrong = 0;

	fill(r, buf, sizeof(buf));
	for (size_t k = 0; k < 64; k++)
		keys[k] = buf + CRC_HEADROOM + rng_below(r, 200);
	crc_batch(&id, 1, keys, 13, 64, &out);
	for (size_t k = 0; k < 64; k++)
		wrong += sums[k] != reference(0x38D956C9, 0, keys[k], 13);
	TEST(wrong == 0);
}

static void test_engine(void)
{
	struct rng r = {.state = 42};

	test_published();
	test_zlib(&r);
	test_single(&r);
	test_extend(&r);
	test_batch(&r);
	test_batch_overlap(&r);
}

int main(void)
{
	const struct crc_ops *engines[] = {&crc_table_ops, crc_clmul_probe(),
					   crc_vpclmul_probe()};
	const struct crc_ops *chosen = crc_engine, *best = NULL;

	test_polys();
	for (unsigned e = 0; e < sizeof(engines) / sizeof(engines[0]); e++) {
		if (!engines[e]) {
			fprintf(stderr, "no engine %u here\n", e);
			continue;
		}
		best = crc_engine = engines[e];
		test_engine();
	}
	TEST(chosen == best);
	return test_end();
}
