/* SPDX-License-Identifier: BSD-2-Clause */
#include "tables.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"

const char *const table_names[] = {"programs", "losses", "counters", "regions",
				   NULL};

enum {
	SECOND = 1000000000,
};

/* Columns of the table of programs. */
enum {
	P_PROGRAM,
	P_PID,
	P_REGION,
	P_RECEIVED_S,
	P_LOST_S,
	P_REASON,
	P_DONE_S,
	P_WAITING,
	P_SILENT,
	P_RECEIVED,
	P_DONE,
	P_LOST,
	P_INPUT,
	P_OUTPUT,
	P_USER,
	P_SINCE,
	P_RELEASE,
};

/* Of losses and counters. */
enum {
	C_PROGRAM,
	C_PID,
	C_STAGE,
	C_COUNTER,
	C_PER_S,
	C_VALUE,
	C_ROLE,
	C_UNIT,
	C_REGION,
};

enum {
	R_REGION,
	R_EPOCH,
	R_AGE,
	R_FILL,
	R_WRITERS,
	R_STORED_S,
	R_SIZE,
	R_TABLES,
	R_LAST_WRITE,
	R_PATH,
};

#define PER_S(name)                                                            \
	{                                                                      \
		name, ROW_I64, 10, ROW_VALUE, "1/s"                            \
	}
static const struct row_field programs[] = {
	[P_PROGRAM] = {"program", ROW_STR, 13, ROW_TAG},
	[P_PID] = {"pid", ROW_U64, 7, ROW_TAG},
	[P_REGION] = {"region", ROW_STR, 12, ROW_TAG},
	[P_RECEIVED_S] = PER_S("received_s"),
	[P_LOST_S] = {"lost_s", ROW_I64, 10, ROW_VALUE, "1/s", "0"},
	[P_REASON] = {"reason", ROW_STR, 12},
	[P_DONE_S] = PER_S("done_s"),
	[P_WAITING] = {"waiting", ROW_U64, 8},
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

static const struct row_field counters[] = {
	[C_PROGRAM] = {"program", ROW_STR, 13, ROW_TAG},
	[C_PID] = {"pid", ROW_U64, 7, ROW_TAG},
	[C_STAGE] = {"stage", ROW_STR, 9, ROW_TAG},
	[C_COUNTER] = {"counter", ROW_STR, 12, ROW_TAG},
	[C_PER_S] = PER_S("value_s"),
	[C_VALUE] = {"value", ROW_U64, 12},
	[C_ROLE] = {"role", ROW_STR, 8, ROW_TAG},
	[C_UNIT] = {"unit", ROW_STR, 7},
	[C_REGION] = {"region", ROW_STR, 12, ROW_TAG},
};

static const struct row_field regions[] = {
	[R_REGION] = {"region", ROW_STR, 16, ROW_TAG},
	[R_EPOCH] = {"epoch", ROW_U64, 6},
	[R_AGE] = {"age", ROW_U64, 8, ROW_VALUE, "s"},
	[R_FILL] = {"fill", ROW_F64, 9},
	[R_WRITERS] = {"writers", ROW_U64, 7},
	[R_STORED_S] = PER_S("stored_s"),
	[R_SIZE] = {"size", ROW_U64, 12, ROW_VALUE, "bytes"},
	[R_TABLES] = {"tables", ROW_U64, 6},
	[R_LAST_WRITE] = {"last_write", ROW_TIME, 20},
	[R_PATH] = {"path", ROW_STR, 20},
};

#define FIELDS(f) f, sizeof(f) / sizeof((f)[0])

static const struct kind {
	struct schema schema;
	unsigned sort, fixed;
} kinds[TABLES] = {
	[TABLE_PROGRAMS] = {{"programs", FIELDS(programs)}, P_RECEIVED_S, 2},
	[TABLE_LOSSES] = {{"losses", FIELDS(counters)}, C_PER_S, 2},
	[TABLE_COUNTERS] = {{"counters", FIELDS(counters)}, C_PER_S, 2},
	[TABLE_REGIONS] = {{"regions", FIELDS(regions)}, R_STORED_S, 1},
};

const struct schema *table_schema(unsigned table)
{
	return &kinds[table].schema;
}

unsigned table_sort(unsigned table)
{
	return kinds[table].sort;
}

unsigned table_fixed(unsigned table)
{
	return kinds[table].fixed;
}

/* --- rows ----------------------------------------------------------------- */

static void put_u64(struct row_batch *b, unsigned column, uint64_t v)
{
	row_batch_set(b, column, ROW_U64)->u64 = v;
}

static void put_str(struct row_batch *b, unsigned column, const char *v)
{
	row_batch_str(b, column, *v ? v : NULL);
}

static void put_time(struct row_batch *b, unsigned column, uint64_t ns)
{
	if (ns)
		row_batch_set(b, column, ROW_TIME)->i64 = (int64_t)ns;
}

static void put_speed(struct row_batch *b, unsigned column,
		      const struct speed *s)
{
	if (s->known)
		row_batch_set(b, column, ROW_I64)->i64 = llround(s->per_s);
}

static const struct program *program_at(const struct watch *w, uint32_t i)
{
	const struct program *p = w->programs;

	for (; p && i; i--)
		p = p->next;
	return p;
}

static void put_program(struct row_batch *b, const struct watch *w,
			const struct program *p)
{
	const struct speed *s = p->of_total;
	int worst = watch_worst(p);
	uint64_t waiting;

	put_str(b, P_PROGRAM, p->page.program);
	put_u64(b, P_PID, p->page.pid);
	put_str(b, P_REGION, p->page.region);
	put_speed(b, P_RECEIVED_S, &s[TOTAL_RECEIVED]);
	put_speed(b, P_LOST_S, &s[TOTAL_LOST]);
	put_speed(b, P_DONE_S, &s[TOTAL_DONE]);
	put_str(b, P_REASON, worst < 0 ? "" : p->page.counter[worst].name);
	put_u64(b, P_SILENT, watch_silence(w, p) / SECOND);
	put_u64(b, P_RECEIVED, p->total[TOTAL_RECEIVED]);
	put_u64(b, P_DONE, p->total[TOTAL_DONE]);
	put_u64(b, P_LOST, p->total[TOTAL_LOST]);
	if (watch_waiting(p, &waiting)) {
		put_u64(b, P_WAITING, waiting);
	}
	put_str(b, P_INPUT, p->page.input);
	put_str(b, P_OUTPUT, p->page.output);
	put_str(b, P_USER, p->user);
	put_time(b, P_SINCE, p->owner.since_ns);
	put_str(b, P_RELEASE, p->page.release);
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

static void put_counter(struct row_batch *b, const struct program *p,
			unsigned i)
{
	const struct ledger_counter *c = &p->page.counter[i];

	put_str(b, C_PROGRAM, p->page.program);
	put_u64(b, C_PID, p->page.pid);
	put_str(b, C_STAGE, p->page.stage[c->stage].name);
	put_str(b, C_COUNTER, c->name);
	put_speed(b, C_PER_S, &p->counter[i]);
	put_u64(b, C_VALUE, c->value);
	put_str(b, C_ROLE, ledger_role_name(c->role));
	put_str(b, C_UNIT, p->page.stage[c->stage].unit);
	put_str(b, C_REGION, p->page.region);
}

static const struct seen_region *region_at(const struct watch *w, uint32_t i)
{
	const struct seen_region *r = w->regions;

	for (; r && i; i--)
		r = r->next;
	return r;
}

static void put_region(struct row_batch *b, const struct seen_region *r)
{
	uint64_t age_ns;

	put_str(b, R_REGION, r->name);
	put_u64(b, R_EPOCH, r->epoch);
	if (watch_age(r, &age_ns))
		put_u64(b, R_AGE, age_ns / SECOND);
	row_batch_set(b, R_FILL, ROW_F64)->f64 = r->fill;
	put_u64(b, R_WRITERS, r->writers);
	put_speed(b, R_STORED_S, &r->stored);
	put_u64(b, R_SIZE, r->size);
	put_u64(b, R_TABLES, r->tables);
	/* Who is at it may write now. */
	put_time(b, R_LAST_WRITE, r->writers ? clock_wall_ns() : r->left_ns);
	put_str(b, R_PATH, r->path);
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
	const struct program *p;
	unsigned k;

	switch (table) {
	case TABLE_PROGRAMS:
		put_program(b, w, program_at(w, i));
		break;
	case TABLE_REGIONS:
		put_region(b, region_at(w, i));
		break;
	default:
		p = counter_at(w, i, &k);
		put_counter(b, p, k);
	}
}
