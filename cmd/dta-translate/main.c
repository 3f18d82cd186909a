/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dta-translate - DTA reports to memory operations: into a region on this
 * machine, or as RoCEv2 packets for a collector elsewhere.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "cli/cli.h"
#include "packet/pkt.h"
#include "rdma/local.h"
#include "rdma/roce_out.h"
#include "rdma/ticket.h"
#include "store/layout.h"
#include "store/region.h"
#include "translate/translate.h"

enum {
	OPT_TICKET = 256,
	OPT_ACK_EVERY,
	OPT_NACKS,
	SETTINGS_MAX = 256,
};

static const struct cli_option options[] = {
	{'r', "read", "FILE", "the capture with the reports (- is stdin)"},
	{'R', "region", "NAME", "write into this region"},
	{OPT_TICKET, "ticket", "FILE", "the collector's ticket; needs -w"},
	{'w', "write", "FILE", "write RoCEv2 packets to a capture"},
	{'F', "format", "FORMAT",
	 "reports besides DTA/1: dta1 (none), dta0a or dta0b"},
	{'T', "table", "TABLE:FIELD=VALUE",
	 "change a table's setting for this run"},
	{OPT_ACK_EVERY, "ack-every", "N",
	 "ask for an ACK with every N-th packet (default 0: never)"},
	{OPT_NACKS, "nacks", "FILE",
	 "write the NACKs of strict sequence checks to a capture"},
	{'o', "output", "FORMAT", "ledger as text, csv or ndjson"},
	{'q', "quiet", NULL, "no ledger, no progress"},
	{0},
};

static const struct cli cli = {
	.name = "dta-translate",
	.summary = "turn telemetry reports into memory operations",
	.usage = "dta-translate -r FILE --region NAME\n"
		 "dta-translate -r FILE --ticket FILE -w FILE\n",
	.options = options,
};

struct opts {
	const char *read, *region, *ticket, *write, *nacks;
	const char *setting[SETTINGS_MAX]; /* of -T, in order */
	unsigned settings;
	unsigned ack_every;
	enum dta_format dta;
	enum row_format format;
	bool quiet;
};

/* Where operations go, and the tables there. */
struct target {
	struct table table[TABLE_MAX];
	unsigned n;
	struct road *road;
	struct region *region; /* the local road */
	struct local_road *local;
	struct ticket ticket; /* the RoCEv2 road */
	struct snk *packets;
	struct roce_out *roce;
};

static enum dta_format dta_of(const char *text)
{
	int f = dta_format_of(text);

	if (f < 0)
		cli_refuse("--format: '%s' is not dta1, dta0a or dta0b", text);
	return (enum dta_format)f;
}

static void parse_option(struct opts *o, int ch)
{
	switch (ch) {
	case 'r':
		o->read = optarg;
		break;
	case 'R':
		o->region = optarg;
		break;
	case OPT_TICKET:
		o->ticket = optarg;
		break;
	case 'w':
		o->write = optarg;
		break;
	case OPT_NACKS:
		o->nacks = optarg;
		break;
	case 'F':
		o->dta = dta_of(optarg);
		break;
	case 'T':
		if (o->settings == SETTINGS_MAX)
			cli_usage(&cli, "-T: more than %d", SETTINGS_MAX);
		o->setting[o->settings++] = optarg;
		break;
	case OPT_ACK_EVERY:
		o->ack_every = (unsigned)cli_u64("--ack-every", optarg, 0,
						 UINT32_MAX);
		break;
	case 'o':
		o->format = cli_format(optarg);
		break;
	case 'q':
		o->quiet = true;
		break;
	}
}

static bool is_dash(const char *path)
{
	return path && !strcmp(path, "-");
}

/* What goes together and what does not. */
static void check_options(const struct opts *o)
{
	if (!o->read)
		cli_usage(&cli, "-r is missing: where are the reports?");
	if (!o->region == !o->ticket)
		cli_usage(&cli, "one of --region and --ticket");
	if (!o->ticket != !o->write)
		cli_usage(&cli, "--ticket and -w go together");
	if (o->ack_every && !o->ticket)
		cli_usage(&cli, "--ack-every needs --ticket");
	if (is_dash(o->read) && is_dash(o->ticket))
		cli_usage(&cli, "stdin cannot be two files");
	if (is_dash(o->write) && is_dash(o->nacks))
		cli_usage(&cli, "stdout cannot take two files");
	cli_apart(o->read, o->write);
	cli_apart(o->read, o->nacks);
	cli_apart(o->ticket, o->write);
	cli_apart(o->ticket, o->nacks);
	cli_apart(o->write, o->nacks);
}

static struct opts parse(int argc, char **argv)
{
	struct opts o = {0};
	int ch;

	while ((ch = cli_next(&cli, argc, argv)) != -1)
		parse_option(&o, ch);
	if (optind < argc)
		cli_usage(&cli, "'%s': no such argument", argv[optind]);
	check_options(&o);
	return o;
}

/*
 * One -T TABLE:FIELD=VALUE. Only what the translator alone decides can be
 * changed: another geometry would miss the slots that queries read.
 */
static void apply(struct target *g, const char *setting)
{
	static const char *const may[] = {"copies", "batch",	"flush",
					  "cache",  "sequence", "immediate"};
	const char *colon = strchr(setting, ':'), *equals;
	struct fault f = {0};
	struct table *t;
	char name[TABLE_NAME_MAX], field[32];
	bool known = false;
	unsigned batch;

	equals = colon ? strchr(colon, '=') : NULL;
	if (!equals || colon - setting >= (int)sizeof(name) ||
	    equals - colon - 1 >= (int)sizeof(field))
		cli_refuse("-T: '%s' is not TABLE:FIELD=VALUE", setting);
	snprintf(name, sizeof(name), "%.*s", (int)(colon - setting), setting);
	snprintf(field, sizeof(field), "%.*s", (int)(equals - colon - 1),
		 colon + 1);
	for (unsigned i = 0; i < sizeof(may) / sizeof(may[0]); i++)
		known = known || !strcmp(field, may[i]);
	if (!known)
		cli_refuse("-T: '%s' cannot be changed here, only copies, "
			   "batch, flush, cache, sequence, immediate",
			   field);
	t = (struct table *)table_pick(g->table, g->n, 0, name, &f);
	if (!t)
		cli_fail("-T %s: %s", setting, f.text);
	batch = t->batch;
	if (layout_set(t, field, equals + 1, &f) < 0)
		cli_refuse("-T %s: %s", setting, f.text);
	/* Readers stay a batch away from what may be overwritten: query.h. */
	if (t->batch > batch)
		cli_refuse("-T %s: readers of this table reckon with batches "
			   "of %u at most",
			   setting, batch);
}

static void open_local(struct target *g, const struct opts *o)
{
	struct fault f = {0};

	if (region_open(&g->region, o->region, true, &f) < 0)
		cli_fault(o->region, &f);
	if (local_open(&g->local, g->region, &f) < 0)
		cli_fault(o->region, &f);
	g->road = local_road(g->local);
	g->n = region_tables(g->region);
	for (unsigned i = 0; i < g->n; i++)
		g->table[i] = *region_table(g->region, i);
}

static void open_roce(struct target *g, const struct opts *o)
{
	struct fault f = {0};

	if (ticket_read(&g->ticket, o->ticket, &f) < 0)
		cli_fail("%s", f.text);
	if (snk_open(&g->packets, o->write, &f) < 0)
		cli_fault(o->write, &f);
	if (roce_out_open(&g->roce, &g->ticket, g->packets, o->ack_every, &f) <
	    0)
		cli_fault(o->ticket, &f);
	g->road = roce_out_road(g->roce);
	g->n = g->ticket.n;
	memcpy(g->table, g->ticket.table, g->n * sizeof(g->table[0]));
}

/* Returns the first error of the packets' sink. */
static int close_target(struct target *g)
{
	int rc = 0;

	if (g->local)
		local_close(g->local);
	region_close(g->region);
	if (g->roce) {
		roce_out_close(g->roce);
		rc = snk_close(g->packets);
		ticket_fini(&g->ticket);
	}
	return rc;
}

static void report(const struct opts *o, const struct translator *t)
{
	if (!o->quiet)
		cli_ledger(&translate_ledger, translate_counters(t), o->format);
}

/* What stopped the run: the capture or where the operations go. */
struct outcome {
	int rc;
	bool reading;
	struct fault f;
};

/* Interrupts a read that waits; the work is done where it returns. */
static volatile sig_atomic_t alarm_rang;

static void alarmed(int signal)
{
	(void)signal;
	alarm_rang = 1;
}

/*
 * A pipe may fall silent: then an alarm ends the waiting every half flush time,
 * so that partial batches are written. Returns that time, 0 if there is none.
 */
static uint64_t alarm_set(const struct target *g, const struct src *s)
{
	struct sigaction action = {.sa_handler = alarmed};
	struct itimerval every = {0};
	uint64_t us = UINT64_MAX;

	if (src_size(s))
		return 0; /* a file does not */
	for (unsigned i = 0; i < g->n; i++)
		if (g->table[i].kind == TABLE_APPEND &&
		    us > g->table[i].flush_ms * UINT64_C(500))
			us = g->table[i].flush_ms * UINT64_C(500);
	if (us == UINT64_MAX)
		return 0;
	every.it_interval.tv_sec = (time_t)(us / 1000000);
	every.it_interval.tv_usec = (suseconds_t)(us % 1000000);
	every.it_value = every.it_interval;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	return us * 1000;
}

/* SIGUSR1 asked for the ledger. */
static void report_if_asked(const struct opts *o, const struct translator *t)
{
	if (!cli_report)
		return;
	cli_report = 0;
	cli_ledger(&translate_ledger, translate_counters(t), o->format);
}

/* A source that gave less than a batch is live: what reads us must not wait
 * for a full buffer. snk_close() tells of an error. */
static void pass_on(const struct target *g)
{
	if (g->packets)
		snk_flush(g->packets);
}

/* Reports through the translator until the capture ends or a signal comes. */
static void translate_all(const struct opts *o, struct translator *t,
			  const struct target *g, struct src *s,
			  uint64_t alarm_ns, struct outcome *out)
{
	static struct pkt pkts[PKT_BATCH];
	int n;

	while (!cli_stop) {
		report_if_asked(o, t);
		n = src_rx(s, pkts, PKT_BATCH, &out->f);
		if (n == -EINTR) {
			if (alarm_rang) /* and not another signal */
				out->rc = translate_idle(t, alarm_ns);
			pass_on(g);
			alarm_rang = 0;
		} else if (n <= 0) {
			out->rc = n;
			out->reading = true;
			return;
		} else {
			out->rc = translate_rx(t, pkts, (size_t)n);
			if (n < PKT_BATCH)
				pass_on(g);
		}
		if (out->rc < 0)
			return;
		if (!o->quiet)
			cli_progress("reports", src_done(s), src_size(s));
	}
}

int main(int argc, char **argv)
{
	static struct target g;
	struct translate_options topt = {0};
	struct outcome out = {0};
	struct fault f = {0};
	struct translator *t;
	struct src *s;
	struct opts o;
	int rc, closed, nacks = 0;

	cli_start(&cli);
	o = parse(argc, argv);
	cli_signals();
	if (src_open(&s, o.read, &f) < 0)
		cli_fault(o.read, &f);
	if (o.region)
		open_local(&g, &o);
	else
		open_roce(&g, &o);
	for (unsigned i = 0; i < o.settings; i++)
		apply(&g, o.setting[i]);
	topt.format = o.dta;
	if (o.nacks && snk_open(&topt.nacks, o.nacks, &f) < 0)
		cli_fault(o.nacks, &f);
	if (translate_open(&t, g.table, g.n, g.road, &topt, &f) < 0)
		cli_fail("%s", f.text);
	translate_all(&o, t, &g, s, alarm_set(&g, s), &out);
	rc = translate_flush(t);
	cli_progress_end();
	closed = close_target(&g);
	if (topt.nacks)
		nacks = snk_close(topt.nacks);
	report(&o, t);
	translate_close(t);
	src_close(s);
	if (out.rc < 0 && out.reading)
		cli_fault(o.read, &out.f);
	if (closed < 0)
		cli_fail("%s: %s", o.write, strerror(-closed));
	if (nacks < 0)
		cli_fail("%s: %s", o.nacks, strerror(-nacks));
	if (out.rc < 0 || rc < 0)
		cli_fail("%s: %s", o.region ? o.region : o.write,
			 strerror(out.rc < 0 ? -out.rc : -rc));
	return CLI_OK;
}
