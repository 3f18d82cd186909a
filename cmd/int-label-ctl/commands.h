/* SPDX-License-Identifier: BSD-2-Clause */
/* commands.h - the commands of int-label-ctl: a file and a table of options
 * each. argv[0] is the command's name; they return the exit status. */
#ifndef INT_LABEL_CTL_COMMANDS_H
#define INT_LABEL_CTL_COMMANDS_H

extern const struct cli run_cli;

int run_main(int argc, char **argv);
int hop_main(int argc, char **argv); /* label */
int sim_main(int argc, char **argv);
int theory_main(int argc, char **argv);
int flow_main(int argc, char **argv);

#endif
