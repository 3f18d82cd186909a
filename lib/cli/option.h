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
	CLI_FLAG,   /* no argument; bool or a whole number: min, or 1 if 0 */
	CLI_STR,    /* const char *, not empty */
	CLI_IN,	    /* the same, a file that is read; - is stdin */
	CLI_OUT,    /* the same, a file that is written; - is stdout */
	CLI_U64,    /* digits: a whole number of any width */
	CLI_SIZE,   /* the same, as text_size() reads it: 20K, 64Mi, 1e6 */
	CLI_F64,    /* double, from low to high; shares also as 99% */
	CLI_TIME,   /* uint64_t, ns: 250us, 100ms, 5s, 1m, 2h, 1d; a bare number
		       is seconds */
	CLI_WORD,   /* one of words: a whole number, min and its place */
	CLI_FORMAT, /* enum row_format */
	CLI_CALL,   /* what read() makes of it */
};

struct cli_option {
	int ch;		  /* short letter, or 0 */
	const char *name; /* long name */
	const char *arg;  /* placeholder of its argument, NULL if none */
	const char *help; /* one line; NULL hides it */
	enum cli_type type;
	uint16_t at, width; /* CLI_AT() */
	/* Of whole numbers and times; max 0: what there is room for. */
	uint64_t min, max;
	double low, high;
	const char *const *words; /* ends with NULL */
	/*
	 * CLI_CALL. Returns 0, or error_set() of what is behind the
	 * value: "is not N or N-M".
	 */
	int (*read)(void *opts, const char *text, struct error *why);
	/*
	 * Rules; names as they are to be shown, "--count" or "-r". needs: each
	 * of the words, of which "-r|-i" is either. verbs: only for these
	 * subcommands. why: said behind a refusal for what it needs.
	 */
	const char *needs, *verbs, *why;
	bool rare;	 /* --help-all tells of it, -h does not */
	const char *was; /* what 1.0 called it, which still works: "-t" */
};

/* Where a value goes: CLI_AT(struct opts, count). */
#define CLI_AT(opts, field)                                                    \
	.at = offsetof(opts, field), .width = sizeof(((opts *)0)->field)

/* Options of which one at most may be given. */
struct cli_group {
	const char *names; /* "-r -i" */
	const char *ask;   /* a question: then one must be; else NULL */
	const char *why;   /* said behind a refusal, or NULL */
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
 * Reads the options of a command line into *opts; they and operands may come in
 * any order. Handles -h, --help-all and -V. A bad one: a message that names it,
 * and exit status 2. Returns the place of the first operand in argv, which is
 * argc if there is none.
 */
int cli_read(const struct cli *c, void *opts, int argc, char **argv);

/* Prints the options of a verb, and those of all verbs: as --help-all does. */
void cli_help_options(const struct cli *c, const char *verb);

/* Which of the verbs a word is; exits on another one, NULL too. */
int cli_verb(const struct cli *c, const char *word);

/*
 * Applies the rules to what cli_read() read: groups, verbs (verb < 0: none),
 * needs. Of the files read one at most is stdin, of those written one is
 * stdout, and none is written that is another one, too. Exits with 2 and a
 * message.
 */
void cli_check(const struct cli *c, const void *opts, int verb);
/* The same with the verb's name; NULL: none. */
void cli_check_named(const struct cli *c, const void *opts, const char *verb);

/*
 * Where none of the options named (as in a group) was given, the first of them
 * takes the value of an environment variable, if that has one: as if it had
 * been given. Between cli_read() and cli_check().
 */
void cli_from_env(const struct cli *c, void *opts, const char *names,
		  const char *variable);

/* An environment variable; NULL if it is not there, or empty. */
const char *cli_env(const char *variable);

/* The last argument that cli_read() read for an option ("--count"), "" for a
 * flag; NULL: it was not given. */
const char *cli_text(const struct cli *c, const char *name);

/*
 * Stores a value as the option does. A flag takes yes or no. Returns 0, or
 * -EINVAL, and why is what is behind the value: "is not a number from 1 to 4".
 * text must live as long as *opts.
 */
int cli_set(const struct cli_option *o, void *opts, const char *text,
	    struct error *why);
/*
 * A set of names for a read(): "a,b" is 1 << each, "none", "all"; NULL: all.
 * of(i) is the name of i, NULL behind the last. 0, or -EINVAL and why.
 */
int cli_names(unsigned *set, const char *text, const char *(*of)(unsigned),
	      unsigned all, struct error *why);
/* Of rows on stdout as CSV, which has one header: refuses a set of several
 * kinds. */
void cli_one_kind(unsigned kinds);

#endif
