/* SPDX-License-Identifier: BSD-2-Clause */
/* Blocks of a spool that hold what no driver has written: nobody answers here,
 * what is whole waits, the rest is refused. */
#include "redis/send.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "row/outbuf.h"
#include "test.h"

static const struct item good = {"key", "*1\r\n$4\r\nPING\r\n", 3, 14, 1};
static const struct item partless = {"key", "*1\r\n$4\r\nPING\r\n", 3, 14, 0};

/* A block of so many good items, what is behind them, and rows in all. */
static struct block block_of(unsigned n, const struct item *bad,
			     const char *behind, uint32_t rows)
{
	struct outbuf *o = calloc(1, sizeof(*o));
	struct block b = {.rows = rows};

	for (unsigned i = 0; i < n; i++)
		item_put(o, &good);
	if (bad)
		item_put(o, bad);
	outbuf_bytes(o, behind, strlen(behind));
	b.bytes = outbuf_take(o, &b.len);
	free(o);
	return b;
}

static void check(struct redis_node *n, unsigned whole, const struct item *bad,
		  const char *behind, uint32_t rows)
{
	struct block b = block_of(whole, bad, behind, rows);
	struct tally t = {0};
	struct fault f = {0};
	int rc = redis_node_send(n, &b, &t, &f);
	struct item i;
	size_t at = b.at;

	TEST(rc == (whole ? -EAGAIN : 0));
	TEST(t.written == 0 && t.refused == rows - whole);
	TEST(!t.refused ||
	     !strcmp(t.why.text, "a block that is none of Redis"));
	TEST(b.rows == whole);
	for (unsigned k = 0; k < whole; k++)
		TEST(item_next(&i, &b, &at) == 1 && i.len == good.len &&
		     !memcmp(i.payload, good.payload, i.len));
	TEST(!whole || item_next(&i, &b, &at) == 0);
	free(b.bytes);
}

int main(void)
{
	struct stop stop = {.fd = eventfd(0, EFD_CLOEXEC)};
	struct redis_node *n;
	struct url u;
	struct fault f = {0};

	TEST(!url_read(&u, "redis://127.0.0.1:1", &f));
	TEST(!redis_node_open(&n, &u, 1000000000, &stop));
	check(n, 0, NULL, "no item at all, but text", 3);
	check(n, 0, &partless, "", 1);
	check(n, 0, NULL, "", 2);
	check(n, 5, NULL, "", 5);
	check(n, 5, NULL, "no item", 9);
	check(n, 5, &partless, "no item", 7);
	check(n, 2, NULL, "", 3);
	redis_node_close(n);
	return test_end();
}
