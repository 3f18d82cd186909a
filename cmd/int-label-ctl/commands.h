/* SPDX-License-Identifier: BSD-2-Clause */
/* commands.h - the commands of int-label-ctl, a file each. argv[0] is the
 * command's name; they return the exit status. */
#ifndef INT_LABEL_CTL_COMMANDS_H
#define INT_LABEL_CTL_COMMANDS_H

#include "cli/option.h"
#include "label/hop.h"

extern const struct cli run_cli;

int run_main(int argc, char **argv);
int hop_main(int argc, char **argv); /* label */
int sim_main(int argc, char **argv);
int theory_main(int argc, char **argv);
int flow_main(int argc, char **argv);

/* Options of the labelling policy: label/hop.h. */

#define POLICY_INTERVAL_NS UINT64_C(50000000)

/* cli_option.read of --chance; policy_set() completes the policy with it. */
int policy_read_f(void *opts, const char *text, struct error *why);

/* Rows of an option table for struct opts and its fields policy, interval (T)
 * and rest (T1), both in ns. of: .verbs of all these options but --label. */
/* clang-format off */
#define POLICY_OPTIONS(opts, policy, interval, rest, of)                       \
	{ 'b', "base", "A|B", "label by interval (A), and by labels that a "   \
	  "packet has (B)",                                                    \
	  CLI_WORD, CLI_AT(opts, policy.kind), .words = label_kind_names,      \
	  .verbs = of },                                                       \
	{ 'f', "chance", "F", "of B: f1, f2, f3, or f(0),f(1)... (f1)",        \
	  CLI_CALL, .read = policy_read_f, .verbs = of },                      \
	{ 't', "label", "TIME", "labelling interval (50ms)", CLI_TIME,         \
	  CLI_AT(opts, interval), .min = 1000 },                               \
	{ 0, "rest", "TIME", "of B: none by chance so long after a label (0)", \
	  CLI_TIME, CLI_AT(opts, rest), .verbs = of }
/* clang-format on */

/* Completes the policy when all options are read. Exits if rest_ns is longer
 * than interval_ns, or an option of Base B is given with A. */
void policy_set(const struct cli *c, struct label_policy *p,
		uint64_t interval_ns, uint64_t rest_ns);

#endif
