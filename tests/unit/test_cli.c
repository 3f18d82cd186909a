/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ledgers, signals, values of options and their rules; what exits in a child
 * process. Options of all programs are tested in tests/cli/common.bats.
 */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "test.h"

enum kind { U64, SIZE, F64, TIME, FORMAT, SHARE, PERCENT };

struct values {
	uint64_t u64, size, time;
	double f64;
	enum row_format format;
	uint8_t narrow;
	uint16_t word;
	bool flag;
	const char *text;
};

#define AT(field) CLI_AT(struct values, field)

static const char *const words[] = {"one", "two", "three", NULL};

static const struct cli_option table[] = {
	{'u', "u64", "N", "", CLI_U64, AT(u64), .min = 10, .max = 1000},
	{'s', "size", "N", "", CLI_SIZE, AT(size), .min = 1, .max = 1ull << 50},
	{'f', "f64", "X", "", CLI_F64, AT(f64), .high = 100},
	{'t', "time", "TIME", "", CLI_TIME, AT(time), .max = INT64_MAX},
	{'o', "output", "FORMAT", "", CLI_FORMAT, AT(format)},
	{'a', "share", "P", "", CLI_F64, AT(f64), .high = 1},
	{'p', "percent", "PERCENT", "", CLI_U64, AT(u64), .max = 100},
	{'n', "narrow", "N", "", CLI_U64, AT(narrow)},
	{'w', "word", "W", "", CLI_WORD, AT(word), .min = 1, .words = words},
	{'y', "flag", NULL, "", CLI_FLAG, AT(flag)},
	{'x', "text", "X", "", CLI_STR, AT(text)},
	{0},
};

/* What is stored, or -1: refused, with a reason that shows in a line. */
static double judged(enum kind k, const char *text)
{
	struct values v = {0};
	struct error why = {0};

	if (cli_set(&table[k], &v, text, &why) < 0)
		return strncmp(why.text, "is not ", 7) ? -5 : -1;
	return k == U64 || k == PERCENT ? (double)v.u64
	       : k == SIZE		? (double)v.size
	       : k == F64 || k == SHARE ? v.f64
	       : k == TIME		? (double)v.time
					: (double)v.format;
}

static const struct {
	enum kind kind;
	const char *text;
	double want;
} cases[] = {
	{U64, "10", 10},
	{U64, "1000", 1000},
	{U64, "010", 10}, /* not octal */
	{U64, "9", -1},
	{U64, "1001", -1},
	{U64, "", -1},
	{U64, " 10", -1},
	{U64, "10 ", -1},
	{U64, "+10", -1},
	{U64, "-10", -1},
	{U64, "-18446744073709551606", -1}, /* 10 mod 2^64 */
	{U64, "18446744073709551626", -1},
	{U64, "10x", -1},
	{U64, "0x10", -1},
	{SIZE, "1", 1},
	{SIZE, "3K", 3000},
	{SIZE, "3k", 3000},
	{SIZE, "2M", 2000000},
	{SIZE, "1G", 1e9},
	{SIZE, "1GiB", 1073741824},
	{SIZE, "1T", 1e12},
	{SIZE, "1e6", 1e6},
	{SIZE, "1.5K", 1500},
	{SIZE, "1024TiB", 0x1p50},
	{SIZE, "1025TiB", -1},
	{SIZE, "16777216T", -1}, /* 2^64 */
	{SIZE, "0", -1},
	{SIZE, "K", -1},
	{SIZE, "1KB", 1000},
	{SIZE, "1KK", -1},
	{SIZE, "1.5", -1},
	{SIZE, "64MiB", 0x1p26},
	{SIZE, "64MB", 64e6},
	{SIZE, "64m", -1},
	{SHARE, "99%", 0.99},
	{SHARE, "0.99", 0.99},
	{SHARE, "101%", -1},
	{SHARE, "%", -1},
	{F64, "99%", -1},
	{PERCENT, "50%", 50},
	{PERCENT, "50", 50},
	{PERCENT, "101%", -1},
	{SIZE, "", -1},
	{F64, "0", 0},
	{F64, ".5", 0.5},
	{F64, "2.5e1", 25},
	{F64, "100", 100},
	{F64, "100.1", -1},
	{F64, "-0", -1},
	{F64, "+1", -1},
	{F64, "1,5", -1},
	{F64, "0x1", -1},
	{F64, "nan", -1},
	{F64, "inf", -1},
	{F64, "1e999", -1},
	{F64, ".", -1},
	{F64, "", -1},
	{TIME, "1", 1e9},
	{TIME, "0.5", 5e8},
	{TIME, "100ms", 1e8},
	{TIME, "250us", 250000},
	{TIME, "7ns", 7},
	{TIME, "5s", 5e9},
	{TIME, "2m", 120e9},
	{TIME, "1h", 3600e9},
	{TIME, "1d", 86400e9},
	{TIME, "5 s", -1},
	{TIME, "s", -1},
	{TIME, "-1s", -1},
	{TIME, "1e20", -1},
	{TIME, "1y", -1},
	{TIME, "", -1},
	{FORMAT, "text", ROW_TEXT},
	{FORMAT, "csv", ROW_CSV},
	{FORMAT, "ndjson", ROW_NDJSON},
	{FORMAT, "json", -1},
	{FORMAT, "", -1},
};

struct counters {
	uint64_t in, done, drop, other, note;
};

static const struct ledger_field ledger_fields[] = {
	{"received", offsetof(struct counters, in), LEDGER_IN},
	{"stored", offsetof(struct counters, done), LEDGER_DONE},
	{"malformed", offsetof(struct counters, drop), LEDGER_LOSS},
	{"foreign", offsetof(struct counters, other), LEDGER_HARMLESS},
	{"bytes", offsetof(struct counters, note), LEDGER_NOTE},
};

static const struct ledger ledger = {"stage", "reports", ledger_fields, 5};
static const struct cli_option no_options[] = {{0}};
static const struct cli program = {
	.name = "tool", .summary = "", .usage = "tool", .options = no_options};

static void print_text(void)
{
	cli_ledger(&ledger, &(struct counters){12, 0, 12, 0, 7}, ROW_TEXT);
}

/* Two ledgers, one header; the second does not add up. */
static void print_csv(void)
{
	cli_ledger(&ledger, &(struct counters){1, 1, 0, 0, 0}, ROW_CSV);
	cli_ledger(&ledger, &(struct counters){2, 1, 0, 0, 9}, ROW_CSV);
}

static void print_ndjson(void)
{
	struct ledger one = ledger;

	one.n = 2;
	cli_ledger(&one, &(struct counters){1, 1, 0, 0, 0}, ROW_NDJSON);
}

static void shrink(void)
{
	cli_signals();
	raise(SIGBUS);
}

static void stop(void)
{
	cli_signals();
	raise(SIGUSR1);
	if (cli_stop || !cli_report)
		cli_fail("SIGUSR1");
	raise(SIGINT);
	raise(SIGTERM); /* a second one does not kill */
	if (!cli_stop)
		cli_fail("SIGINT");
}

/* What a child says on stderr, and its status. */
static void says(void (*what)(void), const char *want, int want_status)
{
	char got[2048] = "";
	size_t len = 0;
	int err[2], status;
	ssize_t n;
	pid_t pid;

	fflush(NULL);
	if (!TEST(pipe(err) == 0))
		return;
	pid = fork();
	TEST(pid >= 0);
	if (!pid) {
		dup2(err[1], 2);
		cli_start(&program);
		what();
		exit(0);
	}
	close(err[1]);
	while ((n = read(err[0], got + len, sizeof(got) - 1 - len)) > 0)
		len += (size_t)n;
	close(err[0]);
	waitpid(pid, &status, 0);
	TEST(WIFEXITED(status) && WEXITSTATUS(status) == want_status);
	if (!TEST(!strcmp(got, want)))
		fprintf(stderr, "got:\n%swant:\n%s", got, want);
}

static void test_reports(void)
{
	says(print_text,
	     "tool: stage, reports\n"
	     "  received             12\n"
	     "  stored                0\n"
	     "  malformed            12\n"
	     "  bytes                 7\n",
	     0);
	says(print_csv,
	     "stage,counter,role,value\n"
	     "stage,received,in,1\nstage,stored,done,1\n"
	     "stage,malformed,loss,0\nstage,foreign,harmless,0\n"
	     "stage,bytes,note,0\n"
	     "stage,received,in,2\nstage,stored,done,1\n"
	     "stage,malformed,loss,0\nstage,foreign,harmless,0\n"
	     "stage,bytes,note,9\n"
	     "tool: stage: the ledger does not add up\n",
	     0);
	says(print_ndjson,
	     "{\"stage\":\"stage\",\"counter\":\"received\","
	     "\"role\":\"in\",\"value\":1}\n"
	     "{\"stage\":\"stage\",\"counter\":\"stored\","
	     "\"role\":\"done\",\"value\":1}\n",
	     0);
	says(shrink, "tool: a mapped file shrank while it was in use\n",
	     CLI_FAIL);
	says(stop, "", 0);
}

/* What fits, and what would run into the field beside it. */
static void test_widths(void)
{
	struct values v = {.word = 0xffff};
	struct error why;

	TEST(!cli_set(&table[7], &v, "255", &why) && v.narrow == 255);
	TEST(cli_set(&table[7], &v, "256", &why) == -EINVAL);
	TEST(!strcmp(why.text, "is not a whole number from 0 to 255"));
	TEST(v.narrow == 255 && v.word == 0xffff && !v.flag);
}

static void test_words(void)
{
	struct values v = {0};
	struct error why;

	TEST(!cli_set(&table[8], &v, "three", &why) && v.word == 3);
	TEST(cli_set(&table[8], &v, "four", &why) == -EINVAL);
	TEST(!strcmp(why.text, "is not one, two or three") && v.word == 3);
	TEST(!cli_set(&table[9], &v, "yes", &why) && v.flag);
	TEST(!cli_set(&table[9], &v, "no", &why) && !v.flag);
	TEST(cli_set(&table[9], &v, "perhaps", &why) == -EINVAL);
	TEST(cli_set(&table[10], &v, "", &why) == -EINVAL && !v.text);
	TEST(!cli_set(&table[10], &v, "x", &why) && *v.text == 'x');
}

static void read_line(char *line)
{
	static const struct cli_option lines[] = {
		{'r', "read", "FILE", "", CLI_IN, AT(text)},
		{'k', "keys", "FILE", "", CLI_IN, AT(u64)},
		{'w', "write", "FILE", "", CLI_OUT, AT(size)},
		{0, "fast", NULL, "", CLI_FLAG, AT(flag), .needs = "-r|-k -w",
		 .why = "it copies"},
		{0, "slow", NULL, "", CLI_FLAG, AT(flag), .verbs = "walk"},
		{0, "often", NULL, "", CLI_FLAG, AT(flag)},
		{0},
	};
	static const struct cli_group groups[] = {
		{"--fast --slow --often", .ask = "how?"},
		{0},
	};
	static const char *const verbs[] = {"run", "walk", "rest", NULL};
	static const struct cli tool = {.name = "tool",
					.options = lines,
					.groups = groups,
					.verbs = verbs};
	struct values v = {0};
	char name[] = "tool", *argv[16] = {name};
	int argc = 1 + words_split(line, argv + 1, 14), n;

	n = cli_read(&tool, &v, argc, argv);
	cli_check(&tool, &v, cli_verb(&tool, argv[n]));
}

static const struct {
	const char *line, *says;
} lines[] = {
	{"run --often", NULL},
	{"walk --slow -r -", NULL},
	{"rest --fast -k a -w b", NULL},
	{"", "run, walk or rest?"},
	{"crawl --often", "'crawl' is not run, walk or rest"},
	{"run", "how? Say --fast, --slow or --often"},
	{"walk --slow --often",
	 "only one of --fast, --slow and --often may be given"},
	{"rest --slow", "--slow is for walk"},
	{"run --fast -w b", "--fast needs -r or -k: it copies"},
	{"run --fast -r b", "--fast needs -w: it copies"},
	{"run --often -r - -k -", "the standard input cannot be two files: "
				  "only one of --read and --keys may be -"},
};

static const char *line_in_hand;

static void read_in_hand(void)
{
	char line[128];

	snprintf(line, sizeof(line), "%s", line_in_hand);
	read_line(line);
}

static void test_rules(void)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char want[256] = "";

		if (lines[i].says)
			snprintf(want, sizeof(want),
				 "tool: %s\ntry 'tool -h'\n", lines[i].says);
		line_in_hand = lines[i].line;
		says(read_in_hand, want, lines[i].says ? CLI_USAGE : 0);
	}
	line_in_hand = "run --often -r same -w same";
	says(read_in_hand, "tool: same: named twice: it would be overwritten\n",
	     CLI_USAGE);
}

int main(void)
{
	test_reports();
	test_widths();
	test_words();
	test_rules();
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double got = judged(cases[i].kind, cases[i].text);

		if (!TEST(got == cases[i].want))
			fprintf(stderr, "kind %d, '%s': %g, want %g\n",
				(int)cases[i].kind, cases[i].text, got,
				cases[i].want);
	}
	return test_end();
}
