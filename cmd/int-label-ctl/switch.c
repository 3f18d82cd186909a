/* SPDX-License-Identifier: BSD-2-Clause */
/* switch.c - int-label-ctl switch: what a P4 switch has to be told. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "commands.h"
#include "bmv2/switch.h"
#include "policy.h"
#include "wire/label.h"

struct switch_options {
	struct bmv2_switch s;
	uint64_t interval_ns, rest_ns;
	bool has_device;
};

#define AT(field) CLI_AT(struct switch_options, s.field)

static struct bmv2_switch *of(void *opts)
{
	return &((struct switch_options *)opts)->s;
}

static int read_device(void *opts, const char *text, struct fault *why)
{
	(void)why;
	of(opts)->device = (uint32_t)cli_u64("--device", text, 0, UINT32_MAX);
	((struct switch_options *)opts)->has_device = true;
	return 0;
}

static int read_hosts(void *opts, const char *text, struct fault *why)
{
	return bmv2_switch_hosts(of(opts), text, why);
}

static int read_mirror(void *opts, const char *text, struct fault *why)
{
	(void)why;
	of(opts)->has_mirror = true;
	of(opts)->mirror = (uint16_t)cli_u64("--mirror", text, 0,
					     BMV2_PORTS - 1);
	return 0;
}

static int read_ip(void *opts, const char *text, struct fault *why)
{
	return bmv2_ip_read(of(opts)->ip, text, why);
}

static int read_peer_ip(void *opts, const char *text, struct fault *why)
{
	return bmv2_ip_read(of(opts)->peer_ip, text, why);
}

static int read_mac(void *opts, const char *text, struct fault *why)
{
	return bmv2_mac_read(of(opts)->mac, text, why);
}

static int read_peer_mac(void *opts, const char *text, struct fault *why)
{
	return bmv2_mac_read(of(opts)->peer_mac, text, why);
}

static int read_instructions(void *opts, const char *text, struct fault *why)
{
	return bmv2_switch_instructions(of(opts), text, why);
}

static int add_watched(void *opts, const char *text, struct fault *why)
{
	return bmv2_switch_watch(of(opts), text, why);
}

static const struct cli_option options[] = {
	{'d', "device", "N", "its number, by which it is known", CLI_CALL,
	 .read = read_device},
	{0, "hosts", "LIST",
	 "ports with hosts behind them, 3,4: labels, or INT, end there",
	 CLI_CALL, .read = read_hosts},
	{0, "mirror", "PORT", "the port that leads to the collector", CLI_CALL,
	 .read = read_mirror},
	{0, "collector", "ADDR", "the collector's address", CLI_CALL,
	 .read = read_peer_ip, .needs = "--mirror"},
	{0, "collector-mac", "ADDR", "and MAC address", CLI_CALL,
	 .read = read_peer_mac, .needs = "--mirror"},
	{0, "ip", "ADDR", "the switch's own address (of D: 10.3.D.D)", CLI_CALL,
	 .read = read_ip, .needs = "--mirror"},
	{0, "mac", "ADDR", "and MAC address (02:00:00:03:D:D)", CLI_CALL,
	 .read = read_mac, .needs = "--mirror"},
	{'b', "base", "A|B",
	 "label by interval (A), and by labels that a packet has (B)", CLI_WORD,
	 AT(policy.kind), .words = label_kind_names, .verbs = "int_label"},
	{'f', "chance", "F", "of B: f1, f2, or f(0),f(1)... (f1)", CLI_CALL,
	 .read = policy_read_f, .verbs = "int_label"},
	{'t', "label", "TIME", "labelling interval (50ms)", CLI_TIME,
	 CLI_AT(struct switch_options, interval_ns), .min = 1000,
	 .verbs = "int_label"},
	{0, "rest", "TIME", "of B: none by chance so long after a label (0)",
	 CLI_TIME, CLI_AT(struct switch_options, rest_ns),
	 .verbs = "int_label"},
	{0, "mtu", "BYTES",
	 "leave IP packets to other switches no longer than that (any)",
	 CLI_SIZE, AT(mtu), .min = 68, .max = 65535, .verbs = "int_label"},
	{0, "no-df", NULL, "label IPv4 that routers may make fragments of, too",
	 CLI_FLAG, AT(no_df), .verbs = "int_label"},
	{0, "watch", "FLOW|all",
	 "source: flows that carry INT from here on; again for more", CLI_CALL,
	 .read = add_watched, .verbs = "int_node"},
	{0, "instructions", "BITMAP", "what nodes are to say (0xfc00)",
	 CLI_CALL, .read = read_instructions, .needs = "--watch",
	 .verbs = "int_node"},
	{0, "hops", "N", "nodes that say it, at most (8)", CLI_U64, AT(hops),
	 .min = 1, .max = 255, .needs = "--watch", .verbs = "int_node"},
	{0},
};

static const struct cli cli = {
	.name = "int-label-ctl switch",
	.summary =
		"commands for a P4 switch of BMv2 that has just been started",
	.usage = "int-label-ctl switch int_label -d N [--hosts LIST --mirror "
		 "PORT] FROM=TO...\n"
		 "int-label-ctl switch int_node -d N [--watch FLOW|all]\n"
		 "         [--hosts LIST --mirror PORT] FROM=TO...",
	.options = options,
	.verbs = bmv2_switch_names,
};

static void check(const struct switch_options *o)
{
	if (!o->has_device)
		cli_usage(&cli, "which --device is it?");
	if (o->s.has_mirror && (!cli_text(&cli, "--collector") ||
				!cli_text(&cli, "--collector-mac")))
		cli_usage(&cli, "--mirror needs --collector and "
				"--collector-mac: who is behind it");
	if (o->s.policy.kind == LABEL_BASE_B && o->s.policy.f == LABEL_F3)
		cli_refuse("--chance: the switch has no f3");
}

static struct bmv2_way *read_ways(char *const *text, unsigned n)
{
	struct bmv2_way *ways = calloc(n + 1, sizeof(*ways));
	struct fault why;

	if (!ways)
		cli_fail("out of memory");
	for (unsigned i = 0; i < n; i++)
		if (bmv2_way_read(&ways[i], text[i], &why) < 0)
			cli_refuse("'%s' %s", text[i], why.text);
	return ways;
}

int switch_main(int argc, char **argv)
{
	struct switch_options o = {
		.s = {.policy = policy_default,
		      .instructions = 0xfc00,
		      .hops = 8},
		.interval_ns = POLICY_INTERVAL_NS,
	};
	struct bmv2_way *ways;
	unsigned n;
	int first;

	cli_start(&cli);
	first = cli_read(&cli, &o, argc, argv);
	o.s.program = (enum bmv2_program)cli_verb(&cli, argv[first]);
	cli_check(&cli, &o, (int)o.s.program);
	policy_set(&cli, &o.s.policy, label_format_default.max_hop,
		   o.interval_ns, o.rest_ns);
	check(&o);
	bmv2_switch_addresses(&o.s);
	n = (unsigned)(argc - first - 1);
	ways = read_ways(argv + first + 1, n);
	bmv2_switch_write(&o.s, ways, n, stdout);
	free(ways);
	return CLI_OK;
}
