/* SPDX-License-Identifier: BSD-2-Clause */
/* serve.c - rows for the Prometheus endpoint of export/: dta-top(1) has their
 * names. */
#include "watch.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "export/export.h"

#define SECOND UINT64_C(1000000000)

enum {
	EXPIRE_AFTER = 5, /* looks, and seconds, without the row */
	BATCH = 256,	  /* rows */
	URL_MAX = 512,
};

/* clang-format off */
#define PROGRAM(member) COLUMN_OF(PART_PROGRAM, program, member)
#define REGION(member) COLUMN_OF(PART_REGION, seen_region, member)
#define OF_PROGRAM                                                             \
	{{"program", ROW_STR, 0, ROW_TAG}, PROGRAM(page.program)},             \
	{{"pid", ROW_U64, 0, ROW_TAG}, PROGRAM(page.pid)},                     \
	{{"region", ROW_STR, 0, ROW_TAG}, PROGRAM(page.region)}

static const struct column counters[] = {
	OF_PROGRAM,
	{{"stage", ROW_STR, 0, ROW_TAG},
	 COLUMN_OF(PART_STAGE, ledger_stage, name)},
	{{"counter", ROW_STR, 0, ROW_TAG},
	 COLUMN_OF(PART_COUNTER, ledger_counter, name)},
	{{"role", ROW_STR, 0, ROW_TAG},
	 COLUMN_OF(PART_EXTRA, counter_extra, role)},
	{{"ledger_total", ROW_U64},
	 COLUMN_OF(PART_EXTRA, counter_extra, total)},
	{{"level", ROW_U64}, COLUMN_OF(PART_EXTRA, counter_extra, level)},
};

static const struct column programs[] = {
	OF_PROGRAM,
	{{"input", ROW_STR, 0, ROW_TAG}, PROGRAM(page.input)},
	{{"user", ROW_STR, 0, ROW_TAG}, PROGRAM(user)},
	{{"start_time", ROW_TIME}, PROGRAM(owner.since_ns)},
	{{"silent", ROW_U64, 0, ROW_VALUE, "s"}, PROGRAM(silent_s)},
	{{"waiting", ROW_U64}, PROGRAM(waiting)},
};

static const struct column regions[] = {
	{{"region", ROW_STR, 0, ROW_TAG}, REGION(name)},
	{{"size", ROW_U64, 0, ROW_VALUE, "bytes"}, REGION(size)},
	{{"epoch", ROW_U64}, REGION(epoch)},
	{{"epoch_start_time", ROW_TIME}, REGION(began_ns)},
	{{"fill", ROW_F64, 0, ROW_VALUE, "ratio"}, REGION(fill)},
	{{"writers", ROW_U64}, REGION(writers)},
};
/* clang-format on */

enum { COUNTERS, PROGRAMS, REGIONS, SCHEMAS };

static struct columns columns[SCHEMAS] = {
	[COUNTERS] = {"dta", ALL_COLUMNS(counters)},
	[PROGRAMS] = {"dta_program", ALL_COLUMNS(programs)},
	[REGIONS] = {"dta_region", ALL_COLUMNS(regions)},
};

struct prometheus {
	struct row_sink *sink;
	atomic_bool unhealthy; /* the last look found no directory of pages */
	struct rows *rows[SCHEMAS];
};

static void put_row(struct prometheus *s, unsigned schema, const void *part)
{
	columns_set(&columns[schema], &s->rows[schema]->b,
		    (const void *[PARTS]){part});
	row_end(s->rows[schema]);
}

static void put_rows(struct prometheus *s, const struct watch *w)
{
	for (const struct program *p = w->programs; p; p = p->next) {
		if (p->dead)
			continue;
		for (unsigned i = 0; i < p->page.counters; i++) {
			columns_set_counter(&columns[COUNTERS],
					    &s->rows[COUNTERS]->b, p, i);
			row_end(s->rows[COUNTERS]);
		}
		put_row(s, PROGRAMS, p);
	}
	for (const struct seen_region *r = w->regions; r; r = r->next)
		put_row(s, REGIONS, r);
	for (unsigned i = 0; i < SCHEMAS; i++)
		rows_flush(s->rows[i]);
}

/* Answers /healthz. Called in the endpoint's thread. */
static bool is_healthy(void *ctx, struct error *why)
{
	if (!((struct prometheus *)ctx)->unhealthy)
		return true;
	error_set(why, -1, "pages cannot be looked for");
	return false;
}

static void open_sink(struct prometheus *s, const char *at, uint64_t every_ns)
{
	const struct export_options eo = {.healthy = is_healthy, .ctx = s};
	uint64_t expire_ns = every_ns * EXPIRE_AFTER;
	char url[URL_MAX];
	struct error err;
	int rc;

	if (expire_ns < EXPIRE_AFTER * SECOND)
		expire_ns = EXPIRE_AFTER * SECOND;
	if (strpbrk(at, "/?@") || !strrchr(at, ':'))
		cli_refuse("--prometheus: '%s' is not [ADDR]:PORT", at);
	snprintf(url, sizeof(url),
		 "prometheus://%.255s?linger=0&row_counts=0&expire=%llums", at,
		 (unsigned long long)(expire_ns / 1000000));
	rc = export_open(&s->sink, url, &eo, &err);
	if (rc < 0)
		cli_fail_option("--prometheus", rc, &err);
	for (unsigned i = 0; i < SCHEMAS; i++) {
		columns_open(&columns[i]);
		s->rows[i] = cli_allocated(
			rows_open(s->sink, &columns[i].schema, BATCH));
	}
}

void serve(const char *at, uint64_t every_ns, struct watch *w)
{
	const struct timespec t = {(time_t)(every_ns / SECOND),
				   (long)(every_ns % SECOND)};
	static struct prometheus s;

	open_sink(&s, at, every_ns);
	while (!cli_stop) {
		s.unhealthy = watch_look(w) < 0;
		put_rows(&s, w);
		nanosleep(&t, NULL); /* until a signal, at most */
	}
	for (unsigned i = 0; i < SCHEMAS; i++)
		rows_close(s.rows[i]);
	s.sink->close(s.sink);
}
