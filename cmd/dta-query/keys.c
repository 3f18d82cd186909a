/* SPDX-License-Identifier: BSD-2-Clause */
#include "keys.h"

#include <errno.h>
#include <string.h>

#include "query/keytext.h"

void keys_open(struct keys *k, const struct opts *o, const struct targets *t)
{
	int rc;

	k->targets = t;
	for (unsigned i = 0; i < t->n; i++)
		k->table[i] = t->target[i].t;
	k->args = o->args;
	k->nargs = o->nargs;
	k->arg = 0;
	k->malformed = 0;
	k->n = 0;
	k->from_file = o->keys != NULL;
	if (k->from_file && (rc = lines_open(&k->lines, o->keys)) < 0)
		cli_fail("%s: %s", o->keys, strerror(-rc));
}

void keys_close(struct keys *k)
{
	if (k->from_file)
		lines_close(&k->lines);
}

static void refuse(struct keys *k, const char *text, const char *why)
{
	k->malformed++;
	if (k->from_file)
		cli_warn("%s:%llu: '%s' %s", k->lines.path,
			 (unsigned long long)k->lines.number, text, why);
	else
		cli_warn("'%s' %s", text, why);
}

static void add(struct keys *k, const char *text)
{
	struct asked *a = &k->asked[k->n];
	struct fault why = {""};
	int which;

	a->text = text;
	a->key = k->room[k->n].key;
	which = keytext_pick(a->key, k->table, k->targets->n, text, &why);
	if (which < 0) {
		refuse(k, text, why.text);
		return;
	}
	a->target = &k->targets->target[which];
	k->n++;
}

static bool next_args(struct keys *k)
{
	if (k->arg == k->nargs)
		return false;
	while (k->arg < k->nargs && k->n < QUERY_BATCH)
		add(k, k->args[k->arg++]);
	return true;
}

static bool next_lines(struct keys *k)
{
	char *line;
	size_t len;
	int rc;

	while (k->n < QUERY_BATCH && (line = lines_next(&k->lines, &len)))
		if (len && *line != '#')
			add(k, line);
	if (k->n)
		return true;
	rc = cli_stop ? 0 : lines_more(&k->lines);
	if (rc == -E2BIG)
		cli_fail("%s:%llu: a line longer than %d bytes", k->lines.path,
			 (unsigned long long)k->lines.number + 1, LINE_MAX_LEN);
	if (rc < 0 && rc != -EINTR)
		cli_fail("%s: %s", k->lines.path, strerror(-rc));
	return rc != 0;
}

bool keys_next(struct keys *k)
{
	k->n = 0;
	return k->from_file ? next_lines(k) : next_args(k);
}
