/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -i: the subcommands again, without the region. Each runs in a child of its
 * own, so that neither its errors nor an interrupt end the shell. And the
 * shell's own commands.
 */
#include "shell.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/guess.h"
#include "cli/table.h"
#include "hash/family.h"
#include "run.h"

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

enum epoch_field {
	EPOCH_EPOCH,
	EPOCH_SOURCE,
	EPOCH_FIELDS,
};

static const struct row_field epoch_fields[EPOCH_FIELDS] = {
	[EPOCH_EPOCH] = {"epoch", ROW_U64, 8},
	[EPOCH_SOURCE] = {"source", ROW_STR, 8, ROW_TAG},
};

static int show_tables(struct shell *sh)
{
	static const struct schema tables = {"tables", table_fields,
					     TABLE_FIELDS};
	struct rows *r = cli_rows(sh->o.format, &tables);

	for (unsigned i = 0; r && i < sh->p->sources; i++) {
		const struct source *s = &sh->p->source[i];

		for (unsigned k = 0; k < source_tables(s); k++) {
			const struct table *t = source_table(s, k);

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
			row_str(r, TABLE_SOURCE, s->name);
			row_write(r);
		}
	}
	rows_close(r);
	return CLI_OK;
}

static int show_epochs(struct shell *sh)
{
	static const struct schema epochs = {"epochs", epoch_fields,
					     EPOCH_FIELDS};
	struct rows *r = cli_rows(sh->o.format, &epochs);

	places_only(sh->p, (struct epochs){.until = UINT64_MAX});
	for (unsigned i = 0; r && i < sh->p->n; i++) {
		row_u64(r, EPOCH_EPOCH, sh->p->place[i].epoch);
		row_str(r, EPOCH_SOURCE,
			sh->p->source[sh->p->place[i].source].name);
		row_write(r);
	}
	rows_close(r);
	return CLI_OK;
}

/* What can be set: an option, and how its default is shown. */
const struct setting settings[SETTINGS] = {
	{"policy", "plurality"}, {"copies", "default"}, {"table", "by key"},
	{"epoch", "all"},	 {"output", "text"},	{"as", "hex"},
	{"partial", "no"},
};

static const struct cli_option *option_of(unsigned i)
{
	char name[16];

	snprintf(name, sizeof(name), "--%s", settings[i].name);
	return cli_find(&cli, name);
}

/* Takes over what the command line said. */
static void begin_settings(struct shell *sh)
{
	for (unsigned i = 0; i < SETTINGS; i++) {
		char name[16];
		const char *text;

		snprintf(name, sizeof(name), "--%s", settings[i].name);
		text = cli_text(&cli, name);
		if (text)
			snprintf(sh->set[i], sizeof(sh->set[i]), "%s",
				 *text ? text : "yes");
	}
}

/* text NULL: to the default. Returns 0, or -errno and why is what to say behind
 * the value. */
static int change_to(struct shell *sh, unsigned i, const char *text,
		     struct fault *why)
{
	const struct cli_option *o = option_of(i);
	char *at = sh->set[i], before[SETTING_MAX];
	int rc;

	if (!text) {
		cli_unset(o, &sh->o);
		*at = '\0';
		return 0;
	}
	if (strlen(text) >= SETTING_MAX)
		return fault_set(why, -EINVAL, "is too long");
	memcpy(before, at, SETTING_MAX);
	snprintf(at, SETTING_MAX, "%s", text);
	rc = cli_set(o, &sh->o, at, why);
	if (rc < 0)
		memcpy(at, before, SETTING_MAX);
	return rc;
}

static int show_settings(const struct shell *sh)
{
	for (unsigned i = 0; i < SETTINGS; i++)
		printf("%-8s %s\n", settings[i].name,
		       *sh->set[i] ? sh->set[i] : settings[i].normal);
	return CLI_OK;
}

static int change_setting(struct shell *sh)
{
	const char *name = sh->argc > 1 ? sh->argv[1] : NULL;
	const char *text = sh->argc > 2 ? sh->argv[2] : NULL;
	struct fault why;

	if (!name)
		return show_settings(sh);
	for (unsigned i = 0; i < SETTINGS; i++) {
		if (strcmp(name, settings[i].name) != 0)
			continue;
		if (sh->argc > 3) {
			cli_warn("set %s: one value, or none", name);
			return CLI_USAGE;
		}
		if (change_to(sh, i, text, &why) < 0) {
			cli_warn("set %s: '%s' %s", name, text, why.text);
			return CLI_USAGE;
		}
		return CLI_OK;
	}
	cli_warn("'%s' cannot be set; set alone shows what can", name);
	return CLI_USAGE;
}

static bool first_word_is(const char *text, const char *word)
{
	size_t n = strcspn(text, " ");

	return strlen(word) == n && !strncmp(text, word, n);
}

/* Says that a word is no command, and which was meant. */
static void no_command(const char *word)
{
	struct guess g = {.word = word};

	for (int v = 0; v < VERBS; v++)
		guess_try(&g, verb_name((enum verb)v));
	for (const struct builtin *b = builtins; b->name; b++)
		guess_try(&g, b->name);
	cli_warn("'%s' is no command%s", word,
		 g.best ? guess_hint(&g) : "; help lists them");
}

static int help(struct shell *sh)
{
	static const char *const verbs[][2] = {
		{"keywrite KEY...", "values of keys"},
		{"path KEY...", "paths out of postcards"},
		{"count KEY...", "counters"},
		{"list [ID...]", "entries of lists; -f follows"},
		{"top --keys FILE",
		 "the keys with the largest counters or values"},
		{"why KEY...", "where a key may be, and why it is not found"},
		{"verify --truth FILE", "answers against what was reported"},
	};

	const char *what = sh->argc > 1 ? sh->argv[1] : NULL;
	bool any = false;

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!what || first_word_is(verbs[i][0], what)) {
			printf("%-20s %s\n", verbs[i][0], verbs[i][1]);
			any = true;
		}
	for (const struct builtin *b = builtins; b->name; b++)
		if (!what || !strcmp(b->name, what)) {
			printf("%-20s %s\n", b->name, b->help);
			any = true;
		}
	if (what && is_verb(what))
		cli_help_options(&cli, what);
	if (!what)
		puts("Options are those of dta-query -h; help COMMAND shows "
		     "those of one command.");
	if (any)
		return CLI_OK;
	no_command(what);
	return CLI_USAGE;
}

static int quit(struct shell *sh)
{
	sh->quit = true;
	return sh->status;
}

const struct builtin builtins[] = {
	{"tables", "the tables that can be asked", show_tables},
	{"epochs", "the epochs that can be asked, newest first", show_epochs},
	{"set", "set NAME VALUE: for the commands to come", change_setting},
	{"help", "this", help},
	{"quit", "leave; so does the end of input", quit},
	{"exit", "the same", quit},
	{0},
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
	(void)sig;
	interrupted = 1;
}

static void catch_interrupts(void)
{
	struct sigaction a = {.sa_handler = on_interrupt};

	sigaction(SIGINT, &a, NULL);
}

/* In the child, which asks by connections of its own. */
static int run_command(struct shell *sh)
{
	static struct places p;
	struct opts *o = &sh->o;

	cli_signals();
	for (int i = sh->argc; i > 0; i--) /* room for argv[0] */
		sh->argv[i] = sh->argv[i - 1];
	sh->argv[0] = (char *)cli.name;
	sh->argv[sh->argc + 1] = NULL;
	optind = 0; /* getopt: from the start */
	o->in_shell = true;
	options_read(o, sh->argc + 1, sh->argv);
	if (!sh->terminal && o->keys.file && !strcmp(o->keys.file, "-"))
		cli_usage(&cli, "--keys -: standard input holds the commands");
	sources_open(&p, o);
	return run(o, &p);
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
	if (!is_verb(sh->argv[0]) && sh->argv[0][0] != '-') {
		no_command(sh->argv[0]);
		sh->status = CLI_USAGE;
		return;
	}
	sh->status = run_in_child(sh);
}

static void run_terminal(struct shell *sh)
{
	struct terminal *t = terminal_open(sh);
	char *line;
	size_t len;

	if (!t)
		cli_fail("out of memory");
	while (!sh->quit && !cli_stop) {
		fflush(stdout);
		interrupted = 0;
		line = terminal_line(t, &len);
		if (interrupted) {
			putchar('\n');
			continue; /* the line is given up */
		}
		if (!line) {
			putchar('\n');
			break;
		}
		run_line(sh, line);
	}
	terminal_close(t);
}

static void run_script(struct shell *sh)
{
	struct lines l;
	size_t len;
	char *line;
	int rc = lines_open(&l, "-");

	while (!rc && !sh->quit && !cli_stop && !interrupted) {
		while (!sh->quit && (line = lines_next(&l, &len)))
			run_line(sh, line);
		if (sh->quit)
			break;
		rc = lines_more(&l);
		if (rc == 0)
			break;
		rc = rc == -EINTR || rc > 0 ? 0 : rc;
	}
	lines_check(&l, rc);
	lines_close(&l);
}

int run_shell(const struct opts *o, struct places *p)
{
	static struct shell sh;

	sh.o = *o;
	sh.o.interactive = false;
	sh.p = p;
	sh.interrupted = &interrupted;
	begin_settings(&sh);
	sh.terminal = isatty(STDIN_FILENO);
	catch_interrupts();
	if (sh.terminal)
		run_terminal(&sh);
	else
		run_script(&sh);
	return sh.status;
}
