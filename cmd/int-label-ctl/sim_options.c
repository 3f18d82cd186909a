/* SPDX-License-Identifier: BSD-2-Clause */
/* sim_options.c - the command line of int-label-ctl sim. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "netsim/pint.h"
#include "policy.h"
#include "sim.h"
#include "wire/label.h"

#define AT(field) CLI_AT(struct sim_options, field)

static const char *const arrivals[] = {"poisson", "paced", NULL};

static int add(const char **list, unsigned *n, unsigned max, const char *text,
	       struct fault *why)
{
	if (!text) {
		*n = 0;
		return 0;
	}
	if (*n == max)
		return fault_set(why, -EINVAL, "is one more than %u", max);
	list[(*n)++] = text;
	return 0;
}

static int read_lose(void *opts, const char *text, struct fault *why)
{
	struct sim_options *o = opts;

	return add(o->lose, &o->n_lose, SIM_LOSSES_MAX, text, why);
}

static int read_fail(void *opts, const char *text, struct fault *why)
{
	struct sim_options *o = opts;

	return add(o->fail, &o->n_fail, SIM_FAILURES_MAX, text, why);
}

/* clang-format off */
static const struct cli_option options[] = {
	{ 'a', "arity", "K", "a K-ary fat tree (the paper's network)",
	  CLI_U64, AT(arity), .min = 4, .max = TOPO_ARITY_MAX },
	{ 0, "routes", "FILE", "given routes: HOST ID-PORT ..., a line each",
	  CLI_IN, AT(routes) },
	{ 'S', "scheme", "SCHEME",
	  "label (default), label-flag, int, hula, int-path, pingmesh, none",
	  CLI_WORD, AT(net.scheme), .words = netsim_scheme_names },
	POLICY_OPTIONS(struct sim_options, net.policy, interval_ns, rest_ns),
	{ 'P', "pro", NULL, "the controller moves S where ports are silent",
	  CLI_FLAG, AT(net.adapt) },
	{ 'k', "patience", "N", "with --pro: silent is above N intervals (2)",
	  CLI_F64, AT(net.k), .low = 0.1, .high = 1e6, .needs = "--pro" },
	{ 'T', "telemetry", "TIME", "interval of the controller's view (100ms)",
	  CLI_TIME, AT(net.telemetry_ns), .min = 1000 },
	{ 0, "control-delay", "TIME", "to and from the controller (1ms)",
	  CLI_TIME, AT(net.control_ns) },
	{ 'R', "rate", "PPS",
	  "packets a second, in all (625; fat trees: 25 for each port)",
	  CLI_SIZE, AT(rate), .min = 1, .max = 1000000000 },
	{ 0, "arrivals", "HOW", "poisson (fat trees), paced (routes)",
	  CLI_WORD, AT(arrivals), .words = arrivals },
	{ 0, "flows", "N", "of a fat tree (65536)",
	  CLI_SIZE, AT(flows), .min = 1, .max = 1 << 30, .needs = "--arity" },
	{ 0, "specific", "N", "so many flows are labelled at each hop (0)",
	  CLI_SIZE, AT(specific), .max = 1 << 30 },
	{ 0, "from", "CAPTURE", "the traffic of a capture, on a fat tree",
	  CLI_IN, AT(net.capture), .needs = "--arity" },
	{ 0, "link-rate", "BPS", "bits a second, of each link (1G)",
	  CLI_SIZE, AT(link_bps), .min = 1000, .max = UINT64_C(1000000000000) },
	{ 0, "port-rate", "PPS", "packets a port forwards, at most",
	  CLI_SIZE, AT(net.port_pps), .min = 1, .max = 1000000000 },
	{ 0, "port-jitter", "PERCENT",
	  "with --port-rate: a packet takes so much less or more (0)",
	  CLI_F64, AT(jitter), .low = 0, .high = 100, .needs = "--port-rate" },
	{ 0, "queue", "N", "packets of a port (100)",
	  CLI_U64, AT(queue), .min = 1, .max = 1 << 20 },
	{ 0, "lose", "ID-PORT=PERCENT", "on that link; many times",
	  CLI_CALL, .read = read_lose },
	{ 0, "fail", "ID-PORT@TIME[-TIME]", "a link fails, and recovers",
	  CLI_CALL, .read = read_fail },
	{ 0, "probe-interval", "TIME", "of hula, int-path, pingmesh (100ms)",
	  CLI_TIME, AT(net.probe_ns), .min = 1000 },
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
	{"--rate --from"},
	{"--arity --routes"},
	{"--trace --scheme"},
	{"--trace --write"},
	{"--trace --arity"},
	{"--trace --routes"},
	{"--trace --from"},
	{"--trace --rate"},
	{"--trace --duration"},
	{"--trace --summary"},
	{"--trace --pro"},
	{"--trace --base"},
	{0},
};

static const struct cli cli_sim = {
	.name = "int-label-ctl sim",
	.summary = "INT-label on a simulated network",
	.usage = "int-label-ctl sim [-a K] [-b A|B] [-t TIME] [--pro] "
		 "[-w FILE] ...\n"
		 "int-label-ctl sim --scheme hula|int-path|pingmesh|int ...",
	.options = options,
	.groups = groups,
};

/* A port of the network; exits where there is none. */
static uint32_t find_port(const struct fabric *f, const char *option,
			  const char *text, unsigned id, unsigned port)
{
	uint32_t p = fabric_find(f, id, port);

	if (p == FABRIC_NONE)
		cli_refuse("--%s: '%s': the network has no port %u-%u", option,
			   text, id, port);
	return p;
}

struct netsim_loss sim_loss(const struct fabric *f, const char *text)
{
	unsigned id, port;
	double percent;
	int used = 0;

	if (sscanf(text, "%u-%u=%lf%n", &id, &port, &percent, &used) != 3 ||
	    text[used])
		cli_refuse("--lose: '%s' is not ID-PORT=PERCENT", text);
	if (!(percent >= 0 && percent <= 100))
		cli_refuse("--lose: '%s': a share is from 0 to 100 per cent",
			   text);
	return (struct netsim_loss){find_port(f, "lose", text, id, port),
				    percent / 100};
}

/* A time as options have it. */
static bool read_time(uint64_t *ns, const char *text)
{
	static const struct cli_option o = {
		0, "fail", "TIME", NULL, CLI_TIME, .width = sizeof(*ns)};
	struct fault why;

	return cli_set(&o, ns, text, &why) == 0;
}

struct netsim_failure sim_failure(const struct fabric *f, const char *text)
{
	struct netsim_failure x = {FABRIC_NONE, 0, 0};
	char down[32] = "", up[32] = "";
	unsigned id, port;

	if (sscanf(text, "%u-%u@%31[^-]-%31s", &id, &port, down, up) < 3 ||
	    !read_time(&x.down_ns, down) || (*up && !read_time(&x.up_ns, up)))
		cli_refuse("--fail: '%s' is not ID-PORT@TIME[-TIME]", text);
	if (*up && x.up_ns <= x.down_ns)
		cli_refuse("--fail: '%s': it recovers before it fails", text);
	x.port = find_port(f, "fail", text, id, port);
	return x;
}

/* What a scheme does not look at is refused. */
static void check_scheme(const struct sim_options *o)
{
	static const unsigned pro = 1 << NETSIM_LABEL,
			      label = pro | 1 << NETSIM_FLAG,
			      probes = 1 << NETSIM_HULA | 1 << NETSIM_INT_PATH |
				       1 << NETSIM_PINGMESH;
	const struct {
		const char *name;
		unsigned schemes;
	} of[] = {
		{"--base", label},     {"--chance", label},
		{"--rest", label},     {"--pro", pro},
		{"--specific", label}, {"--probe-interval", probes},
	};

	for (unsigned i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		if (cli_text(&cli_sim, of[i].name) &&
		    !(of[i].schemes >> o->net.scheme & 1))
			cli_usage(&cli_sim, "%s is nothing to --scheme %s",
				  of[i].name,
				  netsim_scheme_names[o->net.scheme]);
	if (o->net.scheme == NETSIM_PINGMESH && !o->arity)
		cli_usage(&cli_sim, "--scheme pingmesh needs --arity");
}

/* Intervals that are over by the end, and are not left out. */
static void check_time(const struct sim_options *o)
{
	uint64_t each = o->net.telemetry_ns;
	bool rows = !o->out || strcmp(o->out, "-") != 0;

	if (rows && !o->trace &&
	    o->net.duration_ns / each * each <= o->warmup_ns)
		cli_refuse("--duration: no telemetry interval ends in it%s",
			   o->warmup_ns ? " behind --warmup" : "");
}

/* That of the paper, 625 over 25 ports; a tree of switches with K ports has
 * 5/4 K^3 of them. */
static uint64_t default_rate(const struct sim_options *o)
{
	return o->arity ? 25 * (5 * o->arity * o->arity * o->arity / 4) : 625;
}

static void settle(struct sim_options *o)
{
	policy_set(&cli_sim, &o->net.policy, o->interval_ns, o->rest_ns);
	o->net.rate = (double)(o->rate ? o->rate : default_rate(o));
	o->net.link_bps = o->link_bps;
	o->net.queue = (uint32_t)o->queue;
	o->net.senders = o->arity ? 1 : 20;
	o->net.flows = (uint32_t)o->flows;
	o->net.specific = (uint32_t)o->specific;
	o->net.port_jitter = o->jitter / 100;
	o->net.arrivals = cli_text(&cli_sim, "--arrivals") ? o->arrivals
			  : o->arity			   ? NETSIM_POISSON
							   : NETSIM_PACED;
	if (o->arity % 2)
		cli_usage(&cli_sim, "--arity: %ju is odd", (uintmax_t)o->arity);
}

void sim_read(struct sim_options *o, int argc, char **argv)
{
	*o = (struct sim_options){
		.net = {.seed = 1,
			.duration_ns = 10000000000,
			.telemetry_ns = 100000000,
			.probe_ns = 100000000,
			.control_ns = 1000000,
			.delay_ns = 10000,
			.reroute_ns = 50000000,
			.k = 2,
			.s_max = 6,
			.packet = 1000,
			.mtu = 1500,
			.policy = policy_default},
		.interval_ns = POLICY_INTERVAL_NS,
		.flows = 65536,
		.link_bps = 1000000000,
		.queue = 100,
	};
	cli_start(&cli_sim);
	if (cli_read(&cli_sim, o, argc, argv) < argc)
		cli_usage(&cli_sim, "takes no operands");
	cli_check(&cli_sim, o, -1);
	check_scheme(o);
	check_time(o);
	settle(o);
}
