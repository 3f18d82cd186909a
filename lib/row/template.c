/* SPDX-License-Identifier: BSD-2-Clause */
#include "row/template.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "row/encode.h"
#include "row/outbuf.h"
#include "wire/key.h"

/* 10.0.0.1:443>10.0.0.2:5501/tcp: what is before >, before the last /, behind
 * it. */
enum flow_part {
	ALL,
	FROM,
	TO,
	PROTOCOL,
	FLOW_PARTS,
};

static const char *const part_names[FLOW_PARTS] = {"", "from", "to", "proto"};

/* Text as it is, and then a field, if there is one. */
struct part {
	const char *text;
	size_t len;
	int field;	/* -1: none */
	unsigned group; /* of brackets; 0: in none */
	uint8_t of;	/* enum flow_part */
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

static enum flow_part part_of(const char *name, size_t len)
{
	unsigned i = 1;

	while (i < FLOW_PARTS && (strlen(part_names[i]) != len ||
				  memcmp(part_names[i], name, len) != 0))
		i++;
	return (enum flow_part)i;
}

/* What stands between braces, at the end of a part. */
static int read_field(struct part *p, const struct schema *s, const char *name,
		      size_t len, struct fault *f)
{
	const char *colon = memchr(name, ':', len);
	size_t n = colon ? (size_t)(colon - name) : len;

	if (!len) /* {}: the next part */
		return 0;
	p->field = field_of(s, name, n);
	if (colon)
		p->of = (uint8_t)part_of(colon + 1, len - n - 1);
	if (p->field >= 0 && p->of < FLOW_PARTS)
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
		t->parts[t->n++] = (struct part){s->name, strlen(s->name), -1,
						 p->group};
	*at = close + 1;
	return rc;
}

static int read_parts(struct template *t, const struct schema *s,
		      struct fault *f)
{
	unsigned groups = 0, group = 0;
	const char *at = t->text;
	int rc = 0;

	while (!rc && *at) {
		size_t len = strcspn(at, "{}[]");

		t->parts[t->n++] = (struct part){at, len, -1, group};
		at += len;
		if (*at == '[' || *at == ']') {
			if ((*at == '[') != !group)
				break;
			group = *at == '[' ? ++groups : 0;
			at++;
		} else if (*at) {
			rc = read_brace(t, s, &at, f);
		}
	}
	if (!rc && (*at || group))
		rc = fault_set(f, -EINVAL, "%s: a bracket without the other",
			       t->text);
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

static const struct row_cell *cell_of(const struct part *p,
				      const struct row_batch *b, unsigned row)
{
	const struct row_cell *c = NULL;

	if (p->field >= 0)
		c = row_batch_cell(b, row, (unsigned)p->field);
	return c;
}

/* Whether a part's group has a field that is null. */
static bool left_out(const struct template *t, unsigned group,
		     const struct row_batch *b, unsigned row)
{
	const struct row_cell *c;

	for (unsigned i = 0; group && i < t->n; i++)
		if (t->parts[i].group == group &&
		    (c = cell_of(&t->parts[i], b, row)) && encode_is_null(c))
			return true;
	return false;
}

static void put_protocol(struct outbuf *o, const char *flow)
{
	enum key_type type = *flow == '[' ? KEY_FLOW6 : KEY_FLOW4;
	size_t len = key_type_len(type);
	uint8_t key[KEY_MAX];

	if (key_parse(key, type, len, flow) == 0)
		outbuf_u64(o, key[len - 1]);
}

/* A part of a flow; nothing of what is none. */
static void put_part(struct outbuf *o, const char *flow, enum flow_part of)
{
	const char *to = strchr(flow, '>'), *protocol = strrchr(flow, '/');

	if (!to || !protocol || protocol < to)
		return;
	if (of == FROM)
		outbuf_bytes(o, flow, (size_t)(to - flow));
	else if (of == TO)
		outbuf_bytes(o, to + 1, (size_t)(protocol - to) - 1);
	else
		put_protocol(o, flow);
}

void template_row(const struct template *t, struct outbuf *o,
		  const struct row_batch *b, unsigned row)
{
	const struct row_cell *c;

	for (unsigned i = 0; i < t->n; i++) {
		if (left_out(t, t->parts[i].group, b, row))
			continue;
		outbuf_bytes(o, t->parts[i].text, t->parts[i].len);
		c = cell_of(&t->parts[i], b, row);
		if (!c || encode_is_null(c))
			continue;
		if (t->parts[i].of == ALL)
			encode_cell(o, b, c);
		else if (c->kind == ROW_STR)
			put_part(o, (const char *)b->bytes + c->at,
				 (enum flow_part)t->parts[i].of);
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
