/* SPDX-License-Identifier: BSD-2-Clause */
/* The INT database: the newest state wins, late and repeated labels, gaps of
 * numbers, clocks that jump, reboots, foreign devices, many ports. */
#include "label/db.h"
#include "test.h"

#define MS UINT64_C(1000000) /* ns */
#define S  (1000 * MS)

static struct label_db *open_db(const struct label_db_options *o)
{
	static const struct label_db_options none;
	struct label_db *db = NULL;

	TEST(label_db_open(&db, o ? o : &none) == 0);
	return db;
}

/* A label of device 7, port 3. */
static int take(struct label_db *db, uint64_t time_us, uint32_t number,
		uint64_t now_ns)
{
	struct label_item item = {.device = 7,
				  .out = 3,
				  .in = 1,
				  .time_us = time_us & LABEL_TIME_MASK,
				  .queue = number,
				  .number = number};
	uint32_t place;

	return label_db_update(db, &item, now_ns, &place);
}

static const struct label_record *port(struct label_db *db)
{
	const struct label_record *r = label_db_find(db, 7, 3);

	TEST(r != NULL);
	return r;
}

static void done(struct label_db *db)
{
	TEST(ledger_balanced(&label_db_ledger, label_db_counters(db)));
	label_db_close(db);
}

static void test_newest(void)
{
	struct label_db *db = open_db(NULL);

	TEST(take(db, 1000, 1, 1 * S) == LABEL_STARTED);
	TEST(take(db, 2000, 2, 1 * S + MS) == LABEL_UPDATED);
	TEST(take(db, 5000, 5, 1 * S + 4 * MS) == LABEL_UPDATED);
	TEST(port(db)->missing == 2 && label_lost(port(db)) == 2);
	TEST(take(db, 4000, 4, 1 * S + 5 * MS) == LABEL_REFUSED); /* late */
	TEST(label_lost(port(db)) == 1 && port(db)->late == 1);
	TEST(port(db)->time_us == 5000 && port(db)->queue == 5);
	TEST(port(db)->seen_ns == 1 * S + 4 * MS);
	TEST(port(db)->previous_ns == 1 * S + 1 * MS);
	TEST(take(db, 4000, 4, 1 * S + 6 * MS) == LABEL_REFUSED); /* again */
	TEST(take(db, 5000, 5, 1 * S + 7 * MS) == LABEL_REFUSED);
	TEST(label_lost(port(db)) == 1);
	TEST(label_db_counters(db)->duplicate == 2 &&
	     label_db_counters(db)->late == 1);
	TEST(!label_db_find(db, 7, 4) && !label_db_find(db, 8, 3));
	done(db);
}

/* Two labels of the same microsecond: the higher number is newer. */
static void test_same_time(void)
{
	struct label_db *db = open_db(NULL);

	take(db, 1000, 1, S);
	TEST(take(db, 1000, 3, S) == LABEL_UPDATED);
	TEST(port(db)->queue == 3 && label_lost(port(db)) == 1);
	TEST(take(db, 1000, 2, S) == LABEL_REFUSED);
	TEST(take(db, 1000, 3, S) == LABEL_REFUSED);
	TEST(label_db_counters(db)->late == 1);
	TEST(label_db_counters(db)->duplicate == 1);
	TEST(label_lost(port(db)) == 0);
	done(db);
}

/* Devices that do not count: time alone tells. */
static void test_no_numbers(void)
{
	struct label_db *db = open_db(NULL);

	take(db, 1000, 0, S);
	TEST(take(db, 9000, 0, S) == LABEL_UPDATED);
	TEST(take(db, 9000, 0, S) == LABEL_REFUSED);
	TEST(take(db, 8000, 0, S) == LABEL_REFUSED);
	TEST(label_db_counters(db)->duplicate == 1);
	TEST(label_db_counters(db)->late == 1);
	TEST(port(db)->missing == 0);
	done(db);
}

/* Numbers and clocks that go round. */
static void test_round(void)
{
	uint64_t end = LABEL_TIME_MASK;
	struct label_db *db = open_db(NULL);

	take(db, end - 10, UINT32_MAX - 1, S);
	TEST(take(db, end + 10, 1, S) == LABEL_UPDATED); /* UINT32_MAX lost */
	TEST(label_lost(port(db)) == 1);
	TEST(take(db, end + 20, 2, S) == LABEL_UPDATED);
	TEST(label_lost(port(db)) == 1);
	TEST(take(db, end - 5, UINT32_MAX, S) == LABEL_REFUSED);
	TEST(label_db_counters(db)->late == 1);
	done(db);
}

/* A late one whose number is half the circle away, ahead or behind. */
static void test_half(void)
{
	struct label_db *db = open_db(NULL);

	take(db, 1000, 9, S);
	TEST(take(db, 900, 9 + 0x80000000u, S) == LABEL_REFUSED);
	TEST(label_db_counters(db)->late == 1);
	TEST(take(db, 1100, 9 + 0x80000000u, S) == LABEL_UPDATED);
	TEST(label_lost(port(db)) == 0);
	done(db);
}

/* One false time changes nothing; a clock that was set is followed. */
static void test_future(void)
{
	struct label_db *db = open_db(NULL);
	uint64_t hour = 3600 * UINT64_C(1000000);

	take(db, 1000, 1, S);
	TEST(take(db, hour, 2, 2 * S) == LABEL_REFUSED);
	TEST(take(db, hour, 2, 2 * S) == LABEL_REFUSED); /* the same again */
	TEST(take(db, hour, 2, 2 * S) == LABEL_REFUSED);
	TEST(take(db, hour, 2, 2 * S) == LABEL_REFUSED);
	TEST(label_db_counters(db)->future == 4);
	TEST(take(db, 1000 + 2000000, 3, 3 * S) == LABEL_UPDATED);
	TEST(take(db, hour, 4, 4 * S) == LABEL_REFUSED);
	TEST(take(db, hour + 1000000, 5, 5 * S) == LABEL_REFUSED);
	TEST(take(db, hour + 2000000, 6, 6 * S) == LABEL_STARTED);
	TEST(take(db, hour + 3000000, 7, 7 * S) == LABEL_UPDATED);
	TEST(port(db)->resets == 1 && label_db_counters(db)->reset == 1);
	/* nor is a time believed that does not go on as ours does */
	for (unsigned i = 0; i < 5; i++)
		TEST(take(db, 5 * hour + i, 8, (7 + 20 * i) * S) ==
		     LABEL_REFUSED);
	/* so long was nothing heard that it is no wonder */
	TEST(take(db, 3 * hour, 8, (7 + 7200) * S) == LABEL_UPDATED);
	done(db);
}

/* A switch that was started again: its numbers tell at once; without them it
 * takes three labels. Late ones within the bound are no reboot. */
static void test_reboot(void)
{
	uint64_t long_ago = 5000, then = 100 * UINT64_C(1000000);
	struct label_db *db = open_db(NULL);

	take(db, then, 1000, 100 * S);
	TEST(take(db, then - 9000000, 2, 100 * S) == LABEL_REFUSED);
	TEST(label_db_counters(db)->late == 1);
	TEST(take(db, long_ago, 2, 101 * S) == LABEL_STARTED);
	TEST(port(db)->time_us == long_ago && port(db)->resets == 1);
	TEST(take(db, long_ago + 1000, 3, 101 * S) == LABEL_UPDATED);
	TEST(label_lost(port(db)) == 0);
	done(db);
	db = open_db(NULL);
	take(db, then, 0, 100 * S);
	TEST(take(db, long_ago, 0, 101 * S) == LABEL_REFUSED);
	TEST(take(db, long_ago + 50000, 0, 101 * S + 50 * MS) == LABEL_REFUSED);
	TEST(label_db_counters(db)->back == 2);
	TEST(take(db, long_ago + 100000, 0, 101 * S + 100 * MS) ==
	     LABEL_STARTED);
	done(db);
	/* numbers begin anew, the clock does not: no loss of 4 billion */
	db = open_db(NULL);
	take(db, then, 1000, 100 * S);
	TEST(take(db, then + 1000, 1, 100 * S) == LABEL_STARTED);
	TEST(label_lost(port(db)) == 0);
	TEST(port(db)->resets == 1 && label_db_counters(db)->reset == 1);
	TEST(take(db, then + 2000, 3, 100 * S) == LABEL_UPDATED);
	TEST(label_lost(port(db)) == 1);
	done(db);
}

/* One false number changes nothing; a counter that was set is followed, and is
 * no loss. */
static void test_false_number(void)
{
	struct label_db *db = open_db(NULL);
	uint32_t far = UINT32_C(1) << 31;

	take(db, 1000, 1, S);
	TEST(take(db, 51000, far, S + 50 * MS) == LABEL_REFUSED);
	TEST(take(db, 101000, 3, S + 100 * MS) == LABEL_UPDATED);
	TEST(label_lost(port(db)) == 1);
	TEST(label_db_counters(db)->future == 1);
	TEST(take(db, 151000, far, S + 150 * MS) == LABEL_REFUSED);
	TEST(take(db, 201000, far + 1, S + 200 * MS) == LABEL_REFUSED);
	TEST(take(db, 251000, far + 2, S + 250 * MS) == LABEL_STARTED);
	TEST(take(db, 301000, far + 3, S + 300 * MS) == LABEL_UPDATED);
	TEST(label_lost(port(db)) == 1 && port(db)->resets == 1);
	/* so many were lost while nothing came */
	TEST(take(db, 1000000000, far + 900000000, 1000 * S) == LABEL_UPDATED);
	TEST(label_lost(port(db)) == 1 + 900000000 - 4);
	done(db);
}

static void test_devices(void)
{
	static const struct label_range ours[] = {{1, 3}, {7, 7}};
	struct label_db_options o = {.devices = ours, .n_devices = 2};
	struct label_db *db = open_db(&o);
	struct label_item item = {.device = 8};
	uint32_t place;

	TEST(take(db, 1, 1, S) == LABEL_STARTED);
	TEST(label_db_update(db, &item, S, &place) == LABEL_REFUSED);
	TEST(label_db_counters(db)->unknown == 1);
	item.device = 3;
	TEST(label_db_update(db, &item, S, &place) == LABEL_STARTED &&
	     place == 1);
	done(db);
}

/* Each port is found among many; above the limit none is taken. */
static void test_many(void)
{
	enum { PORTS = 100000 };
	struct label_db_options o = {.ports_max = PORTS};
	struct label_db *db = open_db(&o);
	struct label_item item = {.number = 1};
	uint32_t place;
	bool right = true;

	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < PORTS; i++) {
			item.device = i / 64;
			item.out = (uint16_t)(i % 64);
			item.time_us = (uint64_t)round + 1;
			item.number = (uint32_t)round + 1;
			right &= label_db_update(db, &item, S, &place) ==
					 (round ? LABEL_UPDATED
						: LABEL_STARTED) &&
				 place == i;
		}
	TEST(right);
	item.device = UINT32_MAX;
	TEST(label_db_update(db, &item, S, &place) == LABEL_REFUSED);
	TEST(label_db_counters(db)->full == 1);
	TEST(label_db_ports(db) == PORTS);
	done(db);
}

int main(void)
{
	test_newest();
	test_same_time();
	test_no_numbers();
	test_round();
	test_half();
	test_future();
	test_reboot();
	test_false_number();
	test_devices();
	test_many();
	return test_end();
}
