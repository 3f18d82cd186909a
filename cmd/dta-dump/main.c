/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dta-dump - show what is there: the packets of a capture, the tables of a
 * region or a snapshot, a checksum of each.
 */
#include <string.h>

#include "dump.h"

enum {
	OPT_TICKET = 256,
	OPT_LAYOUT,
	OPT_SNAPSHOT,
	OPT_SLOTS,
	OPT_LISTS,
	OPT_NO_LOAD,
};

static const struct cli_option options[] = {
	{'o', "output", "FORMAT", "rows as text (default), csv or ndjson"},
	{'c', "count", "N", "packets: the first N only"},
	{'F', "format", "F", "packets: dta1 (default), dta0a, dta0b"},
	{'R', "region", "NAME", "packets: tables of this region"},
	{OPT_TICKET, "ticket", "FILE", "packets: tables of this ticket"},
	{OPT_LAYOUT, "layout", "FILE", "packets: tables of this layout"},
	{'t', "table", "NAME", "this table only (name or id)"},
	{'e', "epoch", "N", "this epoch (default: the current one), or all"},
	{OPT_SLOTS, "slots", NULL, "what the slots in use hold"},
	{OPT_LISTS, "lists", NULL, "entries of each list"},
	{OPT_NO_LOAD, "no-load", NULL, "do not count the slots in use"},
	{OPT_SNAPSHOT, "snapshot", "FILE", "digest: of a snapshot"},
	{0},
};

static const struct cli cli = {
	.name = "dta-dump",
	.summary = "show packets, regions and snapshots",
	.usage = "dta-dump packets FILE|- [-c N] [--format F]\n"
		 "         [--region NAME | --ticket FILE | --layout FILE]\n"
		 "dta-dump region NAME [--epoch N|all] [--table NAME]\n"
		 "         [--slots | --lists | --no-load]\n"
		 "dta-dump snapshot FILE [--epoch N|all] [--table NAME]\n"
		 "         [--slots | --lists | --no-load]\n"
		 "dta-dump digest NAME|--snapshot FILE [--epoch N|all]\n"
		 "         [--table NAME]\n"
		 "dta-dump serve NAME\n",
	.options = options,
};

static const char *const verbs[VERBS] = {
	[VERB_PACKETS] = "packets",   [VERB_REGION] = "region",
	[VERB_SNAPSHOT] = "snapshot", [VERB_DIGEST] = "digest",
	[VERB_SERVE] = "serve",
};

static void read_epoch(struct opts *o, const char *text)
{
	o->all_epochs = !strcmp(text, "all");
	if (!o->all_epochs)
		o->epoch = cli_u64("--epoch", text, 1, UINT64_MAX);
}

static void read_option(struct opts *o, int ch)
{
	int format;

	switch (ch) {
	case 'o':
		o->format = cli_format(optarg);
		break;
	case 'c':
		o->count = cli_size("--count", optarg, 0, UINT64_MAX);
		break;
	case 'F':
		format = dta_format_of(optarg);
		if (format < 0)
			cli_refuse("--format: '%s' is not dta1, dta0a or "
				   "dta0b",
				   optarg);
		o->dta = (enum dta_format)format;
		break;
	case 'R':
		o->region = optarg;
		break;
	case OPT_TICKET:
		o->ticket = optarg;
		break;
	case OPT_LAYOUT:
		o->layout = optarg;
		break;
	case OPT_SNAPSHOT:
		o->snapshot = optarg;
		break;
	case 't':
		o->table = optarg;
		break;
	case 'e':
		read_epoch(o, optarg);
		break;
	case OPT_SLOTS:
		o->slots = true;
		break;
	case OPT_LISTS:
		o->lists = true;
		break;
	case OPT_NO_LOAD:
		o->no_load = true;
		break;
	}
}

static void check_options(const struct opts *o)
{
	bool packets = o->verb == VERB_PACKETS;
	bool memory = o->verb == VERB_REGION || o->verb == VERB_SNAPSHOT;

	if (!!o->region + !!o->ticket + !!o->layout > 1)
		cli_usage(&cli, "only one of --region, --ticket, --layout may "
				"be given");
	if (!packets && (o->region || o->ticket || o->layout ||
			 o->count != UINT64_MAX || o->dta != DTA_FORMAT_1))
		cli_usage(&cli, "--count, --format, --region, --ticket and "
				"--layout are for packets");
	if ((packets || o->verb == VERB_SERVE) &&
	    (o->table || o->epoch || o->all_epochs))
		cli_usage(&cli, "%s takes no --table and no --epoch",
			  verbs[o->verb]);
	if (!memory && o->slots + o->lists + o->no_load > 0)
		cli_usage(&cli, "--slots, --lists and --no-load are for "
				"region and snapshot");
	if (o->slots + o->lists + o->no_load > 1)
		cli_usage(&cli, "only one of --slots, --lists, --no-load may "
				"be given");
	if (o->snapshot && (o->verb != VERB_DIGEST || o->what))
		cli_usage(&cli, "--snapshot FILE stands in for NAME of digest");
}

static struct opts parse(int argc, char **argv)
{
	struct opts o = {.verb = VERBS, .count = UINT64_MAX};
	int ch;

	while ((ch = cli_next(&cli, argc, argv)) != -1)
		read_option(&o, ch);
	if (optind == argc)
		cli_usage(&cli, "packets, region, snapshot, digest or serve?");
	for (int v = 0; v < VERBS; v++)
		if (!strcmp(argv[optind], verbs[v]))
			o.verb = (enum verb)v;
	if (o.verb == VERBS)
		cli_usage(&cli,
			  "'%s' is not packets, region, snapshot, "
			  "digest or serve",
			  argv[optind]);
	if (optind + 1 < argc)
		o.what = argv[optind + 1];
	if (optind + 2 < argc)
		cli_usage(&cli, "'%s': one at a time", argv[optind + 2]);
	if (!o.what && !o.snapshot)
		cli_usage(&cli, "%s of what?", verbs[o.verb]);
	check_options(&o);
	return o;
}

int main(int argc, char **argv)
{
	struct opts o;

	cli_start(&cli);
	o = parse(argc, argv);
	cli_signals();
	switch (o.verb) {
	case VERB_PACKETS:
		return dump_packets(&o);
	case VERB_DIGEST:
		return dump_digest(&o);
	case VERB_SERVE:
		return dump_serve(&o);
	default:
		return dump_memory(&o);
	}
}
