/* SPDX-License-Identifier: BSD-2-Clause */
/* options.c - dta-translate's command line. */
#include "options.h"

#include <stdlib.h>
#include <string.h>

enum {
	OPT_TICKET = 256,
	OPT_ACK_EVERY,
	OPT_NACKS,
};

static const struct cli_option options[] = {
	{'r', "read", "FILE", "the capture with the reports (- is stdin)"},
	{'R', "region", "NAME", "write into this region"},
	{OPT_TICKET, "ticket", "FILE", "the collector's ticket; needs -w"},
	{'w', "write", "FILE", "write RoCEv2 packets to a capture"},
	{'F', "format", "FORMAT",
	 "reports besides DTA/1: dta1 (none), dta0a or dta0b"},
	{'T', "table", "TABLE:FIELD=VALUE",
	 "change a table's setting for this run"},
	{OPT_ACK_EVERY, "ack-every", "N",
	 "ask for an ACK with every N-th packet (default 0: never)"},
	{OPT_NACKS, "nacks", "FILE",
	 "write the NACKs of strict sequence checks to a capture"},
	{'o', "output", "FORMAT", "ledger as text, csv or ndjson"},
	{'q', "quiet", NULL, "no ledger, no progress"},
	{0},
};

const struct cli cli = {
	.name = "dta-translate",
	.summary = "turn telemetry reports into memory operations",
	.usage = "dta-translate -r FILE --region NAME\n"
		 "dta-translate -r FILE --ticket FILE -w FILE\n",
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
	}
}

static bool is_dash(const char *path)
{
	return path && !strcmp(path, "-");
}

/* What goes together and what does not. */
static void check_options(const struct opts *o)
{
	if (!o->read)
		cli_usage(&cli, "-r is missing: where are the reports?");
	if (!o->region == !o->ticket)
		cli_usage(&cli, "one of --region and --ticket");
	if (!o->ticket != !o->write)
		cli_usage(&cli, "--ticket and -w go together");
	if (o->ack_every && !o->ticket)
		cli_usage(&cli, "--ack-every needs --ticket");
	if (is_dash(o->read) && is_dash(o->ticket))
		cli_usage(&cli, "stdin cannot be two files");
	if (is_dash(o->write) && is_dash(o->nacks))
		cli_usage(&cli, "stdout cannot take two files");
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
	if (optind < argc)
		cli_usage(&cli, "'%s': no such argument", argv[optind]);
	check_options(&o);
	return o;
}
