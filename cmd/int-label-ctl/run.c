/* SPDX-License-Identifier: BSD-2-Clause */
/* run.c - the controller: packets in, rows and decisions out. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/databases.h"
#include "cli/live.h"
#include "cli/table.h"
#include "commands.h"
#include "label/control.h"
#include "label/rows.h"
#include "label/command.h"
#include "cli/browse.h"

enum {
	RANGES_MAX = 64,
};

enum controller_table {
	TABLE_PORTS,
	TABLE_SILENT,
	TABLE_LINKS,
	TABLE_PATHS,
	TABLES,
};

static const char *const controller_tables[] = {"ports", "silent", "links",
						"paths", NULL};

struct run_options {
	const char *read;
	struct cli_live live;
	unsigned rows; /* a set, 1 << enum label_rows_kind */
	struct label_control_options control;
	struct label_range device[RANGES_MAX];
	const char *export[DATABASES_MAX + 1];
	struct browse_options top;
	const char *exec;
	enum row_format format;
	bool quiet;
};

/* --- the command line ----------------------------------------------------- */

#define AT(field) CLI_AT(struct run_options, field)

static const char *const kinds[LABEL_ROWS + 1] = {
	[LABEL_ROWS_INTERVAL] = "interval", [LABEL_ROWS_DECISION] = "decision",
	[LABEL_ROWS_SILENCE] = "silence",   [LABEL_ROWS_PORT] = "port",
	[LABEL_ROWS_HOP] = "hop",
};

/* Reads "7" or "7-9"; returns what follows, or NULL if it is neither. */
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

static int read_devices(void *opts, const char *text, struct error *why)
{
	struct run_options *o = opts;
	unsigned n = 0;

	for (;; text++) {
		if (n == RANGES_MAX)
			return error_set(why, -E2BIG, "has more than %d ranges",
					 RANGES_MAX);
		text = read_range(&o->device[n], text);
		if (!text || (*text && *text != ','))
			return error_set(why, -EINVAL,
					 "is not a list of N or N-M");
		n++;
		if (!*text)
			break;
	}
	o->control.db.devices = o->device;
	o->control.db.n_devices = n;
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
	 CLI_SET, AT(rows), .words = kinds},
	{'T', "telemetry", "TIME",
	 "telemetry interval: coverage is of each (100ms)", CLI_TIME,
	 AT(control.interval_ns), .min = 1000},
	{'t', "label", "TIME", "labelling interval of the switches (50ms)",
	 CLI_TIME, AT(control.t_ns), .min = 1000},
	{'D', "nodes", "LIST", "labels of these nodes only: 1-20,40", CLI_CALL,
	 .read = read_devices, .was = "--devices"},
	BROWSE_OPTIONS(struct run_options, top,
		       "look on: ports, silent, links or paths; live on a "
		       "terminal",
		       controller_tables),
	{'x', "export", "URL",
	 "rows of all kinds go there, too: influx:, clickhouse:, redis:, "
	 "kafka:, prometheus:, file:",
	 CLI_STRS, AT(export)},
	{0, "exec", "COMMAND",
	 "what was decided, as lines for BMv2, to this command: a run for each "
	 "node, $LABEL_NODE",
	 CLI_STR, AT(exec)},
	{'o', "output", "FORMAT", "rows and ledger as text, csv or ndjson",
	 CLI_FORMAT, AT(format)},
	CLI_TIME_OPTION(),
	CLI_FLOW_OPTION(),
	{'q', "quiet", NULL, "no ledger", CLI_FLAG, AT(quiet)},
	{0},
};

static const struct cli_group groups[] = {
	{"-r -i", .ask = "where are the packets?"},
	{"--top --rows", .why = "the table has stdout"},
	{0},
};

const struct cli run_cli = {
	.name = "int-label-ctl",
	.summary = "INT-label's controller: the newest state of every port",
	.usage = "int-label-ctl [run] -r FILE [-R LIST]\n"
		 "int-label-ctl [run] -i IFACE [-R LIST] [FILTER]\n"
		 "int-label-ctl [run] -r FILE|-i IFACE --top TABLE [--once]\n"
		 "int-label-ctl label|sim|theory|flow ...: -h tells of "
		 "each",
	.options = options,
	.groups = groups,
};

static void run_options_read(struct run_options *o, int argc, char **argv)
{
	int n;

	label_control_defaults(&o->control);
	o->live.options.kind = LIVE_PACKET; /* exports are few */
	n = cli_read(&run_cli, o, argc, argv);
	if (n < argc && !o->live.name)
		cli_usage(&run_cli, "'%s': no such argument", argv[n]);
	cli_live_set_filter(&o->live, argc - n, argv + n);
	cli_check(&run_cli, o, -1);
	/* Each kind has its own columns, but CSV can have one header only. */
	if (!cli_option_text(&run_cli, "--rows"))
		o->rows = 1 << LABEL_ROWS_INTERVAL |
			  (o->format == ROW_CSV
				   ? 0
				   : 1 << LABEL_ROWS_DECISION |
					     1 << LABEL_ROWS_SILENCE);
	if (o->format == ROW_CSV)
		cli_check_csv_kinds(o->rows);
	if (o->top.top)
		o->rows = 0;
	/* On an interface, --once is after the first interval of --top. */
	if (o->top.top && browse_defaults(&o->top, o->live.name))
		o->live.duration_ns = o->top.every_ns;
	o->live.format = o->format;
}

/* --- decisions, to the switches ------------------------------------------- */

#define MS     UINT64_C(1000000)
#define END_NS (5000 * MS) /* for commands, when the input has ended */

static void report_trouble(uint32_t device, const char *why)
{
	if (why)
		cli_warn("node %" PRIu32 ": commands were not taken, and "
			 "will be tried again: %s",
			 device, why);
	else
		cli_warn("node %" PRIu32 " takes commands again", device);
}

/* Sends what waits, until END_NS have passed or a signal comes. 0, or -1 after
 * a message: not all was sent. */
static int southbound_stop(struct label_southbound *o)
{
	const struct timespec pause = {.tv_nsec = (long)MS};
	uint64_t deadline_ns = clock_ns() + END_NS, unsent;
	int stop = cli_stop;

	while (label_southbound_busy(o) && clock_ns() < deadline_ns &&
	       cli_stop == stop) {
		label_southbound_send_due(o, clock_ns());
		nanosleep(&pause, NULL);
	}
	label_southbound_stop(o);
	unsent = label_southbound_counters(o)->unsent;
	if (!unsent)
		return 0;
	cli_warn("%" PRIu64 " decisions were not taken by their switches",
		 unsent);
	return -1;
}

/* --- the controller's callbacks, as rows ---------------------------------- */

struct run_rows {
	struct row_sink *screen;	     /* stdout */
	struct databases databases;	     /* of -x */
	struct row_sink *tees[LABEL_ROWS];   /* NULL: not asked for */
	struct rows *rows[LABEL_ROWS];	     /* NULL: not asked for */
	struct label_southbound *southbound; /* NULL: no --exec */
	int err;			     /* the first of stdout */
};

/* Databases keep the newest row of these, of all else each row. */
static const struct export_rule rules[] = {
	{"label_port", EXPORT_STATE, "port:{node}-{port}"},
	{"label_hop", EXPORT_STATE, "hop:{flow}:{hop}"},
};

/* The batch whose current row is of that kind; NULL: not asked for. */
static struct row_batch *begin_row(struct run_rows *r,
				   enum label_rows_kind kind)
{
	return r->rows[kind] ? &r->rows[kind]->b : NULL;
}

static void end_row(struct run_rows *r, enum label_rows_kind kind)
{
	int rc = row_end(r->rows[kind]);

	if (!r->err)
		r->err = rc;
}

static void on_interval(void *ctx, const struct label_interval_sum *sum)
{
	label_row_interval(begin_row(ctx, LABEL_ROWS_INTERVAL), sum);
	end_row(ctx, LABEL_ROWS_INTERVAL);
}

static void on_decision(void *ctx, const struct label_decision *d)
{
	struct run_rows *r = ctx;
	struct row_batch *b = begin_row(r, LABEL_ROWS_DECISION);

	if (r->southbound && label_southbound_add(r->southbound, d) < 0)
		cli_fail("out of memory");
	if (!b)
		return;
	label_row_decision(b, d);
	end_row(r, LABEL_ROWS_DECISION);
}

static void on_silence(void *ctx, const struct label_record *port,
		       enum label_reason event, uint64_t now_ns,
		       uint64_t since_ns)
{
	label_row_silence(begin_row(ctx, LABEL_ROWS_SILENCE), port, event,
			  now_ns, since_ns);
	end_row(ctx, LABEL_ROWS_SILENCE);
}

static void on_port(void *ctx, const struct label_record *record)
{
	label_row_port(begin_row(ctx, LABEL_ROWS_PORT), record);
	end_row(ctx, LABEL_ROWS_PORT);
}

static void on_path(void *ctx, const struct label_path *p)
{
	for (unsigned i = 0; i < p->n; i++) {
		label_row_hop(begin_row(ctx, LABEL_ROWS_HOP), p, i);
		end_row(ctx, LABEL_ROWS_HOP);
	}
}

/* Rows that are asked for go to the screen, all to databases. */
static void open_kind(struct run_rows *r, const struct run_options *o,
		      enum label_rows_kind kind)
{
	struct row_sink *to[1 + DATABASES_MAX];
	unsigned n = 0;

	if (o->rows >> kind & 1)
		to[n++] = r->screen;
	for (unsigned i = 0; i < r->databases.n; i++)
		to[n++] = r->databases.sink[i];
	if (!n)
		return;
	r->tees[kind] = cli_allocated(tee_open(to, n));
	/* One at a time, so that kinds stay in the order things happened. */
	r->rows[kind] = cli_allocated(
		rows_open(r->tees[kind], &label_schema[kind], 1));
}

/* Exits if there is no memory. Sets *calls. */
static void run_rows_open(struct run_rows *r, const struct run_options *o,
			  struct label_control_calls *calls)
{
	const struct export_options eo = {
		.rules = rules, .n_rules = sizeof(rules) / sizeof(rules[0])};

	r->screen = cli_stream(o->format);
	if (!o->exec)
		cli_no_exec(); /* databases have threads of their own */
	for (unsigned i = 0; o->export[i]; i++)
		databases_add(&r->databases, "--export", o->export[i], &eo);
	for (int k = 0; k < LABEL_ROWS; k++)
		open_kind(r, o, (enum label_rows_kind)k);
	/* If SIGCHLD were ignored, as inherited from the parent, no command's
	 * status could be waited for. */
	signal(SIGCHLD, SIG_DFL);
	if (o->exec)
		r->southbound = cli_allocated(label_southbound_open(
			o->exec, environ, report_trouble));
	*calls = (struct label_control_calls){
		.ctx = r,
		.interval = r->rows[LABEL_ROWS_INTERVAL] ? on_interval : NULL,
		.decision = on_decision,
		.silence = r->rows[LABEL_ROWS_SILENCE] ? on_silence : NULL,
		.port = r->rows[LABEL_ROWS_PORT] ? on_port : NULL,
		.path = r->rows[LABEL_ROWS_HOP] ? on_path : NULL,
	};
}

/* Writes rows that wait to stdout. 0 or the first -errno. */
static int run_rows_flush(struct run_rows *r)
{
	int rc = r->screen->flush(r->screen);

	return r->err ? r->err : rc;
}

/* Flushes rows, databases and decisions. 0, or -1 after a message. */
static int run_rows_end(struct run_rows *r)
{
	int rc = run_rows_flush(r), sent = 0;
	struct error err;

	if (r->southbound)
		sent = southbound_stop(r->southbound);
	if (rc < 0) {
		error_set(&err, rc, "%s", strerror(-rc));
		cli_warn_error(cli_stdout, &err);
	}
	return databases_end(&r->databases) < 0 || sent < 0 || rc < 0 ? -1 : 0;
}

static void run_rows_close(struct run_rows *r)
{
	for (int k = 0; k < LABEL_ROWS; k++)
		rows_close(r->rows[k]);
	for (int k = 0; k < LABEL_ROWS; k++)
		if (r->tees[k])
			r->tees[k]->close(r->tees[k]);
	label_southbound_close(r->southbound);
	databases_close(&r->databases);
	r->screen->close(r->screen);
}

struct run {
	struct run_options o;
	struct label_control *c;
	struct run_rows rows;
	struct browse *top;		    /* NULL: none */
	struct label_control_ledger before; /* when its head was drawn last */
	uint64_t before_ns;		    /* and when that was */
	struct cli_loop loop;
	uint64_t wall_offset_ns; /* the wall clock less clock_ns() at start */
	int error;
	struct error why;
};

/* clang-format off */
/* --- the tables of --top (cli/browse.h) -----------------------------------
 *
 * ports   label_port     the newest state of every port: the longest queues
 * silent  label_silence  ports that fell silent, and since when
 * links   label_link     suspected loss: labels that are missing by their
 *                        numbers, or ports that are silent
 * paths   label_path     specific flows: the latency of each hop of their path
 */
/* clang-format on */

static const struct row_field link_fields[] = {
	{"node", ROW_U64, 6, ROW_TAG},
	{"port", ROW_U64, 5, ROW_TAG},
	{"next_node", ROW_U64, 9, .spare = 1},
	{"next_port", ROW_U64, 9, .spare = 1},
	{"labels", ROW_U64, 8},
	{"lost", ROW_U64, 6},
	{"loss", ROW_F64, 7, ROW_VALUE, "ratio"},
	{"loss_minutes", ROW_F64, 12, ROW_VALUE, "ratio"},
	{"s", ROW_U64, 3},
	{"evidence", ROW_STR, 16, ROW_TAG, .spare = 1},
};

static const struct row_field path_fields[] = {
	{"flow", ROW_STR, 40, ROW_TAG, .flow = 1},
	{"time", ROW_TIME, 20, ROW_WHEN},
	{"packets", ROW_U64, 8, .spare = 1},
	{"hops", ROW_U64, 4},
	{"latency", ROW_U64, 10, ROW_VALUE, "ns"},
	{"path", ROW_LIST, 12},
	{"latencies", ROW_LIST, 24, ROW_VALUE, "ns", .spare = 1},
	{"queues", ROW_LIST, 0, .spare = 1},
};

static const struct schema link_schema = LABEL_SCHEMA("label_link",
						      link_fields);
static const struct schema path_schema = LABEL_SCHEMA("label_path",
						      path_fields);

static const struct browse_table controller_table_of[TABLES] = {
	[TABLE_PORTS] = {&label_schema[LABEL_ROWS_PORT], "queue", 3},
	[TABLE_SILENT] = {&label_schema[LABEL_ROWS_SILENCE], "silent_for", 3},
	[TABLE_LINKS] = {&link_schema, "loss_minutes", 2},
	[TABLE_PATHS] = {&path_schema, "latency", 1},
};

static uint32_t table_size(void *ctx, unsigned table)
{
	struct label_control *c = ((struct run *)ctx)->c;

	if (table == TABLE_PATHS)
		return label_control_path_slots(c);
	return label_db_ports(label_control_db(c));
}

static bool table_has(void *ctx, unsigned table, uint32_t i)
{
	struct label_control *c = ((struct run *)ctx)->c;
	const struct label_record *r;

	if (table == TABLE_PATHS)
		return label_control_path(c, i) != NULL;
	if (i >= label_db_ports(label_control_db(c)))
		return false; /* forgotten meanwhile */
	r = label_db_at(label_control_db(c), i);
	return table == TABLE_PORTS || r->silent ||
	       (table == TABLE_LINKS && label_lost(r));
}

static void set_loss(struct row_batch *b, unsigned field, uint64_t labels,
		     uint64_t lost)
{
	if (labels + lost)
		row_batch_set(b, field, ROW_F64)->f64 = (double)lost /
							(double)(labels + lost);
}

static void link_row(struct row_batch *b, struct label_control *c,
		     const struct label_record *r)
{
	static const char *const evidence[] = {"", "numbers", "silence",
					       "numbers,silence"};
	struct label_recent minutes = label_recent(r, label_control_now(c));

	row_batch_u64(b, 0, r->device);
	row_batch_u64(b, 1, r->out);
	if (r->has_next) {
		row_batch_u64(b, 2, r->next_device);
		row_batch_u64(b, 3, r->next_in);
	}
	row_batch_u64(b, 4, r->labels);
	if (r->number) {
		row_batch_u64(b, 5, label_lost(r));
		set_loss(b, 6, r->labels, label_lost(r));
		set_loss(b, 7, (uint64_t)minutes.labels,
			 (uint64_t)minutes.lost);
	}
	row_batch_u64(b, 8, r->s);
	row_batch_str(b, 9, evidence[(minutes.lost > 0) + 2 * r->silent]);
}

static void path_row(struct row_batch *b, const struct label_path *p)
{
	uint64_t node[LABEL_PATH_HOPS], ns[LABEL_PATH_HOPS];
	uint64_t queue[LABEL_PATH_HOPS];
	unsigned f = 0;

	for (unsigned i = 0; i < p->n; i++) {
		node[i] = p->hop[i].device;
		ns[i] = p->hop[i].latency_ns;
		queue[i] = p->hop[i].queue;
	}
	row_batch_flow(b, f++, p->key, p->key_len);
	row_batch_time(b, f++, p->seen_ns);
	row_batch_u64(b, f++, p->packets);
	row_batch_u64(b, f++, p->n);
	row_batch_u64(b, f++, p->latency_ns);
	row_batch_list(b, f++, node, p->n);
	row_batch_list(b, f++, ns, p->n);
	row_batch_list(b, f++, queue, p->n);
}

static void table_row(void *ctx, unsigned table, uint32_t i, unsigned only,
		      struct row_batch *b)
{
	struct label_control *c = ((struct run *)ctx)->c;
	const struct label_record *r;

	(void)only;
	if (table == TABLE_PATHS) {
		path_row(b, label_control_path(c, i));
		return;
	}
	r = label_db_at(label_control_db(c), i);
	if (table == TABLE_PORTS)
		label_row_port(b, r);
	else if (table == TABLE_SILENT)
		label_row_silence(b, r, LABEL_SILENT, label_control_now(c),
				  r->seen_ns);
	else
		link_row(b, c, r);
}

static void table_head(void *ctx, unsigned table, bool ended,
		       char line[2][BROWSE_LINE])
{
	struct run *r = ctx;
	const struct label_control_ledger *l = label_control_counters(r->c);
	const struct label_db_ledger *db = label_db_counters(
		label_control_db(r->c));
	uint64_t now_ns = clock_ns(), ns = now_ns - r->before_ns;
	double labelled = (double)(l->labelled - r->before.labelled);

	snprintf(line[0], BROWSE_LINE,
		 "int-label-ctl %s: %s%s; %.0f packets with labels a second",
		 r->loop.input, controller_tables[table],
		 ended ? ", the input has ended" : "",
		 ns ? floor(labelled * 1e9 / (double)ns) : 0.);
	snprintf(line[1], BROWSE_LINE,
		 "ports %" PRIu32 "; labels %" PRIu64 "; missing %" PRIu64
		 "; silent %" PRIu64 "; S raised %" PRIu64 " times, lowered "
		 "%" PRIu64,
		 label_db_ports(label_control_db(r->c)), db->items, db->missing,
		 label_control_silent(r->c), l->raised, l->lowered);
	r->before = *l;
	r->before_ns = now_ns;
}

static const struct browse_tables controller_screen = {
	.names = controller_tables,
	.table = controller_table_of,
	.size = table_size,
	.has = table_has,
	.row = table_row,
	.head = table_head,
};

/* --- packets -------------------------------------------------------------- */

static void print_ledgers(void *run)
{
	struct run *r = run;

	cli_ledger(&label_control_ledger, label_control_counters(r->c),
		   r->o.format);
	cli_ledger(&label_db_ledger, label_db_counters(label_control_db(r->c)),
		   r->o.format);
	if (r->rows.southbound)
		cli_ledger(&label_southbound_ledger,
			   label_southbound_counters(r->rows.southbound),
			   r->o.format);
	databases_ledgers(&r->rows.databases, r->o.format);
}

/*
 * The time of a capture is that of its packets. The time of an interface begins
 * with the wall clock's, and goes on with clock_ns(), which cannot be set, even
 * while no packets come. A time stamp of more than 10 s ago, or of the future,
 * means that the wall clock was set, and is replaced.
 */
static int read_packets(void *run, const struct pkt *pkts, int n,
			struct error *err)
{
	struct run *r = run;
	uint64_t now_ns = r->o.live.name ? r->wall_offset_ns + clock_ns() : 0;
	int rc = 0;

	for (int i = 0; i < n && !rc; i++) {
		uint64_t ts_ns = pkts[i].ts_ns;

		if (now_ns && now_ns - ts_ns >= 10000000000)
			ts_ns = now_ns;
		rc = label_control_frame(r->c, pkts[i].data, pkts[i].len,
					 ts_ns);
	}
	if (now_ns)
		label_control_tick(r->c, now_ns);
	if (r->rows.southbound)
		label_southbound_send_due(r->rows.southbound, clock_ns());
	databases_warn(&r->rows.databases);
	if (!rc && n < PKT_BATCH)
		rc = run_rows_flush(&r->rows);
	if (!rc && r->top && !browse_update(r->top, !n))
		cli_stop = 1; /* as if by a signal */
	if (rc < 0)
		error_set(err, rc, "%s", strerror(-rc));
	return rc;
}

static void run_open(struct run *r)
{
	static const uint16_t all[LIVE_PORTS];
	struct error err = {0};

	run_rows_open(&r->rows, &r->o, &r->o.control.calls);
	if (label_control_open(&r->c, &r->o.control) < 0)
		cli_fail("out of memory");
	if (r->o.read && src_open(&r->loop.s, r->o.read, &err) < 0)
		cli_error(r->o.read, &err);
	if (r->o.live.name)
		r->loop.s = cli_live_open(&r->o.live, all, r->o.quiet);
	if (r->o.top.top)
		r->top = browse_open(&controller_screen, r, &r->o.top,
				     r->o.format);
	if (!r->rows.southbound)
		cli_confine(r->o.quiet || !r->o.live.name);
	r->wall_offset_ns = clock_wall_ns() - clock_ns();
	r->loop.quiet = r->o.quiet || r->top;
}

/* Called while the screen stays after the end of the input. */
static void update_screen(void *ctx)
{
	struct run *r = ctx;

	databases_warn(&r->rows.databases);
	if (r->rows.southbound)
		label_southbound_send_due(r->rows.southbound, clock_ns());
	cli_loop_housekeeping(&r->loop);
}

/* Ends the run; prints ledgers and errors. Returns the exit status. */
static int run_close(struct run *r)
{
	const struct label_control_ledger *l = label_control_counters(r->c);
	int looked = r->top && !r->error ? browse_end(r->top, update_screen)
					 : 0,
	    ended, status;

	browse_close(r->top);
	label_control_end(r->c);
	cli_stream_end(r->rows.screen, label_schema, r->o.rows);
	ended = run_rows_end(&r->rows);
	if (!r->o.quiet) {
		print_ledgers(r);
		cli_live_drops(&r->o.live, r->loop.s, 0);
	}
	/* run_rows_end() has reported what cannot be written. */
	if (r->error && (r->loop.source_failed || !ended))
		cli_warn_error(r->loop.source_failed && r->o.read ? r->o.read
			       : r->loop.source_failed ? r->o.live.name
						       : "labels",
			       &r->why);
	status = r->error || looked < 0 || ended < 0 ? CLI_FAIL : CLI_OK;
	/* A run that was stopped may have had no time for labels. */
	if (status == CLI_OK && l->frames && !l->labelled && !cli_stop) {
		cli_warn("%s: nothing was taken: no packet with %slabels is in "
			 "it",
			 r->o.read ? cli_file(r->o.read) : r->o.live.name,
			 l->plain ? "" : "good ");
		status = CLI_FAIL;
	}
	run_rows_close(&r->rows);
	label_control_close(r->c);
	src_close(r->loop.s);
	return status;
}

int run_main(int argc, char **argv)
{
	static struct run run;

	cli_start(&run_cli);
	run_options_read(&run.o, argc, argv);
	run.loop = (struct cli_loop){
		.live = &run.o.live,
		.input = run.o.read ? run.o.read : run.o.live.name,
		.quiet = run.o.quiet,
		.ctx = &run,
		.take = read_packets,
		.report = print_ledgers,
	};
	cli_signals();
	run_open(&run);
	run.error = cli_loop(&run.loop, &run.why);
	return run_close(&run);
}
