/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve.c - Prometheus has the endpoint of export/; here are its rows:
 *
 *	dta_ledger_total	a counter of a ledger; of what is lost, and
 *				may be found again, the most that it was
 *	dta_level		the others that may fall
 *	dta_program_*		of a program as a whole
 *	dta_region_*		of a region
 */
#include "watch.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "export/export.h"
#include "row/row.h"

#define SECOND UINT64_C(1000000000)

enum {
	GONE_AFTER = 5, /* looks without it, or s */
	GATHER = 256,
	URL_MAX = 512,
};

enum {
	PROGRAM,
	PID,
	REGION, /* these are the first of counters, too */
	STAGE,
	COUNTER,
	ROLE,
	TOTAL,
	LEVEL,
};

static const struct row_field counter_fields[] = {
	[PROGRAM] = {"program", ROW_STR, 0, ROW_TAG},
	[PID] = {"pid", ROW_U64, 0, ROW_TAG},
	[REGION] = {"region", ROW_STR, 0, ROW_TAG},
	[STAGE] = {"stage", ROW_STR, 0, ROW_TAG},
	[COUNTER] = {"counter", ROW_STR, 0, ROW_TAG},
	[ROLE] = {"role", ROW_STR, 0, ROW_TAG},
	[TOTAL] = {"ledger_total", ROW_U64},
	[LEVEL] = {"level", ROW_U64},
};

enum {
	INPUT = REGION + 1,
	USER,
	START,
	SILENT,
	WAITING,
};

static const struct row_field program_fields[] = {
	[PROGRAM] = {"program", ROW_STR, 0, ROW_TAG},
	[PID] = {"pid", ROW_U64, 0, ROW_TAG},
	[REGION] = {"region", ROW_STR, 0, ROW_TAG},
	[INPUT] = {"input", ROW_STR, 0, ROW_TAG},
	[USER] = {"user", ROW_STR, 0, ROW_TAG},
	[START] = {"start_time", ROW_TIME},
	[SILENT] = {"silent", ROW_U64, 0, ROW_VALUE, "ns"},
	[WAITING] = {"waiting", ROW_U64},
};

enum {
	R_REGION,
	R_SIZE,
	R_EPOCH,
	R_BEGAN,
	R_FILL,
	R_WRITERS,
};

static const struct row_field region_fields[] = {
	[R_REGION] = {"region", ROW_STR, 0, ROW_TAG},
	[R_SIZE] = {"size", ROW_U64, 0, ROW_VALUE, "bytes"},
	[R_EPOCH] = {"epoch", ROW_U64},
	[R_BEGAN] = {"epoch_start_time", ROW_TIME},
	[R_FILL] = {"fill", ROW_F64, 0, ROW_VALUE, "ratio"},
	[R_WRITERS] = {"writers", ROW_U64},
};

enum {
	COUNTERS,
	PROGRAMS,
	REGIONS,
	SCHEMAS,
};

#define FIELDS(f) f, sizeof(f) / sizeof((f)[0])

static const struct schema schemas[SCHEMAS] = {
	[COUNTERS] = {"dta", FIELDS(counter_fields)},
	[PROGRAMS] = {"dta_program", FIELDS(program_fields)},
	[REGIONS] = {"dta_region", FIELDS(region_fields)},
};

struct serving {
	struct row_sink *sink;
	atomic_bool blind; /* the last look could not see any page */
	struct rows *rows[SCHEMAS];
};

static void set_program(struct rows *r, const struct program *p)
{
	row_str(r, PROGRAM, p->page.program);
	row_u64(r, PID, p->page.pid);
	row_str(r, REGION, p->page.region);
}

static void put_counters(struct rows *r, const struct program *p)
{
	for (unsigned i = 0; i < p->page.counters; i++) {
		const struct ledger_counter *c = &p->page.counter[i];

		set_program(r, p);
		row_str(r, STAGE, p->page.stage[c->stage].name);
		row_str(r, COUNTER, c->name);
		row_str(r, ROLE, ledger_role_name(c->role));
		if (c->level && c->role != LEDGER_LOSS)
			row_u64(r, LEVEL, c->value);
		else /* losses are alerted on by growth */
			row_u64(r, TOTAL, p->counter[i].most);
		row_end(r);
	}
}

static void put_program(struct rows *r, const struct watch *w,
			const struct program *p)
{
	uint64_t waiting;

	set_program(r, p);
	row_str(r, INPUT, p->page.input);
	row_str(r, USER, p->user);
	if (p->owner.since_ns)
		row_time(r, START, (int64_t)p->owner.since_ns);
	row_u64(r, SILENT, watch_silence(w, p));
	if (watch_waiting(p, &waiting))
		row_u64(r, WAITING, waiting);
	row_end(r);
}

static void put_region(struct rows *r, const struct seen_region *s)
{
	row_str(r, R_REGION, s->name);
	row_u64(r, R_SIZE, s->size);
	row_u64(r, R_EPOCH, s->epoch);
	if (s->began_ns)
		row_time(r, R_BEGAN, (int64_t)s->began_ns);
	row_f64(r, R_FILL, s->fill);
	row_u64(r, R_WRITERS, s->writers);
	row_end(r);
}

static void put_rows(struct serving *s, const struct watch *w)
{
	for (const struct program *p = w->programs; p; p = p->next) {
		put_counters(s->rows[COUNTERS], p);
		put_program(s->rows[PROGRAMS], w, p);
	}
	for (const struct seen_region *r = w->regions; r; r = r->next)
		put_region(s->rows[REGIONS], r);
	for (unsigned i = 0; i < SCHEMAS; i++)
		rows_flush(s->rows[i]);
}

/* For /healthz. */
static bool sees(void *ctx, struct error *why)
{
	if (!((struct serving *)ctx)->blind)
		return true;
	error_set(why, -1, "pages cannot be looked for");
	return false;
}

static void open_sink(struct serving *s, const char *at, uint64_t every_ns)
{
	const struct export_options eo = {.healthy = sees, .ctx = s};
	uint64_t gone_ns = every_ns * GONE_AFTER;
	char url[URL_MAX];
	struct error err;
	int rc;

	if (gone_ns < GONE_AFTER * SECOND)
		gone_ns = GONE_AFTER * SECOND;
	if (strpbrk(at, "/?@") || !strrchr(at, ':'))
		cli_refuse("--prometheus: '%s' is not [ADDR]:PORT", at);
	snprintf(url, sizeof(url),
		 "prometheus://%.255s?linger=0&row_counts=0&expire=%llums", at,
		 (unsigned long long)(gone_ns / 1000000));
	rc = export_open(&s->sink, url, &eo, &err);
	if (rc < 0)
		cli_cannot("--prometheus", rc, &err);
	for (unsigned i = 0; i < SCHEMAS; i++)
		if (!(s->rows[i] = rows_open(s->sink, &schemas[i], GATHER)))
			cli_fail("out of memory");
}

/* Until the next look; a signal ends it. */
static void rest(uint64_t ns)
{
	const struct timespec t = {.tv_sec = (time_t)(ns / SECOND),
				   .tv_nsec = (long)(ns % SECOND)};

	nanosleep(&t, NULL);
}

void serve(const char *at, uint64_t every_ns, struct watch *w)
{
	static struct serving s;

	open_sink(&s, at, every_ns);
	while (!cli_stop) {
		s.blind = watch_look(w) < 0;
		put_rows(&s, w);
		rest(every_ns);
	}
	for (unsigned i = 0; i < SCHEMAS; i++)
		rows_close(s.rows[i]);
	s.sink->close(s.sink);
}
