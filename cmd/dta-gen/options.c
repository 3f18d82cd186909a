/* SPDX-License-Identifier: BSD-2-Clause */
/* options.c - dta-gen's command line, parsed. */
#include "gen.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"

enum {
	VALUE_MAX = 1020, /* what a table holds */
	FLOWS_DEFAULT = 10000,
	RESEND_DEFAULT = 1024,
	COPIES0 = 2, /* of DTA/0, as in the published reporter */
};

#define AT(field) CLI_AT(struct settings, gen.field)

static int read_key_type(void *opts, const char *text, struct error *why)
{
	struct gen_options *o = &((struct settings *)opts)->gen;

	if (!strncmp(text, "hex:", 4)) {
		o->work.key_type = KEY_HEX;
		o->work.key_len = (unsigned)cli_u64("--key-type hex", text + 4,
						    1, KEY_MAX);
		return 0;
	}
	o->work.key_type = key_type_of(text);
	if (o->work.key_type < 0 || o->work.key_type == KEY_HEX)
		return error_set(why, -EINVAL,
				 "is no key type; flow4, flow6, hop4, hop6, "
				 "src4, src6, u32 or hex:LENGTH");
	o->work.key_len = (unsigned)key_type_len(o->work.key_type);
	return 0;
}

static int read_as(void *opts, const char *text, struct error *why)
{
	return query_show_parse(&((struct settings *)opts)->gen.csv.show, text,
				why);
}

int read_collector(void *opts, const char *text, struct error *why)
{
	uint8_t ip[16];

	if (text_ip(ip, text) != 4)
		return error_set(why, -EINVAL, "is not an IPv4 address");
	memcpy(((struct gen_options *)opts)->collector, ip, 4);
	return 0;
}

int read_to_mac(void *opts, const char *text, struct error *why)
{
	struct gen_options *o = opts;

	o->has_mac = text_mac(o->to_mac, text);
	return o->has_mac ? 0 : error_set(why, -EINVAL, "is not a MAC address");
}

static const char unchecked[] =
	"only reports with that flag are confirmed, NACKed and sent again";

/* clang-format off */
static const struct cli_option options[] = {
	{ 0, "flows", "N",
	  "synthetic flows (10000; -i: these again and again)",
	  CLI_SIZE, AT(flows), .min = 1, .max = TRAFFIC_COUNT_MAX,
	  .was = "-n" },
	{ 0, "from", "CAPTURE",
	  "take the traffic from a capture, rows from CSV; - for stdin",
	  CLI_IN, AT(from), .was = "-f" },
	{ 'c', "count", "N", "stop after N reports; synthetic flows repeat",
	  CLI_SIZE, AT(count), .min = 1, .max = TRAFFIC_COUNT_MAX },
	{ 's', "seed", "S", "seed of all that is random (1)",
	  CLI_U64, AT(work.seed) },
	{ 'w', "write", "FILE", "where the reports go, as pcap; - for stdout",
	  CLI_OUT, AT(out) },
	{ 'i', "interface", "IFACE",
	  "send the reports there; NACKs come back from there",
	  CLI_STR, AT(live.name) },
	CLI_XDP_OPTIONS(struct settings, gen.live, "xdp", "send", "-i"),
	{ 0, "truth", "FILE",
	  "write what was reported, as CSV; - for stdout",
	  CLI_OUT, AT(truth), .was = "-t" },
	{ 'F', "format", "F", "dta1 (default), dta0a, dta0b",
	  CLI_WORD, AT(format), .words = dta_format_names },
	{ 0, "copies", "N",
	  "copies to store, 1 to 4 (0: the table's default)",
	  CLI_U64, AT(copies), .max = DTA_MAX_COPIES, .was = "-N" },
	{ 0, "table", "ID", "table of IPv4 reports (1); IPv6: the next",
	  CLI_U64, AT(table), .max = DTA_NO_TABLE - 2, .was = "-T" },
	{ 'C', "collector", "IP", "the collector's address (10.0.0.51)",
	  CLI_CALL, .read = read_collector },
	{ 0, "to-mac", "MAC",
	  "who takes the reports (with -i: the collector, if a neighbour)",
	  CLI_CALL, .read = read_to_mac },
	{ 0, "rate", "PPS",
	  "synthetic packets per second (1000000); -i: also of reports (any)",
	  CLI_SIZE, AT(pace), .min = 1, .max = 1000000000, .was = "-R" },
	{ 'l', "list", NULL, "list the workloads",
	  CLI_FLAG, CLI_AT(struct settings, list) },
	{ 'o', "output", "FORMAT", "of list and ledger: text, csv, ndjson",
	  CLI_FORMAT, AT(output) },
	{ 'q', "quiet", NULL, "no ledger", CLI_FLAG, AT(quiet) },
	{ 0, "tracked", NULL, "set the T flag: sequence is checked",
	  CLI_FLAG, AT(tracked) },
	{ 0, "nacks", "FILE", "with -w: a capture or pipe that NACKs come from",
	  CLI_IN, AT(nacks), .needs = "--tracked -w", .why = unchecked,
	  .rare = true },
	{ 0, "resend", "N",
	  "tracked reports kept of each switch, to send again (1024)",
	  CLI_SIZE, AT(resend), .max = RESEND_WINDOW_MAX,
	  .needs = "--tracked", .why = unchecked, .rare = true },
	{ 0, "wait", NULL,
	  "wait for confirmation rather than let go of what is kept",
	  CLI_FLAG, AT(wait), .needs = "--tracked -i|--nacks",
	  .why = unchecked, .rare = true },
	{ 0, "immediate", NULL, "set the I flag: tell the CPU",
	  CLI_FLAG, AT(immediate) },
	{ 0, "ipv6", "PERCENT", "share of IPv6 among synthetic flows (0)",
	  CLI_U64, AT(ipv6), .max = 100 },
	{ 0, "hops", "H", "length of all paths: 1, 3, 5 (as it comes)",
	  CLI_U64, AT(hops), .min = 1, .max = 5, .rare = true },
	{ 0, "interleave", "N",
	  "int-postcard: flows between a flow's postcards (0)",
	  CLI_SIZE, AT(work.interleave), .max = 1 << 22,
	  .verbs = "int-postcard", .rare = true },
	{ 0, "no-path-len", NULL, "postcards do not tell the path's length",
	  CLI_FLAG, AT(work.no_path_len),
	  .verbs = "int-postcard trajectory uniform csv", .rare = true },
	{ 0, "lists", "N", "dshark, uniform: lists (16)",
	  CLI_SIZE, AT(work.lists), .min = 1, .max = UINT32_MAX,
	  .verbs = "dshark uniform", .rare = true },
	{ 0, "kind", "KIND", "uniform, csv: keywrite, append, keyinc, postcard",
	  CLI_WORD, AT(work.kind), .min = 1, .words = dta_opcode_names + 1,
	  .verbs = "uniform csv" },
	{ 0, "key-type", "TYPE",
	  "uniform, csv: flow4 (default), u32, ..., hex:LENGTH",
	  CLI_CALL, .read = read_key_type, .verbs = "uniform csv" },
	{ 0, "value", "BYTES", "uniform: of a value or entry (4)",
	  CLI_U64, AT(work.value_len), .min = 1, .max = VALUE_MAX,
	  .verbs = "uniform" },
	{ 0, "layout", "FILE", "csv: tables, keys and values are those of it",
	  CLI_IN, AT(csv.layout), .verbs = "csv" },
	{ 0, "region", "NAME", "csv: the same of a region",
	  CLI_STR, AT(csv.region), .verbs = "csv" },
	{ 0, "as", "TYPES", "csv: what values are made of, as dta-query --as",
	  CLI_CALL, .read = read_as, .verbs = "csv", .rare = true },
	{ 0 },
};
/* clang-format on */

static const struct cli_group groups[] = {
	{"--layout --region"}, {"-w -i"}, CLI_SOCKET_GROUP,
	{"--flows --from"},    {0},
};

const struct cli cli = {
	.name = "dta-gen",
	.summary = "make telemetry reports, synthetic or out of a capture",
	.usage = "dta-gen WORKLOAD [--flows N | --from CAPTURE] [--count N] "
		 "[--seed S]\n"
		 "        [--truth FILE] [--format F] -w FILE|-\n"
		 "dta-gen WORKLOAD ... [--tracked] [--rate PPS] -i IFACE\n"
		 "dta-gen csv --from FILE|- [--layout FILE] [--as TYPES] ...\n"
		 "dta-gen int ..., in-band telemetry: see dta-gen int -h\n"
		 "dta-gen --list",
	.options = options,
	.groups = groups,
};

static void no_workload(const char *word)
{
	struct guess g = {.word = word};

	for (unsigned i = 0; i < n_workloads; i++)
		guess_try(&g, workloads[i].name);
	guess_try(&g, csv_workload.name);
	guess_try(&g, "int");
	cli_usage(&cli, "%s: no such workload%s", word,
		  g.best ? guess_hint(&g) : "; see --list");
}

/* DTA/0 carries 4-byte keys and 4-byte data, nothing else. */
static bool fits_dta0(const struct workload *w, const struct gen_options *o)
{
	bool uniform = w->needs == NEEDS_NOTHING;
	unsigned kind = uniform ? (unsigned)o->work.kind : w->kind;
	size_t key = uniform ? o->work.key_len : key_type_len(w->key_type[0]);
	size_t value = uniform ? o->work.value_len : w->value_len[0];

	return (key == 4 || kind == DTA_APPEND) &&
	       (value == 4 || kind == DTA_KEYINC);
}

/* Exits on options that are missing or do not go together. */
static void check_options(const struct settings *s, const struct gen_options *o)
{
	const struct workload *w = s->workload;

	if (!o->out && !o->live.name)
		cli_usage(&cli, "say with -w or -i where the reports shall go");
	if (o->format != DTA_FORMAT_1 &&
	    (o->nacks || o->wait || o->resend != UINT64_MAX))
		cli_usage(&cli, "--nacks, --wait and --resend need --format "
				"dta1: NACKs tell of no other");
	if (!o->from && w->needs == NEEDS_ROWS)
		cli_usage(&cli, "say with --from where the rows are, - for "
				"stdin");
	if (o->from && w->needs == NEEDS_NOTHING)
		cli_usage(&cli, "uniform makes its own keys: no --from");
	if (o->tracked && o->format == DTA_FORMAT_0A)
		cli_usage(&cli, "--tracked: dta0a has no sequence");
	if (o->hops % 2 == 0 && o->hops)
		cli_refuse("--hops: '%" PRIu64 "' is not 1, 3 or 5", o->hops);
	if (o->format != DTA_FORMAT_1 && w->needs != NEEDS_ROWS &&
	    !fits_dta0(w, o))
		cli_refuse("%s does not fit %s, which holds 4-byte keys and "
			   "values: see --list",
			   w->name, dta_format_names[o->format]);
}

static void complete_csv(struct gen_options *o)
{
	o->work.value_len = VALUE_MAX;
	o->csv.kind = o->work.kind;
	o->csv.key_type = o->work.key_type;
	o->csv.key_type_given = cli_option_text(&cli, "--key-type");
	o->csv.key_len = o->work.key_len;
	o->csv.table = (uint16_t)o->table;
	o->csv.table_given = cli_option_text(&cli, "--table");
}

static void complete_options(struct settings *s, struct gen_options *o)
{
	const struct workload *w = s->workload;

	o->work.stream = synth_stream(o->work.seed);
	if (w->needs == NEEDS_ROWS)
		complete_csv(o);
	else if (!o->work.kind)
		o->work.kind = DTA_KEYWRITE;
	if (o->work.kind == DTA_APPEND)
		o->work.key_type = KEY_U32;
	if (!o->copies && o->format != DTA_FORMAT_1)
		o->copies = COPIES0; /* DTA/0 cannot say "the default" */
	/* On an interface flows are restarted until a signal or --count. */
	o->repeat = o->count || (o->live.name && !o->flows);
	if (!o->flows)
		o->flows = w->per_flow && o->count ? o->count : FLOWS_DEFAULT;
	o->rate = o->pace ? o->pace : RATE_DEFAULT;
	if ((!o->live.name && !o->nacks) || o->format != DTA_FORMAT_1)
		o->resend = 0;
	else if (o->resend == UINT64_MAX)
		o->resend = RESEND_DEFAULT;
	/* What a link carries of such traffic, nearly. */
	o->work.link_rate = o->from ? 20000000 : 9200 * o->rate;
}

void options_read(struct settings *s, int argc, char **argv)
{
	int n;

	*s = (struct settings){
		.gen = {.table = 1,
			.collector = {10, 0, 0, 51},
			.resend = UINT64_MAX,
			.work = {.seed = SYNTH_SEED_DEFAULT,
				 .lists = 16,
				 .key_type = KEY_FLOW4,
				 .key_len = KEY_FLOW4_LEN,
				 .value_len = 4}},
	};
	cli_start(&cli);
	n = cli_read(&cli, s, argc, argv);
	if (s->list) {
		if (n < argc)
			cli_usage(&cli, "--list takes no workload");
		return;
	}
	if (n + 1 != argc)
		cli_usage(&cli, n < argc ? "one workload at a time"
					 : "which workload? See --list");
	s->workload = !strcmp(argv[n], csv_workload.name)
			      ? &csv_workload
			      : workload_find(argv[n]);
	if (!s->workload)
		no_workload(argv[n]);
	s->gen.live.format = s->gen.output;
	cli_check_named(&cli, s, s->workload->name);
	check_options(s, &s->gen);
	complete_options(s, &s->gen);
}
