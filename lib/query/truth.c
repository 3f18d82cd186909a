/* SPDX-License-Identifier: BSD-2-Clause */
#include "query/truth.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "hash/crc.h"
#include "hash/family.h"
#include "net/key.h"

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

struct row_reader {
	const struct truth *truth;
	struct error *err;
	char *column[COLUMNS];
	const struct table *t;
	uint8_t copies, hop, path_len;
	uint64_t number; /* the value of a hop or counter; or the list's id */
	const uint8_t *bytes; /* other values, of len bytes, in the line */
	size_t len;
	struct {
		uint8_t headroom[CRC_HEADROOM], key[KEY_MAX];
	} room;
};

static int refuse_row(const struct row_reader *r, const char *what,
		      const char *text)
{
	return error_set(r->err, -EINVAL, "%s: '%s'", what, text);
}

static int read_number(const struct row_reader *r, enum column c,
		       const char *what, uint64_t max, uint64_t *out)
{
	const char *text = r->column[c];

	return text_u64(out, text, max) ? 0 : refuse_row(r, what, text);
}

/* Reads the value's bytes, which overwrite its text. */
static int read_bytes(struct row_reader *r)
{
	char *text = r->column[COL_VALUE];
	size_t digits = 0;

	while (text_hex_digit(text[digits]) >= 0)
		digits++;
	if (text[digits] || digits % 2 || digits / 2 > INT_MAX)
		return refuse_row(r, "value", text);
	text_hex((uint8_t *)text, text, digits / 2);
	r->bytes = (const uint8_t *)text;
	r->len = digits / 2;
	return 0;
}

static int split_columns(struct row_reader *r, char *line)
{
	for (int c = 0; c < COLUMNS; c++)
		if (!(r->column[c] = strsep(&line, ",")))
			return refuse_row(r, "not seven columns",
					  r->column[c - 1]);
	return line ? refuse_row(r, "not seven columns", line) : 0;
}

static int find_table(struct row_reader *r)
{
	int kind = table_kind_of(r->column[COL_KIND]);
	uint64_t id;
	int rc = read_number(r, COL_TABLE, "table", UINT16_MAX, &id);

	if (rc < 0)
		return rc;
	if (kind < 0)
		return refuse_row(r, "kind", r->column[COL_KIND]);
	for (unsigned i = 0; i < r->truth->n_known; i++) {
		const struct table *t = r->truth->known[i];

		/* DTA/0 names no table: take the first that fits. */
		if (id == DTA_NO_TABLE ? t->kind != kind || t->key_len != 4
				       : t->id != id)
			continue;
		if (t->kind != kind)
			return refuse_row(r, "kind: the table is another",
					  r->column[COL_KIND]);
		r->t = t;
		return 0;
	}
	return r->truth->skips_others
		       ? 0
		       : refuse_row(r, "no such table", r->column[COL_TABLE]);
}

static int read_key(struct row_reader *r)
{
	const struct table *t = r->t;
	const char *text = r->column[COL_KEY];
	uint8_t *key = r->room.key;
	uint64_t copies;
	int rc = read_number(r, COL_COPIES, "copies", HASH_COPIES, &copies);

	if (rc < 0)
		return rc;
	/* The published system writes any key of 4 bytes as a number. */
	if (key_parse(key, (enum key_type)t->key_type, t->key_len, text) < 0 &&
	    (t->key_len != 4 || key_parse(key, KEY_U32, 4, text) < 0))
		return refuse_row(r, "key", text);
	r->copies = (uint8_t)(copies ? copies : t->copies);
	return 0;
}

static int read_postcard(struct row_reader *r)
{
	uint64_t hop = 0, len = 0;
	int rc = read_number(r, COL_HOP, "hop", TRUTH_HOPS - 1, &hop);

	if (!rc)
		rc = read_number(r, COL_PATH_LEN, "path_len", TRUTH_HOPS - 1,
				 &len);
	r->hop = (uint8_t)hop;
	r->path_len = (uint8_t)len;
	return rc ? rc
		  : read_number(r, COL_VALUE, "value", UINT32_MAX, &r->number);
}

static int read_columns(struct row_reader *r)
{
	const struct table *t = r->t;
	bool append = t->kind == TABLE_APPEND;
	int rc = append ? read_number(r, COL_KEY,
				      "key: not a list of the table",
				      t->lists - 1, &r->number)
			: read_key(r);

	if (!rc && t->kind == TABLE_POSTCARD)
		return read_postcard(r);
	if (!rc && table_counts(t))
		return read_number(r, COL_VALUE, "value", UINT64_MAX,
				   &r->number);
	if (!rc)
		rc = read_bytes(r);
	if (!rc && append && (!r->len || r->len % t->value_len))
		rc = refuse_row(r, "value: not whole entries of the table",
				r->column[COL_KEY]);
	if (!rc && !append && r->len != t->value_len)
		rc = refuse_row(r, "value: not as long as the table's",
				r->column[COL_KEY]);
	return rc;
}

/* Finds the row's table in the truth, or adds it. 0 or -errno. */
static int open_table(struct truth_table **out, struct truth *truth,
		      const struct row_reader *r)
{
	struct truth_table *tt = truth->table;

	while (tt < truth->table + truth->n && tt->t != r->t)
		tt++;
	*out = tt;
	if (tt < truth->table + truth->n)
		return 0;
	if (truth->n == TABLE_MAX)
		return refuse_row(r, "too many tables", r->column[COL_TABLE]);
	*tt = (struct truth_table){.t = r->t};
	/* Records are cut to what the kind needs of a truth_key. */
	if (r->t->kind == TABLE_POSTCARD)
		keymap_init(&tt->keys, r->t->key_len,
			    offsetof(struct truth_key, path_len) + 1);
	else if (r->t->kind != TABLE_APPEND)
		keymap_init(&tt->keys, r->t->key_len,
			    offsetof(struct truth_key, value) +
				    r->t->value_len);
	else if (!(tt->lists = calloc(r->t->lists, sizeof(tt->lists[0]))))
		return error_set(r->err, -ENOMEM, "out of memory");
	truth->n++;
	return 0;
}

static int add_entries(struct truth_table *tt, const struct row_reader *r)
{
	struct truth_list *l = &tt->lists[r->number];

	if (l->cap - l->len < r->len) {
		size_t cap = 2 * l->cap + r->len;
		void *more = realloc(l->entries, cap);

		if (!more)
			return -ENOMEM;
		l->entries = more;
		l->cap = cap;
	}
	memcpy(l->entries + l->len, r->bytes, r->len);
	l->len += r->len;
	return 0;
}

static int add_report(struct truth_table *tt, const struct row_reader *r)
{
	struct truth_key *k = keymap_get(&tt->keys, r->room.key);

	if (!k)
		return -ENOMEM;
	k->last = r->truth->rows & (UINT64_MAX >> 8);
	if (!k->copies || r->copies < k->copies) {
		k->copies = r->copies;
		tt->copies |= 1u << r->copies;
	}
	if (tt->t->kind == TABLE_KEYWRITE)
		memcpy(k->value, r->bytes, r->len);
	else if (table_counts(tt->t))
		k->sum += r->number;
	else if (r->number != TABLE_BLANK) { /* else the report is dropped */
		k->hop[r->hop] = (uint32_t)r->number;
		k->seen |= (uint16_t)(1u << r->hop);
		if (r->path_len)
			k->path_len = r->path_len;
	}
	return 0;
}

int truth_line(struct truth *t, char *line, struct error *err)
{
	struct row_reader r = {.truth = t, .err = err};
	struct truth_table *tt;
	int rc;

	if (!t->header_read) {
		if (strcmp(line, header) != 0)
			return error_set(err, -EINVAL,
					 "not the header of a truth: '%s'",
					 line);
		t->header_read = true;
		return 0;
	}
	if (!*line)
		return 0;
	rc = split_columns(&r, line);
	if (!rc)
		rc = find_table(&r);
	if (!rc && !r.t)
		return 0;
	if (!rc)
		rc = read_columns(&r);
	if (!rc)
		rc = open_table(&tt, t, &r);
	if (rc)
		return rc;
	t->rows++;
	rc = tt->lists ? add_entries(tt, &r) : add_report(tt, &r);
	return rc < 0 ? error_set(err, rc, "out of memory") : 0;
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

enum truth_verdict truth_verdict_of(const struct table *t,
				    const struct truth_key *want,
				    const struct query_reply *r)
{
	const struct query_path *path = &r->path;
	unsigned len;
	bool same;

	if (r->answer == QUERY_AMBIGUOUS)
		return VERDICT_AMBIGUOUS;
	if (table_counts(t) && r->answer != QUERY_UNREADABLE)
		return r->count == want->sum  ? VERDICT_RIGHT
		       : r->count > want->sum ? VERDICT_OVER
		       : r->count	      ? VERDICT_WRONG
					      : VERDICT_MISSING;
	if (r->answer != QUERY_FOUND)
		return VERDICT_MISSING;
	if (t->kind == TABLE_POSTCARD) {
		len = truth_path_len(want, t);
		same = path->len == len && !path->holes &&
		       !memcmp(path->value, want->hop,
			       len * sizeof(*want->hop));
	} else {
		same = !memcmp(r->value, want->value, t->value_len);
	}
	return same ? VERDICT_RIGHT : VERDICT_WRONG;
}
