/* SPDX-License-Identifier: BSD-2-Clause */
/* The controller in virtual time: coverage, silence, Pro by algorithm 3, paths
 * of specific flows. */
#include "control_rig.h"

/* Ports 1 and 2 are known; in the second interval only one is covered. */
static void test_coverage(void)
{
	static const uint32_t both[] = {1, 2}, one[] = {1};
	struct label_control_options o;
	struct label_control *c;
	uint8_t garbage[20] = {0};

	label_control_defaults(&o);
	c = open_control(&o);
	label_control_tick(c, T0); /* nothing has come yet */
	TEST(label_control_due(c) == UINT64_MAX);
	label_control_frame(c, garbage, sizeof(garbage), T0);
	label_control_frame(c, garbage, 5, T0);
	feed(c, both, 2, T0 + 10 * MS, 1, false);
	feed(c, both, 2, T0 + 60 * MS, 2, false);
	feed(c, one, 1, T0 + 110 * MS, 4, false);
	label_control_tick(c, T0 + 300 * MS);
	label_control_end(c);
	TEST(n_sums == 3);
	TEST(sums[0].begin_ns == T0 && sums[0].end_ns == T0 + 100 * MS);
	TEST(sums[0].ports == 2 && sums[0].covered == 2);
	TEST(sums[0].packets == 2 && sums[0].labels == 4 && !sums[0].missing);
	TEST(sums[1].ports == 2 && sums[1].covered == 1);
	TEST(sums[1].labels == 1 && sums[1].missing == 1);
	TEST(sums[2].covered == 0 && sums[2].packets == 0);
	TEST(label_control_counters(c)->malformed == 1);
	TEST(label_control_counters(c)->plain == 1);
	done(c);
}

/* k * T is 100 ms: S goes up each 100 ms of silence, to its bound, and down
 * each 100 ms after. */
static void test_pro(void)
{
	static const uint32_t one[] = {1};
	struct label_control_options o;
	struct label_control *c;
	uint64_t now = T0;
	uint32_t number = 1;

	label_control_defaults(&o);
	o.s_max = 3;
	c = open_control(&o);
	feed(c, one, 1, now, number++, false);
	label_control_tick(c, now + 1000 * MS);
	TEST(n_decisions == 3 && decided[0] == 1 && decided[2] == 3);
	for (unsigned i = 0; i < 3; i++) { /* when it is due, and no later */
		uint64_t at = T0 + 100 * MS * (i + 1);

		TEST(decisions[i].now_ns == at);
		TEST(decisions[i].from == i);
	}
	TEST(n_silences == 1 && silences[0].silent);
	TEST(silences[0].since_ns == T0);
	TEST(sums[n_sums - 1].raised == 1 && sums[n_sums - 1].s_max == 3 &&
	     sums[n_sums - 1].silent == 1);
	number = 5; /* 2 to 4 were lost */
	for (now += 1010 * MS; now < T0 + 2000 * MS; now += 50 * MS)
		feed(c, one, 1, now, number++, false);
	TEST(n_silences == 2 && !silences[1].silent);
	TEST(silences[1].since_ns == T0);
	TEST(n_decisions == 6 && decided[3] == 2 && decided[5] == 0);
	TEST(decisions[3].lost == 3 && decisions[4].lost == 0);
	TEST(sums[n_sums - 1].raised == 0);
	TEST(label_control_counters(c)->raised == 3 &&
	     label_control_counters(c)->lowered == 3);
	done(c);
	o.pro = false;
	c = open_control(&o);
	feed(c, one, 1, T0, 1, false);
	label_control_tick(c, T0 + 1000 * MS);
	TEST(n_decisions == 0 && n_silences == 1);
	done(c);
}

/* Algorithm 3 asks for more than k * T: a label that comes just then is in
 * time; and of S that is above 0 when a port is heard again, at once. */
static void test_exact(void)
{
	static const uint32_t one[] = {1};
	struct label_control_options o;
	struct label_control *c;

	label_control_defaults(&o);
	c = open_control(&o);
	for (unsigned i = 0; i < 10; i++)
		feed(c, one, 1, T0 + i * 100 * MS, i + 1, false);
	TEST(n_decisions == 0 && n_silences == 0);
	label_control_tick(c, T0 + 1000 * MS);
	TEST(n_decisions == 0 && label_control_due(c) == T0 + 1000 * MS + 1);
	label_control_tick(c, T0 + 1000 * MS + 1);
	TEST(n_decisions == 1 && decisions[0].now_ns == T0 + 1000 * MS);
	TEST(n_silences == 1 && silences[0].now_ns == T0 + 1000 * MS);
	feed(c, one, 1, T0 + 1730 * MS, 20, false);
	TEST(n_decisions == 7 && decided[5] == 6 && decided[6] == 5);
	TEST(decisions[5].now_ns == T0 + 1500 * MS);
	TEST(decisions[6].now_ns == T0 + 1730 * MS);
	feed(c, one, 1, T0 + 1780 * MS, 21, false);
	label_control_tick(c, T0 + 1931 * MS);
	TEST(n_decisions == 9 && decided[7] == 4 && decided[8] == 5);
	TEST(decisions[7].now_ns == T0 + 1830 * MS);
	TEST(silences[2].silent && silences[2].now_ns == T0 + 1880 * MS);
	TEST(decisions[8].now_ns == T0 + 1930 * MS);
	done(c);
}

/* Ports that were heard of once go sooner than those that were real; and where
 * S was raised it is taken back. */
static void test_forget(void)
{
	static const uint32_t real[] = {7}, here[] = {1};
	const uint64_t minute = 60000 * MS;
	struct label_control_options o;
	struct label_control *c;

	label_control_defaults(&o);
	c = open_control(&o);
	for (uint32_t i = 100; i < 300; i++)
		feed(c, &i, 1, T0, 1, false);
	feed(c, real, 1, T0, 1, false);
	feed(c, real, 1, T0 + 50 * MS, 2, false);
	for (unsigned i = 0; i <= 10 * 60; i++) {
		TEST(n_forgotten == 0);
		feed(c, here, 1, T0 + i * 1000 * MS, i + 1, false);
	}
	label_control_tick(c, T0 + 11 * minute);
	TEST(n_forgotten == 200);
	TEST(label_db_ports(label_control_db(c)) == 2);
	TEST(label_db_counters(label_control_db(c))->forgotten == 200);
	TEST(label_control_counters(c)->forgotten == 200);
	for (uint32_t i = 0; i < 300; i++)
		TEST((label_db_find(label_control_db(c), i, 2) != NULL) ==
		     (i == 1 || i == 7));
	/* That it is silent, and since when, is known for longer. */
	TEST(label_db_find(label_control_db(c), 7, 2)->silent);
	TEST(label_db_find(label_control_db(c), 7, 2)->s == 6);
	TEST(label_db_find(label_control_db(c), 7, 2)->seen_ns == T0 + 50 * MS);
	feed(c, here, 1, T0 + 11 * minute + 2 * MS, 1000, false);
	n_decisions = 0;
	label_control_tick(c, T0 + 1441 * minute);
	TEST(n_forgotten == 201 && last_forgotten == 7);
	TEST(decisions[n_decisions - 1].reason == LABEL_FORGOTTEN);
	TEST(decided[n_decisions - 1] == 0);
	done(c);
}

/* Frames that are damaged make no ports. */
static void test_damaged(void)
{
	static const uint32_t one[] = {1};
	struct label_control_options o;
	struct label_control *c;
	uint8_t buf[1024];
	size_t len = frame(buf, sizeof(buf), one, 1, T0, 1, false);

	label_control_defaults(&o);
	c = open_control(&o);
	buf[NET_ETH_LEN + NET_IP4_AT_SRC] ^= 1;
	TEST(label_control_frame(c, buf, len, T0) == 0);
	TEST(label_control_counters(c)->checksum == 1);
	TEST(label_db_ports(label_control_db(c)) == 0);
	done(c);
}

static void test_paths(void)
{
	static const uint32_t way[] = {11, 12, 13};
	struct label_control_options o;
	struct label_control *c;
	unsigned found = 0;

	label_control_defaults(&o);
	c = open_control(&o);
	feed(c, way, 3, T0, 1, false);
	TEST(n_paths == 0);
	feed(c, way, 3, T0 + 10 * MS, 2, true);
	feed(c, way, 2, T0 + 20 * MS, 3, true);
	TEST(n_paths == 2 && last_path.n == 2 && last_path.packets == 2);
	TEST(last_path.hop[0].device == 11 && last_path.hop[1].device == 12);
	TEST(last_path.latency_ns == 30 && !last_path.truncated);
	TEST(last_path.key_len == KEY_FLOW4_LEN);
	TEST(!memcmp(last_path.key,
		     "\x0a\0\0\x01\x0a\0\0\x02\x01\xbb\x15\x7d\x06",
		     KEY_FLOW4_LEN));
	for (uint32_t i = 0; i < label_control_path_slots(c); i++)
		found += label_control_path(c, i) != NULL;
	TEST(found == 1);
	/* its labels count for the network, too */
	TEST(label_db_find(label_control_db(c), 12, 2)->labels == 3);
	done(c);
}

int main(void)
{
	test_coverage();
	test_pro();
	test_exact();
	test_forget();
	test_damaged();
	test_paths();
	return test_end();
}
