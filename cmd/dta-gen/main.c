/* SPDX-License-Identifier: BSD-2-Clause */
/* dta-gen - make DTA reports, synthetic or out of a capture. */
#include "gen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/table.h"

enum {
	CLOCK_EVERY = 1024, /* packets */
};

#define AT(counter) offsetof(struct gen_ledger, counter)

static const struct ledger_field fields[] = {
	{"packets", AT(traffic.packets), LEDGER_IN},
	{"used", AT(used), LEDGER_DONE},
	{"not_ip", AT(traffic.not_ip), LEDGER_HARMLESS},
	{"malformed", AT(traffic.malformed), LEDGER_LOSS},
	{"fragments", AT(fragments), LEDGER_HARMLESS},
	{"not_tcp", AT(not_tcp), LEDGER_HARMLESS},
	{"ipv6", offsetof(struct gen_ledger, ipv6), LEDGER_HARMLESS},
	{"reports", AT(reports), LEDGER_NOTE},
	{"report_bytes", AT(report_bytes), LEDGER_NOTE},
	{"retransmissions", AT(retransmissions), LEDGER_NOTE},
	{"evicted", AT(traffic.evicted), LEDGER_NOTE},
	{"backoffs", AT(backoffs), LEDGER_NOTE},
};

static const struct ledger_field row_fields[] = {
	{"rows", AT(traffic.packets), LEDGER_IN},
	{"used", AT(used), LEDGER_DONE},
	{"unanswered", AT(unanswered), LEDGER_LOSS},
	{"malformed", AT(traffic.malformed), LEDGER_LOSS},
	{"reports", AT(reports), LEDGER_NOTE},
	{"report_bytes", AT(report_bytes), LEDGER_NOTE},
	{"backoffs", AT(backoffs), LEDGER_NOTE},
};

/* Traffic has no unanswered; four more are of int.c. */
_Static_assert(sizeof(fields) / sizeof(fields[0]) + 5 ==
		       sizeof(struct gen_ledger) / sizeof(uint64_t),
	       "a counter has no name");

static const struct ledger gen_ledger = {"gen", "packets", fields,
					 sizeof(fields) / sizeof(fields[0])};

static const struct ledger gen_rows_ledger = {
	"gen", "rows", row_fields, sizeof(row_fields) / sizeof(row_fields[0])};

static const struct row_field list_fields[] = {
	{"workload", ROW_STR, 17, ROW_TAG},
	{"primitive", ROW_STR, 9, ROW_TAG},
	{"key", ROW_STR, 5},
	{"value_bytes", ROW_U64, 11, ROW_VALUE, "bytes"},
	{"key_ipv6", ROW_STR, 8},
	{"value_bytes_ipv6", ROW_U64, 16, ROW_VALUE, "bytes"},
	{"system", ROW_STR, 0},
};

static const struct schema workload_rows = {
	"workload", list_fields, sizeof(list_fields) / sizeof(list_fields[0])};

static int list_workloads(enum row_format fmt)
{
	struct rows *r = cli_rows(fmt, &workload_rows);

	for (unsigned i = 0; i < n_workloads; i++) {
		const struct workload *w = &workloads[i];
		bool append = w->kind == DTA_APPEND;

		row_str(r, 0, w->name);
		row_str(r, 1, dta_opcode_name(w->kind));
		row_str(r, 2, append ? "list" : key_type_name(w->key_type[0]));
		row_u64(r, 3, w->value_len[0]);
		row_str(r, 4, append ? "list" : key_type_name(w->key_type[1]));
		row_u64(r, 5, w->value_len[1]);
		row_str(r, 6, w->system);
		cli_row_end(r);
	}
	rows_close(r);
	return CLI_OK;
}

static void show_ledgers(struct gen *g)
{
	const struct resend_ledger *sent = link_ledger(g);

	if (g->o.quiet)
		return;
	cli_ledger(g->ledger, &g->ctr, g->o.output);
	if (sent)
		cli_ledger(&resend_ledger, sent, g->o.output);
}

/* --- the traffic --------------------------------------------------------- */

/* Whether the workload can use the packet; else the reason is counted. */
static bool is_wanted(void *ctx, const struct traffic_packet *p)
{
	struct gen *g = ctx;
	struct gen_ledger *c = &g->ctr;

	if (p->v6 && g->o.format != DTA_FORMAT_1 &&
	    g->run.w->key_type[1] != g->run.w->key_type[0]) {
		c->ipv6++;
		return false;
	}
	if (p->fragment && g->run.w->needs != NEEDS_HOST) {
		c->fragments++;
		return false;
	}
	if (p->protocol != NET_PROTO_TCP && g->run.w->needs == NEEDS_TCP) {
		c->not_tcp++;
		return false;
	}
	c->used++;
	return true;
}

/* Whether to restart the flows; with --count, only if the last round made
 * reports. */
static bool open_again(void *ctx)
{
	struct gen *g = ctx;

	if (!g->o.repeat || (g->o.count && g->ctr.reports == g->round_reports))
		return false;
	g->round_reports = g->ctr.reports;
	return true;
}

static int input_open(struct gen *g, struct error *err)
{
	struct traffic_options o = {
		.capture = g->o.from,
		.model = {.seed = g->o.work.seed,
			  .flows = g->o.flows,
			  .rate = g->o.rate,
			  .start_ns = GEN_START_NS,
			  .ipv6_percent = (unsigned)g->o.ipv6,
			  .ends = g->o.ends},
		.item = g->run.w->needs == NEEDS_NOTHING ? TRAFFIC_NUMBERS
			: g->run.w->per_flow		 ? TRAFFIC_FLOWS
							 : TRAFFIC_PACKETS,
		.max_flows = WORKLOAD_FLOWS,
		.ctr = &g->ctr.traffic,
		.wanted = g->run.w == &int_workload ? NULL : is_wanted,
		.again = open_again,
		.before_wait = emit_flush,
		.ctx = g,
	};

	return g->run.w == &csv_workload ? csv_open(&g->rows, g, err)
					 : traffic_open(&g->traffic, &o, err);
}

/* Gives the workload a packet, or reports a row. */
static int run_step(struct gen *g, struct error *err)
{
	struct traffic_packet p;
	int rc;

	if (g->rows)
		return csv_next(g->rows, err);
	rc = traffic_next(g->traffic, &p, err);
	if (rc > 0)
		g->run.w->packet(&g->run, &p);
	return rc;
}

/* Runs to the end. Returns 0 or the source's -errno. */
static int run_generator(struct gen *g, struct error *err)
{
	uint64_t next = CLOCK_EVERY;
	int rc = 1;

	while (!g->err && !g->done && !cli_stop) {
		if (cli_report) {
			cli_report = 0;
			show_ledgers(g);
		}
		rc = run_step(g, err);
		if (rc == -EINTR)
			rc = 1;
		else if (rc <= 0)
			break;
		if (g->ctr.traffic.packets < next)
			continue;
		next = g->ctr.traffic.packets + CLOCK_EVERY;
		show_link_page(g);
	}
	workload_end(&g->run);
	link_finish(g);
	return rc < 0 ? rc : 0;
}

static const char *source_name(const struct gen *g)
{
	return g->o.from ? g->o.from : "traffic";
}

/* Reports errors; returns the exit status. */
static int check_result(const struct gen *g, int src_err, int snk_err,
			const struct error *err)
{
	int rc = g->err ? g->err : snk_err;
	/* A warning for each was printed. */
	bool bad_rows = g->rows && g->ctr.traffic.malformed;
	const char *all = g->run.w == &int_workload ? int_complaint(g) : NULL;
	struct error why;

	if (src_err)
		cli_warn_error(source_name(g), err);
	if (rc)
		cli_warn("%s: %s",
			 g->o.out ? cli_file(g->o.out) : g->o.live.name,
			 strerror(-rc));
	if (all)
		cli_warn("%s", all);
	if (g->truth_err) {
		error_set(&why, -1, "%s", strerror(-g->truth_err));
		cli_warn_error(g->o.truth, &why);
	}
	return src_err || rc || all || g->truth_err || bad_rows ? CLI_FAIL
								: CLI_OK;
}

static void emit_report(void *ctx, struct dta_report *r, bool v6,
			unsigned reporter, uint64_t ts_ns)
{
	struct gen *g = ctx;
	const struct workload *w = g->run.w;

	r->table = (uint16_t)(g->o.table + v6);
	emit_dta_report(g, r,
			w->needs == NEEDS_NOTHING
				? (enum key_type)g->o.work.key_type
				: (enum key_type)w->key_type[v6],
			reporter, ts_ns);
}

int main(int argc, char **argv)
{
	struct error why = {""};
	struct settings s;
	struct gen g = {0};
	int src_err, snk_err, status;

	if (argc > 1 && !strcmp(argv[1], "int")) {
		int_options_read(&g, argc - 1, argv + 1);
	} else {
		options_read(&s, argc, argv);
		if (s.list)
			return list_workloads(s.gen.output);
		g.o = s.gen;
		g.truth_head = "table,kind,key,hop,path_len,copies,value\n";
		g.ledger = s.workload == &csv_workload ? &gen_rows_ledger
						       : &gen_ledger;
		g.run = (struct workload_run){
			.w = s.workload,
			.o = s.gen.work,
			.retransmissions = &g.ctr.retransmissions,
			.emit = emit_report,
			.ctx = &g,
		};
		topo_fat_tree(&g.run.topology, GEN_ARITY, (unsigned)g.o.hops);
	}
	g.run.traffic = &g.ctr.traffic;
	cli_signals();
	if (input_open(&g, &why) < 0)
		cli_error(source_name(&g), &why);
	if (workload_start(&g.run) < 0)
		cli_fail("out of memory");
	if (emit_open(&g, &why) < 0)
		cli_fail("%s", why.text);
	src_err = run_generator(&g, &why);
	emit_flush(&g); /* frames not taken now are not sent */
	show_ledgers(&g);
	if (!g.o.quiet)
		link_drops(&g);
	snk_err = emit_close(&g);
	status = check_result(&g, src_err, snk_err, &why);
	traffic_close(g.traffic);
	csv_close(g.rows);
	workload_fini(&g.run);
	return status;
}
