/* SPDX-License-Identifier: BSD-2-Clause */
/* The shell's own commands. */
#include <stdlib.h>
#include <string.h>

#include "base/guess.h"
#include "hash/family.h"
#include "shell.h"
#include "cli/table.h"

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

static int show_settings(const struct shell *sh)
{
	for (unsigned i = 0; i < SETTINGS; i++)
		printf("%-8s %s\n", settings[i].name, setting_text(sh, i));
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
		if (setting_change(sh, i, text, &why) < 0) {
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

void no_command(const char *word)
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
