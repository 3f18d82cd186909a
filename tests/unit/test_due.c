/* SPDX-License-Identifier: BSD-2-Clause */
/* Who is due next, against a plain list. */
#include "base/rng.h"
#include "base/due.h"
#include "test.h"

enum {
	WHOS = 200,
};

static struct dues q;
static uint64_t want[WHOS]; /* DUE_NEVER: does not wait */

static struct due first_wanted(void)
{
	struct due d = {.ns = DUE_NEVER};

	for (uint32_t i = 0; i < WHOS; i++)
		if (want[i] < d.ns)
			d = (struct due){want[i], i};
	return d;
}

static void check(void)
{
	struct due is = dues_first(&q), should = first_wanted();

	TEST(is.ns == should.ns && is.who == should.who);
}

/* The one with the highest number that waits takes the place of another. */
static void move(uint32_t who)
{
	uint32_t last = WHOS - 1;

	want[who] = want[last];
	want[last] = DUE_NEVER;
	dues_move(&q, last, who);
	TEST(dues_of(&q, who) == want[who]);
	TEST(dues_of(&q, last) == DUE_NEVER);
}

int main(void)
{
	struct rng r = {.state = 1};

	for (uint32_t i = 0; i < WHOS; i++)
		want[i] = DUE_NEVER;
	check();
	for (unsigned turn = 0; turn < 20000; turn++) {
		uint32_t who = (uint32_t)rng_below(&r, WHOS);
		uint64_t ns = rng_below(&r, 4) ? rng_below(&r, 1000)
					       : DUE_NEVER;

		if (turn % 97 == 0 && who != WHOS - 1) {
			move(who);
		} else {
			want[who] = ns;
			TEST(dues_set(&q, who, ns) == 0);
			TEST(dues_of(&q, who) == ns);
		}
		check();
	}
	for (check(); dues_first(&q).ns != DUE_NEVER; check()) {
		uint32_t who = dues_first(&q).who;

		want[who] = DUE_NEVER;
		dues_set(&q, who, DUE_NEVER);
	}
	dues_fini(&q);
	return test_end();
}
