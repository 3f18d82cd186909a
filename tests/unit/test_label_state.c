/* SPDX-License-Identifier: BSD-2-Clause */
/* The database at rest: what is saved is loaded, and nothing that is damaged or
 * of another version. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "label/state.h"
#include "test.h"

enum {
	PORTS = 100,
	FILE_MAX = 1 << 16,
};

static char path[] = "/tmp/dta-test-state-XXXXXX";

static struct label_db *open_db(uint32_t ports_max)
{
	struct label_db_options o = {.ports_max = ports_max};
	struct label_db *db = NULL;

	TEST(label_db_open(&db, &o) == 0);
	return db;
}

static void fill(struct label_db *db)
{
	uint32_t place;

	for (uint32_t i = 0; i < 3 * PORTS; i++) {
		struct label_item item = {.device = i % PORTS,
					  .in = 1,
					  .out = 2,
					  .time_us = 1000 + i,
					  .latency_ns = 5 * i,
					  .queue = i,
					  .number = 1 + 2 * (i / PORTS)};

		label_db_take(db, &item, 1000000 + i * 1000, &place);
		label_db_at(db, place)->s = (uint8_t)(i % 7);
	}
	label_db_at(db, 3)->silent = true;
}

static size_t read_back(uint8_t *buf)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, buf, FILE_MAX);

	close(fd);
	return n > 0 ? (size_t)n : 0;
}

static int load_bytes(const uint8_t *data, size_t len, uint32_t ports_max,
		      struct fault *why)
{
	struct label_db *db = open_db(ports_max);
	int fd = open(path, O_WRONLY | O_TRUNC), rc;

	TEST(write(fd, data, len) == (ssize_t)len);
	close(fd);
	rc = label_state_load(path, db, why);
	TEST(!rc || label_db_ports(db) == 0);
	label_db_close(db);
	return rc;
}

static bool same(const struct label_record *a, const struct label_record *b)
{
	return a->device == b->device && a->out == b->out && a->in == b->in &&
	       a->time_us == b->time_us && a->seen_ns == b->seen_ns &&
	       a->before_ns == b->before_ns && a->first_ns == b->first_ns &&
	       a->latency_ns == b->latency_ns && a->queue == b->queue &&
	       a->queue_most == b->queue_most && a->number == b->number &&
	       a->labels == b->labels && a->late == b->late &&
	       a->missing == b->missing && a->found == b->found &&
	       a->resets == b->resets && a->window == b->window &&
	       a->s == b->s && a->silent == b->silent;
}

static void test_round(void)
{
	struct label_db *db = open_db(0), *back = open_db(0);
	struct fault why;
	bool right = true;

	fill(db);
	TEST(label_state_save(path, db, &why) == 0);
	TEST(label_state_load(path, back, &why) == 0);
	TEST(label_db_ports(back) == PORTS);
	for (uint32_t i = 0; i < PORTS; i++)
		right &= same(label_db_at(db, i), label_db_find(back, i, 2));
	TEST(right && label_lost(label_db_at(back, 0)) == 2);
	/* over what is there */
	label_db_close(back);
	back = open_db(0);
	TEST(label_state_save(path, back, &why) == 0);
	TEST(label_state_load(path, back, &why) == 0 &&
	     label_db_ports(back) == 0);
	TEST(label_state_save("/no/such/place", db, &why) == -ENOENT);
	TEST(!strcmp(why.text, "/no/such/place: No such file or directory"));
	TEST(label_state_load("/no/such/place", db, &why) == -ENOENT);
	TEST(label_state_save(path, db, &why) == 0);
	label_db_close(back);
	label_db_close(db);
}

/* Our own clock was set back, or an older capture follows: what is saved then
 * is taken back, too. */
static void test_clock_back(void)
{
	struct label_item item = {.device = 1, .out = 2, .time_us = 5000};
	struct label_db *db = open_db(0), *back = open_db(0);
	struct fault why;
	uint32_t place;

	label_db_take(db, &item, 9000000, &place);
	item.time_us++;
	TEST(label_db_take(db, &item, 8000000, &place) >= 0);
	TEST(label_state_save(path, db, &why) == 0);
	TEST(label_state_load(path, back, &why) == 0);
	TEST(label_db_ports(back) == 1);
	label_db_close(back);
	label_db_close(db);
}

/* A line of the file becomes another one. */
static size_t with_line(uint8_t *bad, const uint8_t *good, unsigned line,
			const char *text)
{
	const char *at = (const char *)good, *end;

	for (; line; line--)
		at = strchr(at, '\n') + 1;
	end = strchr(at, '\n') + 1;
	return (size_t)sprintf((char *)bad, "%.*s%s%s",
			       (int)(at - (const char *)good),
			       (const char *)good, text, end);
}

static void test_damage(void)
{
	static uint8_t good[FILE_MAX], bad[2 * FILE_MAX];
	static const char twice[] = "0 2 1 1 1 1 1 0 0 0 1 1 0 0 0 0 1 0 0\n";
	size_t len = read_back(good), n;
	struct fault why;
	struct rng rng = {5};

	TEST(load_bytes(good, len, 0, &why) == 0);
	for (n = 0; n < len; n += n < 200 ? 1 : 97)
		TEST(load_bytes(good, n, 0, &why) < 0);
	for (int i = 0; i < 200; i++) {
		memcpy(bad, good, len);
		bad[rng_below(&rng, len)] ^= (uint8_t)(1 +
						       rng_below(&rng, 255));
		load_bytes(bad, len, 0, &why); /* has no ports if it fails */
	}
	n = with_line(bad, good, 0, "INTLABEL 1\n");
	TEST(load_bytes(bad, n, 0, &why) == -ENOTSUP);
	TEST(strstr(why.text, "of another version") != NULL);
	n = with_line(bad, good, 2, twice); /* a port twice */
	TEST(load_bytes(bad, n, 0, &why) == -EBADMSG);
	n = with_line(bad, good, 1, twice);
	TEST(load_bytes(bad, n, 0, &why) == 0);
	for (unsigned i = 0; i < 2; i++) { /* S; a port that is none */
		static const char *const lines[] = {
			"0 2 1 1 1 1 1 0 0 0 1 1 0 0 0 0 1 21 0\n",
			"0 65538 1 1 1 1 1 0 0 0 1 1 0 0 0 0 1 0 0\n"};

		n = with_line(bad, good, 1, lines[i]);
		TEST(load_bytes(bad, n, 0, &why) == -EBADMSG);
	}
	n = with_line(bad, good, 1, ""); /* a line less */
	TEST(load_bytes(bad, n, 0, &why) == -EBADMSG);
	TEST(load_bytes(good, len, PORTS - 1, &why) == -ENOSPC);
}

static void test_place(void)
{
	struct label_db *db = open_db(0);
	struct fault why;

	TEST(label_state_save("/tmp", db, &why) == -EINVAL);
	TEST(label_state_save("/dev/null", db, &why) == -EINVAL);
	label_db_close(db);
}

int main(void)
{
	int fd = mkstemp(path);

	if (fd < 0)
		return TEST_SKIP;
	close(fd);
	test_round();
	test_damage();
	test_clock_back();
	test_place();
	unlink(path);
	return test_end();
}
