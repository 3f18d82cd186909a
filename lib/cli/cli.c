/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

volatile sig_atomic_t cli_stop, cli_report;

static const char *program = "dta";

/* A write error that only the last flush shows must not pass for success. */
static void close_stdout(void)
{
	bool failed = ferror(stdout) != 0;

	if (fclose(stdout) == 0 && !failed)
		return;
	if (errno == EPIPE)
		_exit(CLI_OK); /* the reader had enough: head, less */
	fprintf(stderr, "%s: standard output: %s\n", program,
		strerror(errno ? errno : EIO));
	_exit(CLI_FAIL);
}

void cli_start(const struct cli *c)
{
	program = c->name;
	/* EPIPE instead: the program still flushes and prints its ledger. */
	signal(SIGPIPE, SIG_IGN);
	atexit(close_stdout);
}

static void print_usage(const struct cli *c, FILE *out)
{
	const char *line = c->usage;
	const char *lead = "usage: ";

	while (*line) {
		size_t len = strcspn(line, "\n");

		fprintf(out, "%s%.*s\n", lead, (int)len, line);
		lead = "       ";
		line += len + (line[len] == '\n');
	}
}

static void print_option(const struct cli_option *o)
{
	char left[64];
	int n;

	if (o->ch < 256)
		n = snprintf(left, sizeof(left), "  -%c, --%s", o->ch, o->name);
	else
		n = snprintf(left, sizeof(left), "      --%s", o->name);
	if (o->arg)
		snprintf(left + n, sizeof(left) - (size_t)n, " %s", o->arg);
	if (strlen(left) > 28)
		printf("%s\n%-28s %s\n", left, "", o->help);
	else
		printf("%-28s %s\n", left, o->help);
}

static const struct cli_option common[] = {
	{ 'h', "help", NULL, "show this help" },
	{ 'V', "version", NULL, "show the version" },
	{ 0 },
};

static void print_help(const struct cli *c)
{
	print_usage(c, stdout);
	printf("\n%s - %s\n\n", c->name, c->summary);
	for (const struct cli_option *o = c->options; o->name; o++)
		if (o->help)
			print_option(o);
	for (const struct cli_option *o = common; o->name; o++)
		print_option(o);
	printf("\nman %s tells the rest.\n", c->name);
}

enum {
	MAX_OPTIONS = 64,
};

struct getopt_tables {
	char letters[2 + 2 * MAX_OPTIONS];
	struct option longs[MAX_OPTIONS + 1];
};

static void add_options(struct getopt_tables *g, const struct cli_option *o)
{
	size_t n = strlen(g->letters), k = 0;

	while (g->longs[k].name)
		k++;
	for (; o->name && k < MAX_OPTIONS; o++, k++) {
		g->longs[k] = (struct option){
			.name = o->name,
			.has_arg = o->arg ? required_argument : no_argument,
			.val = o->ch,
		};
		if (o->ch < 256) {
			g->letters[n++] = (char)o->ch;
			if (o->arg)
				g->letters[n++] = ':';
		}
	}
}

int cli_next(const struct cli *c, int argc, char **argv)
{
	static struct getopt_tables g;
	int ch;

	if (!g.longs[0].name) {
		g.letters[0] = ':'; /* our own messages */
		add_options(&g, c->options);
		add_options(&g, common);
	}
	opterr = 0;
	ch = getopt_long(argc, argv, g.letters, g.longs, NULL);
	switch (ch) {
	case 'h':
		print_help(c);
		exit(CLI_OK);
	case 'V':
		printf("%s %s\n", c->name, VERSION);
		exit(CLI_OK);
	case ':':
		cli_usage(c, "%s: needs an argument", argv[optind - 1]);
	case '?':
		if (optopt && optopt < 256)
			cli_usage(c, "-%c: no such option", optopt);
		cli_usage(c, "%s: no such option", argv[optind - 1]);
	}
	return ch;
}

static void message(const char *fmt, va_list ap)
{
	cli_progress_end();
	fflush(stdout);
	fprintf(stderr, "%s: ", program);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

void cli_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(fmt, ap);
	va_end(ap);
	exit(CLI_FAIL);
}

void cli_usage(const struct cli *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(fmt, ap);
	va_end(ap);
	print_usage(c, stderr);
	exit(CLI_USAGE);
}

void cli_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(fmt, ap);
	va_end(ap);
}

static void on_signal(int sig)
{
	if (sig == SIGUSR1)
		cli_report = 1;
	else
		cli_stop = 1;
}

/* A mapped file lost its pages: nothing can go on from here. */
static void on_bus(int sig)
{
	static const char text[] =
		": a mapped file shrank while in use, or memory is full\n";

	(void)sig;
	if (write(STDERR_FILENO, program, strlen(program)) < 0 ||
	    write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(CLI_FAIL);
	_exit(CLI_FAIL);
}

void cli_signals(void)
{
	struct sigaction a = { .sa_handler = on_signal };

	sigaction(SIGINT, &a, NULL);
	sigaction(SIGTERM, &a, NULL);
	sigaction(SIGUSR1, &a, NULL);
	a.sa_handler = on_bus;
	sigaction(SIGBUS, &a, NULL);
}
