/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int-collect - turns in-band network telemetry, in packets or in reports, into
 * events, metrics, flows and distributions; sends packets on without it.
 */
#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/svg.h"
#include "cli/table.h"
#include "int/int_profile.h"
#include "int_collect.h"
#include "telemetry/int_collector.h"
#include "threads/threads.h"
#include "xdp/xdp.h"

/* How databases keep rows (export/export.h): all events, and the latest row of
 * a flow, a hop, a distribution. Kafka keeps the rows of a flow in order. */
static const struct export_rule rules[] = {
	{"int_event", EXPORT_EVENT, NULL, "{flow}"},
	{"int_value", EXPORT_EVENT, NULL, "{flow}"},
	{"int_snapshot", EXPORT_EVENT, NULL, "{flow}"},
	{"int_flow", EXPORT_STATE, "flow:{flow}", "{flow}"},
	{"int_hop", EXPORT_STATE, "hop:{flow}:{node}", "{flow}"},
	{"int_distribution", EXPORT_STATE,
	 "distribution:{metric}:{node}:{path_id}"},
	{"int_bin", EXPORT_STATE, "bin:{metric}:{node}:{path_id}:{low}"},
};

/* Draws latencies by the share of packets that had more, 1 in 2 to 1000, as far
 * as quantiles of rows go. */
static int draw_put(struct row_sink *sink, struct row_batch *b)
{
	static const char *const high[] = {"p50_high", "p90_high", "p99_high",
					   "p999_high"};
	static const double one_in[] = {2, 10, 100, 1000};
	struct input_row r = {b, 0};
	char name[64];

	(void)sink;
	for (; r.row < b->rows; r.row++) {
		uint64_t node = number_in(&r, "node"), v;

		snprintf(name, sizeof(name),
			 node == UINT64_MAX ? "path %ju" : "node %ju",
			 (uintmax_t)(node == UINT64_MAX
					     ? number_in(&r, "path_id")
					     : node));
		for (int q = 0; q < 4; q++)
			if (strstr(text_of(&r, "metric"), "latency") &&
			    (v = number_in(&r, high[q])) != UINT64_MAX)
				svg_point(name, one_in[q], (double)v);
	}
	return 0;
}

static int draw_flush(struct row_sink *sink)
{
	(void)sink;
	return 0;
}

static struct row_sink draw_sink = {draw_put, draw_flush, NULL};

/* Where rows go: stdout, databases, DTA reports. */
struct outlets {
	struct telemetry_sinks sinks; /* a tee for each kind of row */
	struct row_sink *screen;
	struct databases databases;
	struct row_sink *dta;
	const char *dta_name;
};

/* The rows of --rows go to stdout, all rows to databases, events and flows to
 * DTA. Exits if one cannot be opened. */
static void outlets_open(struct outlets *out, const struct opts *o)
{
	const struct export_options eo = {
		.queue = {.bytes = o->queue,
			  .spool = o->spool,
			  .spool_size = o->spool_size,
			  .end_ns = o->end_ns ? o->end_ns : 1},
		.rules = rules,
		.n_rules = sizeof(rules) / sizeof(rules[0]),
	};
	static const char *const labels[] = {"exceeded by one packet in", "ns"};
	static const bool log[] = {true, true};
	struct row_sink *to[3 + DATABASES_MAX];
	struct error err = {0};

	cli_no_exec(); /* databases have threads of their own */
	out->databases.hold = o->read && !o->drop;
	for (unsigned i = 0; o->export[i]; i++)
		databases_add(&out->databases, "--export", o->export[i], &eo);
	out->dta_name = o->dta;
	if (o->dta && dta_open(&out->dta, o->dta, &err) < 0)
		cli_error(o->dta, &err);
	svg_open(o->svg, o->rows || o->top.top, "Latencies", labels, log);
	out->screen = cli_stream(o->format);
	for (unsigned i = 0, n = 0; i < ROWS_KINDS; i++, n = 0) {
		if (o->rows >> i & 1)
			to[n++] = out->screen;
		if (out->dta && (i == ROWS_EVENT || i == ROWS_FLOW))
			to[n++] = out->dta;
		for (unsigned d = 0; d < out->databases.n; d++)
			to[n++] = out->databases.sink[d];
		if (o->svg && i == ROWS_DISTRIBUTION)
			to[n++] = &draw_sink;
		if (n)
			out->sinks.of[i] = cli_allocated(tee_open(to, n));
	}
}

/* Flushes all. 0, or -1 after a message: not all could be written. */
static int outlets_end(struct outlets *out)
{
	int screen = out->screen->flush(out->screen);
	int dta = out->dta ? out->dta->flush(out->dta) : 0;
	struct error err;

	if (screen < 0) {
		error_set(&err, screen, "%s", strerror(-screen));
		cli_warn_error(cli_stdout, &err);
	}
	if (dta < 0)
		cli_warn("%s: %s", cli_file(out->dta_name), strerror(-dta));
	return databases_end(&out->databases) < 0 || screen < 0 || dta < 0 ? -1
									   : 0;
}

static void outlets_close(struct outlets *out)
{
	for (int i = 0; i < ROWS_KINDS; i++)
		if (out->sinks.of[i])
			out->sinks.of[i]->close(out->sinks.of[i]);
	out->screen->close(out->screen);
	if (out->dta)
		out->dta->close(out->dta);
	databases_close(&out->databases);
	svg_close();
}

enum {
	WARN_EVERY = 1024, /* full batches between two databases_warn() */
	/* dist_bytes with --xdp: less, as few packets come up whole, and the
	 * kernel's maps are part of the 64 MB of telemetry_defaults(). */
	XDP_DISTS = 8 << 20,
};

struct run {
	struct opts o;
	struct int_profile profile;
	struct expr *filter; /* NULL: none */
	struct int_collector *collector;
	struct xdp_sink *xdp; /* --xdp, or NULL */
	struct top *top;      /* --top, or NULL */
	struct snk *out;      /* of --write or --to, or NULL */
	struct outlets outlets;
	struct thresholds th;
	struct cli_loop loop;
	uint64_t batches;   /* that were full */
	uint64_t behind_ns; /* wall clock less time of the last packet */
	int error;
	struct error why;
};

static void print_ledgers(void *run)
{
	const struct run *r = run;
	enum row_format fmt = r->o.format;
	struct int_collector_ledgers l;

	int_collector_ledgers(r->collector, &l);
	if (r->xdp)
		cli_ledger(&xdp_sink_ledger, xdp_sink_counters(r->xdp), fmt);
	cli_ledger(&int_frame_ledger, &l.frames, fmt);
	if (l.reports.reports)
		cli_ledger(&int_report_ledger, &l.reports, fmt);
	if (r->filter)
		cli_ledger(&filter_ledger, &l.filtered, fmt);
	cli_ledger(&telemetry_ledger, &l.telemetry, fmt);
	cli_ledger(&flows_ledger, &l.flows, fmt);
	if (r->outlets.dta)
		cli_ledger(&dta_ledger, dta_counters(r->outlets.dta), fmt);
	databases_ledgers(&r->outlets.databases, fmt);
}

static uint64_t count_unsent(void *run)
{
	const struct run *r = run;

	return r->out ? snk_drops(r->out) : 0;
}

/* On SIGHUP: reads the thresholds again; after an error the old ones stay. */
static void reread_thresholds(void *run)
{
	struct run *r = run;
	struct error err = {0};
	int rc = r->o.thresholds ? thresholds_read(&r->th, &r->o, &err)
				 : error_set(&err, -ENOENT,
					     "no file of thresholds to read");

	if (!rc)
		rc = int_collector_set_thresholds(r->collector, &r->th.t);
	if (!rc && r->xdp)
		rc = xdp_sink_set_thresholds(r->xdp, &r->th.t);
	if (rc < 0)
		cli_warn("SIGHUP: %s; the thresholds stay as they are",
			 err.text[0] ? err.text : strerror(-rc));
	else if (!r->o.quiet)
		cli_warn("SIGHUP: thresholds read again");
}

/* Puts out the rows and packets that are buffered: while packets are few,
 * readers of our output must not wait for full buffers. With several cores
 * workers do it, as long as packets come. */
static int put_rows(struct run *r, int n)
{
	int rc = r->xdp ? xdp_sink_tick(r->xdp) : 0;

	if (n && r->o.cores > 1)
		return rc;
	if (!rc)
		rc = int_collector_put_rows(r->collector);
	if (r->out)
		snk_flush(r->out); /* snk_close() returns the error */
	return rc;
}

/* cli_loop.take: a batch; n 0: no packet came, but time passes. */
static int take_packets(void *run, const struct pkt *pkts, int n,
			struct error *err)
{
	struct run *r = run;
	int rc;

	if (n) {
		rc = int_collector_rx(r->collector, pkts, (size_t)n);
		if (src_size(r->loop.s) == 0)
			r->behind_ns = clock_wall_ns() - pkts[n - 1].ts_ns;
	} else {
		rc = int_collector_tick(r->collector,
					clock_wall_ns() - r->behind_ns);
	}
	if (!rc && n < PKT_BATCH) /* live, or the end */
		rc = put_rows(r, n);
	if (n < PKT_BATCH || ++r->batches % WARN_EVERY == 0)
		databases_warn(&r->outlets.databases);
	if (!rc && r->top && !top_turn(r->top, !n))
		cli_stop = 1; /* as if by a signal */
	if (rc < 0)
		error_set(err, rc, "%s", strerror(-rc));
	return rc;
}

static void open_xdp(struct run *r, const struct telemetry_options *to)
{
	const struct xdp_sink_options xo = {
		.profile = &r->profile,
		.sinks = &r->outlets.sinks,
		.telemetry = int_collector_sink(r->collector),
		.kinds = to->kinds,
		.push_ns = to->push_ns,
		.idle_ns = to->flows.idle_ns,
	};
	struct error err = {0};
	int rc = xdp_sink_open(&r->xdp, &xo, &err);

	if (!rc && (rc = xdp_sink_set_thresholds(r->xdp, &r->th.t)) < 0)
		error_set(&err, rc, "thresholds: %s", strerror(-rc));
	if (!rc)
		rc = xdp_sink_attach(r->xdp, r->o.live.name,
				     r->o.live.options.promiscuous, &err);
	if (rc < 0)
		cli_error(r->o.live.name, &err);
	r->loop.s = xdp_sink_source(r->xdp);
	cli_log_times();
	if (!r->o.quiet)
		cli_warn("%s: %s", r->o.live.name, src_kind(r->loop.s));
}

/* int_collector_start()'s take(): a batch for another worker. */
static int take_worker_packets(void *run, struct pkt *room, int max)
{
	return cli_loop_more(&((struct run *)run)->loop, room, max);
}

static void open_telemetry(struct run *r)
{
	struct int_collector_options co = {.workers = r->o.cores,
					   .filter = r->filter,
					   .profile = &r->profile};
	struct telemetry_options *to = &co.telemetry;
	int rc;

	telemetry_defaults(to);
	if (r->o.flows)
		to->flows.rows = (uint32_t)((r->o.flows + to->flows.buckets -
					     1) /
					    to->flows.buckets);
	if (r->o.flow_idle_ns != UINT64_MAX)
		to->flows.idle_ns = r->o.flow_idle_ns;
	if (r->o.push_ns != UINT64_MAX)
		to->push_ns = r->o.push_ns;
	to->kinds = r->o.events;
	if (r->o.xdp)
		to->dist_bytes = XDP_DISTS;
	rc = int_collector_open(&r->collector, &co, &r->th.t,
				&r->outlets.sinks);
	if (rc < 0)
		cli_fail("a cache of %u flows: %s",
			 to->flows.rows * to->flows.buckets, strerror(-rc));
	if (r->o.xdp)
		open_xdp(r, to);
}

static void run_open(struct run *r)
{
	static const uint16_t all[LIVE_PORTS];
	const struct opts *o = &r->o;
	const char *out = o->write ? o->write : o->to;
	unsigned batches = o->cores * THREADS_PLACES;
	struct error err = {0};
	const struct int_profile *p = int_profile_named(o->profile);
	int rc;

	if (p)
		r->profile = *p;
	else if (!strpbrk(o->profile, "./") && strcmp(o->profile, "-"))
		cli_refuse("--profile: '%s' is none, and no file (FILE has a "
			   "point or a slash in it); see -p help",
			   o->profile);
	else if (profile_read(&r->profile, o->profile, &err) < 0)
		cli_fail("--profile: %s", err.text);
	if (o->report_port)
		r->profile.report_port = (uint16_t)o->report_port;
	rc = thresholds_read(&r->th, o, &err);
	if (rc == -EINVAL)
		cli_refuse("%s", err.text);
	if (rc < 0)
		cli_fail("%s", err.text);
	if (o->filter && expr_parse(&r->filter, o->filter, &err) < 0)
		cli_refuse("--filter: %s; see -f help", err.text);
	outlets_open(&r->outlets, o);
	if (o->read && src_open(&r->loop.s, o->read, &err) < 0)
		cli_error(o->read, &err);
	if (out &&
	    (o->write ? cli_snk_open(&r->out, out, &err)
		      : snk_open_live(&r->out, out, LIVE_PACKET, &err)) < 0)
		cli_error(out, &err);
	open_telemetry(r);
	if (o->live.name && !r->xdp)
		r->loop.s = cli_live_open(&r->o.live, all, o->quiet);
	if (o->top.top)
		r->top = top_open(o, int_collector_sink(r->collector),
				  &r->outlets.databases, &r->loop);
	if (o->cores > 1 && src_hold_batches(r->loop.s, batches) < 0)
		cli_fail("out of memory");
	cli_may_read(o->thresholds);
	cli_confine(o->quiet || !o->live.name);
	if (int_collector_start(r->collector, r->out, take_worker_packets, r,
				&err) < 0)
		cli_fail("-j: %s", err.text);
	r->loop.quiet = o->quiet || r->top;
}

/* At the end, takes the packets that came up from the kernel. */
static int drain_source(struct run *r)
{
	static struct pkt pkts[PKT_BATCH];
	struct error err = {0};
	int n = 0, rc = 0;

	if (!r->xdp)
		return 0;
	xdp_sink_stop(r->xdp);
	src_wait(r->loop.s, 0);
	while (!rc && ((n = src_rx(r->loop.s, pkts, PKT_BATCH, &err)) > 0 ||
		       n == -EINTR))
		if (n > 0)
			rc = int_collector_rx(r->collector, pkts, (size_t)n);
	if (!rc && n < 0 && n != -EAGAIN) {
		cli_warn_error(r->o.live.name, &err);
		rc = n;
	}
	return rc < 0 ? rc : xdp_sink_flush(r->xdp);
}

/* Whether packets came but none was telemetry, which is an error: why has the
 * reason. Not if a signal stopped the run, or packets were sent on. */
static bool found_no_telemetry(struct run *r, struct error *why)
{
	const struct ledger *ledger = &int_frame_ledger;
	struct int_collector_ledgers l;
	const void *ctr = &l.frames;
	const char *worst;
	uint64_t all, n;

	int_collector_ledgers(r->collector, &l);
	if (!l.frames.frames || l.frames.packets || l.frames.traces ||
	    l.reports.taken || r->xdp || r->out || cli_stop)
		return false;
	all = l.frames.frames;
	/* Frames without INT are no reason, whole or damaged. */
	l.frames.other = l.frames.malformed_packet = 0;
	if (l.reports.reports) {
		ledger = &int_report_ledger;
		ctr = &l.reports;
		all = l.reports.reports;
	}
	worst = ledger_largest_loss(ledger, ctr, &n);
	if (!n)
		error_set(why, -1,
			  "no INT, telemetry report or IOAM trace is in it: "
			  "another --profile or --report-port?");
	else if (!strcmp(worst, "truncated"))
		error_set(why, -1,
			  "%ju of %ju %s are cut short: capture whole packets "
			  "(tcpdump -s 0)",
			  (uintmax_t)n, (uintmax_t)all, ledger->unit);
	else
		error_set(why, -1, "%ju of %ju %s are %s: another --profile?",
			  (uintmax_t)n, (uintmax_t)all, ledger->unit, worst);
	return true;
}

/* Ends the run: prints the ledgers and errors. Returns the exit status. */
static int run_close(struct run *r)
{
	int drained = drain_source(r), out = 0, looked = 0, flushed, ended;
	uint64_t lost = 0;
	int status = r->error || drained ? CLI_FAIL : CLI_OK;
	struct error why;

	if (r->top && !r->error)
		looked = top_end(r->top); /* while flows are still there */
	top_close(r->top);
	flushed = int_collector_flush(r->collector);
	if (r->out) {
		snk_settle(r->out); /* snk_close() returns the error */
		lost = count_unsent(r);
		out = snk_close(r->out);
	}
	cli_stream_end(r->outlets.screen, telemetry_schemas, r->o.rows);
	ended = outlets_end(&r->outlets);
	if (!r->o.quiet) {
		print_ledgers(r);
		cli_live_drops(&r->o.live, r->loop.s, lost);
	}
	/* An error of an output has its own message. */
	if (r->error && (r->loop.source_failed || (!ended && !out)))
		cli_warn_error(r->loop.source_failed && r->o.read ? r->o.read
			       : r->loop.source_failed ? r->o.live.name
						       : "telemetry",
			       &r->why);
	if (out < 0)
		cli_warn("%s: %s", r->o.write ? cli_file(r->o.write) : r->o.to,
			 strerror(-out));
	if (out < 0 || ended < 0 || flushed < 0 || looked < 0)
		status = CLI_FAIL;
	if (status == CLI_OK && found_no_telemetry(r, &why)) {
		cli_warn("%s: nothing was taken: %s",
			 r->o.read ? cli_file(r->o.read) : r->o.live.name,
			 why.text);
		status = CLI_FAIL;
	}
	int_collector_close(r->collector);
	expr_free(r->filter);
	src_close(r->loop.s);
	xdp_sink_close(r->xdp);
	outlets_close(&r->outlets);
	return status;
}

int main(int argc, char **argv)
{
	static struct run run;

	cli_start(&cli);
	run.o = options_read(argc, argv);
	run.loop = (struct cli_loop){
		.live = &run.o.live,
		.input = run.o.read ? run.o.read : run.o.live.name,
		.output = run.o.write ? run.o.write : run.o.to,
		.quiet = run.o.quiet,
		.ctx = &run,
		.take = take_packets,
		.report = print_ledgers,
		.unsent = count_unsent,
		.hangup = reread_thresholds,
	};
	cli_signals();
	cli_catch_hangup();
	run_open(&run);
	run.error = cli_loop(&run.loop, &run.why);
	if (!run.outlets.databases.hold)
		databases_begin_end(&run.outlets.databases);
	return run_close(&run);
}
