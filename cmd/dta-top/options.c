/* SPDX-License-Identifier: BSD-2-Clause */
/* options.c - dta-top's command line. */
#include "options.h"

#include <unistd.h>

#include "tables.h"

#define AT(field) CLI_AT(struct opts, field)

static const struct cli_option options[] = {
	{'R', "region", "NAME", "only this region, and who writes it", CLI_STR,
	 AT(region)},
	{'t', "table", "TABLE",
	 "programs (default), losses, counters or regions", CLI_WORD,
	 AT(top.top), .min = 1, .words = table_names},
	{0, "once", NULL, "the table as rows, and end", CLI_FLAG, AT(top.once)},
	BROWSE_ROW_OPTIONS(struct opts, top, NULL),
	{0, "prometheus", "[ADDR]:PORT",
	 "all counters for Prometheus, asked there for /metrics", CLI_STR,
	 AT(prometheus)},
	CLI_USER_OPTION(struct opts, live, "--prometheus"),
	{'o', "output", "FORMAT", "rows as text, csv or ndjson", CLI_FORMAT,
	 AT(format), .needs = "--once"},
	{0},
};

#define NO_TABLE "Prometheus gets all tables"

static const struct cli_group groups[] = {
	{"--prometheus --once"},
	{"--prometheus --table", .why = NO_TABLE},
	{"--prometheus --sort", .why = NO_TABLE},
	{"--prometheus --reverse", .why = NO_TABLE},
	{"--prometheus --lines", .why = NO_TABLE},
	{0},
};

const struct cli cli = {
	.name = "dta-top",
	.summary = "look on: running programs and the regions they write",
	.usage = "dta-top [-R REGION] [-t TABLE] [--every TIME]\n"
		 "dta-top [-R REGION] [-t TABLE] --once [-o FORMAT]\n"
		 "dta-top [-R REGION] --prometheus [ADDR]:PORT",
	.options = options,
	.groups = groups,
};

struct opts options_read(int argc, char **argv)
{
	struct opts o = {0};
	int n = cli_read(&cli, &o, argc, argv);

	if (n < argc)
		cli_usage(&cli, "'%s': no such argument", argv[n]);
	cli_check(&cli, &o, -1);
	if (!o.top.once && !o.prometheus && !isatty(STDOUT_FILENO))
		cli_usage(&cli,
			  "the standard output is no terminal: say --once, or "
			  "--prometheus");
	if (!o.top.top)
		o.top.top = 1 + TABLE_PROGRAMS;
	browse_defaults(&o.top, false);
	return o;
}
