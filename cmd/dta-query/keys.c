/* SPDX-License-Identifier: BSD-2-Clause */
#include "keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "query/keytext.h"

void keys_open(struct keys *k, const struct keys_from *from,
	       const struct query_targets *t)
{
	int rc;

	memset(k, 0, sizeof(*k));
	k->targets = t;
	for (unsigned i = 0; i < t->n; i++)
		k->table[i] = t->target[i].t;
	k->from = *from;
	k->csv_at = -1;
	if (from->file && (rc = lines_open(&k->lines, from->file)) < 0)
		cli_fail("%s: %s", from->file, strerror(-rc));
}

/* Counts a line or argument that is no key, and warns. A part keeps its warning
 * for keys_part_join(). */
static void refuse_key(struct keys *k, const char *text,
		       const struct error *why)
{
	uint64_t i = k->malformed++;
	char *message;

	if (!k->from.file)
		cli_warn("'%s' %s", text, why->text);
	if (!k->from.file || i >= KEYS_SHOWN)
		return;
	if (asprintf(&message, "%s:%llu: '%s' %s", k->lines.path,
		     (unsigned long long)k->lines.number, text, why->text) < 0)
		cli_fail("out of memory");
	if (k->is_part) {
		k->message[i] = message;
		return;
	}
	cli_warn("%s", message);
	free(message);
}

void keys_check(const struct keys *k)
{
	if (*k->wrong.text)
		cli_refuse("%s", k->wrong.text);
}

void keys_close(struct keys *k)
{
	if (!k->from.file)
		return;
	if (k->malformed > KEYS_SHOWN)
		cli_warn("%s: %llu lines are no keys; above are the first %d",
			 k->lines.path, (unsigned long long)k->malformed,
			 KEYS_SHOWN);
	lines_close(&k->lines);
}

static void add_key(struct keys *k, const char *text)
{
	struct parsed_key *a = &k->parsed[k->n];
	struct error why;
	const struct table *t;
	bool loose;
	int which;

	a->text = text;
	a->key = k->room[k->n].key;
	which = query_key_pick(a->key, &loose, k->table, k->targets->n, text,
			       &why);
	if (which == -EEXIST) {
		error_set(&k->wrong, which, "'%.100s' %.400s", text, why.text);
		return;
	}
	if (which < 0) {
		refuse_key(k, text, &why);
		return;
	}
	a->target = &k->targets->target[which];
	t = k->table[which];
	if (loose) { /* show it in the usual spelling */
		key_format(k->text[k->n], (enum key_type)t->key_type, a->key,
			   t->key_len);
		a->text = k->text[k->n];
	}
	k->n++;
}

uint8_t keys_column(const struct keys_from *from, const struct query_targets *t)
{
	/* the longest flow of IPv4 as text; most flows of IPv6 */
	enum { FLOW4 = 47, FLOW6 = 84 };
	size_t most = 0, len;

	for (unsigned i = 0; i < t->n && from->file; i++) {
		uint8_t type = t->target[i].t->key_type;

		len = type == KEY_FLOW6 || type == KEY_HOP6 ? FLOW6 : FLOW4;
		most = len > most ? len : most;
	}
	for (int i = 0; i < from->nargs; i++) {
		len = strlen(from->args[i]);
		most = len > most ? len : most;
	}
	return (uint8_t)(most < UINT8_MAX ? most : UINT8_MAX);
}

static void add_field(struct keys *k, char *line)
{
	static const struct error unclosed = {
		"is no CSV: a quote that is not closed"};
	char *field[CSV_FIELDS_MAX];
	int n = csv_split(line, field, k->csv_at + 1);

	if (n < 0)
		refuse_key(k, line, &unclosed);
	else if (n > k->csv_at)
		add_key(k, field[k->csv_at]);
}

/* The file is CSV if its first line is a header with a field named key. */
static void check_header(struct keys *k)
{
	size_t len;
	char *line = k->header_checked ? NULL : lines_next(&k->lines, &len);
	char *field[CSV_FIELDS_MAX], copy[LINE_MAX_LEN + 1];

	if (!line)
		return;
	k->header_checked = true;
	snprintf(copy, sizeof(copy), "%s", line);
	k->csv_at = csv_find(field, csv_split(copy, field, CSV_FIELDS_MAX),
			     "key");
	if (k->csv_at < 0 && *line != '#' && strchr(line, ','))
		error_set(&k->wrong, -EINVAL,
			  "--keys: '%.200s' has no column key: its first line, "
			  "'%.100s', is to name one so",
			  k->lines.path, line);
	if (k->csv_at < 0)
		lines_unread(&k->lines, line, len);
}

static bool next_lines(struct keys *k)
{
	char *line;
	size_t len;
	int rc;

	check_header(k);
	while (k->n < QUERY_BATCH && !*k->wrong.text &&
	       (line = lines_next(&k->lines, &len))) {
		if (len && k->csv_at >= 0)
			add_field(k, line);
		else if (len && *line != '#')
			add_key(k, line);
	}
	if (k->n || *k->wrong.text)
		return k->n > 0;
	rc = cli_stop ? 0 : lines_more(&k->lines);
	lines_check(&k->lines, rc);
	return rc != 0;
}

bool keys_next(struct keys *k)
{
	bool more = k->next_arg < k->from.nargs && !*k->wrong.text;

	k->n = 0;
	if (k->from.file)
		return next_lines(k);
	while (k->next_arg < k->from.nargs && k->n < QUERY_BATCH &&
	       !*k->wrong.text)
		add_key(k, k->from.args[k->next_arg++]);
	return more;
}

enum { PART_BYTES = 1 << 15 }; /* bytes of lines in a part, at most */

int keys_part_open(struct keys *k, const struct query_targets *t)
{
	keys_open(k, &(struct keys_from){0}, t);
	k->is_part = true;
	return lines_init(&k->lines);
}

int keys_part_fill(struct keys *all, struct keys *part)
{
	part->from.file = all->from.file;
	part->header_checked = true;
	while (check_header(all),
	       !all->header_checked ||
		       !lines_move(&all->lines, &part->lines, PART_BYTES)) {
		int rc = cli_stop ? 0 : lines_more(&all->lines);

		if (rc <= 0 && (rc != -EINTR || cli_stop))
			return rc;
	}
	part->csv_at = all->csv_at;
	return !*all->wrong.text;
}

void keys_part_join(struct keys *all, struct keys *part)
{
	for (uint64_t i = 0; i < part->malformed && i < KEYS_SHOWN; i++) {
		if (all->malformed + i < KEYS_SHOWN)
			cli_warn("%s", part->message[i]);
		free(part->message[i]);
	}
	all->malformed += part->malformed;
	part->malformed = 0;
	keys_check(part);
}
