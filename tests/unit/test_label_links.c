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
 * loses all that is lost, 3 of 4 of a fortieth, which are not seen, or, else,
 * the link does. */
static void test_many(void)
{
	for (int behind = 0; behind < 2; behind++) {
		struct label_db *db = open_db();
		struct label_record *r;
		struct label_suspicion s;

		for (uint16_t i = 0; i < PORTS; i++)
			labels(db, 2, i, 1000, behind && i == 7 ? 4 : 1);
		r = labels(db, 1, 1, 4000, 1);
		r->span[LABEL_SPAN_MINUTE].lost[0] = behind ? 75 : 400;
		for (unsigned i = 0; i < 100 * PORTS; i++)
			if (!behind || i % PORTS != 7 || i / PORTS % 4 == 0)
				label_link_saw(r, 2, (uint16_t)(i % PORTS));
		s = label_link_judge(db, r, 5 * S);
		TEST(s.seen == 100 * PORTS - (behind ? 75 : 0));
		TEST(s.place ==
		     (behind ? LABEL_PLACE_BEHIND : LABEL_PLACE_LINK));
		TEST(behind ? s.behind > 0.018 && s.behind < 0.019
			    : s.behind == 0);
		label_db_close(db);
	}
}

/* The last minutes count, and not what was before; and with more ports a loss
 * that one of them may have by chance is no suspicion. */
static void test_lately(void)
{
	struct label_db *db = open_db();
	struct label_record *r = labels(db, 1, 1, 1000, 2);
	struct label_lately l;
	uint32_t place;

	TEST(label_lost(r) == 999);
	for (unsigned i = 0; i < 3; i++) { /* each of a minute, 2 before it */
		struct label_item item = {
			.device = 1,
			.out = 1,
			.time_us = (60 * i + 120) * 1000000,
			.number = 2002 + 3 * i,
		};

		label_db_take(db, &item, (60 * i + 121) * S, &place);
	}
	l = label_db_lately(db, r, LABEL_SPAN_MINUTE, 242 * S);
	TEST(l.labels == 2 && l.lost == 4);
	l = label_db_lately(db, r, LABEL_SPAN_INTERVAL, 241 * S);
	TEST(!l.labels && !l.lost);
	l = label_db_lately(db, r, LABEL_SPAN_INTERVAL, 241 * S + S / 10);
	TEST(l.labels == 1 && l.lost == 2);
	l = label_db_lately(db, r, LABEL_SPAN_MINUTE, 302 * S);
	TEST(l.labels == 1 && l.lost == 2);
	l = label_db_lately(db, r, LABEL_SPAN_MINUTE, 402 * S);
	TEST(!l.labels && !l.lost);
	label_db_close(db);
}

static void test_correction(void)
{
	struct label_db *db = open_db();
	struct label_record *r = labels(db, 1, 1, 1000, 1);

	labels(db, 2, 1, 1000, 1);
	label_link_saw(r, 2, 1);
	/* n of 1000 + n, and 0 of 1000: n^2 is above 10.4 times n + 1 */
	r->span[LABEL_SPAN_MINUTE].lost[0] = 11;
	TEST(label_link_judge(db, r, S).place == LABEL_PLACE_BEHIND);
	r->span[LABEL_SPAN_MINUTE].lost[0] = 12;
	TEST(label_link_judge(db, r, S).place == LABEL_PLACE_LINK);
	for (uint16_t i = 2; i < 1000; i++)
		labels(db, 3, i, 1, 1);
	r = label_db_find(db, 1, 1);
	TEST(label_link_judge(db, r, S).place == LABEL_PLACE_BEHIND);
	label_db_close(db);
}

/* Of packets that a port behind loses no label shows that they went there: half
 * of 2000 go by a port that loses half of its, and so are seen half as often.
 */
static void test_unseen(void)
{
	struct label_db *db = open_db();
	struct label_record *r = labels(db, 1, 1, 1500, 1);

	r->span[LABEL_SPAN_MINUTE].lost[0] = 500;
	labels(db, 2, 1, 500, 2);
	labels(db, 2, 2, 1000, 1);
	for (unsigned i = 0; i < 300; i++)
		label_link_saw(r, 2, i % 3 ? 2 : 1);
	TEST(label_link_judge(db, r, S).place == LABEL_PLACE_BEHIND);
	TEST(label_link_judge(db, r, S).behind > 0.24);
	label_db_close(db);
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
	TEST(label_link_judge(db, r, 5 * S).seen ==
	     0); /* nothing came of them */
	label_db_forget(db, 0);
	label_db_close(db);
}

int main(void)
{
	test_many();
	test_lately();
	test_correction();
	test_unseen();
	test_limit();
	return test_end();
}
