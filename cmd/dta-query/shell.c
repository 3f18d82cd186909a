/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shell.c - dta-query -i: reads subcommands and their options from lines. Each
 * runs in a child process, so that neither its errors nor an interrupt end the
 * shell. On a terminal, libedit has editing, history and completion.
 */
#include <errno.h>
#include <histedit.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#include "base/text.h"
#include "cli/table.h"
#include "cli/lines.h"
#include "run.h"

enum {
	WORDS_MAX = LINE_MAX_LEN / 2 + 2,
	HISTORY_MAX = 1000,
	PATH_ROOM = 4096, /* bytes */
	CHOICES_MAX = 256,
	CHOICE_ROOM = 64, /* bytes */
};

struct shell {
	struct opts o; /* which every command begins with */
	struct query_sources *p;
	bool terminal, quit;
	int status; /* of the last command */
	int argc;   /* words of the command, argv[0 .. argc) */
	char *argv[WORDS_MAX + 1];
};

enum table_field {
	TABLE_NAME,
	TABLE_ID,
	TABLE_KIND,
	TABLE_KEY,
	TABLE_VALUE,
	TABLE_COPIES,
	TABLE_UNITS,
	TABLE_LISTS,
	TABLE_SOURCE,
	TABLE_FIELDS,
};

static const struct row_field table_fields[TABLE_FIELDS] = {
	[TABLE_NAME] = {"table", ROW_STR, 16, ROW_TAG},
	[TABLE_ID] = {"id", ROW_U64, 5},
	[TABLE_KIND] = {"kind", ROW_STR, 8, ROW_TAG},
	[TABLE_KEY] = {"key_type", ROW_STR, 8, ROW_TAG},
	[TABLE_VALUE] = {"value_length", ROW_U64, 12, ROW_VALUE, "bytes"},
	[TABLE_COPIES] = {"copies", ROW_U64, 6},
	[TABLE_UNITS] = {"units", ROW_U64, 12},
	[TABLE_LISTS] = {"lists", ROW_U64, 6},
	[TABLE_SOURCE] = {"source", ROW_STR, 8, ROW_TAG},
};

static int show_tables(struct shell *sh)
{
	static const struct schema tables = {"tables", table_fields,
					     TABLE_FIELDS};
	struct rows *r = cli_rows(sh->o.format, &tables);

	for (unsigned i = 0; r && i < sh->p->sources; i++) {
		const struct memory *m = sh->p->source[i].memory;

		for (unsigned k = 0; m && k < m->tables; k++) {
			const struct table *t = &m->table[k];

			row_str(r, TABLE_NAME, t->name);
			row_u64(r, TABLE_ID, t->id);
			row_str(r, TABLE_KIND, table_kind_name(t->kind));
			row_str(r, TABLE_KEY,
				key_type_name((enum key_type)t->key_type));
			row_u64(r, TABLE_VALUE, t->value_len);
			row_u64(r, TABLE_COPIES, t->copies);
			row_u64(r, TABLE_UNITS, t->units);
			if (t->lists)
				row_u64(r, TABLE_LISTS, t->lists);
			row_str(r, TABLE_SOURCE, sh->p->source[i].name);
			cli_row_end(r);
		}
	}
	rows_close(r);
	return CLI_OK;
}

static int show_help(struct shell *sh)
{
	for (int v = 0; v < VERBS && sh->argc > 1; v++)
		if (!strcmp(sh->argv[1], cli.verbs[v])) {
			cli_help_options(&cli, sh->argv[1]);
			return CLI_OK;
		}
	for (const struct verb_row *v = verb_rows; v < verb_rows + VERBS; v++)
		printf("%s %-*s%s\n", v->name, 22 - (int)strlen(v->name),
		       v->args, v->help);
	puts("tables                 the tables that can be asked\n"
	     "help COMMAND           its options\n"
	     "quit                   leave; so does the end of input");
	return CLI_OK;
}

static int leave_shell(struct shell *sh)
{
	sh->quit = true;
	return sh->status;
}

static const struct builtin {
	const char *name;
	int (*run)(struct shell *sh);
} builtins[] = {
	{"tables", show_tables},
	{"help", show_help},
	{"quit", leave_shell},
	{0},
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
	(void)sig;
	interrupted = 1;
}

/* Runs in the child, which opens the sources again for itself. */
static int run_command(struct shell *sh)
{
	static struct query_sources p;
	struct opts *o = &sh->o;

	cli_signals();
	for (int i = sh->argc; i > 0; i--) /* room for argv[0] */
		sh->argv[i] = sh->argv[i - 1];
	sh->argv[0] = (char *)cli.name;
	sh->argv[sh->argc + 1] = NULL;
	o->in_shell = true;
	options_read(o, sh->argc + 1, sh->argv);
	if (!sh->terminal && o->keys.file && !strcmp(o->keys.file, "-"))
		cli_usage(&cli, "--keys -: standard input holds the commands");
	sources_open(&p, o);
	return run_query(o, &p);
}

static int run_in_child(struct shell *sh)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0) {
		cli_warn("fork: %s", strerror(errno));
		return CLI_FAIL;
	}
	if (pid == 0)
		exit(run_command(sh));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return CLI_FAIL;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	cli_warn("ended by signal %d", WTERMSIG(status));
	return CLI_FAIL;
}

static void run_line(struct shell *sh, char *line)
{
	sh->argc = words_split(line, sh->argv, WORDS_MAX - 1);
	if (sh->argc < 0) {
		cli_warn("a quote is not closed");
		sh->status = CLI_USAGE;
		return;
	}
	if (!sh->argc)
		return;
	for (const struct builtin *b = builtins; b->name; b++)
		if (!strcmp(sh->argv[0], b->name)) {
			sh->status = b->run(sh);
			return;
		}
	sh->status = run_in_child(sh);
}

struct choices {
	const char *word; /* as typed so far */
	size_t len;
	unsigned n;
	char text[CHOICES_MAX][CHOICE_ROOM];
};

static void add_choice(struct choices *c, const char *dashes, const char *text)
{
	char *out;

	if (c->n == CHOICES_MAX)
		return;
	out = c->text[c->n];
	snprintf(out, CHOICE_ROOM, "%s%s", dashes, text);
	if (!strncmp(out, c->word, c->len))
		c->n++;
}

/* Finds commands for the first word of a line; for others options, if they
 * begin with -, or else tables' names. */
static void find_choices(struct choices *c, const struct query_sources *p,
			 bool first)
{
	for (int v = VERB_KEYWRITE; first && v < VERBS; v++)
		add_choice(c, "", cli.verbs[v]);
	for (const struct builtin *b = builtins; first && b->name; b++)
		add_choice(c, "", b->name);
	if (first)
		return;
	if (c->len && c->word[0] == '-') {
		for (const struct cli_option *o = cli.options; o->name; o++)
			add_choice(c, "--", o->name);
		return;
	}
	for (unsigned i = 0; i < p->sources; i++) {
		const struct memory *m = p->source[i].memory;

		for (unsigned k = 0; m && k < m->tables; k++)
			add_choice(c, "", m->table[k].name);
	}
}

/* Called for the Tab key. */
static unsigned char complete_word(EditLine *el, wint_t ch)
{
	static struct choices c; /* too large for the stack */
	const LineInfo *li = el_line(el);
	const char *word = li->cursor;
	struct shell *sh = NULL;
	size_t n;

	(void)ch;
	if (el_get(el, EL_CLIENTDATA, &sh) < 0 || !sh)
		return CC_ERROR;
	while (word > li->buffer && word[-1] != ' ')
		word--;
	c.n = 0;
	c.len = (size_t)(li->cursor - word);
	c.word = word;
	find_choices(&c, sh->p, word == li->buffer);
	if (!c.n)
		return CC_ERROR;
	n = strlen(c.text[0]); /* characters that all choices begin with */
	for (unsigned i = 1; i < c.n; i++)
		while (strncmp(c.text[0], c.text[i], n) != 0)
			n--;
	if (n == c.len && c.n > 1) {
		for (unsigned i = 0; i < c.n; i++)
			printf("%s%s", i ? "  " : "\n", c.text[i]);
		putchar('\n');
		fflush(stdout);
		return CC_REDISPLAY;
	}
	if (c.n == 1)
		c.text[0][n++] = ' ';
	c.text[0][n] = '\0';
	return el_insertstr(el, c.text[0] + c.len) < 0 ? CC_ERROR : CC_REFRESH;
}

static const char *prompt_text(EditLine *el)
{
	(void)el;
	return "dta> ";
}

/* Gets a character for libedit; fails after a signal, where libedit itself
 * would read on. In the C locale a character is a byte. */
static int get_char(EditLine *el, wchar_t *out)
{
	uint8_t byte;
	ssize_t n;

	(void)el;
	if (interrupted || cli_stop)
		return -1;
	n = read(STDIN_FILENO, &byte, 1);
	if (n == 1)
		*out = byte;
	return (int)n;
}

static EditLine *edit_open(struct shell *sh, History *past)
{
	EditLine *el = el_init(cli.name, stdin, stdout, stderr);

	if (!el)
		return NULL;
	el_set(el, EL_EDITOR, "emacs");
	el_set(el, EL_PROMPT, prompt_text);
	el_set(el, EL_HIST, history, past);
	el_set(el, EL_CLIENTDATA, sh);
	el_wset(el, EL_GETCFN, get_char);
	/* el_set() would make wide copies and never free them. */
	el_wset(el, EL_ADDFN, L"dta-complete", L"complete", complete_word);
	el_set(el, EL_BIND, "^I", "dta-complete", NULL);
	el_source(el, NULL); /* ~/.editrc may change all of this */
	return el;
}

static void edit_lines(struct shell *sh, EditLine *el, History *past)
{
	while (!sh->quit && !cli_stop) {
		const char *text;
		HistEvent ev;
		char *line;
		int n = 0;

		fflush(stdout);
		interrupted = 0;
		text = el_gets(el, &n);
		if (!text || n <= 0 || interrupted) {
			putchar('\n');
			if (interrupted) /* drop the line */
				continue;
			return;
		}
		line = cli_allocated(
			strdup(text)); /* run_line() overwrites it */
		if (line[strspn(line, " \t\r\n")])
			history(past, &ev, H_ENTER, text);
		run_line(sh, line);
		free(line);
	}
}

static void run_terminal(struct shell *sh)
{
	const char *home = getenv("HOME");
	History *past = history_init();
	EditLine *el = cli_allocated(past ? edit_open(sh, past) : NULL);
	char path[PATH_ROOM];
	HistEvent ev;

	snprintf(path, sizeof(path), "%s/.dta_history", home ? home : "");
	history(past, &ev, H_SETSIZE, HISTORY_MAX);
	history(past, &ev, H_SETUNIQUE, 1);
	if (home)
		history(past, &ev, H_LOAD, path);
	edit_lines(sh, el, past);
	if (home)
		history(past, &ev, H_SAVE, path);
	el_end(el);
	history_end(past);
}

static void run_script(struct shell *sh)
{
	struct lines l;
	size_t len;
	char *line;
	int rc = lines_open(&l, "-");

	for (bool more = !rc; more && !cli_stop && !interrupted;) {
		while (!sh->quit && (line = lines_next(&l, &len)))
			run_line(sh, line);
		rc = sh->quit ? 0 : lines_more(&l);
		more = rc > 0 || rc == -EINTR;
	}
	lines_check(&l, rc);
	lines_close(&l);
}

int run_shell(const struct opts *o, struct query_sources *p)
{
	const struct sigaction a = {.sa_handler = on_interrupt};
	static struct shell sh;

	sh.o = *o;
	sh.o.interactive = false;
	sh.p = p;
	sh.terminal = isatty(STDIN_FILENO);
	sigaction(SIGINT, &a, NULL);
	if (sh.terminal)
		run_terminal(&sh);
	else
		run_script(&sh);
	return sh.status;
}
