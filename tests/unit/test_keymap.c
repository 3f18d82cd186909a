/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys with a record each: found again, in their order, however many come. */
#include <stdbool.h>
#include <string.h>

#include "hash/crc.h"
#include "query/truth.h"
#include "test.h"
#include "net/be.h"

enum {
	KEY = 5,
	MANY = 300000,
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
static bool take(struct keymap *m, uint32_t number)
{
	uint8_t key[KEY];
	struct record *r;
	size_t n = m->n;

	put_number(key, number);
	r = keymap_get(m, key);
	if (!r || (m->n > n && (r->number || r->times)))
		return false;
	if (m->n > n)
		r->number = number;
	r->times++;
	return r->number == number;
}

/* Each key again at once, and all of them again at the end. */
static void test_many(void)
{
	struct keymap m;
	unsigned bad = 0;

	keymap_init(&m, KEY, sizeof(struct record));
	for (uint32_t i = 0; i < MANY; i++) {
		bad += !take(&m, i);
		bad += !take(&m, i / 2);
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

int main(void)
{
	test_many();
	return test_end();
}
