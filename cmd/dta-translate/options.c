/* SPDX-License-Identifier: BSD-2-Clause */
/* options.c - dta-translate's command line. */
#include "options.h"
#include "roce/roce_out.h"

#include <stdlib.h>
#include <string.h>

enum {
	OPT_TICKET = 256,
	OPT_ACK_EVERY,
	OPT_WINDOW,
	OPT_ANSWERS,
	OPT_NACKS,
	OPT_OP_RATE,
	OPT_OP_BURST,
	OPT_TO,
	OPT_CLUSTER,
	OPT_STEER,
	OPT_MIRROR,
	OPT_DART,
	OPT_DART_CAS,
	OPT_SEED,
	OPT_VERBS,
};

static const struct cli_option options[] = {
	{'r', "read", "FILE", "the capture with the reports (- is stdin)"},
	{CLI_INTERFACE, "interface", "IFACE",
	 "the network interface with the reports; a filter may follow, as "
	 "with tcpdump"},
	{'R', "region", "NAME", "write into this region"},
	{OPT_TICKET, "ticket", "FILE", "the collector's ticket"},
	{OPT_VERBS, "verbs", "ADDR[:PORT]",
	 "write by this machine's RDMA device to the collector that listens "
	 "there (dta-collect --cm)"},
	{OPT_TO, "to", "IFACE",
	 "send RoCEv2 packets there (default: where reports come from)"},
	{'w', "write", "FILE", "write RoCEv2 packets to a capture"},
	{OPT_CLUSTER, "cluster", "FILE",
	 "write to the collectors of this cluster: into their regions here, "
	 "or by their tickets"},
	{OPT_STEER, "steer", "HOW",
	 "pick the collector by hash (of the key) or address (of the report)"},
	{OPT_MIRROR, "mirror", NULL, "write to the next collector, too"},
	{OPT_DART, "dart", NULL,
	 "Key-Write as DART's switches: one random copy of each report"},
	{OPT_DART_CAS, "dart-cas", NULL,
	 "the same with N = 2: slot 0, and slot 1 only if it is empty"},
	{OPT_SEED, "seed", "N", "of --dart's random copies (default 0)"},
	{'F', "format", "FORMAT",
	 "reports besides DTA/1: dta1 (none), dta0a or dta0b"},
	{'T', "table", "TABLE:FIELD=VALUE",
	 "change a table's setting for this run"},
	{OPT_ACK_EVERY, "ack-every", "N",
	 "ask for an ACK with every N-th packet (default 0: never, with a "
	 "window a quarter of it)"},
	{OPT_ANSWERS, "answers", "FILE",
	 "the collector's answers to what -w writes, from a pipe"},
	{OPT_WINDOW, "window", "N",
	 "requests of a table kept until they are confirmed (default 4096; 0: "
	 "none, hear no answers)"},
	{OPT_NACKS, "nacks", "FILE",
	 "write the NACKs of strict sequence checks to a capture"},
	{OPT_OP_RATE, "op-rate", "N",
	 "at most so many operations a second (any number)"},
	{OPT_OP_BURST, "op-burst", "N",
	 "and at once (a hundredth of it, at least 64)"},
	{CLI_COUNT, "count", "N", "stop after so many packets"},
	{CLI_DURATION, "duration", "TIME", "with -i: stop after that long"},
	{CLI_STATS, "stats", "TIME", "rates on stderr, every so often (1s)"},
	{CLI_XDP, "xdp", NULL, "receive by AF_XDP or fail"},
	{CLI_NO_XDP, "no-xdp", NULL, "receive by AF_PACKET"},
	{CLI_PROMISCUOUS, "promiscuous", NULL,
	 "take frames for other MAC addresses, too"},
	{CLI_USER, "user", "NAME", "become this user when all is open"},
	{'o', "output", "FORMAT", "ledger as text, csv or ndjson"},
	{'q', "quiet", NULL, "no ledger, no progress"},
	{0},
};

const struct cli cli = {
	.name = "dta-translate",
	.summary = "turn telemetry reports into memory operations",
	.usage = "dta-translate -r FILE --region NAME\n"
		 "dta-translate -r FILE --ticket FILE -w FILE\n"
		 "dta-translate -r FILE --verbs ADDR[:PORT]\n"
		 "dta-translate -i IFACE --region NAME [FILTER]\n"
		 "dta-translate -i IFACE --ticket FILE [--to IFACE] [FILTER]\n"
		 "dta-translate -r FILE|-i IFACE --cluster FILE [-w FILE|--to "
		 "IFACE]\n",
	.options = options,
};

static enum dta_format dta_of(const char *text)
{
	int f = dta_format_of(text);

	if (f < 0)
		cli_refuse("--format: '%s' is not dta1, dta0a or dta0b", text);
	return (enum dta_format)f;
}

static void set_dart(struct opts *o, enum dart dart)
{
	if (o->dart && o->dart != dart)
		cli_usage(&cli,
			  "only one of --dart and --dart-cas may be given");
	o->dart = dart;
}

/* DART, and several collectors. Returns whether it was one of those. */
static bool parse_dart(struct opts *o, int ch)
{
	switch (ch) {
	case OPT_CLUSTER:
		o->cluster = optarg;
		break;
	case OPT_STEER:
		o->steer_given = true;
		if (!strcmp(optarg, "address"))
			o->steer = STEER_ADDRESS;
		else if (!strcmp(optarg, "hash"))
			o->steer = STEER_HASH;
		else
			cli_refuse("--steer: '%s' is not hash or address",
				   optarg);
		break;
	case OPT_MIRROR:
		o->mirror = true;
		break;
	case OPT_DART:
		set_dart(o, DART_ONE);
		break;
	case OPT_DART_CAS:
		set_dart(o, DART_CAS);
		break;
	case OPT_SEED:
		o->seed = cli_u64("--seed", optarg, 0, UINT64_MAX);
		break;
	default:
		return false;
	}
	return true;
}

static void parse_option(struct opts *o, int ch)
{
	switch (ch) {
	case 'r':
		o->read = optarg;
		break;
	case 'R':
		o->region = optarg;
		break;
	case OPT_TICKET:
		o->ticket = optarg;
		break;
	case 'w':
		o->write = optarg;
		break;
	case OPT_NACKS:
		o->nacks = optarg;
		break;
	case OPT_OP_RATE:
		o->op_rate = cli_size("--op-rate", optarg, 1, rate_max);
		break;
	case OPT_OP_BURST:
		o->op_burst = cli_size("--op-burst", optarg, DTA_MAX_COPIES,
				       rate_max);
		break;
	case OPT_VERBS:
		o->verbs = optarg;
		break;
	case OPT_TO:
		o->to = optarg;
		break;
	case 'F':
		o->dta = dta_of(optarg);
		break;
	case 'T':
		if (o->settings == SETTINGS_MAX)
			cli_usage(&cli, "-T: more than %d", SETTINGS_MAX);
		o->setting[o->settings++] = optarg;
		break;
	case OPT_ACK_EVERY:
		o->ack_every = (unsigned)cli_size("--ack-every", optarg, 0,
						  UINT32_MAX);
		break;
	case OPT_WINDOW:
		o->window = (unsigned)cli_size("--window", optarg, 0,
					       ROCE_OUT_WINDOW_MAX);
		o->window_given = true;
		break;
	case OPT_ANSWERS:
		o->answers = optarg;
		break;
	case 'o':
		o->format = cli_format(optarg);
		break;
	case 'q':
		o->quiet = true;
		break;
	default:
		if (!parse_dart(o, ch))
			cli_live_option(&o->live, ch);
		break;
	}
}

static bool is_dash(const char *path)
{
	return path && !strcmp(path, "-");
}

static void check_target(const struct opts *o)
{
	static const char which[] =
		"one of --region, --ticket, --cluster and --verbs";
	int n = !!o->region + !!o->ticket + !!o->cluster + !!o->verbs;

	if (!n)
		cli_usage(&cli, "where do the operations go? Say %s", which);
	if (n > 1)
		cli_usage(&cli, "only %s may be given", which);
}

/* What goes together and what does not. */
static void check_options(struct opts *o)
{
	if (!o->read && !o->live.name)
		cli_usage(&cli, "-r and -i are missing: where are the "
				"reports?");
	if (o->read && o->live.name)
		cli_usage(&cli, "only one of -r and -i may be given");
	check_target(o);
	if ((o->region || o->verbs) && (o->write || o->to))
		cli_usage(&cli, "-w and --to need --ticket or --cluster");
	cli_live_check(&cli, &o->live);
	if (o->write && o->to)
		cli_usage(&cli, "only one of -w and --to may be given");
	if (o->ticket && !o->write && !o->to && !o->live.name)
		cli_usage(&cli,
			  "--ticket needs -w or --to: where do the RoCEv2 "
			  "packets go?");
	if (o->ack_every && (o->region || o->verbs))
		cli_usage(&cli,
			  "--ack-every needs --ticket or --cluster: it is "
			  "about RoCEv2 packets");
	if (o->answers && ((!o->ticket && !o->cluster) || !o->write))
		cli_usage(&cli, "--answers needs --ticket and -w");
	if (o->window_given &&
	    ((!o->ticket && !o->cluster) || (o->write && !o->answers)))
		cli_usage(&cli, "--window needs --ticket and answers: --to, or "
				"-w with --answers");
	if (!o->cluster && (o->steer_given || o->mirror))
		cli_usage(&cli, "--steer and --mirror need --cluster");
	if (is_dash(o->read) + is_dash(o->ticket) + is_dash(o->answers) > 1)
		cli_usage(&cli, "stdin cannot be two files: only one of -r, "
				"--ticket and --answers may be -");
	if (is_dash(o->write) && is_dash(o->nacks))
		cli_usage(&cli, "stdout cannot take two files: only one of -w "
				"and --nacks may be -");
	if (o->op_rate && !o->op_burst)
		o->op_burst = o->op_rate < 6400 ? 64 : o->op_rate / 100;
	if (o->op_burst && !o->op_rate)
		cli_usage(&cli, "--op-burst needs --op-rate");
	cli_apart(o->read, o->write);
	cli_apart(o->read, o->nacks);
	cli_apart(o->answers, o->write);
	cli_apart(o->answers, o->nacks);
	cli_apart(o->ticket, o->write);
	cli_apart(o->cluster, o->write);
	cli_apart(o->cluster, o->nacks);
	cli_apart(o->ticket, o->nacks);
	cli_apart(o->write, o->nacks);
}

struct opts options_read(int argc, char **argv)
{
	struct opts o = {.window = ROCE_OUT_WINDOW};
	int ch;

	while ((ch = cli_next(&cli, argc, argv)) != -1)
		parse_option(&o, ch);
	if (optind < argc && !o.live.name)
		cli_usage(&cli, "'%s': no such argument", argv[optind]);
	cli_live_filter(&o.live, argc - optind, argv + optind);
	o.live.format = o.format;
	check_options(&o);
	return o;
}
