/* SPDX-License-Identifier: BSD-2-Clause */
/* shell.h - the shell's state, and what a line can begin with. */
#ifndef QUERY_SHELL_H
#define QUERY_SHELL_H

#include <signal.h>

#include "reading/lines.h"
#include "options.h"
#include "base/words.h"

enum {
	WORDS_MAX = LINE_MAX_LEN / 2 + 2,
	SETTINGS = 7,
	SETTING_MAX = 64, /* characters of a value, and the end */
};

struct shell {
	struct opts o; /* of every command, as set */
	struct places *p;
	bool terminal, quit;
	const volatile sig_atomic_t *interrupted; /* since the line was begun */
	int status;				  /* of the last command */
	char set[SETTINGS][SETTING_MAX]; /* values, as text; o points at them */
	int argc;
	char *argv[WORDS_MAX + 1];
};

/* Commands that are the shell's own; ends with { 0 }. */
struct builtin {
	const char *name, *help;
	int (*run)(struct shell *sh);
};
extern const struct builtin builtins[];

/* What can be set: an option's name, and how its default is shown. */
struct setting {
	const char *name, *normal;
};
extern const struct setting settings[SETTINGS];

/*
 * The shell: every command is o, changed by its own options. The exit status of
 * the last command.
 */
int run_shell(const struct opts *o, struct places *p);

/* Lines from a terminal, with history and completion. */
struct terminal;
struct terminal *terminal_open(struct shell *sh);     /* NULL: no memory */
char *terminal_line(struct terminal *t, size_t *len); /* NULL at the end */
void terminal_close(struct terminal *t);

#endif
