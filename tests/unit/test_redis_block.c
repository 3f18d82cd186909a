/* SPDX-License-Identifier: BSD-2-Clause */
/* Blocks of a spool that hold what no driver has written: nobody answers here,
 * what is whole waits, the rest is refused. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/driver.h"
#include "test.h"

/* Items: length, commands, and so many of them. */
static const char ping[] = "*1\r\n$4\r\nPING\r\n";

static void put_item(struct outbuf *o, uint32_t commands)
{
	uint32_t n[2] = {sizeof(ping) - 1, commands};

	outbuf_bytes(o, (const char *)n, sizeof(n));
	outbuf_bytes(o, ping, sizeof(ping) - 1);
}

/* A block of so many whole items, one without commands perhaps, what is behind
 * them, and rows in all. */
static void check(void *redis, unsigned whole, bool none, const char *behind,
		  uint32_t rows)
{
	struct outbuf *o = calloc(1, sizeof(*o));
	struct export_block b = {.rows = rows};
	struct export_tally t = {0};
	struct error err = {0};
	size_t len = whole * (sizeof(ping) - 1 + 2 * sizeof(uint32_t));
	int rc;

	for (unsigned i = 0; i < whole; i++)
		put_item(o, 1);
	if (none)
		put_item(o, 0);
	outbuf_bytes(o, behind, strlen(behind));
	b.bytes = outbuf_take(o, &b.len);
	free(o);
	rc = export_redis.driver.send(redis, &b, &t, &err);
	TEST(rc == (whole ? -EAGAIN : 0));
	TEST(t.written == 0 && t.refused == rows - whole);
	TEST(!t.refused ||
	     !strcmp(t.why.text, "a block that is not for Redis"));
	TEST(b.rows == whole && b.len == len);
	free(b.bytes);
}

int main(void)
{
	struct export_stop stop = {.now = false};
	struct export_options o = {0};
	struct error err = {0};
	struct url u;
	void *redis = malloc(export_redis.size);

	memcpy(redis, export_redis.defaults, export_redis.size);
	TEST(!url_parse(&u, "redis://127.0.0.1:1", &err));
	TEST(!export_redis.open(redis, &u, &o, &stop, &err));
	check(redis, 0, false, "no item at all, but text", 3);
	check(redis, 0, true, "", 1);
	check(redis, 0, false, "", 2);
	check(redis, 5, false, "", 5);
	check(redis, 5, false, "no item", 9);
	check(redis, 5, true, "no item", 7);
	check(redis, 2, false, "", 3);
	export_redis.driver.close(redis);
	return test_end();
}
