/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_family.c - the hash families: published vectors, batches against single
 * hashes, and whether a family's copies are independent.
 */
#include <endian.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/rng.h"
#include "hash/crc.h"
#include "hash/family.h"
#include "test.h"

enum {
	MAX_KEYS = 100,
	MAX_LEN = 64,
	SLOTS = 1 << 20, /* of the simulation */
	SAMPLE = 1 << 14,
};

static void be32(uint8_t *p, uint32_t v)
{
	v = htobe32(v);
	memcpy(p, &v, sizeof(v));
}

static void test_names(void)
{
	TEST(!strcmp(hash_family_name(HASH_DTA1), "dta1"));
	TEST(!strcmp(hash_family_name(HASH_DTA0), "dta0"));
}

static void test_mod(void)
{
	TEST(hash_mod(0xffffffff, 1) == 0);
	TEST(hash_mod(0x12345678, 256) == 0x78);
	TEST(hash_mod(0x12345678, 1000) == 0x12345678 % 1000);
	TEST(hash_mod(0xffffffff, 1ull << 33) == 0xffffffff);
	TEST(hash_mod(0xffffffff, 0x1ffffffffull) == 0xffffffff);
}

/* By multiplication the same as by division: around every power of two, and of
 * any numbers. */
static void test_mod_of(struct rng *r)
{
	for (unsigned i = 0; i < 100000; i++) {
		uint64_t units = i < 41 * 3
					 ? (1ull << i / 3) + i % 3 - (i > 2)
					 : 1 + (rng_u64(r) >> rng_below(r, 64));
		struct hash_units u = hash_units_of(units);
		uint32_t hash[] = {0,
				   1,
				   UINT32_MAX,
				   (uint32_t)units,
				   (uint32_t)(units - 1),
				   (uint32_t)(units * rng_below(r, 1 << 20)),
				   (uint32_t)rng_u64(r)};

		for (unsigned k = 0; k < sizeof(hash) / sizeof(hash[0]); k++)
			if (!TEST(hash_mod_of(hash[k], u) == hash[k] % units))
				return;
	}
}

/* The published DTA translator, Key-Write. */
static void test_dta0_slots(void)
{
	static const struct {
		uint32_t key, sum, slot[4];
	} v[] = {
		{0,
		 0x2144df1c,
		 {0xc622f71d, 0xb125c78b, 0x282c9631, 0x5f2ba6a7}},
		{1,
		 0x99f8b879,
		 {0xfb42dead, 0x8c45ee3b, 0x154cbf81, 0x624b8f17}},
		{2,
		 0x8b4d1797,
		 {0xbce2a47d, 0xcbe594eb, 0x52ecc551, 0x25ebf5c7}},
		{123456789,
		 0x18df6c9e,
		 {0xc5ad8ea2, 0xb2aabe34, 0x2ba3ef8e, 0x5ca4df18}},
	};
	uint8_t key[4];

	for (unsigned i = 0; i < sizeof(v) / sizeof(*v); i++) {
		be32(key, v[i].key);
		TEST(hash_checksum(HASH_DTA0, key, 4) == v[i].sum);
		for (unsigned n = 0; n < 4; n++)
			TEST(hash_slot(HASH_DTA0, n, key, 4) == v[i].slot[n]);
	}
}

/* The published DTA translator, postcards: the hops, then CRC32(key BE). */
static void test_dta0_chunks(void)
{
	static const uint32_t v[][7] = {
		{1, 0xfcbb7a2f, 0x119ca20c, 0x55f952f3, 0xf4b8da4a, 0xf1be4f77,
		 0x5643ef8a},
		{0x0a000001, 0x67864dc9, 0xed1fb692, 0x58b45875, 0x2d2a23da,
		 0x1eb3bdf2, 0x39fe0fee},
		{0xdeadbeef, 0x7cd48fc8, 0xc89ada00, 0xfeb397e0, 0xf9ed7b03,
		 0x567b7ecd, 0x7c9ca35a},
	};
	uint8_t key[4];

	for (unsigned i = 0; i < sizeof(v) / sizeof(*v); i++) {
		be32(key, v[i][0]);
		for (unsigned hop = 0; hop < 5; hop++)
			TEST(hash_hop(HASH_DTA0, hop, key, 4) == v[i][1 + hop]);
		TEST(hash_chunk(HASH_DTA0, 0, key, 4) == v[i][6]);
	}
}

/* Other lengths than the published: the key reversed, whatever its length. */
static void test_dta0_lengths(struct rng *r)
{
	uint8_t key[MAX_LEN], reversed[MAX_LEN + 1];

	for (size_t len = 0; len <= MAX_LEN; len++) {
		for (size_t i = 0; i < len; i++)
			key[i] = reversed[len - 1 - i] = (uint8_t)rng_u64(r);
		TEST(hash_checksum(HASH_DTA0, key, len) ==
		     crc32(0, reversed, (uInt)len));
		reversed[len] = 2;
		TEST(hash_slot(HASH_DTA0, 2, key, len) ==
		     crc32(0, reversed, (uInt)len + 1));
	}
}

/* dta(7), HASHING: which polynomial does what. test_crc.c proves the CRCs. */
static void test_dta1(struct rng *r)
{
	uint8_t key[13];

	for (size_t i = 0; i < sizeof(key); i++)
		key[i] = (uint8_t)rng_u64(r);
	TEST(hash_slot(HASH_DTA1, 0, key, 13) == crc32(0, key, 13));
	for (unsigned c = 0; c < HASH_COPIES; c++) {
		TEST(hash_slot(HASH_DTA1, c, key, 13) ==
		     crc(CRC_SLOT0 + c, key, 13));
		TEST(hash_chunk(HASH_DTA1, c, key, 13) ==
		     crc(CRC_SLOT0 + c, key, 13));
	}
	for (unsigned i = 0; i < HASH_HOPS; i++)
		TEST(hash_hop(HASH_DTA1, i, key, 13) ==
		     crc(CRC_HOP0 + i, key, 13));
	TEST(hash_checksum(HASH_DTA1, (const uint8_t *)"123456789", 9) ==
	     0xe3069283);
}

static uint8_t bytes[MAX_KEYS][CRC_HEADROOM + MAX_LEN];
static const uint8_t *keys[MAX_KEYS];

static void make_keys(struct rng *r)
{
	for (size_t k = 0; k < MAX_KEYS; k++) {
		for (size_t i = 0; i < sizeof(bytes[k]); i++)
			bytes[k][i] = (uint8_t)rng_u64(r);
		keys[k] = bytes[k] + CRC_HEADROOM;
	}
}

static void check_slots(enum hash_family f, unsigned copies, size_t len,
			bool want_sum)
{
	static uint32_t slot[HASH_COPIES][MAX_KEYS], sum[MAX_KEYS];
	uint32_t *const out[HASH_COPIES] = {slot[0], slot[1], slot[2], slot[3]};
	int wrong = 0;

	memset(slot, 0, sizeof(slot));
	memset(sum, 0, sizeof(sum));
	hash_slots(f, copies, keys, len, MAX_KEYS, out, want_sum ? sum : NULL);
	for (size_t k = 0; k < MAX_KEYS; k++) {
		for (unsigned c = 0; c < copies; c++)
			wrong += slot[c][k] != hash_slot(f, c, keys[k], len);
		for (unsigned c = copies; c < HASH_COPIES; c++)
			wrong += slot[c][k] != 0;
		wrong += sum[k] !=
			 (want_sum ? hash_checksum(f, keys[k], len) : 0);
	}
	TEST(wrong == 0);
}

static void check_chunks(enum hash_family f, unsigned copies, unsigned hops,
			 size_t len)
{
	static uint32_t sums[HASH_COPIES + HASH_HOPS][MAX_KEYS];
	uint32_t *chunk[HASH_COPIES], *hop[HASH_HOPS];
	int wrong = 0;

	for (unsigned c = 0; c < HASH_COPIES; c++)
		chunk[c] = sums[c];
	for (unsigned i = 0; i < HASH_HOPS; i++)
		hop[i] = sums[HASH_COPIES + i];
	hash_chunks(f, copies, hops, keys, len, MAX_KEYS, chunk, hop);
	for (size_t k = 0; k < MAX_KEYS; k++) {
		for (unsigned c = 0; c < copies; c++)
			wrong += chunk[c][k] != hash_chunk(f, c, keys[k], len);
		for (unsigned i = 0; i < hops; i++)
			wrong += hop[i][k] != hash_hop(f, i, keys[k], len);
	}
	TEST(wrong == 0);
}

static void test_batches(void)
{
	static const size_t lens[] = {4, 8, 13, 17, 37, 41, 64};

	for (unsigned f = 0; f < HASH_FAMILIES; f++) {
		for (unsigned i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
			for (unsigned c = 1; c <= HASH_COPIES; c++) {
				check_slots(f, c, lens[i], true);
				check_slots(f, c, lens[i], false);
				check_chunks(f, c, 5, lens[i]);
			}
			check_slots(f, 0, lens[i], true);
			check_chunks(f, 1, HASH_HOPS, lens[i]);
			check_chunks(f, 2, 0, lens[i]);
			check_chunks(f, 0, 1, lens[i]);
		}
	}
}

static void insert(enum hash_family f, unsigned copies, size_t len,
		   struct rng *r, uint32_t who, uint32_t *table)
{
	uint8_t key[16];
	uint64_t a = rng_u64(r), b = rng_u64(r);

	memcpy(key, &a, 8);
	memcpy(key + 8, &b, 8);
	for (unsigned c = 0; c < copies; c++)
		table[hash_mod(hash_slot(f, c, key, len), SLOTS)] = who;
}

/*
 * Share of a sample's keys that have no copy left when a tenth as many keys as
 * there are slots came after them (after the sample's middle one, precisely).
 */
static double loss(enum hash_family f, unsigned copies, size_t len)
{
	uint32_t *table = calloc(SLOTS, sizeof(*table));
	bool *left = calloc(SAMPLE + 1, sizeof(*left));
	struct rng r = {.state = 7};
	unsigned lost = 0;

	if (!table || !left)
		abort();
	for (uint32_t i = 0; i < SAMPLE; i++)
		insert(f, copies, len, &r, 1 + i, table);
	for (uint32_t i = 0; i < SLOTS / 10 - SAMPLE / 2; i++)
		insert(f, copies, len, &r, 0, table);
	for (uint32_t i = 0; i < SLOTS; i++)
		left[table[i]] = true;
	for (uint32_t i = 1; i <= SAMPLE; i++)
		lost += !left[i];
	free(table);
	free(left);
	return (double)lost / SAMPLE;
}

/*
 * Theory: a copy survives alpha M later keys of N copies with exp(-alpha N); a
 * key is lost if none does, (1 - exp(-alpha N))^N for independent copies. In
 * dta0 the copies of one key lie at fixed distances (XOR) from each other, so
 * two keys share all their slots or none, all copies die together, and loss is
 * 1 - exp(-alpha N): more copies make it worse (the published DTA translator).
 * That is why dta1 has a polynomial for each copy.
 */
static void test_independence(void)
{
	for (unsigned n = 1; n <= 4; n++) {
		double dead = 1 - exp(-0.1 * n);

		/* Four standard deviations of a sample of 2^14 and more. */
		TEST(fabs(loss(HASH_DTA1, n, 13) - pow(dead, n)) < 0.010);
		if (n == 2 || n == 4)
			TEST(fabs(loss(HASH_DTA0, n, 4) - dead) < 0.020);
	}
	TEST(fabs(loss(HASH_DTA1, 2, 13) - 0.0329) < 0.006);
	TEST(fabs(loss(HASH_DTA1, 4, 13) - 0.0118) < 0.004);
	TEST(loss(HASH_DTA0, 2, 4) > 0.16);
	TEST(loss(HASH_DTA0, 4, 4) > 0.30);
}

/* The constants of the published DTA translator; dta1 has none. */
static void test_distances(struct rng *r)
{
	static const uint32_t at[4] = {0, 0x77073096, 0xee0e612c, 0x990951ba};
	uint32_t seen[4] = {0};
	int moved = 0;

	for (unsigned i = 0; i < 100; i++) {
		uint8_t key[4];

		be32(key, (uint32_t)rng_u64(r));
		for (unsigned c = 1; c < 4; c++) {
			uint32_t d = hash_slot(HASH_DTA1, c, key, 4) ^
				     hash_slot(HASH_DTA1, 0, key, 4);

			TEST((hash_slot(HASH_DTA0, c, key, 4) ^
			      hash_slot(HASH_DTA0, 0, key, 4)) == at[c]);
			moved += i > 0 && d != seen[c];
			seen[c] = d;
		}
	}
	TEST(moved == 99 * 3);
}

int main(void)
{
	struct rng r = {.state = 3};

	test_names();
	test_mod();
	test_mod_of(&r);
	test_dta0_slots();
	test_dta0_chunks();
	test_dta0_lengths(&r);
	test_dta1(&r);
	make_keys(&r);
	test_batches();
	test_independence();
	test_distances(&r);
	return test_end();
}
