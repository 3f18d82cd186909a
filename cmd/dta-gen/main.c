/* SPDX-License-Identifier: BSD-2-Clause */
/* dta-gen - make DTA reports, synthetic or out of a capture. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "emit.h"
#include "input.h"
#include "int.h"
#include "link.h"
#include "cli/table.h"

enum {
	CLOCK_EVERY = 1024, /* packets */
};

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

static int list(enum row_format fmt)
{
	struct rows *r = cli_rows(fmt, &workload_rows);
	int rc = 0;

	if (!r)
		cli_fail("out of memory");
	for (unsigned i = 0; i < n_workloads && rc == 0; i++) {
		const struct workload *w = &workloads[i];
		bool append = w->kind == DTA_APPEND;

		row_str(r, 0, w->name);
		row_str(r, 1, dta_opcode_name(w->kind));
		row_str(r, 2, append ? "list" : key_type_name(w->key[0]));
		row_u64(r, 3, w->value[0]);
		row_str(r, 4, append ? "list" : key_type_name(w->key[1]));
		row_u64(r, 5, w->value[1]);
		row_str(r, 6, w->system);
		rc = row_end(r);
	}
	rows_close(r);
	return rc;
}

static void show(struct gen *g)
{
	const struct resend_ledger *sent = link_ledger(g);

	if (g->o.quiet)
		return;
	cli_ledger(&gen_ledger, &g->ctr, g->o.output);
	if (sent)
		cli_ledger(&resend_ledger, sent, g->o.output);
}

static void progress(const struct gen *g, const struct traffic *t)
{
	struct cli_progress p = {
		.unit = "reports",
		.count = g->ctr.reports,
		.count_all = g->o.count,
		.limit_ns = g->o.duration_ns,
	};

	if (g->o.from) {
		p.bytes = traffic_done(t);
		p.bytes_all = traffic_size(t);
	} else if (!g->o.repeat) {
		p.unit = "flows";
		p.count = traffic_done(t);
		p.count_all = traffic_size(t);
	}
	cli_progress(&p);
}

/* Every packet to the workload. Returns 0 or the source's -errno. */
static int run(struct gen *g, struct traffic *t, struct fault *f)
{
	struct traffic_packet p;
	uint64_t next = CLOCK_EVERY;
	int rc = 1;

	while (!g->err && !g->done && !cli_stop) {
		if (cli_report) {
			cli_report = 0;
			show(g);
		}
		rc = traffic_next(t, &p, f);
		if (rc == -EINTR)
			rc = 1;
		else if (rc <= 0)
			break;
		else
			workload_packet(&g->run, &p);
		if (g->ctr.traffic.packets < next)
			continue;
		next = g->ctr.traffic.packets + CLOCK_EVERY;
		link_clock(g);
		if (!g->o.quiet)
			progress(g, t);
	}
	if (!g->o.quiet)
		cli_progress_end();
	workload_end(&g->run);
	link_finish(g);
	return rc < 0 ? rc : 0;
}

/* Tells what could not be done; returns the exit status. */
static int judge(const struct gen *g, int src_err, int snk_err,
		 const struct fault *f)
{
	int err = g->err ? g->err : snk_err;

	if (src_err)
		cli_warn_fault(g->o.from, f);
	if (err)
		cli_warn("%s: %s", g->o.out ? g->o.out : g->o.live.name,
			 strerror(-err));
	if (g->truth_err)
		cli_warn("%s: %s", g->o.truth, strerror(-g->truth_err));
	return src_err || err || g->truth_err ? CLI_FAIL : CLI_OK;
}

static void take(void *ctx, struct dta_report *r, bool v6, unsigned reporter,
		 uint64_t ts_ns)
{
	emit(ctx, r, v6, reporter, ts_ns);
}

static void start(struct gen *g, const struct settings *s)
{
	g->o = s->gen;
	g->run = (struct workload_run){
		.w = s->workload,
		.o = s->gen.work,
		.ctr = &g->ctr.work,
		.traffic = &g->ctr.traffic,
		.emit = take,
		.ctx = g,
	};
	topo_fat_tree(&g->run.topology, (unsigned)g->o.arity,
		      (unsigned)g->o.hops);
}

int main(int argc, char **argv)
{
	struct fault fault = {""};
	struct traffic *t = NULL;
	struct settings s;
	struct gen g = {0};
	int src_err, snk_err, status;

	if (argc > 1 && !strcmp(argv[1], "int"))
		return int_main(argc - 1, argv + 1);
	options_read(&s, argc, argv);
	if (s.list)
		return list(s.gen.output) < 0 ? CLI_FAIL : CLI_OK;
	options_check(&s);
	start(&g, &s);
	cli_signals();
	cli_user_check(g.o.live.user);
	if (input_open(&t, &g, &fault) < 0)
		cli_fault(g.o.from ? g.o.from : "traffic", &fault);
	if (workload_start(&g.run) < 0)
		cli_fail("out of memory");
	if (emit_open(&g, &fault) < 0)
		cli_fail("%s", fault.text);
	cli_user(g.o.live.user);
	src_err = run(&g, t, &fault);
	show(&g);
	if (!g.o.quiet)
		link_drops(&g);
	snk_err = emit_close(&g);
	status = judge(&g, src_err, snk_err, &fault);
	traffic_close(t);
	workload_fini(&g.run);
	return status;
}
