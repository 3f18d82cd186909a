/* SPDX-License-Identifier: BSD-2-Clause */
/* rule.c - which options go together, by a program's table. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/guess.h"
#include "cli/cli.h"
#include "cli/option.h"
#include "cli/private.h"

enum {
	NAMES_MAX = 256,
	FILES_MAX = 32,
};

/* "A, B and C" of "A B C", last being " and ". */
static const char *list_of(const char *names, const char *last,
			   char out[NAMES_MAX])
{
	char word[CLI_WORD_MAX], after[CLI_WORD_MAX];
	size_t n = 0;

	cli_next_word(&names, word);
	n = (size_t)snprintf(out, NAMES_MAX, "%s", word);
	for (bool more = cli_next_word(&names, word); more && n < NAMES_MAX;) {
		more = cli_next_word(&names, after);
		n += (size_t)snprintf(out + n, NAMES_MAX - n, "%s%s",
				      more ? ", " : last, word);
		memcpy(word, after, sizeof(word));
	}
	return out;
}

unsigned cli_count_given(const struct cli *c, const char *names)
{
	char word[CLI_WORD_MAX];
	unsigned n = 0;

	while (cli_next_word(&names, word))
		n += cli_text(c, word) != NULL;
	return n;
}

static void check_group(const struct cli *c, const struct cli_group *g)
{
	unsigned n = cli_count_given(c, g->names);
	char names[NAMES_MAX];

	if (!n && g->ask)
		cli_usage(c, "%s Say %s", g->ask,
			  list_of(g->names, " or ", names));
	if (n > 1)
		cli_usage(c, "only one of %s may be given%s%s",
			  list_of(g->names, " and ", names), g->why ? ": " : "",
			  g->why ? g->why : "");
}

static void check_verb(const struct cli *c, const struct cli_option *o,
		       const char *verb)
{
	const char *at = o->verbs;
	char word[CLI_WORD_MAX], names[NAMES_MAX];

	while (cli_next_word(&at, word))
		if (!strcmp(word, verb))
			return;
	cli_usage(c, "--%s is for %s", o->name,
		  list_of(o->verbs, " and ", names));
}

/* Each of the words of needs, of which A|B|C is any. */
static void check_needs(const struct cli *c, const struct cli_option *o)
{
	const char *at = o->needs;
	char any[NAMES_MAX], names[NAMES_MAX];

	while (*at) {
		size_t n = strcspn(at, " ");

		snprintf(any, sizeof(any), "%.*s", (int)n, at);
		if (!cli_count_given(c, any))
			cli_usage(c, "--%s needs %s%s%s", o->name,
				  list_of(any, " or ", names),
				  o->why ? ": " : "", o->why ? o->why : "");
		at += n;
		at += strspn(at, " ");
	}
}

/* One file, by whatever names; devices and pipes do not count. */
static bool same_file(const char *a, const char *b)
{
	struct stat s, t;

	if (stat(a, &s) < 0 || stat(b, &t) < 0)
		return !strcmp(a, b); /* not there yet */
	return S_ISREG(s.st_mode) && s.st_dev == t.st_dev &&
	       s.st_ino == t.st_ino;
}

void cli_apart(const char *file, const char *written)
{
	if (file && written && strcmp(file, "-") && strcmp(written, "-") &&
	    same_file(file, written))
		cli_refuse("%s: named twice: it would be overwritten", written);
}

/* The files of the options of a type, and their names. */
struct files {
	const char *path[FILES_MAX];
	unsigned n;
	char dashes[NAMES_MAX]; /* the options that are - */
};

static struct files files_of(const struct cli *c, const void *opts,
			     enum cli_type type)
{
	struct files f = {0};
	size_t n = 0;

	for (const struct cli_option *o = c->options; o->name; o++) {
		const char *path;

		if (o->type != type)
			continue;
		memcpy(&path, (const char *)opts + o->at, sizeof(path));
		if (!path || f.n == FILES_MAX)
			continue;
		f.path[f.n++] = path;
		if (!strcmp(path, "-"))
			n += (size_t)snprintf(f.dashes + n, NAMES_MAX - n,
					      " --%s", o->name);
	}
	return f;
}

static void check_dashes(const struct cli *c, const struct files *f,
			 const char *stream)
{
	char names[NAMES_MAX];

	if (strchr(f->dashes + (*f->dashes != 0), ' '))
		cli_usage(c,
			  "the %s cannot be two files: only one of %s may be -",
			  stream, list_of(f->dashes, " and ", names));
}

static void check_files(const struct cli *c, const void *opts)
{
	struct files in = files_of(c, opts, CLI_IN);
	struct files out = files_of(c, opts, CLI_OUT);

	check_dashes(c, &in, "standard input");
	check_dashes(c, &out, cli_stdout);
	for (unsigned i = 0; i < out.n; i++) {
		for (unsigned k = 0; k < in.n; k++)
			cli_apart(in.path[k], out.path[i]);
		for (unsigned k = 0; k < i; k++)
			cli_apart(out.path[k], out.path[i]);
	}
}

const char *cli_env(const char *variable)
{
	const char *text = getenv(variable);

	return text && *text ? text : NULL;
}

void cli_from_env(const struct cli *c, void *opts, const char *names,
		  const char *variable)
{
	const char *text = cli_env(variable);
	char word[CLI_WORD_MAX];

	if (!text || cli_count_given(c, names))
		return;
	cli_next_word(&names, word);
	cli_give(c, opts, cli_find(c, word), text);
}

int cli_verb(const struct cli *c, const char *word)
{
	char names[NAMES_MAX] = "", out[NAMES_MAX];
	struct guess g = {.word = word};
	size_t n = 0;

	for (int i = 0; c->verbs[i]; i++) {
		if (word && !strcmp(word, c->verbs[i])) {
			cli_set_verb(c, word);
			return i;
		}
		n += (size_t)snprintf(names + n, sizeof(names) - n, " %s",
				      c->verbs[i]);
	}
	list_of(names, " or ", out);
	if (!word)
		cli_usage(c, "%s?", out);
	cli_usage(c, "'%s' is not %s%s", word, out, guess_words(&g, c->verbs));
}

void cli_check(const struct cli *c, const void *opts, int verb)
{
	cli_check_named(c, opts, verb < 0 ? NULL : c->verbs[verb]);
}

void cli_check_named(const struct cli *c, const void *opts, const char *verb)
{
	for (const struct cli_group *g = c->groups; g && g->names; g++)
		check_group(c, g);
	for (const struct cli_option *o = c->options; o->name; o++) {
		char name[CLI_WORD_MAX];

		snprintf(name, sizeof(name), "--%s", o->name);
		if (!cli_text(c, name))
			continue;
		if (o->verbs && verb)
			check_verb(c, o, verb);
		if (o->needs)
			check_needs(c, o);
	}
	check_files(c, opts);
}
