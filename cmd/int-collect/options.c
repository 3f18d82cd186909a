/* SPDX-License-Identifier: BSD-2-Clause */
/* options.c - int-collect's command line. */
#include "int_collect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/table.h"
#include "telemetry/filter.h"
#include "int/int_profile.h"
#include "telemetry/int_collector.h"

#define AT(field) CLI_AT(struct opts, field)

enum {
	SPOOL_MIN = 1000000, /* bytes */
};

static int add_threshold(void *opts, const char *text, struct error *why)
{
	struct opts *o = opts;

	if (!strchr(text, '=') && strpbrk(text, "./")) {
		if (o->thresholds)
			return error_set(why, -EINVAL, "is a second file");
		o->thresholds = text;
		return 0;
	}
	if (o->n_thresholds == THRESHOLDS_MAX)
		return error_set(why, -E2BIG, "is one above %d",
				 THRESHOLDS_MAX);
	o->threshold[o->n_thresholds++] = text;
	return 0;
}

/* DIR[,BYTES] */
static int read_spool(void *opts, const char *text, struct error *why)
{
	const char *comma = strrchr(text, ',');
	struct opts *o = opts;

	if (comma && (text_size(&o->spool_size, comma + 1) < 0 ||
		      o->spool_size < SPOOL_MIN))
		return error_set(why, -EINVAL, "%s is not a size from 1M on",
				 comma + 1);
	o->spool = comma ? strndup(text, (size_t)(comma - text)) : text;
	return o->spool ? 0 : error_set(why, -ENOMEM, "out of memory");
}

static const struct cli_option options[] = {
	{'r', "read", "FILE",
	 "the capture with INT packets or reports (- is stdin)", CLI_IN,
	 AT(read)},
	{'i', "interface", "IFACE",
	 "the network interface they come by; a filter may follow, as with "
	 "tcpdump",
	 CLI_STR, AT(live.name)},
	{'w', "write", "FILE",
	 "packets without their INT, and all other packets, to a capture",
	 CLI_OUT, AT(write)},
	{0, "to", "IFACE", "the same, to an interface", CLI_STR, AT(to)},
	{'p', "profile", "NAME|FILE",
	 "how the network speaks INT (any); help: a list", CLI_STR,
	 AT(profile)},
	{0, "report-port", "PORT", "UDP port of telemetry reports (profile's)",
	 CLI_U64, AT(report_port), .min = 1, .max = 65535, .rare = true},
	{'f', "filter", "EXPR",
	 "only packets like this: node 7 and hop.latency > 50us; help: a list "
	 "of fields",
	 CLI_STR, AT(filter)},
	{'R', "rows", "LIST",
	 "rows on stdout: event,value (default; of csv: event), flow, hop, "
	 "distribution, bin, snapshot; all, none",
	 CLI_SET, AT(rows), .words = rows_kind_names},
	{'e', "events", "LIST",
	 "events to make rows of: new_key, change, rise... (all)", CLI_SET,
	 AT(events), .words = event_names},
	{'t', "threshold", "METRIC[@NODE]=CHANGE[,HIGH[,LOW]]|FILE",
	 "what is an event: off, a number, 50us; or a file of such lines, "
	 "read again on SIGHUP",
	 CLI_CALL, .read = add_threshold},
	{0, "push", "TIME", "between rows of each live value (10s; 0: none)",
	 CLI_TIME, AT(push_ns), .rare = true},
	{0, "flows", "N", "size of the flow cache (6Mi)", CLI_SIZE, AT(flows),
	 .min = 1, .max = UINT32_MAX - 12, .rare = true},
	{0, "flow-idle", "TIME",
	 "flows expire when silent so long (60s; 0: never)", CLI_TIME,
	 AT(flow_idle_ns), .rare = true},
	{'x', "export", "URL",
	 "rows go there, too: influx:, clickhouse:, redis:, kafka:, "
	 "prometheus:, file:",
	 CLI_STRS, AT(export)},
	{0, "dta", "FILE",
	 "paths, counters and events as DTA reports, to a capture", CLI_OUT,
	 AT(dta), .rare = true},
	{0, "svg", "FILE", "draw the distributions of latencies", CLI_OUT,
	 AT(svg), .rare = true},
	{0, "spool", "DIR[,BYTES]",
	 "spool rows that a database does not take, BYTES for each (1Gi)",
	 CLI_CALL, .read = read_spool, .needs = "-x", .rare = true},
	{0, "queue", "BYTES", "memory for rows of each database (32Mi)",
	 CLI_SIZE, AT(queue), .min = 64000, .needs = "-x", .rare = true},
	{0, "drop", NULL,
	 "do not hold -r up for databases: rows without room are lost",
	 CLI_FLAG, AT(drop), .needs = "-x", .rare = true},
	{0, "linger", "TIME",
	 "at the end, wait for databases so long (5s; 0: not at all)", CLI_TIME,
	 AT(end_ns), .needs = "-x", .rare = true},
	BROWSE_OPTIONS(
		struct opts, top,
		"show a table: flows, nodes, queues, links or paths; live on "
		"a terminal",
		table_names),
	{'c', "count", "N", "stop after N packets", CLI_SIZE, AT(live.count),
	 .min = 1, .max = UINT64_MAX - 1, .needs = "-r|-i"},
	{'j', "cores", "N", "work on N cores at once (1)", CLI_SIZE, AT(cores),
	 .min = 1, .max = INT_COLLECTOR_WORKERS},
	{0, "xdp", NULL,
	 "compare in the kernel, before the host's stack: only events come up",
	 CLI_FLAG, AT(xdp), .needs = "-i"},
	{0, "af-xdp", NULL, "receive by AF_XDP or fail", CLI_FLAG,
	 AT(live.options.kind), .min = LIVE_XDP, .needs = "-i", .rare = true},
	CLI_PROMISCUOUS_OPTION(struct opts),
	{'o', "output", "FORMAT", "rows and ledger as text, csv or ndjson",
	 CLI_FORMAT, AT(format)},
	CLI_TIME_OPTION(.rare = true),
	CLI_FLOW_OPTION(.rare = true),
	{'q', "quiet", NULL, "no ledger", CLI_FLAG, AT(quiet)},
	{0},
};

#define WITHOUT_XDP "most packets stay in the kernel"

static const struct cli_group groups[] = {
	{"-r -i", .ask = "where are the packets?"},
	{"-w --to"},
	{"--top --rows", .why = "the table has stdout"},
	{"-j -w", .why = "packets go on in one order"},
	{"-j --to", .why = "packets go on in one order"},
	{"-j --top", .why = "the table shows the state of one core"},
	{"--top --xdp", .why = WITHOUT_XDP},
	{"--xdp --af-xdp"},
	{"--xdp -w", .why = WITHOUT_XDP},
	{"--xdp --to", .why = WITHOUT_XDP},
	{"--xdp --svg", .why = WITHOUT_XDP},
	{"--xdp --filter", .why = WITHOUT_XDP},
	{"--xdp -c", .why = WITHOUT_XDP},
	{"--xdp -j", .why = WITHOUT_XDP},
	{0},
};

const struct cli cli = {
	.name = "int-collect",
	.summary = "turn in-band network telemetry into events and metrics",
	.usage = "int-collect -r FILE [-w FILE] [-x URL]\n"
		 "int-collect -i IFACE [--to IFACE] [-x URL] [FILTER]\n"
		 "int-collect -r FILE|-i IFACE --top TABLE [--once]\n"
		 "int-collect -p help|-f help",
	.options = options,
	.groups = groups,
};

static const struct row_field profile_fields[] = {
	{"profile", ROW_STR, 12, ROW_TAG},
	{"version", ROW_STR, 7},
	{"dscp", ROW_U64, 4},
	{"udp_port", ROW_U64, 8},
	{"report_port", ROW_U64, 11},
};

static const struct schema profile_rows = {"int_profile", profile_fields,
					   sizeof(profile_fields) /
						   sizeof(profile_fields[0])};

/* -p help: rows on stdout. Returns the exit status. */
static int list_profiles(enum row_format fmt)
{
	struct rows *r = cli_rows(fmt, &profile_rows);
	const struct int_profile *p;

	for (unsigned i = 0; (p = int_profile_at(i)); i++) {
		row_str(r, 0, p->name);
		row_str(r, 1, profile_versions[p->version]);
		if (p->dscp_mask & INT_DSCP_MASK)
			row_u64(r, 2, p->dscp);
		if (p->udp_port)
			row_u64(r, 3, p->udp_port);
		if (p->report_port)
			row_u64(r, 4, p->report_port);
		row_end(r);
	}
	rows_close(r);
	return CLI_OK;
}

static const struct row_field field_fields[] = {
	{"field", ROW_STR, 20, ROW_TAG},
	{"unit", ROW_STR, 5},
	{"what", ROW_STR, 0},
};

static const struct schema field_rows = {"filter_field", field_fields,
					 sizeof(field_fields) /
						 sizeof(field_fields[0])};

static int list_fields(enum row_format fmt)
{
	struct rows *r = cli_rows(fmt, &field_rows);
	const struct expr_field *k;

	for (unsigned i = 0; (k = expr_field_at(i)); i++) {
		row_str(r, 0, k->name);
		row_str(r, 1, k->flag ? "flag" : k->unit);
		row_str(r, 2, k->help);
		row_end(r);
	}
	rows_close(r);
	return CLI_OK;
}

static bool is_stdout(const char *file)
{
	return file && !strcmp(file, "-");
}

struct opts options_read(int argc, char **argv)
{
	struct opts o = {
		.profile = "any",
		.cores = 1,
		.events = EVENTS_ALL,
		.push_ns = UINT64_MAX,
		.flow_idle_ns = UINT64_MAX,
		.end_ns = UINT64_C(5000000000),
	};
	const unsigned full = 1 << ROWS_HOP | 1 << ROWS_DISTRIBUTION |
			      1 << ROWS_BIN | 1 << ROWS_SNAPSHOT;
	int n = cli_read(&cli, &o, argc, argv);

	if (n < argc && !o.live.name)
		cli_usage(&cli, "'%s': no such argument", argv[n]);
	cli_live_set_filter(&o.live, argc - n, argv + n);
	if (!strcmp(o.profile, "help"))
		exit(list_profiles(o.format));
	if (o.filter && !strcmp(o.filter, "help"))
		exit(list_fields(o.format));
	cli_check(&cli, &o, -1);
	/* Each kind has its own columns, but CSV only one header line. */
	if (!cli_option_text(&cli, "--rows"))
		o.rows = 1 << ROWS_EVENT |
			 (o.format == ROW_CSV ? 0 : 1 << ROWS_VALUE);
	if (o.push_ns && o.push_ns < TELEMETRY_UPKEEP_NS)
		cli_refuse("--push: less than %d ms, the shortest interval; 0 "
			   "is never",
			   TELEMETRY_UPKEEP_NS / 1000000);
	if (o.format == ROW_CSV)
		cli_check_csv_kinds(o.rows);
	if (o.top.top) { /* the table has stdout */
		o.rows = 0;
		/* On an interface, once is after the first interval. */
		if (browse_defaults(&o.top, o.live.name) &&
		    !o.live.duration_ns && !o.live.count)
			o.live.duration_ns = o.top.every_ns;
	}
	if ((o.top.top || o.rows) && (is_stdout(o.write) || is_stdout(o.dta)))
		cli_refuse("--%s: %s", is_stdout(o.write) ? "write" : "dta",
			   o.top.top ? "the table goes to stdout already"
				     : "rows go to stdout already; say --rows "
				       "none");
	/* These rows take the values of all packets, not only events. */
	if (o.xdp && o.rows & full)
		cli_refuse("--xdp: rows of hop, distribution, bin and snapshot "
			   "take the values of all packets, which stay in the "
			   "kernel");
	if (o.xdp && o.live.options.filter)
		cli_refuse("--xdp: there is no filter in the kernel; without "
			   "--xdp there is");
	o.live.format = o.format;
	return o;
}
