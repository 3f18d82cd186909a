/* SPDX-License-Identifier: BSD-2-Clause */
/* Snapshots of nodes: which are another than the last, and what is done where
 * there is no room. */
#include <string.h>

#include "telemetry/objects.h"
#include "test.h"

enum {
	ROOM = 3,
	LONGEST = 255 * 4,
};

static bool differs(struct key_table *ss, uint64_t node, uint16_t domain,
		    uint32_t schema, const char *text)
{
	return snapshot_is_new(ss, node, domain, schema, (const uint8_t *)text,
			       strlen(text));
}

static void test_last(void)
{
	struct key_table ss;

	TEST(!snapshots_init(&ss, ROOM));
	TEST(differs(&ss, 1, 0, 7, "abcd"));
	TEST(!differs(&ss, 1, 0, 7, "abcd"));
	TEST(differs(&ss, 1, 0, 7, "abce"));
	TEST(differs(&ss, 1, 0, 7, "abcd")); /* the last one counts */
	TEST(differs(&ss, 1, 0, 7, "abcdefgh"));
	TEST(differs(&ss, 1, 0, 7, "abcd"));
	/* Of another schema, namespace: for itself; and nothing is something.
	 */
	TEST(differs(&ss, 1, 0, 8, ""));
	TEST(!differs(&ss, 1, 0, 8, ""));
	TEST(differs(&ss, 1, 9, 7, "abcd"));
	TEST(!differs(&ss, 1, 0, 7, "abcd"));
	TEST(ss.no_room == 0);
	/* Another node finds no room: each of its own is told. */
	TEST(differs(&ss, 2, 0, 7, "abcd"));
	TEST(differs(&ss, 2, 0, 7, "abcd"));
	TEST(ss.no_room == 2);
	area_fini(&ss.area);
}

static void test_long(void)
{
	static uint8_t data[LONGEST + 4];
	struct key_table ss;

	TEST(!snapshots_init(&ss, ROOM));
	TEST(snapshot_is_new(&ss, 1, 0, 7, data, LONGEST));
	TEST(!snapshot_is_new(&ss, 1, 0, 7, data, LONGEST));
	data[LONGEST - 1] = 1;
	TEST(snapshot_is_new(&ss, 1, 0, 7, data, LONGEST));
	TEST(snapshot_is_new(&ss, 1, 0, 7, data, LONGEST + 4));
	TEST(snapshot_is_new(&ss, 1, 0, 7, data, LONGEST + 4));
	area_fini(&ss.area);
}

int main(void)
{
	test_last();
	test_long();
	return test_end();
}
