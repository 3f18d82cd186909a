/* SPDX-License-Identifier: BSD-2-Clause */
/* The controller and its clock: gaps, times that are false, clocks that were
 * set, a host that slept. */
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

/* Frames' times that are far ahead, one or two in a row, are not believed:
 * those of their labels are not. */
static void test_leap(void)
{
	static const uint32_t both[] = {1, 2};
	const uint64_t year = 31536000000 * MS;
	struct label_control_options o;
	struct label_control *c;
	uint64_t now = T0;
	uint32_t number = 1;

	label_control_defaults(&o);
	c = open_control(&o);
	for (unsigned wrong = 0; wrong < 3; wrong++) {
		feed(c, both, 2, now, number++, false);
		for (unsigned i = 0; i < wrong; i++)
			feed_at(c, both, 2, now + (i + 1) * MS,
				now + year + i * MS, number++, false);
		TEST(label_control_now(c) == now);
		now += 90 * MS;
	}
	feed(c, both, 2, now, number++, false);
	TEST(label_control_now(c) == now);
	TEST(label_control_counters(c)->leaps == 3);
	for (unsigned i = 0; i < 2; i++) /* and at the end */
		feed_at(c, both, 2, now + (i + 1) * MS, now + year, number++,
			false);
	label_control_end(c);
	TEST(label_control_now(c) == now);
	TEST(label_control_counters(c)->leaps == 5);
	TEST(label_control_counters(c)->labelled == number - 1);
	TEST(label_db_counters(label_control_db(c))->updated ==
	     2 * (number - 2));
	TEST(n_sums == 3 && n_decisions == 0 && n_silences == 0);
	done(c);
}

/* So long was nothing heard: three frames that are not before each other say
 * so, however far they are apart, the first two being taken as if they came
 * before that; or one, if its labels do. */
static void test_long_gap(void)
{
	static const uint32_t both[] = {1, 2};
	const uint64_t minute = 60000 * MS;
	struct label_control_options o;
	struct label_control *c;

	label_control_defaults(&o);
	for (unsigned step = 1; step <= 30; step += 29) { /* seconds */
		c = open_control(&o);
		feed(c, both, 2, T0, 1, false);
		for (unsigned i = 0; i < 3; i++) {
			TEST(label_control_now(c) == T0);
			feed_at(c, both, 2, T0 + i + 1,
				T0 + minute + i * step * 1000 * MS, i + 2,
				false);
		}
		TEST(label_control_now(c) == T0 + minute + 2000 * step * MS);
		TEST(n_silences >= 4 && !silences[3].silent);
		TEST(silences[3].now_ns == label_control_now(c));
		TEST(label_control_counters(c)->leaps == 3);
		label_control_end(c);
		done(c);
	}
	c = open_control(&o);
	feed(c, both, 2, T0, 1, false);
	feed(c, both, 2, T0 + minute, 2, false);
	TEST(label_control_now(c) == T0 + minute);
	/* A wrong one behind does not undo it. */
	feed_at(c, both, 2, T0 + 2 * minute, T0 + 9 * minute, 3, false);
	feed(c, both, 2, T0 + 2 * minute, 4, false);
	TEST(label_control_now(c) == T0 + 2 * minute);
	TEST(label_control_counters(c)->leaps == 1);
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

/* A clock that was set back by an hour: time goes on from there. */
static void test_set_back(void)
{
	static const uint32_t one[] = {1}, other[] = {2};
	const uint64_t hour = 3600000 * MS, back = T0 + 50 * MS;
	struct label_control_options o;
	struct label_control *c;
	unsigned n;

	label_control_defaults(&o);
	c = open_control(&o);
	feed(c, one, 1, T0 + hour, 1, false);
	feed(c, other, 1, T0 + hour, 1, false);
	feed(c, one, 1, T0 + 10 * MS, 2, false); /* one alone is an error */
	TEST(label_control_now(c) == T0 + hour);
	feed(c, one, 1, T0 + hour + 40 * MS, 3, false);
	for (unsigned i = 0; i < 3; i++)
		feed(c, one, 1, back + i * MS, i + 4, false);
	TEST(label_control_now(c) == back + 2 * MS);
	TEST(label_control_counters(c)->set == 1);
	TEST(label_control_counters(c)->leaps == 4);
	TEST(n_sums == 1 && sums[0].observed_ns == 40 * MS);
	/* Device 2 is listened for from then on. */
	label_control_tick(c, back + 110 * MS);
	TEST(n_silences == 2);
	TEST(silences[0].since_ns == back + 2 * MS);
	TEST(silences[0].now_ns == back + 102 * MS);
	n = n_sums;
	feed(c, one, 1, back + 1000 * MS, 9, false);
	TEST(n_sums == n + 9);
	/* It is told: the same, either way. */
	label_control_anew(c, back + hour + 1000 * MS);
	TEST(label_control_now(c) == back + hour + 1000 * MS);
	TEST(label_control_counters(c)->set == 2);
	feed(c, one, 1, back + hour + 1010 * MS, 10, false);
	TEST(label_control_counters(c)->leaps == 4);
	done(c);
}

/* Nobody listened for an hour: nobody is silent for that, nor forgotten; what
 * was waited for is waited for from then on. */
static void test_woke(void)
{
	static const uint32_t one[] = {1}, other[] = {2};
	const uint64_t woken = T0 + 3600000 * MS + 30 * MS;
	struct label_control_options o;
	struct label_control *c;

	label_control_defaults(&o);
	c = open_control(&o);
	label_control_anew(c, T0);
	feed(c, other, 1, T0 + 10 * MS, 1, false);
	for (unsigned i = 0; i < 13; i++)
		feed(c, one, 1, T0 + i * 10 * MS + 10 * MS, i + 1, false);
	TEST(n_sums == 1 && n_silences == 1 && n_decisions == 1);
	label_control_anew(c, woken);
	TEST(label_control_now(c) == woken);
	TEST(n_sums == 2 && sums[1].observed_ns == 30 * MS);
	TEST(label_control_counters(c)->set == 1);
	label_control_tick(c, woken + 100 * MS);
	TEST(n_silences == 1 && n_decisions == 1);
	TEST(n_sums == 3 && sums[2].observed_ns == 70 * MS);
	TEST(sums[2].skipped == 35998 && sums[2].ports == 2);
	/* Its clock and ours went on as far. */
	feed(c, one, 1, woken + 100 * MS, 14, false);
	TEST(label_db_find(label_control_db(c), 1, 2)->labels == 14);
	label_control_tick(c, woken + 100 * MS + 1);
	TEST(n_decisions == 2 && decided[1] == 2);
	TEST(decisions[1].now_ns == woken + 100 * MS);
	TEST(n_silences == 1);
	label_control_tick(c, woken + 200 * MS + 1);
	TEST(n_silences == 2 && silences[1].now_ns == woken + 200 * MS);
	TEST(label_control_counters(c)->forgotten == 0);
	done(c);
}

int main(void)
{
	test_gap();
	test_leap();
	test_long_gap();
	test_zero();
	test_set_back();
	test_woke();
	return test_end();
}
