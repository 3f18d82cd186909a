/* SPDX-License-Identifier: BSD-2-Clause */
/* The shell on a terminal: editing, history and completion by libedit. */
#include <errno.h>
#include <histedit.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "shell.h"

enum {
	CHOICES_MAX = 256,
	CHOICE_ROOM = 64,
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

/* Values of an option or a setting. */
static void offer_values(struct choices *c, const struct shell *sh,
			 const char *name)
{
	static const char *const policies[] = {"plurality",   "first",
					       "unique",      "consensus:2",
					       "consensus:3", "consensus:4"};

	if (!strcmp(name, "table"))
		offer_tables(c, sh);
	for (unsigned i = 0; i < 6 && !strcmp(name, "policy"); i++)
		offer(c, "", policies[i]);
	for (unsigned i = 0; render_name_at(i) && !strcmp(name, "as"); i++)
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
	putchar('\n');
	for (unsigned i = 0; i < c->n; i++)
		printf("%s  ", c->text[i]);
	putchar('\n');
	fflush(stdout);
}

/* What the Tab key does. */
static unsigned char complete(EditLine *el, wint_t ch)
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

enum {
	HISTORY_MAX = 1000,
	PATH_ROOM = 4096,
};

struct terminal {
	EditLine *el;
	History *history;
	char path[PATH_ROOM]; /* of the history; "": none */
	char line[LINE_MAX_LEN + 1];
};

static const char *prompt(EditLine *el)
{
	(void)el;
	return "dta> ";
}

/* Signals that give up a line. terminal_line() keeps them back, so that they
 * come while a character is waited for, and never just before. */
static sigset_t set_of_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	return set;
}

/* libedit's way to get a character. In the C locale it is a byte. */
static int get_char(EditLine *el, wchar_t *out)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
	struct shell *sh = NULL;
	sigset_t open;
	uint8_t byte;
	ssize_t n;

	el_get(el, EL_CLIENTDATA, &sh);
	sigemptyset(&open);
	do
		if (*sh->interrupted || cli_stop)
			return -1;
	while (ppoll(&p, 1, NULL, &open) < 0 && errno == EINTR);
	n = read(STDIN_FILENO, &byte, 1);
	if (n == 1)
		*out = byte;
	return (int)n;
}

static void find_history(struct terminal *t)
{
	const char *home = getenv("HOME");

	if (home && home[0] == '/' &&
	    snprintf(t->path, PATH_ROOM, "%s/.dta_history", home) >= PATH_ROOM)
		t->path[0] = '\0';
}

struct terminal *terminal_open(struct shell *sh)
{
	struct terminal *t = calloc(1, sizeof(*t));
	HistEvent ev;

	if (!t)
		return NULL;
	t->el = el_init(cli.name, stdin, stdout, stderr);
	t->history = history_init();
	if (!t->el || !t->history) {
		terminal_close(t);
		return NULL;
	}
	find_history(t);
	history(t->history, &ev, H_SETSIZE, HISTORY_MAX);
	history(t->history, &ev, H_SETUNIQUE, 1);
	if (t->path[0])
		history(t->history, &ev, H_LOAD, t->path);
	el_set(t->el, EL_EDITOR, "emacs");
	el_set(t->el, EL_PROMPT, prompt);
	el_set(t->el, EL_HIST, history, t->history);
	el_set(t->el, EL_CLIENTDATA, sh);
	el_wset(t->el, EL_GETCFN, get_char);
	/* Wide: el_set() would make copies, and never free them. */
	el_wset(t->el, EL_ADDFN, L"dta-complete", L"complete", complete);
	el_set(t->el, EL_BIND, "^I", "dta-complete", NULL);
	el_source(t->el, NULL); /* ~/.editrc has the last word */
	return t;
}

char *terminal_line(struct terminal *t, size_t *len)
{
	sigset_t back = set_of_signals(), before;
	const char *text;
	HistEvent ev;
	int n = 0;

	sigprocmask(SIG_BLOCK, &back, &before);
	text = el_gets(t->el, &n);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (!text || n <= 0)
		return NULL;
	if (n > LINE_MAX_LEN)
		n = LINE_MAX_LEN;
	memcpy(t->line, text, (size_t)n);
	t->line[n] = '\0';
	*len = (size_t)n;
	if (strspn(t->line, " \t\r\n") < (size_t)n)
		history(t->history, &ev, H_ENTER, text);
	return t->line;
}

void terminal_close(struct terminal *t)
{
	HistEvent ev;

	if (t->history && t->path[0])
		history(t->history, &ev, H_SAVE, t->path);
	if (t->el)
		el_end(t->el);
	if (t->history)
		history_end(t->history);
	free(t);
}
