/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets that are held: each by its owner and number, no more than there is
 * room for. */
#include <errno.h>
#include <string.h>

#include "reporters/hold.h"
#include "test.h"

enum {
	NOW = 77,
};

static uint8_t frame[HOLD_FRAME_MAX + 1];

/* A frame that tells who it is of. */
static bool put(struct hold *h, uint16_t owner, uint16_t number, uint32_t len)
{
	struct pkt p = {.data = frame, .len = len, .wire_len = len + 4};

	memcpy(frame, &owner, sizeof(owner));
	memcpy(frame + 2, &number, sizeof(number));
	frame[len - 1] = 'e';
	return hold_put(h, owner, number, &p);
}

/* The row from a number on is so long, and of those packets. */
static bool row_is(struct hold *h, uint16_t owner, uint16_t number, unsigned n)
{
	struct pkt pkts[8];
	bool right = hold_row(h, owner, number, pkts, 8, NOW) == n;

	for (unsigned i = 0; right && i < n; i++, number++)
		right = !memcmp(pkts[i].data, &owner, sizeof(owner)) &&
			!memcmp(pkts[i].data + 2, &number, sizeof(number)) &&
			pkts[i].data[pkts[i].len - 1] == 'e' &&
			pkts[i].wire_len == pkts[i].len + 4 &&
			pkts[i].ts_ns == NOW;
	return right;
}

static void rows(void)
{
	struct hold *h = NULL;

	TEST(hold_open(&h, 8, NULL) == 0);
	TEST(!hold_has(h, 0, 0) && hold_count(h, 0) == 0 && row_is(h, 0, 0, 0));
	/* across the end of numbers; beside another owner's */
	TEST(put(h, 5, 65535, 60) && put(h, 5, 1, 100) && put(h, 5, 0, 61));
	TEST(put(h, 65535, 0, HOLD_FRAME_MAX) && put(h, 5, 3, 60));
	TEST(row_is(h, 5, 65535, 3) && row_is(h, 5, 0, 2) &&
	     row_is(h, 5, 2, 0));
	TEST(row_is(h, 5, 3, 1) && row_is(h, 65535, 0, 1));
	TEST(hold_count(h, 5) == 4 && hold_has(h, 5, 1) && !hold_has(h, 6, 1));
	hold_release(h, 5, 65535, 2);
	TEST(row_is(h, 5, 65535, 0) && row_is(h, 5, 1, 1));
	TEST(hold_count(h, 5) == 2 && hold_count(h, 65535) == 1);
	TEST(hold_drop(h, 5) == 2 && hold_drop(h, 5) == 0);
	TEST(!hold_has(h, 5, 3) && row_is(h, 65535, 0, 1));
	TEST(put(h, 5, 3, 70) && row_is(h, 5, 3, 1));
	hold_close(h);
}

/* What is let go makes room, in any order. */
static void bounded(void)
{
	struct hold *h = NULL;
	uint16_t held = 0;

	TEST(hold_open(&h, 0, NULL) == -EINVAL);
	TEST(hold_open(&h, HOLD_MAX + 1, NULL) == -EINVAL);
	TEST(hold_open(&h, 100, NULL) == 0);
	TEST(!put(h, 1, 1, HOLD_FRAME_MAX + 1));
	for (unsigned round = 0; round < 5; round++) {
		while (put(h, (uint16_t)(held % 3), held, 60))
			held++;
		TEST(held == 100);
		for (uint16_t i = 0; i < 100; i = (uint16_t)(i + 1 + round))
			hold_release(h, i % 3, i, 1), held--;
		TEST(hold_drop(h, 0) + hold_drop(h, 1) + hold_drop(h, 2) ==
		     held);
		held = 0;
	}
	hold_close(h);
}

/* Numbers in a row all find room, whoever's; those that are chosen to fall
 * together do not make a chain of them all. */
static void chains(void)
{
	struct hold *h = NULL;
	unsigned n = 0;

	TEST(hold_open(&h, 16384, NULL) == 0);
	for (unsigned i = 0; i < 16384; i++)
		n += put(h, (uint16_t)(i / 4096 * 17), (uint16_t)(i + 60000),
			 60);
	TEST(n == 16384);
	hold_close(h);
	TEST(hold_open(&h, 16384, NULL) == 0);
	n = 0;
	for (uint32_t key = 0; key < 1u << 24; key++)
		if (key * UINT32_C(0x9e3779b1) >> 18 == 0)
			n += put(h, (uint16_t)(key >> 16), (uint16_t)key, 60);
	TEST(n == 16);
	hold_close(h);
}

/* What comes again is taken in the place of what came. */
static void later_one(void)
{
	struct hold *h = NULL;
	struct pkt one;

	TEST(hold_open(&h, 2, NULL) == 0);
	TEST(put(h, 1, 7, 60) && put(h, 1, 8, 60) && put(h, 1, 7, 500));
	TEST(hold_count(h, 1) == 2 && row_is(h, 1, 7, 2));
	TEST(hold_row(h, 1, 7, &one, 1, NOW) == 1 && one.len == 500);
	TEST(!put(h, 1, 7, HOLD_FRAME_MAX + 1) && row_is(h, 1, 7, 2));
	hold_close(h);
}

static void missing(void)
{
	struct hold *h = NULL;

	TEST(hold_open(&h, 2, NULL) == 0);
	TEST(put(h, 1, 7, 60) && put(h, 1, 8, 60));
	TEST(hold_missing(h, 1, 0, 100) == 7 && hold_missing(h, 1, 0, 3) == 3);
	TEST(hold_missing(h, 1, 65530, 100) == 13);
	TEST(hold_missing(h, 1, 8, 1) == 0 && hold_missing(h, 1, 9, 99) == 99);
	TEST(hold_missing(h, 2, 7, 99) == 99);
	hold_close(h);
}

/* Full, it tells who has put nothing while others tried as often as there are
 * places, the one of longest ago first. */
static void silent(void)
{
	struct hold *h = NULL;
	uint16_t who = 9;
	unsigned i;

	TEST(hold_open(&h, 100, NULL) == 0);
	for (i = 0; i < 99; i++)
		TEST(put(h, (uint16_t)(i % 3), (uint16_t)i, 60));
	for (i = 0; i < 200; i++)
		TEST(!put(h, 5, 5, HOLD_FRAME_MAX + 1));
	TEST(!hold_silent(h, &who)); /* there is room */
	TEST(put(h, 2, 1000, 60));
	for (i = 0; i < 200; i++) {
		TEST(!put(h, 0, 2000, 60)); /* lives */
		TEST(hold_silent(h, &who) && who == 1);
	}
	TEST(hold_drop(h, 1) == 33 && !hold_silent(h, &who));
	for (i = 0; i < 33; i++)
		TEST(put(h, 4, (uint16_t)i, 60));
	TEST(hold_silent(h, &who) && who == 2);
	TEST(hold_drop(h, 2) == 34);
	for (i = 0; i < 34; i++)
		TEST(put(h, 3, (uint16_t)i, 60));
	TEST(!hold_silent(h, &who)); /* nobody for so long */
	hold_close(h);
}

int main(void)
{
	rows();
	later_one();
	missing();
	silent();
	bounded();
	chains();
	return test_end();
}
