/* SPDX-License-Identifier: BSD-2-Clause */
/* commands.h - the commands of int-label-ctl: a file and a table of options
 * each. argv[0] is the command's name; they return the exit status. */
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

extern const struct label_policy policy_default;

/* read() of --f, for opts that begin nowhere in particular: what it read. */
int policy_read_f(void *opts, const char *text, struct error *why);

/* Rows of a command's table: a policy, its T and T1 in ns, which are 0 or
 * POLICY_INTERVAL_NS at first. of: the rule "verbs" of all but --label. */
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

/* Completes the policy when all is read; exits if the rest is too long, or what
 * is Base B's is said of A. */
void policy_set(const struct cli *c, struct label_policy *p,
		uint64_t interval_ns, uint64_t rest_ns);

#endif
