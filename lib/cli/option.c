/* SPDX-License-Identifier: BSD-2-Clause */
/* option.c - the command line, read by a program's table. */
#include "cli/option.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/guess.h"
#include "cli/cli.h"
#include "cli/private.h"

enum {
	OPTIONS_MAX = 64,
	HELP_COLUMN = 26,     /* where the help of an option begins, of 80 */
	LONG_ONLY = 0x10000,  /* and its place: what getopt_long calls it */
	JSON = LONG_ONLY - 1, /* --json */
};

/* What was given, by the option's place in its table. */
static const char *given[OPTIONS_MAX];

/* The synopsis: its lines after the first are set below the first. */
static void print_usage(const struct cli *c)
{
	const char *line = c->usage, *lead = "usage: ";

	while (*line) {
		int len = (int)strcspn(line, "\n");

		printf("%s%.*s\n", lead, len, line);
		line += len + (line[len] == '\n');
		lead = "       ";
	}
}

/* Help beside an option, in lines that keep within 80 columns. */
static void print_help(const char *text)
{
	size_t left = strlen(text), room = 80 - HELP_COLUMN;

	while (left > room) {
		const char *blank = memrchr(text, ' ', room + 1);
		size_t len = blank ? (size_t)(blank - text) : room;

		printf("%.*s\n%*s", (int)len, text, HELP_COLUMN, "");
		len += blank != NULL;
		text += len;
		left -= len;
	}
	printf("%s\n", text);
}

static void print_option(const struct cli_option *o)
{
	char left[80];
	int n;

	n = snprintf(left, sizeof(left), o->ch ? "  -%c, " : "      ", o->ch);
	n += snprintf(left + n, sizeof(left) - (size_t)n, "--%s%s%s", o->name,
		      o->arg ? " " : "", o->arg ? o->arg : "");
	printf("%-*s", HELP_COLUMN, left);
	if (n > HELP_COLUMN - 2)
		printf("\n%*s", HELP_COLUMN, "");
	print_help(o->help);
}

/* The option that --json stands for with ndjson, NULL if there is none. */
static const struct cli_option *format_of(const struct cli *c)
{
	const struct cli_option *o = c->options;

	while (o->name && o->type != CLI_FORMAT)
		o++;
	return o->name ? o : NULL;
}

bool cli_next_word(const char **at, char word[CLI_WORD_MAX])
{
	size_t n;

	*at += strspn(*at, " |");
	n = strcspn(*at, " |");
	assert(n < CLI_WORD_MAX);
	memcpy(word, *at, n);
	word[n] = 0;
	*at += n;
	return n > 0;
}

/* Whether an option is for a verb; NULL: any. */
static bool is_for(const struct cli_option *o, const char *verb)
{
	const char *at = o->verbs;
	char word[CLI_WORD_MAX];

	if (!verb || !at)
		return true;
	while (cli_next_word(&at, word))
		if (!strcmp(word, verb))
			return true;
	return false;
}

void cli_help_options(const struct cli *c, const char *verb)
{
	for (const struct cli_option *o = c->options; o->name; o++)
		if (o->help && is_for(o, verb))
			print_option(o);
}

static void help(const struct cli *c)
{
	static const struct cli_option own[] = {
		{'h', "help", NULL, "print this and exit"},
		{'V', "version", NULL,
		 "print the version, what is built in, and exit"},
	};

	print_usage(c);
	printf("\n%s\n\n", c->summary);
	cli_help_options(c, NULL);
	for (unsigned i = 0; i < 2; i++)
		print_option(&own[i]);
	if (format_of(c))
		printf("\n--json is --%s ndjson.\n", format_of(c)->name);
	exit(CLI_OK);
}

/* How getopt_long tells of an option: by its letter, or its place. */
static int code_of(const struct cli *c, const struct cli_option *o)
{
	return o->ch ? o->ch : LONG_ONLY + (int)(o - c->options);
}

static const struct cli_option *by_code(const struct cli *c, int code)
{
	const struct cli_option *o = c->options;

	while (o->name && code_of(c, o) != code)
		o++;
	return o->name ? o : NULL;
}

/* The tables of getopt_long; ':' leads, so that we report errors. */
static void getopt_tables(const struct cli *c, char *letters,
			  struct option *names)
{
	static const struct option json = {"json", no_argument, NULL, JSON};
	static const struct option own[] = {
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
		{0},
	};
	unsigned n = 0;

	*letters++ = ':';
	for (const struct cli_option *o = c->options;
	     o->name && n < OPTIONS_MAX; o++) {
		names[n++] = (struct option){
			o->name, o->arg ? required_argument : no_argument, NULL,
			code_of(c, o)};
		if (!o->ch)
			continue;
		*letters++ = (char)o->ch;
		if (o->arg)
			*letters++ = ':';
	}
	if (format_of(c))
		names[n++] = json;
	memcpy(names + n, own, sizeof(own));
	memcpy(letters, "hV", sizeof("hV"));
}

/* How the option that getopt_long stumbled over was written. */
static const char *bad_option(const struct cli *c, char **argv)
{
	static char text[64];
	const struct cli_option *o = by_code(c, optopt);
	const char *word = argv[optind - 1];

	if (o)
		snprintf(text, sizeof(text), "--%s", o->name);
	else if (optopt && optopt < 256)
		snprintf(text, sizeof(text), "-%c", optopt);
	else
		snprintf(text, sizeof(text), "%.*s", (int)strcspn(word, "="),
			 word);
	return text;
}

/* An option that there is not. */
static __attribute__((noreturn)) void
unknown(const struct cli *c, const struct option *names, const char *text)
{
	struct guess g = {.word = text + 2};

	if (strncmp(text, "--", 2) != 0)
		cli_usage(c, "unknown option %s", text);
	for (; names->name; names++)
		guess_try(&g, names->name);
	cli_usage(c,
		  g.best ? "unknown option %s; did you mean --%s?"
			 : "unknown option %s",
		  text, g.best);
}

/* getopt_long takes --creat for --create; we do not: the next version's
 * --creature would change what a script does. */
static void refuse_abbreviation(const struct cli *c, const struct option *names,
				const struct option *o, char **argv)
{
	const char *word = argv[optind - 1];
	size_t len;

	if (word == optarg)
		word = argv[optind - 2];
	len = strcspn(word, "=");
	if (len != strlen(o->name) + 2) {
		char text[64];

		snprintf(text, sizeof(text), "%.*s", (int)len, word);
		unknown(c, names, text);
	}
}

/* Of two names or files one would be ignored in silence. */
static bool only_once(const struct cli_option *o)
{
	return o->type == CLI_STR || o->type == CLI_IN || o->type == CLI_OUT;
}

void cli_give(const struct cli *c, void *opts, const struct cli_option *o,
	      const char *text)
{
	struct fault why;

	given[o - c->options] = o->arg ? text : "";
	if (o->type == CLI_OUT && !strcmp(text, "-"))
		cli_written(text);
	if (cli_set(o, opts, o->arg ? text : "yes", &why) < 0)
		cli_refuse("--%s: '%s' %s", o->name, text, why.text);
}

static void take(const struct cli *c, void *opts, const struct cli_option *o,
		 const char *text)
{
	if (only_once(o) && given[o - c->options])
		cli_usage(c, "--%s is given twice: '%s' and '%s'", o->name,
			  given[o - c->options], text);
	cli_give(c, opts, o, text);
}

int cli_read(const struct cli *c, void *opts, int argc, char **argv)
{
	char letters[2 * OPTIONS_MAX + 4];
	struct option names[OPTIONS_MAX + 4];
	int code, place = -1;

	getopt_tables(c, letters, names);
	memset(given, 0, sizeof(given));
	opterr = 0;
	while ((code = getopt_long(argc, argv, letters, names, &place)) != -1) {
		if (place >= 0)
			refuse_abbreviation(c, names, &names[place], argv);
		place = -1;
		switch (code) {
		case 'h':
			help(c);
			break;
		case 'V':
			printf("%s %s\n%s\n", c->name, VERSION, BUILT_IN);
			exit(CLI_OK);
		case ':':
			cli_usage(c, "%s: argument missing",
				  bad_option(c, argv));
		case '?':
			if (!strncmp(argv[optind - 1], "--", 2) && optopt)
				cli_usage(c, "%s takes no argument",
					  bad_option(c, argv));
			unknown(c, names, bad_option(c, argv));
		case JSON:
			take(c, opts, format_of(c), "ndjson");
			break;
		default:
			take(c, opts, by_code(c, code), optarg);
		}
	}
	return optind;
}

const struct cli_option *cli_find(const struct cli *c, const char *name)
{
	const struct cli_option *o = c->options;
	bool letter = name[1] != '-';

	while (o->name && (letter ? o->ch != name[1] || name[2]
				  : strcmp(o->name, name + 2) != 0))
		o++;
	assert(o->name); /* a rule of the table names what is not there */
	return o;
}

const char *cli_text(const struct cli *c, const char *name)
{
	return given[cli_find(c, name) - c->options];
}
