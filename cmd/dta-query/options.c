/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "run.h"

#define AT(field) CLI_AT(struct opts, field)

static int read_epochs(void *opts, const char *text, struct error *why)
{
	struct query_epoch_range e;

	if (!query_epochs_parse(&e, text))
		return error_set(why, -EINVAL, "is not N, N-M, N- or -M");
	((struct opts *)opts)->from.only = e;
	return 0;
}

static int read_policy(void *opts, const char *text, struct error *why)
{
	if (query_policy_parse(text, &((struct opts *)opts)->rule) < 0)
		return error_set(why, -EINVAL,
				 "is not plurality, first, unique or "
				 "consensus:T, T from 2 to 4");
	return 0;
}

static int read_as(void *opts, const char *text, struct error *why)
{
	return query_show_parse(&((struct opts *)opts)->show, text, why);
}

static int add_snapshot(void *opts, const char *path, struct error *why)
{
	struct opts *o = opts;

	if (o->from.snapshots == QUERY_SNAPSHOTS_MAX)
		return error_set(why, -E2BIG, "is one above %d",
				 QUERY_SNAPSHOTS_MAX);
	o->snapshot[o->from.snapshots++] = path;
	return 0;
}

/* A shell gets it. */
static int add_host(void *opts, const char *host, struct error *why)
{
	struct opts *o = opts;

	if (o->hosts == WAY_HOSTS)
		return error_set(why, -E2BIG, "is one above %d", WAY_HOSTS);
	if (!*host || strpbrk(host, " \t\n\"'`$\\|&;()<>*?[]~#!{}") ||
	    *host == '-')
		return error_set(why, -EINVAL, "is no plain name");
	o->host[o->hosts++] = host;
	return 0;
}

/* clang-format off */
const struct verb_row verb_rows[VERBS] = {
	[VERB_KEYWRITE] = {"keywrite", "KEY...", "values of keys",
			   true, TABLE_KEYWRITE, run_keys},
	[VERB_PATH] = {"path", "KEY...", "paths out of postcards",
		       true, TABLE_POSTCARD, run_keys},
	[VERB_LIST] = {"list", "[ID...]", "entries of lists; -f follows",
		       .run = run_list},
	[VERB_COUNT] = {"count", "KEY...", "counters",
			true, TABLE_KEYINC, run_keys},
	[VERB_VERIFY] = {"verify", "--truth FILE",
			 "answers against what was reported",
			 .run = run_verify},
	[VERB_WHY] = {"why", "KEY...", "why a key is not found",
		      true, .run = run_why},
};
/* clang-format on */

static const char *verbs[VERBS + 1]; /* their names */
static const char with_keys[] = "keywrite path count why";
static const char with_rows[] = "keywrite path count";

static const struct cli_option options[] = {
	{'R', "region", "NAME", "ask this region", CLI_STR, AT(from.region)},
	{0, "verbs", "ADDR[:PORT]",
	 "ask the region of this collector, with RDMA READ", CLI_STR,
	 AT(from.verbs)},
	{0, "snapshot", "FILE",
	 "ask this snapshot; several, and beside a region: after it", CLI_CALL,
	 .read = add_snapshot},
	{0, "cluster", "FILE",
	 "ask the collectors of this cluster: each key its owner", CLI_STR,
	 AT(from.cluster)},
	{'t', "table", "NAME", "ask this table (name or id)", CLI_STR,
	 AT(table)},
	{'e', "epoch", "N[-M]", "ask these epochs only (0: all)", CLI_CALL,
	 .read = read_epochs},
	{'n', "copies", "N", "slots to read for a key, 1..4", CLI_U64,
	 AT(rule.copies), .min = 1, .max = HASH_COPIES,
	 .verbs = "keywrite path count why verify"},
	{'p', "policy", "P", "plurality (default), first, unique, consensus:T",
	 CLI_CALL, .read = read_policy},
	{0, "partial", NULL, "path: paths with holes, too", CLI_FLAG,
	 AT(rule.partial), .rare = true},
	{'k', "keys", "FILE",
	 "keys from a file (- is stdin): one a line, or CSV with a column key",
	 CLI_IN, AT(keys.file), .verbs = with_keys},
	{0, "as", "TYPE",
	 "show values as hex (default), u32, u32s, text, a key type...; or as "
	 "a "
	 "list of types, a column each: flow4,u8:ttl",
	 CLI_CALL, .read = read_as},
	{'o', "output", "FORMAT", "rows as text (default), csv or ndjson",
	 CLI_FORMAT, AT(format)},
	CLI_FLOW_OPTION(),
	{0, "summary", NULL, "one row: asked, found, not found", CLI_FLAG,
	 AT(summary), .verbs = with_rows, .rare = true},
	{'j', "cores", "N", "ask on so many cores at once (default 1)", CLI_U64,
	 AT(cores), .min = 1, .max = CORES_MAX, .verbs = with_rows},
	{'q', "quiet", NULL, "no closing lines on standard error", CLI_FLAG,
	 AT(quiet)},
	{'f', "follow", NULL, "list: new entries as they come", CLI_FLAG,
	 AT(follow), .verbs = "list"},
	{0, "last", "N", "list: the newest N entries of each list", CLI_SIZE,
	 AT(last), .verbs = "list"},
	{0, "truth", "FILE", "verify: what was reported (CSV)", CLI_IN,
	 AT(truth), .verbs = "verify"},
	{0, "by-age", "N",
	 "verify: success by age, of N bins of keys, and as planned", CLI_U64,
	 AT(age_bins), .min = 1, .max = 1000, .verbs = "verify", .rare = true},
	{0, "ssh", "HOST", "why: losses on this machine, too; several",
	 CLI_CALL, .read = add_host, .verbs = "why"},
	{0, "svg", "FILE", "verify: draw success by age", CLI_OUT, AT(svg),
	 .verbs = "verify", .needs = "--by-age", .rare = true},
	{'i', "interactive", NULL, "a shell", CLI_FLAG, AT(interactive)},
	{0},
};

const struct cli cli = {
	.name = "dta-query",
	.summary = "ask a collector's memory",
	.usage = "dta-query keywrite|path|count|list\n"
		 "          (--region NAME | --snapshot FILE) [--table NAME]\n"
		 "          [--copies N] [--policy P] [KEY... | --keys FILE]\n"
		 "dta-query why\n"
		 "          (--region NAME | --snapshot FILE) [--table NAME]\n"
		 "          KEY...\n"
		 "dta-query verify (--region NAME | --snapshot FILE)\n"
		 "          --truth FILE\n"
		 "dta-query -i (--region NAME | --snapshot FILE)\n"
		 "dta-query SUBCOMMAND (--verbs ADDR | --cluster FILE) ...\n",
	.options = options,
	.verbs = verbs,
};

/* Whether keys come from stdin: for -, or no key and a pipe or file there. */
static bool from_stdin(struct opts *o)
{
	struct stat st;

	if (o->keys.nargs == 1 && !strcmp(o->keys.args[0], "-")) {
		o->keys.nargs = 0;
		return true;
	}
	return !o->keys.nargs && !fstat(STDIN_FILENO, &st) &&
	       (S_ISFIFO(st.st_mode) || S_ISREG(st.st_mode));
}

static void check_verb(struct opts *o)
{
	bool keyed = verb_rows[o->verb].keyed;

	if (keyed && !o->in_shell && !o->keys.file && from_stdin(o))
		o->keys.file = "-";
	if (keyed && !o->keys.nargs && !o->keys.file)
		cli_usage(&cli, "%s: no keys: name some, or --keys FILE",
			  verbs[o->verb]);
	if (o->verb == VERB_VERIFY && o->keys.nargs)
		cli_usage(&cli, "verify takes no keys");
	if (o->verb == VERB_VERIFY && !o->truth)
		cli_usage(&cli, "verify needs --truth");
	if (o->keys.file && o->keys.nargs)
		cli_usage(&cli, "keys as arguments or from --keys, not both");
	if (o->follow &&
	    (!o->from.region || o->from.snapshots || o->from.only.text))
		cli_usage(&cli, "--follow needs a region, alone");
}

void options_read(struct opts *o, int argc, char **argv)
{
	int n;

	o->from.snapshot = o->snapshot;
	o->from.stop = &cli_stop;
	o->from.warn = cli_warn;
	for (int v = 0; v < VERBS; v++)
		verbs[v] = verb_rows[v].name;
	if (!o->from.only.until)
		query_epochs_parse(&o->from.only, "0");
	n = cli_read(&cli, o, argc, argv);
	if (!o->interactive)
		o->verb = (enum verb)cli_verb(&cli, argv[n]);
	if (!o->in_shell)
		cli_from_env(&cli, o, "--region --verbs --snapshot --cluster",
			     "DTA_REGION");
	if (!o->from.region && !o->from.verbs && !o->from.snapshots &&
	    !o->from.cluster)
		cli_usage(&cli, "--region, --verbs, --snapshot or --cluster is "
				"missing");
	if (o->from.cluster &&
	    (o->from.region || o->from.verbs || o->from.snapshots))
		cli_usage(&cli, "--cluster stands alone: without --region, "
				"--verbs and --snapshot; dta-collect --restore "
				"makes a region of a snapshot, and a cluster "
				"file may name that");
	if (o->from.region && o->from.verbs)
		cli_usage(&cli, "only one of --region and --verbs may be "
				"given");
	o->last_given = cli_option_text(&cli, "--last") != NULL;
	if (o->interactive) {
		if (n < argc)
			cli_usage(&cli, "-i takes no subcommand");
		if (o->in_shell)
			cli_usage(&cli, "this is the shell");
		cli_check(&cli, o, -1);
		return;
	}
	cli_check(&cli, o, (int)o->verb);
	o->keys.args = argv + n + 1;
	o->keys.nargs = argc - n - 1;
	check_verb(o);
}
