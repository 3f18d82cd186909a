/* SPDX-License-Identifier: BSD-2-Clause */
#include "region/table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "hash/family.h"
#include "net/dta.h"
#include "net/key.h"

enum {
	STRIDE_MIN = 4,	   /* RDMA and hardware work in words */
	STRIDE_MAX = 1024, /* a slot fits the smallest usual path MTU */
	WRITE_MAX = 4096,  /* one operation: the largest path MTU */
	COUNT_LEN = 8,	   /* of a list's count, and a counter */
	DTA0_HOPS = 5,	   /* of the published DTA system */
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

const char *const table_kinds[] = {
	"",
	[TABLE_KEYWRITE] = "keywrite",
	[TABLE_APPEND] = "append",
	[TABLE_KEYINC] = "keyinc",
	[TABLE_POSTCARD] = "postcard",
	NULL,
};

const char *const table_sequences[] = {
	[TABLE_SEQ_COUNT] = "count",
	[TABLE_SEQ_STRICT] = "strict",
	[TABLE_SEQ_OFF] = "off",
	NULL,
};

const char *table_kind_name(uint8_t kind)
{
	return kind && kind <= TABLE_POSTCARD ? table_kinds[kind] : NULL;
}

int table_kind_of(const char *name)
{
	for (int k = TABLE_KEYWRITE; k <= TABLE_POSTCARD; k++)
		if (!strcmp(name, table_kinds[k]))
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

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

/* Bytes that a slot, chunk, entry or counter must hold. */
static uint32_t content_len(const struct table *t)
{
	switch (t->kind) {
	case TABLE_KEYWRITE:
		return 4u + t->value_len;
	case TABLE_POSTCARD:
		return 4u * t->hops;
	case TABLE_APPEND:
		return t->value_len;
	default:
		return COUNT_LEN;
	}
}

static uint32_t packed_stride(const struct table *t)
{
	uint32_t len = content_len(t);

	return (uint32_t)round_up(len ? len : 1, STRIDE_MIN);
}

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

static bool name_ok(const char name[TABLE_NAME_MAX])
{
	return memchr(name, '\0', TABLE_NAME_MAX) && strspn(name, LETTERS) &&
	       !name[strspn(name, LETTERS "0123456789-.")] &&
	       strcmp(name, "collector") != 0; /* a ticket's other section */
}

static int check_key(const struct table *t, struct error *err)
{
	if (t->key_type >= KEY_TYPES)
		return error_set(err, -EINVAL, "key: type %u is unknown",
				 t->key_type);
	if (t->kind == TABLE_APPEND) {
		if (t->key_type != KEY_U32 || t->key_len != 4)
			return error_set(err, -EINVAL,
					 "key: a list has no other key than "
					 "its number");
		return 0;
	}
	if (!t->key_len)
		return error_set(err, -EINVAL, "key: missing");
	if (t->key_len > KEY_MAX)
		return error_set(err, -EINVAL, "key: %u bytes; %d at most",
				 t->key_len, KEY_MAX);
	if (t->key_type != KEY_HEX &&
	    t->key_len != key_type_len((enum key_type)t->key_type))
		return error_set(err, -EINVAL, "key: %u bytes do not fit %s",
				 t->key_len,
				 key_type_name((enum key_type)t->key_type));
	if (t->protocol && !key_has_protocol((enum key_type)t->key_type))
		return error_set(err, -EINVAL, "protocol: %s keys have none",
				 key_type_name((enum key_type)t->key_type));
	return 0;
}

static int check_hash(const struct table *t, struct error *err)
{
	if (t->hash >= HASH_FAMILIES)
		return error_set(err, -EINVAL, "hash: family %u is unknown",
				 t->hash);
	if (t->hash != HASH_DTA0)
		return 0;
	if (t->key_len != 4)
		return error_set(err, -EINVAL,
				 "hash: dta0 has 4-byte keys only");
	if (t->kind == TABLE_POSTCARD && t->copies != 1)
		return error_set(err, -EINVAL,
				 "copies: dta0 postcards have 1 copy");
	if (t->kind == TABLE_POSTCARD && t->hops > DTA0_HOPS)
		return error_set(err, -EINVAL, "hops: dta0 has %d at most",
				 DTA0_HOPS);
	if (t->kind == TABLE_APPEND && t->value_len != 4)
		return error_set(err, -EINVAL,
				 "value: dta0 lists have 4-byte entries");
	return 0;
}

static int check_values(const struct table *t, struct error *err)
{
	if (t->values ? t->values > TABLE_BLANK : !t->value_max)
		return error_set(err, -EINVAL,
				 "values: %s; without the set of possible "
				 "values nothing can be told from noise",
				 t->values ? "too many" : "missing");
	if (t->value_min > t->value_max)
		return error_set(err, -EINVAL, "values: %u-%u is empty",
				 t->value_min, t->value_max);
	if (t->value_max == TABLE_BLANK)
		return error_set(err, -EINVAL,
				 "values: 4294967295 stands for no hop");
	return 0;
}

static int check_postcard(const struct table *t, struct error *err)
{
	if (!t->hops || t->hops > HASH_HOPS)
		return error_set(err, -EINVAL, "hops: %u is not 1 to %d",
				 t->hops, HASH_HOPS);
	if (t->value_len != 4)
		return error_set(err, -EINVAL,
				 "value: a postcard's has 4 bytes");
	if (!is_pow2(t->cache_rows) || t->cache_rows > CACHE_ROWS_MAX)
		return error_set(err, -EINVAL,
				 "cache: %u rows are no power of two up to %d",
				 t->cache_rows, CACHE_ROWS_MAX);
	return check_values(t, err);
}

static int check_append(const struct table *t, struct error *err)
{
	if (!t->lists)
		return error_set(err, -EINVAL, "lists: missing");
	if (!t->batch || t->batch > TABLE_BATCH_MAX)
		return error_set(err, -EINVAL, "batch: %u is not 1 to %d",
				 t->batch, TABLE_BATCH_MAX);
	if (t->batch * t->stride > WRITE_MAX)
		return error_set(err, -EINVAL,
				 "batch: %u entries of %u bytes are more than "
				 "one write carries, %d bytes",
				 t->batch, t->stride, WRITE_MAX);
	/* It keeps what a batch leaves over: table_kept(). */
	if (t->units <= t->batch)
		return error_set(err, -EINVAL,
				 "ring: %llu entries, but it must hold more "
				 "than a batch of %u",
				 (unsigned long long)t->units, t->batch);
	if (!t->flush_ms || t->flush_ms > FLUSH_MS_MAX)
		return error_set(err, -EINVAL,
				 "flush: %u ms is not 1 ms to 1 h",
				 t->flush_ms);
	return 0;
}

static int check_kind(const struct table *t, struct error *err)
{
	if (t->kind != TABLE_APPEND && t->lists)
		return error_set(err, -EINVAL, "lists: only append has lists");
	switch (t->kind) {
	case TABLE_KEYWRITE:
		return 0;
	case TABLE_POSTCARD:
		return check_postcard(t, err);
	case TABLE_APPEND:
		return check_append(t, err);
	default:
		if (t->value_len != COUNT_LEN)
			return error_set(err, -EINVAL,
					 "value: a counter has 8 bytes");
		/* UC carries no atomics (InfiniBand 1.4, table 38). */
		if (t->qp == TABLE_QP_UC)
			return error_set(err, -EINVAL,
					 "qp: counters need rc: uc has no "
					 "atomic operations");
		return 0;
	}
}

static int check_stride(const struct table *t, struct error *err)
{
	uint32_t need = content_len(t), packed = packed_stride(t);

	if (t->kind == TABLE_KEYINC)
		return t->stride == COUNT_LEN
			       ? 0
			       : error_set(err, -EINVAL, "stride: %u is not %d",
					   t->stride, COUNT_LEN);
	if (t->stride < need || t->stride > STRIDE_MAX)
		return error_set(err, -EINVAL, "stride: %u is not %u to %d",
				 t->stride, need, STRIDE_MAX);
	if (is_pow2(t->stride) && t->stride >= STRIDE_MIN)
		return 0;
	if (t->kind == TABLE_POSTCARD)
		return error_set(err, -EINVAL,
				 "stride: %u is not a power of two; chunks "
				 "want one",
				 t->stride);
	if (t->stride != packed)
		return error_set(err, -EINVAL,
				 "stride: %u is not a power of two; say "
				 "stride = packed",
				 t->stride);
	return 0;
}

/* units, lists, stride -> bytes of the rings, slots... alone; false: too long.
 */
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
	uint64_t body, end;
	const char *what = t->kind == TABLE_APPEND     ? "entries"
			   : t->kind == TABLE_POSTCARD ? "chunks"
						       : "slots";

	if (!t->units)
		return error_set(err, -EINVAL, "%s: missing", what);
	if (t->kind != TABLE_APPEND && t->units > units_max)
		return error_set(err, -EINVAL,
				 "table %s: %llu %s are more than a hash of 32 "
				 "bits reaches, 4Gi: make several tables",
				 t->name, (unsigned long long)t->units, what);
	if (!body_len(t, &body))
		return error_set(err, -EINVAL, "the table is too long");
	end = body;
	if (t->kind == TABLE_APPEND) {
		if (t->heads < body || t->heads % COUNT_LEN ||
		    t->heads > length_max)
			return error_set(err, -EINVAL,
					 "heads: %llu lies in the lists",
					 (unsigned long long)t->heads);
		end = t->heads + COUNT_LEN * (uint64_t)t->lists;
	}
	if (t->length < end || t->length > 2 * length_max)
		return error_set(
			err, -EINVAL, "length: %llu bytes cannot hold %llu",
			(unsigned long long)t->length, (unsigned long long)end);
	return 0;
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
	int rc;

	if (!name_ok(t->name))
		return error_set(err, -EINVAL,
				 "a table's name is up to %d letters, digits, "
				 "'_', '-', '.', begins with a letter, and is "
				 "not 'collector'",
				 TABLE_NAME_MAX - 1);
	if (!t->id || t->id == DTA_NO_TABLE)
		return error_set(err, -EINVAL, "id: %u is not 1 to %u", t->id,
				 DTA_NO_TABLE - 1);
	if (!table_kind_name(t->kind))
		return error_set(err, -EINVAL,
				 t->kind ? "kind: %u is unknown"
					 : "kind: missing",
				 t->kind);
	if (!t->copies || t->copies > DTA_MAX_COPIES ||
	    (t->kind == TABLE_APPEND && t->copies != 1))
		return error_set(err, -EINVAL, "copies: %u is not 1 to %d",
				 t->copies,
				 t->kind == TABLE_APPEND ? 1 : DTA_MAX_COPIES);
	if (!t->value_len || t->value_len > TABLE_VALUE_MAX)
		return error_set(err, -EINVAL,
				 t->value_len ? "value: %u bytes; %d at most"
					      : "value: missing",
				 t->value_len, TABLE_VALUE_MAX);
	if (t->qp > TABLE_QP_UC || t->sequence > TABLE_SEQ_OFF ||
	    t->immediate > 1)
		return error_set(err, -EINVAL,
				 "qp, sequence or immediate: unknown number");
	if (!table_show_ok(t->show))
		return error_set(err, -EINVAL, "show: not a text");
	if ((rc = check_key(t, err)) < 0 || (rc = check_hash(t, err)) < 0 ||
	    (rc = check_stride(t, err)) < 0 || (rc = check_kind(t, err)) < 0)
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
	} else if (t->kind == TABLE_KEYINC) {
		t->value_len = t->value_len ? t->value_len : COUNT_LEN;
	}
	if (!t->copies)
		t->copies = t->kind == TABLE_APPEND ||
					    (t->kind == TABLE_POSTCARD &&
					     t->hash == HASH_DTA0)
				    ? 1
				    : COPIES_DEFAULT;
}

void table_keep(struct table *t, uint64_t entries)
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
				    : pow2_from(content_len(t));
	/* As many as fit the bytes given as memory. */
	if (!t->units && t->kind != TABLE_APPEND)
		t->units = t->length / t->stride;
	if (!t->units && t->lists) {
		list = t->length / t->lists;
		t->units = list > COUNT_LEN ? (list - COUNT_LEN) / t->stride
					    : 0;
	}
	if (body_len(t, &body)) {
		t->heads = t->kind == TABLE_APPEND ? round_up(body, 64) : 0;
		t->length = t->kind == TABLE_APPEND
				    ? t->heads + COUNT_LEN * (uint64_t)t->lists
				    : body;
	}
	return table_check(t, err);
}

/* "flows, losses", or "flows (keywrite), losses (append)", as far as there is
 * room. */
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
	unsigned many = 0;

	for (unsigned i = 0; i < n; i++) {
		const struct table *t = &tables[i];

		snprintf(id, sizeof(id), "%u", t->id);
		if (name_or_id ? !strcmp(name_or_id, t->name) ||
					 !strcmp(name_or_id, id)
			       : kind <= 0 || t->kind == kind) {
			found = t;
			many++;
		}
	}
	if (many == 1 && (kind <= 0 || found->kind == kind))
		return found;
	list_names(list, sizeof(list), tables, n, !many && !name_or_id);
	if (many == 1)
		error_set(err, -EINVAL, "table %s is %s, not %s", found->name,
			  table_kind_name(found->kind), what);
	else if (name_or_id)
		error_set(err, -ENOENT, "there is no table '%.64s', only %s",
			  name_or_id, list);
	else if (!many)
		error_set(err, -ENOENT, "there is no %s table, only %s", what,
			  list);
	else
		error_set(err, -EINVAL,
			  "there are %u %s tables: name one of %s", many, what,
			  list);
	return NULL;
}
