/* SPDX-License-Identifier: BSD-2-Clause */
/* The table on a terminal: keys, clipping, columns; bytes to keys; the first so
 * many of many. */
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "screen/best.h"
#include "screen/screen.h"
#include "cli/tty.h"
#include "test.h"

static const struct row_field fields[] = {
	{"name", ROW_STR, 4},
	{"count", ROW_U64, 5},
	{"mean", ROW_F64, 5},
	{"path", ROW_LIST, 0},
};

static const struct schema schema = {"sample", fields, 4};
static const char *const tables[] = {"flows", "queues", "routes", NULL};
static const char *const head[SCREEN_HEAD] = {"one", "two \033[2J", ""};

static struct screen s;
static struct row_batch rows;
static struct outbuf out;

static void begin(void)
{
	static const uint64_t path[] = {1, 2, 3};

	screen_fini(&s);
	memset(&s, 0, sizeof(s));
	s.tables = tables;
	screen_turn(&s, &schema, 1, 1);
	s.total = 10;
	row_batch_clear(&rows);
	row_batch_str(&rows, 0, "a");
	row_batch_set(&rows, 1, ROW_U64)->u64 = 7;
	row_batch_end(&rows);
	row_batch_str(&rows, 0, "b\033[31m");
	row_batch_set(&rows, 1, ROW_U64)->u64 = 1234567;
	row_batch_set(&rows, 2, ROW_F64)->f64 = 1.5;
	row_batch_list(&rows, 3, path, 3);
	row_batch_end(&rows);
}

/* Line i of what is drawn, its control sequences taken out. */
static const char *line(unsigned columns, unsigned lines, unsigned i)
{
	static char text[512];
	const char *p;
	size_t len, n = 0;

	outbuf_cut(&out, 0);
	screen_draw(&s, head, &rows, columns, lines, &out);
	p = outbuf_text(&out, &len);
	for (; i && p; i--)
		p = strstr(p, "\r\n") + 2;
	for (; *p && *p != '\r'; p++) {
		if (*p == '\033')
			p += 1 + strcspn(p + 2, "HKm") + 1;
		else if (n + 1 < sizeof(text))
			text[n++] = *p;
	}
	text[n] = '\0';
	return text;
}

#define SHOWS(columns, lines, i, want)                                         \
	TEST(!strcmp(line(columns, lines, i), want))

static void test_drawing(void)
{
	begin();
	SHOWS(40, 10, 0, "one");
	SHOWS(40, 10, 1, "two .[2J"); /* nothing that a terminal obeys */
	SHOWS(40, 10, 3, "name     count mean path                ");
	SHOWS(40, 10, 4, "a            7    - -     ");
	SHOWS(40, 10, 5, "b.[31m 1234567  1.5 1:2:3 ");
	SHOWS(40, 10, 6, "");
	SHOWS(60, 10, 9, "1 to 2 of 10, by count; ? for keys");
	/* a number that is cut off is not a smaller one */
	SHOWS(12, 10, 5, "b.[31m 1234+");
	SHOWS(12, 10, 4, "a          7");
	SHOWS(13, 10, 5, "b.[31m 12345+");
	SHOWS(8, 10, 5, "b.[31m +");
	SHOWS(3, 10, 5, "b.+");
	SHOWS(1, 10, 5, "+");
	/* no line but those that there are */
	SHOWS(40, 1, 0, "1 to 2 of 10, by count; ? for keys");
	SHOWS(40, 2, 0, "one");
	TEST(screen_rows(24) == 19 && screen_rows(5) == 0 &&
	     screen_rows(1) == 0);
}

/* As on a terminal without a screen: bytes in KiB, times of the day. */
static void test_units(void)
{
	static const struct row_field of[] = {
		{"size", ROW_U64, 4, ROW_VALUE, "bytes"},
		{"at", ROW_TIME, 8},
	};
	static const struct schema units = {"units", of, 2};
	struct row_batch own = rows;

	setenv("TZ", "UTC", 1);
	screen_fini(&s);
	memset(&s, 0, sizeof(s));
	s.tables = tables;
	screen_turn(&s, &units, 1, 0);
	TEST(!row_batch_init(&rows, &units, 4));
	row_batch_set(&rows, 0, ROW_U64)->u64 = 3 << 19;
	row_batch_set(&rows, 1, ROW_TIME)->i64 = INT64_C(86400500000000);
	row_batch_end(&rows);
	SHOWS(60, 10, 4, "1.5MiB 1970-01-02 00:00:00.500 ");
	row_batch_fini(&rows);
	rows = own;
}

static void test_wide_cell(void)
{
	char wide[2 * SCREEN_CELL_MAX + 1];

	begin();
	memset(wide, 'x', sizeof(wide) - 1);
	wide[sizeof(wide) - 1] = '\0';
	row_batch_str(&rows, 0, wide);
	row_batch_set(&rows, 1, ROW_U64)->u64 = 7;
	row_batch_end(&rows);
	line(200, 10, 6);
	TEST(strspn(line(200, 10, 6), "x") == SCREEN_CELL_MAX - 1);
	TEST(line(200, 10, 6)[SCREEN_CELL_MAX - 1] == '+');
	TEST(!strncmp(line(200, 10, 6) + SCREEN_CELL_MAX, "       7", 8));
	/* columns keep their width when it is gone */
	rows.rows--;
	TEST(strspn(line(200, 10, 4) + 1, " ") == SCREEN_CELL_MAX + 6);
	/* until there is another table */
	screen_turn(&s, &schema, 1, 1);
	SHOWS(40, 10, 4, "a            7    - -     ");
}

/* A column each, wherever they are cut; nothing else beyond ASCII. */
static void test_sparkline(void)
{
	begin();
	row_batch_str(&rows, 0, "\xe2\x96\x81\xe2\x96\x88\xe2\x96\x83");
	row_batch_set(&rows, 1, ROW_U64)->u64 = 7;
	row_batch_end(&rows);
	row_batch_str(&rows, 0, "\xe2\x96\x89\xe2\x96");
	row_batch_end(&rows);
	SHOWS(40, 10, 6,
	      "\xe2\x96\x81\xe2\x96\x88\xe2\x96\x83          7    - -     ");
	SHOWS(40, 10, 7, ".....        -    - -     ");
	SHOWS(2, 10, 6, "\xe2\x96\x81+");
	SHOWS(3, 10, 6, "\xe2\x96\x81\xe2\x96\x88\xe2\x96\x83");
}

/* What is not as it should be is red, where there are colours. */
static void test_red(void)
{
	static const struct row_field some[] = {
		{"name", ROW_STR, 4},
		{"drops", ROW_U64, 5, .good = "0"},
	};
	static const struct schema judged = {"judged", some, 2};
	const uint64_t drops[] = {0, 10};
	size_t len;

	begin();
	row_batch_fini(&rows);
	TEST(!row_batch_init(&rows, &judged, 4));
	screen_turn(&s, &judged, 1, 0);
	for (unsigned i = 0; i < 2; i++) {
		row_batch_set(&rows, 1, ROW_U64)->u64 = drops[i];
		row_batch_end(&rows);
	}
	row_batch_end(&rows); /* not known is not wrong */
	for (int colour = 0; colour < 2; colour++) {
		const char *p, *red;

		s.colour = colour;
		outbuf_cut(&out, 0);
		screen_draw(&s, head, &rows, 40, 10, &out);
		p = outbuf_text(&out, &len);
		red = strstr(p, "\033[31m");
		TEST(!red == !colour);
		TEST(!red || !strncmp(red, "\033[31m   10\033[39m", 15));
		TEST(!red || !strstr(red + 1, "\033[31m"));
	}
	row_batch_fini(&rows);
	TEST(!row_batch_init(&rows, &schema, 4));
}

static void test_columns(void)
{
	begin();
	TEST(screen_press(&s, KEY_RIGHT) == SCREEN_LOOKS);
	SHOWS(40, 10, 5, "b.[31m  1.5 1:2:3 ");
	screen_press(&s, KEY_RIGHT);
	screen_press(&s, KEY_RIGHT); /* the last one stays */
	SHOWS(40, 10, 5, "b.[31m 1:2:3 ");
	screen_press(&s, KEY_LEFT);
	SHOWS(40, 10, 5, "b.[31m  1.5 1:2:3 ");
}

static void test_keys(void)
{
	begin();
	TEST(screen_press(&s, 'q') == SCREEN_QUIT);
	TEST(screen_press(&s, KEY_END_OF_INPUT) == SCREEN_QUIT);
	TEST(screen_press(&s, KEY_NONE) == SCREEN_NOTHING);
	TEST(screen_press(&s, 'z') == SCREEN_NOTHING);
	TEST(screen_press(&s, KEY_OTHER) == SCREEN_NOTHING);
	TEST(screen_press(&s, '>') == SCREEN_SORT && s.sort == 2);
	TEST(screen_press(&s, 's') == SCREEN_SORT && s.sort == 3);
	TEST(screen_press(&s, '>') == SCREEN_SORT && s.sort == 0);
	TEST(screen_press(&s, '<') == SCREEN_SORT && s.sort == 3);
	TEST(screen_press(&s, 'r') == SCREEN_SORT && s.ascending);
	TEST(screen_press(&s, '2') == SCREEN_TABLE && s.table == 1);
	TEST(screen_press(&s, 'f') == SCREEN_TABLE && s.table == 0);
	/* q and r are taken */
	TEST(screen_press(&s, 'u') == SCREEN_TABLE && s.table == 1);
	TEST(screen_press(&s, 'o') == SCREEN_TABLE && s.table == 2);
	TEST(screen_press(&s, '4') == SCREEN_NOTHING);
	TEST(screen_press(&s, '\0') == SCREEN_NOTHING);
	TEST(screen_press(&s, ' ') == SCREEN_LOOKS && s.paused);
	TEST(screen_press(&s, ' ') == SCREEN_LOOKS && !s.paused);
	TEST(screen_press(&s, '?') == SCREEN_LOOKS && s.help);
	TEST(!strncmp(line(80, 24, 4), "q ", 2));
	TEST(screen_press(&s, '>') == SCREEN_LOOKS && !s.help && s.sort == 3);
}

static void test_scrolling(void)
{
	begin();
	line(40, 9, 0); /* four rows */
	screen_press(&s, KEY_UP);
	TEST(s.first == 0);
	screen_press(&s, KEY_DOWN);
	TEST(s.first == 1);
	screen_press(&s, KEY_PAGE_DOWN);
	TEST(s.first == 5);
	screen_press(&s, KEY_PAGE_DOWN);
	TEST(s.first == 6); /* the last page is full */
	screen_press(&s, KEY_DOWN);
	TEST(s.first == 6);
	screen_press(&s, KEY_PAGE_UP);
	TEST(s.first == 2);
	screen_press(&s, KEY_PAGE_UP);
	TEST(s.first == 0);
	screen_press(&s, KEY_END);
	TEST(s.first == 6);
	screen_press(&s, KEY_HOME);
	TEST(s.first == 0);
	s.total = 3;
	screen_press(&s, KEY_END);
	TEST(s.first == 0);
	s.total = 10;
	screen_press(&s, KEY_END);
	screen_press(&s, '>'); /* the first ones by another column */
	TEST(s.first == 0);
}

static void type(const char *text)
{
	while (*text)
		screen_press(&s, (unsigned char)*text++);
}

static void test_filter(void)
{
	begin();
	type("/nod");
	TEST(s.editing && !s.filter[0]);
	TEST(!strcmp(line(40, 10, 9), "filter: nod_"));
	type("q"); /* a letter, not the end */
	TEST(screen_press(&s, KEY_ERASE) == SCREEN_LOOKS);
	type("e 7");
	TEST(screen_press(&s, KEY_UP) == SCREEN_NOTHING);
	TEST(screen_press(&s, '\r') == SCREEN_FILTER);
	TEST(!strcmp(s.filter, "node 7") && !s.editing);
	type("/8"); /* it goes on from there; escape leaves it as it was */
	TEST(!strcmp(s.edit, "node 78"));
	screen_press(&s, KEY_ESCAPE);
	TEST(!strcmp(s.filter, "node 7") && !s.editing);
	type("/\025");
	TEST(screen_press(&s, '\n') == SCREEN_FILTER && !s.filter[0]);
	type("/");
	for (unsigned i = 0; i < 2 * SCREEN_FILTER_MAX; i++)
		type("x");
	TEST(strlen(s.edit) == SCREEN_FILTER_MAX - 1);
	TEST(strlen(line(40, 10, 9)) == 40);
	for (unsigned i = 0; i < 2 * SCREEN_FILTER_MAX; i++)
		screen_press(&s, '\b');
	TEST(!s.edit[0]);
}

static void test_bytes(void)
{
	static const struct {
		const char *bytes;
		int key;
		size_t used;
	} cases[] = {
		{"q", 'q', 1},
		{"\033[A", KEY_UP, 3},
		{"\033[Bx", KEY_DOWN, 3},
		{"\033OC", KEY_RIGHT, 3},
		{"\033[D", KEY_LEFT, 3},
		{"\033[5~", KEY_PAGE_UP, 4},
		{"\033[6~q", KEY_PAGE_DOWN, 4},
		{"\033[H", KEY_HOME, 3},
		{"\033[4~", KEY_END, 4},
		{"\033", KEY_ESCAPE, 1},
		{"\033x", KEY_ESCAPE, 1},
		{"\033[1;5Aq", KEY_UP, 6},
		{"\033[1;5", KEY_OTHER, 5},
		{"\033[Z", KEY_OTHER, 3},
		{"\033[11~q", KEY_OTHER, 5},
		{"\377", 255, 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *bytes = cases[i].bytes;
		size_t used;
		int key = tty_decode(bytes, strlen(bytes), &used);

		if (!TEST(key == cases[i].key && used == cases[i].used))
			fprintf(stderr, "case %zu: %d, %zu\n", i, key, used);
	}
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

static void test_best(void)
{
	enum { MANY = 1000 };
	static const uint32_t room[] = {0, 1, 2, 7, 999, 1000, 2000};
	uint64_t key[MANY], sorted[MANY];
	struct best b;

	for (unsigned i = 0; i < MANY; i++)
		sorted[i] = key[i] = rng_mix(i) % 300; /* some are equal */
	qsort(sorted, MANY, sizeof(sorted[0]), compare);
	for (unsigned r = 0; r < sizeof(room) / sizeof(room[0]); r++) {
		unsigned want = room[r] < MANY ? room[r] : MANY;

		TEST(!best_init(&b, room[r]));
		for (uint32_t i = 0; i < MANY; i++)
			best_add(&b, (struct best_one){key[i], i, true});
		best_sort(&b);
		TEST(b.n == want);
		for (unsigned i = 0; i < b.n; i++) {
			TEST(b.one[i].key == sorted[i]);
			TEST(key[b.one[i].at] == sorted[i]);
			TEST(!i || b.one[i - 1].key != b.one[i].key ||
			     b.one[i - 1].at < b.one[i].at);
		}
		best_fini(&b);
	}
	TEST(!best_init(&b, 3));
	best_add(&b, (struct best_one){9, 0, false});
	best_add(&b, (struct best_one){0, 1, true});
	best_add(&b, (struct best_one){1, 2, false});
	best_add(&b, (struct best_one){5, 3, true});
	best_sort(&b);
	TEST(b.n == 3 && b.one[0].at == 3 && b.one[1].at == 1 &&
	     b.one[2].at == 0);
	best_fini(&b);
}

int main(void)
{
	if (!TEST(!row_batch_init(&rows, &schema, 4)))
		return test_end();
	test_drawing();
	test_units();
	test_wide_cell();
	test_sparkline();
	test_red();
	test_columns();
	test_keys();
	test_scrolling();
	test_filter();
	test_bytes();
	test_best();
	row_batch_fini(&rows);
	screen_fini(&s);
	free(out.text);
	return test_end();
}
