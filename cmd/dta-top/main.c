/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dta-top - look on: the ledgers of running programs and the regions that they
 * write, live on a screen, once as rows, or for Prometheus.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/live.h"
#include "cli/browse.h"
#include "watch.h"

/* --- what is seen, as tables -----------------------------------------------
 */

enum table_of {
	TABLE_PROGRAMS,
	TABLE_LOSSES, /* the counters by which something was lost */
	TABLE_COUNTERS,
	TABLE_REGIONS,
	TABLES,
};

static const char *const table_names[] = {"programs", "losses", "counters",
					  "regions", NULL};

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

static const struct schema *schema(unsigned table)
{
	return &kinds[table].schema;
}

static unsigned sort(unsigned table)
{
	return kinds[table].sort;
}

static unsigned fixed(unsigned table)
{
	return kinds[table].fixed;
}

/* --- options ---------------------------------------------------------------
 */

struct opts {
	const char *region;	   /* only that one; NULL: all */
	struct browse_options top; /* top: 1 + enum table */
	const char *prometheus;	   /* ADDR:PORT, or NULL */
	enum row_format format;
};

#define AT(field) CLI_AT(struct opts, field)

static const struct cli_option options[] = {
	{'R', "region", "NAME", "only this region, and who writes it", CLI_STR,
	 AT(region)},
	{'t', "table", "TABLE",
	 "programs (default), losses, counters or regions", CLI_WORD,
	 AT(top.top), .min = 1, .words = table_names},
	{0, "once", NULL, "the table as rows, and end", CLI_FLAG, AT(top.once)},
	BROWSE_ROW_OPTIONS(struct opts, top, NULL),
	{0, "prometheus", "[ADDR]:PORT",
	 "all counters for Prometheus, asked there for /metrics", CLI_STR,
	 AT(prometheus)},
	{'o', "output", "FORMAT", "rows as text, csv or ndjson", CLI_FORMAT,
	 AT(format), .needs = "--once"},
	{0},
};

#define NO_TABLE "Prometheus gets all tables"

static const struct cli_group groups[] = {
	{"--prometheus --once"},
	{"--prometheus --table", .why = NO_TABLE},
	{"--prometheus --sort", .why = NO_TABLE},
	{0},
};

static const struct cli cli = {
	.name = "dta-top",
	.summary = "look on: running programs and the regions they write",
	.usage = "dta-top [-R REGION] [-t TABLE] [--every TIME]\n"
		 "dta-top [-R REGION] [-t TABLE] --once [-o FORMAT]\n"
		 "dta-top [-R REGION] --prometheus [ADDR]:PORT",
	.options = options,
	.groups = groups,
};

static struct opts options_read(int argc, char **argv)
{
	struct opts o = {0};
	int n = cli_read(&cli, &o, argc, argv);

	if (n < argc)
		cli_usage(&cli, "'%s': no such argument", argv[n]);
	cli_check(&cli, &o, -1);
	if (!o.top.once && !o.prometheus && !isatty(STDOUT_FILENO))
		cli_usage(&cli,
			  "the standard output is no terminal: say --once, or "
			  "--prometheus");
	if (!o.top.top)
		o.top.top = 1 + TABLE_PROGRAMS;
	browse_defaults(&o.top, false);
	return o;
}

struct run {
	struct opts o;
	struct watch w;
	uint64_t due_ns; /* the next look */
	char filter[BROWSE_LINE];
};

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

static uint32_t size(void *run, unsigned table)
{
	const struct watch *w = &((struct run *)run)->w;
	uint32_t n = 0;

	if (table == TABLE_PROGRAMS)
		return w->n_programs;
	if (table == TABLE_REGIONS)
		return w->n_regions;
	for (const struct program *p = w->programs; p; p = p->next)
		n += p->page.counters;
	return n;
}

static bool has(void *run, unsigned table, uint32_t i)
{
	const struct watch *w = &((struct run *)run)->w;
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

static void row(void *run, unsigned table, uint32_t i, struct row_batch *b)
{
	const struct watch *w = &((struct run *)run)->w;
	const struct program *p;
	unsigned k;

	if (table == TABLE_PROGRAMS) {
		put_program(b, w, program_at(w, i));
	} else if (table == TABLE_REGIONS) {
		put_region(b, region_at(w, i));
	} else {
		p = counter_at(w, i, &k);
		put_counter(b, p, k);
	}
}

/* What falls is behind what stands still. */
static bool key(void *run, unsigned table, uint32_t i, unsigned column,
		struct row_batch *b, uint64_t *out)
{
	row_batch_clear(b);
	row(run, table, i, b);
	if (b->hand[column].kind == ROW_I64 && b->hand[column].i64 < 0)
		b->hand[column].i64 = 0;
	return browse_key(b, &b->hand[column], out);
}

static int filter(void *run, const char *text, struct error *why)
{
	struct run *r = run;

	(void)why;
	snprintf(r->filter, sizeof(r->filter), "%s", text);
	return 0;
}

/* Whether a text of the row has the filter's in it. */
static bool match(void *run, unsigned table, uint32_t i)
{
	struct run *r = run;
	struct row_batch b;
	bool is = false;

	if (row_batch_init(&b, schema(table), 1) < 0)
		cli_fail("out of memory");
	row(run, table, i, &b);
	for (unsigned c = 0; c < b.schema->n && !is; c++)
		is = b.hand[c].kind == ROW_STR &&
		     strstr((const char *)b.bytes + b.hand[c].at, r->filter);
	row_batch_fini(&b);
	return is;
}

/* The region that was asked for, or what goes on in all programs. */
static void head_of_all(const struct run *r, char *line)
{
	const struct seen_region *region = r->w.regions;
	double total[TOTALS] = {0};
	uint64_t age_ns;
	int n = 0;

	for (const struct program *p = r->w.programs; p; p = p->next)
		for (unsigned i = 0; i < TOTALS; i++)
			if (p->of_total[i].known)
				total[i] += p->of_total[i].per_s;
	if (r->o.region && region && watch_age(region, &age_ns))
		n = snprintf(line, BROWSE_LINE,
			     "%s: epoch %" PRIu64 ", %" PRIu64
			     " s old, %.1f%% full, %u writer%s; ",
			     r->o.region, region->epoch, age_ns / 1000000000,
			     region->fill * 100, region->writers,
			     text_s(region->writers));
	else
		n = snprintf(line, BROWSE_LINE, "%u program%s, %u region%s%s; ",
			     r->w.n_programs, text_s(r->w.n_programs),
			     r->w.n_regions, text_s(r->w.n_regions),
			     r->w.unseen ? " (and others unseen)" : "");
	if (n < BROWSE_LINE)
		snprintf(line + n, (size_t)(BROWSE_LINE - n),
			 "a second: %.0f received, %.0f done, %.0f lost",
			 total[TOTAL_RECEIVED], total[TOTAL_DONE],
			 total[TOTAL_LOST]);
}

/* What is wrong, the worst first. */
static void head_of_worst(const struct run *r, char *line)
{
	const struct program *worst = NULL;
	double most = 0;

	for (const struct program *p = r->w.programs; p; p = p->next) {
		const struct speed *s = &p->of_total[TOTAL_LOST];

		if (s->known && s->per_s > most && watch_worst(p) >= 0) {
			most = s->per_s;
			worst = p;
		}
	}
	if (r->w.why.text[0])
		snprintf(line, BROWSE_LINE, "%u page%s not seen; %.500s",
			 r->w.unread, r->w.unread == 1 ? " is" : "s are",
			 r->w.why.text);
	else if (worst)
		snprintf(line, BROWSE_LINE,
			 "most is lost by %s %u: %.0f a second, %s",
			 worst->page.program, worst->page.pid, most,
			 worst->page.counter[watch_worst(worst)].name);
	else
		snprintf(line, BROWSE_LINE, "nothing is lost");
}

static void head(void *run, unsigned table, bool ended,
		 char line[2][BROWSE_LINE])
{
	(void)table;
	(void)ended;
	head_of_all(run, line[0]);
	head_of_worst(run, line[1]);
}

static const struct browse_tables tables = {
	.names = table_names,
	.schema = schema,
	.sort = sort,
	.fixed = fixed,
	.size = size,
	.has = has,
	.row = row,
	.key = key,
	.filter = filter,
	.match = match,
	.head = head,
};

/* Looks again, if it is time. */
static void look_on(void *run)
{
	struct run *r = run;
	uint64_t now = clock_ns();

	if (now < r->due_ns)
		return;
	r->due_ns = now + r->o.top.every_ns;
	watch_look(&r->w);
}

/* Twice, for rates. Exits if no program's page can be read. */
static void look_twice(struct run *r)
{
	const struct timespec t = {
		.tv_sec = (time_t)(r->o.top.every_ns / 1000000000),
		.tv_nsec = (long)(r->o.top.every_ns % 1000000000),
	};

	watch_look(&r->w);
	nanosleep(&t, NULL);
	if (watch_look(&r->w) < 0)
		cli_fail("%s", r->w.why.text);
}

/* Whether there is such a region; exits if not. */
static void check_region(const char *name)
{
	struct error err = {0};
	struct region *r;

	if (region_look(&r, name, &err) < 0)
		cli_error(name, &err);
	region_close(r);
}

/* Of the table that was asked for; says why it is empty. */
static int exit_status(struct run *r, int rc)
{
	unsigned table = r->o.top.top - 1;

	if (rc < 0)
		return CLI_FAIL;
	if (r->w.why.text[0])
		cli_warn("%u page%s not seen; %s", r->w.unread,
			 r->w.unread == 1 ? " is" : "s are", r->w.why.text);
	if (table == TABLE_REGIONS && r->w.unseen)
		watch_tell_unseen(&r->w);
	if (table == TABLE_REGIONS ? r->w.n_regions : r->w.n_programs)
		return CLI_OK;
	if (table == TABLE_REGIONS)
		cli_warn("there are no regions");
	else if (r->o.region)
		cli_warn("%s: nobody who shows a page writes it", r->o.region);
	else
		cli_warn("%s: no program shows its page", r->w.dir);
	return CLI_NOTHING;
}

static int show_tables(struct run *r)
{
	struct browse *shown;
	int rc;

	shown = browse_open(&tables, r, &r->o.top, r->o.format);
	if (r->o.top.once)
		look_twice(r);
	else
		look_on(r);
	rc = browse_end(shown, look_on);
	browse_close(shown);
	return r->o.top.once ? exit_status(r, rc) : rc < 0 ? CLI_FAIL : CLI_OK;
}

int main(int argc, char **argv)
{
	static struct run r;
	int status = CLI_OK;

	cli_start(&cli);
	r.o = options_read(argc, argv);
	cli_signals();
	if (r.o.region)
		check_region(r.o.region);
	r.w.dir = cli_page_dir();
	r.w.region = r.o.region;
	if (r.o.prometheus)
		serve(r.o.prometheus, r.o.top.every_ns, &r.w);
	else
		status = show_tables(&r);
	watch_fini(&r.w);
	return status;
}
