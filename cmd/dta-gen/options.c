/* SPDX-License-Identifier: BSD-2-Clause */
/* options.c - dta-gen's command line, parsed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "mac.h"
#include "options.h"
#include "traffic/flowtab.h"
#include "traffic/topo.h"
#include "translate/resend.h"
#include "workload.h"

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
	OPT_NACKS,
	OPT_RESEND,
	OPT_WAIT,
	OPT_TO_MAC,
	OPT_SOURCE,
	OPT_DURATION,
	OPT_DART,
	OPT_TICKET,
	OPT_CLUSTER,
	VALUE_MAX = 1020, /* what a table holds */
	MS = 1000000,
};

/* clang-format off */
static const struct cli_option options[] = {
	{ 'n', "flows", "N",
	  "synthetic flows (10000; -i: these again and again)" },
	{ 'f', "from", "CAPTURE",
	  "take the traffic from a capture, - for stdin" },
	{ 'c', "count", "N", "stop after N reports; synthetic flows repeat" },
	{ 's', "seed", "S", "seed of all that is random (1)" },
	{ 'w', "write", "FILE", "where the reports go, as pcap; - for stdout" },
	{ CLI_INTERFACE, "interface", "IFACE",
	  "send the reports there; NACKs come back from there" },
	{ 't', "truth", "FILE",
	  "write what was reported, as CSV; - for stdout" },
	{ 'F', "format", "F", "dta1 (default), dta0a, dta0b" },
	{ 'N', "copies", "N",
	  "copies to store, 1 to 4 (0: the table's default)" },
	{ 'T', "table", "ID", "table of IPv4 reports (1); IPv6: the next" },
	{ 'C', "collector", "IP", "the collector's address (10.0.0.51)" },
	{ OPT_SOURCE, "source", "IP",
	  "the first switch's address less one (10.1.0.0)" },
	{ OPT_TO_MAC, "to-mac", "MAC",
	  "who takes the reports (with -i: the collector, if a neighbour)" },
	{ 'R', "rate", "PPS",
	  "synthetic packets per second (1000000); -i: also of reports (any)" },
	{ OPT_DURATION, "duration", "TIME",
	  "with -i: stop after that long; synthetic flows repeat" },
	{ CLI_STATS, "stats", "TIME", "rates on stderr, every so often (1s)" },
	{ CLI_USER, "user", "NAME", "become this user when all is open" },
	{ 'l', "list", NULL, "list the workloads" },
	{ 'o', "output", "FORMAT", "of list and ledger: text, csv, ndjson" },
	{ 'q', "quiet", NULL, "no ledger, no progress" },
	{ OPT_TRACKED, "tracked", NULL, "set the T flag: sequence is checked" },
	{ OPT_NACKS, "nacks", "FILE",
	  "with -w: a capture or pipe that NACKs come from" },
	{ OPT_RESEND, "resend", "N",
	  "tracked reports kept of each switch, to send again (1024)" },
	{ OPT_WAIT, "wait", NULL,
	  "wait for confirmation rather than let go of what is kept" },
	{ OPT_DART, "dart", NULL,
	  "be a DART switch: send the RoCEv2 packets that write the reports" },
	{ OPT_TICKET, "ticket", "FILE", "--dart: the collector's ticket" },
	{ OPT_CLUSTER, "cluster", "FILE",
	  "--dart: several collectors, by their tickets" },
	{ OPT_IMMEDIATE, "immediate", NULL, "set the I flag: tell the CPU" },
	{ OPT_IPV6, "ipv6", "PERCENT",
	  "share of IPv6 among synthetic flows (0)" },
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
	{ OPT_QUEUE, "queue", "BYTES",
	  "int-congestion: depth of an event (16K)" },
	{ OPT_CACHE, "cache", "N",
	  "entries of a counting switch's cache (1024)" },
	{ OPT_MAX_FLOWS, "max-flows", "N", "flows remembered (512K)" },
	{ OPT_LISTS, "lists", "N", "dshark, uniform: lists (16)" },
	{ OPT_SAMPLE, "sample", "N", "trajectory: one packet in N (16)" },
	{ OPT_KIND, "kind", "KIND",
	  "uniform: keywrite, append, keyinc, postcard" },
	{ OPT_KEY_TYPE, "key-type", "TYPE",
	  "uniform: flow4 (default), u32, ..., hex:LENGTH" },
	{ OPT_VALUE, "value", "BYTES", "uniform: of a value or entry (4)" },
	{ 0 },
};
/* clang-format on */

const struct cli cli = {
	.name = "dta-gen",
	.summary = "make telemetry reports, synthetic or out of a capture",
	.usage = "dta-gen WORKLOAD [--flows N | --from CAPTURE] [--count N] "
		 "[--seed S]\n"
		 "        [--truth FILE] [--format F] -w FILE|-\n"
		 "dta-gen WORKLOAD ... [--tracked] [--rate PPS] -i IFACE\n"
		 "dta-gen WORKLOAD ... --dart --ticket FILE|--cluster FILE -w "
		 "FILE|-\n"
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
		cli_refuse("--key-type: '%s' is no key type; flow4, flow6, "
			   "hop4, hop6, src4, src6, u32 or hex:LENGTH",
			   text);
	o->key_len = (unsigned)key_type_len(o->key_type);
}

static void read_kind(struct gen_options *o, const char *text)
{
	for (int kind = DTA_KEYWRITE; kind <= DTA_POSTCARD; kind++)
		if (!strcmp(dta_opcode_name((uint8_t)kind), text))
			o->kind = kind;
	if (!o->kind)
		cli_refuse("--kind: '%s' is not keywrite, append, keyinc or "
			   "postcard",
			   text);
}

enum unit {
	PLAIN, /* a number */
	SIZE,  /* with K, M, G, T */
	TIME,  /* with ns, us, ms, s; in ns */
};

/* Options that are a number, stored as a uint64_t. */
static const struct number {
	int ch;
	enum unit unit;
	size_t at;
	uint64_t min, max;
} numbers[] = {
	/* clang-format off */
	{ 'n', SIZE, offsetof(struct gen_options, flows), 1, INT64_MAX },
	{ 'c', SIZE, offsetof(struct gen_options, count), 1, INT64_MAX },
	{ 's', PLAIN, offsetof(struct gen_options, seed), 0, UINT64_MAX },
	{ 'N', PLAIN, offsetof(struct gen_options, copies), 0, DTA_MAX_COPIES },
	{ 'T', PLAIN, offsetof(struct gen_options, table),
	  0, DTA_NO_TABLE - 2 },
	{ 'R', SIZE, offsetof(struct gen_options, pace), 1, 1000000000 },
	{ OPT_DURATION, TIME, offsetof(struct gen_options, duration_ns), 0, 0 },
	{ OPT_RESEND, SIZE, offsetof(struct gen_options, resend),
	  0, RESEND_WINDOW_MAX },
	{ OPT_IPV6, PLAIN, offsetof(struct gen_options, ipv6), 0, 100 },
	{ OPT_ARITY, PLAIN, offsetof(struct gen_options, arity),
	  4, TOPO_ARITY_MAX },
	{ OPT_HOPS, PLAIN, offsetof(struct gen_options, hops), 1, 5 },
	{ OPT_INTERLEAVE, SIZE, offsetof(struct gen_options, interleave),
	  0, 1 << 22 },
	{ OPT_GAP, TIME, offsetof(struct gen_options, gap_ns), 0, 0 },
	{ OPT_RTO, TIME, offsetof(struct gen_options, rto_ns), 0, 0 },
	{ OPT_WINDOW, TIME, offsetof(struct gen_options, window_ns), 0, 0 },
	{ OPT_LINK_RATE, SIZE, offsetof(struct gen_options, link_rate),
	  1, INT64_MAX },
	{ OPT_QUEUE, SIZE, offsetof(struct gen_options, queue), 0, UINT32_MAX },
	{ OPT_CACHE, SIZE, offsetof(struct gen_options, cache), 1, 1 << 24 },
	{ OPT_MAX_FLOWS, SIZE, offsetof(struct gen_options, max_flows),
	  1, FLOWTAB_MAX },
	{ OPT_LISTS, SIZE, offsetof(struct gen_options, lists), 1, UINT32_MAX },
	{ OPT_SAMPLE, SIZE, offsetof(struct gen_options, sample),
	  1, UINT32_MAX },
	{ OPT_VALUE, PLAIN, offsetof(struct gen_options, value_len),
	  1, VALUE_MAX },
	/* clang-format on */
};

static const char *option_name(char *buf, size_t cap, int ch)
{
	const struct cli_option *o = options;

	while (o->ch != ch)
		o++;
	snprintf(buf, cap, "--%s", o->name);
	return buf;
}

/* Whether ch is one of the numbers; then it is read. */
static bool read_number(struct gen_options *o, int ch, const char *arg)
{
	const struct number *n = numbers;
	char name[32];
	uint64_t *to;

	while (n < numbers + sizeof(numbers) / sizeof(*n) && n->ch != ch)
		n++;
	if (n == numbers + sizeof(numbers) / sizeof(*n))
		return false;
	to = (uint64_t *)((char *)o + n->at);
	option_name(name, sizeof(name), ch);
	if (n->unit == TIME)
		*to = cli_duration_ns(name, arg);
	else if (n->unit == SIZE)
		*to = cli_size(name, arg, n->min, n->max);
	else
		*to = cli_u64(name, arg, n->min, n->max);
	return true;
}

static void read_format(struct gen_options *o, const char *text)
{
	int f = dta_format_of(text);

	if (f < 0)
		cli_refuse("--format: '%s' is not dta1, dta0a or dta0b", text);
	o->format = (enum dta_format)f;
}

static void read_address(const char *option, const char *text, void *out)
{
	uint8_t ip[16];

	if (text_ip(ip, text) != 4)
		cli_refuse("%s: '%s' is not an IPv4 address", option, text);
	memcpy(out, ip, 4);
}

static void read_word(struct settings *s, int ch, const char *arg)
{
	struct gen_options *o = &s->gen;

	switch (ch) {
	case 'f':
		o->from = arg;
		break;
	case 'w':
		o->out = arg;
		break;
	case 't':
		o->truth = arg;
		break;
	case 'F':
		read_format(o, arg);
		break;
	case 'C':
		read_address("--collector", arg, o->collector);
		break;
	case OPT_SOURCE:
		read_address("--source", arg, &o->source);
		o->source = be32toh(o->source);
		break;
	case OPT_TO_MAC:
		o->has_mac = text_mac(o->to_mac, arg);
		if (!o->has_mac)
			cli_refuse("--to-mac: '%s' is not a MAC address", arg);
		break;
	case OPT_NACKS:
		o->nacks = arg;
		break;
	case OPT_TICKET:
		o->ticket = arg;
		break;
	case OPT_CLUSTER:
		o->cluster = arg;
		break;
	case 'o':
		o->output = o->live.format = cli_format(arg);
		break;
	case OPT_KIND:
		read_kind(o, arg);
		break;
	case OPT_KEY_TYPE:
		read_key_type(o, arg);
		break;
	default:
		cli_live_option(&o->live, ch);
	}
}

static void read_all(struct settings *s, int argc, char **argv)
{
	int ch;

	while ((ch = cli_next(&cli, argc, argv)) != -1) {
		switch (ch) {
		case 'l':
			s->list = true;
			break;
		case 'q':
			s->gen.quiet = true;
			break;
		case OPT_TRACKED:
			s->gen.tracked = true;
			break;
		case OPT_IMMEDIATE:
			s->gen.immediate = true;
			break;
		case OPT_WAIT:
			s->gen.wait = true;
			break;
		case OPT_DART:
			s->gen.dart = true;
			break;
		case OPT_NO_PATH_LEN:
			s->gen.no_path_len = true;
			break;
		default:
			if (!read_number(&s->gen, ch, optarg))
				read_word(s, ch, optarg);
		}
	}
}

void options_read(struct settings *s, int argc, char **argv)
{
	*s = (struct settings){
		.gen =
			{
				.seed = SYNTH_SEED_DEFAULT,
				.table = 1,
				.collector = {10, 0, 0, 51},
				.source = 10u << 24 | 1 << 16,
				.resend = UINT64_MAX,
				.arity = 8,
				.gap_ns = 50ull * MS,
				.rto_ns = 200ull * MS,
				.window_ns = 1000ull * MS,
				.queue = 16384,
				.cache = 1024,
				.max_flows = 1 << 19,
				.lists = 16,
				.sample = 16,
				.key_type = KEY_FLOW4,
				.key_len = KEY_FLOW4_LEN,
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
		cli_usage(&cli, optind < argc ? "one workload at a time"
					      : "which workload? See --list");
	s->workload = workload_find(argv[optind]);
	if (!s->workload)
		cli_usage(&cli, "%s: no such workload; see --list",
			  argv[optind]);
	options_check(s);
}
