/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dta-top - look on: the ledgers of running programs and the regions that they
 * write, live on a screen, once as rows, or for Prometheus.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/live.h"
#include "serve.h"
#include "tables.h"

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

static uint32_t size(void *run, unsigned table)
{
	return table_size(&((struct run *)run)->w, table);
}

static bool has(void *run, unsigned table, uint32_t i)
{
	return table_has(&((struct run *)run)->w, table, i);
}

static void row(void *run, unsigned table, uint32_t i, struct row_batch *b)
{
	table_row(&((struct run *)run)->w, table, i, b);
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

static int filter(void *run, const char *text, struct fault *why)
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

	if (row_batch_init(&b, table_schema(table), 1) < 0)
		cli_fail("out of memory");
	table_row(&r->w, table, i, &b);
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
	.schema = table_schema,
	.sort = table_sort,
	.fixed = table_fixed,
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

/* Twice, for rates. Exits if nobody's page can be seen. */
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
	struct fault f = {0};
	struct region *r;

	if (region_look(&r, name, &f) < 0)
		cli_fault(name, &f);
	region_close(r);
}

/* Of the table that was asked for; says why it is empty. */
static int judge(struct run *r, int rc)
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

static int show(struct run *r)
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
	return r->o.top.once ? judge(r, rc) : rc < 0 ? CLI_FAIL : CLI_OK;
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
		status = show(&r);
	watch_fini(&r.w);
	return status;
}
