/* SPDX-License-Identifier: BSD-2-Clause */
/* stats.c - rows of rates while a program runs, and of cores at its end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/live.h"
#include "cli/private.h"

enum {
	SECOND = 1000000000,
	FIELDS_MAX = 64,
	REASONS_MAX = 512,
};

/* Fields of text rows; behind them more columns, and the reasons. */
enum {
	T_SECONDS,
	T_RECEIVED,
	T_DONE,
	T_LOST,
	T_HARMLESS,
	T_MORE,
};

/* Those of the others before the counters, behind which there are more. */
enum {
	R_STAGE,
	R_SECONDS,
	R_TOOK,
	R_KERNEL,
	R_COUNTERS,
};

struct cli_stats {
	const struct ledger *ledger;
	enum row_format format;
	uint64_t every_ns, start_ns, last_ns, next_ns;
	uint64_t last[FIELDS_MAX], delta[FIELDS_MAX]; /* of the counters */
	const struct src *beside;
	uint64_t kernel, kernel_delta;
	struct cli_stats_more more;
	uint64_t value[CLI_STATS_COLUMNS], added[CLI_STATS_COLUMNS];
	struct row_field field[R_COUNTERS + FIELDS_MAX + CLI_STATS_COLUMNS];
	struct schema schema;
	struct rows *rows;
};

static unsigned name_text(struct cli_stats *st)
{
	static const struct row_field first[T_MORE] = {
		{"seconds", ROW_STR, 8},
		{"received_s", ROW_U64, 10, ROW_VALUE, "1/s"},
		{"done_s", ROW_U64, 10, ROW_VALUE, "1/s"},
		{"lost_s", ROW_I64, 10, ROW_VALUE, "1/s", "0"},
		{"harmless_s", ROW_I64, 10, ROW_VALUE, "1/s"},
	};
	unsigned n = T_MORE;

	memcpy(st->field, first, sizeof(first));
	for (unsigned i = 0; i < st->more.n; i++)
		if (st->more.column[i].text)
			st->field[n++] = (struct row_field){
				st->more.column[i].text, ROW_I64, 9};
	st->field[n++] = (struct row_field){"reasons", ROW_STR, 0};
	return n;
}

static unsigned name_counters(struct cli_stats *st)
{
	static const struct row_field first[R_COUNTERS] = {
		{"stage", ROW_STR, 0, ROW_TAG},
		{"seconds", ROW_F64, 0, ROW_VALUE, "s"},
		{"took", ROW_F64, 0, ROW_VALUE, "s"},
		{"kernel_drops", ROW_U64, 0},
	};
	unsigned n = R_COUNTERS;

	memcpy(st->field, first, sizeof(first));
	for (unsigned i = 0; i < st->ledger->n; i++)
		st->field[n++] = (struct row_field){st->ledger->fields[i].name,
						    ROW_I64, 0};
	for (unsigned i = 0; i < st->more.n; i++)
		if (st->more.column[i].name)
			st->field[n++] = (struct row_field){
				st->more.column[i].name, ROW_I64, 0};
	return n;
}

struct cli_stats *cli_stats_open(const struct ledger *l, uint64_t every_ns,
				 enum row_format fmt,
				 const struct cli_stats_more *more)
{
	struct cli_stats *st;
	unsigned n;

	if (!every_ns || l->n > FIELDS_MAX)
		return NULL;
	if (!(st = calloc(1, sizeof(*st))))
		cli_fail("out of memory");
	st->ledger = l;
	st->format = fmt;
	if (more) {
		st->more = *more;
		more->read(more->ctx, st->value);
	}
	st->every_ns = every_ns;
	st->start_ns = st->last_ns = clock_ns();
	st->next_ns = st->start_ns + every_ns;
	n = fmt == ROW_TEXT ? name_text(st) : name_counters(st);
	st->schema = (struct schema){"stats", st->field, n};
	st->rows = rows_print(stderr, fmt, &st->schema, true);
	if (!st->rows)
		cli_fail("out of memory");
	return st;
}

void cli_stats_beside(struct cli_stats *st, const struct src *s)
{
	if (st)
		st->beside = s;
}

/* The same of the other columns. */
static bool differ_more(struct cli_stats *st)
{
	uint64_t now[CLI_STATS_COLUMNS];
	bool any = false;

	if (st->more.n)
		st->more.read(st->more.ctx, now);
	for (unsigned i = 0; i < st->more.n; i++) {
		uint64_t was = st->value[i];

		any = any || now[i] != was;
		st->value[i] = st->added[i] = now[i];
		if (now[i] != CLI_STATS_UNKNOWN && !st->more.column[i].level)
			st->added[i] -= was;
	}
	return any;
}

/* Counters since the last row. Returns whether any of them moved. */
static bool differ(struct cli_stats *st, const void *ctr, const struct src *s)
{
	uint64_t kernel = (s ? src_drops(s) : 0) +
			  (st->beside ? src_drops(st->beside) : 0);
	bool any = differ_more(st) || kernel != st->kernel;

	for (unsigned i = 0; i < st->ledger->n; i++) {
		uint64_t v = ledger_get(st->ledger, ctr, i);

		st->delta[i] = v - st->last[i];
		st->last[i] = v;
		any = any || st->delta[i];
	}
	st->kernel_delta = kernel - st->kernel;
	st->kernel = kernel;
	return any;
}

/* A second's worth of n that took so many seconds. */
static uint64_t rate(uint64_t n, double took)
{
	return (uint64_t)((double)n / took + 0.5);
}

/* What is missing may have come after all. */
static int64_t rate_signed(uint64_t n, double took)
{
	return (int64_t)n < 0 ? -(int64_t)rate(-n, took)
			      : (int64_t)rate(n, took);
}

/* What a text row is made of. */
struct parts {
	uint64_t sum[LEDGER_NOTE + 1];
	char reasons[REASONS_MAX];
};

/* n more of a role; what is not done has a reason, its name. */
static void add_part(struct parts *p, unsigned role, const char *name,
		     uint64_t n, double took)
{
	size_t len = strlen(p->reasons);

	p->sum[role] += n;
	if ((role == LEDGER_LOSS || role == LEDGER_HARMLESS) && n)
		snprintf(p->reasons + len, sizeof(p->reasons) - len, "%s%s %jd",
			 len ? ", " : "", name, (intmax_t)rate_signed(n, took));
}

/* The columns behind the others. Returns how many there are. */
static unsigned more_text(struct cli_stats *st, struct parts *p, double took)
{
	unsigned n = T_MORE;

	for (unsigned i = 0; i < st->more.n; i++) {
		const struct cli_stats_column *c = &st->more.column[i];
		uint64_t v = st->added[i];

		if (v == CLI_STATS_UNKNOWN)
			n += c->text != NULL;
		else if (c->text)
			row_i64(st->rows, n++,
				c->level ? (int64_t)v : rate_signed(v, took));
		else if (c->role == LEDGER_DONE)
			p->sum[LEDGER_DONE] = v;
		else
			add_part(p, c->role, c->name, v, took);
	}
	return n;
}

static void text_row(struct cli_stats *st, double at, double took)
{
	struct parts p = {.reasons = ""};
	char seconds[32];
	unsigned n;

	for (unsigned i = 0; i < st->ledger->n; i++)
		add_part(&p, st->ledger->fields[i].role,
			 st->ledger->fields[i].name, st->delta[i], took);
	add_part(&p, LEDGER_LOSS, "kernel_drops", st->kernel_delta, took);
	n = more_text(st, &p, took);
	snprintf(seconds, sizeof(seconds), "%.1f", at);
	row_str(st->rows, T_SECONDS, seconds);
	row_u64(st->rows, T_RECEIVED, rate(p.sum[LEDGER_IN], took));
	row_u64(st->rows, T_DONE, rate(p.sum[LEDGER_DONE], took));
	row_i64(st->rows, T_LOST, rate_signed(p.sum[LEDGER_LOSS], took));
	row_i64(st->rows, T_HARMLESS,
		rate_signed(p.sum[LEDGER_HARMLESS], took));
	row_str(st->rows, n, *p.reasons ? p.reasons : NULL);
	row_end(st->rows);
}

static void counter_row(struct cli_stats *st, double at, double took)
{
	unsigned n = R_COUNTERS;

	row_str(st->rows, R_STAGE, st->ledger->stage);
	row_f64(st->rows, R_SECONDS, at);
	row_f64(st->rows, R_TOOK, took);
	row_u64(st->rows, R_KERNEL, st->kernel_delta);
	for (unsigned i = 0; i < st->ledger->n; i++)
		row_i64(st->rows, n++, (int64_t)st->delta[i]);
	for (unsigned i = 0; i < st->more.n; i++) {
		if (!st->more.column[i].name)
			continue;
		if (st->added[i] != CLI_STATS_UNKNOWN)
			row_i64(st->rows, n, (int64_t)st->added[i]);
		n++;
	}
	row_end(st->rows);
}

static void print_row(struct cli_stats *st)
{
	uint64_t now = clock_ns();
	double at = (double)(now - st->start_ns) / SECOND;
	double took = (double)(now - st->last_ns) / SECOND;

	if (took <= 0)
		took = 1.0 / SECOND;
	if (st->format == ROW_TEXT)
		text_row(st, at, took);
	else
		counter_row(st, at, took);
	fflush(stderr);
	st->last_ns = now;
}

void cli_stats_tick(struct cli_stats *st, const void *ctr, const struct src *s)
{
	uint64_t now;

	if (!st || (now = clock_coarse_ns()) < st->next_ns)
		return;
	differ(st, ctr, s);
	print_row(st);
	st->next_ns += ((now - st->next_ns) / st->every_ns + 1) * st->every_ns;
}

void cli_stats_close(struct cli_stats *st, const void *ctr, const struct src *s)
{
	if (!st)
		return;
	if (differ(st, ctr, s))
		print_row(st);
	rows_close(st->rows);
	free(st);
}

void cli_shares(const struct cli_share *share, unsigned cores, const char *more,
		enum row_format format)
{
	const struct row_field field[] = {
		{"core", ROW_U64, 6, ROW_TAG}, {"batches", ROW_U64, 10},
		{"packets", ROW_U64, 12},      {"operations", ROW_U64, 12},
		{"waited", ROW_U64, 10},       {more, ROW_U64, 12},
	};
	const struct schema schema = {"cores", field, more ? 6 : 5};
	struct rows *rows = rows_print(stderr, format, &schema, true);

	for (unsigned i = 0; rows && i < cores; i++) {
		const struct cli_share *s = &share[i];
		const uint64_t value[] = {i,	  s->batches, s->packets,
					  s->ops, s->late,    s->more};

		for (unsigned k = 0; k < schema.n; k++)
			row_u64(rows, k, value[k]);
		row_end(rows);
	}
	rows_close(rows);
}
