/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys with a record each: found again, in their order, however many come. */
#include <stdbool.h>
#include <string.h>

#include "query/keymap.h"
#include "test.h"
#include "wire/be.h"

enum {
	KEY = 5,
	MANY = 300000,
	ALIKE = 3000,
};

struct record {
	uint64_t number, times;
};

static void put_number(uint8_t key[KEY], uint32_t number)
{
	key[0] = 'k';
	be32_store(key + 1, number);
}

static bool is_number(const struct keymap *m, size_t i, uint32_t number)
{
	const struct record *r = keymap_record(m, i);
	uint8_t key[KEY];

	put_number(key, number);
	return !memcmp(keymap_key(m, i), key, KEY) && r->number == number;
}

/* Counts it; false: no record, or another's. */
static bool take(struct keymap *m, uint32_t number, uint32_t hash)
{
	uint8_t key[KEY];
	struct record *r;
	size_t n = m->n;

	put_number(key, number);
	r = keymap_put(m, key, hash);
	if (!r || (m->n > n && (r->number || r->times)))
		return false;
	if (m->n > n)
		r->number = number;
	r->times++;
	return r->number == number;
}

static uint32_t hash_of(uint32_t number)
{
	uint8_t key[KEY];

	put_number(key, number);
	return keymap_hash(key, KEY);
}

/* Each key again at once, and all of them again at the end. */
static void test_many(void)
{
	struct keymap m;
	unsigned bad = 0;

	keymap_init(&m, KEY, sizeof(struct record), 1);
	keymap_near(&m, 1);
	keymap_expect(&m, 1);
	for (uint32_t i = 0; i < MANY; i++) {
		bad += !take(&m, i, hash_of(i));
		bad += !take(&m, i / 2, hash_of(i / 2));
		keymap_near(&m, hash_of(i + 1));
		keymap_expect(&m, hash_of(i + 1));
	}
	TEST(!bad && m.n == MANY);
	for (uint32_t i = 0; i < MANY; i++) {
		const struct record *r = keymap_record(&m, i);

		bad += !is_number(&m, i, i);
		bad += r->times != (i < MANY / 2 ? 3 : 1);
	}
	TEST(!bad);
	/* A CRC of many keys reads so far before the first. */
	TEST(keymap_key(&m, 0)[-CRC_HEADROOM] == 0);
	keymap_fini(&m);
}

/* Some of the hashes alone, as the shards of a truth have them. */
static void test_ranges(void)
{
	for (uint32_t ranges = 2; ranges <= 32; ranges += 3) {
		struct keymap m;
		unsigned bad = 0, n = 0;

		keymap_init(&m, KEY, sizeof(struct record), ranges);
		for (uint32_t i = 0; i < MANY; i++) {
			uint64_t range = (uint64_t)hash_of(i) * ranges >> 32;

			if (range != ranges - 1)
				continue;
			n++;
			bad += !take(&m, i, hash_of(i));
			bad += !take(&m, i, hash_of(i));
		}
		TEST(!bad && m.n == n && n > MANY / 64);
		keymap_fini(&m);
	}
}

/* Somebody may choose keys of one hash, or of hashes that differ in little. */
static void test_alike(void)
{
	static const uint32_t step[] = {0, 1, 1u << 24, 1u << 31};

	for (unsigned s = 0; s < sizeof(step) / sizeof(step[0]); s++) {
		struct keymap m;
		unsigned bad = 0;

		keymap_init(&m, KEY, sizeof(struct record), 1);
		for (unsigned again = 0; again < 2; again++)
			for (uint32_t i = 0; i < ALIKE; i++)
				bad += !take(&m, i, 7 + i * step[s]);
		TEST(m.n == ALIKE);
		for (uint32_t i = 0; i < ALIKE; i++)
			bad += !is_number(&m, i, i);
		TEST(!bad);
		keymap_fini(&m);
	}
}

int main(void)
{
	test_many();
	test_ranges();
	test_alike();
	return test_end();
}
