/* SPDX-License-Identifier: BSD-2-Clause */
/* What a running program tells: its ledger, its progress; and its signals. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/private.h"

volatile sig_atomic_t cli_stop, cli_report, cli_hangup;

static void ledger_text(const struct ledger *l, const void *ctr)
{
	int width = 0;

	for (unsigned i = 0; i < l->n; i++)
		if ((int)strlen(l->fields[i].name) > width)
			width = (int)strlen(l->fields[i].name);
	fprintf(stderr, "%s: %s, %s\n", cli_name(), l->stage, l->unit);
	for (unsigned i = 0; i < l->n; i++) {
		uint64_t v = ledger_get(l, ctr, i);
		uint8_t role = l->fields[i].role;

		if (v || role == LEDGER_IN || role == LEDGER_DONE)
			fprintf(stderr, "  %-*s  %12ju\n", width,
				l->fields[i].name, (uintmax_t)v);
	}
}

static void ledger_rows(const struct ledger *l, const void *ctr,
			enum row_format fmt)
{
	static const struct row_field fields[] = {
		{"stage", ROW_STR, 0, ROW_TAG},
		{"counter", ROW_STR, 0, ROW_TAG},
		{"role", ROW_STR, 0, ROW_TAG},
		{"value", ROW_U64, 0},
	};
	static const struct schema ledger = {"ledger", fields, 4};
	static const char *const roles[] = {"in", "done", "drop", "note"};
	static bool headed; /* one header for all ledgers of a program */
	struct rows *r = rows_print(stderr, fmt, &ledger, !headed);

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
}

void cli_ledger(const struct ledger *l, const void *ctr, enum row_format fmt)
{
	cli_progress_clear();
	if (fmt == ROW_TEXT)
		ledger_text(l, ctr);
	else
		ledger_rows(l, ctr, fmt);
	if (!ledger_balanced(l, ctr))
		cli_warn("%s: the ledger does not add up", l->stage);
}

static void on_stop(int sig)
{
	(void)sig;
	if (cli_stop < 2)
		cli_stop++;
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
		{SIGINT, on_stop},
		{SIGTERM, on_stop},
		{SIGUSR1, on_report},
		{SIGBUS, on_bus},
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
}

void cli_progress(const char *what, uint64_t done, uint64_t all)
{
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
	fprintf(stderr, ", %.0f s\033[K", (double)(now - line.start_ms) / 1000);
}

void cli_progress_end(void)
{
	cli_progress_clear();
	line.start_ms = line.drawn_ms = 0;
}
