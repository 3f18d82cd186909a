/* SPDX-License-Identifier: BSD-2-Clause */
#include "region/table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "hash/family.h"
#include "net/dta.h"
#include "net/key.h"

enum {
	STRIDE_MIN = 4,	   /* RDMA and hardware work in 32-bit words */
	STRIDE_MAX = 1024, /* a slot fits the smallest usual path MTU */
	WRITE_MAX = 4096,  /* one operation: the largest path MTU */
	COUNT_LEN = 8,	   /* bytes of a list's count or a counter */
	DTA0_HOPS = 5,	   /* hops that the published DTA system has */
	FLUSH_MS_MAX = 60 * 60 * 1000,
	CACHE_ROWS_MAX = 1 << 26,
	COPIES_DEFAULT = 2,
	HOPS_DEFAULT = 5,
	BATCH_DEFAULT = 16,
	FLUSH_MS_DEFAULT = 100,
	CACHE_ROWS_DEFAULT = 32768,
};

static const uint64_t units_max = UINT64_C(1) << 32;  /* a hash has 32 bits */
static const uint64_t length_max = UINT64_C(1) << 46; /* half of user space */

const struct table_traits table_traits[] = {
	[TABLE_KEYWRITE] = {"slots"},
	[TABLE_APPEND] = {"entries"},
	[TABLE_KEYINC] = {"counters", .counts = true},
	[TABLE_POSTCARD] = {"chunks"},
};

_Static_assert(sizeof(table_traits) / sizeof(table_traits[0]) == TABLE_KINDS,
	       "a kind has no traits");

const char *const table_sequences[] = {
	[TABLE_SEQ_COUNT] = "count",
	[TABLE_SEQ_STRICT] = "strict",
	[TABLE_SEQ_OFF] = "off",
	NULL,
};

const char *table_kind_name(uint8_t kind)
{
	return kind < TABLE_KINDS ? dta_opcode_name(kind) : NULL;
}

int table_kind_of(const char *name)
{
	for (int k = 1; k < TABLE_KINDS; k++)
		if (!strcmp(name, dta_opcode_names[k]))
			return k;
	return -1;
}

static bool is_pow2(uint64_t n)
{
	return n && !(n & (n - 1));
}

static uint32_t pow2_from(uint32_t n)
{
	uint32_t p = STRIDE_MIN;

	while (p < n)
		p *= 2;
	return p;
}

static uint32_t packed_stride(const struct table *t)
{
	uint32_t len = table_unit_len(t);

	return (uint32_t)table_round_up(len ? len : 1, STRIDE_MIN);
}

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

static bool name_ok(const char name[TABLE_NAME_MAX])
{
	return memchr(name, '\0', TABLE_NAME_MAX) && strspn(name, LETTERS) &&
	       !name[strspn(name, LETTERS "0123456789-.")] &&
	       /* Tickets have a [collector] beside a section for each table. */
	       strcmp(name, "collector") != 0;
}

/* A rule for tables: whether this table breaks it, and the message. */
struct rule {
	bool broken;
	const char *why;
};

static int check_rules(const struct rule *rules, size_t n, struct error *err)
{
	for (size_t i = 0; i < n; i++)
		if (rules[i].broken)
			return error_set(err, -EINVAL, "%s", rules[i].why);
	return 0;
}

static int check_key(const struct table *t, struct error *err)
{
	enum key_type type = (enum key_type)t->key_type;
	bool append = t->kind == TABLE_APPEND, dta0 = t->hash == HASH_DTA0;
	bool postcard = t->kind == TABLE_POSTCARD;
	const struct rule rules[] = {
		{type >= KEY_TYPES, "key: the type is unknown"},
		{append && (type != KEY_U32 || t->key_len != 4),
		 "key: a list has no other key than its number"},
		{!t->key_len, "key: missing"},
		{t->key_len > KEY_MAX, "key: too long"},
		{type < KEY_TYPES && type != KEY_HEX &&
			 t->key_len != key_type_len(type),
		 "key: the length does not fit the type"},
		{t->hash >= HASH_FAMILIES, "hash: the family is unknown"},
		{dta0 && t->key_len != 4, "hash: dta0 has 4-byte keys only"},
		{dta0 && postcard && t->copies != 1,
		 "copies: dta0 postcards have 1 copy"},
		{dta0 && postcard && t->hops > DTA0_HOPS,
		 "hops: dta0 has 5 at most"},
		{dta0 && append && t->value_len != 4,
		 "value: dta0 lists have 4-byte entries"},
	};
	int rc = check_rules(rules, sizeof(rules) / sizeof(rules[0]), err);

	if (!rc && t->protocol && !append && !key_has_protocol(type))
		rc = error_set(err, -EINVAL, "protocol: %s keys have none",
			       key_type_name(type));
	return rc;
}

static int check_kind(const struct table *t, struct error *err)
{
	bool append = t->kind == TABLE_APPEND, counts = table_counts(t);
	bool postcard = t->kind == TABLE_POSTCARD;
	const struct rule rules[] = {
		{counts && t->value_len != COUNT_LEN,
		 "value: a counter has 8 bytes"},
		{counts && t->stride != COUNT_LEN, "stride: a counter's is 8"},
		{t->stride < table_unit_len(t) || t->stride > STRIDE_MAX,
		 "stride: shorter than what it holds, or longer than 1024"},
		{postcard && !is_pow2(t->stride),
		 "stride: chunks want a power of two"},
		{!is_pow2(t->stride) && t->stride != packed_stride(t),
		 "stride: not a power of two; say stride = packed"},
		{t->stride < STRIDE_MIN, "stride: less than 4"},
		{!append && t->lists, "lists: only append has lists"},
		{append && !t->lists, "lists: missing"},
		{append && (!t->batch || t->batch > TABLE_BATCH_MAX),
		 "batch: not 1 to 64"},
		{append && t->batch * t->stride > WRITE_MAX,
		 "batch: more than one write carries, 4096 bytes"},
		/* A ring has room for one batch beyond table_kept(). */
		{append && t->units <= t->batch,
		 "ring: it must hold more entries than a batch"},
		{append && (!t->flush_ms || t->flush_ms > FLUSH_MS_MAX),
		 "flush: not 1 ms to 1 h"},
		{postcard && (!t->hops || t->hops > HASH_HOPS),
		 "hops: not 1 to 8"},
		{postcard && t->value_len != 4,
		 "value: a postcard's has 4 bytes"},
		{postcard && (!is_pow2(t->cache_rows) ||
			      t->cache_rows > CACHE_ROWS_MAX),
		 "cache: no power of two up to 67108864"},
		{postcard && !t->values && !t->value_max,
		 "values: missing; without the set of possible values nothing "
		 "can be told from noise"},
		{postcard && (t->values > TABLE_BLANK ||
			      t->value_min > t->value_max),
		 "values: too many, or an empty range"},
		{postcard && t->value_max == TABLE_BLANK,
		 "values: 4294967295 stands for no hop"},
		/* UC carries no atomics (InfiniBand 1.4, table 38). */
		{counts && t->qp == TABLE_QP_UC,
		 "qp: counters need rc: uc has no atomic operations"},
	};

	return check_rules(rules, sizeof(rules) / sizeof(rules[0]), err);
}

/* Bytes of all slots, chunks or rings, without list counts; false: too long. */
static bool body_len(const struct table *t, uint64_t *out)
{
	uint64_t n = t->units;

	if (t->kind == TABLE_APPEND &&
	    __builtin_mul_overflow(n, (uint64_t)t->lists, &n))
		return false;
	return !__builtin_mul_overflow(n, (uint64_t)t->stride, out) &&
	       *out <= length_max;
}

static int check_size(const struct table *t, struct error *err)
{
	bool append = t->kind == TABLE_APPEND;
	uint64_t body = 0;
	bool fits = body_len(t, &body);
	uint64_t end = append ? t->heads + COUNT_LEN * (uint64_t)t->lists
			      : body;
	const struct rule rules[] = {
		{!t->units, "slots (or chunks, entries) or memory: missing"},
		{!append && t->units > units_max,
		 "slots: more than a hash of 32 bits reaches, 4Gi: make "
		 "several tables"},
		{!fits, "the table is too long"},
		{append && (t->heads < body || t->heads % COUNT_LEN ||
			    t->heads > length_max),
		 "heads: they lie in the lists"},
		{t->length < end || t->length > 2 * length_max,
		 "length: not what the table needs"},
	};

	return check_rules(rules, sizeof(rules) / sizeof(rules[0]), err);
}

bool table_show_ok(const char show[TABLE_SHOW_MAX])
{
	for (size_t i = 0; i < TABLE_SHOW_MAX; i++) {
		if (!show[i])
			return true;
		if (show[i] < ' ' || show[i] > '~')
			return false;
	}
	return false;
}

int table_check(const struct table *t, struct error *err)
{
	bool append = t->kind == TABLE_APPEND;
	const struct rule rules[] = {
		{!name_ok(t->name),
		 "a table's name is up to 31 letters, digits, '_', '-', '.', "
		 "begins with a letter, and is not 'collector'"},
		{!t->id || t->id == DTA_NO_TABLE, "id: not 1 to 65534"},
		{!t->kind, "kind: missing"},
		{t->kind >= TABLE_KINDS, "kind: unknown"},
		{!t->copies || t->copies > (append ? 1 : DTA_MAX_COPIES),
		 "copies: not 1 to 4, or 1 for append"},
		{!t->value_len, "value: missing"},
		{t->value_len > TABLE_VALUE_MAX, "value: more than 1020 bytes"},
		{t->qp > TABLE_QP_UC || t->sequence > TABLE_SEQ_OFF ||
			 t->immediate > 1,
		 "qp, sequence or immediate: unknown number"},
		{!table_show_ok(t->show), "show: not a text"},
	};
	int rc = check_rules(rules, sizeof(rules) / sizeof(rules[0]), err);

	if (rc || (rc = check_key(t, err)) || (rc = check_kind(t, err)))
		return rc;
	return check_size(t, err);
}

static void set_defaults(struct table *t)
{
	if (t->kind == TABLE_APPEND) {
		if (!t->key_len) {
			t->key_type = KEY_U32;
			t->key_len = 4;
		}
		t->batch = t->batch ? t->batch : BATCH_DEFAULT;
		t->flush_ms = t->flush_ms ? t->flush_ms : FLUSH_MS_DEFAULT;
	} else if (t->kind == TABLE_POSTCARD) {
		t->value_len = t->value_len ? t->value_len : 4;
		t->hops = t->hops ? t->hops : HOPS_DEFAULT;
		t->cache_rows = t->cache_rows ? t->cache_rows
					      : CACHE_ROWS_DEFAULT;
	} else if (table_counts(t)) {
		t->value_len = t->value_len ? t->value_len : COUNT_LEN;
	}
	if (!t->copies)
		t->copies = t->kind == TABLE_APPEND ||
					    (t->kind == TABLE_POSTCARD &&
					     t->hash == HASH_DTA0)
				    ? 1
				    : COPIES_DEFAULT;
}

void table_set_kept(struct table *t, uint64_t entries)
{
	t->units = entries + (t->batch ? t->batch : BATCH_DEFAULT);
}

int table_finish(struct table *t, struct error *err)
{
	uint64_t body, list;

	set_defaults(t);
	if (t->stride <= TABLE_STRIDE_PACKED)
		t->stride = t->stride == TABLE_STRIDE_PACKED
				    ? packed_stride(t)
				    : pow2_from(table_unit_len(t));
	/* length is still the memory given: as many units as fit into it. */
	if (!t->units && t->kind != TABLE_APPEND)
		t->units = t->length / t->stride;
	if (!t->units && t->lists) {
		list = t->length / t->lists;
		t->units = list > COUNT_LEN ? (list - COUNT_LEN) / t->stride
					    : 0;
	}
	if (body_len(t, &body)) {
		t->heads = t->kind == TABLE_APPEND ? table_round_up(body, 64)
						   : 0;
		t->length = t->kind == TABLE_APPEND
				    ? t->heads + COUNT_LEN * (uint64_t)t->lists
				    : body;
	}
	return table_check(t, err);
}

/* "flows, losses", or "flows (keywrite), losses (append)"; cut if too long. */
static void list_names(char *list, size_t room, const struct table *tables,
		       unsigned n, bool with_kinds)
{
	size_t len = 0;

	*list = '\0';
	for (unsigned i = 0; i < n && len < room; i++)
		len += (size_t)snprintf(list + len, room - len,
					with_kinds ? "%s%s (%s)" : "%s%s",
					i ? ", " : "", tables[i].name,
					table_kind_name(tables[i].kind));
}

const struct table *table_pick(const struct table *tables, unsigned n, int kind,
			       const char *name_or_id, struct error *err)
{
	const char *what = kind > 0 ? table_kind_name((uint8_t)kind) : "";
	const struct table *found = NULL;
	char id[8], list[256];
	unsigned matches = 0;

	for (unsigned i = 0; i < n; i++) {
		const struct table *t = &tables[i];

		snprintf(id, sizeof(id), "%u", t->id);
		if (name_or_id ? !strcmp(name_or_id, t->name) ||
					 !strcmp(name_or_id, id)
			       : kind <= 0 || t->kind == kind) {
			found = t;
			matches++;
		}
	}
	if (matches == 1 && (kind <= 0 || found->kind == kind))
		return found;
	list_names(list, sizeof(list), tables, n, !matches && !name_or_id);
	if (matches == 1)
		error_set(err, -EINVAL, "table %s is %s, not %s", found->name,
			  table_kind_name(found->kind), what);
	else if (name_or_id)
		error_set(err, -ENOENT, "there is no table '%.64s', only %s",
			  name_or_id, list);
	else if (!matches)
		error_set(err, -ENOENT, "there is no %s table, only %s", what,
			  list);
	else
		error_set(err, -EINVAL,
			  "there are %u %s tables: name one of %s", matches,
			  what, list);
	return NULL;
}
