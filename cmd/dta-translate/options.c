/* SPDX-License-Identifier: BSD-2-Clause */
/* options.c - dta-translate's command line. */
#include "options.h"

#include <stdlib.h>
#include <string.h>

enum {
	OPT_TICKET = 256,
	OPT_ACK_EVERY,
	OPT_NACKS,
	OPT_OP_RATE,
	OPT_OP_BURST,
	OPT_TO,
};

static const struct cli_option options[] = {
	{'r', "read", "FILE", "the capture with the reports (- is stdin)"},
	{CLI_INTERFACE, "interface", "IFACE",
	 "the network interface with the reports; a filter may follow, as "
	 "with tcpdump"},
	{'R', "region", "NAME", "write into this region"},
	{OPT_TICKET, "ticket", "FILE", "the collector's ticket"},
	{OPT_TO, "to", "IFACE",
	 "send RoCEv2 packets there (default: where reports come from)"},
	{'w', "write", "FILE", "write RoCEv2 packets to a capture"},
	{'F', "format", "FORMAT",
	 "reports besides DTA/1: dta1 (none), dta0a or dta0b"},
	{'T', "table", "TABLE:FIELD=VALUE",
	 "change a table's setting for this run"},
	{OPT_ACK_EVERY, "ack-every", "N",
	 "ask for an ACK with every N-th packet (default 0: never)"},
	{OPT_NACKS, "nacks", "FILE",
	 "write the NACKs of strict sequence checks to a capture"},
	{OPT_OP_RATE, "op-rate", "N",
	 "at most so many operations a second (any number)"},
	{OPT_OP_BURST, "op-burst", "N",
	 "and at once (a hundredth of it, at least 64)"},
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
		 "dta-translate -i IFACE --region NAME [FILTER]\n"
		 "dta-translate -i IFACE --ticket FILE [--to IFACE] [FILTER]\n",
	.options = options,
};

static enum dta_format dta_of(const char *text)
{
	int f = dta_format_of(text);

	if (f < 0)
		cli_refuse("--format: '%s' is not dta1, dta0a or dta0b", text);
	return (enum dta_format)f;
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
		o->op_rate = cli_u64("--op-rate", optarg, 1, rate_max);
		break;
	case OPT_OP_BURST:
		o->op_burst = cli_u64("--op-burst", optarg, DTA_MAX_COPIES,
				      rate_max);
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
		o->ack_every = (unsigned)cli_u64("--ack-every", optarg, 0,
						 UINT32_MAX);
		break;
	case 'o':
		o->format = cli_format(optarg);
		break;
	case 'q':
		o->quiet = true;
		break;
	default:
		cli_live_option(&o->live, ch);
		break;
	}
}

static bool is_dash(const char *path)
{
	return path && !strcmp(path, "-");
}

/* What goes together and what does not. */
static void check_options(struct opts *o)
{
	if (!o->read && !o->live.name)
		cli_usage(&cli, "-r and -i are missing: where are the "
				"reports?");
	if (o->read && o->live.name)
		cli_usage(&cli, "one of -r and -i");
	if (!o->region == !o->ticket)
		cli_usage(&cli, "one of --region and --ticket");
	if (!o->ticket && (o->write || o->to))
		cli_usage(&cli, "-w and --to need --ticket");
	if (o->write && o->to)
		cli_usage(&cli, "one of -w and --to");
	if (o->ticket && !o->write && !o->to && !o->live.name)
		cli_usage(&cli, "--ticket needs -w or --to");
	if (o->ack_every && !o->ticket)
		cli_usage(&cli, "--ack-every needs --ticket");
	if (is_dash(o->read) && is_dash(o->ticket))
		cli_usage(&cli, "stdin cannot be two files");
	if (is_dash(o->write) && is_dash(o->nacks))
		cli_usage(&cli, "stdout cannot take two files");
	if (o->op_rate && !o->op_burst)
		o->op_burst = o->op_rate < 6400 ? 64 : o->op_rate / 100;
	if (o->op_burst && !o->op_rate)
		cli_usage(&cli, "--op-burst needs --op-rate");
	cli_apart(o->read, o->write);
	cli_apart(o->read, o->nacks);
	cli_apart(o->ticket, o->write);
	cli_apart(o->ticket, o->nacks);
	cli_apart(o->write, o->nacks);
}

struct opts options_read(int argc, char **argv)
{
	struct opts o = {0};
	int ch;

	while ((ch = cli_next(&cli, argc, argv)) != -1)
		parse_option(&o, ch);
	if (optind < argc && !o.live.name)
		cli_usage(&cli, "'%s': no such argument", argv[optind]);
	cli_live_filter(&o.live, argc - optind, argv + optind);
	check_options(&o);
	return o;
}
