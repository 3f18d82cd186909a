/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/layout_values.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"

struct set {
	uint32_t *v;
	size_t n, cap;
};

bool layout_values_is_file(const char *text)
{
	return !strncmp(text, "file:", 5);
}

static int set_add(struct set *s, uint32_t v)
{
	if (s->n == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 64;
		uint32_t *p = realloc(s->v, cap * sizeof(*p));

		if (!p)
			return -ENOMEM;
		s->v = p;
		s->cap = cap;
	}
	s->v[s->n++] = v;
	return 0;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Sorts, drops what is there twice, hands over. */
static void set_finish(struct set *s, struct table *t, uint32_t **out)
{
	size_t n = 0;

	qsort(s->v, s->n, sizeof(*s->v), compare);
	for (size_t i = 0; i < s->n; i++)
		if (!n || s->v[i] != s->v[n - 1])
			s->v[n++] = s->v[i];
	t->values = n;
	t->value_min = s->v[0];
	t->value_max = s->v[n - 1];
	if (out)
		*out = s->v;
	else
		free(s->v);
}

/* One member of V; the blank is none. */
static int member(uint32_t *out, const char *text, struct fault *f)
{
	uint64_t v;

	if (text_size(&v, text) < 0 || v > UINT32_MAX)
		return fault_set(f, -EINVAL, "'%.40s' is no 32-bit number",
				 text);
	if (v == TABLE_BLANK)
		return fault_set(f, -EINVAL, "%s stands for no hop", text);
	*out = (uint32_t)v;
	return 0;
}

static int parse_range(struct table *t, char *text, char *dash, struct fault *f)
{
	uint32_t min, max;

	*dash = '\0';
	if (member(&min, text, f) < 0 || member(&max, dash + 1, f) < 0)
		return -EINVAL;
	if (min > max)
		return fault_set(f, -EINVAL, "%u-%u is empty", min, max);
	t->values = 0;
	t->value_min = min;
	t->value_max = max;
	return 0;
}

int layout_values_parse(uint32_t **out, struct table *t, const char *text,
			struct fault *f)
{
	char *copy = strdup(text), *dash, *save, *word;
	struct set s = {0};
	uint32_t v;
	int rc = 0;

	if (!copy)
		return fault_set(f, -ENOMEM, "out of memory");
	dash = strchr(copy, '-');
	if (dash) {
		rc = parse_range(t, copy, dash, f);
		free(copy);
		/* 0-0 would look like no range at all: it is a set of one. */
		if (rc < 0 || t->value_max || (rc = set_add(&s, 0)) < 0)
			return rc;
		set_finish(&s, t, out);
		return 0;
	}
	for (word = strtok_r(copy, ", ", &save); word && !rc;
	     word = strtok_r(NULL, ", ", &save))
		if (!(rc = member(&v, word, f)) && (rc = set_add(&s, v)))
			fault_set(f, rc, "out of memory");
	free(copy);
	if (!rc && !s.n)
		rc = fault_set(f, -EINVAL, "no number");
	if (rc < 0)
		free(s.v);
	else
		set_finish(&s, t, out);
	return rc;
}

static int load(struct set *s, FILE *in, const char *path, struct fault *f)
{
	char line[256];
	unsigned long number = 0;
	struct fault why;
	uint32_t v;
	int rc;

	while (fgets(line, sizeof(line), in)) {
		char *word, *save;

		number++;
		line[strcspn(line, "#")] = '\0';
		word = strtok_r(line, " \t\r\n", &save);
		if (!word)
			continue;
		rc = member(&v, word, &why);
		if (!rc && strtok_r(NULL, " \t\r\n", &save))
			rc = fault_set(&why, -EINVAL, "one number a line");
		if (rc < 0)
			return fault_set(f, rc, "%s:%lu: %.200s", path, number,
					 why.text);
		rc = set_add(s, v);
		if (rc < 0)
			return fault_set(f, rc, "out of memory");
	}
	if (ferror(in))
		return fault_set(f, -EIO, "%s: %s", path, strerror(errno));
	return s->n ? 0 : fault_set(f, -EINVAL, "%s: no number", path);
}

int layout_values_load(uint32_t **out, struct table *t, const char *path,
		       const char *base, struct fault *f)
{
	const char *slash = strrchr(base, '/');
	int dir = slash && path[0] != '/' ? (int)(slash + 1 - base) : 0;
	char full[PATH_MAX];
	struct set s = {0};
	struct stat st;
	FILE *in;
	int rc;

	if (snprintf(full, sizeof(full), "%.*s%s", dir, base, path) >=
	    (int)sizeof(full))
		return fault_set(f, -ENAMETOOLONG, "the path is too long");
	/* A device may have no end, and a FIFO no writer. */
	if (!stat(full, &st) && !S_ISREG(st.st_mode))
		return fault_set(f, -EINVAL, "%.300s: not a regular file",
				 full);
	in = fopen(full, "re");
	if (!in)
		return fault_set(f, -errno, "%.300s: %s", full,
				 strerror(errno));
	rc = load(&s, in, full, f);
	fclose(in);
	if (rc < 0)
		free(s.v);
	else
		set_finish(&s, t, out);
	return rc;
}
