/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int-label-ctl - INT-label: its controller, and what belongs to it, a command
 * each. The controller is what is meant without one.
 */
#include <string.h>

#include "cli/cli.h"
#include "commands.h"

static const char *const names[] = {"run",    "label", "sim",
				    "theory", "flow",  NULL};

static int (*const mains[])(int argc, char **argv) = {
	run_main, hop_main, sim_main, theory_main, flow_main,
};

int main(int argc, char **argv)
{
	struct cli commands = run_cli;

	if (argc < 2 || argv[1][0] == '-')
		return run_main(argc, argv);
	for (unsigned i = 0; names[i]; i++)
		if (!strcmp(argv[1], names[i]))
			return mains[i](argc - 1, argv + 1);
	commands.verbs = names;
	cli_start(&run_cli);
	if (!strcmp(argv[1], "switch")) /* until version 1.0 */
		cli_usage(&run_cli, "'switch' is a program of its own: "
				    "dta-switch int_label, int_node");
	cli_verb(&commands, argv[1]); /* which exits */
	return CLI_USAGE;
}
