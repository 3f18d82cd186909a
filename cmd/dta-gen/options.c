/* SPDX-License-Identifier: BSD-2-Clause */
/* options.c - dta-gen's command line: parsed, checked, defaults filled in. */
#include <arpa/inet.h>
#include <stdlib.h>

#include "options.h"

enum {
	OPT_IPV6 = 256,
	OPT_ARITY,
	OPT_HOPS,
	OPT_INTERLEAVE,
	OPT_NO_PATH_LEN,
	OPT_TRACKED,
	OPT_IMMEDIATE,
	OPT_GAP,
	OPT_RTO,
	OPT_WINDOW,
	OPT_LINK_RATE,
	OPT_QUEUE,
	OPT_CACHE,
	OPT_MAX_FLOWS,
	OPT_LISTS,
	OPT_SAMPLE,
	OPT_KIND,
	OPT_KEY_TYPE,
	OPT_VALUE,
	FLOWS_DEFAULT = 10000,
	COPIES0 = 2, /* what the published reporter says */
	MS = 1000000,
};

static const struct cli_option options[] = {
	{ 'n', "flows", "N", "synthetic flows (10000)" },
	{ 'f', "from", "CAPTURE", "take the traffic from a capture, - for stdin" },
	{ 'c', "count", "N", "stop after N reports; synthetic flows repeat" },
	{ 's', "seed", "S", "seed of all that is random (1)" },
	{ 'w', "write", "FILE", "where the reports go, as pcap; - for stdout" },
	{ 't', "truth", "FILE", "write what was reported, as CSV; - for stdout" },
	{ 'F', "format", "F", "dta1 (default), dta0a, dta0b" },
	{ 'N', "copies", "N", "copies to store, 1 to 4 (0: the table's default)" },
	{ 'T', "table", "ID", "table of IPv4 reports (1); IPv6: the next" },
	{ 'C', "collector", "IP", "the collector's address (10.0.0.51)" },
	{ 'R', "rate", "PPS", "synthetic packets per second (1000000)" },
	{ 'l', "list", NULL, "list the workloads" },
	{ 'o', "output", "FORMAT", "of list and ledger: text, csv, ndjson" },
	{ 'q', "quiet", NULL, "no ledger, no progress" },
	{ OPT_TRACKED, "tracked", NULL, "set the T flag: sequence is checked" },
	{ OPT_IMMEDIATE, "immediate", NULL, "set the I flag: tell the CPU" },
	{ OPT_IPV6, "ipv6", "PERCENT", "share of IPv6 among synthetic flows (0)" },
	{ OPT_ARITY, "arity", "K", "of the fat tree, even, 4 to 64 (8)" },
	{ OPT_HOPS, "hops", "H", "length of all paths: 1, 3, 5 (as it comes)" },
	{ OPT_INTERLEAVE, "interleave", "N",
	  "int-postcard: flows between a flow's postcards (0)" },
	{ OPT_NO_PATH_LEN, "no-path-len", NULL,
	  "postcards do not tell the path's length" },
	{ OPT_GAP, "gap", "TIME", "silence that ends a flowlet (50ms)" },
	{ OPT_RTO, "rto", "TIME", "silence that makes a timeout (200ms)" },
	{ OPT_WINDOW, "window", "TIME", "marple-lossy, sonata-result (1s)" },
	{ OPT_LINK_RATE, "link-rate", "BITS",
	  "int-congestion: bits/s (20000000, or 9200 * PPS)" },
	{ OPT_QUEUE, "queue", "BYTES", "int-congestion: depth of an event (16K)" },
	{ OPT_CACHE, "cache", "N", "entries of a counting switch's cache (1024)" },
	{ OPT_MAX_FLOWS, "max-flows", "N", "flows remembered (1M)" },
	{ OPT_LISTS, "lists", "N", "dshark, uniform: lists (16)" },
	{ OPT_SAMPLE, "sample", "N", "trajectory: one packet in N (16)" },
	{ OPT_KIND, "kind", "KIND",
	  "uniform: keywrite, append, keyinc, postcard" },
	{ OPT_KEY_TYPE, "key-type", "TYPE",
	  "uniform: flow4 (default), u32, ..., hex:LENGTH" },
	{ OPT_VALUE, "value", "BYTES", "uniform: of a value or entry (4)" },
	{ 0 },
};

static const struct cli cli = {
	.name = "dta-gen",
	.summary = "make telemetry reports, synthetic or out of a capture",
	.usage = "dta-gen WORKLOAD [--flows N | --from CAPTURE] [--count N] "
		 "[--seed S]\n"
		 "        [--truth FILE] [--format F] -w FILE|-\n"
		 "dta-gen --list",
	.options = options,
};

static void read_key_type(struct gen_options *o, const char *text)
{
	if (!strncmp(text, "hex:", 4)) {
		o->key_type = KEY_HEX;
		o->key_len = (unsigned)cli_u64("--key-type hex", text + 4, 1,
					       KEY_MAX);
		return;
	}
	o->key_type = key_type_of(text);
	if (o->key_type < 0 || o->key_type == KEY_HEX)
		cli_usage(&cli, "--key-type: %s: no such type of key", text);
	o->key_len = (unsigned)key_type_len(o->key_type);
}

static void read_kind(struct gen_options *o, const char *text)
{
	for (int kind = DTA_KEYWRITE; kind <= DTA_POSTCARD; kind++)
		if (!strcmp(dta_opcode_name((uint8_t)kind), text))
			o->kind = kind;
	if (!o->kind)
		cli_usage(&cli, "--kind: %s: not keywrite, append, keyinc or "
				"postcard", text);
}

/* Options of the network model and of single workloads. */
static void read_model(struct gen_options *o, int ch, const char *arg)
{
	switch (ch) {
	case OPT_IPV6: o->ipv6 = (unsigned)cli_u64("--ipv6", arg, 0, 100); break;
	case OPT_ARITY: o->arity = (unsigned)cli_u64("--arity", arg, 4, ARITY_MAX); break;
	case OPT_HOPS: o->hops = (unsigned)cli_u64("--hops", arg, 1, 5); break;
	case OPT_INTERLEAVE: o->interleave = cli_size("--interleave", arg, 0, 1 << 22); break;
	case OPT_NO_PATH_LEN: o->no_path_len = true; break;
	case OPT_GAP: o->gap_ns = cli_duration_ns("--gap", arg); break;
	case OPT_RTO: o->rto_ns = cli_duration_ns("--rto", arg); break;
	case OPT_WINDOW: o->window_ns = cli_duration_ns("--window", arg); break;
	case OPT_LINK_RATE: o->link_rate = cli_u64("--link-rate", arg, 1, UINT64_MAX >> 20); break;
	case OPT_QUEUE: o->queue = cli_size("--queue", arg, 0, UINT32_MAX); break;
	case OPT_CACHE: o->cache = cli_size("--cache", arg, 1, 1 << 24); break;
	case OPT_MAX_FLOWS: o->max_flows = cli_size("--max-flows", arg, 1, 1 << 26); break;
	case OPT_LISTS: o->lists = cli_size("--lists", arg, 1, UINT32_MAX); break;
	case OPT_SAMPLE: o->sample = cli_size("--sample", arg, 1, UINT32_MAX); break;
	case OPT_KIND: read_kind(o, arg); break;
	case OPT_KEY_TYPE: read_key_type(o, arg); break;
	case OPT_VALUE: o->value_len = (unsigned)cli_u64("--value", arg, 1, 1020); break;
	}
}

static void read_format(struct gen_options *o, const char *text)
{
	int f = dta_format_of(text);

	if (f < 0)
		cli_usage(&cli, "--format: %s: not dta1, dta0a or dta0b", text);
	o->format = (enum dta_format)f;
}

static void read_all(struct settings *s, int argc, char **argv)
{
	struct gen_options *o = &s->gen;
	int ch;

	while ((ch = cli_next(&cli, argc, argv)) != -1) {
		switch (ch) {
		case 'n': o->flows = cli_size("--flows", optarg, 1, UINT64_MAX >> 1); break;
		case 'f': o->from = optarg; break;
		case 'c': o->count = cli_size("--count", optarg, 1, UINT64_MAX >> 1); break;
		case 's': o->seed = cli_u64("--seed", optarg, 0, UINT64_MAX); break;
		case 'w': o->out = optarg; break;
		case 't': o->truth = optarg; break;
		case 'F': read_format(o, optarg); break;
		case 'N': o->copies = (uint8_t)cli_u64("--copies", optarg, 0, DTA_MAX_COPIES); break;
		case 'T': o->table = (uint16_t)cli_u64("--table", optarg, 0, DTA_NO_TABLE - 2); break;
		case 'C':
			if (inet_pton(AF_INET, optarg, o->collector) != 1)
				cli_usage(&cli, "--collector: %s: not an IPv4 address", optarg);
			break;
		case 'R': o->rate = cli_u64("--rate", optarg, 1, 1000000000); break;
		case 'l': s->list = true; break;
		case 'o': s->list_format = s->ledger_format = cli_format(optarg); break;
		case 'q': s->quiet = true; break;
		case OPT_TRACKED: o->tracked = true; break;
		case OPT_IMMEDIATE: o->immediate = true; break;
		default: read_model(o, ch, optarg);
		}
	}
}

/* DTA/0 carries 4-byte keys and 4-byte data, nothing else. */
static bool fits_dta0(const struct workload *w, const struct gen_options *o)
{
	bool uniform = w->needs == NEEDS_NOTHING;
	unsigned kind = uniform ? (unsigned)o->kind : w->kind;
	size_t key = uniform ? o->key_len : key_type_len(w->key[0]);
	size_t value = uniform ? o->value_len : w->value[0];

	return (key == 4 || kind == DTA_APPEND) &&
	       (value == 4 || kind == DTA_KEYINC);
}

static void check_dta0(const struct workload *w, const struct gen_options *o)
{
	char names[256] = "uniform with --key-type u32";
	size_t n = strlen(names);

	if (o->format == DTA_FORMAT_1 || fits_dta0(w, o))
		return;
	for (unsigned i = 0; i < n_workloads; i++)
		if (workloads[i].needs != NEEDS_NOTHING &&
		    fits_dta0(&workloads[i], o))
			n += (size_t)snprintf(names + n, sizeof(names) - n,
					      ", %s", workloads[i].name);
	cli_usage(&cli, "%s does not fit %s, which holds 4-byte keys and "
			"values; these do: %s", w->name,
		  dta_format_name(o->format), names);
}

static void complete(struct settings *s, struct gen_options *o)
{
	const struct workload *w = s->workload;

	if (!o->kind)
		o->kind = DTA_KEYWRITE;
	if (o->kind == DTA_APPEND)
		o->key_type = KEY_U32;
	if (!o->copies && o->format != DTA_FORMAT_1)
		o->copies = COPIES0; /* it cannot say "the default" */
	if (!o->flows)
		o->flows = w->per_flow && o->count ? o->count : FLOWS_DEFAULT;
	if (!o->link_rate)
		o->link_rate = o->from ? 20000000 : 9200 * o->rate;
}

static void check(struct settings *s)
{
	struct gen_options *o = &s->gen;
	const struct workload *w = s->workload;

	if (!o->out)
		cli_usage(&cli, "say with -w where the reports shall go");
	if (o->from && o->flows)
		cli_usage(&cli, "--flows and --from exclude each other");
	if (o->from && w->needs == NEEDS_NOTHING)
		cli_usage(&cli, "uniform makes its own keys: no --from");
	if (o->truth && !strcmp(o->truth, "-") && !strcmp(o->out, "-"))
		cli_usage(&cli, "--truth and -w cannot both be stdout");
	if (o->tracked && o->format == DTA_FORMAT_0A)
		cli_usage(&cli, "--tracked: dta0a has no sequence");
	if (o->arity % 2)
		cli_usage(&cli, "--arity: %u: not an even number", o->arity);
	if (o->hops % 2 == 0 && o->hops)
		cli_usage(&cli, "--hops: %u: not 1, 3 or 5", o->hops);
	if (!o->window_ns)
		cli_usage(&cli, "--window: must not be 0");
	if (w->needs != NEEDS_NOTHING &&
	    (o->kind || o->key_type != KEY_FLOW4 || o->value_len != 4))
		cli_usage(&cli, "--kind, --key-type and --value are for "
				"uniform");
	complete(s, o);
	check_dta0(w, o);
}

void options_read(struct settings *s, int argc, char **argv)
{
	*s = (struct settings){
		.gen = {
			.seed = 1,
			.table = 1,
			.collector = { 10, 0, 0, 51 },
			.rate = 1000000,
			.arity = 8,
			.gap_ns = 50ull * MS,
			.rto_ns = 200ull * MS,
			.window_ns = 1000ull * MS,
			.queue = 16384,
			.cache = 1024,
			.max_flows = 1 << 20,
			.lists = 16,
			.sample = 16,
			.key_type = KEY_FLOW4,
			.key_len = FLOW4_LEN,
			.value_len = 4,
		},
	};
	cli_start(&cli);
	read_all(s, argc, argv);
	if (s->list) {
		if (optind < argc)
			cli_usage(&cli, "--list takes no workload");
		return;
	}
	if (optind + 1 != argc)
		cli_usage(&cli, optind < argc ? "one workload at a time" :
						"which workload? See --list");
	s->workload = workload_find(argv[optind]);
	if (!s->workload)
		cli_usage(&cli, "%s: no such workload; see --list",
			  argv[optind]);
	check(s);
}
