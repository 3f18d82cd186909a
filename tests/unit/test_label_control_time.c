/* SPDX-License-Identifier: BSD-2-Clause */
/* The controller and its clock: gaps, time that goes back. */
#include "control_rig.h"

/* So long a time without anything is not told interval by interval, and that is
 * told; Pro's steps and silence are. */
static void test_gap(void)
{
	static const uint32_t one[] = {1};
	const uint64_t hour = 3600000 * MS;
	struct label_control_options o;
	struct label_control *c;

	label_control_defaults(&o);
	c = open_control(&o);
	feed(c, one, 1, T0 + 30 * MS, 1, false);
	feed(c, one, 1, T0 + 60 * MS, 2, false);
	label_control_tick(c, T0 + hour + 150 * MS);
	TEST(n_sums == 1 && sums[0].observed_ns == 70 * MS);
	TEST(!sums[0].skipped && label_control_counters(c)->skipped == 36000);
	TEST(n_decisions == 6 && decisions[5].now_ns == T0 + 660 * MS);
	feed(c, one, 1, T0 + hour + 160 * MS, 3, false);
	label_control_end(c);
	TEST(n_sums == 2 && sums[1].observed_ns == 60 * MS);
	TEST(sums[1].end_ns == T0 + hour + 200 * MS);
	TEST(sums[1].skipped == 36000 && sums[1].covered == 1);
	done(c);
}

/* Time may begin with 0. */
static void test_zero(void)
{
	static const uint32_t one[] = {1};
	struct label_control_options o;
	struct label_control *c;

	label_control_defaults(&o);
	c = open_control(&o);
	feed_at(c, one, 1, MS, 0, 1, false);
	feed_at(c, one, 1, 2 * MS, 60000 * MS, 2, false);
	feed_at(c, one, 1, 3 * MS, 0, 3, false);
	TEST(label_control_counters(c)->frames == 3);
	TEST(label_db_find(label_control_db(c), 1, 2)->labels == 3);
	label_control_end(c);
	done(c);
}

/* A frame of an earlier time is taken as of the newest. */
static void test_back(void)
{
	static const uint32_t one[] = {1};
	struct label_control_options o;
	struct label_control *c;

	label_control_defaults(&o);
	c = open_control(&o);
	feed(c, one, 1, T0 + 10 * MS, 1, false);
	feed_at(c, one, 1, T0 + 20 * MS, T0 - 500 * MS, 2, false);
	TEST(label_control_now(c) == T0 + 10 * MS);
	TEST(label_db_find(label_control_db(c), 1, 2)->labels == 2);
	done(c);
}

int main(void)
{
	test_gap();
	test_zero();
	test_back();
	return test_end();
}
