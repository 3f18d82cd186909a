/* SPDX-License-Identifier: BSD-2-Clause */
/* Sparklines of the last minute: parts of 4 s, what was before, what is not
 * over yet. */
#include <string.h>
#include <unistd.h>

#include "screen/minute.h"
#include "test.h"

#define S UINT64_C(1000000000)

static const char *text(const struct minute *m, uint64_t now_ns)
{
	static char out[MINUTE_TEXT];

	minute_text(out, m, now_ns, 0, true);
	return out;
}

#define SHOWS(m, now_ns, want) TEST(!strcmp(text(m, now_ns), want))

static void test_empty(void)
{
	struct minute m = {0};

	SHOWS(&m, 1000 * S, "               ");
	/* a machine that has just begun */
	SHOWS(&m, 3 * S, "               ");
	minute_add(&m, 1000 * S, 1001 * S, 0);
	SHOWS(&m, 1002 * S, "              _");
}

/* From the beginning of time to its end, as a page may say: in as many steps as
 * there are parts. Otherwise each would take seconds. */
static void test_endless(void)
{
	alarm(60);
	for (unsigned i = 0; i < 200; i++) {
		struct minute m = {0};

		minute_add(&m, 1, UINT64_MAX, 1);
		TEST(m.last == UINT64_MAX / (4 * S));
	}
	alarm(0);
}

/* 4 s a part, the latest on the right. */
static void test_parts(void)
{
	struct minute m = {0};

	for (unsigned i = 0; i < 80; i++)
		minute_add(&m, (1000 + i) * S, (1000 + i) * S + S - 1, i / 4);
	SHOWS(&m, 1080 * S, "---====+++***##");
	/* nothing came for a while */
	minute_add(&m, 1080 * S, 1087 * S, 0);
	TEST(!strncmp(text(&m, 1087 * S) + 13, "__", 2));
	/* and for so long that nothing is left */
	minute_add(&m, 1087 * S, 1200 * S, 0);
	SHOWS(&m, 1203 * S, "_______________");
	minute_add(&m, 1200 * S, 1203 * S, 7);
	SHOWS(&m, 1203 * S, "______________#");
}

/* What came between two looks that are far apart came all the time. */
static void test_spread(void)
{
	struct minute m = {0};

	minute_add(&m, 1000 * S, 1019 * S, 100);
	SHOWS(&m, 1020 * S - 1, "          #####");
	/* of which more than a minute is not shown */
	minute_add(&m, 1019 * S, 1219 * S, 100);
	SHOWS(&m, 1220 * S - 1, "###############");
}

/* A part that has begun counts as if it went on like that; one that has just
 * begun is not shown. */
static void test_now(void)
{
	struct minute m = {0};

	for (unsigned i = 0; i < 6; i++)
		minute_add(&m, (1000 + i) * S, (1000 + i) * S + S - 1, 10);
	SHOWS(&m, 1006 * S, "             ##");
	minute_add(&m, 1006 * S, 1008 * S - 1, 20);
	minute_add(&m, 1008 * S, 1008 * S + 1, 1);
	SHOWS(&m, 1008 * S + 2, "             ##");
}

static void test_sum(void)
{
	struct minute a = {0}, b = {0}, all = {0};

	minute_add(&a, 1000 * S, 1003 * S, 3);
	minute_add(&a, 1004 * S, 1007 * S, 3);
	minute_add(&b, 1004 * S, 1007 * S, 4);
	minute_add(&b, 1008 * S, 1011 * S, 7);
	minute_sum(&all, &b);
	SHOWS(&all, 1012 * S - 1, "             =#");
	minute_sum(&all, &a);
	SHOWS(&all, 1012 * S - 1, "            =##");
	minute_sum(&all, &(struct minute){0});
	SHOWS(&all, 1012 * S - 1, "            =##");
	/* the other way round */
	memset(&all, 0, sizeof(all));
	minute_sum(&all, &a);
	minute_sum(&all, &b);
	SHOWS(&all, 1012 * S - 1, "            =##");
}

/* How high something stands: it stays as it was seen last, also in parts that
 * nobody looked in, and one that has just begun is shown. */
static void test_level(void)
{
	struct minute m = {0};
	char out[MINUTE_TEXT];

	minute_level(&m, 1000 * S, 4);
	SHOWS(&m, 1000 * S, "              #");
	minute_level(&m, 1001 * S, 8); /* the latest of a part */
	minute_level(&m, 1004 * S, 4);
	SHOWS(&m, 1004 * S, "             #=");
	minute_level(&m, 1017 * S, 0);
	SHOWS(&m, 1018 * S, "          #===_");
	SHOWS(&m, 1026 * S, "        #===___");
	minute_level(&m, 1200 * S, 8);
	SHOWS(&m, 1200 * S, "______________#");
	/* beside what would be the highest */
	minute_text(out, &m, 1200 * S, 16, true);
	TEST(!strcmp(out, "______________="));
	minute_text(out, &m, 1200 * S, 1, true);
	TEST(!strcmp(out, "______________#"));
}

/* Three bytes each, the lowest is not blank. */
static void test_unicode(void)
{
	struct minute m = {0};
	char out[MINUTE_TEXT];

	minute_add(&m, 1000 * S, 1003 * S, 0);
	minute_add(&m, 1004 * S, 1007 * S, 1);
	minute_text(out, &m, 1008 * S - 1, 0, false);
	TEST(!strcmp(out, "             \xe2\x96\x81\xe2\x96\x88"));
}

int main(void)
{
	test_empty();
	test_endless();
	test_parts();
	test_spread();
	test_now();
	test_sum();
	test_level();
	test_unicode();
	return test_end();
}
