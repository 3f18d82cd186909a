/* SPDX-License-Identifier: BSD-2-Clause */
#include "tables.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "look.h"

const char *const table_names[] = {"programs", "losses", "counters", "regions",
				   NULL};

enum {
	COLUMNS = 24, /* at most */
	SECOND = 1000000000,
};

/* Columns of the table of programs. */
enum {
	P_PROGRAM,
	P_PID,
	P_REGION,
	P_RECEIVED_S,
	P_RECEIVED_MINUTE,
	P_LOST_S,
	P_REASON,
	P_LOST_MINUTE,
	P_DONE_S,
	P_DONE_MINUTE,
	P_WAITING,
	P_WAITING_MINUTE,
	P_SILENT,
	P_RECEIVED,
	P_DONE,
	P_LOST,
	P_INPUT,
	P_OUTPUT,
	P_USER,
	P_SINCE,
	P_RELEASE,
	P_ALL,
};

/* Of losses and counters. */
enum {
	C_PROGRAM,
	C_PID,
	C_STAGE,
	C_COUNTER,
	C_PER_S,
	C_MINUTE,
	C_VALUE,
	C_ROLE,
	C_UNIT,
	C_REGION,
	C_ALL,
};

enum {
	R_REGION,
	R_EPOCH,
	R_AGE,
	R_AGE_MINUTE,
	R_FILL,
	R_FILL_MINUTE,
	R_WRITERS,
	R_STORED_S,
	R_STORED_MINUTE,
	R_SIZE,
	R_TABLES,
	R_LAST_WRITE,
	R_PATH,
	R_ALL,
};

static const char minute[] = "minute"; /* a column that is a sparkline */

#define PER_S(name)                                                            \
	{                                                                      \
		name, ROW_I64, 10, ROW_VALUE, "1/s"                            \
	}
#define MINUTE                                                                 \
	{                                                                      \
		minute, ROW_STR, MINUTE_PARTS                                  \
	}

static const struct row_field programs[P_ALL] = {
	[P_PROGRAM] = {"program", ROW_STR, 13, ROW_TAG},
	[P_PID] = {"pid", ROW_U64, 7, ROW_TAG},
	[P_REGION] = {"region", ROW_STR, 12, ROW_TAG},
	[P_RECEIVED_S] = PER_S("received_s"),
	[P_RECEIVED_MINUTE] = MINUTE,
	[P_LOST_S] = {"lost_s", ROW_I64, 10, ROW_VALUE, "1/s", "0"},
	[P_REASON] = {"reason", ROW_STR, 12},
	[P_LOST_MINUTE] = MINUTE,
	[P_DONE_S] = PER_S("done_s"),
	[P_DONE_MINUTE] = MINUTE,
	[P_WAITING] = {"waiting", ROW_U64, 8},
	[P_WAITING_MINUTE] = MINUTE,
	[P_SILENT] = {"silent", ROW_U64, 6, ROW_VALUE, "s", "0"},
	[P_RECEIVED] = {"received", ROW_U64, 12},
	[P_DONE] = {"done", ROW_U64, 12},
	[P_LOST] = {"lost", ROW_U64, 12},
	[P_INPUT] = {"input", ROW_STR, 12},
	[P_OUTPUT] = {"output", ROW_STR, 12},
	[P_USER] = {"user", ROW_STR, 8},
	[P_SINCE] = {"since", ROW_TIME, 20},
	[P_RELEASE] = {"version", ROW_STR, 7},
};

static const struct row_field counters[C_ALL] = {
	[C_PROGRAM] = {"program", ROW_STR, 13, ROW_TAG},
	[C_PID] = {"pid", ROW_U64, 7, ROW_TAG},
	[C_STAGE] = {"stage", ROW_STR, 9, ROW_TAG},
	[C_COUNTER] = {"counter", ROW_STR, 12, ROW_TAG},
	[C_PER_S] = PER_S("value_s"),
	[C_MINUTE] = MINUTE,
	[C_VALUE] = {"value", ROW_U64, 12},
	[C_ROLE] = {"role", ROW_STR, 8, ROW_TAG},
	[C_UNIT] = {"unit", ROW_STR, 7},
	[C_REGION] = {"region", ROW_STR, 12, ROW_TAG},
};

static const struct row_field regions[R_ALL] = {
	[R_REGION] = {"region", ROW_STR, 16, ROW_TAG},
	[R_EPOCH] = {"epoch", ROW_U64, 6},
	[R_AGE] = {"age", ROW_U64, 8, ROW_VALUE, "s"},
	[R_AGE_MINUTE] = MINUTE,
	[R_FILL] = {"fill", ROW_F64, 9},
	[R_FILL_MINUTE] = MINUTE,
	[R_WRITERS] = {"writers", ROW_U64, 7},
	[R_STORED_S] = PER_S("stored_s"),
	[R_STORED_MINUTE] = MINUTE,
	[R_SIZE] = {"size", ROW_U64, 12, ROW_VALUE, "bytes"},
	[R_TABLES] = {"tables", ROW_U64, 6},
	[R_LAST_WRITE] = {"last_write", ROW_TIME, 20},
	[R_PATH] = {"path", ROW_STR, 20},
};

static const struct kind {
	const struct row_field *all;
	unsigned n, sort, fixed;
} kinds[TABLES] = {
	[TABLE_PROGRAMS] = {programs, P_ALL, P_RECEIVED_S, 2},
	[TABLE_LOSSES] = {counters, C_ALL, C_PER_S, 2},
	[TABLE_COUNTERS] = {counters, C_ALL, C_PER_S, 2},
	[TABLE_REGIONS] = {regions, R_ALL, R_STORED_S, 1},
};

/* The tables in use: without sparklines, columns have other places. */
static struct {
	struct row_field field[TABLES][COLUMNS];
	struct schema schema[TABLES];
	int8_t place[TABLES][COLUMNS]; /* of a column; -1: it is not there */
	bool plain;
} own;

_Static_assert((int)P_ALL <= (int)COLUMNS && (int)C_ALL <= (int)COLUMNS &&
		       (int)R_ALL <= (int)COLUMNS,
	       "there is room for all columns");

void tables_begin(bool minutes, bool plain)
{
	own.plain = plain;
	for (unsigned t = 0; t < TABLES; t++) {
		struct schema *s = &own.schema[t];

		*s = (struct schema){table_names[t], own.field[t], 0};
		for (unsigned i = 0; i < kinds[t].n; i++) {
			own.place[t][i] = -1;
			if (!minutes && kinds[t].all[i].name == minute)
				continue;
			own.place[t][i] = (int8_t)s->n;
			own.field[t][s->n++] = kinds[t].all[i];
		}
	}
}

const struct schema *table_schema(unsigned table)
{
	return &own.schema[table];
}

unsigned table_sort(unsigned table)
{
	return (unsigned)own.place[table][kinds[table].sort];
}

unsigned table_fixed(unsigned table)
{
	return kinds[table].fixed;
}

bool table_sorts(unsigned table, unsigned column)
{
	return own.field[table][column].name != minute;
}

/* --- rows ----------------------------------------------------------------- */

/* A row in the making: its columns by the numbers above. */
struct making {
	struct row_batch *b;
	const int8_t *place;
	uint64_t now_ns;
};

static void put_u64(const struct making *m, unsigned column, uint64_t v)
{
	row_batch_set(m->b, (unsigned)m->place[column], ROW_U64)->u64 = v;
}

static void put_str(const struct making *m, unsigned column, const char *v)
{
	row_batch_str(m->b, (unsigned)m->place[column], *v ? v : NULL);
}

static void put_time(const struct making *m, unsigned column, uint64_t ns)
{
	if (ns)
		row_batch_set(m->b, (unsigned)m->place[column], ROW_TIME)->i64 =
			(int64_t)ns;
}

/* A sparkline, where there are any; least: as of minute_text(). */
static void put_minute(const struct making *m, unsigned column,
		       const struct minute *minute_of, double least)
{
	char text[MINUTE_TEXT];

	if (m->place[column] < 0)
		return;
	minute_text(text, minute_of, m->now_ns, least, own.plain);
	put_str(m, column, text);
}

/* A rate, and the sparkline in the column that is for it. */
static void put_speed(const struct making *m, unsigned column, unsigned minutes,
		      const struct speed *s)
{
	if (s->known)
		row_batch_set(m->b, (unsigned)m->place[column], ROW_I64)->i64 =
			llround(s->per_s);
	put_minute(m, minutes, &s->minute, 0);
}

static const struct program *program_at(const struct watch *w, uint32_t i)
{
	const struct program *p = w->programs;

	for (; p && i; i--)
		p = p->next;
	return p;
}

static void put_program(const struct making *m, const struct watch *w,
			const struct program *p)
{
	const struct speed *s = p->of_total;
	int worst = watch_worst(p);
	uint64_t waiting;

	put_str(m, P_PROGRAM, p->page.program);
	put_u64(m, P_PID, p->page.pid);
	put_str(m, P_REGION, p->page.region);
	put_speed(m, P_RECEIVED_S, P_RECEIVED_MINUTE, &s[TOTAL_RECEIVED]);
	put_speed(m, P_LOST_S, P_LOST_MINUTE, &s[TOTAL_LOST]);
	put_speed(m, P_DONE_S, P_DONE_MINUTE, &s[TOTAL_DONE]);
	put_str(m, P_REASON, worst < 0 ? "" : p->page.counter[worst].name);
	put_u64(m, P_SILENT, watch_silence(w, p) / SECOND);
	put_u64(m, P_RECEIVED, p->total[TOTAL_RECEIVED]);
	put_u64(m, P_DONE, p->total[TOTAL_DONE]);
	put_u64(m, P_LOST, p->total[TOTAL_LOST]);
	if (watch_waiting(p, &waiting)) {
		put_u64(m, P_WAITING, waiting);
		put_minute(m, P_WAITING_MINUTE, &p->waiting, 0);
	}
	put_str(m, P_INPUT, p->page.input);
	put_str(m, P_OUTPUT, p->page.output);
	put_str(m, P_USER, p->user);
	put_time(m, P_SINCE, p->owner.since_ns);
	put_str(m, P_RELEASE, p->page.release);
}

/* Counters are numbered through all programs. */
static const struct program *counter_at(const struct watch *w, uint32_t i,
					unsigned *counter)
{
	const struct program *p = w->programs;

	for (; p && i >= p->page.counters; p = p->next)
		i -= p->page.counters;
	*counter = i;
	return p;
}

static void put_counter(const struct making *m, const struct program *p,
			unsigned i)
{
	const struct ledger_counter *c = &p->page.counter[i];

	put_str(m, C_PROGRAM, p->page.program);
	put_u64(m, C_PID, p->page.pid);
	put_str(m, C_STAGE, p->page.stage[c->stage].name);
	put_str(m, C_COUNTER, c->name);
	put_speed(m, C_PER_S, C_MINUTE, &p->counter[i]);
	put_u64(m, C_VALUE, c->value);
	put_str(m, C_ROLE, ledger_role_name(c->role));
	put_str(m, C_UNIT, p->page.stage[c->stage].unit);
	put_str(m, C_REGION, p->page.region);
}

static const struct seen_region *region_at(const struct watch *w, uint32_t i)
{
	const struct seen_region *r = w->regions;

	for (; r && i; i--)
		r = r->next;
	return r;
}

static void put_region(const struct making *m, const struct seen_region *r)
{
	uint64_t age_ns;

	put_str(m, R_REGION, r->name);
	put_u64(m, R_EPOCH, r->epoch);
	if (look_age(r, &age_ns))
		put_u64(m, R_AGE, age_ns / SECOND);
	put_minute(m, R_AGE_MINUTE, &r->ages, 0);
	row_batch_set(m->b, (unsigned)m->place[R_FILL], ROW_F64)->f64 = r->fill;
	put_minute(m, R_FILL_MINUTE, &r->fills, 1);
	put_u64(m, R_WRITERS, r->writers);
	put_speed(m, R_STORED_S, R_STORED_MINUTE, &r->stored);
	put_u64(m, R_SIZE, r->size);
	put_u64(m, R_TABLES, r->tables);
	/* Who is at it may write now. */
	put_time(m, R_LAST_WRITE, r->writers ? clock_wall_ns() : r->left_ns);
	put_str(m, R_PATH, r->path);
}

uint32_t table_size(const struct watch *w, unsigned table)
{
	uint32_t n = 0;

	if (table == TABLE_PROGRAMS)
		return w->n_programs;
	if (table == TABLE_REGIONS)
		return w->n_regions;
	for (const struct program *p = w->programs; p; p = p->next)
		n += p->page.counters;
	return n;
}

bool table_has(const struct watch *w, unsigned table, uint32_t i)
{
	const struct program *p;
	unsigned k;

	if (table == TABLE_PROGRAMS)
		return i < w->n_programs;
	if (table == TABLE_REGIONS)
		return i < w->n_regions;
	p = counter_at(w, i, &k);
	return p && (table == TABLE_COUNTERS ||
		     (p->page.counter[k].role == LEDGER_LOSS &&
		      p->page.counter[k].value));
}

void table_row(const struct watch *w, unsigned table, uint32_t i,
	       struct row_batch *b)
{
	const struct making m = {b, own.place[table], clock_ns()};
	const struct program *p;
	unsigned k;

	switch (table) {
	case TABLE_PROGRAMS:
		put_program(&m, w, program_at(w, i));
		break;
	case TABLE_REGIONS:
		put_region(&m, region_at(w, i));
		break;
	default:
		p = counter_at(w, i, &k);
		put_counter(&m, p, k);
	}
}
