/* SPDX-License-Identifier: BSD-2-Clause */
/* progress.c - how far a run is: a line of the terminal, drawn in place. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "cli/private.h"

enum {
	PATIENCE_MS = 1000, /* what is done by then needs no line */
	REDRAW_MS = 200,
	COLUMNS = 80, /* of a terminal that does not tell */
	LINE_ROOM = 256,
	AMOUNT_ROOM = 32,
};

static const char *name = "dta";

void cli_progress_name(const char *program)
{
	name = program;
}

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

void cli_progress_text(char *line, size_t room, const struct cli_progress *p,
		       double seconds)
{
	double done = share(p);
	char rate[AMOUNT_ROOM];

	if (p->limit_ns)
		done = fmin(fmax(done, seconds * 1e9 / (double)p->limit_ns), 1);
	snprintf(line, room, "%s:", name);
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
	cli_progress_text(text, room < sizeof(text) ? room : sizeof(text), p,
			  (double)(now - line.start_ms) / 1000);
	fprintf(stderr, "\r%s\033[K", text);
}

void cli_progress_end(void)
{
	cli_progress_clear();
	line.start_ms = line.drawn_ms = 0;
}
