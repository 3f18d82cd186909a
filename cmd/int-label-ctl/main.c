/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int-label-ctl - INT-label: its controller, and what belongs to it, a command
 * each. The controller is what is meant without one.
 */
#include <stddef.h>
#include <string.h>

#include "commands.h"

static const struct {
	const char *name;
	int (*main)(int argc, char **argv);
} commands[] = {
	{"run", run_main},	 {"label", hop_main}, {"sim", sim_main},
	{"theory", theory_main}, {"flow", flow_main}, {"switch", switch_main},
};

int main(int argc, char **argv)
{
	size_t n = sizeof(commands) / sizeof(commands[0]);

	for (size_t i = 0; i < n && argc > 1; i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].main(argc - 1, argv + 1);
	return run_main(argc, argv);
}
