/* SPDX-License-Identifier: BSD-2-Clause */
/* notify.c - rows for immediates. */
#include "collect.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/table.h"

enum {
	RETRY_MS = 1,
	/* A number without an immediate for so long counts as missed: its
	 * writer was killed before it stored the immediate. */
	UNWRITTEN_MS = 100,
};

struct counters {
	uint64_t received, printed, missed;
};

static const struct ledger_field fields[] = {
	LEDGER_FIELD(struct counters, received, LEDGER_IN),
	LEDGER_FIELD(struct counters, printed, LEDGER_DONE),
	LEDGER_FIELD(struct counters, missed, LEDGER_LOSS),
};

LEDGER_COMPLETE(fields, struct counters);

static const struct ledger ledger = {
	.stage = "notify",
	.unit = "notifications",
	.fields = fields,
	.n = sizeof(fields) / sizeof(fields[0]),
};

enum field { IMM_TIME, IMM_TABLE, IMM_ID, IMM_SEQUENCE, IMM_COUNT, IMM_FIELDS };

static const struct row_field row_fields[IMM_FIELDS] = {
	[IMM_TIME] = {"time", ROW_TIME, 20, ROW_WHEN},
	[IMM_TABLE] = {"table", ROW_STR, 12, ROW_TAG},
	[IMM_ID] = {"id", ROW_U64, 5},
	[IMM_SEQUENCE] = {"sequence", ROW_U64, 8},
	[IMM_COUNT] = {"count", ROW_U64, 8},
};

static const struct schema immediates = {"immediate", row_fields, IMM_FIELDS};

struct notify {
	const struct opts *o;
	struct region *r;
	struct rows *rows;
	uint64_t seen;	    /* number of the last that was printed or missed */
	uint64_t unflushed; /* rows that stdout has not taken yet */
	uint64_t stuck_ms;  /* since when the next is unwritten; 0: it is not */
	bool failed;
	struct counters ctr;
};

struct notify *notify_open(const struct opts *o, struct region *r)
{
	struct notify *n;

	if (!o->notify)
		return NULL;
	n = cli_allocated(calloc(1, sizeof(*n)));
	n->rows = cli_rows(o->format, &immediates);
	n->o = o;
	n->r = r;
	n->seen = region_notified(r);
	return n;
}

/* The immediate is the table's id and the report's sequence (dta(7), MEMORY).
 */
static void print_immediate(struct notify *n, uint64_t number,
			    uint32_t immediate)
{
	const struct table *t = region_by_id(n->r, (uint16_t)(immediate >> 16));

	row_time(n->rows, IMM_TIME, (int64_t)clock_wall_ns());
	row_str(n->rows, IMM_TABLE, t ? t->name : NULL);
	row_u64(n->rows, IMM_ID, immediate >> 16);
	row_u64(n->rows, IMM_SEQUENCE, immediate & 0xffff);
	row_u64(n->rows, IMM_COUNT, number);
	row_end(n->rows);
}

static void count_missed(struct notify *n, uint64_t count)
{
	n->seen += count;
	n->ctr.received += count;
	n->ctr.missed += count;
	n->stuck_ms = 0;
}

void notify_print(struct notify *n)
{
	uint64_t end, before;
	uint32_t immediate;
	struct error why;
	int rc;

	if (!n)
		return;
	before = n->seen;
	end = region_notified(n->r);
	if (end > n->seen + REGION_IMMEDIATES)
		count_missed(n, end - n->seen - REGION_IMMEDIATES);
	while (n->seen < end) {
		rc = region_immediate(n->r, n->seen + 1, &immediate);
		if (!rc) {
			n->ctr.received++;
			n->unflushed++;
			n->stuck_ms = 0;
			print_immediate(n, ++n->seen, immediate);
			continue;
		}
		/* Not -ENODATA: it is not written yet. */
		if (rc != -ENODATA && !n->stuck_ms)
			n->stuck_ms = clock_ms();
		if (rc != -ENODATA && clock_ms() - n->stuck_ms < UNWRITTEN_MS)
			break;
		count_missed(n, 1);
	}
	if (n->seen == before)
		return;
	rc = rows_flush(n->rows);
	*(rc < 0 ? &n->ctr.missed : &n->ctr.printed) += n->unflushed;
	n->unflushed = 0;
	if (rc < 0 && !n->failed) {
		n->failed = true;
		error_set(&why, rc, "%s", strerror(-rc));
		cli_warn_error(cli_stdout, &why);
	}
}

void notify_run(struct notify *n)
{
	cli_log_times();
	cli_page_start(&(struct cli_page_about){.region = n->o->region,
						.quiet = n->o->quiet});
	while (!cli_stop) {
		if (cli_page_begin()) {
			notify_report(n);
			cli_page_end();
		}
		if (cli_report) {
			cli_report = 0;
			notify_report(n);
		}
		usleep(RETRY_MS * 1000);
		notify_print(n);
	}
}

void notify_report(const struct notify *n)
{
	if (n)
		cli_ledger(&ledger, &n->ctr, n->o->format);
}

void notify_close(struct notify *n)
{
	if (!n)
		return;
	notify_print(n);
	while (!cli_stop && n->stuck_ms) {
		usleep(RETRY_MS * 1000);
		notify_print(n);
	}
	if (!n->o->quiet)
		notify_report(n);
	rows_close(n->rows);
	free(n);
}
