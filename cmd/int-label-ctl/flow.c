/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flow.c - int-label-ctl flow: which flows a device marks as specific. Lines
 * for a switch of BMv2 go by dta-switch apply.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "commands.h"
#include "label/command.h"

enum {
	FLOW_ADD,
	FLOW_DEL,
	PERIOD_US = 10000,
};

static const struct cli_option options[] = {{0}};

static const char *const verbs[] = {"add", "del", NULL};

static const struct cli cli = {
	.name = "int-label-ctl flow",
	.summary = "have every device on the way of a flow label its packets",
	.usage = "int-label-ctl flow add FLOW...\n"
		 "int-label-ctl flow del FLOW...",
	.options = options,
	.verbs = verbs,
};

static size_t read_key(uint8_t key[KEY_MAX], const char *text)
{
	static const enum key_type types[] = {KEY_FLOW4, KEY_FLOW6};

	for (unsigned i = 0; i < 2; i++) {
		size_t len = key_type_len(types[i]);

		if (strchr(text, '>') && !key_parse(key, types[i], len, text))
			return len;
	}
	cli_refuse("'%s' is no flow: 10.0.0.1:443>10.0.0.2:5501/tcp", text);
}

static void one_flow(const char *flow, bool add)
{
	char line[LABEL_COMMAND_MAX];
	uint8_t key[KEY_MAX];
	size_t len = read_key(key, flow);

	label_command_flow(line, key, len, add ? PERIOD_US : 0);
	printf("%s\n", line);
}

int flow_main(int argc, char **argv)
{
	int n, verb;

	cli_start(&cli);
	n = cli_read(&cli, NULL, argc, argv);
	verb = cli_verb(&cli, argv[n]);
	cli_check(&cli, NULL, verb);
	if (n + 1 == argc)
		cli_usage(&cli, "%s which flow?", verbs[verb]);
	for (int i = n + 1; i < argc; i++)
		one_flow(argv[i], verb == FLOW_ADD);
	return CLI_OK;
}
