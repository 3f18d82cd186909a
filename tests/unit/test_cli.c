/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ledgers, signals, and values of options; each in a child process, since a
 * refusal exits.
 * Options and messages themselves are tested in tests/cli/common.bats.
 */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

enum kind { U64, SIZE, F64, TIME, FORMAT };

/* What comes back, or -1: refused with status 2 and a message that names it. */
static double judged(enum kind k, const char *text)
{
	int out[2], err[2], status;
	char message[256] = "";
	double v = -2;
	pid_t pid;

	fflush(NULL);
	if (pipe(out) || pipe(err) || (pid = fork()) < 0)
		return -3;
	if (!pid) {
		dup2(err[1], 2);
		if (k == U64)
			v = (double)cli_u64("--x", text, 10, 1000);
		else if (k == SIZE)
			v = (double)cli_size("--x", text, 1, 1ull << 50);
		else if (k == F64)
			v = cli_f64("--x", text, 0, 100);
		else if (k == TIME)
			v = (double)cli_duration_ns("--x", text);
		else
			v = (double)cli_format(text);
		_exit(write(out[1], &v, sizeof(v)) != sizeof(v));
	}
	close(out[1]);
	close(err[1]);
	waitpid(pid, &status, 0);
	(void)!read(out[0], &v, sizeof(v));
	(void)!read(err[0], message, sizeof(message) - 1);
	close(out[0]);
	close(err[0]);
	if (!WIFEXITED(status))
		return -4;
	if (WEXITSTATUS(status) == CLI_USAGE)
		return strstr(message, k == FORMAT ? "--output: " : "--x: ") &&
				       strchr(message, '\n')
			       ? -1
			       : -5;
	return WEXITSTATUS(status) ? -6 : v;
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
	{SIZE, "3K", 3072},
	{SIZE, "2M", 2097152},
	{SIZE, "1G", 1073741824},
	{SIZE, "1GiB", 1073741824},
	{SIZE, "1T", 1099511627776},
	{SIZE, "1024T", 0x1p50},
	{SIZE, "1025T", -1},
	{SIZE, "16777216T", -1}, /* 2^64 */
	{SIZE, "0", -1},
	{SIZE, "K", -1},
	{SIZE, "1k", -1},
	{SIZE, "1KB", -1},
	{SIZE, "1KK", -1},
	{SIZE, "1.5K", -1},
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
	{"malformed", offsetof(struct counters, drop), LEDGER_DROP},
	{"foreign", offsetof(struct counters, other), LEDGER_DROP},
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
	     "stage,malformed,drop,0\nstage,foreign,drop,0\n"
	     "stage,bytes,note,0\n"
	     "stage,received,in,2\nstage,stored,done,1\n"
	     "stage,malformed,drop,0\nstage,foreign,drop,0\n"
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

int main(void)
{
	test_reports();
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double got = judged(cases[i].kind, cases[i].text);

		if (!TEST(got == cases[i].want))
			fprintf(stderr, "kind %d, '%s': %g, want %g\n",
				(int)cases[i].kind, cases[i].text, got,
				cases[i].want);
	}
	return test_end();
}
