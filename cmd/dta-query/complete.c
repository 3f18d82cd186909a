/* SPDX-License-Identifier: BSD-2-Clause */
#include "complete.h"

#include <stdio.h>
#include <string.h>

#include "shell.h"

enum {
	CHOICES_MAX = 256,
	CHOICE_ROOM = 64,
	LINE_WIDTH = 78,
};

/* What the word under the cursor can become. */
struct choices {
	const char *word; /* as typed so far */
	size_t len;
	unsigned n;
	char text[CHOICES_MAX][CHOICE_ROOM];
};

static void offer(struct choices *c, const char *dashes, const char *text)
{
	char *out;

	if (c->n == CHOICES_MAX || !text)
		return;
	out = c->text[c->n];
	snprintf(out, CHOICE_ROOM, "%s%s", dashes, text);
	if (!strncmp(out, c->word, c->len))
		c->n++;
}

static void offer_commands(struct choices *c)
{
	for (int v = VERB_KEYWRITE; v < VERBS; v++)
		offer(c, "", verb_name((enum verb)v));
	for (const struct builtin *b = builtins; b->name; b++)
		offer(c, "", b->name);
}

static void offer_tables(struct choices *c, const struct shell *sh)
{
	for (unsigned i = 0; i < sh->p->sources; i++)
		for (unsigned k = 0; k < source_tables(&sh->p->source[i]); k++)
			offer(c, "", source_table(&sh->p->source[i], k)->name);
}

static void offer_all(struct choices *c, const char *const *text)
{
	while (*text)
		offer(c, "", *text++);
}

/* Values of an option or a setting. */
static void offer_values(struct choices *c, const struct shell *sh,
			 const char *name)
{
	static const char *const policies[] = {
		"plurality",   "first",	      "unique", "consensus:2",
		"consensus:3", "consensus:4", NULL};
	static const char *const formats[] = {"text", "csv", "ndjson", NULL};
	static const char *const answers[] = {"yes", "no", NULL};

	if (!strcmp(name, "table"))
		offer_tables(c, sh);
	else if (!strcmp(name, "policy"))
		offer_all(c, policies);
	else if (!strcmp(name, "output"))
		offer_all(c, formats);
	else if (!strcmp(name, "partial"))
		offer_all(c, answers);
	else if (!strcmp(name, "as"))
		for (unsigned i = 0; render_name_at(i); i++)
			offer(c, "", render_name_at(i));
}

/* The long name of an option as it was typed, "" if it takes no value. */
static const char *option_name(const char *typed)
{
	for (const struct cli_option *o = cli.options; o->name; o++) {
		if (typed[0] != '-' || !o->arg)
			continue;
		if (typed[1] == '-' ? !strcmp(typed + 2, o->name)
				    : typed[1] == o->ch && !typed[2])
			return o->name;
	}
	return "";
}

/* argv: the words before the one under the cursor. */
static void find_choices(struct choices *c, const struct shell *sh, char **argv,
			 int argc)
{
	const char *before = argc ? argv[argc - 1] : "";

	if (argc == 0) {
		offer_commands(c);
	} else if (!strcmp(argv[0], "set")) {
		for (unsigned i = 0; argc == 1 && i < SETTINGS; i++)
			offer(c, "", settings[i].name);
		if (argc == 2)
			offer_values(c, sh, before);
	} else if (*option_name(before)) {
		offer_values(c, sh, option_name(before));
	} else if (c->len && c->word[0] == '-') {
		for (const struct cli_option *o = cli.options; o->name; o++)
			offer(c, "--", o->name);
	}
}

/* Characters that all choices begin with. */
static size_t common(const struct choices *c)
{
	size_t n = strlen(c->text[0]);

	for (unsigned i = 1; i < c->n; i++)
		while (strncmp(c->text[0], c->text[i], n) != 0)
			n--;
	return n;
}

static void print_choices(const struct choices *c)
{
	size_t at = 0;

	putchar('\n');
	for (unsigned i = 0; i < c->n; i++) {
		at += strlen(c->text[i]) + 2;
		if (at > LINE_WIDTH) {
			putchar('\n');
			at = strlen(c->text[i]) + 2;
		}
		printf("%s  ", c->text[i]);
	}
	putchar('\n');
	fflush(stdout);
}

unsigned char complete(EditLine *el, wint_t ch)
{
	static struct choices c; /* much for a stack */
	static char *argv[WORDS_MAX + 1];
	static char line[LINE_MAX_LEN + 1];
	const LineInfo *li = el_line(el);
	size_t cursor = (size_t)(li->cursor - li->buffer), word = cursor, n;
	struct shell *sh = NULL;
	int argc;

	(void)ch;
	if (cursor > LINE_MAX_LEN || el_get(el, EL_CLIENTDATA, &sh) < 0 || !sh)
		return CC_ERROR;
	while (word && li->buffer[word - 1] != ' ')
		word--;
	memcpy(line, li->buffer, cursor);
	line[cursor] = '\0';
	c.n = 0;
	c.len = cursor - word;
	c.word = li->buffer + word;
	line[word] = '\0';
	argc = words_split(line, argv, WORDS_MAX - 1);
	if (argc < 0)
		return CC_ERROR;
	find_choices(&c, sh, argv, argc);
	if (!c.n)
		return CC_ERROR;
	n = common(&c);
	if (n == c.len && c.n > 1) {
		print_choices(&c);
		return CC_REDISPLAY;
	}
	if (c.n == 1) {
		c.text[0][n] = ' ';
		n++;
	}
	c.text[0][n] = '\0';
	return el_insertstr(el, c.text[0] + c.len) < 0 ? CC_ERROR : CC_REFRESH;
}
