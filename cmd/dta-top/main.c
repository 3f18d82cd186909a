/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dta-top - shows the ledgers of running programs and the regions that they
 * write: live on a screen, once as rows, for Prometheus, or only what is wrong.
 */
#include <inttypes.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/live.h"
#include "cli/table.h"
#include "cli/browse.h"
#include "watch.h"

/* --- tables --------------------------------------------------------------- */

enum table_id {
	TABLE_PROGRAMS,
	TABLE_LOSSES, /* the counters by which something was lost */
	TABLE_COUNTERS,
	TABLE_REGIONS,
	TABLES,
};

static const char *const table_names[] = {"programs", "losses", "counters",
					  "regions", NULL};

/* clang-format off */
#define PROGRAM(member) COLUMN_OF(PART_PROGRAM, program, member)
#define REGION(member) COLUMN_OF(PART_REGION, seen_region, member)
#define COUNTER(type, member, of) COLUMN_OF(PART_##of, type, member)
#define PER_S(name) {name, ROW_I64, 10, ROW_VALUE, "1/s"}

static const struct column programs[] = {
	{{"program", ROW_STR, 13, ROW_TAG}, PROGRAM(page.program)},
	{{"pid", ROW_U64, 7, ROW_TAG}, PROGRAM(page.pid)},
	{{"region", ROW_STR, 12, ROW_TAG}, PROGRAM(page.region)},
	{PER_S("received_s"), PROGRAM(total_rate[TOTAL_RECEIVED])},
	{{"lost_s", ROW_I64, 10, ROW_VALUE, "1/s", "0"},
	 PROGRAM(total_rate[TOTAL_LOST])},
	{{"reason", ROW_STR, 12}, PROGRAM(reason)},
	{PER_S("done_s"), PROGRAM(total_rate[TOTAL_DONE])},
	{{"waiting", ROW_U64, 8}, PROGRAM(waiting)},
	{{"silent", ROW_U64, 6, ROW_VALUE, "s", "0"}, PROGRAM(silent_s)},
	{{"dead", ROW_U64, 5, ROW_VALUE, "s", ""}, PROGRAM(dead_s)},
	{{"ended_by", ROW_STR, 8}, PROGRAM(ended_by)},
	{{"received", ROW_U64, 12}, PROGRAM(total[TOTAL_RECEIVED])},
	{{"done", ROW_U64, 12}, PROGRAM(total[TOTAL_DONE])},
	{{"lost", ROW_U64, 12}, PROGRAM(total[TOTAL_LOST])},
	{{"input", ROW_STR, 12}, PROGRAM(page.input)},
	{{"output", ROW_STR, 12}, PROGRAM(page.output)},
	{{"user", ROW_STR, 8}, PROGRAM(user)},
	{{"since", ROW_TIME, 20}, PROGRAM(owner.since_ns)},
	{{"version", ROW_STR, 7}, PROGRAM(page.release)},
};

static const struct column counters[] = {
	{{"program", ROW_STR, 13, ROW_TAG}, PROGRAM(page.program)},
	{{"pid", ROW_U64, 7, ROW_TAG}, PROGRAM(page.pid)},
	{{"stage", ROW_STR, 9, ROW_TAG}, COUNTER(ledger_stage, name, STAGE)},
	{{"counter", ROW_STR, 12, ROW_TAG},
	 COUNTER(ledger_counter, name, COUNTER)},
	{PER_S("value_s"), COUNTER(counter_extra, rate, EXTRA)},
	{{"value", ROW_U64, 12}, COUNTER(ledger_counter, value, COUNTER)},
	{{"role", ROW_STR, 8, ROW_TAG}, COUNTER(counter_extra, role, EXTRA)},
	{{"unit", ROW_STR, 7}, COUNTER(ledger_stage, unit, STAGE)},
	{{"region", ROW_STR, 12, ROW_TAG}, PROGRAM(page.region)},
	{{"input", ROW_STR, 12}, PROGRAM(page.input)},
	{{"output", ROW_STR, 12}, PROGRAM(page.output)},
	{{"dead", ROW_U64, 5, ROW_VALUE, "s", ""}, PROGRAM(dead_s)},
	{{"ended_by", ROW_STR, 8}, PROGRAM(ended_by)},
};

static const struct column regions[] = {
	{{"region", ROW_STR, 16, ROW_TAG}, REGION(name)},
	{{"epoch", ROW_U64, 6}, REGION(epoch)},
	{{"age", ROW_U64, 8, ROW_VALUE, "s"}, REGION(age_s)},
	{{"fill", ROW_F64, 9, ROW_VALUE, "ratio"}, REGION(fill)},
	{{"writers", ROW_U64, 7}, REGION(writers)},
	{PER_S("stored_s"), REGION(stored)},
	{{"size", ROW_U64, 12, ROW_VALUE, "bytes"}, REGION(size)},
	{{"tables", ROW_U64, 6}, REGION(tables)},
	{{"last_write", ROW_TIME, 20}, REGION(last_write_ns)},
	{{"path", ROW_STR, 20}, REGION(path)},
};
/* clang-format on */

static struct columns shown[TABLES] = {
	[TABLE_PROGRAMS] = {"programs", ALL_COLUMNS(programs)},
	[TABLE_LOSSES] = {"losses", ALL_COLUMNS(counters)},
	[TABLE_COUNTERS] = {"counters", ALL_COLUMNS(counters)},
	[TABLE_REGIONS] = {"regions", ALL_COLUMNS(regions)},
};

static const struct browse_table browsed[TABLES] = {
	[TABLE_PROGRAMS] = {&shown[TABLE_PROGRAMS].schema, "received_s", 2},
	[TABLE_LOSSES] = {&shown[TABLE_LOSSES].schema, "value_s", 2},
	[TABLE_COUNTERS] = {&shown[TABLE_COUNTERS].schema, "value_s", 2},
	[TABLE_REGIONS] = {&shown[TABLE_REGIONS].schema, "stored_s", 1},
};

/* --- options -------------------------------------------------------------- */

struct opts {
	const char *region;	   /* only that one; NULL: all */
	struct browse_options top; /* top.top: 1 + enum table_id */
	bool check;
	const char *prometheus; /* ADDR:PORT, or NULL */
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
	{0, "check", NULL, "only what is wrong: a line each, and exit 1",
	 CLI_FLAG, AT(check)},
	BROWSE_ROW_OPTIONS(struct opts, top, NULL),
	{0, "prometheus", "[ADDR]:PORT",
	 "all counters for Prometheus, asked there for /metrics", CLI_STR,
	 AT(prometheus)},
	{'o', "output", "FORMAT", "rows as text, csv or ndjson", CLI_FORMAT,
	 AT(format), .needs = "--once|--check"},
	CLI_TIME_OPTION(.needs = "--once"),
	{0},
};

#define NO_TABLE   "Prometheus gets all tables"
#define ALL_LOSSES "it tells all that is lost"

static const struct cli_group groups[] = {
	{"--prometheus --once --check"},
	{"--check --table", .why = ALL_LOSSES},
	{"--check --sort", .why = ALL_LOSSES},
	{"--prometheus --table", .why = NO_TABLE},
	{"--prometheus --sort", .why = NO_TABLE},
	{0},
};

static const struct cli cli = {
	.name = "dta-top",
	.summary = "look on: running programs and the regions they write",
	.usage = "dta-top [-R REGION] [-t TABLE] [--every TIME]\n"
		 "dta-top [-R REGION] [-t TABLE] --once [-o FORMAT]\n"
		 "dta-top [-R REGION] --check [--every TIME] [-o FORMAT]\n"
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
	if (!o.top.once && !o.check && !o.prometheus && !isatty(STDOUT_FILENO))
		cli_usage(&cli,
			  "the standard output is no terminal: say --once, "
			  "--check or --prometheus");
	if (o.format == ROW_TEXT && !isatty(STDOUT_FILENO) &&
	    !cli_option_text(&cli, "--time"))
		row_style.iso_time = true;
	if (!o.top.top)
		o.top.top = 1 + TABLE_PROGRAMS;
	browse_defaults(&o.top, false);
	if (o.check && o.top.every_ns < 250000000)
		cli_usage(&cli, "--check: pages are written every 250ms: "
				"--every cannot be less");
	return o;
}

struct run {
	struct opts o;
	struct watch w;
	uint64_t due_ns; /* the next look */
};

/* --- rows ----------------------------------------------------------------- */

/* Finds item i of the counters of all programs. */
static const struct program *counter_at(const struct watch *w, uint32_t i,
					unsigned *counter)
{
	const struct program *p = w->programs;

	for (; p && i >= p->page.counters; p = p->next)
		i -= p->page.counters;
	*counter = i;
	return p;
}

static uint32_t table_size(void *run, unsigned table)
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

static bool has_row(void *run, unsigned table, uint32_t i)
{
	const struct watch *w = &((struct run *)run)->w;
	const struct program *p;
	unsigned k;

	if (table == TABLE_PROGRAMS || table == TABLE_REGIONS)
		return i < table_size(run, table);
	p = counter_at(w, i, &k);
	return p && (table == TABLE_COUNTERS ||
		     (p->page.counter[k].role == LEDGER_LOSS &&
		      p->page.counter[k].value));
}

static void fill_row(void *run, unsigned table, uint32_t i, unsigned only,
		     struct row_batch *b)
{
	const struct watch *w = &((struct run *)run)->w;
	const struct program *p = w->programs;
	const struct seen_region *r = w->regions;
	unsigned k;

	(void)only;
	if (table == TABLE_PROGRAMS) {
		for (; i; i--)
			p = p->next;
		columns_set(&shown[table], b, (const void *[PARTS]){p});
	} else if (table == TABLE_REGIONS) {
		for (; i; i--)
			r = r->next;
		columns_set(&shown[table], b, (const void *[PARTS]){r});
	} else {
		p = counter_at(w, i, &k);
		columns_set_counter(&shown[table], b, p, k);
	}
}

static void describe_death(char *out, size_t size, const struct program *p)
{
	bool killed = !strcmp(p->ended_by, "killed");
	int n = snprintf(out, size, "%s %u%s%s: ended %" PRIu64 " s ago%s%s",
			 p->page.program, p->page.pid,
			 *p->page.region ? " " : "", p->page.region, p->dead_s,
			 killed ? ", " : " by ", p->ended_by);

	if (p->waiting_unit)
		snprintf(out + n, size - (size_t)n, ", %" PRIu64 " %s waited",
			 p->waiting, p->waiting_unit);
}

/* Line 0: the region that was asked for, and sums over all programs. Line 1:
 * what is wrong, or the program that loses most. */
static void write_head(void *run, unsigned table, bool ended,
		       char line[2][BROWSE_LINE])
{
	const struct run *r = run;
	const struct seen_region *region = r->w.regions;
	const struct program *worst = NULL, *dead = NULL;
	unsigned running = 0;
	double total[TOTALS] = {0}, most = 0;
	int n;

	(void)table;
	(void)ended;
	for (const struct program *p = r->w.programs; p; p = p->next) {
		const struct rate *lost = &p->total_rate[TOTAL_LOST];

		running += !p->dead;
		if (p->dead && (!dead || p->dead_s < dead->dead_s))
			dead = p;
		for (unsigned i = 0; i < TOTALS; i++)
			if (p->total_rate[i].known)
				total[i] += p->total_rate[i].per_s;
		if (lost->known && lost->per_s > most && p->reason) {
			most = lost->per_s;
			worst = p;
		}
	}
	if (r->o.region && region && region->age_s != WATCH_UNKNOWN)
		n = snprintf(line[0], BROWSE_LINE,
			     "%s: epoch %" PRIu64 ", %" PRIu64
			     " s old, %.1f%% full, %u writer%s; ",
			     r->o.region, region->epoch, region->age_s,
			     region->fill * 100, region->writers,
			     text_s(region->writers));
	else
		n = snprintf(line[0], BROWSE_LINE,
			     "%u program%s, %u region%s%s; ", running,
			     text_s(running), r->w.n_regions,
			     text_s(r->w.n_regions),
			     r->w.unseen ? " (and others unseen)" : "");
	if (n < BROWSE_LINE)
		snprintf(line[0] + n, (size_t)(BROWSE_LINE - n),
			 "a second: %.0f received, %.0f done, %.0f lost",
			 total[TOTAL_RECEIVED], total[TOTAL_DONE],
			 total[TOTAL_LOST]);
	if (r->w.why.text[0])
		snprintf(line[1], BROWSE_LINE, "%s", r->w.why.text);
	else if (dead)
		describe_death(line[1], BROWSE_LINE, dead);
	else if (worst)
		snprintf(line[1], BROWSE_LINE,
			 "most is lost by %s %u: %.0f a second, %s",
			 worst->page.program, worst->page.pid, most,
			 worst->reason);
	else
		snprintf(line[1], BROWSE_LINE, "nothing is lost");
}

static const struct browse_tables tables = {
	.names = table_names,
	.table = browsed,
	.size = table_size,
	.has = has_row,
	.row = fill_row,
	.head = write_head,
};

static void look_on(void *run)
{
	struct run *r = run;
	uint64_t now = clock_ns();

	if (now < r->due_ns)
		return;
	r->due_ns = now + r->o.top.every_ns;
	watch_look(&r->w);
}

/* Looks twice, for rates. Exits if the directory of pages cannot be read. */
static void look_twice(struct run *r)
{
	const struct timespec t = {(time_t)(r->o.top.every_ns / 1000000000),
				   (long)(r->o.top.every_ns % 1000000000)};

	watch_look(&r->w);
	for (struct program *p = r->w.programs; p; p = p->next)
		for (unsigned i = 0; i < p->page.counters; i++)
			p->counter_rate[i].grown = 0; /* not since this look */
	nanosleep(&t, NULL);
	r->w.warn_unseen = r->o.top.top == 1 + TABLE_REGIONS;
	if (watch_look(&r->w) < 0)
		cli_fail("%s", r->w.why.text);
}

/* The exit status of --once; warns if the table is empty. */
static int exit_status(struct run *r, int rc)
{
	unsigned table = r->o.top.top - 1;

	if (rc < 0)
		return CLI_FAIL;
	if (r->w.why.text[0])
		cli_warn("%s", r->w.why.text);
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
	struct browse *browse = browse_open(&tables, r, &r->o.top, r->o.format);
	int rc;

	if (r->o.top.once)
		look_twice(r);
	else
		look_on(r);
	rc = browse_end(browse, look_on);
	browse_close(browse);
	return r->o.top.once ? exit_status(r, rc) : rc < 0 ? CLI_FAIL : CLI_OK;
}

/* --- what is wrong -------------------------------------------------------- */

/* Prints a problem of a program, or of none, without a counter: as a row, or a
 * line if rows is NULL. Returns 1. */
static unsigned __attribute__((format(printf, 5, 6)))
put_wrong(struct rows *rows, const struct program *p, const char *name,
	  uint64_t value, const char *fmt, ...)
{
	const struct ledger_stage stage = {0};
	const struct counter_extra extra = {0};
	struct ledger_counter c = {.value = value};
	va_list ap;

	if (!rows) {
		va_start(ap, fmt);
		vprintf(fmt, ap);
		va_end(ap);
		putchar('\n');
		return 1;
	}
	snprintf(c.name, sizeof(c.name), "%s", name);
	columns_set(&shown[TABLE_LOSSES], &rows->b,
		    (const void *[PARTS]){p, &c, &stage, &extra});
	row_end(rows);
	return 1;
}

/* Whether a program was started since that does what a dead one did. */
static bool is_replaced(const struct watch *w, const struct program *dead)
{
	const struct ledger_page *was = &dead->page;

	for (const struct program *p = w->programs; p; p = p->next)
		if (!p->dead && p->page.start > was->start &&
		    !strcmp(p->page.program, was->program) &&
		    !strcmp(p->page.region, was->region) &&
		    !strcmp(p->page.input, was->input) &&
		    !strcmp(p->page.output, was->output))
			return true;
	return false;
}

/* Whether a program reads an interface that takes no packets now. One that was
 * removed has ended its program. */
static bool is_link_down(const struct ledger_page *p)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq r = {.ifr_flags = IFF_RUNNING};

	snprintf(r.ifr_name, sizeof(r.ifr_name), "%.15s", p->input);
	(void)ioctl(fd, SIOCGIFFLAGS, &r); /* no change if it is none */
	close(fd);
	return !(r.ifr_flags & IFF_RUNNING);
}

/* How many rows of a stage wait for a database that has failed, and confirmed
 * none since the first look. */
static uint64_t count_stuck(const struct program *p, unsigned stage)
{
	bool failed = false;

	for (unsigned i = 0; i < p->page.counters; i++) {
		const struct ledger_counter *c = &p->page.counter[i];
		const struct rate *s = &p->counter_rate[i];

		if (c->stage != stage)
			continue;
		if (c->role == LEDGER_DONE && !c->level &&
		    (!s->known || s->grown))
			return 0;
		failed |= c->value && !strcmp(c->name, "retries");
	}
	return failed ? ledger_page_rest(&p->page, stage) : 0;
}

/* Prints what a program lost since the first look, what waits for a database,
 * and whether it is silent. Returns the number of these findings. */
static unsigned check_program(const struct watch *w, struct rows *rows,
			      const struct program *p)
{
	const struct ledger_page *page = &p->page;
	char who[512], line[640];
	unsigned wrong = 0;

	snprintf(who, sizeof(who), "%s %u%s%s", page->program, page->pid,
		 *page->region ? " " : "", page->region);
	for (unsigned i = 0; i < page->counters; i++) {
		const struct ledger_counter *c = &page->counter[i];
		const struct rate *s = &p->counter_rate[i];

		if (c->role != LEDGER_LOSS || s->grown <= 0)
			continue;
		wrong++;
		if (rows) {
			columns_set_counter(&shown[TABLE_LOSSES], &rows->b, p,
					    i);
			row_end(rows);
			continue;
		}
		printf("%s: %s %s: %" PRId64 " lost", who,
		       page->stage[c->stage].name, c->name, s->grown);
		if (s->known)
			printf(" (%.0f/s)", s->per_s);
		putchar('\n');
	}
	if (p->dead && is_replaced(w, p))
		return wrong;
	if (p->dead) {
		describe_death(line, sizeof(line), p);
		return wrong +
		       put_wrong(rows, p, "dead", p->dead_s, "%s", line);
	}
	for (unsigned i = 0; i < page->stages; i++) {
		uint64_t stuck = count_stuck(p, i);

		if (stuck)
			wrong += put_wrong(rows, p, "waiting", stuck,
					   "%s: %s: %" PRIu64
					   " %s wait for a database",
					   who, page->stage[i].name, stuck,
					   page->stage[i].unit);
	}
	if (is_link_down(page))
		wrong += put_wrong(rows, p, "down", 0, "%s: %s is down", who,
				   page->input);
	if (p->silent_s)
		wrong += put_wrong(rows, p, "silent", p->silent_s,
				   "%s: silent for %" PRIu64 " s", who,
				   p->silent_s);
	return wrong;
}

static int check(struct run *r)
{
	static struct program none;
	struct rows *rows = NULL;
	unsigned wrong = 0;

	look_twice(r);
	if (r->o.format != ROW_TEXT)
		rows = cli_rows(r->o.format, &shown[TABLE_LOSSES].schema);
	for (const struct program *p = r->w.programs; p; p = p->next)
		wrong += check_program(&r->w, rows, p);
	if (r->w.unread)
		wrong += put_wrong(rows, &none, "unseen", r->w.unread, "%s",
				   r->w.why.text);
	if (r->w.damaged)
		wrong += put_wrong(rows, &none, "damaged", r->w.damaged,
				   "%u region%s damaged; %s", r->w.damaged,
				   r->w.damaged == 1 ? " is" : "s are",
				   r->w.damage.text);
	if (r->o.region && !r->w.programs) {
		snprintf(none.page.region, sizeof(none.page.region), "%s",
			 r->o.region);
		wrong += put_wrong(rows, &none, "absent", 0,
				   "%s: no program writes it", r->o.region);
	}
	rows_close(rows);
	return wrong ? CLI_FAIL : CLI_OK;
}

int main(int argc, char **argv)
{
	static struct run r;
	struct error err = {0};
	struct region *region = NULL;
	int status = CLI_OK;

	cli_start(&cli);
	r.o = options_read(argc, argv);
	cli_signals();
	if (r.o.region && region_open_untrusted(&region, r.o.region, &err) < 0)
		cli_error(r.o.region, &err);
	region_close(region);
	for (unsigned i = 0; i < TABLES; i++)
		columns_open(&shown[i]);
	r.w.dir = cli_page_dir();
	r.w.region = r.o.region;
	if (r.o.prometheus)
		serve(r.o.prometheus, r.o.top.every_ns, &r.w);
	else
		status = r.o.check ? check(&r) : show_tables(&r);
	return status;
}
