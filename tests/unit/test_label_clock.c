/* SPDX-License-Identifier: BSD-2-Clause */
/* The time of a live interface, when a clock is set. */
#include "label/clock.h"
#include "test.h"

#define MS UINT64_C(1000000) /* ns */

/* Of an interface: the wall clock is set, by an hour back and by two ahead. */
static void test_clock(void)
{
	const uint64_t hour = 3600000 * MS, wall = 5 * hour, mono = 77 * MS;
	struct label_clock c = {0};

	TEST(label_clock_look(&c, wall, mono) == 0);
	TEST(label_clock_now(&c, mono + 20 * MS) == wall + 20 * MS);
	TEST(label_clock_packet(&c, wall + 90 * MS, wall + 100 * MS,
				mono + 100 * MS) == wall + 90 * MS);
	TEST(label_clock_now(&c, mono + 100 * MS) == wall + 90 * MS);
	TEST(label_clock_look(&c, wall + 300 * MS, mono + 200 * MS) == 0);
	TEST(label_clock_look(&c, wall + 300 * MS - hour, mono + 200 * MS) ==
	     -(int64_t)hour);
	TEST(label_clock_now(&c, mono + 300 * MS) == wall + 290 * MS - hour);
	/* stamped before that, and read after it */
	TEST(label_clock_packet(&c, wall + 290 * MS, wall + 310 * MS - hour,
				mono + 210 * MS) == wall + 310 * MS - hour);
	TEST(label_clock_look(&c, wall + hour, mono + 300 * MS) >
	     (int64_t)(2 * hour - 1000 * MS));
	TEST(label_clock_packet(&c, wall - hour, wall + hour,
				mono + 300 * MS) == wall + hour);
}

int main(void)
{
	test_clock();
	return test_end();
}
