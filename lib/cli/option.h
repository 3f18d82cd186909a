/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * option.h - a program's command line as a table: what each option is, where
 * its value goes, what it needs and what it excludes. cli_read() fills the
 * program's struct of options from it, cli_check() applies the rules, -h prints
 * it.
 */
#ifndef CLI_OPTION_H
#define CLI_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "row/row.h"

/* What an option's argument is, and what it is stored as. */
enum cli_type {
	CLI_FLAG,   /* no argument; a bool or whole number: min, or 1 */
	CLI_STR,    /* const char *, not empty */
	CLI_STRS,   /* each time one more: an array of these, NULL at the end */
	CLI_IN,	    /* as CLI_STR, a file that is read; - is stdin */
	CLI_OUT,    /* the same, a file that is written; - is stdout */
	CLI_U64,    /* digits: a whole number of any width */
	CLI_SIZE,   /* the same, as text_size() reads it: 20K, 64Mi, 1e6 */
	CLI_F64,    /* double, from low to high; if high is 1, also as 99% */
	CLI_TIME,   /* uint64_t, ns: 250us, 100ms, 5s, 1m, 2h, 1d; 5 is 5s */
	CLI_WORD,   /* one of words: a whole number, min + its index */
	CLI_SET,    /* some of words, with commas between, all or none: a bit
		     * for each, in a whole number */
	CLI_FORMAT, /* enum row_format */
	CLI_CALL,   /* whatever read() stores */
};

struct cli_option {
	int ch;		  /* short letter, or 0 */
	const char *name; /* long name */
	const char *arg;  /* placeholder of its argument, NULL if none */
	const char *help; /* one line; NULL hides it */
	enum cli_type type;
	uint16_t at, width; /* where it is stored: CLI_AT() */
	/* Of whole numbers and times; max 0: the largest that fits. */
	uint64_t min, max;
	double low, high;
	const char *const *words; /* ends with NULL */
	/* For CLI_CALL. Returns 0, or error_set() with how a message about the
	 * value goes on: "is not N or N-M". */
	int (*read)(void *opts, const char *text, struct error *why);
	/* Rules. needs: options, such as "--count -r|-i", each of which must be
	 * given, too; of -r|-i either. verbs: subcommands that have this
	 * option; NULL: all. why: added to the message if needs is not met. */
	const char *needs, *verbs, *why;
	bool rare;	 /* --help-all tells of it, -h does not */
	const char *was; /* what 1.0 called it, which still works: "-t" */
};

/* Where a value goes: CLI_AT(struct opts, count). */
#define CLI_AT(opts, field)                                                    \
	.at = offsetof(opts, field), .width = sizeof(((opts *)0)->field)

/* Options beside --output for programs whose rows have times, and flows; with
 * further fields of struct cli_option. */
/* clang-format off */
#define CLI_TIME_OPTION(...)                                                   \
	{ 0, "time", "FORM", "times in rows: unix (seconds, the default), iso",\
	  CLI_CALL, .read = cli_read_time_form, __VA_ARGS__ }
#define CLI_FLOW_OPTION(...)                                                   \
	{ 0, "split-flow", NULL,                                               \
	  "flows as columns src, sport, dst, dport, proto",                    \
	  CLI_CALL, .read = cli_read_split_flow, __VA_ARGS__ }
/* clang-format on */
int cli_read_time_form(void *opts, const char *text, struct error *why);
int cli_read_split_flow(void *opts, const char *text, struct error *why);

/* Options of which one at most may be given. */
struct cli_group {
	const char *names; /* "-r -i" */
	const char *ask;   /* asked if none is given; NULL: none need be */
	const char *why;   /* added to the message if two are; or NULL */
};

struct cli {
	const char *name;    /* "dta-dump" */
	const char *summary; /* one line */
	const char *usage;   /* synopsis lines, without "usage: " */
	/* Ends with { 0 }; -h, --help-all and -V are added. At most 64. */
	const struct cli_option *options;
	const struct cli_group *groups; /* ends with { 0 }; or NULL */
	const char *const *verbs; /* subcommands, ends with NULL; or NULL */
};

/*
 * Reads the options of a command line into *opts, and moves operands, which may
 * stand between them, to the end of argv. Handles -h, --help-all and -V. On a
 * bad option, exits with 2 and a message that names it. Returns the index of
 * the first operand in argv, or argc.
 */
int cli_read(const struct cli *c, void *opts, int argc, char **argv);

/* Prints the options that a verb has, as --help-all does. */
void cli_help_options(const struct cli *c, const char *verb);

/* The index of the verb that a word is; exits if it is none, or NULL. */
int cli_verb(const struct cli *c, const char *word);

/* Applies the rules to what cli_read() read: groups, verbs (verb < 0: none),
 * needs. At most one input may be stdin, at most one output stdout, and no
 * output may be the same file as another one. Exits with 2 and a message. */
void cli_check(const struct cli *c, const void *opts, int verb);
/* The same with the verb's name; NULL: none. */
void cli_check_named(const struct cli *c, const void *opts, const char *verb);

/* If none of the options named (as in a group) was given, and an environment
 * variable is set, gives its value to the first of them. To be called between
 * cli_read() and cli_check(). */
void cli_from_env(const struct cli *c, void *opts, const char *names,
		  const char *variable);

/* An environment variable; NULL if it is not set, or empty. */
const char *cli_env(const char *variable);

/* The text given to an option ("--count"), the last one if there were more; ""
 * for a flag; NULL: it was not given. */
const char *cli_option_text(const struct cli *c, const char *name);

/* Stores a value as the option would. A flag takes yes or no. Returns 0, or
 * -EINVAL and why, as read() does: "is not a number from 1 to 4". text must
 * live as long as *opts. */
int cli_set(const struct cli_option *o, void *opts, const char *text,
	    struct error *why);
/* For CSV on stdout: exits with 2 if the set has several kinds of rows. */
void cli_check_csv_kinds(unsigned kinds);

#endif
