/* SPDX-License-Identifier: BSD-2-Clause */
/* options.c - dta-translate's command line. */
#include "run.h"

#include "rdma/roce_out.h"

#define AT(field) CLI_AT(struct opts, field)

static const struct cli_option options[] = {
	{'r', "read", "FILE", "the capture with the reports (- is stdin)",
	 CLI_IN, AT(read)},
	{'i', "interface", "IFACE",
	 "the network interface with the reports; a filter may follow, as "
	 "with tcpdump",
	 CLI_STR, AT(live.name)},
	{'R', "region", "NAME", "write into this region", CLI_STR, AT(region)},
	{0, "layout", "FILE",
	 "make the region of this layout, if there is none yet", CLI_IN,
	 AT(layout), .needs = "--region"},
	{0, "ticket", "FILE", "the collector's ticket", CLI_IN, AT(ticket)},
	{0, "verbs", "ADDR[:PORT]",
	 "write by this machine's RDMA device to the collector that listens "
	 "there (dta-collect --cm)",
	 CLI_STR, AT(verbs)},
	{0, "to", "IFACE",
	 "send RoCEv2 packets there (default: where reports come from)",
	 CLI_STR, AT(to), .needs = "--ticket|--cluster"},
	{'w', "write", "FILE", "write RoCEv2 packets to a capture", CLI_OUT,
	 AT(write), .needs = "--ticket|--cluster"},
	{0, "cluster", "FILE",
	 "write to the collectors of this cluster: into their regions here, "
	 "or by their tickets",
	 CLI_IN, AT(cluster)},
	{0, "dart", NULL,
	 "Key-Write as DART's switches: one random copy of each report",
	 CLI_FLAG, AT(dart)},
	{0, "seed", "N", "of --dart's random copies (default 0)", CLI_U64,
	 AT(seed), .rare = true},
	{'F', "format", "FORMAT",
	 "reports besides DTA/1: dta1 (none), dta0a or dta0b", CLI_WORD,
	 AT(dta), .words = dta_format_names},
	{'t', "table", "TABLE:FIELD=VALUE",
	 "change a table's setting for this run", CLI_STRS, AT(setting),
	 .was = "-T"},
	{0, "ack-every", "N",
	 "ask for an ACK with every N-th packet (default 0: never, with a "
	 "window a quarter of it)",
	 CLI_SIZE, AT(ack_every), .needs = "--ticket|--cluster",
	 .why = "it is about RoCEv2 packets", .rare = true},
	{0, "answers", "FILE",
	 "the collector's answers to what -w writes, from a pipe", CLI_IN,
	 AT(answers), .needs = "--ticket|--cluster -w", .rare = true},
	{0, "window", "N",
	 "requests of a table kept until they are confirmed (default 4096; 0: "
	 "none, hear no answers)",
	 CLI_SIZE, AT(window), .max = ROCE_OUT_WINDOW_MAX,
	 .needs = "--ticket|--cluster", .rare = true},
	{0, "nacks", "FILE",
	 "write the NACKs of strict sequence checks to a capture", CLI_OUT,
	 AT(nacks)},
	{0, "key-log", "FILE",
	 "write the keys of reports, one a line, for dta-query --keys", CLI_OUT,
	 AT(key_log)},
	{0, "op-rate", "N", "at most so many operations a second (any number)",
	 CLI_SIZE, AT(op_rate), .min = 1, .max = RATE_MAX, .rare = true},
	{'j', "cores", "N", "work on so many cores at once (default 1)",
	 CLI_SIZE, AT(cores), .min = 1, .max = TRANSLATE_CORES_MAX},
	CLI_LIMIT_OPTIONS(struct opts),
	CLI_XDP_OPTIONS(struct opts, live, "xdp",
			"receive, and with --to send,", "-i|--to"),
	CLI_PROMISCUOUS_OPTION(struct opts),
	{'o', "output", "FORMAT", "ledger as text, csv or ndjson", CLI_FORMAT,
	 AT(format)},
	{'q', "quiet", NULL, "no ledger", CLI_FLAG, AT(quiet)},
	{0},
};

static const struct cli_group groups[] = {
	{"-r -i", .ask = "where are the reports?"},
	{"--region --ticket --cluster --verbs",
	 .ask = "where do the operations go?"},
	{"-w --to"},
	CLI_SOCKET_GROUP,
	{0},
};

const struct cli cli = {
	.name = "dta-translate",
	.summary = "turn telemetry reports into memory operations",
	.usage = "dta-translate -r FILE --region NAME [--layout FILE]\n"
		 "dta-translate -r FILE --ticket FILE -w FILE|--to IFACE\n"
		 "dta-translate -r FILE --verbs ADDR[:PORT]\n"
		 "dta-translate -i IFACE --region NAME [FILTER]\n"
		 "dta-translate -i IFACE --ticket FILE [--to IFACE] [FILTER]\n"
		 "dta-translate -r FILE|-i IFACE --cluster FILE [-w FILE|--to "
		 "IFACE]\n",
	.options = options,
	.groups = groups,
};

struct opts options_read(int argc, char **argv)
{
	struct opts o = {.window = ROCE_OUT_WINDOW, .cores = 1};
	int n = cli_read(&cli, &o, argc, argv);

	if (n < argc && !o.live.name)
		cli_usage(&cli, "'%s': no such argument", argv[n]);
	cli_live_set_filter(&o.live, argc - n, argv + n);
	cli_from_env(&cli, &o, "--region --ticket --cluster --verbs",
		     "DTA_REGION");
	cli_check(&cli, &o, -1);
	if (o.ticket && !o.write && !o.to && !o.live.name)
		cli_usage(&cli,
			  "--ticket needs -w or --to: where do the RoCEv2 "
			  "packets go?");
	if (o.write && !o.answers && cli_option_text(&cli, "--window"))
		cli_usage(&cli, "--window needs --answers beside -w: nothing "
				"is confirmed without");
	o.live.format = o.format;
	if (o.op_rate)
		o.cores = 1; /* operations under a limit go one by one */
	return o;
}
