/* SPDX-License-Identifier: BSD-2-Clause */
/* run_options.c - the controller's command line. */
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "label/policy.h"
#include "run.h"

#define AT(field) CLI_AT(struct run_options, field)

static const char *const kinds[LABEL_ROWS] = {
	[LABEL_ROWS_INTERVAL] = "interval", [LABEL_ROWS_DECISION] = "decision",
	[LABEL_ROWS_SILENCE] = "silence",   [LABEL_ROWS_PORT] = "port",
	[LABEL_ROWS_HOP] = "hop",
};

static const char *kind_name(unsigned i)
{
	return i < LABEL_ROWS ? kinds[i] : NULL;
}

static int read_rows(void *opts, const char *text, struct fault *why)
{
	return cli_names(&((struct run_options *)opts)->rows, text, kind_name,
			 (1U << LABEL_ROWS) - 1, why);
}

/* "7" or "7-9"; returns what is behind it, NULL if it is neither. */
static const char *read_range(struct label_range *out, const char *text)
{
	uint64_t from, to;

	if (!(text = text_digits(&from, text, UINT32_MAX)))
		return NULL;
	to = from;
	if (*text == '-' && !(text = text_digits(&to, text + 1, UINT32_MAX)))
		return NULL;
	*out = (struct label_range){(uint32_t)from, (uint32_t)to};
	return from <= to ? text : NULL;
}

static int read_devices(void *opts, const char *text, struct fault *why)
{
	struct run_options *o = opts;
	unsigned n = 0;

	for (;; text++) {
		if (n == RANGES_MAX)
			return fault_set(why, -E2BIG, "has more than %d ranges",
					 RANGES_MAX);
		text = read_range(&o->device[n], text);
		if (!text || (*text && *text != ','))
			return fault_set(why, -EINVAL,
					 "is not a list of N or N-M");
		n++;
		if (!*text)
			break;
	}
	o->control.db.devices = o->device;
	o->control.db.n_devices = n;
	return 0;
}

static int add_export(void *opts, const char *text, struct fault *why)
{
	struct run_options *o = opts;

	if (o->n_exports == DATABASES_MAX)
		return fault_set(why, -E2BIG, "is one above %d", DATABASES_MAX);
	o->export[o->n_exports++] = text;
	return 0;
}

static const struct cli_option options[] = {
	{'r', "read", "FILE", "a capture with labelled packets (- is stdin)",
	 CLI_IN, AT(read)},
	{'i', "interface", "IFACE",
	 "the network interface they come by; a filter may follow, as with "
	 "tcpdump",
	 CLI_STR, AT(live.name)},
	{'R', "rows", "LIST",
	 "rows on stdout: interval,decision,silence (default; of csv: "
	 "interval), "
	 "port, hop; all, none",
	 CLI_CALL, .read = read_rows},
	{'T', "telemetry", "TIME",
	 "telemetry interval: coverage is of each (100ms)", CLI_TIME,
	 AT(control.interval_ns), .min = 1000},
	{'t', "label", "TIME", "labelling interval of the switches (50ms)",
	 CLI_TIME, AT(control.t_ns), .min = 1000},
	{0, "ports", "N", "ports that carry traffic (those known)", CLI_SIZE,
	 AT(control.expected), .min = 1, .max = UINT32_MAX},
	{0, "forget", "TIME",
	 "forget a port that has been silent so long (24h); 0: never", CLI_TIME,
	 AT(control.forget_ns)},
	{'D', "devices", "LIST", "labels of these devices only: 1-20,40",
	 CLI_CALL, .read = read_devices},
	BROWSE_OPTIONS(struct run_options, top,
		       "look on: ports, silent, links or paths; live on a "
		       "terminal",
		       table_names),
	{'x', "export", "URL",
	 "rows of all kinds go there, too: influx:, clickhouse:, redis:, "
	 "kafka:, prometheus:, file:",
	 CLI_CALL, .read = add_export},
	{0, "state", "FILE", "begin with these ports, and save them there",
	 CLI_STR, AT(state)},
	{0, "commands", NULL,
	 "what was decided, for one device, as lines for BMv2 on stdout",
	 CLI_FLAG, AT(commands)},
	{0, "exec", "COMMAND",
	 "lines to this command, a run for each device, $LABEL_DEVICE", CLI_STR,
	 AT(exec)},
	{0, "send", "PATH",
	 "lines as datagrams to a socket, {device} in its path", CLI_STR,
	 AT(send)},
	{0, "protocol", "N", "IP protocol of packets with labels (253)",
	 CLI_U64, AT(control.format.protocol), .min = 1, .max = 255},
	{0, "export-port", "PORT",
	 "UDP port of exported labels (54322; 0: none)", CLI_U64,
	 AT(control.format.export_port), .max = 65535},
	CLI_LIMIT_OPTIONS(struct run_options),
	CLI_STATS_OPTION(struct run_options, live, "-r|-i"),
	CLI_SOCKET_OPTIONS(struct run_options),
	CLI_USER_OPTION(struct run_options, live, NULL),
	{'o', "output", "FORMAT", "rows and ledger as text, csv or ndjson",
	 CLI_FORMAT, AT(format)},
	{'q', "quiet", NULL, "no ledger, no progress", CLI_FLAG, AT(quiet)},
	{0},
};

static const struct cli_group groups[] = {
	{"-r -i", .ask = "where are the packets?"},
	CLI_SOCKET_GROUP,
	{"--top --rows", .why = "the table has stdout"},
	{"--top --stats"},
	{"--exec --send --commands"},
	{0},
};

const struct cli run_cli = {
	.name = "int-label-ctl",
	.summary = "INT-label's controller: the newest state of every port",
	.usage = "int-label-ctl [run] -r FILE [-R LIST]\n"
		 "int-label-ctl [run] -i IFACE [-R LIST] [FILTER]\n"
		 "int-label-ctl [run] -r FILE|-i IFACE --top TABLE [--once]\n"
		 "int-label-ctl label|sim|theory|flow|switch ...: -h tells of "
		 "each",
	.options = options,
	.groups = groups,
};

/* Lines on stdout do not say whose they are. */
static void check_stdout(const struct run_options *o)
{
	const struct label_db_options *db = &o->control.db;

	if (!o->commands)
		return;
	if (db->n_devices != 1 || o->device[0].from != o->device[0].to)
		cli_refuse("--commands: lines on stdout are of one switch: say "
			   "which by --devices, or --exec or --send");
	if (o->rows || o->top.top)
		cli_refuse("--commands: rows go to stdout already; say --rows "
			   "none");
}

/* On an interface, once is after the first interval. */
static void set_top(struct run_options *o)
{
	if (browse_defaults(&o->top, o->live.name) && !o->live.duration_ns &&
	    !o->live.count)
		o->live.duration_ns = o->top.every_ns;
}

void run_options_read(struct run_options *o, int argc, char **argv)
{
	int n;

	label_control_defaults(&o->control);
	n = cli_read(&run_cli, o, argc, argv);
	if (n < argc && !o->live.name)
		cli_usage(&run_cli, "'%s': no such argument", argv[n]);
	cli_live_filter(&o->live, argc - n, argv + n);
	cli_check(&run_cli, o, -1);
	/* Kinds have columns of their own, and a file of CSV has one head. */
	if (!cli_text(&run_cli, "--rows"))
		o->rows = 1 << LABEL_ROWS_INTERVAL |
			  (o->format == ROW_CSV
				   ? 0
				   : 1 << LABEL_ROWS_DECISION |
					     1 << LABEL_ROWS_SILENCE);
	if (o->format == ROW_CSV)
		cli_one_kind(o->rows);
	if (o->top.top) {
		o->rows = 0;
		set_top(o);
	}
	check_stdout(o);
	/* Of a single label, not later than the others. */
	if (o->control.forget_ns < o->control.forget_once_ns)
		o->control.forget_once_ns = o->control.forget_ns;
	o->live.format = o->format;
}
