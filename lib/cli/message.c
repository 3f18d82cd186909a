/* SPDX-License-Identifier: BSD-2-Clause */
/* message.c - messages: on stderr, or kept while a screen would hide them. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/private.h"
#include "cli/tty.h"
#include "row/outbuf.h"

enum {
	MESSAGE_MAX = 1024, /* bytes; four times as many when all are \xNN */
	HELD_MAX = 32,
	REPORTS_MAX = 1 << 16, /* bytes, after which no other one begins */
};

const char cli_stdout[] = "standard output";

static const char *program = "dta";
static const char *written; /* cli_written() */

static struct {
	char text[HELD_MAX][4 * MESSAGE_MAX];
	unsigned n;
	unsigned more; /* that there was no room for */
	FILE *reports; /* ledgers; NULL: none */
	char *report;
	size_t report_len;
} held;

const char *cli_name(void)
{
	return program;
}

void cli_set_name(const char *name)
{
	program = name;
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

static void hold(const char *text, size_t len)
{
	if (held.n == HELD_MAX) {
		held.more++;
		return;
	}
	memcpy(held.text[held.n], text, len);
	held.text[held.n++][len] = '\0';
}

const char *cli_held(void)
{
	return held.n ? held.text[held.n - 1] : NULL;
}

/* One write each, so that messages of a pipeline's programs do not mix. */
static void tell(const char *text, size_t len)
{
	cli_progress_clear();
	fprintf(stderr, "%s: %.*s\n", program, (int)len, text);
}

static void release(void)
{
	if (tty_is_open())
		return;
	for (unsigned i = 0; i < held.n; i++)
		tell(held.text[i], strlen(held.text[i]));
	if (held.reports) {
		fclose(held.reports);
		fwrite(held.report, 1, held.report_len, stderr);
		free(held.report);
		held.reports = NULL;
	}
	if (held.more)
		fprintf(stderr, "%s: and %u messages more\n", program,
			held.more);
	held.n = held.more = 0;
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
	if (!held.reports)
		held.reports = open_memstream(&held.report, &held.report_len);
	if (held.reports && ftell(held.reports) < REPORTS_MAX)
		return held.reports;
	held.more++;
	return NULL;
}

/* What a database or a file said is in it perhaps: it must not reach the
 * terminal as anything but text. */
void cli_message(const char *fmt, va_list ap)
{
	struct outbuf o = {0};
	char text[MESSAGE_MAX];
	size_t len;

	vsnprintf(text, sizeof(text), fmt, ap);
	for (len = strlen(text); len && strchr("\r\n", text[len - 1]); len--)
		text[len - 1] = '\0';
	outbuf_plain(&o, text, len, true);
	pthread_mutex_lock(&alone);
	if (is_hidden()) {
		hold(o.buf, o.len);
	} else {
		release();
		tell(o.buf, o.len);
	}
	pthread_mutex_unlock(&alone);
}
