/* SPDX-License-Identifier: BSD-2-Clause */
/* private.h - what the files of this room share. */
#ifndef CLI_PRIVATE_H
#define CLI_PRIVATE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/ledger.h"
#include "cli/option.h"

enum {
	CLI_WORD_MAX = 32, /* of an option's name, with its dashes */
};

/* The subcommand that cli_usage() is about from now on. */
void cli_set_verb(const struct cli *c, const char *verb);

/* The next of words that blanks or bars part; false: there is none. */
bool cli_next_word(const char **at, char word[CLI_WORD_MAX]);

/* Takes an option as if it had been given; exits on a bad value. */
void cli_give(const struct cli *c, void *opts, const struct cli_option *o,
	      const char *text);

/* How many of the options named were given. */
unsigned cli_count_given(const struct cli *c, const char *names);

/* The program's name, from cli_start(). */
const char *cli_name(void);
void cli_set_name(const char *name);

/* An option's - that is written to: there is one at most. */
void cli_written(const char *dash);

/* Where a ledger goes: stderr or, while a screen is on it, what is held like
 * messages; NULL: too much is held, and this is counted. */
FILE *cli_report_to(void);

/* A ledger into the program's page, between cli_page_begin() and
 * cli_page_end(); false: it is not then. */
bool cli_page_takes(const struct ledger *l, const void *ctr);

/* A message of the program's, as cli_warn() prints it. */
void cli_message(const char *fmt, va_list ap)
	__attribute__((format(printf, 1, 0)));

/*
 * The progress line after so many seconds, above 0: parts for which room is too
 * small are left out.
 */
struct cli_progress;
void cli_progress_text(char *line, size_t room, const struct cli_progress *p,
		       double seconds);

/* The name that leads the line. */
void cli_progress_name(const char *name);

/* Takes a progress line off the terminal before something else is written. */
void cli_progress_clear(void);

#endif
