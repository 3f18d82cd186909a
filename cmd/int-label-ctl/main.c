/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int-label-ctl - INT-label: its controller, and what belongs to it, a command
 * each. The controller is what is meant without one.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "commands.h"

static const struct {
	const char *name;
	int (*main)(int argc, char **argv);
} commands[] = {
	{"run", run_main},	 {"label", hop_main}, {"sim", sim_main},
	{"theory", theory_main}, {"flow", flow_main},
};

enum {
	COMMANDS = sizeof(commands) / sizeof(commands[0]),
};

static void no_command(const char *word)
{
	struct guess g = {.word = word};
	char names[128] = "";
	size_t len = 0;

	cli_start(&run_cli);
	if (!strcmp(word, "switch")) /* until version 1.0 */
		cli_usage(&run_cli, "'switch' is a program of its own: "
				    "dta-switch int_label, int_node");
	for (size_t i = 0; i < COMMANDS; i++)
		guess_try(&g, commands[i].name);
	if (g.best)
		cli_usage(&run_cli, "'%s' is no command%s", word,
			  guess_hint(&g));
	for (size_t i = 0; i < COMMANDS && len < sizeof(names); i++)
		len += (size_t)snprintf(names + len, sizeof(names) - len,
					"%s%s", i ? ", " : "",
					commands[i].name);
	cli_usage(&run_cli, "'%s' is no command: %s", word, names);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < COMMANDS && argc > 1; i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].main(argc - 1, argv + 1);
	if (argc > 1 && argv[1][0] != '-')
		no_command(argv[1]);
	return run_main(argc, argv);
}
