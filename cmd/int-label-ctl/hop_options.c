/* SPDX-License-Identifier: BSD-2-Clause */
/* hop_options.c - the command line of int-label-ctl label. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "base/text.h"
#include "cli/cli.h"
#include "hop.h"
#include "policy.h"

#define AT(field) CLI_AT(struct hop_options, field)

static int read_device(void *opts, const char *text, struct fault *why)
{
	struct hop_options *o = opts;

	(void)why;
	o->hop.device = (uint32_t)cli_u64("--device", text, 0, UINT32_MAX);
	o->has_device = true;
	return 0;
}

static int read_routers(void *opts, const char *text, struct fault *why)
{
	struct hop_options *o = opts;
	char one[64];
	unsigned n = 0;
	size_t len;

	for (;; text += len + 1) {
		len = strcspn(text, ",");
		if (n == LABEL_ROUTERS_MAX)
			return fault_set(why, -E2BIG,
					 "has more than %d addresses",
					 LABEL_ROUTERS_MAX);
		snprintf(one, sizeof(one), "%.*s", (int)len, text);
		o->router[n].version = text_ip(o->router[n].ip, one);
		if (!o->router[n++].version)
			return fault_set(why, -EINVAL,
					 "is not a list of IP addresses");
		if (!text[len])
			break;
	}
	o->hop.routers = o->router;
	o->hop.n_routers = n;
	return 0;
}

static const char *const edges[] = {"none", "in", "out", "both", NULL};

static const struct cli_option options[] = {
	{'r', "read", "FILE", "packets that come in, a capture (- is stdin)",
	 CLI_IN, AT(read)},
	{'w', "write", "FILE", "packets that leave, to a capture", CLI_OUT,
	 AT(write), .needs = "-r"},
	{'i', "interface", "IFACE", "the interface of the one side", CLI_STR,
	 AT(live.name), .needs = "--to"},
	{0, "to", "IFACE", "and of the other: packets pass both ways", CLI_STR,
	 AT(to), .needs = "-i"},
	{'d', "device", "N", "its number, by which its labels are known",
	 CLI_CALL, .read = read_device},
	{0, "edge", "SIDE",
	 "where hosts are: in, out, both or none (default): labels end there",
	 CLI_WORD, AT(edge), .words = edges},
	{0, "routers", "LIST",
	 "own addresses of routers next to it: packets to them have no labels",
	 CLI_CALL, .read = read_routers},
	POLICY_OPTIONS(struct hop_options, hop.policy, interval_ns, rest_ns),
	{0, "no-df", NULL,
	 "label packets of IPv4 that a router may cut up, too", CLI_FLAG,
	 AT(hop.no_df)},
	{'e', "export", "FILE", "labels that end here, to a capture", CLI_OUT,
	 AT(export)},
	{0, "collector", "ADDRESS", "labels that end here, to ADDRESS[:PORT]",
	 CLI_STR, AT(collector)},
	{0, "control", "PATH",
	 "obey lines from a file, a FIFO, stdin (-), or a socket made there",
	 CLI_STR, AT(control)},
	{0, "protocol", "N", "IP protocol of packets with labels (253)",
	 CLI_U64, AT(hop.format.protocol), .min = 1, .max = 255},
	{0, "seed", "N", "of chance (another each time)", CLI_U64,
	 AT(hop.seed)},
	CLI_LIMIT_OPTIONS(struct hop_options),
	CLI_STATS_OPTION(struct hop_options, live, "-r|-i"),
	{0, "xdp", NULL, "receive by AF_XDP or fail", CLI_FLAG,
	 AT(live.options.kind), .min = LIVE_XDP, .needs = "-i"},
	CLI_USER_OPTION(struct hop_options, live, NULL),
	{'o', "output", "FORMAT", "ledger as text, csv or ndjson", CLI_FORMAT,
	 AT(format)},
	{'q', "quiet", NULL, "no ledger, no progress", CLI_FLAG, AT(quiet)},
	{0},
};

static const struct cli_group groups[] = {
	{"-r -i", .ask = "where are the packets?"},
	{"--export --collector"},
	{0},
};

const struct cli hop_cli = {
	.name = "int-label-ctl label",
	.summary = "a device of INT-label: labels packets on their way",
	.usage = "int-label-ctl label -d N -r FILE [-w FILE] [-e FILE]\n"
		 "int-label-ctl label -d N -i IFACE --to IFACE "
		 "[--collector ADDRESS]",
	.options = options,
	.groups = groups,
};

/* Two names may be of one interface. */
static bool same_interface(const char *a, const char *b)
{
	unsigned i = if_nametoindex(a);

	return !strcmp(a, b) || (i && i == if_nametoindex(b));
}

/* What would be of no use. */
static void check_use(const struct hop_options *o)
{
	unsigned ends = o->live.name ? 1 << HOP_IN | 1 << HOP_OUT
				     : 1 << HOP_OUT;

	if (o->live.name && same_interface(o->live.name, o->to))
		cli_refuse("--to: '%s' is --interface, too", o->to);
	if (hop_exports(o) && !(o->edge & ends) && !o->hop.n_routers)
		cli_usage(&hop_cli,
			  "--%s: no labels end here: say --edge, where hosts "
			  "are",
			  o->export ? "export" : "collector");
}

void hop_options_read(struct hop_options *o, int argc, char **argv)
{
	int n;

	*o = (struct hop_options){
		.hop = {.policy = policy_default,
			.format = label_format_default,
			.seed = rng_seed()},
		.interval_ns = POLICY_INTERVAL_NS,
	};
	n = cli_read(&hop_cli, o, argc, argv);
	if (n < argc)
		cli_usage(&hop_cli, "'%s': no such argument", argv[n]);
	cli_check(&hop_cli, o, -1);
	if (!o->has_device)
		cli_usage(&hop_cli, "which --device is it?");
	check_use(o);
	policy_set(&hop_cli, &o->hop.policy, o->interval_ns, o->rest_ns);
	o->live.format = o->format;
}
