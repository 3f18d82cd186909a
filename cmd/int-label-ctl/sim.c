/* SPDX-License-Identifier: BSD-2-Clause */
#include "netsim/rows.h"
#include "sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "reading/lines.h"
#include "cli/table.h"
#include "commands.h"

/* Captures begin here, or a little before: 2023-11-14 22:13:20 UTC. The
 * controller's intervals begin at multiples of their length; so do ours. */
static const uint64_t start_ns = 1700000000000000000;

struct sim {
	struct sim_options o;
	struct fabric fabric;
	struct netsim_loss losses[SIM_LOSSES_MAX];
	struct netsim_failure failures[SIM_FAILURES_MAX];
	struct rows *rows;
	struct snk *snk;
	struct netsim_interval sum; /* of all intervals, and of their means */
	double coverage, s_mean;
	uint64_t known, covered, active, seen;
	int err;
	struct fault fault;
};

static void add_counters(struct netsim_counters *to,
			 const struct netsim_counters *from)
{
	uint64_t *t = (uint64_t *)to;
	const uint64_t *f = (const uint64_t *)from;

	for (unsigned i = 0; i < sizeof(*to) / sizeof(*t); i++)
		t[i] += f[i];
}

static double coverage(const struct netsim_interval *v)
{
	return v->known ? 100.0 * v->covered / v->known : 0;
}

static void add(struct sim *s, const struct netsim_interval *v)
{
	add_counters(&s->sum.ctr, &v->ctr);
	for (unsigned i = 0; i < NETSIM_CARRIED; i++)
		s->sum.carried[i] += v->carried[i];
	s->sum.number++;
	s->sum.end_ns = v->end_ns;
	s->sum.generators = v->generators;
	if (v->s_max > s->sum.s_max)
		s->sum.s_max = v->s_max;
	s->coverage += coverage(v);
	s->s_mean += v->s_mean;
	s->known += v->known;
	s->covered += v->covered;
	s->active += v->active;
	s->seen += v->seen;
}

static void on_interval(void *ctx, const struct netsim_interval *v)
{
	struct sim *s = ctx;

	if (v->end_ns <= s->o.warmup_ns || !s->rows || s->err)
		return;
	if (s->o.summary)
		add(s, v);
	else
		s->err = netsim_row(s->rows, v, s->o.net.telemetry_ns,
				    coverage(v));
}

static void on_export(void *ctx, uint64_t ns, const uint8_t *frame, size_t len)
{
	struct sim *s = ctx;

	uint8_t *room = snk_room(s->snk, len);

	if (!room) {
		s->err = -errno;
		return;
	}
	memcpy(room, frame, len);
	snk_done(s->snk, len, ns);
}

static bool on_stop(void *ctx)
{
	const struct sim *s = ctx;

	return cli_stop || s->err;
}

static uint32_t mean(const struct sim *s, uint64_t sum)
{
	return (uint32_t)((sum + s->sum.number / 2) / s->sum.number);
}

/* What is not a count of what happened is a mean of the intervals. */
static void print_summary(struct sim *s)
{
	double n = (double)s->sum.number;

	if (!s->sum.number)
		return;
	s->sum.s_mean = s->s_mean / n;
	s->sum.known = mean(s, s->known);
	s->sum.covered = mean(s, s->covered);
	s->sum.active = mean(s, s->active);
	s->sum.seen = mean(s, s->seen);
	s->err = netsim_row(s->rows, &s->sum,
			    s->sum.number * s->o.net.telemetry_ns,
			    s->coverage / n);
}

static void read_routes(struct sim *s)
{
	struct lines l;
	struct fault why;
	char *text;
	size_t len;
	int rc = lines_open(&l, s->o.routes);

	s->fabric.ways = 0;
	while (rc >= 0) {
		while ((text = lines_next(&l, &len)))
			if (len && *text != '#' &&
			    fabric_add_way(&s->fabric, text, &why) < 0)
				cli_fail("%s:%ju: %s", cli_file(s->o.routes),
					 (uintmax_t)l.number, why.text);
		rc = lines_more(&l);
		if (rc == 0)
			break;
	}
	if (rc < 0)
		cli_fail("%s: %s", cli_file(s->o.routes), strerror(-rc));
	if (!s->fabric.ways)
		cli_fail("%s: no routes", cli_file(s->o.routes));
	lines_close(&l);
}

static void set_up(struct sim *s)
{
	struct netsim_options *net = &s->o.net;
	int rc = s->o.arity ? fabric_tree(&s->fabric, (unsigned)s->o.arity)
			    : fabric_paper(&s->fabric);

	if (rc < 0)
		cli_fail("%s", strerror(-rc));
	if (s->o.routes)
		read_routes(s);
	for (unsigned i = 0; i < s->o.n_lose; i++)
		s->losses[i] = sim_loss(&s->fabric, s->o.lose[i]);
	for (unsigned i = 0; i < s->o.n_fail; i++)
		s->failures[i] = sim_failure(&s->fabric, s->o.fail[i]);
	net->fabric = &s->fabric;
	net->start_ns = start_ns - start_ns % net->telemetry_ns;
	net->losses = s->losses;
	net->n_losses = s->o.n_lose;
	net->failures = s->failures;
	net->n_failures = s->o.n_fail;
}

static void open_outputs(struct sim *s)
{
	bool taken = s->o.out && !strcmp(s->o.out, "-");

	if (s->o.out && snk_open(&s->snk, s->o.out, &s->fault) < 0)
		cli_fault(s->o.out, &s->fault);
	if (taken)
		return;
	s->rows = cli_rows(s->o.fmt, &netsim_schema);
	if (!s->rows)
		cli_fail("%s", strerror(ENOMEM));
}

static void close_outputs(struct sim *s)
{
	int rc = s->snk ? snk_close(s->snk) : 0;

	if (rc < 0)
		cli_fail("%s: %s", cli_file(s->o.out), strerror(-rc));
	rows_close(s->rows);
}

static int trace(const struct sim_options *o)
{
	int rc = sim_trace(o);

	if (rc)
		cli_fail("%s: %s", cli_stdout, strerror(-rc));
	return CLI_OK;
}

int sim_main(int argc, char **argv)
{
	static struct sim s; /* a page and more */
	struct netsim_calls calls = {on_interval, NULL, on_stop, &s};
	struct netsim *net;

	sim_read(&s.o, argc, argv);
	if (s.o.trace)
		return trace(&s.o);
	set_up(&s);
	open_outputs(&s);
	if (s.snk)
		calls.export = on_export;
	cli_signals();
	if (netsim_open(&net, &s.o.net, &calls, &s.fault) < 0 ||
	    netsim_run(net, &s.fault) < 0)
		cli_fault(s.o.net.capture ? s.o.net.capture : "simulation",
			  &s.fault);
	if (s.o.summary && s.rows)
		print_summary(&s);
	if (s.err)
		cli_fail("%s: %s", s.rows ? cli_stdout : cli_file(s.o.out),
			 strerror(-s.err));
	close_outputs(&s);
	if (!s.o.quiet)
		cli_ledger(&netsim_ledger, netsim_counters(net), s.o.fmt);
	netsim_close(net);
	fabric_fini(&s.fabric);
	return CLI_OK;
}
