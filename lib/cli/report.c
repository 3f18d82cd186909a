/* SPDX-License-Identifier: BSD-2-Clause */
/* report.c - what a running program tells: its ledgers; and its signals. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/private.h"
#include "cli/tty.h"
#include "threads/threads.h"

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

	if (cli_page_takes(l, ctr) || !(to = cli_report_to()))
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
