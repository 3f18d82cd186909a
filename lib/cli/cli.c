/* SPDX-License-Identifier: BSD-2-Clause */
/* cli.c - messages, and how a program begins and ends. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/private.h"
#include "cli/tty.h"
#include "row/outbuf.h"

static const char *program = "dta";

/* --- messages: on stderr, or kept while a screen would hide them --------- */

enum {
	MESSAGE_MAX = 1024, /* bytes; four times as many when all are \xNN */
	HELD_MAX = 1 << 16, /* bytes, after which nothing more is kept */
};

const char cli_stdout[] = "standard output";

static const char *written; /* cli_written() */

/* Messages and ledgers, as they will be written. */
static struct {
	FILE *to; /* NULL: none */
	char *text;
	size_t len;
	char last[4 * MESSAGE_MAX]; /* message */
	unsigned more;		    /* that there was no room for */
} held;

const char *cli_name(void)
{
	return program;
}

void cli_written(const char *dash)
{
	written = dash;
}

const char *cli_file(const char *path)
{
	if (!path || strcmp(path, "-") != 0)
		return path;
	return path == written ? cli_stdout : "standard input";
}

/* NULL: too much is held, and this is counted. */
static FILE *held_to(void)
{
	if (!held.to)
		held.to = open_memstream(&held.text, &held.len);
	if (held.to && ftell(held.to) < HELD_MAX)
		return held.to;
	held.more++;
	return NULL;
}

const char *cli_held(void)
{
	return *held.last ? held.last : NULL;
}

/* In one write, so that messages of a pipeline's programs do not mix. */
static void release(void)
{
	if (tty_is_open() || !held.to)
		return;
	fclose(held.to);
	fwrite(held.text, 1, held.len, stderr);
	if (held.more)
		fprintf(stderr, "%s: and %u messages more\n", program,
			held.more);
	free(held.text);
	held.to = NULL;
	held.last[0] = '\0';
	held.more = 0;
}

/* Threads that rows are held up in have messages, too. */
static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;

void cli_release(void)
{
	pthread_mutex_lock(&alone);
	release();
	pthread_mutex_unlock(&alone);
}

/* Whether what is written to stderr would be over a screen. */
static bool is_hidden(void)
{
	return tty_is_open() && isatty(STDERR_FILENO);
}

FILE *cli_report_to(void)
{
	if (!is_hidden()) {
		cli_release();
		return stderr;
	}
	return held_to();
}

/* What a database or a file said is in it perhaps: it must not reach the
 * terminal as anything but text. */
static void message(const char *fmt, va_list ap)
{
	struct outbuf o = {0};
	char text[MESSAGE_MAX];
	FILE *to = stderr;
	size_t len;

	vsnprintf(text, sizeof(text), fmt, ap);
	for (len = strlen(text); len && strchr("\r\n", text[len - 1]); len--)
		text[len - 1] = '\0';
	outbuf_plain(&o, text, len, true);
	pthread_mutex_lock(&alone);
	if (!is_hidden()) {
		release();
	} else if ((to = held_to())) {
		snprintf(held.last, sizeof(held.last), "%.*s", (int)o.len,
			 o.buf);
	}
	if (to)
		fprintf(to, "%s: %.*s\n", program, (int)o.len, o.buf);
	pthread_mutex_unlock(&alone);
}

static bool complained; /* a message was printed and the status is not 0 */

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

void cli_complain(const char *fmt, va_list ap)
{
	message(fmt, ap);
	complained = true;
}

void cli_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cli_complain(fmt, ap);
	va_end(ap);
	exit(CLI_FAIL);
}

void cli_refuse(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cli_complain(fmt, ap);
	va_end(ap);
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

/* --- the beginning and the end ------------------------------------------- */

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
	if (fflush(stdout))
		err = errno;
	if (fclose(stdout) && !err && errno != EBADF)
		err = errno;
	if (!err && !failed)
		return;
	if (!complained)
		fprintf(stderr, "%s: %s: %s\n", program, cli_stdout,
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
	static char buffer[1 << 16]; /* glibc makes none of a size */

	program = c->name;
	hold_standard_streams();
	atexit(close_stdout);
	signal(SIGPIPE, SIG_DFL);    /* whatever the parent made of it */
	unsetenv("POSIXLY_CORRECT"); /* options may follow operands */
	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
}
