/* SPDX-License-Identifier: BSD-2-Clause */
/* The progress line: what it says of bytes, packets and time, and its width. */
#include <string.h>

#include "cli/cli.h"
#include "cli/private.h"
#include "test.h"

static const struct cli_option no_options[] = {{0}};
static const struct cli program = {.name = "dta-translate",
				   .summary = "",
				   .usage = "",
				   .options = no_options};

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
#define TIB (1024 * GIB)

static const struct {
	struct cli_progress p;
	double seconds;
	const char *want; /* behind the name */
} cases[] = {
	/* a capture: 538 MiB took 3 s, so 1.2 GiB take 6.9 s */
	{{"packets", 1340000, 0, 538 * MIB, 5 * GIB / 4, 0},
	 3,
	 "1.34 M packets, 538 MiB of 1.2 GiB (42 %), 447 k/s, 4 s left"},
	{{"packets", 1340000, 0, 564640683, 1245708312, 0},
	 0.638,
	 "1.34 M packets, 538 MiB of 1.2 GiB (45 %), 2.1 M/s, 1 s left"},
	/* a pipe has no end that is known */
	{{"packets", 999, 0, 144283670, 0, 0},
	 10,
	 "999 packets, 138 MiB, 100/s"},
	/* so many are wanted: what the file holds besides is no matter */
	{{"packets", 25000, 100000, 3 * MIB, 0, 0},
	 1,
	 "25.0 k of 100 k packets (25 %), 25 k/s, 3 s left"},
	/* but if it holds less, it ends there */
	{{"packets", 25000, 100000, 3 * MIB, 4 * MIB, 0},
	 9,
	 "25.0 k of 100 k packets (75 %), 2.8 k/s, 3 s left"},
	{{"reports", 12000000, 0, 0, 0, 0}, 2, "12.0 M reports, 6.0 M/s"},
	/* by the clock, whatever comes until then; what comes first ends it */
	{{"packets", 0, 0, 0, 0, 5000000000}, 2, "0 packets, 0/s, 3 s left"},
	{{"packets", 10, 1000, 0, 0, 5000000000},
	 2,
	 "10 of 1.00 k packets (1 %), 5/s, 3 s left"},
	{{"packets", 999, 1000, 0, 0, UINT64_C(3600000000000)},
	 999,
	 "999 of 1.00 k packets (100 %), 1/s, 1 s left"},
	/* bytes alone */
	{{NULL, 0, 0, 64 * KIB, 10 * MIB, 0},
	 1,
	 "64 KiB of 10 MiB (1 %), 64 KiB/s, 3 min left"},
	/* nothing yet; an end; a file that grew */
	{{"packets", 0, 0, 0, GIB, 0}, 1, "0 packets (0 %), 0/s"},
	{{"packets", 7, 0, 700, 700, 0},
	 1,
	 "7 packets, 700 B of 700 B (100 %), 7/s, 0 s left"},
	{{"packets", 9, 0, 900, 700, 0},
	 1,
	 "9 packets, 900 B of 700 B (100 %), 9/s, 0 s left"},
	/* where one unit gives way to the next */
	{{"packets", 1000, 0, 1023, 1024, 0},
	 1,
	 "1.00 k packets, 1.0 KiB of 1.0 KiB (100 %), 1.0 k/s, 0 s left"},
	{{"packets", 999499, 0, 999 * KIB, 10189 * KIB, 0},
	 1,
	 "999 k packets, 999 KiB of 10 MiB (10 %), 999 k/s, 9 s left"},
	{{"packets", 9996000, 0, 1000 * KIB, 10 * TIB, 0},
	 1,
	 "10.0 M packets, 1.0 MiB of 10 TiB (0 %), 10 M/s, 2983 h left"},
	{{"packets", UINT64_C(5000000000000), 0, 5000 * TIB, 0, 0},
	 100000,
	 "5.00 T packets, 5000 TiB, 50 M/s"},
	/* time */
	{{"packets", 1000, 100400, 0, 0, 0},
	 1,
	 "1.00 k of 100 k packets (1 %), 1.0 k/s, 99 s left"},
	{{"packets", 1000, 100600, 0, 0, 0},
	 1,
	 "1.00 k of 101 k packets (1 %), 1.0 k/s, 2 min left"},
	{{"packets", 1000, 7000000, 0, 0, 0},
	 1,
	 "1.00 k of 7.00 M packets (0 %), 1.0 k/s, 2 h left"},
};

static void test_cases(void)
{
	char line[256];

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cli_progress_text(line, sizeof(line), &cases[i].p,
				  cases[i].seconds);
		if (!TEST(!strncmp(line, "dta-translate: ", 15) &&
			  !strcmp(line + 15, cases[i].want)))
			fprintf(stderr, "got:  %s\nwant: %15s%s\n", line, "",
				cases[i].want);
	}
}

/* The widest of numbers, in lines of any length: whole parts, in order. */
static void test_width(void)
{
	const struct cli_progress p = {"packets", 1344000000, 0,
				       538 * MIB, 99 * GIB,   0};
	char whole[256], line[256];

	cli_progress_text(whole, sizeof(whole), &p, 30);
	TEST(strlen(whole) < 80);
	for (size_t room = 1; room <= strlen(whole); room++) {
		memset(line, 'x', sizeof(line));
		cli_progress_text(line, room, &p, 30);
		TEST(memchr(line, '\0', room) && line[room] == 'x');
		if (room > sizeof("dta-translate:"))
			TEST(!strncmp(line, "dta-translate:", 14) &&
			     !strstr(line, "99 GiB") == !strstr(line, "538"));
	}
}

int main(void)
{
	cli_start(&program);
	test_cases();
	test_width();
	return test_end();
}
