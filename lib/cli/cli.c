/* SPDX-License-Identifier: BSD-2-Clause */
/* cli.c - messages, ledgers and signals; how a program begins and ends. */
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
#include "threads/threads.h"

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

static bool drawn; /* there is a line of progress */

static void clear_line(void)
{
	if (drawn)
		fputs("\r\033[K", stderr);
	drawn = false;
}

/* In one write, so that messages of a pipeline's programs do not mix. */
static void release(void)
{
	if (tty_is_open() || !held.to)
		return;
	fclose(held.to);
	clear_line();
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

void cli_progress(const char *unit, uint64_t n, double share)
{
	if (!isatty(STDERR_FILENO) || is_hidden() || cli_shows_rows())
		return;
	pthread_mutex_lock(&alone);
	fprintf(stderr, "\r%s: %ju %s", program, (uintmax_t)n, unit);
	if (share > 0)
		fprintf(stderr, ", %.0f %%", 100 * share);
	fputs("\033[K", stderr);
	drawn = true;
	pthread_mutex_unlock(&alone);
}

/* Where a ledger goes: stderr or, while a screen is on it, what is held like
 * messages; NULL: too much is held, and this is counted. */
static FILE *report_to(void)
{
	if (!is_hidden()) {
		pthread_mutex_lock(&alone);
		release();
		clear_line();
		pthread_mutex_unlock(&alone);
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
		clear_line();
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

/* --- ledgers, signals ----------------------------------------------------- */

atomic_int cli_stop, cli_report, cli_hangup;

static void ledger_text(FILE *to, const struct ledger *l, const void *ctr)
{
	bool colour = tty_colour(STDERR_FILENO);
	int width = 0;

	for (unsigned i = 0; i < l->n; i++)
		if ((int)strlen(l->fields[i].name) > width)
			width = (int)strlen(l->fields[i].name);
	fprintf(to, "%s: %s, %s\n", cli_name(), l->stage, l->unit);
	for (unsigned i = 0; i < l->n; i++) {
		uint64_t v = ledger_get(l, ctr, i);
		uint8_t role = l->fields[i].role;
		bool red = colour && v && role == LEDGER_LOSS;

		if (v || role == LEDGER_IN || role == LEDGER_DONE)
			fprintf(to, "%s  %-*s  %12ju%s\n",
				red ? "\033[31m" : "", width, l->fields[i].name,
				(uintmax_t)v, red ? "\033[m" : "");
	}
}

static void ledger_rows(FILE *to, const struct ledger *l, const void *ctr,
			enum row_format fmt)
{
	static const struct row_field fields[] = {
		{"stage", ROW_STR, 0, ROW_TAG},
		{"counter", ROW_STR, 0, ROW_TAG},
		{"role", ROW_STR, 0, ROW_TAG},
		{"value", ROW_U64, 0},
	};
	static const struct schema ledger = {"ledger", fields, 4};
	static bool headed; /* one header for all ledgers of a program */
	struct rows *r = rows_print(to, fmt, &ledger, !headed);

	if (!r)
		return;
	for (unsigned i = 0; i < l->n; i++) {
		row_str(r, 0, ledger_stage(l, i));
		row_str(r, 1, l->fields[i].name);
		row_str(r, 2, ledger_role_name(l->fields[i].role));
		row_u64(r, 3, ledger_get(l, ctr, i));
		row_end(r);
	}
	rows_close(r);
	headed = true;
}

void cli_ledger(const struct ledger *l, const void *ctr, enum row_format fmt)
{
	FILE *to;

	if (cli_page_takes(l, ctr) || !(to = report_to()))
		return;
	if (fmt == ROW_TEXT)
		ledger_text(to, l, ctr);
	else
		ledger_rows(to, l, ctr, fmt);
	if (!ledger_balanced(l, ctr))
		cli_warn("%s: the ledger does not add up", l->stage);
}

static void on_stop(int sig)
{
	(void)sig;
	if (cli_stop < 2)
		cli_stop++;
	threads_wake();
}

static void on_report(int sig)
{
	(void)sig;
	cli_report = 1;
}

static void on_hangup(int sig)
{
	(void)sig;
	cli_hangup = 1;
}

/* It has interrupted what a thread waited for. */
static void on_wake(int sig)
{
	(void)sig;
}

static void on_bus(int sig)
{
	static const char text[] =
		": a mapped file shrank while it was in use\n";
	const char *name = cli_name();

	(void)sig;
	tty_close();
	(void)!write(STDERR_FILENO, name, strlen(name));
	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	_exit(CLI_FAIL);
}

static void handle(int sig, void (*handler)(int))
{
	struct sigaction sa = {.sa_handler = handler};

	sigaction(sig, &sa, NULL);
}

void cli_signals(void)
{
	static const struct {
		int sig;
		void (*handler)(int);
	} table[] = {
		{SIGINT, on_stop},	 {SIGTERM, on_stop},
		{SIGUSR1, on_report},	 {SIGBUS, on_bus},
		{THREADS_WAKE, on_wake},
	};
	struct sigaction was;

	for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		handle(table[i].sig, table[i].handler);
	if (!sigaction(SIGHUP, NULL, &was) && was.sa_handler != SIG_IGN)
		handle(SIGHUP, on_stop);
}

void cli_take_hangup(void)
{
	handle(SIGHUP, on_hangup);
}

/* --- the beginning and the end ------------------------------------------- */

/*
 * A full disk must not pass for success. EBADF is a stdout that was closed
 * before we began; if something was written to it, fflush has said so. Of a
 * write that failed long ago the reason is lost.
 */
static void close_stdout(void)
{
	bool failed = ferror(stdout);
	int err = 0;

	cli_release();
	clear_line();
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
