/* SPDX-License-Identifier: BSD-2-Clause */
/* Where groups of postcards lie, whatever rows their senders choose. */
#include <stdlib.h>

#include "gather/groups.h"
#include "test.h"

enum {
	NEAR = 1024,   /* rows side by side, where slots are rows modulo */
	RUN_MAX = 128, /* that many slots in a row are looked at, at most */
};

static unsigned longest_run(const struct groups *gs)
{
	unsigned longest = 0, run = 0;

	for (unsigned i = 0; i < 2 * GROUPS_SLOTS; i++) {
		run = gs->slot[i % GROUPS_SLOTS] ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest;
}

static void test_chosen_rows(void)
{
	struct groups *gs = groups_new();
	const struct postcard p = {.path_len = 5};

	if (!TEST(gs != NULL))
		return;
	gs->salt = 0x9e3779b97f4a7c15; /* 2^64 over the golden ratio */
	for (uint32_t i = 0; i < GROUPS_MAX; i++) {
		uint32_t row = i % NEAR + i / NEAR * GROUPS_SLOTS;
		uint16_t *slot = groups_slot(gs, row);

		TEST(!*slot);
		group_begin(gs, row, &p, 5);
		*slot = (uint16_t)gs->n;
		TEST(groups_slot(gs, row) == slot);
	}
	TEST(longest_run(gs) <= RUN_MAX);
	free(gs);
}

/* Who sends must not know it. */
static void test_salt(void)
{
	struct groups *a = groups_new(), *b = groups_new();

	if (TEST(a && b))
		TEST(a->salt != b->salt && a->salt & b->salt & 1);
	free(a);
	free(b);
}

int main(void)
{
	test_chosen_rows();
	test_salt();
	return test_end();
}
