/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/cli.h"

#include <errno.h>
<<<<<<< HEAD
=======
#include <fcntl.h>
>>>>>>> front
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

<<<<<<< HEAD
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
=======
#include "cli/private.h"

enum {
	OPTIONS_MAX = 64,
	HELP_COLUMN = 26, /* where the help of an option begins */
};

static const char *program = "dta";
static bool complained; /* a message was printed and the status is not 0 */

const char *cli_name(void)
{
	return program;
}

static void message(const char *fmt, va_list ap)
	__attribute__((format(printf, 1, 0)));

/* One write, so that messages of a pipeline's programs do not mix. */
static void message(const char *fmt, va_list ap)
{
	char text[1024];

	vsnprintf(text, sizeof(text), fmt, ap);
	cli_progress_clear();
	fprintf(stderr, "%s: %s\n", program, text);
>>>>>>> front
}

void cli_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(fmt, ap);
	va_end(ap);
}

<<<<<<< HEAD
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
=======
void cli_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(fmt, ap);
	va_end(ap);
	complained = true;
	exit(CLI_FAIL);
}

/* The synopsis: its lines after the first are set below the first. */
static void print_usage(FILE *out, const struct cli *c)
{
	const char *line = c->usage, *lead = "usage: ";

	while (*line) {
		int len = (int)strcspn(line, "\n");

		fprintf(out, "%s%.*s\n", lead, len, line);
		line += len + (line[len] == '\n');
		lead = "       ";
	}
}

void cli_usage(const struct cli *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(fmt, ap);
	va_end(ap);
	print_usage(stderr, c);
	complained = true;
	exit(CLI_USAGE);
}

static void print_option(const struct cli_option *o)
{
	char left[80];
	int n;

	n = snprintf(left, sizeof(left), o->ch < 256 ? "  -%c, " : "      ",
		     o->ch);
	n += snprintf(left + n, sizeof(left) - (size_t)n, "--%s%s%s", o->name,
		      o->arg ? " " : "", o->arg ? o->arg : "");
	if (n > HELP_COLUMN - 2)
		printf("%s\n%*s%s\n", left, HELP_COLUMN, "", o->help);
	else
		printf("%-*s%s\n", HELP_COLUMN, left, o->help);
}

static void help(const struct cli *c)
{
	static const struct cli_option own[] = {
		{ 'h', "help", NULL, "print this and exit" },
		{ 'V', "version", NULL, "print the version and exit" },
	};

	print_usage(stdout, c);
	printf("\n%s\n\n", c->summary);
	for (const struct cli_option *o = c->options; o->name; o++)
		if (o->help)
			print_option(o);
	for (unsigned i = 0; i < 2; i++)
		print_option(&own[i]);
	exit(CLI_OK);
}

/*
 * A full disk must not pass for success. EBADF is a stdout that was closed
 * before we began; if something was written to it, fflush has said so.
 */
static void close_stdout(void)
{
	int err = 0;

	errno = 0;
	cli_progress_clear();
	if (fflush(stdout) || ferror(stdout))
		err = errno ? errno : EIO;
	if (fclose(stdout) && !err && errno != EBADF)
		err = errno;
	if (!err)
		return;
	if (!complained)
		fprintf(stderr, "%s: standard output: %s\n", program,
			strerror(err));
	_exit(CLI_FAIL);
}

/* Files opened later must not become the standard streams. */
static void hold_standard_streams(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", fd ? O_RDONLY : O_WRONLY);
}

void cli_start(const struct cli *c)
{
	program = c->name;
	hold_standard_streams();
	atexit(close_stdout);
	signal(SIGPIPE, SIG_DFL); /* whatever the parent made of it */
	unsetenv("POSIXLY_CORRECT"); /* options may follow operands */
	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, NULL, _IOFBF, 1 << 16);
}

/* The tables of getopt_long, made once; ':' leads, so that we report errors. */
static void getopt_tables(const struct cli *c, char *letters,
			  struct option *names)
{
	static const struct option own[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	unsigned n = 0;

	*letters++ = ':';
	for (const struct cli_option *o = c->options;
	     o->name && n < OPTIONS_MAX; o++) {
		names[n++] = (struct option){
			o->name, o->arg ? required_argument : no_argument, NULL,
			o->ch
		};
		if (o->ch > 255)
			continue;
		*letters++ = (char)o->ch;
		if (o->arg)
			*letters++ = ':';
	}
	memcpy(names + n, own, sizeof(own));
	memcpy(letters, "hV", sizeof("hV"));
}

/* How the option that getopt_long stumbled over was written. */
static const char *bad_option(const struct cli *c, char **argv, bool known)
{
	static char text[64];
	const char *word = argv[optind - 1];

	for (const struct cli_option *o = c->options; known && o->name; o++) {
		if (o->ch != optopt)
			continue;
		snprintf(text, sizeof(text), "--%s", o->name);
		return text;
	}
	if (optopt && optopt < 256)
		snprintf(text, sizeof(text), "-%c", optopt);
	else
		snprintf(text, sizeof(text), "%.*s", (int)strcspn(word, "="),
			 word);
	return text;
}

int cli_next(const struct cli *c, int argc, char **argv)
{
	static char letters[2 * OPTIONS_MAX + 4];
	static struct option names[OPTIONS_MAX + 3];
	int ch;

	if (!names[0].name)
		getopt_tables(c, letters, names);
	opterr = 0;
	ch = getopt_long(argc, argv, letters, names, NULL);
	switch (ch) {
	case 'h':
		help(c);
		break;
	case 'V':
		printf("%s %s\n", c->name, VERSION);
		exit(CLI_OK);
	case ':':
		cli_usage(c, "%s: argument missing", bad_option(c, argv, true));
	case '?':
		if (!strncmp(argv[optind - 1], "--", 2) && optopt)
			cli_usage(c, "%s takes no argument",
				  bad_option(c, argv, false));
		cli_usage(c, "unknown option %s", bad_option(c, argv, false));
	}
	return ch;
>>>>>>> front
}
