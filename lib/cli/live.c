/* SPDX-License-Identifier: BSD-2-Clause */
/* live.c - options of live interfaces. */
#include "cli/live.h"

#include <stdio.h>
#include <string.h>

enum {
	FILTER_MAX = 2048,
};

static void set_kind(struct cli_live *l, enum live_kind kind)
{
	if (l->options.kind && l->options.kind != kind)
		cli_refuse("--xdp, --no-xdp: one of them");
	l->options.kind = kind;
}

bool cli_live_option(struct cli_live *l, int ch)
{
	switch (ch) {
	case CLI_INTERFACE:
		l->name = optarg;
		return true;
	case CLI_XDP:
		set_kind(l, LIVE_XDP);
		return true;
	case CLI_NO_XDP:
		set_kind(l, LIVE_PACKET);
		return true;
	case CLI_PROMISCUOUS:
		l->options.promiscuous = true;
		return true;
	case CLI_STATS:
		l->stats_ns = cli_duration_ns("--stats", optarg);
		if (!l->stats_ns)
			cli_refuse("--stats: '%s' is no time at all", optarg);
		return true;
	case CLI_USER:
		l->user = optarg;
		return true;
	}
	return false;
}

void cli_live_filter(struct cli_live *l, int argc, char **argv)
{
	static char text[FILTER_MAX];
	size_t n = 0;

	for (int i = 0; i < argc && n < sizeof(text); i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s",
				      i ? " " : "", argv[i]);
	if (n >= sizeof(text))
		cli_refuse("the filter is longer than %d characters",
			   FILTER_MAX - 1);
	if (n)
		l->options.filter = text;
}

void cli_live_check(const struct cli *c, const struct cli_live *l)
{
	if ((l->options.kind || l->options.promiscuous) && !l->name)
		cli_usage(c, "--xdp, --no-xdp and --promiscuous need -i");
}

struct src *cli_live_open(struct cli_live *l, const uint16_t *port, bool quiet)
{
	struct fault f = {0};
	struct src *s;

	for (int i = 0; i < LIVE_PORTS && port && port[i]; i++)
		l->options.port[i] = port[i];
	if (src_open_live(&s, l->name, &l->options, &f) < 0)
		cli_fault(l->name, &f);
	if (!quiet)
		cli_warn("%s: %s", l->name, src_kind(s));
	return s;
}

void cli_live_drops(const struct cli_live *l, const struct src *s,
		    uint64_t unsent)
{
	if (s && src_drops(s))
		cli_warn("%s: %ju packets were dropped by the kernel", l->name,
			 (uintmax_t)src_drops(s));
	if (unsent)
		cli_warn("%ju packets could not be sent", (uintmax_t)unsent);
}
