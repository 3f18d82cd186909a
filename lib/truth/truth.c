/* SPDX-License-Identifier: BSD-2-Clause */
#include "truth/truth.h"

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

enum {
	ORDER_FIRST = 1024, /* keys, of several shards, to begin with */
};

/* A row on its way in. */
struct reader {
	const struct truth *truth;
	struct truth_row *row;
	struct fault *f;
	char *column[COLUMNS];
};

static int malformed(const struct reader *r, const char *what, const char *text)
{
	return fault_set(r->f, -EINVAL, "%s: '%s'", what, text);
}

static int no_memory(struct fault *f)
{
	return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
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

/* The value's bytes, which replace its text. */
static int value_bytes(const struct reader *r)
{
	char *text = r->column[COL_VALUE];
	size_t digits = 0;

	while (text_hex_digit(text[digits]) >= 0)
		digits++;
	if (text[digits] || digits % 2 || digits / 2 > INT_MAX)
		return malformed(r, "value", text);
	text_hex((uint8_t *)text, text, digits / 2);
	r->row->bytes = (const uint8_t *)text;
	r->row->len = digits / 2;
	return 0;
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

static int find_table(struct reader *r)
{
	int kind = table_kind_of(r->column[COL_KIND]);
	uint64_t id;
	int rc = number(r, COL_TABLE, "table", UINT16_MAX, &id);

	if (rc < 0)
		return rc;
	if (kind < 0)
		return malformed(r, "kind", r->column[COL_KIND]);
	for (unsigned i = 0; i < r->truth->n_known; i++) {
		const struct table *t = r->truth->known[i];

		if (!takes(t, id, kind))
			continue;
		if (t->kind != kind)
			return malformed(r, "kind: the table is another",
					 r->column[COL_KIND]);
		r->row->t = t;
		return 0;
	}
	return malformed(r, "no such table", r->column[COL_TABLE]);
}

static int look_key(struct reader *r)
{
	const struct table *t = r->row->t;
	const char *text = r->column[COL_KEY];
	uint8_t *key = r->row->key;
	uint64_t copies;
	int rc = number(r, COL_COPIES, "copies", HASH_COPIES, &copies);

	if (rc < 0)
		return rc;
	/* The published system's keys are numbers, whatever they stand for. */
	if (key_parse(key, (enum key_type)t->key_type, t->key_len, text) < 0 &&
	    (t->key_len != 4 || key_parse(key, KEY_U32, 4, text) < 0))
		return malformed(r, "key", text);
	r->row->hash = keymap_hash(key, t->key_len);
	r->row->copies = (uint8_t)(copies ? copies : t->copies);
	return 0;
}

static int look_keywrite(struct reader *r)
{
	int rc = look_key(r);

	if (!rc)
		rc = value_bytes(r);
	if (!rc && r->row->len != r->row->t->value_len)
		rc = malformed(r, "value: not as long as the table's",
			       r->column[COL_KEY]);
	return rc;
}

static int look_keyinc(struct reader *r)
{
	int rc = look_key(r);

	return rc ? rc
		  : number(r, COL_VALUE, "value", UINT64_MAX, &r->row->number);
}

static int look_postcard(struct reader *r)
{
	uint64_t hop = 0, len = 0;
	int rc = look_key(r);

	if (!rc)
		rc = number(r, COL_HOP, "hop", TRUTH_HOPS - 1, &hop);
	if (!rc)
		rc = number(r, COL_PATH_LEN, "path_len", TRUTH_HOPS - 1, &len);
	if (!rc)
		rc = number(r, COL_VALUE, "value", UINT32_MAX, &r->row->number);
	r->row->hop = (uint8_t)hop;
	r->row->path_len = (uint8_t)len;
	return rc;
}

static int look_append(struct reader *r)
{
	const struct table *t = r->row->t;
	int rc = number(r, COL_KEY, "key: not a list of the table",
			t->lists - 1, &r->row->number);

	if (!rc)
		rc = value_bytes(r);
	if (!rc && (!r->row->len || r->row->len % t->value_len))
		rc = malformed(r, "value: not whole entries of the table",
			       r->column[COL_KEY]);
	return rc;
}

static int look_kind(struct reader *r)
{
	switch (r->row->t->kind) {
	case TABLE_KEYWRITE:
		return look_keywrite(r);
	case TABLE_KEYINC:
		return look_keyinc(r);
	case TABLE_POSTCARD:
		return look_postcard(r);
	default:
		return look_append(r);
	}
}

/* Where the table of a row is among n: n, if it is none of them. */
static unsigned table_at(const struct truth *t, unsigned n,
			 const struct truth_row *row)
{
	unsigned at = 0;

	while (at < n && t->table[at].t != row->t)
		at++;
	return at;
}

/* Whose it is: those of a range of hashes, or of some lists. Memory looks for
 * what is to be known of the key. */
static void expect(const struct truth *t, struct truth_row *row)
{
	unsigned n = __atomic_load_n(&t->n, __ATOMIC_ACQUIRE);
	unsigned at = table_at(t, n, row);

	row->shard = (uint8_t)(row->t->kind == TABLE_APPEND
				       ? row->number % t->shards
				       : (uint64_t)row->hash * t->shards >> 32);
	if (at < n && t->table[at].shard)
		keymap_expect(&t->table[at].shard[row->shard].keys, row->hash);
}

int truth_look(struct truth_row *row, const struct truth *t, char *line,
	       struct fault *f)
{
	struct reader r = {.truth = t, .row = row, .f = f};
	int rc = split(&r, line);

	if (!rc)
		rc = find_table(&r);
	if (!rc)
		rc = look_kind(&r);
	if (!rc)
		expect(t, row);
	return rc;
}

static int open_shards(struct truth_table *tt)
{
	tt->shard = aligned_alloc(TEAM_LINE, tt->shards * sizeof(tt->shard[0]));
	if (!tt->shard)
		return -ENOMEM;
	memset(tt->shard, 0, tt->shards * sizeof(tt->shard[0]));
	for (unsigned i = 0; i < tt->shards; i++)
		keymap_init(&tt->shard[i].keys, tt->t->key_len,
			    record_len(tt->t), tt->shards);
	return 0;
}

static int add_table(struct truth *truth, const struct table *t,
		     struct fault *f)
{
	struct truth_table *tt = &truth->table[truth->n];
	int rc = 0;

	if (truth->n == TABLE_MAX)
		return fault_set(f, -EINVAL, "too many tables: '%u'", t->id);
	*tt = (struct truth_table){.t = t, .shards = truth->shards};
	if (t->kind != TABLE_APPEND)
		rc = open_shards(tt);
	else if (!(tt->lists = calloc(t->lists, sizeof(tt->lists[0]))))
		rc = -ENOMEM;
	if (rc < 0)
		return no_memory(f);
	__atomic_store_n(&truth->n, truth->n + 1, __ATOMIC_RELEASE);
	return 0;
}

int truth_admit(struct truth *t, struct truth_row *row, struct fault *f)
{
	int rc = 0;

	row->at = (uint8_t)table_at(t, t->n, row);
	if (row->at == t->n)
		rc = add_table(t, row->t, f);
	row->last = ++t->rows & (UINT64_MAX >> 8);
	return rc;
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

static int add_entries(struct truth_table *tt, const struct truth_row *row)
{
	struct truth_list *l = &tt->lists[row->number];

	list_trim(l, row->t);
	if (list_grow(l, row->len) < 0)
		return -ENOMEM;
	memcpy(l->entries + l->len, row->bytes, row->len);
	l->len += row->len;
	return 0;
}

static void add_hop(struct truth_key *k, const struct truth_row *row)
{
	/* The value of no hop: the translator drops it. */
	if (row->number == TABLE_BLANK)
		return;
	k->hop[row->hop] = (uint32_t)row->number;
	k->seen |= (uint16_t)(1u << row->hop);
	if (row->path_len)
		k->path_len = row->path_len;
}

static int add_report(struct truth_shard *s, struct truth_row *row)
{
	size_t n = s->keys.n;
	struct truth_key *k = keymap_put(&s->keys, row->key, row->hash);

	if (!k)
		return -ENOMEM;
	row->is_new = s->keys.n > n;
	k->last = row->last;
	if (!k->copies || row->copies < k->copies) {
		k->copies = row->copies;
		s->copies |= 1u << row->copies;
	}
	if (row->t->kind == TABLE_KEYWRITE)
		memcpy(k->value, row->bytes, row->len);
	else if (row->t->kind == TABLE_KEYINC)
		k->sum += row->number;
	else
		add_hop(k, row);
	return 0;
}

void truth_near(const struct truth *t, const struct truth_row *row)
{
	const struct truth_shard *shard = t->table[row->at].shard;

	if (shard)
		keymap_near(&shard[row->shard].keys, row->hash);
}

int truth_take(struct truth *t, struct truth_row *row)
{
	struct truth_table *tt = &t->table[row->at];

	row->is_new = false;
	return tt->lists ? add_entries(tt, row)
			 : add_report(&tt->shard[row->shard], row);
}

int truth_order(struct truth *t, const struct truth_row *row)
{
	struct truth_table *tt = &t->table[row->at];
	size_t cap = tt->order_cap ? 2 * tt->order_cap : ORDER_FIRST;
	void *more;

	if (!row->is_new || tt->shards == 1)
		return 0;
	if (tt->ordered == tt->order_cap) {
		if (!(more = realloc(tt->order, cap)))
			return -ENOMEM;
		tt->order = more;
		tt->order_cap = cap;
	}
	tt->order[tt->ordered++] = row->shard;
	return 0;
}

int truth_line(struct truth *t, char *line, struct fault *f)
{
	struct truth_row row;
	int rc;

	if (!t->begun) {
		if (strcmp(line, header) != 0)
			return fault_set(f, -EINVAL,
					 "not the header of a truth: '%s'",
					 line);
		t->begun = true;
		return 0;
	}
	if (!*line)
		return 0;
	rc = truth_look(&row, t, line, f);
	if (!rc)
		rc = truth_admit(t, &row, f);
	if (!rc && (truth_take(t, &row) < 0 || truth_order(t, &row) < 0))
		rc = no_memory(f);
	return rc;
}

void truth_init(struct truth *t, const struct table *const *known, unsigned n)
{
	*t = (struct truth){.known = known, .n_known = n, .shards = 1};
}

void truth_split(struct truth *t, unsigned shards)
{
	t->shards = shards;
}

void truth_fini(struct truth *t)
{
	for (unsigned i = 0; i < t->n; i++) {
		struct truth_table *tt = &t->table[i];

		for (unsigned s = 0; tt->shard && s < tt->shards; s++)
			keymap_fini(&tt->shard[s].keys);
		free(tt->shard);
		free(tt->order);
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
