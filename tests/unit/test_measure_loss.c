/* SPDX-License-Identifier: BSD-2-Clause */
/* Gaps in numbers of reports, against a set of all numbers. */
#include "telemetry/flows.h"

#include <string.h>

#include "base/rng.h"
#include "test.h"

enum {
	NUMBERS = 20000,
};

static struct reporter_state *fresh(struct losses *l, uint8_t bits)
{
	TEST(!losses_init(l, 4));
	return losses_get(l, 7, 1, bits);
}

static uint64_t late, repeated, restarts; /* that give() was told */

/* Gives numbers; returns the lost ones that are told. */
static uint64_t give(struct reporter_state *r, const uint32_t *n,
		     unsigned count)
{
	uint64_t lost = 0;

	late = repeated = restarts = 0;
	for (unsigned i = 0; i < count; i++) {
		struct loss_change news = loss_add_number(r, n[i], i);

		lost += news.lost;
		late += news.late;
		repeated += news.repeated;
		restarts += news.restart;
	}
	return lost;
}

static uint64_t settle(struct reporter_state *r)
{
	return loss_settle(r).lost;
}

/*
 * Numbers from first on, some left out, the others moved by less than the
 * window, some twice: what is told lost is what was left out.
 */
static void check_random(uint8_t bits, uint32_t first, uint64_t seed)
{
	static uint32_t sent[2 * NUMBERS];
	static bool there[NUMBERS];
	uint32_t mask = bits == 32 ? UINT32_MAX : (1U << bits) - 1;
	unsigned n = 0, missing = 0, twice = 0;
	struct rng r = {seed};
	struct losses l;
	struct reporter_state *who = fresh(&l, bits);
	uint64_t told;

	for (uint32_t i = 0; i < NUMBERS; i++) {
		there[i] = i == 0 || i == NUMBERS - 1 || rng_below(&r, 20);
		if (!rng_below(&r, 300)) /* a long gap */
			for (uint32_t k = rng_below(&r, 900) & 511; k; k--)
				if (i + 1 < NUMBERS - 1)
					there[++i] = false;
	}
	for (uint32_t i = 0; i < NUMBERS; i++) {
		if (!there[i])
			missing++;
		else
			sent[n++] = (first + i) & mask;
		if (there[i] && !rng_below(&r, 50)) {
			sent[n++] = (first + i) & mask;
			twice++;
		}
	}
	/* Swaps of neighbours, each number moved once at most. */
	for (unsigned i = 1; i + 100 < n; i += 100) {
		unsigned a = i + (unsigned)rng_below(&r, 50);
		unsigned b = i + 50 + (unsigned)rng_below(&r, 49);
		uint32_t t = sent[a];

		if (((sent[b] - sent[a]) & mask) >= LOSS_WINDOW - 100)
			continue;
		sent[a] = sent[b];
		sent[b] = t;
	}
	told = give(who, sent, n);
	told += settle(who);
	TEST(told == missing);
	TEST(repeated == twice);
	TEST(restarts == 0);
	TEST(settle(who) == 0);
	area_fini(&l.table.area);
}

static void test_random(void)
{
	for (uint64_t seed = 1; seed <= 10; seed++) {
		check_random(32, 5, seed);
		check_random(32, UINT32_MAX - 3000, seed);
		check_random(22, (1U << 22) - 3000, seed);
	}
}

static void test_gap(void)
{
	static const uint32_t n[] = {10, 11, 15, 16};
	struct loss_change news;
	struct losses l;
	struct reporter_state *r = fresh(&l, 32);

	TEST(give(r, n, 4) == 0); /* they may still come */
	TEST(loss_add_number(r, 13, 5).late);
	news = loss_settle(r);
	TEST(news.lost == 2 && news.from == 12);
	/* More than a window at once. */
	TEST(loss_add_number(r, 17, 6).lost == 0);
	news = loss_add_number(r, 17 + 1000, 7);
	TEST(news.lost == 0); /* it is not at its end */
	news = loss_settle(r);
	TEST(news.lost == 999 && news.from == 18);
	area_fini(&l.table.area);
}

/* How late is late, and how far is far: flows.h. */
static void test_window(void)
{
	static const uint32_t n[] = {
		1000,
		1000 + LOSS_WINDOW,
		1001, /* LOSS_WINDOW - 1 behind */
		1002 + LOSS_WINDOW,
		1002, /* LOSS_WINDOW behind */
		1001 + LOSS_WINDOW,
		5000000,
		5000002, /* not the very next */
		1002 + LOSS_WINDOW + LOSS_AHEAD,
	};
	struct losses l;
	struct reporter_state *r = fresh(&l, 32);

	TEST(give(r, n, 4) == 0 && late == 1 && repeated == 0);
	TEST(give(r, n + 4, 4) == 0 && late == 1 && restarts == 0);
	give(r, n + 8, 1);
	TEST(restarts == 0 && r->last == n[8]);
	area_fini(&l.table.area);
}

/* Gaps of more than 65536, over the end of numbers, too; all are lost. */
static void check_far(uint8_t bits, uint32_t last, uint32_t gap)
{
	struct losses l;
	struct reporter_state *r = fresh(&l, bits);
	uint32_t mask = UINT32_MAX >> (32 - bits);
	struct loss_change news;

	TEST(loss_add_number(r, last, 1).lost == 0);
	TEST(loss_add_number(r, (last + gap + 1) & mask, 2).lost == 0);
	news = loss_add_number(r, (last + gap + 2) & mask, 3);
	TEST(!news.restart);
	TEST(news.lost + settle(r) == gap);
	TEST(loss_next(r, r->last + 1));
	area_fini(&l.table.area);
}

static void test_far(void)
{
	check_far(32, 10, 65535);
	check_far(32, 10, 70000);
	check_far(32, UINT32_MAX - 5, 1U << 30);
	check_far(22, 10, 70000);
	check_far(22, (1U << 22) - 5, 2000000);
}

/* One gap is told once, when what is behind it leaves the window. */
static void test_told_once(void)
{
	struct losses l;
	struct reporter_state *r = fresh(&l, 22);
	unsigned told = 0;

	for (uint32_t i = 0; i < 2000; i++) {
		struct loss_change news;

		if (i >= 100 && i < 150)
			continue;
		news = loss_add_number(r, i, i);
		if (!news.lost)
			continue;
		told++;
		TEST(news.lost == 50 && news.from == 100);
		TEST(i == 150 + LOSS_WINDOW);
	}
	TEST(told == 1);
	area_fini(&l.table.area);
}

static void test_restart(void)
{
	static const uint32_t n[] = {1000000, 1000001, 1000003, 5, 6, 7};
	struct loss_change news;
	struct losses l;
	struct reporter_state *r = fresh(&l, 32);

	TEST(give(r, n, 4) == 0 && restarts == 0);
	news = loss_add_number(r, 6, 9);
	TEST(news.restart && news.lost == 1 && news.from == 1000002);
	TEST(loss_add_number(r, 7, 10).lost == 0);
	TEST(settle(r) == 0);
	/* A single number that is far off is none. */
	TEST(!loss_add_number(r, 1U << 30, 11).restart);
	TEST(!loss_add_number(r, 8, 12).restart);
	TEST(r->last == 8 && settle(r) == 0);
	area_fini(&l.table.area);
}

/* Two that have one name number in turns: anew again and again, but what is
 * between their numbers was never sent. */
static void test_two_of_a_name(void)
{
	struct losses l;
	struct reporter_state *r = fresh(&l, 32);
	uint32_t n[200];

	for (unsigned i = 0; i < 100; i++) {
		n[2 * i] = 1000 + i;
		n[2 * i + 1] = (1U << 30) + i;
	}
	TEST(give(r, n, 200) == 0 && settle(r) == 0 && restarts > 0);
	area_fini(&l.table.area);
}

static void test_reporters(void)
{
	struct reporter_state *a, *b, *c;
	struct losses l;

	TEST(!losses_init(&l, 3));
	a = losses_get(&l, 1, 0, 32);
	b = losses_get(&l, 1, 1, 32);
	c = losses_get(&l, 3, 0, 32);
	TEST(a && b && c && a != b && a != c && b != c);
	TEST(losses_get(&l, 1, 0, 32) == a);
	TEST(!losses_get(&l, 2, 0, 32) && l.table.no_room == 1);
	TEST(losses_get(&l, 3, 0, 32) == c);
	area_fini(&l.table.area);
}

int main(void)
{
	test_random();
	test_gap();
	test_window();
	test_far();
	test_told_once();
	test_restart();
	test_two_of_a_name();
	test_reporters();
	return test_end();
}
