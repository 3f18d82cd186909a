/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/private.h"

enum {
	OPTIONS_MAX = 64,
	HELP_COLUMN = 26, /* where the help of an option begins, of 80 */
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
}

void cli_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(fmt, ap);
	va_end(ap);
}

void cli_tell(void *ctx, const char *text)
{
	(void)ctx;
	cli_warn("%s", text);
}

void cli_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(fmt, ap);
	va_end(ap);
	complained = true;
	exit(CLI_FAIL);
}

void cli_fault(const char *object, const struct fault *f)
{
	struct fault all;

	fault_of(&all, 0, object, f);
	cli_fail("%s", all.text);
}

void cli_warn_fault(const char *object, const struct fault *f)
{
	struct fault all;

	fault_of(&all, 0, object, f);
	cli_warn("%s", all.text);
}

/* The synopsis: its lines after the first are set below the first. */
static void print_usage(const struct cli *c)
{
	const char *line = c->usage, *lead = "usage: ";

	while (*line) {
		int len = (int)strcspn(line, "\n");

		printf("%s%.*s\n", lead, len, line);
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
	/* Not the whole synopsis: what is wrong would scroll away. */
	fprintf(stderr, "usage: %s [OPTION]... [ARGUMENT]...; try '%s -h'\n",
		c->name, c->name);
	complained = true;
	exit(CLI_USAGE);
}

/* Help beside an option, in lines that keep within 80 columns. */
static void print_help(const char *text)
{
	size_t left = strlen(text), room = 80 - HELP_COLUMN;

	while (left > room) {
		const char *blank = memrchr(text, ' ', room + 1);
		size_t len = blank ? (size_t)(blank - text) : room;

		printf("%.*s\n%*s", (int)len, text, HELP_COLUMN, "");
		len += blank != NULL;
		text += len;
		left -= len;
	}
	printf("%s\n", text);
}

static void print_option(const struct cli_option *o)
{
	char left[80];
	int n;

	n = snprintf(left, sizeof(left), o->ch < 256 ? "  -%c, " : "      ",
		     o->ch);
	n += snprintf(left + n, sizeof(left) - (size_t)n, "--%s%s%s", o->name,
		      o->arg ? " " : "", o->arg ? o->arg : "");
	printf("%-*s", HELP_COLUMN, left);
	if (n > HELP_COLUMN - 2)
		printf("\n%*s", HELP_COLUMN, "");
	print_help(o->help);
}

static void help(const struct cli *c)
{
	static const struct cli_option own[] = {
		{'h', "help", NULL, "print this and exit"},
		{'V', "version", NULL, "print the version and exit"},
	};

	print_usage(c);
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
 * before we began; if something was written to it, fflush has said so. Of a
 * write that failed long ago nobody knows the reason any more.
 */
static void close_stdout(void)
{
	bool failed = ferror(stdout);
	int err = 0;

	cli_progress_clear();
	if (fflush(stdout))
		err = errno;
	if (fclose(stdout) && !err && errno != EBADF)
		err = errno;
	if (!err && !failed)
		return;
	if (!complained)
		fprintf(stderr, "%s: standard output: %s\n", program,
			err ? strerror(err) : "write error");
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
	signal(SIGPIPE, SIG_DFL);    /* whatever the parent made of it */
	unsetenv("POSIXLY_CORRECT"); /* options may follow operands */
	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, NULL, _IOFBF, 1 << 16);
}

/* The tables of getopt_long, made once; ':' leads, so that we report errors. */
static void getopt_tables(const struct cli *c, char *letters,
			  struct option *names)
{
	static const struct option own[] = {
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
		{0},
	};
	unsigned n = 0;

	*letters++ = ':';
	for (const struct cli_option *o = c->options;
	     o->name && n < OPTIONS_MAX; o++) {
		names[n++] = (struct option){
			o->name, o->arg ? required_argument : no_argument, NULL,
			o->ch};
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
}
