/* SPDX-License-Identifier: BSD-2-Clause */
/* On which link labels were lost, by what the ports behind it lost. */
#include <errno.h>

#include "label/links.h"
#include "test.h"

#define S UINT64_C(1000000000) /* ns */

enum {
	PORTS = 40, /* of the next device */
};

static struct label_db *open_db(void)
{
	static const struct label_db_options none;
	struct label_db *db = NULL;

	TEST(label_db_open(&db, &none) == 0);
	return db;
}

/* Labels of a port, each so many numbers behind the one before. */
static struct label_record *labels(struct label_db *db, uint32_t device,
				   uint16_t out, unsigned n, uint32_t step)
{
	uint32_t place;

	for (unsigned i = 0; i < n; i++) {
		struct label_item item = {.device = device,
					  .out = out,
					  .time_us = 1000 * (i + 1),
					  .number = 1 + step * i};

		label_db_take(db, &item, S + i * 1000000, &place);
	}
	return label_db_find(db, device, out);
}

/* A link of which packets go on by many ports, as often by each; of these one
 * loses all that is lost, 3 of 4 of a fortieth, or, else, the link does. */
static void test_many(void)
{
	for (int behind = 0; behind < 2; behind++) {
		struct label_db *db = open_db();
		struct label_record *r;
		struct label_suspicion s;

		for (uint16_t i = 0; i < PORTS; i++)
			labels(db, 2, i, 1000, behind && i == 7 ? 4 : 1);
		r = labels(db, 1, 1, 4000, 1);
		r->missing = behind ? 75 : 400;
		for (unsigned i = 0; i < 100 * PORTS; i++)
			label_link_saw(r, 2, (uint16_t)(i % PORTS));
		s = label_link_judge(db, r);
		TEST(s.seen == 100 * PORTS);
		TEST(s.place ==
		     (behind ? LABEL_PLACE_BEHIND : LABEL_PLACE_LINK));
		TEST(behind ? s.behind > 0.018 && s.behind < 0.019
			    : s.behind == 0);
		label_db_close(db);
	}
}

/* More than are kept are told of, and those that are stay. */
static void test_limit(void)
{
	struct label_db *db = open_db();
	struct label_record *r = labels(db, 1, 1, 10, 2);

	for (uint32_t i = 0; i < LABEL_WAYS_MOST; i++)
		TEST(label_link_saw(r, 2, (uint16_t)i) == 0);
	TEST(label_link_saw(r, 2, LABEL_WAYS_MOST) == -ENOSPC);
	TEST(label_link_saw(r, 2, 0) == 0);
	TEST(r->ways.n == LABEL_WAYS_MOST && r->ways.at[0].seen == 2);
	TEST(label_link_judge(db, r).seen == 0); /* nothing came of them */
	label_db_forget(db, 0);
	label_db_close(db);
}

int main(void)
{
	test_many();
	test_limit();
	return test_end();
}
