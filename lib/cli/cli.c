/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/private.h"

static bool complained; /* a message was printed and the status is not 0 */

void cli_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cli_message(fmt, ap);
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
	cli_message(fmt, ap);
	va_end(ap);
	complained = true;
	exit(CLI_FAIL);
}

void cli_refuse(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cli_message(fmt, ap);
	va_end(ap);
	complained = true;
	exit(CLI_USAGE);
}

void cli_cannot(const char *option, int rc, const struct fault *f)
{
	if (rc == -EINVAL)
		cli_refuse("%s: %s", option, f->text);
	cli_fail("%s: %s", option, f->text);
}

void cli_fault(const char *object, const struct fault *f)
{
	struct fault all;

	fault_of(&all, 0, cli_file(object), f);
	cli_fail("%s", all.text);
}

void cli_warn_fault(const char *object, const struct fault *f)
{
	struct fault all;

	object = cli_file(object);
	fault_of(&all, 0, object, f);
	cli_warn("%s", all.text);
	complained = complained || object == cli_stdout;
}

/* The subcommand in hand. */
static struct {
	const struct cli *cli;
	const char *verb;
} in_hand;

void cli_set_verb(const struct cli *c, const char *verb)
{
	in_hand.cli = c;
	in_hand.verb = verb;
}

/* Whether a line of the synopsis begins one: NAME, and a|b of subcommands with
 * verb among them; NULL: any. */
static bool is_synopsis(const struct cli *c, const char *line, const char *verb)
{
	size_t n = strlen(c->name), len;

	if (strncmp(line, c->name, n) != 0 || (line[n] != ' ' && line[n]))
		return false;
	for (line += n; verb && (*line == ' ' || *line == '|'); line += len) {
		len = strcspn(++line, " |\n");
		if (len == strlen(verb) && !memcmp(line, verb, len))
			return true;
		if (line[len] != '|')
			return false;
	}
	return !verb;
}

/* The synopsis of a subcommand; NULL: the first. NULL: there is none. */
static const char *find_synopsis(const struct cli *c, const char *verb)
{
	const char *line = c->usage;

	while (line && !is_synopsis(c, line, verb)) {
		line = strchr(line, '\n');
		line += line != NULL;
	}
	return line;
}

/* That of the subcommand in hand, or of a program without any the first, in one
 * line: of the whole, what is wrong would scroll away. */
static void put_synopsis(const struct cli *c)
{
	const char *verb = in_hand.cli == c ? in_hand.verb : NULL;
	const char *line = NULL, *blank = "";

	fputs("usage: ", stderr);
	if (verb || !c->verbs)
		line = find_synopsis(c, verb);
	for (int i = 0; !line && c->verbs && c->verbs[i]; i++)
		fprintf(stderr, "%s%s%s%s", i ? "|" : c->name, i ? "" : " ",
			c->verbs[i], c->verbs[i + 1] ? "" : " ...");
	while (line && *line && (!*blank || !is_synopsis(c, line, NULL))) {
		int len = (int)strcspn(line, "\n");

		fprintf(stderr, "%s%.*s", blank, len, line);
		line += len + (line[len] == '\n');
		line += strspn(line, " ");
		blank = " ";
	}
	fprintf(stderr, "; try '%s -h'\n", c->name);
}

void cli_usage(const struct cli *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cli_message(fmt, ap);
	va_end(ap);
	put_synopsis(c);
	complained = true;
	exit(CLI_USAGE);
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

	cli_release();
	cli_progress_clear();
	if (fflush(stdout))
		err = errno;
	if (fclose(stdout) && !err && errno != EBADF)
		err = errno;
	if (!err && !failed)
		return;
	if (!complained)
		fprintf(stderr, "%s: %s: %s\n", cli_name(), cli_stdout,
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
	cli_set_name(c->name);
	cli_progress_name(c->name);
	hold_standard_streams();
	atexit(close_stdout);
	signal(SIGPIPE, SIG_DFL);    /* whatever the parent made of it */
	unsetenv("POSIXLY_CORRECT"); /* options may follow operands */
	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, NULL, _IOFBF, 1 << 16);
}
