/* SPDX-License-Identifier: BSD-2-Clause */
#include "row/template.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "row/encode.h"
#include "row/outbuf.h"

/* Text as it is, and then a field, if there is one. */
struct part {
	const char *text;
	size_t len;
	int field; /* -1: none */
};

struct template
{
	char *text;
	unsigned n;
	struct part parts[];
};

static int field_of(const struct schema *s, const char *name, size_t len)
{
	for (unsigned i = 0; i < s->n; i++)
		if (!strncmp(s->fields[i].name, name, len) &&
		    !s->fields[i].name[len])
			return (int)i;
	return -ENOENT;
}

/* What stands between braces, at the end of a part. */
static int read_field(struct part *p, const struct schema *s, const char *name,
		      size_t len, struct fault *f)
{
	if (!len) /* {}: the next part */
		return 0;
	p->field = field_of(s, name, len);
	if (p->field >= 0)
		return 0;
	return fault_set(f, -EINVAL, "{%.*s}: %s has no such field",
			 (int)len > 64 ? 64 : (int)len, name, s->name);
}

/* A brace at *at, and what is up to the other. */
static int read_brace(struct template *t, const struct schema *s,
		      const char **at, struct fault *f)
{
	const char *close = **at == '{' ? strchr(*at, '}') : NULL;
	struct part *p = &t->parts[t->n - 1];
	int rc;

	if (!close)
		return fault_set(f, -EINVAL, "%s: a brace without the other",
				 t->text);
	rc = read_field(p, s, *at + 1, (size_t)(close - *at) - 1, f);
	if (close == *at + 1)
		t->parts[t->n++] = (struct part){s->name, strlen(s->name), -1};
	*at = close + 1;
	return rc;
}

static int read_parts(struct template *t, const struct schema *s,
		      struct fault *f)
{
	const char *at = t->text;
	int rc = 0;

	while (!rc && *at) {
		size_t len = strcspn(at, "{}");

		t->parts[t->n++] = (struct part){at, len, -1};
		at += len;
		if (*at)
			rc = read_brace(t, s, &at, f);
	}
	return rc;
}

int template_open(struct template **out, const char *text,
		  const struct schema *s, struct fault *f)
{
	/* a part is made of a character at least, two of "{}" */
	struct template *t = calloc(
		1, sizeof(*t) + (strlen(text) + 1) * sizeof(t->parts[0]));
	int rc = -ENOMEM;

	if (t && (t->text = strdup(text)))
		rc = read_parts(t, s, f);
	if (rc < 0) {
		template_close(t);
		return rc;
	}
	*out = t;
	return 0;
}

void template_row(const struct template *t, struct outbuf *o,
		  const struct row_batch *b, unsigned row)
{
	for (unsigned i = 0; i < t->n; i++) {
		const struct part *p = &t->parts[i];
		const struct row_cell *c;

		outbuf_bytes(o, p->text, p->len);
		if (p->field < 0)
			continue;
		c = row_batch_cell(b, row, (unsigned)p->field);
		if (!encode_is_null(c))
			encode_cell(o, b, c);
	}
}

bool template_has(const struct template *t, unsigned field)
{
	for (unsigned i = 0; i < t->n; i++)
		if (t->parts[i].field == (int)field)
			return true;
	return false;
}

void template_close(struct template *t)
{
	if (t)
		free(t->text);
	free(t);
}
