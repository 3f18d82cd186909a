/* SPDX-License-Identifier: BSD-2-Clause */
#include "query/truth.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "hash/family.h"
#include "store/region.h"
#include "wire/dta.h"
#include "wire/key.h"

enum column {
	COL_TABLE,
	COL_KIND,
	COL_KEY,
	COL_HOP,
	COL_PATH_LEN,
	COL_COPIES,
	COL_VALUE,
	COLUMNS,
};

static const char header[] = "table,kind,key,hop,path_len,copies,value";

/* A row on its way in. */
struct reader {
	struct truth *truth;
	struct fault *f;
	char *column[COLUMNS];
};

static int malformed(const struct reader *r, const char *what, const char *text)
{
	return fault_set(r->f, -EINVAL, "%s: '%s'", what, text);
}

static int no_memory(const struct reader *r)
{
	return fault_set(r->f, -ENOMEM, "%s", strerror(ENOMEM));
}

/* Digits and nothing else, up to max. */
static int number(const struct reader *r, enum column c, const char *what,
		  uint64_t max, uint64_t *out)
{
	const char *text = r->column[c];
	uint64_t v = 0;

	if (!*text)
		return malformed(r, what, text);
	for (const char *p = text; *p; p++) {
		uint64_t digit = (uint64_t)*p - '0';

		if (digit > 9 || v > (UINT64_MAX - digit) / 10)
			return malformed(r, what, text);
		v = v * 10 + digit;
	}
	if (v > max)
		return malformed(r, what, text);
	*out = v;
	return 0;
}

/* The value's bytes, which replace its text; their number, or -EINVAL. */
static int value_bytes(const struct reader *r)
{
	char *text = r->column[COL_VALUE];
	size_t digits = 0;

	while (text_hex_digit(text[digits]) >= 0)
		digits++;
	if (text[digits] || digits % 2 || digits / 2 > INT_MAX)
		return malformed(r, "value", text);
	text_hex((uint8_t *)text, text, digits / 2);
	return (int)(digits / 2);
}

static int split(struct reader *r, char *line)
{
	for (int c = 0; c < COLUMNS; c++) {
		char *comma = strchr(line, ',');

		r->column[c] = line;
		if (!comma != (c == COLUMNS - 1))
			return malformed(r, "not seven columns", line);
		if (comma) {
			*comma = '\0';
			line = comma + 1;
		}
	}
	return 0;
}

/* DTA/0 names no table: the first of the kind with 4-byte keys takes it. */
static bool takes(const struct table *t, uint64_t id, int kind)
{
	if (id == DTA_NO_TABLE)
		return t->kind == kind && t->key_len == 4;
	return t->id == id;
}

/* Of a record of the map: as much as the kind needs. */
static size_t record_len(const struct table *t)
{
	return t->kind == TABLE_POSTCARD
		       ? offsetof(struct truth_key, path_len) + 1
		       : offsetof(struct truth_key, value) + t->value_len;
}

static int add_table(struct reader *r, const struct table *t,
		     struct truth_table **out)
{
	struct truth_table *tt = &r->truth->table[r->truth->n];

	if (r->truth->n == TABLE_MAX)
		return malformed(r, "too many tables", r->column[COL_TABLE]);
	*tt = (struct truth_table){.t = t};
	if (t->kind == TABLE_APPEND) {
		tt->lists = calloc(t->lists, sizeof(tt->lists[0]));
		if (!tt->lists)
			return no_memory(r);
	} else {
		keymap_init(&tt->keys, t->key_len, record_len(t));
	}
	r->truth->n++;
	*out = tt;
	return 0;
}

static int find_table(struct reader *r, struct truth_table **out)
{
	int kind = table_kind_of(r->column[COL_KIND]);
	struct truth *truth = r->truth;
	uint64_t id;
	int rc = number(r, COL_TABLE, "table", UINT16_MAX, &id);

	if (rc < 0)
		return rc;
	if (kind < 0)
		return malformed(r, "kind", r->column[COL_KIND]);
	for (unsigned i = 0; i < truth->n; i++) {
		*out = &truth->table[i];
		if (takes((*out)->t, id, kind) && (*out)->t->kind == kind)
			return 0;
	}
	for (unsigned i = 0; i < truth->n_known; i++) {
		const struct table *t = truth->known[i];

		if (!takes(t, id, kind))
			continue;
		if (t->kind != kind)
			return malformed(r, "kind: the table is another",
					 r->column[COL_KIND]);
		return add_table(r, t, out);
	}
	return malformed(r, "no such table", r->column[COL_TABLE]);
}

static int record_of(struct reader *r, struct truth_table *tt,
		     struct truth_key **out)
{
	const struct table *t = tt->t;
	const char *text = r->column[COL_KEY];
	uint8_t key[KEY_MAX];
	uint64_t copies;
	int rc = number(r, COL_COPIES, "copies", HASH_COPIES, &copies);

	if (rc < 0)
		return rc;
	/* The published system's keys are numbers, whatever they stand for. */
	if (key_parse(key, (enum key_type)t->key_type, t->key_len, text) < 0 &&
	    (t->key_len != 4 || key_parse(key, KEY_U32, 4, text) < 0))
		return malformed(r, "key", text);
	*out = keymap_get(&tt->keys, key);
	if (!*out)
		return no_memory(r);
	if (!copies)
		copies = t->copies;
	(*out)->last = r->truth->rows & (UINT64_MAX >> 8);
	if (!(*out)->copies || copies < (*out)->copies)
		(*out)->copies = (uint8_t)copies;
	return 0;
}

static int add_keywrite(struct reader *r, struct truth_table *tt)
{
	const char *text = r->column[COL_VALUE];
	struct truth_key *k;
	int rc = record_of(r, tt, &k);
	int len = rc < 0 ? rc : value_bytes(r);

	if (len < 0)
		return len;
	if (len != tt->t->value_len)
		return malformed(r, "value: not as long as the table's",
				 r->column[COL_KEY]);
	memcpy(k->value, text, tt->t->value_len);
	return 0;
}

static int add_keyinc(struct reader *r, struct truth_table *tt)
{
	struct truth_key *k;
	uint64_t add = 0;
	int rc = record_of(r, tt, &k);

	if (!rc)
		rc = number(r, COL_VALUE, "value", UINT64_MAX, &add);
	if (!rc)
		k->sum += add;
	return rc;
}

static int add_postcard(struct reader *r, struct truth_table *tt)
{
	struct truth_key *k;
	uint64_t hop = 0, len = 0, value = 0;
	int rc = record_of(r, tt, &k);

	if (!rc)
		rc = number(r, COL_HOP, "hop", TRUTH_HOPS - 1, &hop);
	if (!rc)
		rc = number(r, COL_PATH_LEN, "path_len", TRUTH_HOPS - 1, &len);
	if (!rc)
		rc = number(r, COL_VALUE, "value", UINT32_MAX, &value);
	/* The value of no hop: the translator drops it. */
	if (rc < 0 || value == TABLE_BLANK)
		return rc;
	k->hop[hop] = (uint32_t)value;
	k->seen |= (uint16_t)(1u << hop);
	if (len)
		k->path_len = (uint8_t)len;
	return 0;
}

/* Entries that the ring has overwritten for sure are let go of. */
static void list_trim(struct truth_list *l, const struct table *t)
{
	size_t keep = (size_t)t->units * REGION_EPOCHS_MAX * t->value_len;
	size_t gone;

	if (l->len < 2 * keep)
		return;
	gone = l->len - keep;
	memmove(l->entries, l->entries + gone, keep);
	l->len = keep;
	l->first += gone / t->value_len;
}

static int list_grow(struct truth_list *l, size_t len)
{
	size_t cap = 2 * l->cap + len;
	void *more;

	if (l->cap - l->len >= len)
		return 0;
	more = realloc(l->entries, cap);
	if (!more)
		return -ENOMEM;
	l->entries = more;
	l->cap = cap;
	return 0;
}

static int add_append(struct reader *r, struct truth_table *tt)
{
	const struct table *t = tt->t;
	const char *text = r->column[COL_VALUE];
	struct truth_list *l;
	uint64_t list;
	int rc = number(r, COL_KEY, "key: not a list of the table",
			t->lists - 1, &list);
	int len = rc < 0 ? rc : value_bytes(r);

	if (len < 0)
		return len;
	if (!len || len % t->value_len)
		return malformed(r, "value: not whole entries of the table",
				 r->column[COL_KEY]);
	l = &tt->lists[list];
	list_trim(l, t);
	if (list_grow(l, (size_t)len) < 0)
		return no_memory(r);
	memcpy(l->entries + l->len, text, (size_t)len);
	l->len += (size_t)len;
	return 0;
}

static int add_row(struct reader *r, char *line)
{
	struct truth_table *tt = NULL;
	int rc = split(r, line);

	if (!rc)
		rc = find_table(r, &tt);
	if (rc < 0)
		return rc;
	r->truth->rows++;
	switch (tt->t->kind) {
	case TABLE_KEYWRITE:
		return add_keywrite(r, tt);
	case TABLE_KEYINC:
		return add_keyinc(r, tt);
	case TABLE_POSTCARD:
		return add_postcard(r, tt);
	default:
		return add_append(r, tt);
	}
}

int truth_line(struct truth *t, char *line, struct fault *f)
{
	struct reader r = {.truth = t, .f = f};

	if (!t->begun) {
		if (strcmp(line, header) != 0)
			return malformed(&r, "not the header of a truth", line);
		t->begun = true;
		return 0;
	}
	return *line ? add_row(&r, line) : 0;
}

void truth_init(struct truth *t, const struct table *const *known, unsigned n)
{
	*t = (struct truth){.known = known, .n_known = n};
}

void truth_fini(struct truth *t)
{
	for (unsigned i = 0; i < t->n; i++) {
		struct truth_table *tt = &t->table[i];

		keymap_fini(&tt->keys);
		for (uint32_t k = 0; tt->lists && k < tt->t->lists; k++)
			free(tt->lists[k].entries);
		free(tt->lists);
	}
}

unsigned truth_path_len(const struct truth_key *k, const struct table *t)
{
	unsigned seen = k->seen ? 32u - (unsigned)__builtin_clz(k->seen) : 0;

	if (k->path_len)
		return k->path_len;
	return seen > t->hops ? seen : t->hops;
}

bool truth_path_whole(const struct truth_key *k, const struct table *t)
{
	unsigned all = (1u << truth_path_len(k, t)) - 1;

	return (k->seen & all) == all;
}

bool truth_path_long(const struct truth_key *k, const struct table *t)
{
	return truth_path_len(k, t) > t->hops;
}
