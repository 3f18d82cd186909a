/* SPDX-License-Identifier: BSD-2-Clause */
#include "region/layout.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/ini.h"
#include "hash/family.h"
#include "net/dta.h"
#include "net/key.h"

enum {
	FOR_KEYWRITE = 1 << TABLE_KEYWRITE,
	FOR_APPEND = 1 << TABLE_APPEND,
	FOR_KEYINC = 1 << TABLE_KEYINC,
	FOR_POSTCARD = 1 << TABLE_POSTCARD,
	FOR_ALL = (1 << TABLE_KINDS) - 2,
};

/* No table is longer; table.c checks all sizes. */
#define BYTES_MAX (UINT64_C(1) << 46)
#define NS_OF_MS  UINT64_C(1000000)

/* V, the set of values that a postcard can carry, while it is read. */
struct value_set {
	uint32_t *v;
	size_t n;
};

static int compare_values(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Sorts V and drops duplicates; puts its size and bounds into the table. */
static void finish_set(struct value_set *s, struct table *t)
{
	size_t n = 0;

	qsort(s->v, s->n, sizeof(*s->v), compare_values);
	for (size_t i = 0; i < s->n; i++)
		if (!n || s->v[i] != s->v[n - 1])
			s->v[n++] = s->v[i];
	t->values = n;
	t->value_min = s->v[0];
	t->value_max = s->v[n - 1];
}

/* One member of V, which TABLE_BLANK cannot be. */
static int parse_member(uint32_t *out, const char *text, struct error *err)
{
	uint64_t v;

	if (text_size(&v, text) < 0 || v > UINT32_MAX)
		return error_set(err, -EINVAL, "'%.40s' is no 32-bit number",
				 text);
	if (v == TABLE_BLANK)
		return error_set(err, -EINVAL, "%s stands for no hop", text);
	*out = (uint32_t)v;
	return 0;
}

static int parse_range(struct table *t, char *text, char *dash,
		       struct error *err)
{
	uint32_t min, max;

	*dash = '\0';
	if (parse_member(&min, text, err) < 0 ||
	    parse_member(&max, dash + 1, err) < 0)
		return -EINVAL;
	if (min > max)
		return error_set(err, -EINVAL, "%u-%u is empty", min, max);
	t->values = 0;
	t->value_min = min;
	t->value_max = max;
	return 0;
}

/* Adds the numbers of a text to a set. */
static int add_members(struct value_set *s, char *text, struct error *err)
{
	static const char blank[] = ", \t\r\n";
	char *save, *word = strtok_r(text, blank, &save);
	uint32_t v, *more;

	for (; word; word = strtok_r(NULL, blank, &save)) {
		if (parse_member(&v, word, err) < 0)
			return -EINVAL;
		more = realloc(s->v, (s->n + 1) * sizeof(*more));
		if (!more)
			return error_set(err, -ENOMEM, "out of memory");
		s->v = more;
		s->v[s->n++] = v;
	}
	return 0;
}

/* "MIN-MAX" sets the bounds, "1,2,7" adds to a set. */
static int parse_values(struct value_set *s, struct table *t, const char *text,
			struct error *err)
{
	char *copy = strdup(text), *dash;
	int rc;

	if (!copy)
		return error_set(err, -ENOMEM, "out of memory");
	dash = strchr(copy, '-');
	rc = dash ? parse_range(t, copy, dash, err) : add_members(s, copy, err);
	free(copy);
	if (!rc && !dash && !s->n)
		return error_set(err, -EINVAL, "no number");
	if (rc || !dash || t->value_max)
		return rc;
	/* 0-0 would look like no range at all: it is a set of one. */
	return add_members(s, (char[]){"0"}, err);
}

static int set_key(const struct field *field, void *object, const char *value,
		   struct error *err)
{
	struct table *t = object;
	uint64_t len;
	int type;

	(void)field;
	if (!strncmp(value, "hex:", 4)) {
		if (text_size(&len, value + 4) < 0 || !len || len > KEY_MAX)
			return error_set(err, -EINVAL, "%s is not 1 to %d",
					 value + 4, KEY_MAX);
		t->key_type = KEY_HEX;
		t->key_len = (uint16_t)len;
		return 0;
	}
	type = key_type_of(value);
	if (type < 0 || type == KEY_HEX)
		return error_set(err, -EINVAL,
				 "'%s' is no key type; flow4, flow6, hop4, "
				 "hop6, src4, src6, u32 or hex:LENGTH",
				 value);
	t->key_type = (uint8_t)type;
	t->key_len = (uint16_t)key_type_len((enum key_type)type);
	return 0;
}

static int set_stride(const struct field *field, void *object,
		      const char *value, struct error *err)
{
	struct table *t = object;
	uint64_t v = TABLE_STRIDE_PACKED;

	(void)field;
	(void)err;
	if (!strcmp(value, "pow2"))
		v = 0;
	else if (strcmp(value, "packed") != 0 &&
		 (text_size(&v, value) < 0 || v < 4 || v > 1024))
		return -EINVAL;
	t->stride = (uint32_t)v;
	return 0;
}

static int set_values(const struct field *field, void *object,
		      const char *value, struct error *err)
{
	struct value_set s = {0};
	int rc;

	(void)field;
	rc = parse_values(&s, object, value, err);
	if (s.n && !rc)
		finish_set(&s, object);
	free(s.v);
	return rc;
}

static int set_flush(const struct field *field, void *object, const char *value,
		     struct error *err)
{
	struct table *t = object;
	uint64_t ns;

	(void)field;
	(void)err;
	/* The unit is required: 100 might be meant as milliseconds. */
	if (!text_duration_ns(&ns, value) || !strpbrk(value, "smh") ||
	    ns % NS_OF_MS || !ns || ns > 3600000 * NS_OF_MS)
		return -EINVAL;
	t->flush_ms = (uint32_t)(ns / NS_OF_MS);
	return 0;
}

static int set_show(const struct field *field, void *object, const char *value,
		    struct error *err)
{
	char show[TABLE_SHOW_MAX] = "";
	struct table *t = object;
	size_t n = 0;

	(void)field;
	for (; *value; value++)
		if (*value != ' ' && *value != '\t' && n < sizeof(show))
			show[n++] = *value;
	if (n == sizeof(show) || !n || !table_show_ok(show))
		return error_set(err, -EINVAL,
				 "is not a list of types of 1 to %d characters",
				 TABLE_SHOW_MAX - 1);
	memcpy(t->show, show, sizeof(show));
	return 0;
}

static int set_protocol(const struct field *field, void *object,
			const char *value, struct error *err)
{
	struct table *t = object;
	int protocol = key_protocol_of(value);

	(void)field;
	if (protocol <= 0)
		return error_set(err, -EINVAL,
				 "'%s' is no protocol: tcp, udp, icmp, icmp6, "
				 "sctp, gre, esp or a number from 1 to 255",
				 value);
	t->protocol = (uint8_t)protocol;
	return 0;
}

static const char *const hash_names[] = {
	[HASH_DTA1] = "dta1",
	[HASH_DTA0] = "dta0",
	NULL,
};

static const char *const qp_names[] = {
	[TABLE_QP_RC] = "rc",
	[TABLE_QP_UC] = "uc",
	NULL,
};

static const char *const yes_names[] = {"no", "yes", NULL};

/* clang-format off */
#define SIZE(member, width) FIELD_SIZE, width, offsetof(struct table, member), 1
#define NAME(member, list) \
	FIELD_NAME, 1, offsetof(struct table, member), .names = list

static const struct field fields[] = {
	{ "kind", NAME(kind, dta_opcode_names), .use = FOR_ALL },
	{ "id", SIZE(id, 2), 65534, .use = FOR_ALL },
	{ "key", FIELD_OTHER, .set = set_key, .use = FOR_ALL },
	{ "value", SIZE(value_len, 2), TABLE_VALUE_MAX, .use = FOR_ALL },
	{ "slots", SIZE(units, 8), BYTES_MAX,
	  .use = FOR_KEYWRITE | FOR_KEYINC },
	{ "chunks", SIZE(units, 8), BYTES_MAX, .use = FOR_POSTCARD },
	{ "entries", SIZE(units, 8), BYTES_MAX, .use = FOR_APPEND },
	{ "ring", SIZE(units, 8), BYTES_MAX, .use = FOR_APPEND },
	{ "memory", SIZE(length, 8), BYTES_MAX, .use = FOR_ALL },
	{ "stride", FIELD_OTHER, .set = set_stride, .use = FOR_ALL,
	  .want = "pow2, packed or 4 to 1024" },
	{ "copies", SIZE(copies, 1), HASH_COPIES, .use = FOR_ALL },
	{ "hash", NAME(hash, hash_names), .use = FOR_ALL },
	{ "hops", SIZE(hops, 1), HASH_HOPS, .use = FOR_POSTCARD },
	{ "values", FIELD_OTHER, .set = set_values, .use = FOR_POSTCARD },
	{ "cache", SIZE(cache_rows, 4), UINT32_MAX, .use = FOR_POSTCARD },
	{ "lists", SIZE(lists, 4), UINT32_MAX, .use = FOR_APPEND },
	{ "batch", SIZE(batch, 2), TABLE_BATCH_MAX, .use = FOR_APPEND },
	{ "flush", FIELD_OTHER, .set = set_flush, .use = FOR_APPEND,
	  .want = "a time like 100ms, 5s or 1m, 1 ms to 1 h" },
	{ "sequence", NAME(sequence, table_sequences), .use = FOR_ALL },
	{ "immediate", NAME(immediate, yes_names), .use = FOR_ALL },
	{ "qp", NAME(qp, qp_names), .use = FOR_ALL },
	{ "protocol", FIELD_OTHER, .set = set_protocol,
	  .use = FOR_KEYWRITE | FOR_KEYINC | FOR_POSTCARD },
	{ "show", FIELD_OTHER, .set = set_show,
	  .use = FOR_KEYWRITE | FOR_APPEND },
	{ NULL },
};
/* clang-format on */

_Static_assert(sizeof(fields) / sizeof(fields[0]) - 1 <= LAYOUT_FIELDS_MAX,
	       "more fields than layout.h says");

int layout_field(const char *field)
{
	return field_find(fields, field);
}

/* Whether the kind of a table has a field (its number): 0, or -EINVAL. */
static int kind_has_field(const struct table *t, int field, struct error *err)
{
	if (fields[field].use & 1u << t->kind)
		return 0;
	return error_set(err, -EINVAL, "%s: %s has none", fields[field].name,
			 table_kind_name(t->kind));
}

int layout_set(struct table *t, const char *field, const char *value,
	       struct error *err)
{
	int i = layout_field(field);
	struct guess g;

	if (i < 0)
		return error_set(err, i, "%s: no such field%s", field,
				 field_hint(fields, field, &g));
	if (t->kind && kind_has_field(t, i, err) < 0)
		return -EINVAL;
	return field_set(&fields[i], t, value, err);
}

void layout_fini(struct layout *l)
{
	for (unsigned i = 0; i < TABLE_MAX; i++) {
		free(l->values[i]);
		l->values[i] = NULL;
	}
	l->n = 0;
}

struct layout_reader {
	struct ini ini;
	struct layout *out;
	struct table *t; /* of the current section; NULL before the first */
	unsigned header; /* that section's line */
	unsigned line[LAYOUT_FIELDS_MAX]; /* of each field; 0: not there */
	struct value_set values;	  /* of the current section */
};

static bool has_field(const struct layout_reader *r, const char *field)
{
	return r->line[layout_field(field)];
}

/* Checks that need all fields of a table. */
static int check_fields(struct layout_reader *r)
{
	const struct ini *i = &r->ini;
	struct error why;

	if (!has_field(r, "kind"))
		return ini_error(i, r->header, -EINVAL, "kind: missing");
	if (has_field(r, "memory") &&
	    (has_field(r, "slots") || has_field(r, "chunks") ||
	     has_field(r, "entries") || has_field(r, "ring")))
		return ini_error(i, r->header, -EINVAL,
				 "memory: the table's units are already given");
	if (has_field(r, "ring") && has_field(r, "entries"))
		return ini_error(i, r->header, -EINVAL,
				 "ring: it follows from entries, a batch more");
	for (int k = 0; k < LAYOUT_FIELDS_MAX; k++)
		if (r->line[k] && kind_has_field(r->t, k, &why) < 0)
			return ini_error(i, r->line[k], -EINVAL, "%s",
					 why.text);
	return 0;
}

/* The current section ends: checks and completes its table. */
static int end_section(struct layout_reader *r)
{
	struct error why = {""};

	if (!r->t)
		return 0;
	if (check_fields(r) < 0)
		return -EINVAL;
	if (r->values.n) {
		finish_set(&r->values, r->t);
		r->out->values[r->out->n] = r->values.v;
		r->values = (struct value_set){0};
	}
	if (has_field(r, "entries"))
		table_set_kept(r->t, r->t->units);
	if (table_finish(r->t, &why) < 0)
		return ini_error(&r->ini, r->header, -EINVAL, "%s", why.text);
	for (const struct table *other = r->out->table; other < r->t; other++)
		if (other->id == r->t->id || !strcmp(other->name, r->t->name))
			return ini_error(&r->ini, r->header, -EINVAL,
					 "table %s has this name or id already",
					 other->name);
	r->out->n++;
	return 0;
}

static int begin_section(struct layout_reader *r)
{
	const struct ini *i = &r->ini;
	struct layout *l = r->out;

	if (end_section(r) < 0)
		return -EINVAL;
	if (l->n == TABLE_MAX)
		return ini_error(i, i->header, -EINVAL, "too many tables");
	if (strlen(i->section) >= TABLE_NAME_MAX)
		return ini_error(i, i->header, -EINVAL,
				 "the table's name is too long");
	r->t = &l->table[l->n];
	memcpy(r->t->name, i->section, strlen(i->section) + 1);
	r->t->id = (uint16_t)(l->n + 1);
	r->header = i->header;
	memset(r->line, 0, sizeof(r->line));
	return 0;
}

static int read_field(struct layout_reader *r)
{
	const struct ini *i = &r->ini;
	int k = layout_field(i->key), rc;
	/* V's members are kept, unlike in layout_set(); a set may go on in
	 * further lines. */
	bool more = r->values.n && !strcmp(i->key, "values") &&
		    !strchr(i->value, '-');
	struct error why = {""}, inner = {""};

	if (k >= 0 && r->line[k] && !more)
		return ini_error(i, i->line, -EINVAL, "%s: given twice",
				 i->key);
	if (!strcmp(i->key, "values") &&
	    (!r->t->kind || r->t->kind == TABLE_POSTCARD)) {
		rc = parse_values(&r->values, r->t, i->value, &inner);
		if (rc < 0)
			error_set(&why, rc, "values: %.400s", inner.text);
	} else {
		rc = layout_set(r->t, i->key, i->value, &why);
	}
	if (rc < 0)
		return ini_error(i, i->line, rc, "%s", why.text);
	r->line[k] = i->line;
	return 0;
}

static int read_all(struct layout_reader *r)
{
	struct ini *i = &r->ini;
	int rc;

	while ((rc = ini_next(i)) > 0 && !i->empty_section) {
		if (!i->header)
			return ini_error(i, i->line, -EINVAL,
					 "a field before the first [table]");
		if (i->header != r->header && begin_section(r) < 0)
			return -EINVAL;
		if ((rc = read_field(r)) < 0)
			return rc;
	}
	if (rc < 0)
		return rc;
	if (i->empty_section)
		return ini_error(i, i->empty_section, -EINVAL,
				 "a table without fields");
	if (end_section(r) < 0)
		return -EINVAL;
	return r->out->n ? 0 : ini_error(i, 0, -EINVAL, "holds no [table]");
}

/* A name without / that is no file here is that of an example, which is
 * installed beside the program. */
static FILE *open_layout(const char *path)
{
	FILE *f = fopen(path, "re");
	char program[PATH_MAX] = "", example[2 * PATH_MAX], *slash;

	if (f || errno != ENOENT || strchr(path, '/'))
		return f;
	if (readlink("/proc/self/exe", program, sizeof(program) - 1) < 0 ||
	    !(slash = strrchr(program, '/')))
		return NULL;
	*slash = '\0';
	snprintf(example, sizeof(example), "%s/../share/dta/examples/%s",
		 program, path);
	return fopen(example, "re");
}

int layout_read(struct layout *out, const char *path, struct error *err)
{
	bool is_stdin = !strcmp(path, "-");
	struct layout_reader r = {
		.ini = {.in = is_stdin ? stdin : open_layout(path),
			.name = is_stdin ? "standard input" : path,
			.bad_line = "neither [table], field = value nor "
				    "; comment",
			.err = err},
		.out = out,
	};
	int rc;

	memset(out, 0, sizeof(*out));
	if (!r.ini.in)
		return ini_error(&r.ini, 0, -errno, "%s", strerror(errno));
	rc = read_all(&r);
	if (!is_stdin)
		fclose(r.ini.in);
	free(r.values.v);
	if (rc < 0)
		layout_fini(out);
	return rc;
}
