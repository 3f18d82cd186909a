/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flow.c - int-label-ctl flow: prints the commands that mark flows as
 * specific, for a device of ours or, by dta-switch apply, a switch of BMv2.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "commands.h"
#include "label/command.h"

enum {
	PERIOD_US = 10000, /* in each one packet of the flow is marked */
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

int flow_main(int argc, char **argv)
{
	char line[LABEL_COMMAND_MAX];
	uint8_t key[KEY_MAX];
	int n, verb;

	cli_start(&cli);
	n = cli_read(&cli, NULL, argc, argv);
	verb = cli_verb(&cli, argv[n]);
	cli_check(&cli, NULL, verb);
	if (n + 1 == argc)
		cli_usage(&cli, "%s which flow?", verbs[verb]);
	for (int i = n + 1; i < argc; i++) {
		size_t len = KEY_FLOW4_LEN;
		int rc = key_parse(key, KEY_FLOW4, len, argv[i]);

		if (rc) {
			len = KEY_FLOW6_LEN;
			rc = key_parse(key, KEY_FLOW6, len, argv[i]);
		}
		if (rc ||
		    !strchr(argv[i], '>')) /* key_parse() also reads hex */
			cli_refuse("'%s' is no flow: "
				   "10.0.0.1:443>10.0.0.2:5501/tcp",
				   argv[i]);
		label_command_flow(line, key, len, verb ? 0 : PERIOD_US);
		printf("%s\n", line);
	}
	return CLI_OK;
}
