/* SPDX-License-Identifier: BSD-2-Clause */
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum {
	OPT_SNAPSHOT = 256,
	OPT_AS,
	OPT_PARTIAL,
	OPT_SUMMARY,
	OPT_LAST,
	OPT_FROM,
	OPT_COUNT_ONLY,
	OPT_TRUTH,
	OPT_BY_TABLE,
	OPT_LIST_WRONG,
	OPT_CLUSTER,
	OPT_SSH,
	OPT_VERBS,
};

static const struct cli_option options[] = {
	{'R', "region", "NAME", "ask this region"},
	{OPT_VERBS, "verbs", "ADDR[:PORT]",
	 "ask the region of this collector, with RDMA READ"},
	{OPT_SNAPSHOT, "snapshot", "FILE",
	 "ask this snapshot; several, and beside a region: after it"},
	{OPT_CLUSTER, "cluster", "FILE",
	 "ask the collectors of this cluster: each key its owner"},
	{OPT_SSH, "ssh", "COMMAND",
	 "what reaches other machines (default ssh)"},
	{'t', "table", "NAME", "ask this table (name or id)"},
	{'e', "epoch", "N[-M]", "ask these epochs only (0: all)"},
	{'n', "copies", "N", "slots to read for a key, 1..4"},
	{'p', "policy", "P", "plurality (default), first, unique, consensus:T"},
	{OPT_PARTIAL, "partial", NULL, "path: paths with holes, too"},
	{'k', "keys", "FILE", "keys from a file, one a line (- is stdin)"},
	{OPT_AS, "as", "TYPE",
	 "show values as hex (default), u32, u32s, text, a key type..."},
	{'o', "output", "FORMAT", "rows as text (default), csv or ndjson"},
	{OPT_SUMMARY, "summary", NULL, "one row: asked, found, not found"},
	{'q', "quiet", NULL, "no closing lines on standard error"},
	{'f', "follow", NULL, "list: new entries as they come"},
	{OPT_LAST, "last", "N", "list: the newest N entries of each list"},
	{OPT_FROM, "from", "INDEX", "list: from this entry on"},
	{OPT_COUNT_ONLY, "count-only", NULL,
	 "list: entries written, kept and lost of each list"},
	{OPT_TRUTH, "truth", "FILE", "verify: what was reported (CSV)"},
	{OPT_BY_TABLE, "by-table", NULL, "verify: a row for each table"},
	{OPT_LIST_WRONG, "list-wrong", NULL,
	 "verify: the keys that are not right instead"},
	{'i', "interactive", NULL, "a shell"},
	{0},
};

const struct cli cli = {
	.name = "dta-query",
	.summary = "ask a collector's memory",
	.usage = "dta-query keywrite|path|count|list\n"
		 "          (--region NAME | --snapshot FILE) [--table NAME]\n"
		 "          [--copies N] [--policy P] [KEY... | --keys FILE]\n"
		 "dta-query verify (--region NAME | --snapshot FILE)\n"
		 "          --truth FILE\n"
		 "dta-query -i (--region NAME | --snapshot FILE)\n"
		 "dta-query SUBCOMMAND (--verbs ADDR | --cluster FILE) ...\n",
	.options = options,
};

static const char *const verbs[] = {
	[VERB_KEYWRITE] = "keywrite", [VERB_PATH] = "path",
	[VERB_LIST] = "list",	      [VERB_COUNT] = "count",
	[VERB_VERIFY] = "verify",
};

enum verb verb_of(const char *name)
{
	for (int v = VERB_KEYWRITE; v <= VERB_VERIFY; v++)
		if (!strcmp(name, verbs[v]))
			return (enum verb)v;
	return VERB_NONE;
}

const char *verb_name(enum verb v)
{
	return verbs[v];
}

bool epochs_of(struct epochs *e, const char *text)
{
	const char *p = text;

	*e = (struct epochs){.until = UINT64_MAX};
	if (!text || !strcmp(text, "0"))
		return true;
	e->text = text;
	if (!strcmp(text, "-"))
		return false;
	if (*p != '-') {
		p = text_digits(&e->from, p, UINT64_MAX);
		e->until = e->from;
	}
	if (p && *p == '-') {
		e->until = UINT64_MAX;
		if (*++p)
			p = text_digits(&e->until, p, UINT64_MAX);
	}
	return p && !*p && e->until && e->from <= e->until;
}

static void add_snapshot(struct opts *o, const char *path)
{
	if (o->from.snapshots == SNAPSHOTS_MAX)
		cli_usage(&cli, "--snapshot: more than %d", SNAPSHOTS_MAX);
	o->snapshot[o->from.snapshots++] = path;
}

/* Options of single subcommands. */
static void read_special(struct opts *o, int ch)
{
	switch (ch) {
	case 'f':
		o->follow = true;
		break;
	case OPT_LAST:
		o->last = cli_size("--last", optarg, 0, UINT64_MAX);
		o->last_given = true;
		break;
	case OPT_FROM:
		o->first = cli_size("--from", optarg, 0, UINT64_MAX);
		o->from_given = true;
		break;
	case OPT_COUNT_ONLY:
		o->count_only = true;
		break;
	case OPT_TRUTH:
		o->truth = optarg;
		break;
	case OPT_BY_TABLE:
		o->by_table = true;
		break;
	case OPT_LIST_WRONG:
		o->list_wrong = true;
		break;
	case 'i':
		o->interactive = true;
		break;
	case OPT_CLUSTER:
		o->from.cluster.cluster = optarg;
		break;
	case OPT_SSH:
		o->from.cluster.ssh = optarg;
		break;
	case OPT_VERBS:
		o->from.verbs = optarg;
		break;
	}
}

static void read_option(struct opts *o, int ch)
{
	switch (ch) {
	case 'R':
		o->from.region = optarg;
		break;
	case OPT_SNAPSHOT:
		add_snapshot(o, optarg);
		break;
	case 't':
		o->table = optarg;
		break;
	case 'e':
		if (!epochs_of(&o->from.only, optarg))
			cli_refuse("--epoch: '%s' is not N, N-M, N- or -M",
				   optarg);
		break;
	case 'n':
		o->rule.copies = (uint8_t)cli_u64("--copies", optarg, 1,
						  HASH_COPIES);
		break;
	case 'p':
		if (query_policy_of(optarg, &o->rule) < 0)
			cli_refuse("--policy: '%s' is not plurality, first, "
				   "unique or consensus:T, T from 2 to 4",
				   optarg);
		break;
	case OPT_PARTIAL:
		o->rule.partial = true;
		break;
	case 'k':
		o->keys = optarg;
		break;
	case OPT_AS:
		if (render_of(&o->render, optarg) < 0)
			cli_refuse("--as: '%s' is not %s", optarg,
				   render_names);
		break;
	case 'o':
		o->format = cli_format(optarg);
		break;
	case OPT_SUMMARY:
		o->summary = true;
		break;
	case 'q':
		o->quiet = true;
		break;
	default:
		read_special(o, ch);
		break;
	}
}

static void check_verb(const struct opts *o)
{
	bool keyed = o->verb == VERB_KEYWRITE || o->verb == VERB_PATH ||
		     o->verb == VERB_COUNT;

	if (keyed && !o->nargs && !o->keys)
		cli_usage(&cli, "%s: no keys: name some, or --keys FILE",
			  verb_name(o->verb));
	if (o->verb == VERB_VERIFY && o->nargs)
		cli_usage(&cli, "verify takes no keys");
	if ((o->verb == VERB_VERIFY) != !!o->truth)
		cli_usage(&cli, "verify and --truth go together");
	if (!keyed && o->keys)
		cli_usage(&cli, "--keys is for keywrite, path and count");
	if (o->keys && o->nargs)
		cli_usage(&cli, "keys as arguments or from --keys, not both");
	if (o->summary && !keyed)
		cli_usage(&cli, "--summary is for keywrite, path and count");
	if (o->verb != VERB_LIST &&
	    (o->follow || o->last_given || o->from_given || o->count_only))
		cli_usage(&cli, "--follow, --last, --from and --count-only "
				"are for list");
	if (o->last_given && o->from_given)
		cli_usage(&cli, "--last or --from, not both");
	if (o->follow &&
	    ((!o->from.region && !o->from.cluster.cluster) ||
	     o->from.snapshots || o->from.only.text || o->count_only))
		cli_usage(&cli, "--follow needs a region, alone, or a cluster, "
				"and entries");
	if (o->verb != VERB_VERIFY && (o->by_table || o->list_wrong))
		cli_usage(&cli, "--by-table and --list-wrong are for verify");
	if (o->by_table && o->list_wrong)
		cli_usage(&cli, "--by-table or --list-wrong, not both");
}

void options_read(struct opts *o, int argc, char **argv)
{
	int ch;

	if (!o->from.only.until)
		epochs_of(&o->from.only, NULL);
	while ((ch = cli_next(&cli, argc, argv)) != -1)
		read_option(o, ch);
	if (!o->from.region && !o->from.verbs && !o->from.snapshots &&
	    !o->from.cluster.cluster)
		cli_usage(&cli, "--region, --verbs, --snapshot or --cluster is "
				"missing");
	if (o->from.cluster.cluster &&
	    (o->from.region || o->from.verbs || o->from.snapshots))
		cli_usage(&cli, "--cluster stands alone: without --region, "
				"--verbs and --snapshot; dta-collect --restore "
				"makes a region of a snapshot, and a cluster "
				"file may name that");
	if (o->from.region && o->from.verbs)
		cli_usage(&cli, "--region or --verbs, not both");
	if (o->from.cluster.ssh && !o->from.cluster.cluster)
		cli_usage(&cli, "--ssh is for --cluster");
	if (o->interactive) {
		if (optind < argc)
			cli_usage(&cli, "-i takes no subcommand");
		if (o->in_shell)
			cli_usage(&cli, "this is the shell");
		return;
	}
	if (optind == argc)
		cli_usage(&cli, "keywrite, path, list, count or verify?");
	o->verb = verb_of(argv[optind]);
	if (o->verb == VERB_NONE)
		cli_usage(&cli,
			  "'%s' is not keywrite, path, list, count or "
			  "verify",
			  argv[optind]);
	o->args = argv + optind + 1;
	o->nargs = argc - optind - 1;
	check_verb(o);
}
