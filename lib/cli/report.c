/* SPDX-License-Identifier: BSD-2-Clause */
<<<<<<< HEAD
/* Ledgers and progress, on stderr. */
#include <stdio.h>
=======
/* What a running program tells: its ledger, its progress; and its signals. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
>>>>>>> front
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
<<<<<<< HEAD

static const char *const role_name[] = {
	[LEDGER_IN] = "in",
	[LEDGER_DONE] = "done",
	[LEDGER_DROP] = "drop",
	[LEDGER_NOTE] = "note",
};

/* For people: what is zero and no part of the sum's frame is left out. */
static void ledger_text(const struct ledger *l, const void *ctr)
{
	fprintf(stderr, "%s (%s)\n", l->stage, l->unit);
=======
#include "cli/private.h"

volatile sig_atomic_t cli_stop, cli_report;

static void ledger_text(const struct ledger *l, const void *ctr)
{
	int width = 0;

	for (unsigned i = 0; i < l->n; i++)
		if ((int)strlen(l->fields[i].name) > width)
			width = (int)strlen(l->fields[i].name);
	fprintf(stderr, "%s: %s, %s\n", cli_name(), l->stage, l->unit);
>>>>>>> front
	for (unsigned i = 0; i < l->n; i++) {
		uint64_t v = ledger_get(l, ctr, i);
		uint8_t role = l->fields[i].role;

		if (v || role == LEDGER_IN || role == LEDGER_DONE)
<<<<<<< HEAD
			fprintf(stderr, "  %-4s %-16s %12llu\n",
				role_name[role], l->fields[i].name,
				(unsigned long long)v);
=======
			fprintf(stderr, "  %-*s  %12ju\n", width,
				l->fields[i].name, (uintmax_t)v);
>>>>>>> front
	}
}

static void ledger_rows(const struct ledger *l, const void *ctr,
			enum row_format fmt)
{
<<<<<<< HEAD
	enum { STAGE, ROLE, COUNTER, VALUE, FIELDS };
	static const struct row_field fields[FIELDS] = {
		[STAGE] = { "stage", ROW_STR, 10 },
		[ROLE] = { "role", ROW_STR, 4 },
		[COUNTER] = { "counter", ROW_STR, 16 },
		[VALUE] = { "value", ROW_U64, 12 },
	};
	struct rows *r = rows_open(stderr, fmt, fields, FIELDS, true);

	for (unsigned i = 0; r && i < l->n; i++) {
		row_str(r, STAGE, l->stage);
		row_str(r, ROLE, role_name[l->fields[i].role]);
		row_str(r, COUNTER, l->fields[i].name);
		row_u64(r, VALUE, ledger_get(l, ctr, i));
		row_end(r);
	}
	rows_close(r);
=======
	static const struct row_field fields[] = {
		{ "stage", ROW_STR, 0 },
		{ "counter", ROW_STR, 0 },
		{ "role", ROW_STR, 0 },
		{ "value", ROW_U64, 0 },
	};
	static const char *const roles[] = { "in", "done", "drop", "note" };
	static bool headed; /* one header for all ledgers of a program */
	struct rows *r = rows_open(stderr, fmt, fields, 4, !headed);

	if (!r)
		return;
	for (unsigned i = 0; i < l->n; i++) {
		row_str(r, 0, l->stage);
		row_str(r, 1, l->fields[i].name);
		row_str(r, 2, roles[l->fields[i].role & 3]);
		row_u64(r, 3, ledger_get(l, ctr, i));
		row_end(r);
	}
	rows_close(r);
	headed = true;
>>>>>>> front
}

void cli_ledger(const struct ledger *l, const void *ctr, enum row_format fmt)
{
<<<<<<< HEAD
	cli_progress_end();
=======
	cli_progress_clear();
>>>>>>> front
	if (fmt == ROW_TEXT)
		ledger_text(l, ctr);
	else
		ledger_rows(l, ctr, fmt);
	if (!ledger_balanced(l, ctr))
<<<<<<< HEAD
		cli_warn("%s: the ledger does not add up: please report this",
			 l->stage);
}

static struct {
	uint64_t begun_ns, last_ns;
	bool shown;
} progress;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
=======
		cli_warn("%s: the ledger does not add up", l->stage);
}

static void on_stop(int sig)
{
	(void)sig;
	cli_stop = 1;
}

static void on_report(int sig)
{
	(void)sig;
	cli_report = 1;
}

static void on_bus(int sig)
{
	static const char text[] =
		": a mapped file shrank while it was in use\n";
	const char *name = cli_name();

	(void)sig;
	(void)!write(STDERR_FILENO, name, strlen(name));
	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	_exit(CLI_FAIL);
}

void cli_signals(void)
{
	static const struct {
		int sig;
		void (*handler)(int);
	} table[] = {
		{ SIGINT, on_stop },
		{ SIGTERM, on_stop },
		{ SIGUSR1, on_report },
		{ SIGBUS, on_bus },
	};
	struct sigaction sa;

	for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		memset(&sa, 0, sizeof(sa));
		sa.sa_handler = table[i].handler;
		sigaction(table[i].sig, &sa, NULL);
	}
}

/* The progress line: when its work began, and when it was last drawn. */
static struct {
	uint64_t start_ms, drawn_ms;
	bool shown;
} line;

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000 + 1;
}

void cli_progress_clear(void)
{
	if (line.shown)
		fputs("\r\033[K", stderr);
	line.shown = false;
>>>>>>> front
}

void cli_progress(const char *what, uint64_t done, uint64_t all)
{
<<<<<<< HEAD
	enum { QUIET_NS = 1000000000, EVERY_NS = 200000000 };
	static int terminal = -1;
	uint64_t now;

	if (terminal < 0)
		terminal = isatty(STDERR_FILENO);
	if (!terminal)
		return;
	now = now_ns();
	if (!progress.begun_ns)
		progress.begun_ns = now;
	if (now - progress.begun_ns < QUIET_NS ||
	    now - progress.last_ns < EVERY_NS)
		return;
	progress.last_ns = now;
	progress.shown = true;
	if (all)
		fprintf(stderr, "\r%s: %llu %%\033[K", what,
			(unsigned long long)(100.0 * (double)done /
					     (double)all));
	else
		fprintf(stderr, "\r%s: %.1f MB\033[K", what,
			(double)done / 1e6);
=======
	static int tty = -1;
	uint64_t now;

	if (tty < 0)
		tty = isatty(STDERR_FILENO);
	if (!tty)
		return;
	now = now_ms();
	if (!line.start_ms)
		line.start_ms = now;
	if (now - line.start_ms < 1000 || now - line.drawn_ms < 200)
		return;
	line.drawn_ms = now;
	line.shown = true;
	fprintf(stderr, "\r%s: %ju", what, (uintmax_t)done);
	if (all)
		fprintf(stderr, " of %ju, %.0f %%", (uintmax_t)all,
			100 * (double)done / (double)all);
	fprintf(stderr, ", %.0f s\033[K",
		(double)(now - line.start_ms) / 1000);
>>>>>>> front
}

void cli_progress_end(void)
{
<<<<<<< HEAD
	if (progress.shown)
		fputs("\r\033[K", stderr);
	progress.shown = false;
	progress.begun_ns = 0;
=======
	cli_progress_clear();
	line.start_ms = line.drawn_ms = 0;
>>>>>>> front
}
