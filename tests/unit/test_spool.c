/* SPDX-License-Identifier: BSD-2-Clause */
/* The spool: order, restarts, crashes at each byte, damage of each byte. */
#include "queue/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "queue/driver.h"
#include "test.h"

enum {
	SIZE = 1 << 20,
	RECORDS = 3,
	HEADER = 16, /* of a record */
};

static char dir[] = "/tmp/dta-test-spool-XXXXXX";
static char inner[sizeof(dir) + 8];

static struct spool *open_spool(uint64_t size, uint64_t found)
{
	struct spool *s = NULL;
	struct fault f = {""};
	uint64_t rows = 0;

	if (!TEST(spool_open(&s, dir, "s", size, &rows, &f) == 0))
		fprintf(stderr, "%s\n", f.text);
	if (!TEST(rows == found))
		fprintf(stderr, "%llu rows found\n", (unsigned long long)rows);
	return s;
}

/* Block i has i + 1 rows, and says so. */
static int append(struct spool *s, unsigned i)
{
	char text[64];
	struct block b = {.bytes = text, .rows = i + 1};

	b.len = (size_t)snprintf(text, sizeof(text), "block %u", i);
	return spool_append(s, &b, NULL);
}

/* The next block is number i; it is done, perhaps. */
static bool next_is(struct spool *s, unsigned i, bool done)
{
	char text[64];
	uint64_t lost;
	struct block *b;
	bool same;

	snprintf(text, sizeof(text), "block %u", i);
	if (spool_next(s, &b, &lost) != 1)
		return false;
	same = b->rows == i + 1 && b->len == strlen(text) &&
	       !memcmp(b->bytes, text, b->len);
	free(b->bytes);
	free(b);
	if (done)
		spool_done(s);
	return same;
}

static bool is_empty(struct spool *s)
{
	uint64_t lost;
	struct block *b;

	return spool_next(s, &b, &lost) == 0 && spool_rows(s) == 0;
}

/* The only segment there is; its length. */
static size_t segment(char path[512])
{
	DIR *d = opendir(inner);
	struct dirent *e;
	struct stat st = {0};
	unsigned n = 0;

	while (d && (e = readdir(d)))
		if (strstr(e->d_name, ".spool")) {
			snprintf(path, 512, "%s/%s", inner, e->d_name);
			n++;
		}
	closedir(d);
	if (n)
		stat(path, &st);
	return n == 1 ? (size_t)st.st_size : 0;
}

static void test_order(void)
{
	struct spool *s = open_spool(SIZE, 0);
	char path[512];

	TEST(is_empty(s));
	for (unsigned i = 2; i < 6; i++)
		TEST(append(s, i) == 0);
	TEST(spool_rows(s) == 3 + 4 + 5 + 6);
	TEST(next_is(s, 2, false)); /* it stays until it is done */
	TEST(next_is(s, 2, true));
	TEST(next_is(s, 3, true));
	spool_close(s);
	s = open_spool(SIZE, 5 + 6);
	TEST(append(s, 6) == 0);
	for (unsigned i = 4; i < 7; i++)
		TEST(next_is(s, i, true));
	TEST(is_empty(s));
	spool_close(s);
	TEST(segment(path) == 0);
}

static void test_one_user(void)
{
	struct spool *s = open_spool(SIZE, 0), *other;
	uint64_t rows;
	struct fault f;

	TEST(spool_open(&other, dir, "s", SIZE, &rows, &f) == -EBUSY);
	TEST(!!strstr(f.text, "another process"));
	spool_close(s);
	TEST(spool_open(&other, "/dev/null/x", "s", SIZE, &rows, &f) < 0);
}

/* No more than it may hold, over many segments; what is sent makes room. */
static void test_bounds(void)
{
	enum { LARGE = 10000, ROOM = 300000 };
	static char bytes[LARGE];
	struct block b = {.bytes = bytes, .len = LARGE, .rows = 1}, *got;
	struct spool *s = open_spool(ROOM, 0);
	unsigned n = 0;
	uint64_t lost;

	while (spool_append(s, &b, NULL) == 0)
		n++;
	TEST(n == ROOM / (LARGE + HEADER));
	for (unsigned i = 0; i < n; i++) {
		TEST(spool_next(s, &got, &lost) == 1);
		free(got->bytes);
		free(got);
		spool_done(s);
		if (i == n / 2)
			TEST(spool_append(s, &b, NULL) == 0);
	}
	TEST(spool_rows(s) == 1);
	TEST(spool_next(s, &got, &lost) == 1);
	free(got->bytes);
	free(got);
	spool_done(s);
	TEST(is_empty(s));
	spool_close(s);
}

static size_t make(uint8_t *copy, size_t room, char path[512])
{
	struct spool *s = open_spool(SIZE, 0);
	size_t len;
	int fd;

	for (unsigned i = 0; i < RECORDS; i++)
		TEST(append(s, i) == 0);
	spool_close(s);
	len = segment(path);
	fd = open(path, O_RDONLY);
	TEST(len && len < room && read(fd, copy, room) == (ssize_t)len);
	close(fd);
	return len;
}

static void put_file(const char *path, const uint8_t *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	TEST(write(fd, bytes, len) == (ssize_t)len);
	close(fd);
}

/* Cut at each byte, as a crash does: the whole records are there, others can be
 * added, and what has a header is told. */
static void test_cut(void)
{
	static const uint64_t rows[] = {0, 1, 3, 6};
	uint8_t copy[512];
	char path[512];
	size_t len = make(copy, sizeof(copy), path), record = len / RECORDS;

	TEST(len == record * RECORDS);
	for (size_t cut = 0; cut <= len; cut++) {
		unsigned whole = (unsigned)(cut / record);
		bool told = cut % record >= HEADER;
		struct block *b;
		struct spool *s;
		uint64_t lost;

		put_file(path, copy, cut);
		s = open_spool(SIZE, rows[whole] + told);
		TEST(append(s, 9) == 0);
		for (unsigned i = 0; i < whole; i++)
			TEST(next_is(s, i, true));
		TEST(!told ||
		     (spool_next(s, &b, &lost) == -EBADMSG && lost == 1));
		TEST(next_is(s, 9, true));
		TEST(is_empty(s));
		spool_close(s);
	}
}

/* Each byte changed: a block is as it was, or it is not there; rows that were
 * found are all given or lost, and no block goes without a word. */
static void test_damage(void)
{
	uint8_t copy[512], bad[512];
	char path[512];
	size_t len = make(copy, sizeof(copy), path);

	for (size_t at = 0; at < len; at++) {
		uint64_t found = 0, lost, rows = 0, given = 0, gone = 0;
		struct spool *s = NULL;
		struct fault f;
		struct block *b;
		int rc;

		memcpy(bad, copy, len);
		bad[at] ^= 0x10;
		put_file(path, bad, len);
		TEST(spool_open(&s, dir, "s", SIZE, &found, &f) == 0);
		while (s && (rc = spool_next(s, &b, &lost)) != 0) {
			char text[64] = "";

			rows += lost;
			gone += lost;
			if (rc < 0)
				continue;
			rows += b->rows;
			given++;
			snprintf(text, sizeof(text), "block %u", b->rows - 1);
			TEST(!memcmp(b->bytes, text, b->len));
			free(b->bytes);
			free(b);
			spool_done(s);
		}
		TEST(rows == found);
		if (!TEST(given == RECORDS || gone > 0))
			fprintf(stderr, "byte %zu\n", at);
		spool_close(s);
		unlink(path);
	}
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	snprintf(inner, sizeof(inner), "%s/s", dir);
	test_order();
	test_one_user();
	test_bounds();
	test_cut();
	test_damage();
	TEST(rmdir(inner) == 0); /* nothing is left behind */
	TEST(rmdir(dir) == 0);
	return test_end();
}
