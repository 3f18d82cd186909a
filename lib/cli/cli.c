/* SPDX-License-Identifier: BSD-2-Clause */
/* cli.c - progress, messages, and how a program begins and ends. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/private.h"
#include "cli/tty.h"
#include "row/outbuf.h"

static const char *program = "dta";

/* --- progress: a line of the terminal, drawn in place -------------------- */

enum {
	PATIENCE_MS = 1000, /* what is done by then needs no line */
	REDRAW_MS = 200,
	COLUMNS = 80, /* of a terminal that does not tell */
	LINE_ROOM = 256,
	AMOUNT_ROOM = 32,
};

/* The factor from one unit to the next. */
enum scale {
	BYTES = 1024,
	COUNT = 1000,
};

/* Text of so many digits, 2 or 3, of which as many as fit are decimals. */
static const char *amount(char *out, enum scale s, int digits, double v)
{
	static const char *const units[2][5] = {
		{"", " k", " M", " G", " T"},
		{" B", " KiB", " MiB", " GiB", " TiB"},
	};
	unsigned unit = 0;
	int decimals, len;

	for (; v >= 999.5 && unit < 4; unit++)
		v /= s;
	decimals = unit ? digits - 1 : 0;
	do
		len = snprintf(out, AMOUNT_ROOM, "%.*f", decimals, v);
	while (len > digits + 1 && decimals--);
	snprintf(out + len, AMOUNT_ROOM - (size_t)len, "%s",
		 units[s == BYTES][unit]);
	return out;
}

/* One more part of the line, if there is room for it. */
static void add(char *line, size_t room, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void add(char *line, size_t room, const char *fmt, ...)
{
	size_t len = strlen(line);
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line + len, room - len, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= room - len)
		line[len] = '\0';
}

/* The part that is done, by what is known of the whole; 0: nothing is. */
static double share(const struct cli_progress *p)
{
	double v = 0;

	if (p->count_all)
		v = (double)p->count / (double)p->count_all;
	if (p->bytes_all)
		v = fmax(v, (double)p->bytes / (double)p->bytes_all);
	return fmin(v, 1); /* a file may grow */
}

static void add_place(char *line, size_t room, const struct cli_progress *p)
{
	char a[AMOUNT_ROOM], b[AMOUNT_ROOM];

	if (p->unit) {
		amount(a, COUNT, 3, (double)p->count);
		amount(b, COUNT, 3, (double)p->count_all);
		add(line, room, " %s%s%s %s", a, p->count_all ? " of " : "",
		    p->count_all ? b : "", p->unit);
	}
	if (p->bytes && !p->count_all) {
		amount(a, BYTES, 2, (double)p->bytes);
		amount(b, BYTES, 2, (double)p->bytes_all);
		add(line, room, "%s %s%s%s", p->unit ? "," : "", a,
		    p->bytes_all ? " of " : "", p->bytes_all ? b : "");
	}
	if (p->count_all || p->bytes_all)
		add(line, room, " (%.0f %%)", 100 * share(p));
}

static void add_left(char *line, size_t room, double s)
{
	if (s < 99.5)
		add(line, room, ", %.0f s left", s);
	else if (s < 99.5 * 60)
		add(line, room, ", %.0f min left", s / 60);
	else
		add(line, room, ", %.0f h left", s / 3600);
}

/* The progress line after so many seconds, above 0: parts for which room is too
 * small are left out. */
static void progress_text(char *line, size_t room, const struct cli_progress *p,
			  double seconds)
{
	double done = share(p);
	char rate[AMOUNT_ROOM];

	if (p->limit_ns)
		done = fmin(fmax(done, seconds * 1e9 / (double)p->limit_ns), 1);
	snprintf(line, room, "%s:", program);
	add_place(line, room, p);
	if (p->unit)
		amount(rate, COUNT, 2, (double)p->count / seconds);
	else
		amount(rate, BYTES, 2, (double)p->bytes / seconds);
	add(line, room, ", %s/s", rate);
	if (done > 0)
		add_left(line, room, seconds / done - seconds);
}

/* The line: when its work began, and when it was last drawn. */
static struct {
	uint64_t start_ms, drawn_ms;
	bool shown;
} line;

static uint64_t now_ms(void)
{
	return clock_coarse_ns() / 1000000 + 1;
}

/* In the last column some terminals would begin another line. */
static size_t columns(void)
{
	struct winsize w;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) || w.ws_col < 2)
		return COLUMNS - 1;
	return w.ws_col - 1u;
}

void cli_progress_clear(void)
{
	if (line.shown)
		fputs("\r\033[K", stderr);
	line.shown = false;
}

void cli_progress(const struct cli_progress *p)
{
	static int tty = -1;
	char text[LINE_ROOM];
	size_t room;
	uint64_t now;

	if (tty < 0)
		tty = isatty(STDERR_FILENO);
	if (!tty)
		return;
	now = now_ms();
	if (!line.start_ms)
		line.start_ms = now;
	if (now - line.start_ms < PATIENCE_MS ||
	    now - line.drawn_ms < REDRAW_MS)
		return;
	line.drawn_ms = now;
	line.shown = true;
	room = columns() + 1;
	progress_text(text, room < sizeof(text) ? room : sizeof(text), p,
		      (double)(now - line.start_ms) / 1000);
	fprintf(stderr, "\r%s\033[K", text);
}

void cli_progress_end(void)
{
	cli_progress_clear();
	line.start_ms = line.drawn_ms = 0;
}

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
	cli_progress_clear();
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
		cli_progress_clear();
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
		cli_progress_clear();
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
	cli_progress_clear();
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
