/* SPDX-License-Identifier: BSD-2-Clause */
/* Ledgers and progress, on stderr. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

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
	for (unsigned i = 0; i < l->n; i++) {
		uint64_t v = ledger_get(l, ctr, i);
		uint8_t role = l->fields[i].role;

		if (v || role == LEDGER_IN || role == LEDGER_DONE)
			fprintf(stderr, "  %-4s %-16s %12llu\n",
				role_name[role], l->fields[i].name,
				(unsigned long long)v);
	}
}

static void ledger_rows(const struct ledger *l, const void *ctr,
			enum row_format fmt)
{
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
}

void cli_ledger(const struct ledger *l, const void *ctr, enum row_format fmt)
{
	cli_progress_end();
	if (fmt == ROW_TEXT)
		ledger_text(l, ctr);
	else
		ledger_rows(l, ctr, fmt);
	if (!ledger_balanced(l, ctr))
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
}

void cli_progress(const char *what, uint64_t done, uint64_t all)
{
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
}

void cli_progress_end(void)
{
	if (progress.shown)
		fputs("\r\033[K", stderr);
	progress.shown = false;
	progress.begun_ns = 0;
}
