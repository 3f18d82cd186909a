/* SPDX-License-Identifier: BSD-2-Clause */
/* int_options.c - the command line of dta-gen int. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "gen.h"
#include "int.h"
#include "profile/profile.h"

#define AT(field) CLI_AT(struct int_options, field)

static const char *const forms[] = {"md", "mx", "report", "xd", "ioam", NULL};
static const char *const overs[] = {"l4",     "udp", "new-udp", "vxlan",
				    "geneve", "gre", NULL};

static int read_instructions(void *opts, const char *text, struct fault *why)
{
	struct int_options *o = opts;

	if (!text_number(&o->instructions, text, 0xffffff) || !o->instructions)
		return fault_set(why, -EINVAL,
				 "is no bitmap: 0xfd00, of 16 bits; for IOAM "
				 "24");
	o->has_instructions = true;
	return 0;
}

static int read_collector(void *opts, const char *text, struct fault *why)
{
	uint8_t ip[16];

	if (text_ip(ip, text) != 4)
		return fault_set(why, -EINVAL, "is not an IPv4 address");
	memcpy(((struct int_options *)opts)->collector, ip, 4);
	return 0;
}

/* clang-format off */
static const struct cli_option options[] = {
	{ 'F', "format", "FORMAT",
	  "packets with md (default), mx or ioam; or reports: report (of the "
	  "sink), xd (of each node)",
	  CLI_WORD, AT(form), .words = forms },
	{ 'p', "profile", "NAME|FILE", "how the network speaks INT (2.1)",
	  CLI_STR, AT(profile) },
	{ 0, "over", "WHAT",
	  "where INT is: l4, udp, new-udp, vxlan, geneve, gre (l4 by DSCP)",
	  CLI_WORD, AT(over), .words = overs },
	{ 0, "instructions", "BITMAP",
	  "what nodes say, bit 0 the most significant (0xfd00; IOAM: 0xf20000)",
	  CLI_CALL, .read = read_instructions },
	{ 'n', "flows", "N", "synthetic flows (1000)",
	  CLI_SIZE, AT(flows), .min = 1, .max = TRAFFIC_COUNT_MAX },
	{ 'f', "from", "CAPTURE", "put it into the packets of a capture",
	  CLI_IN, AT(from) },
	{ 'c', "count", "N", "stop after N packets; synthetic flows repeat",
	  CLI_SIZE, AT(count), .min = 1, .max = TRAFFIC_COUNT_MAX },
	{ 's', "seed", "S", "seed of all that is random (1)",
	  CLI_U64, AT(seed) },
	{ 'w', "write", "FILE", "where frames go, as pcap; - for stdout",
	  CLI_OUT, AT(out) },
	{ 'i', "interface", "IFACE", "send them there",
	  CLI_STR, AT(live.name) },
	CLI_XDP_OPTIONS(struct int_options, live, "xdp", "send", "-i"),
	{ 't', "truth", "FILE", "write what was said, as CSV; - for stdout",
	  CLI_OUT, AT(truth) },
	{ 'R', "rate", "PPS", "synthetic packets a second (1000000); -i: of "
	  "frames", CLI_SIZE, AT(rate), .min = 1, .max = 1000000000 },
	{ 0, "hops", "H", "nodes on each path, 1 to 32 (the fat tree's)",
	  CLI_U64, AT(hops), .min = 1, .max = INBAND_HOPS_MAX },
	{ 0, "switches", "N", "with --hops: in the network (80)",
	  CLI_U64, AT(switches), .min = 1, .max = 1 << 20, .needs = "--hops" },
	{ 0, "spikes", "N",
	  "steady values, but for N packets a second ten times as long at a "
	  "node",
	  CLI_U64, AT(spikes), .max = 1000000000 },
	{ 0, "loss", "PERCENT", "of frames (0)",
	  CLI_F64, AT(loss), .low = 0, .high = 100 },
	{ 0, "data", "BYTES", "of synthetic packets, at most (64)",
	  CLI_U64, AT(data), .max = 9000 },
	{ 0, "unfilled", "N",
	  "IOAM: room for N nodes, which routers on the way fill",
	  CLI_U64, AT(unfilled), .min = 1, .max = IOAM_NODES_MAX,
	  .needs = "--format" },
	{ 0, "src", "IP", "all synthetic flows are between this one",
	  CLI_STR, AT(src), .needs = "--dst" },
	{ 0, "dst", "IP", "and that one, IPv4 or IPv6",
	  CLI_STR, AT(dst), .needs = "--src" },
	{ 0, "to-mac", "MAC", "with -i: who takes the frames",
	  CLI_STR, AT(to_mac), .needs = "-i" },
	{ 0, "ipv6", "PERCENT", "share of IPv6 among synthetic flows (0)",
	  CLI_U64, AT(ipv6), .max = 100 },
	{ 'C', "collector", "IP", "where reports go (10.0.0.51)",
	  CLI_CALL, .read = read_collector },
	CLI_USER_OPTION(struct int_options, live, NULL),
	{ 'o', "output", "FORMAT", "ledger as text, csv, ndjson",
	  CLI_FORMAT, AT(output) },
	{ 'q', "quiet", NULL, "no ledger, no progress", CLI_FLAG, AT(quiet) },
	{ 0 },
};
/* clang-format on */

static const struct cli_group groups[] = {
	{"-w -i", .ask = "where shall the frames go?"},
	CLI_SOCKET_GROUP,
	{"--flows --from"},
	{"--src --from"},
	{"--src --ipv6"},
	{"--unfilled --truth", .why = "what routers say is not known here"},
	{"--unfilled --hops"},
	{0},
};

static const struct cli cli_int = {
	.name = "dta-gen int",
	.summary = "make packets with in-band telemetry, and reports of it",
	.usage = "dta-gen int [--format md|mx|ioam|report|xd] [--profile "
		 "NAME|FILE]\n"
		 "        [--flows N | --from CAPTURE] [--hops H] [--truth "
		 "FILE] "
		 "-w FILE|-\n"
		 "dta-gen int ... [--rate PPS] -i IFACE",
	.options = options,
	.groups = groups,
};

/* That of --profile: one that ships, or a file. */
static void choose_profile(struct int_gen *g)
{
	const struct int_profile *p = int_profile_named(g->o.profile);
	struct fault f = {0};

	if (p)
		g->profile = *p;
	else if (profile_read(&g->profile, g->o.profile, &f) < 0)
		cli_fail("--profile: %s; int-collect -p help has those "
			 "that need no file",
			 f.text);
	if (g->profile.version == INT_ANY)
		cli_refuse("--profile: '%s' does not say which version to "
			   "make; 2.1 does",
			   g->o.profile);
}

/* INT 0.5 and 1.0 have INT-MD, over TCP, UDP, VXLAN-GPE and Geneve. */
static void check_version(const struct int_gen *g)
{
	const struct int_options *o = &g->o;
	bool newer = o->over == INT_OVER_UDP || o->over == INT_OVER_NEW_UDP ||
		     o->over == INT_OVER_GRE;

	if (g->profile.version >= INT_V2_0)
		return;
	if (o->form == FORM_MX)
		cli_refuse(
			"--format: mx is not in INT %s; --profile 2.1 has it",
			profile_versions[g->profile.version]);
	if (newer && (o->form == FORM_MD || o->form == FORM_REPORT))
		cli_refuse("--over: %s is not in INT %s; --profile 2.1 has it",
			   overs[o->over],
			   profile_versions[g->profile.version]);
}

/* What the network says; exits where it cannot. */
static void plans(struct int_gen *g)
{
	struct int_options *o = &g->o;

	choose_profile(g);
	check_version(g);
	g->report_version = g->profile.version < INT_V2_0 ? g->profile.version
							  : 2;
	if (!o->has_instructions)
		o->instructions = o->form == FORM_IOAM ? 0xf20000 : 0xfd00;
	if (o->form != FORM_IOAM && o->unfilled)
		cli_refuse("--unfilled: only --format ioam leaves room");
	if (o->form != FORM_IOAM && o->instructions > 0xffff)
		cli_refuse("--instructions: 0x%" PRIx64 " has more than 16 "
			   "bits",
			   o->instructions);
	treport_init(&g->reports, &g->profile);
	ioam_init(&g->traces, &g->profile);
	if (o->form == FORM_IOAM)
		int_plan_of(&g->plan, g->traces.words, IOAM_BITS,
			    (uint32_t)o->instructions);
	else
		int_plan_of(&g->plan, g->profile.instruction, INT_BITMAP_BITS,
			    (uint32_t)o->instructions);
}

/* Metadata of reports: what is asked for, as far as the version has it. */
static void own_plan(struct int_gen *g)
{
	const struct int_word *w = g->report_version == 1 ? g->profile.report1
							  : g->profile.report2;
	unsigned bits = g->report_version == 1 ? TREPORT_V1_BITS
					       : INT_BITMAP_BITS;

	if (g->report_version == 0) {
		g->own = g->reports.local;
		g->bits = TREPORT_LOCAL;
		return;
	}
	for (unsigned i = 0; i < bits; i++)
		if (w[i].len && g->plan.has >> w[i].part[0].field & 1 &&
		    w[i].part[0].field != INT_DROP_REASON &&
		    w[i].part[1].field != INT_DROP_REASON)
			g->bits |= (uint16_t)(1u << (bits - 1 - i));
	int_plan_of(&g->own, w, bits, g->bits);
}

/* Who talks to whom, by way of whom. */
static void addresses(struct int_gen *g)
{
	const struct int_options *o = &g->o;
	struct traffic_ends *e = &g->ends;

	if (o->src) {
		e->version = text_ip(e->src, o->src);
		if (!e->version || text_ip(e->dst, o->dst) != e->version)
			cli_refuse("--src, --dst: '%s' and '%s' are not two IP "
				   "addresses of one version",
				   o->src, o->dst);
	}
	if (o->to_mac && !text_mac(g->to_mac, o->to_mac))
		cli_refuse("--to-mac: '%s' is not a MAC address", o->to_mac);
}

static void set_model(struct int_gen *g)
{
	const struct int_options *o = &g->o;
	struct inband_options m = {
		.seed = o->seed,
		.hops = (unsigned)o->hops,
		.steady = o->spikes != UINT64_MAX,
		.spikes = o->spikes,
	};

	topo_fat_tree(&m.topology, GEN_ARITY, 0);
	if (o->switches)
		m.topology.switches = (unsigned)o->switches;
	if (m.hops > m.topology.switches)
		cli_refuse("--hops: %u is more than there are switches, %u",
			   m.hops, m.topology.switches);
	inband_init(&g->model, &m);
}

void int_options_read(struct int_gen *g, int argc, char **argv)
{
	struct int_options *o = &g->o;
	int n;

	*o = (struct int_options){
		.profile = "2.1",
		.flows = 1000,
		.seed = SYNTH_SEED_DEFAULT,
		.spikes = UINT64_MAX,
		.data = 64,
		.collector = {10, 0, 0, 51},
	};
	cli_start(&cli_int);
	n = cli_read(&cli_int, o, argc, argv);
	if (n < argc)
		cli_usage(&cli_int, "'%s': no such argument", argv[n]);
	cli_check(&cli_int, o, -1);
	o->live.format = o->output;
	plans(g);
	own_plan(g);
	addresses(g);
	set_model(g);
	g->pace = (struct cli_pace){
		.rate = o->live.name ? (double)o->rate : 0,
	};
}
