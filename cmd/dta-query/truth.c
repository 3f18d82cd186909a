/* SPDX-License-Identifier: BSD-2-Clause */
#include "truth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/lines.h"
#include "store/region.h"
#include "wire/be.h"
#include "wire/dta.h"

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
	const struct places *p;
	struct lines lines;
	char *column[COLUMNS];
};

static void malformed(const struct reader *r, const char *what,
		      const char *text) __attribute__((noreturn));

static void malformed(const struct reader *r, const char *what,
		      const char *text)
{
	cli_fail("%s:%llu: %s: '%s'", r->lines.path,
		 (unsigned long long)r->lines.number, what, text);
}

/* Digits and nothing else, up to max. */
static uint64_t number(const struct reader *r, enum column c, const char *what,
		       uint64_t max)
{
	const char *text = r->column[c];
	uint64_t v = 0;

	if (!*text)
		malformed(r, what, text);
	for (const char *p = text; *p; p++) {
		uint64_t digit = (uint64_t)*p - '0';

		if (digit > 9 || v > (UINT64_MAX - digit) / 10)
			malformed(r, what, text);
		v = v * 10 + digit;
	}
	if (v > max)
		malformed(r, what, text);
	return v;
}

/* The value's bytes, which replace its text; their number. */
static size_t value_bytes(const struct reader *r)
{
	char *text = r->column[COL_VALUE];
	size_t digits = strspn(text, "0123456789abcdefABCDEF");

	if (text[digits] || digits % 2)
		malformed(r, "value", text);
	text_hex((uint8_t *)text, text, digits / 2);
	return digits / 2;
}

static void split(struct reader *r, char *line)
{
	for (int c = 0; c < COLUMNS; c++) {
		char *comma = strchr(line, ',');

		r->column[c] = line;
		if (!comma != (c == COLUMNS - 1))
			malformed(r, "not seven columns", line);
		if (comma) {
			*comma = '\0';
			line = comma + 1;
		}
	}
}

/* DTA/0 names no table: the first of the kind with 4-byte keys takes it. */
static bool takes(const struct table *t, uint64_t id, int kind)
{
	if (id == DTA_NO_TABLE)
		return t->kind == kind && t->key_len == 4;
	return t->id == id;
}

static struct truth_table *add_table(struct reader *r, unsigned source,
				     const struct table *t)
{
	struct truth_table *tt = &r->truth->table[r->truth->n];

	if (r->truth->n == TABLE_MAX)
		malformed(r, "too many tables", r->column[COL_TABLE]);
	target_of(&tt->target, r->p, source, t);
	if (t->kind == TABLE_APPEND) {
		tt->lists = calloc(t->lists, sizeof(tt->lists[0]));
		if (!tt->lists)
			cli_fail("out of memory");
	} else {
		size_t record = t->kind == TABLE_POSTCARD ? HASH_HOPS * 4 + 2
							  : t->value_len;

		keymap_init(&tt->keys, t->key_len,
			    offsetof(struct truth_key, value) + record);
	}
	r->truth->n++;
	return tt;
}

static struct truth_table *find_table(struct reader *r)
{
	uint64_t id = number(r, COL_TABLE, "table", UINT16_MAX);
	int kind = table_kind_of(r->column[COL_KIND]);

	if (kind < 0)
		malformed(r, "kind", r->column[COL_KIND]);
	for (unsigned i = 0; i < r->truth->n; i++) {
		struct truth_table *tt = &r->truth->table[i];

		if (takes(tt->target.t, id, kind) && tt->target.t->kind == kind)
			return tt;
	}
	for (unsigned s = 0; s < r->p->sources; s++) {
		const struct source *src = &r->p->source[s];

		for (unsigned k = 0; k < source_tables(src); k++) {
			const struct table *t = source_table(src, k);

			if (!takes(t, id, kind))
				continue;
			if (t->kind != kind)
				malformed(r, "kind: the table is another",
					  r->column[COL_KIND]);
			return add_table(r, s, t);
		}
	}
	malformed(r, "no such table", r->column[COL_TABLE]);
}

static struct truth_key *record_of(struct reader *r, struct truth_table *tt)
{
	uint8_t copies = (uint8_t)number(r, COL_COPIES, "copies", HASH_COPIES);
	const struct table *t = tt->target.t;
	const char *text = r->column[COL_KEY];
	uint8_t key[KEY_MAX];
	struct truth_key *k;

	/* The published system's keys are numbers, whatever they stand for. */
	if (key_parse(key, (enum key_type)t->key_type, t->key_len, text) < 0 &&
	    (t->key_len != 4 || key_parse(key, KEY_U32, 4, text) < 0))
		malformed(r, "key", text);
	k = keymap_get(&tt->keys, key);
	if (!k)
		cli_fail("out of memory");
	if (!copies)
		copies = t->copies;
	if (!k->copies || copies < k->copies)
		k->copies = copies;
	return k;
}

static void add_keywrite(struct reader *r, struct truth_table *tt)
{
	struct truth_key *k = record_of(r, tt);
	const char *text = r->column[COL_VALUE];

	if (value_bytes(r) != tt->target.t->value_len)
		malformed(r, "value: not as long as the table's",
			  r->column[COL_KEY]);
	memcpy(k->value, text, tt->target.t->value_len);
}

static void add_keyinc(struct reader *r, struct truth_table *tt)
{
	struct truth_key *k = record_of(r, tt);

	k->sum += number(r, COL_VALUE, "value", UINT64_MAX);
}

static void add_postcard(struct reader *r, struct truth_table *tt)
{
	struct truth_key *p = record_of(r, tt);
	uint64_t hop = number(r, COL_HOP, "hop", 15);
	uint64_t len = number(r, COL_PATH_LEN, "path_len", 15);
	uint64_t value = number(r, COL_VALUE, "value", UINT32_MAX);

	/* Outside the chunk, or the blank value: the translator drops it. */
	if (hop >= tt->target.t->hops || len > tt->target.t->hops ||
	    value == TABLE_BLANK)
		return;
	p->hop[hop] = (uint32_t)value;
	p->seen |= (uint8_t)(1u << hop);
	if (len)
		p->path_len = (uint8_t)len;
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

static void add_append(struct reader *r, struct truth_table *tt)
{
	const struct table *t = tt->target.t;
	uint64_t list = number(r, COL_KEY, "key: not a list of the table",
			       t->lists - 1);
	struct truth_list *l = &tt->lists[list];
	const char *text = r->column[COL_VALUE];
	size_t len = value_bytes(r);

	if (!len || len % t->value_len)
		malformed(r, "value: not whole entries of the table",
			  r->column[COL_KEY]);
	list_trim(l, t);
	if (l->cap - l->len < len) {
		l->cap = 2 * l->cap + len;
		l->entries = realloc(l->entries, l->cap);
		if (!l->entries)
			cli_fail("out of memory");
	}
	memcpy(l->entries + l->len, text, len);
	l->len += len;
}

static void add_row(struct reader *r, char *line)
{
	struct truth_table *tt;

	split(r, line);
	tt = find_table(r);
	r->truth->rows++;
	switch (tt->target.t->kind) {
	case TABLE_KEYWRITE:
		add_keywrite(r, tt);
		break;
	case TABLE_KEYINC:
		add_keyinc(r, tt);
		break;
	case TABLE_POSTCARD:
		add_postcard(r, tt);
		break;
	default:
		add_append(r, tt);
	}
}

void truth_read(struct truth *t, const char *path, const struct places *p)
{
	struct reader r = {.truth = t, .p = p};
	char *line;
	size_t len;
	int rc;

	rc = lines_open(&r.lines, path);
	if (rc < 0)
		cli_fail("%s: %s", path, strerror(-rc));
	while ((rc = lines_more(&r.lines)) > 0 || rc == -EINTR) {
		if (cli_stop)
			exit(CLI_FAIL);
		while ((line = lines_next(&r.lines, &len))) {
			if (r.lines.number == 1) {
				if (strcmp(line, header) != 0)
					malformed(&r,
						  "not the header "
						  "of a truth",
						  line);
			} else if (len) {
				add_row(&r, line);
			}
		}
	}
	if (rc == -E2BIG)
		cli_fail("%s:%llu: a line longer than %d bytes", r.lines.path,
			 (unsigned long long)r.lines.number + 1, LINE_MAX_LEN);
	if (rc < 0)
		cli_fail("%s: %s", path, strerror(-rc));
	if (!r.lines.number)
		cli_fail("%s: empty: not even a header", path);
	lines_close(&r.lines);
}

void truth_fini(struct truth *t)
{
	for (unsigned i = 0; i < t->n; i++) {
		struct truth_table *tt = &t->table[i];

		keymap_fini(&tt->keys);
		for (uint32_t k = 0; tt->lists && k < tt->target.t->lists; k++)
			free(tt->lists[k].entries);
		free(tt->lists);
	}
}
