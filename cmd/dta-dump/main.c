/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dta-dump - show what is there: the packets of a capture, the tables of a
 * region or a snapshot, a checksum of each.
 */
#include <string.h>

#include "dump.h"

#define AT(field) CLI_AT(struct opts, field)

static int read_epoch(void *opts, const char *text, struct error *why)
{
	struct opts *o = opts;

	(void)why;
	o->all_epochs = !strcmp(text, "all");
	if (!o->all_epochs)
		o->epoch = cli_u64("--epoch", text, 1, UINT64_MAX);
	return 0;
}

static const char memory_verbs[] = "region snapshot";
static const char table_verbs[] = "region snapshot digest";

static const struct cli_option options[] = {
	{'o', "output", "FORMAT", "rows as text (default), csv or ndjson",
	 CLI_FORMAT, AT(format)},
	CLI_TIME_OPTION(.verbs = "packets regions"),
	{'c', "count", "N", "packets: the first N only", CLI_SIZE, AT(count),
	 .verbs = "packets"},
	{'F', "format", "F", "packets: dta1 (default), dta0a, dta0b", CLI_WORD,
	 AT(dta), .words = dta_format_names, .verbs = "packets"},
	{'R', "region", "NAME",
	 "packets: tables of this region; else the NAME itself", CLI_STR,
	 AT(region), .verbs = "packets region digest serve"},
	{0, "ticket", "FILE", "packets: tables of this ticket", CLI_IN,
	 AT(ticket), .verbs = "packets"},
	{'t', "table", "NAME", "this table only (name or id)", CLI_STR,
	 AT(table), .verbs = table_verbs},
	{'e', "epoch", "N", "this epoch (default: the current one), or all",
	 CLI_CALL, .read = read_epoch, .verbs = table_verbs},
	{0, "slots", NULL, "what the slots in use hold", CLI_FLAG, AT(slots),
	 .verbs = memory_verbs},
	{0, "lists", NULL, "what each Append list holds", CLI_FLAG, AT(lists),
	 .verbs = memory_verbs},
	{0, "no-load", NULL, "do not count the slots in use", CLI_FLAG,
	 AT(no_load), .verbs = "region snapshot regions"},
	{0, "snapshot", "FILE", "digest: of a snapshot", CLI_IN, AT(snapshot),
	 .verbs = "digest"},
	{0},
};

static const struct cli_group groups[] = {
	{"--region --ticket"},
	{"--slots --lists --no-load"},
	{0},
};

static const char *const verbs[] = {
	[VERB_PACKETS] = "packets",
	[VERB_REGION] = "region",
	[VERB_SNAPSHOT] = "snapshot",
	[VERB_DIGEST] = "digest",
	[VERB_SERVE] = "serve",
	[VERB_REGIONS] = "regions",
	[VERBS] = NULL,
};

static const struct cli cli = {
	.name = "dta-dump",
	.summary = "show packets, regions and snapshots",
	.usage = "dta-dump packets FILE|- [-c N] [--format F]\n"
		 "         [--region NAME | --ticket FILE]\n"
		 "dta-dump regions [--no-load]\n"
		 "dta-dump region NAME [--epoch N|all] [--table NAME]\n"
		 "         [--slots | --lists | --no-load]\n"
		 "dta-dump snapshot FILE [--epoch N|all] [--table NAME]\n"
		 "         [--slots | --lists | --no-load]\n"
		 "dta-dump digest NAME|--snapshot FILE [--epoch N|all]\n"
		 "         [--table NAME]\n"
		 "dta-dump serve NAME\n",
	.options = options,
	.groups = groups,
	.verbs = verbs,
};

static struct opts options_read(int argc, char **argv)
{
	struct opts o = {.count = UINT64_MAX};
	int n = cli_read(&cli, &o, argc, argv);

	o.verb = (enum verb)cli_verb(&cli, argv[n]);
	o.what = argv[n + 1];
	if (o.region && o.what && o.verb != VERB_PACKETS)
		cli_usage(&cli, "'%s' and --region %s: one at a time", o.what,
			  o.region);
	if (!o.what && o.verb != VERB_PACKETS && o.verb != VERB_SNAPSHOT)
		o.what = o.region;
	if (!o.what && !o.snapshot &&
	    (o.verb == VERB_REGION || o.verb == VERB_DIGEST))
		o.what = cli_env("DTA_REGION");
	if (n + 2 < argc)
		cli_usage(&cli, "'%s': one at a time", argv[n + 2]);
	if (o.verb == VERB_REGIONS && o.what)
		cli_usage(&cli, "regions shows all of them; region NAME one");
	if (!o.what && !o.snapshot && o.verb != VERB_REGIONS)
		cli_usage(&cli, "%s of what?", verbs[o.verb]);
	cli_check(&cli, &o, (int)o.verb);
	if (o.snapshot && o.what)
		cli_usage(&cli, "--snapshot FILE stands in for NAME");
	return o;
}

int main(int argc, char **argv)
{
	static int (*const dump[VERBS])(const struct opts *o) = {
		[VERB_PACKETS] = dump_packets, [VERB_REGION] = dump_memory,
		[VERB_SNAPSHOT] = dump_memory, [VERB_DIGEST] = dump_memory,
		[VERB_SERVE] = dump_serve,     [VERB_REGIONS] = dump_regions,
	};
	struct opts o;

	cli_start(&cli);
	o = options_read(argc, argv);
	cli_signals();
	return dump[o.verb](&o);
}
