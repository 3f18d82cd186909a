/* SPDX-License-Identifier: BSD-2-Clause */
/* layout_file.c - layout files: sections become tables. */
#include <errno.h>
#include <ini.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/layout.h"
#include "store/layout_values.h"

/* One section, gathered first: kind decides what the others may be. */
struct section {
	char name[64];
	unsigned line; /* of its header */
	unsigned n;
	struct {
		char *field, *value;
		unsigned line;
	} at[LAYOUT_FIELDS_MAX];
};

struct reading {
	const char *path; /* for messages */
	FILE *in;
	struct layout *out;
	struct section section;
	unsigned line;	 /* of the text that inih has in hand */
	unsigned header; /* line of the last section header seen, 0: none */
	struct fault *f;
	int rc; /* first failure; inih goes on, we do not */
};

static int fail(struct reading *r, unsigned line, int rc, const char *why)
{
	if (!r->rc)
		r->rc = fault_set(r->f, rc, "%.200s:%u: %.280s", r->path, line,
				  why);
	return r->rc;
}

/* fgets for inih, which would cut long lines and go on with their rest. */
static char *read_line(char *buf, int cap, void *ctx)
{
	struct reading *r = ctx;
	size_t len;
	char *p;

	if (r->rc || !fgets(buf, cap, r->in))
		return NULL;
	r->line++;
	len = strlen(buf);
	if ((!len || buf[len - 1] != '\n') && !feof(r->in)) {
		fail(r, r->line, -EINVAL, "the line is too long or binary");
		return NULL;
	}
	p = buf + strspn(buf, " \t");
	if (*p == '[') {
		if (r->header && r->section.line != r->header) {
			fail(r, r->header, -EINVAL, "a table without fields");
			return NULL;
		}
		r->header = r->line;
	}
	return buf;
}

static void section_clear(struct section *s)
{
	for (unsigned i = 0; i < s->n; i++) {
		free(s->at[i].field);
		free(s->at[i].value);
	}
	memset(s, 0, sizeof(*s));
}

static int set_values(struct reading *r, struct table *t, const char *text,
		      struct fault *why)
{
	uint32_t **set = &r->out->values[r->out->n];
	struct fault inner = {""};
	int rc;

	if (layout_values_is_file(text))
		rc = layout_values_load(set, t, text + 5, r->path, &inner);
	else
		rc = layout_values_parse(set, t, text, &inner);
	return rc < 0 ? fault_set(why, rc, "values: %.400s", inner.text) : 0;
}

static int set_field(struct reading *r, struct table *t, unsigned i)
{
	const struct section *s = &r->section;
	struct fault why = {""};
	int rc;

	if (t->kind == TABLE_POSTCARD && !strcmp(s->at[i].field, "values"))
		rc = set_values(r, t, s->at[i].value, &why);
	else
		rc = layout_set(t, s->at[i].field, s->at[i].value, &why);
	return rc < 0 ? fail(r, s->at[i].line, rc, why.text) : 0;
}

static bool has(const struct section *s, const char *field)
{
	for (unsigned i = 0; i < s->n; i++)
		if (!strcmp(s->at[i].field, field))
			return true;
	return false;
}

static bool is_kind(const struct section *s, unsigned i)
{
	return !strcmp(s->at[i].field, "kind");
}

/* Fields in the order of the file, but kind first. */
static int set_fields(struct reading *r, struct table *t)
{
	const struct section *s = &r->section;

	if (!has(s, "kind"))
		return fail(r, s->line, -EINVAL, "kind: missing");
	if (has(s, "memory") && (has(s, "slots") || has(s, "chunks") ||
				 has(s, "entries") || has(s, "ring")))
		return fail(r, s->line, -EINVAL,
			    "memory: the table's units are already given");
	if (has(s, "ring") && has(s, "entries"))
		return fail(r, s->line, -EINVAL,
			    "ring: it follows from entries, a batch more");
	for (unsigned i = 0; i < s->n; i++)
		if (is_kind(s, i) && set_field(r, t, i) < 0)
			return r->rc;
	for (unsigned i = 0; i < s->n; i++)
		if (!is_kind(s, i) && set_field(r, t, i) < 0)
			return r->rc;
	if (has(s, "entries"))
		table_keep(t, t->units);
	return 0;
}

/* Ids and names are the tables' own. */
static int check_unique(struct reading *r, const struct table *t)
{
	char why[80];

	for (unsigned i = 0; i < r->out->n; i++) {
		const struct table *other = &r->out->table[i];

		if (!strcmp(other->name, t->name))
			return fail(r, r->section.line, -EINVAL,
				    "there already is a table of this name");
		snprintf(why, sizeof(why), "id: %u is table %s's", t->id,
			 other->name);
		if (other->id == t->id)
			return fail(r, r->section.line, -EINVAL, why);
	}
	return 0;
}

/* The section at hand becomes a table. */
static int section_end(struct reading *r)
{
	struct layout *l = r->out;
	struct table *t = &l->table[l->n];
	struct fault why = {""};

	if (!r->section.line || r->rc)
		return r->rc;
	if (l->n == TABLE_MAX)
		return fail(r, r->section.line, -EINVAL, "too many tables");
	if (strlen(r->section.name) >= TABLE_NAME_MAX)
		return fail(r, r->section.line, -EINVAL,
			    "the table's name is too long");
	memset(t, 0, sizeof(*t));
	memcpy(t->name, r->section.name, strlen(r->section.name) + 1);
	t->id = (uint16_t)(l->n + 1);
	if (set_fields(r, t) < 0)
		return r->rc;
	if (table_finish(t, &why) < 0)
		return fail(r, r->section.line, -EINVAL, why.text);
	if (check_unique(r, t) < 0)
		return r->rc;
	l->n++;
	section_clear(&r->section);
	return 0;
}

/* inih's handler: 1 to go on. */
static int on_field(void *ctx, const char *section, const char *name,
		    const char *value)
{
	struct reading *r = ctx;
	struct section *s = &r->section;
	char why[128];

	if (!r->header) {
		fail(r, r->line, -EINVAL, "a field before the first [table]");
		return 0;
	}
	if (s->line != r->header && section_end(r) < 0)
		return 0;
	s->line = r->header;
	snprintf(s->name, sizeof(s->name), "%s", section);
	snprintf(why, sizeof(why), "%.60s: given twice", name);
	if (has(s, name) || s->n == LAYOUT_FIELDS_MAX) {
		fail(r, r->line, -EINVAL, why);
		return 0;
	}
	s->at[s->n].field = strdup(name);
	s->at[s->n].value = strdup(value);
	s->at[s->n].line = r->line;
	if (!s->at[s->n].field || !s->at[s->n].value)
		fail(r, r->line, -ENOMEM, "out of memory");
	s->n++;
	return !r->rc;
}

static int read_all(struct reading *r)
{
	int line = ini_parse_stream(read_line, r, on_field, r);

	if (r->rc)
		return r->rc;
	if (ferror(r->in))
		return fail(r, r->line, -EIO, strerror(errno));
	if (line < 0)
		return fail(r, r->line, -ENOMEM, "out of memory");
	if (line > 0)
		return fail(r, (unsigned)line, -EINVAL,
			    "neither [table], field = value nor ; comment");
	if (r->section.line != r->header)
		return fail(r, r->header, -EINVAL, "a table without fields");
	if (section_end(r) < 0)
		return r->rc;
	return r->out->n ? 0
			 : fault_set(r->f, -EINVAL, "%.200s: holds no [table]",
				     r->path);
}

int layout_read(struct layout *out, const char *path, struct fault *f)
{
	bool is_stdin = !strcmp(path, "-");
	struct reading r = {
		.path = is_stdin ? "stdin" : path,
		.in = is_stdin ? stdin : fopen(path, "re"),
		.out = out,
		.f = f,
	};
	int rc;

	memset(out, 0, sizeof(*out));
	if (!r.in)
		return fault_set(f, -errno, "%.300s: %s", path,
				 strerror(errno));
	rc = read_all(&r);
	section_clear(&r.section);
	if (!is_stdin)
		fclose(r.in);
	if (rc < 0)
		layout_fini(out);
	return rc;
}
