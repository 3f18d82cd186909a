/* SPDX-License-Identifier: BSD-2-Clause */
/* The spool: order, restarts, damage. */
#include "export/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export/driver.h"
#include "test.h"

enum {
	SIZE = 1 << 20,
	HEADER = 16, /* of a record */
};

static char dir[] = "/tmp/dta-test-spool-XXXXXX";
static char inner[sizeof(dir) + 8];

static struct spool *open_spool(uint64_t size, uint64_t found)
{
	struct spool *s = NULL;
	struct error err = {""};
	uint64_t rows = 0;

	if (!TEST(spool_open(&s, dir, "s", size, &rows, &err) == 0))
		fprintf(stderr, "%s\n", err.text);
	if (!TEST(rows == found))
		fprintf(stderr, "%llu rows found\n", (unsigned long long)rows);
	return s;
}

static int append_bytes(struct spool *s, const char *bytes, size_t len,
			uint32_t rows)
{
	struct export_block *b = calloc(1, sizeof(*b));
	int rc;

	b->rows = rows;
	b->len = len;
	b->bytes = memcpy(malloc(len), bytes, len);
	if ((rc = spool_append(s, b, NULL)) < 0) {
		free(b->bytes);
		free(b);
	}
	return rc;
}

/* Block i has i + 1 rows, and says so. */
static int append(struct spool *s, unsigned i)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "block %u", i);

	return append_bytes(s, text, (size_t)n, i + 1);
}

/* The next block is number i; it is done, perhaps. */
static bool next_is(struct spool *s, unsigned i, bool done)
{
	char text[64];
	uint64_t lost;
	struct export_block *b;
	bool same;

	snprintf(text, sizeof(text), "block %u", i);
	if (spool_next(s, &b, &lost) != 1)
		return false;
	same = b->rows == i + 1 && b->len == strlen(text) &&
	       !memcmp(b->bytes, text, b->len);
	if (done)
		spool_done(s);
	return same;
}

static bool is_empty(struct spool *s)
{
	uint64_t lost;
	struct export_block *b;

	return spool_next(s, &b, &lost) == 0 && spool_rows(s) == 0;
}

static void test_order(void)
{
	struct spool *s = open_spool(SIZE, 0);

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
	TEST(rmdir(inner) == 0); /* no file is left */
}

/* Files that somebody deletes are damage, once. */
static void test_deleted(void)
{
	struct spool *s = open_spool(SIZE, 0);
	struct export_block *b;
	char path[512];
	uint64_t lost;

	TEST(append(s, 2) == 0 && append(s, 3) == 0);
	TEST(next_is(s, 2, true) && append(s, 4) == 0);
	for (unsigned i = 1; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%016x.spool", inner, i);
		TEST(unlink(path) == 0);
	}
	TEST(spool_next(s, &b, &lost) == -EBADMSG && lost == 4);
	TEST(spool_next(s, &b, &lost) == -EBADMSG && lost == 5);
	TEST(is_empty(s));
	TEST(append(s, 5) == 0 && next_is(s, 5, true));
	TEST(is_empty(s));
	spool_close(s);
}

static void test_one_user(void)
{
	struct spool *s = open_spool(SIZE, 0), *other;
	uint64_t rows;
	struct error err;

	TEST(spool_open(&other, dir, "s", SIZE, &rows, &err) == -EBUSY);
	TEST(!!strstr(err.text, "another process"));
	spool_close(s);
	TEST(spool_open(&other, "/dev/null/x", "s", SIZE, &rows, &err) < 0);
}

/* No more than it may hold, over many files; what is sent makes room. */
static void test_bounds(void)
{
	enum { LARGE = 10000, ROOM = 300000 };
	static char bytes[LARGE];
	struct spool *s = open_spool(ROOM, 0);
	struct export_block *got;
	unsigned n = 0;
	uint64_t lost;

	while (append_bytes(s, bytes, LARGE, 1) == 0)
		n++;
	TEST(n == ROOM / (LARGE + HEADER));
	for (unsigned i = 0; i < n; i++) {
		TEST(spool_next(s, &got, &lost) == 1);
		spool_done(s);
		if (i == n / 2)
			TEST(append_bytes(s, bytes, LARGE, 1) == 0);
	}
	TEST(spool_rows(s) == 1);
	TEST(spool_next(s, &got, &lost) == 1);
	spool_done(s);
	TEST(is_empty(s));
	spool_close(s);
}

/* Blocks in memory: the same, but that nothing is left. */
static void test_memory(void)
{
	uint64_t found = 1;
	struct spool *s;

	TEST(spool_open(&s, NULL, NULL, 100, &found, NULL) == 0 && !found);
	TEST(append(s, 0) == 0 && append(s, 1) == 0 && append(s, 2) == 0);
	TEST(append(s, 3) == 0 && append(s, 4) == -ENOSPC);
	TEST(next_is(s, 0, false) && next_is(s, 0, true) &&
	     next_is(s, 1, true));
	TEST(spool_rows(s) == 3 + 4);
	spool_close(s);
}

/* A block of two rows alone, its file, and the bytes in that. */
static size_t make(uint8_t *copy, size_t room, char path[512])
{
	struct spool *s = open_spool(SIZE, 0);
	ssize_t len;
	int fd;

	TEST(append(s, 1) == 0);
	spool_close(s);
	snprintf(path, 512, "%s/%016x.spool", inner, 0);
	fd = open(path, O_RDONLY);
	len = read(fd, copy, room);
	TEST(len > HEADER && (size_t)len < room);
	close(fd);
	return (size_t)len;
}

static void put_file(const char *path, const uint8_t *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	TEST(write(fd, bytes, len) == (ssize_t)len);
	close(fd);
}

/* A file that is not as it was written: it is told, and what is behind it is
 * there. Of rows, those that were found are lost. */
static void check(const char *path, const uint8_t *bytes, size_t len)
{
	uint64_t found = 0, lost = 0;
	struct spool *s = NULL;
	struct export_block *b;
	struct error err;

	put_file(path, bytes, len);
	TEST(spool_open(&s, dir, "s", SIZE, &found, &err) == 0);
	TEST(append(s, 9) == 0);
	TEST(spool_next(s, &b, &lost) == -EBADMSG && lost == found);
	TEST(next_is(s, 9, true));
	TEST(is_empty(s));
	spool_close(s);
}

/* Cut at each byte, as a crash does; each byte changed. */
static void test_damage(void)
{
	uint8_t copy[512], bad[512];
	char path[512];
	size_t len = make(copy, sizeof(copy), path);
	struct export_block *b;
	struct spool *s;
	uint64_t lost;

	for (size_t cut = 0; cut < len; cut++)
		check(path, copy, cut);
	for (size_t at = 0; at < len; at++) {
		memcpy(bad, copy, len);
		bad[at] ^= 0x10;
		check(path, bad, len);
	}
	put_file(path, copy, len);
	TEST(truncate(path, (off_t)1 << 40) == 0); /* as if it had that much */
	s = open_spool(SIZE, 1);
	TEST(spool_next(s, &b, &lost) == -EBADMSG && lost == 1 && is_empty(s));
	spool_close(s);
	put_file(path, copy, len);
	s = open_spool(SIZE, 2);
	TEST(next_is(s, 1, true));
	spool_close(s);
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	snprintf(inner, sizeof(inner), "%s/s", dir);
	test_order();
	test_deleted();
	test_one_user();
	test_bounds();
	test_memory();
	test_damage();
	TEST(rmdir(inner) == 0); /* nothing is left behind */
	TEST(rmdir(dir) == 0);
	return test_end();
}
