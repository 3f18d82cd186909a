/* SPDX-License-Identifier: BSD-2-Clause */
/* The time of a live interface, when a clock is set or the host suspended. */
#include "label/clock.h"
#include "test.h"

#define MS UINT64_C(1000000) /* ns */

static const uint64_t hour = 3600000 * MS, wall = 5 * 3600000 * MS,
		      boot = 77 * MS;

/* ms after it began, by clocks that were set by set_ns; the host slept for
 * some. */
static struct label_times at(uint64_t ms, int64_t set_ns, uint64_t slept_ns)
{
	return (struct label_times){
		.wall_ns = wall + ms * MS + (uint64_t)set_ns,
		.boot_ns = boot + ms * MS,
		.awake_ns = boot + ms * MS - slept_ns,
	};
}

static void look(struct label_clock *c, struct label_times t, int64_t set_ns,
		 bool slept)
{
	struct label_clock_news news = label_clock_look(c, &t);

	TEST(news.set_ns == set_ns && news.slept == slept);
}

static uint64_t now(const struct label_clock *c, struct label_times t)
{
	return label_clock_now(c, &t);
}

static uint64_t packet(struct label_clock *c, uint64_t stamp_ns,
		       struct label_times t)
{
	return label_clock_packet(c, stamp_ns, &t);
}

/* Of an interface: the wall clock is set, by an hour back and by two ahead. */
static void test_clock(void)
{
	const int64_t back = -(int64_t)hour;
	struct label_clock c = {0};

	look(&c, at(0, 0, 0), 0, false);
	TEST(now(&c, at(20, 0, 0)) == wall + 20 * MS);
	TEST(packet(&c, wall + 90 * MS, at(100, 0, 0)) == wall + 90 * MS);
	TEST(now(&c, at(100, 0, 0)) == wall + 90 * MS);
	look(&c, at(200, 100 * MS, 0), 0, false);
	look(&c, at(200, back + 100 * MS, 0), back, false);
	TEST(now(&c, at(300, 0, 0)) == wall + 290 * MS - hour);
	/* stamped before that, and read after it */
	TEST(packet(&c, wall + 290 * MS, at(310, back, 0)) ==
	     wall + 310 * MS - hour);
	look(&c, at(310, back, 0), 0, false);
	look(&c, at(320, -back, 0), -2 * back, false);
	TEST(packet(&c, wall - hour, at(320, -back, 0)) ==
	     wall + 320 * MS + hour);
}

/* The host is suspended for an hour: no clock was set. */
static void test_sleep(void)
{
	const uint64_t ms = hour / MS;
	struct label_clock c = {0};

	look(&c, at(0, 0, 0), 0, false);
	look(&c, at(100, 0, 0), 0, false);
	look(&c, at(ms + 200, 0, hour), 0, true);
	TEST(now(&c, at(ms + 200, 0, hour)) == wall + hour + 200 * MS);
	look(&c, at(ms + 300, 0, hour), 0, false);
	/* and set meanwhile, too */
	look(&c, at(2 * ms + 300, 5000 * MS, 2 * hour), 5000 * MS, true);
	TEST(now(&c, at(2 * ms + 300, 0, 0)) == wall + 2 * hour + 5300 * MS);
}

int main(void)
{
	test_clock();
	test_sleep();
	return test_end();
}
