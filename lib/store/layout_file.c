/* SPDX-License-Identifier: BSD-2-Clause */
/* layout_file.c - layout files: sections become tables. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/ini.h"
#include "store/layout.h"
#include "store/layout_values.h"

struct reading {
	struct ini ini;
	struct layout *out;
	struct table *t; /* of the section in hand; NULL before the first */
	unsigned header;
	unsigned line[LAYOUT_FIELDS_MAX]; /* of each field; 0: not there */
};

static bool has(const struct reading *r, const char *field)
{
	return r->line[layout_field(field)];
}

/* What can only be judged once all fields are there. */
static int check_fields(struct reading *r)
{
	const struct ini *i = &r->ini;
	struct fault why;

	if (!has(r, "kind"))
		return ini_fault(i, r->header, -EINVAL, "kind: missing");
	if (has(r, "memory") && (has(r, "slots") || has(r, "chunks") ||
				 has(r, "entries") || has(r, "ring")))
		return ini_fault(i, r->header, -EINVAL,
				 "memory: the table's units are already given");
	if (has(r, "ring") && has(r, "entries"))
		return ini_fault(i, r->header, -EINVAL,
				 "ring: it follows from entries, a batch more");
	for (int k = 0; k < LAYOUT_FIELDS_MAX; k++)
		if (r->line[k] && layout_suits(r->t, k, &why) < 0)
			return ini_fault(i, r->line[k], -EINVAL, "%s",
					 why.text);
	return 0;
}

/* Ids and names are the tables' own. */
static int check_unique(struct reading *r)
{
	for (const struct table *other = r->out->table; other < r->t; other++) {
		if (!strcmp(other->name, r->t->name))
			return ini_fault(
				&r->ini, r->header, -EINVAL,
				"there already is a table of this name");
		if (other->id == r->t->id)
			return ini_fault(&r->ini, r->header, -EINVAL,
					 "id: %u is table %s's", r->t->id,
					 other->name);
	}
	return 0;
}

/* The table in hand is whole. */
static int section_end(struct reading *r)
{
	struct fault why = {""};

	if (!r->t)
		return 0;
	if (check_fields(r) < 0)
		return -EINVAL;
	if (has(r, "entries"))
		table_keep(r->t, r->t->units);
	if (table_finish(r->t, &why) < 0)
		return ini_fault(&r->ini, r->header, -EINVAL, "%s", why.text);
	if (check_unique(r) < 0)
		return -EINVAL;
	r->out->n++;
	return 0;
}

static int section_begin(struct reading *r)
{
	const struct ini *i = &r->ini;
	struct layout *l = r->out;

	if (section_end(r) < 0)
		return -EINVAL;
	if (l->n == TABLE_MAX)
		return ini_fault(i, i->header, -EINVAL, "too many tables");
	if (strlen(i->section) >= TABLE_NAME_MAX)
		return ini_fault(i, i->header, -EINVAL,
				 "the table's name is too long");
	r->t = &l->table[l->n];
	memcpy(r->t->name, i->section, strlen(i->section) + 1);
	r->t->id = (uint16_t)(l->n + 1);
	r->header = i->header;
	memset(r->line, 0, sizeof(r->line));
	return 0;
}

/* V is kept, and may be in another file. */
static int set_values(struct reading *r, struct fault *why)
{
	uint32_t **set = &r->out->values[r->out->n];
	const char *text = r->ini.value;
	struct fault inner = {""};
	int rc;

	if (layout_values_is_file(text))
		rc = layout_values_load(set, r->t, text + 5, r->ini.name,
					&inner);
	else
		rc = layout_values_parse(set, r->t, text, &inner);
	return rc < 0 ? fault_set(why, rc, "values: %.400s", inner.text) : 0;
}

static int take_field(struct reading *r)
{
	const struct ini *i = &r->ini;
	int k = layout_field(i->key), rc;
	struct fault why = {""};

	if (k >= 0 && r->line[k])
		return ini_fault(i, i->line, -EINVAL, "%s: given twice",
				 i->key);
	if (!strcmp(i->key, "values") &&
	    (!r->t->kind || r->t->kind == TABLE_POSTCARD))
		rc = set_values(r, &why);
	else
		rc = layout_set(r->t, i->key, i->value, &why);
	if (rc < 0)
		return ini_fault(i, i->line, rc, "%s", why.text);
	r->line[k] = i->line;
	return 0;
}

static int read_all(struct reading *r)
{
	struct ini *i = &r->ini;
	int rc;

	while ((rc = ini_next(i)) > 0 && !i->empty) {
		if (!i->header)
			return ini_fault(i, i->line, -EINVAL,
					 "a field before the first [table]");
		if (i->header != r->header && section_begin(r) < 0)
			return -EINVAL;
		if ((rc = take_field(r)) < 0)
			return rc;
	}
	if (rc < 0)
		return rc;
	if (i->empty)
		return ini_fault(i, i->empty, -EINVAL,
				 "a table without fields");
	if (section_end(r) < 0)
		return -EINVAL;
	return r->out->n ? 0 : ini_fault(i, 0, -EINVAL, "holds no [table]");
}

int layout_read(struct layout *out, const char *path, struct fault *f)
{
	bool is_stdin = !strcmp(path, "-");
	struct reading r = {
		.ini = {.in = is_stdin ? stdin : fopen(path, "re"),
			.name = is_stdin ? "standard input" : path,
			.strange = "neither [table], field = value nor "
				   "; comment",
			.f = f},
		.out = out,
	};
	int rc;

	memset(out, 0, sizeof(*out));
	if (!r.ini.in)
		return ini_fault(&r.ini, 0, -errno, "%s", strerror(errno));
	rc = read_all(&r);
	if (!is_stdin)
		fclose(r.ini.in);
	if (rc < 0)
		layout_fini(out);
	return rc;
}
