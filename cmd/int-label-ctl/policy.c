/* SPDX-License-Identifier: BSD-2-Clause */
#include "commands.h"

#include "cli/cli.h"

/* What the last --chance says: a command has one policy. */
static struct label_policy chosen;

int policy_read_f(void *opts, const char *text, struct error *why)
{
	(void)opts;
	return label_policy_f(&chosen, text, why);
}

void policy_set(const struct cli *c, struct label_policy *p,
		uint64_t interval_ns, uint64_t rest_ns)
{
	static const char *const of_b[] = {"--chance", "--rest"};
	enum label_kind kind = p->kind;

	for (unsigned i = 0; i < 2 && kind == LABEL_BASE_A; i++)
		if (cli_option_text(c, of_b[i]))
			cli_usage(c, "%s is of Base B: say --base B", of_b[i]);
	if (rest_ns > interval_ns)
		cli_refuse("--rest: it is longer than the labelling interval");
	*p = chosen;
	p->kind = kind;
	p->max_hop = LABEL_MAX_HOP;
	p->interval_us = interval_ns / 1000;
	p->rest_us = rest_ns / 1000;
}
