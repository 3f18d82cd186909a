/* SPDX-License-Identifier: BSD-2-Clause */
/* What the shell's set changes: defaults of the options of those names. */
#include <stdlib.h>
#include <string.h>

#include "shell.h"

/* Digits only; false above max. */
static bool number(const char *text, uint64_t max, uint64_t *out)
{
	uint64_t v = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		uint64_t digit = (uint64_t)*text - '0';

		if (digit > 9 || v > (UINT64_MAX - digit) / 10)
			return false;
		v = v * 10 + digit;
	}
	*out = v;
	return v <= max;
}

static bool set_policy(struct shell *sh, const char *text)
{
	return query_policy_of(text ? text : "plurality", &sh->o.rule) == 0;
}

static void show_policy(const struct shell *sh, char *out, size_t room)
{
	static const char *const name[QUERY_POLICIES] = {
		[QUERY_PLURALITY] = "plurality",
		[QUERY_FIRST] = "first",
		[QUERY_CONSENSUS] = "consensus",
		[QUERY_UNIQUE] = "unique",
	};
	const struct query_rule *r = &sh->o.rule;

	if (r->policy == QUERY_CONSENSUS)
		snprintf(out, room, "%s:%u", name[r->policy], r->threshold);
	else
		snprintf(out, room, "%s", name[r->policy]);
}

static bool set_copies(struct shell *sh, const char *text)
{
	uint64_t n = 0;

	if (text && !number(text, HASH_COPIES, &n))
		return false;
	sh->o.rule.copies = (uint8_t)n;
	return true;
}

static void show_copies(const struct shell *sh, char *out, size_t room)
{
	if (sh->o.rule.copies)
		snprintf(out, room, "%u", sh->o.rule.copies);
	else
		snprintf(out, room, "default");
}

static bool set_table(struct shell *sh, const char *text)
{
	sh->o.table = NULL;
	if (!text)
		return true;
	for (unsigned i = 0; i < sh->p->sources; i++) {
		const struct source *s = &sh->p->source[i];

		for (unsigned k = 0; k < source_tables(s); k++) {
			const struct table *t = source_table(s, k);
			char id[8];

			snprintf(id, sizeof(id), "%u", t->id);
			if (strcmp(text, t->name) != 0 && strcmp(text, id) != 0)
				continue;
			snprintf(sh->table, sizeof(sh->table), "%s", t->name);
			sh->o.table = sh->table;
			return true;
		}
	}
	return false;
}

static void show_table(const struct shell *sh, char *out, size_t room)
{
	snprintf(out, room, "%s", sh->o.table ? sh->o.table : "by key");
}

static bool set_epoch(struct shell *sh, const char *text)
{
	struct epochs e;

	if (text && strlen(text) >= sizeof(sh->epochs))
		return false;
	if (!epochs_of(&e, text))
		return false;
	sh->o.from.only = e;
	if (e.text) {
		snprintf(sh->epochs, sizeof(sh->epochs), "%s", text);
		sh->o.from.only.text = sh->epochs;
	}
	return true;
}

static void show_epoch(const struct shell *sh, char *out, size_t room)
{
	snprintf(out, room, "%s",
		 sh->o.from.only.text ? sh->o.from.only.text : "all");
}

static bool set_output(struct shell *sh, const char *text)
{
	int f = row_format_of(text ? text : "text");

	if (f < 0)
		return false;
	sh->o.format = (enum row_format)f;
	return true;
}

static void show_output(const struct shell *sh, char *out, size_t room)
{
	static const char *const name[] = {[ROW_TEXT] = "text",
					   [ROW_CSV] = "csv",
					   [ROW_NDJSON] = "ndjson"};

	snprintf(out, room, "%s", name[sh->o.format]);
}

static bool set_as(struct shell *sh, const char *text)
{
	return render_of(&sh->o.render, text ? text : "hex") == 0;
}

static void show_as(const struct shell *sh, char *out, size_t room)
{
	snprintf(out, room, "%s", render_name(&sh->o.render));
}

static bool set_partial(struct shell *sh, const char *text)
{
	if (text && strcmp(text, "yes") != 0 && strcmp(text, "no") != 0)
		return false;
	sh->o.rule.partial = text && !strcmp(text, "yes");
	return true;
}

static void show_partial(const struct shell *sh, char *out, size_t room)
{
	snprintf(out, room, "%s", sh->o.rule.partial ? "yes" : "no");
}

const struct setting settings[] = {
	{"policy", "plurality, first, unique or consensus:2..4", set_policy,
	 show_policy},
	{"copies", "1 to 4; nothing for the default", set_copies, show_copies},
	{"table", "a table's name or id; nothing for the default", set_table,
	 show_table},
	{"epoch", "a number or N-M; nothing for all", set_epoch, show_epoch},
	{"output", "text, csv or ndjson", set_output, show_output},
	{"as", "hex, a number, a list of numbers, text or a key type", set_as,
	 show_as},
	{"partial", "yes or no", set_partial, show_partial},
	{0},
};
