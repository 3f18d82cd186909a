/* SPDX-License-Identifier: BSD-2-Clause */
/* sim.c - int-label-ctl sim: a network in virtual time. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/table.h"
#include "commands.h"
#include "label/rows.h"
#include "sim/netsim.h"
#include "sim/pint.h"
#include "packet/pkt.h"
#include "sim/traffic.h"
#include "label/label.h"

enum {
	SIM_LOSSES_MAX = 64, /* --loss */
};

struct sim_options {
	struct netsim_options net;
	const char *out;
	uint64_t arity, rate;
	uint64_t trace; /* hops: path tracing instead */
	uint64_t interval_ns, rest_ns, warmup_ns;
	double jitter; /* percent */
	const char *loss[SIM_LOSSES_MAX + 1];
	bool summary, quiet;
	enum row_format fmt;
};

/* --- the command line ----------------------------------------------------- */

#define AT(field) CLI_AT(struct sim_options, field)

/* clang-format off */
static const struct cli_option options[] = {
	{ 'a', "arity", "K", "a K-ary fat tree (the paper's network)",
	  CLI_U64, AT(arity), .min = 4, .max = TOPO_ARITY_MAX },
	{ 'S', "scheme", "SCHEME",
	  "label (default), label-flag, int, hula, int-path, pingmesh, none",
	  CLI_WORD, AT(net.scheme), .words = netsim_scheme_names },
	POLICY_OPTIONS(struct sim_options, net.policy, interval_ns, rest_ns,
		       "label label-flag"),
	{ 'P', "pro", "K",
	  "the controller moves S of ports that are silent for K intervals",
	  CLI_F64, AT(net.k), .low = 0.1, .high = 1e6, .verbs = "label" },
	{ 'T', "telemetry", "TIME", "interval of the controller's view (100ms)",
	  CLI_TIME, AT(net.telemetry_ns), .min = 1000 },
	{ 0, "rate", "PPS",
	  "packets a second, in all (625; fat trees: 25 for each port)",
	  CLI_SIZE, AT(rate), .min = 1, .max = 1000000000, .was = "-R" },
	{ 0, "flows", "N", "of a fat tree (65536)",
	  CLI_SIZE, AT(net.flows), .min = 1, .max = 1 << 30,
	  .needs = "--arity" },
	{ 0, "specific", "N", "so many flows are labelled at each hop (0)",
	  CLI_SIZE, AT(net.specific_flows), .max = 1 << 30,
	  .verbs = "label label-flag" },
	{ 0, "link-rate", "BPS", "bits a second, of each link (1G)",
	  CLI_SIZE, AT(net.link_bps), .min = 1000,
	  .max = UINT64_C(1000000000000) },
	{ 0, "port-rate", "PPS", "packets a port forwards, at most",
	  CLI_SIZE, AT(net.port_pps), .min = 1, .max = 1000000000 },
	{ 0, "port-jitter", "PERCENT",
	  "--port-rate: a packet takes so much less or more (0)",
	  CLI_F64, AT(jitter), .low = 0, .high = 100, .needs = "--port-rate" },
	{ 0, "queue", "N", "packets of a port (100)",
	  CLI_U64, AT(net.queue_max), .min = 1, .max = 1 << 20 },
	{ 0, "loss", "ID-PORT=PERCENT", "on that link; many times",
	  CLI_STRS, AT(loss), .was = "--lose" },
	{ 0, "probe-interval", "TIME", "of hula, int-path, pingmesh (100ms)",
	  CLI_TIME, AT(net.probe_ns), .min = 1000,
	  .verbs = "hula int-path pingmesh" },
	{ 0, "trace", "HOPS",
	  "path tracing instead, up to so many hops: label, int and pint",
	  CLI_U64, AT(trace), .min = 1, .max = PINT_HOPS_MAX },
	{ 'd', "duration", "TIME", "of the run (10s)",
	  CLI_TIME, AT(net.duration_ns), .min = 1000 },
	{ 0, "warmup", "TIME", "so long, nothing is printed (0)",
	  CLI_TIME, AT(warmup_ns) },
	{ 's', "seed", "S", "of all that is random (1)",
	  CLI_U64, AT(net.seed) },
	{ 0, "summary", NULL, "one row for all intervals", CLI_FLAG,
	  AT(summary) },
	{ 'w', "write", "FILE", "what last hops export, as pcap; - for stdout",
	  CLI_OUT, AT(out) },
	{ 'o', "output", "FORMAT", "text, csv or ndjson", CLI_FORMAT, AT(fmt) },
	{ 'q', "quiet", NULL, "no ledger", CLI_FLAG, AT(quiet) },
	{ 0 },
};
/* clang-format on */

static const struct cli_group groups[] = {
	{"--trace --scheme"}, {"--trace --write"},    {"--trace --arity"},
	{"--trace --rate"},   {"--trace --duration"}, {"--trace --summary"},
	{"--trace --pro"},    {"--trace --base"},     {0},
};

static const struct cli cli_sim = {
	.name = "int-label-ctl sim",
	.summary = "INT-label on a simulated network",
	.usage = "int-label-ctl sim [-a K] [-b A|B] [-t TIME] [-P K] "
		 "[-w FILE] ...\n"
		 "int-label-ctl sim --scheme hula|int-path|pingmesh|int ...",
	.options = options,
	.groups = groups,
};

/* Reads one --loss; exits if it is bad. */
static struct netsim_loss sim_loss(const struct fabric *f, const char *text)
{
	unsigned id, port;
	uint32_t at;
	double percent;
	int used = 0;

	if (sscanf(text, "%u-%u=%lf%n%%%n", &id, &port, &percent, &used,
		   &used) != 3 ||
	    text[used])
		cli_refuse("--loss: '%s' is not ID-PORT=PERCENT", text);
	if (!(percent >= 0 && percent <= 100))
		cli_refuse("--loss: '%s': a share is from 0 to 100 per cent",
			   text);
	at = fabric_find_port(f, id, port);
	if (at == FABRIC_NONE)
		cli_refuse("--loss: '%s': the network has no port %u-%u", text,
			   id, port);
	return (struct netsim_loss){at, percent / 100};
}

static void sim_read(struct sim_options *o, int argc, char **argv)
{
	struct netsim_options *net = &o->net;
	uint64_t rate;

	*o = (struct sim_options){
		.net = {.seed = 1,
			.duration_ns = 10000000000,
			.telemetry_ns = 100000000,
			.probe_ns = 100000000,
			.control_ns = 1000000,
			.delay_ns = 10000,
			.s_max = 6,
			.frame_len = 1000,
			.mtu = 1500,
			.flows = 65536,
			.link_bps = 1000000000,
			.queue_max = 100},
		.interval_ns = POLICY_INTERVAL_NS,
	};
	cli_start(&cli_sim);
	if (cli_read(&cli_sim, o, argc, argv) < argc)
		cli_usage(&cli_sim, "takes no operands");
	cli_check_named(&cli_sim, o, netsim_scheme_names[o->net.scheme]);
	if (o->net.scheme == NETSIM_PINGMESH && !o->arity)
		cli_usage(&cli_sim, "--scheme pingmesh needs --arity");
	if (o->arity % 2)
		cli_usage(&cli_sim, "--arity: %ju is odd", (uintmax_t)o->arity);
	/* At least one interval must end in the run, after --warmup. */
	if ((!o->out || strcmp(o->out, "-") != 0) && !o->trace &&
	    net->duration_ns / net->telemetry_ns * net->telemetry_ns <=
		    o->warmup_ns)
		cli_refuse("--duration: no telemetry interval ends in it%s",
			   o->warmup_ns ? " behind --warmup" : "");
	policy_set(&cli_sim, &net->policy, o->interval_ns, o->rest_ns);
	/* That of the paper, 625 over 25 ports; a tree of switches with K ports
	 * has 5/4 K^3 of them. */
	rate = o->arity ? 25 * (5 * o->arity * o->arity * o->arity / 4) : 625;
	net->rate_pps = (double)(o->rate ? o->rate : rate);
	net->adapt = net->k > 0;
	net->senders = o->arity ? 1 : 20;
	net->port_jitter = o->jitter / 100;
	net->arrivals = o->arity ? NETSIM_POISSON : NETSIM_PACED;
}

/* --- path tracing ----------------------------------------------------------
 * Of one flow (INT-label, Fig. 22): how many packets it takes to know all
 * switches of a path, and how many bits more than the packets have are on the
 * wire for it, at the last hop. */

enum {
	RUNS = 10000,	  /* of PINT */
	SWITCHES = 80,	  /* any of which a hop may be */
	PINT_BITS = 16,	  /* of a packet, INT-label, section 6.2 */
	PROBE_HEADS = 42, /* Ethernet, IPv4 and UDP of a packet of its own */
	DEVICE_BITS = 32, /* of a label: what tells the path */
};

static const struct row_field trace_fields[] = {
	{"scheme", ROW_STR, 6, ROW_TAG},
	{"hops", ROW_U64, 4, ROW_TAG},
	{"packets", ROW_F64, 8},
	{"error", ROW_F64, 9},
	{"extra_bits", ROW_F64, 10, ROW_VALUE, "bits"},
	{"path_bits", ROW_F64, 9, ROW_VALUE, "bits"},
};

static const struct schema trace_schema = LABEL_SCHEMA("label_trace",
						       trace_fields);

static void trace_row(struct rows *r, const char *scheme, unsigned hops,
		      double packets, double error, double bits,
		      double path_bits)
{
	unsigned f = 0;

	row_str(r, f++, scheme);
	row_u64(r, f++, hops);
	row_f64(r, f++, packets);
	row_f64(r, f++, error);
	row_f64(r, f++, bits);
	row_f64(r, f++, path_bits);
	cli_row_end(r);
}

/* The mean of many paths, and its standard error. */
static void trace_by_pint(struct rows *r, const struct sim_options *o,
			  unsigned hops)
{
	struct pint_options p = {hops, SWITCHES, PINT_BITS};
	struct rng rng = {.state = rng_mix(o->net.seed)};
	double sum = 0, square = 0, mean;

	for (unsigned i = 0; i < RUNS; i++) {
		unsigned wrong;
		int n = pint_trace(&p, &rng, &wrong);

		if (n <= 0)
			cli_fail("%s", n ? strerror(-n)
					 : "a path that does not come out");
		sum += n;
		square += (double)n * n;
	}
	mean = sum / RUNS;
	trace_row(r, "pint", hops, mean,
		  sqrt((square / RUNS - mean * mean) / RUNS), mean * PINT_BITS,
		  mean * PINT_BITS);
}

/* A scheme by which one packet tells the whole path; heads: extra headers. */
static void trace_whole_path(struct rows *r, const char *scheme, unsigned hops,
			     unsigned heads)
{
	unsigned option = LABEL_OPTION_LEN + heads;

	trace_row(r, scheme, hops, 1, 0, 8.0 * (option + hops * LABEL_ITEM_LEN),
		  8.0 * option + (double)hops * DEVICE_BITS);
}

static int trace_paths(const struct sim_options *o)
{
	struct rows *r = cli_rows(o->fmt, &trace_schema);

	for (unsigned hops = 1; hops <= o->trace; hops++) {
		trace_whole_path(r, "label", hops, 0);
		trace_whole_path(r, "int", hops, PROBE_HEADS);
		trace_by_pint(r, o, hops);
	}
	rows_close(r);
	return CLI_OK;
}

/* --- the simulation ------------------------------------------------------- */

static const struct row_field sim_fields[] = {
	{"interval", ROW_U64, 8},
	{"time_s", ROW_F64, 7, ROW_VALUE, "s"},
	{"coverage", ROW_F64, 8, ROW_VALUE, "ratio"},
	{"ports", ROW_U64, 5},
	{"covered", ROW_U64, 7},
	{"packets", ROW_U64, 8},
	{"labelled", ROW_U64, 8},
	{"labels", ROW_U64, 7},
	{"carried", ROW_LIST, 0, .spare = 1},
	{"items", ROW_U64, 7, .spare = 1},
	{"label_bandwidth", ROW_F64, 0, ROW_VALUE, "bit/s", .spare = 1},
	{"probe_bandwidth", ROW_F64, 0, ROW_VALUE, "bit/s", .spare = 1},
	{"overhead", ROW_F64, 0, ROW_VALUE, "ratio", .spare = 1},
	{"lost", ROW_U64, 0},
	{"loss", ROW_F64, 0, ROW_VALUE, "ratio", .spare = 1},
	{"s_max", ROW_U64, 0},
	{"commands", ROW_U64, 0, .spare = 1},
	{"probes", ROW_U64, 0, .spare = 1},
	{"generators", ROW_U64, 0, .spare = 1},
};

static const struct schema sim_schema = LABEL_SCHEMA("sim", sim_fields);

static double share_of(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

/* How many entries of carried are shown. */
static unsigned count_carried(const struct netsim_interval *v)
{
	unsigned n = TOPO_HOPS_MAX + 1;

	for (unsigned i = n; i < NETSIM_CARRIED; i++)
		if (v->carried[i])
			n = i + 1;
	return n;
}

/* An interval, or the sum of several. */
static void sim_row(struct rows *r, const struct netsim_interval *v,
		    uint64_t span_ns, double coverage)
{
	const struct netsim_counters *c = &v->ctr;
	uint64_t more = c->label_bytes + c->probe_bytes;
	double seconds = (double)span_ns / 1e9;
	unsigned f = 0;

	row_u64(r, f++, v->number);
	row_f64(r, f++, (double)v->end_ns / 1e9);
	row_f64(r, f++, coverage);
	row_u64(r, f++, v->known);
	row_u64(r, f++, v->covered);
	row_u64(r, f++, c->packets);
	row_u64(r, f++, c->labelled);
	row_u64(r, f++, c->labels);
	row_list(r, f++, v->carried, count_carried(v));
	row_u64(r, f++, c->items);
	row_f64(r, f++, (double)c->label_bytes * 8 / seconds);
	row_f64(r, f++, (double)c->probe_bytes * 8 / seconds);
	row_f64(r, f++, share_of(more, c->link_bytes - more));
	row_u64(r, f++, c->packets_lost);
	row_f64(r, f++, share_of(c->packets_lost, c->packets));
	row_u64(r, f++, v->s_max);
	row_u64(r, f++, c->raised + c->lowered);
	row_u64(r, f++, c->probes + c->copies);
	row_u64(r, f++, v->generators);
	cli_row_end(r);
}

/* Captures begin here, or a little before: 2023-11-14 22:13:20 UTC. The
 * controller's intervals begin at multiples of their length; so do ours. */
static const uint64_t start_ns = 1700000000000000000;

struct sim {
	struct sim_options o;
	struct fabric fabric;
	struct netsim_loss losses[SIM_LOSSES_MAX];
	struct rows *rows;
	struct snk *snk;
	struct netsim_interval sum; /* of all intervals, and of their means */
	double coverage;
	uint64_t known, covered;
	uint64_t reached_ns; /* end of the last interval that was simulated */
	int err;	     /* of snk */
	struct error why;
};

static void add_interval(struct sim *s, const struct netsim_interval *v)
{
	uint64_t *to = (uint64_t *)&s->sum.ctr;
	const uint64_t *from = (const uint64_t *)&v->ctr;

	for (unsigned i = 0; i < sizeof(v->ctr) / sizeof(*to); i++)
		to[i] += from[i];
	for (unsigned i = 0; i < NETSIM_CARRIED; i++)
		s->sum.carried[i] += v->carried[i];
	s->sum.number++;
	s->sum.end_ns = v->end_ns;
	s->sum.generators = v->generators;
	if (v->s_max > s->sum.s_max)
		s->sum.s_max = v->s_max;
	s->coverage += share_of(v->covered, v->known);
	s->known += v->known;
	s->covered += v->covered;
}

static void on_interval(void *ctx, const struct netsim_interval *v)
{
	struct sim *s = ctx;

	s->reached_ns = v->end_ns;
	if (v->end_ns <= s->o.warmup_ns || !s->rows || s->err)
		return;
	if (s->o.summary)
		add_interval(s, v);
	else
		sim_row(s->rows, v, s->o.net.telemetry_ns,
			share_of(v->covered, v->known));
}

static void on_export(void *ctx, uint64_t ns, const uint8_t *frame, size_t len)
{
	struct pkt p = {frame, (uint32_t)len, (uint32_t)len, ns};
	struct sim *s = ctx;
	int rc = snk_tx(s->snk, &p, 1);

	if (rc < 0)
		s->err = rc;
}

static bool on_stop(void *ctx)
{
	const struct sim *s = ctx;

	return cli_stop || s->err;
}

/* Counters are sums of all intervals; ports and coverage are means. */
static void print_summary(struct sim *s)
{
	uint64_t n = s->sum.number;

	if (!n)
		return;
	s->sum.known = (uint32_t)((s->known + n / 2) / n);
	s->sum.covered = (uint32_t)((s->covered + n / 2) / n);
	sim_row(s->rows, &s->sum, n * s->o.net.telemetry_ns,
		s->coverage / (double)n);
}

/* Makes the network, the paper's or a fat tree, and opens the outputs. */
static void set_up_run(struct sim *s)
{
	struct netsim_options *net = &s->o.net;
	int rc = s->o.arity ? fabric_tree(&s->fabric, (unsigned)s->o.arity)
			    : fabric_paper(&s->fabric);

	if (rc < 0)
		cli_fail("%s", strerror(-rc));
	for (; s->o.loss[net->n_losses]; net->n_losses++)
		s->losses[net->n_losses] = sim_loss(&s->fabric,
						    s->o.loss[net->n_losses]);
	net->fabric = &s->fabric;
	net->start_ns = start_ns - start_ns % net->telemetry_ns;
	net->losses = s->losses;
	if (s->o.out && snk_open(&s->snk, s->o.out, &s->why) < 0)
		cli_error(s->o.out, &s->why);
	if (s->o.out && !strcmp(s->o.out, "-"))
		return; /* stdout is taken */
	s->rows = cli_rows(s->o.fmt, &sim_schema);
}

int sim_main(int argc, char **argv)
{
	static struct sim s; /* too large for the stack */
	struct netsim_calls calls = {on_interval, NULL, on_stop, &s};
	const struct netsim_options *o = &s.o.net;
	struct netsim *net;
	int rc;

	sim_read(&s.o, argc, argv);
	if (s.o.trace)
		return trace_paths(&s.o);
	set_up_run(&s);
	if (s.snk)
		calls.export = on_export;
	cli_signals();
	if (netsim_open(&net, &s.o.net, &calls, &s.why) < 0 ||
	    netsim_run(net, &s.why) < 0)
		cli_error("simulation", &s.why);
	if (s.o.summary && s.rows)
		print_summary(&s);
	if (s.err)
		cli_fail("%s: %s", cli_file(s.o.out), strerror(-s.err));
	if (s.snk && (rc = snk_close(s.snk)) < 0)
		cli_fail("%s: %s", cli_file(s.o.out), strerror(-rc));
	rows_close(s.rows);
	if (cli_stop && s.reached_ns + o->telemetry_ns <= o->duration_ns)
		cli_warn("stopped at %.10g of %.10g s",
			 (double)s.reached_ns / 1e9,
			 (double)o->duration_ns / 1e9);
	if (!s.o.quiet)
		cli_ledger(&netsim_ledger, netsim_counters(net), s.o.fmt);
	netsim_close(net);
	fabric_fini(&s.fabric);
	return CLI_OK;
}
