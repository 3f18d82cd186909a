/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/layout.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash/family.h"
#include "store/layout_values.h"
#include "wire/key.h"

enum {
	FOR_KEYWRITE = 1 << TABLE_KEYWRITE,
	FOR_APPEND = 1 << TABLE_APPEND,
	FOR_KEYINC = 1 << TABLE_KEYINC,
	FOR_POSTCARD = 1 << TABLE_POSTCARD,
	FOR_ALL = FOR_KEYWRITE | FOR_APPEND | FOR_KEYINC | FOR_POSTCARD,
};

/* No table is longer (table.c has the last word). */
#define BYTES_MAX (UINT64_C(1) << 46)

/*
 * A field is a number 1..max, or one of a list of names that stand for 0, 1,
 * 2...; either is stored at an offset in struct table. Or set() knows better.
 */
struct field {
	const char *name;
	uint8_t kinds; /* FOR_... */
	uint8_t width; /* bytes at offset; 0: set() */
	uint8_t offset;
	uint64_t max;
	const char *const *names; /* NULL: a number */
	int (*set)(struct table *t, const char *value, struct fault *f);
};

/* Digits only: no sign, no blank. *end is what follows them. */
static int number(uint64_t *out, const char *text, const char **end)
{
	uint64_t v = 0;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	for (; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(v, UINT64_C(10), &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*text - '0'), &v))
			return -ERANGE;
	*out = v;
	*end = text;
	return 0;
}

int layout_size(uint64_t *out, const char *text)
{
	static const char suffix[] = "KMGT";
	const char *at, *end;
	unsigned shift = 0;
	uint64_t v;
	int rc = number(&v, text, &end);

	if (rc < 0)
		return rc;
	if (*end) {
		at = strchr(suffix, *end);
		if (!at || end[1])
			return -EINVAL;
		shift = 10 * (unsigned)(at - suffix + 1);
	}
	if (v > UINT64_MAX >> shift)
		return -ERANGE;
	*out = v << shift;
	return 0;
}

/* A number of the field, or a number within a field's text. */
static int parse_number(uint64_t *out, const char *text, uint64_t min,
			uint64_t max, struct fault *f)
{
	uint64_t v;
	int rc = layout_size(&v, text);

	if (rc == -EINVAL) {
		fault_set(f, rc, "'%s' is not a number", text);
		return -EINVAL;
	}
	if (rc < 0 || v < min || v > max) {
		fault_set(f, -EINVAL, "%s is not %llu to %llu", text,
			  (unsigned long long)min, (unsigned long long)max);
		return -EINVAL;
	}
	*out = v;
	return 0;
}

/* The place of a text among names, a list that ends with NULL. */
static int parse_name(uint64_t *out, const char *text, const char *const *names,
		      struct fault *f)
{
	char list[128] = "";

	for (unsigned i = 0; names[i]; i++) {
		if (!strcmp(text, names[i])) {
			*out = i;
			return 0;
		}
		if (*names[i]) {
			strncat(list, " ", sizeof(list) - strlen(list) - 1);
			strncat(list, names[i],
				sizeof(list) - strlen(list) - 1);
		}
	}
	fault_set(f, -EINVAL, "'%s' is none of%s", text, list);
	return -EINVAL;
}

static int set_key(struct table *t, const char *value, struct fault *f)
{
	uint64_t len;
	int type;

	if (!strncmp(value, "hex:", 4)) {
		if (parse_number(&len, value + 4, 1, KEY_MAX, f))
			return -EINVAL;
		t->key_type = KEY_HEX;
		t->key_len = (uint16_t)len;
		return 0;
	}
	type = key_type_of(value);
	if (type < 0 || type == KEY_HEX)
		return fault_set(f, -EINVAL,
				 "'%s' is no key type; flow4, flow6, hop4, "
				 "hop6, src4, src6, u32 or hex:LENGTH",
				 value);
	t->key_type = (uint8_t)type;
	t->key_len = (uint16_t)key_type_len((enum key_type)type);
	return 0;
}

static int set_stride(struct table *t, const char *value, struct fault *f)
{
	uint64_t v;

	if (!strcmp(value, "pow2")) {
		t->stride = 0;
		return 0;
	}
	if (!strcmp(value, "packed")) {
		t->stride = TABLE_STRIDE_PACKED;
		return 0;
	}
	if (layout_size(&v, value) < 0 || v < 4 || v > 1024)
		return fault_set(f, -EINVAL,
				 "'%s' is not pow2, packed or 4 to 1024",
				 value);
	t->stride = (uint32_t)v;
	return 0;
}

static int set_values(struct table *t, const char *value, struct fault *f)
{
	if (layout_values_is_file(value))
		return fault_set(f, -EINVAL,
				 "a file can only be named in a layout file");
	return layout_values_parse(NULL, t, value, f);
}

static int set_flush(struct table *t, const char *value, struct fault *f)
{
	static const struct {
		const char *name;
		uint64_t ms;
	} units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}};
	const char *end;
	uint64_t v;

	if (!number(&v, value, &end))
		for (unsigned i = 0; i < 3; i++)
			if (!strcmp(end, units[i].name) && v &&
			    v <= 3600000 / units[i].ms) {
				t->flush_ms = (uint32_t)(v * units[i].ms);
				return 0;
			}
	return fault_set(f, -EINVAL,
			 "'%s' is not a time like 100ms, 5s or 1m, 1 ms to 1 h",
			 value);
}

static const char *const kind_names[] = {
	"",
	[TABLE_KEYWRITE] = "keywrite",
	[TABLE_APPEND] = "append",
	[TABLE_KEYINC] = "keyinc",
	[TABLE_POSTCARD] = "postcard",
	NULL,
};

static const char *const hash_names[] = {
	[HASH_DTA1] = "dta1",
	[HASH_DTA0] = "dta0",
	NULL,
};

static const char *const sequence_names[] = {
	[TABLE_SEQ_COUNT] = "count",
	[TABLE_SEQ_STRICT] = "strict",
	[TABLE_SEQ_OFF] = "off",
	NULL,
};

static const char *const qp_names[] = {
	[TABLE_QP_RC] = "rc",
	[TABLE_QP_UC] = "uc",
	NULL,
};

static const char *const yes_names[] = {"no", "yes", NULL};

/* clang-format off */
static const struct field fields[] = {
	{ "kind", FOR_ALL, 1, offsetof(struct table, kind),
	  .names = kind_names },
	{ "id", FOR_ALL, 2, offsetof(struct table, id), .max = 65534 },
	{ "key", FOR_ALL, .set = set_key },
	{ "value", FOR_ALL, 2, offsetof(struct table, value_len),
	  .max = TABLE_VALUE_MAX },
	{ "slots", FOR_KEYWRITE | FOR_KEYINC, 8, offsetof(struct table, units),
	  .max = BYTES_MAX },
	{ "chunks", FOR_POSTCARD, 8, offsetof(struct table, units),
	  .max = BYTES_MAX },
	{ "entries", FOR_APPEND, 8, offsetof(struct table, units),
	  .max = BYTES_MAX },
	{ "ring", FOR_APPEND, 8, offsetof(struct table, units),
	  .max = BYTES_MAX },
	{ "memory", FOR_ALL, 8, offsetof(struct table, length),
	  .max = BYTES_MAX },
	{ "stride", FOR_ALL, .set = set_stride },
	{ "copies", FOR_ALL, 1, offsetof(struct table, copies),
	  .max = HASH_COPIES },
	{ "hash", FOR_ALL, 1, offsetof(struct table, hash),
	  .names = hash_names },
	{ "hops", FOR_POSTCARD, 1, offsetof(struct table, hops),
	  .max = HASH_HOPS },
	{ "values", FOR_POSTCARD, .set = set_values },
	{ "cache", FOR_POSTCARD, 4, offsetof(struct table, cache_rows),
	  .max = UINT32_MAX },
	{ "lists", FOR_APPEND, 4, offsetof(struct table, lists),
	  .max = UINT32_MAX },
	{ "batch", FOR_APPEND, 2, offsetof(struct table, batch),
	  .max = TABLE_BATCH_MAX },
	{ "flush", FOR_APPEND, .set = set_flush },
	{ "sequence", FOR_ALL, 1, offsetof(struct table, sequence),
	  .names = sequence_names },
	{ "immediate", FOR_ALL, 1, offsetof(struct table, immediate),
	  .names = yes_names },
	{ "qp", FOR_ALL, 1, offsetof(struct table, qp), .names = qp_names },
};
/* clang-format on */

/* Writes a number of 1, 2, 4 or 8 bytes, host order. */
static void store(struct table *t, const struct field *field, uint64_t v)
{
	char *at = (char *)t + field->offset;
	uint8_t v8 = (uint8_t)v;
	uint16_t v16 = (uint16_t)v;
	uint32_t v32 = (uint32_t)v;

	switch (field->width) {
	case 1:
		memcpy(at, &v8, 1);
		break;
	case 2:
		memcpy(at, &v16, 2);
		break;
	case 4:
		memcpy(at, &v32, 4);
		break;
	default:
		memcpy(at, &v, 8);
		break;
	}
}

static int set(struct table *t, const struct field *field, const char *value,
	       struct fault *f)
{
	uint64_t v;

	if (field->set)
		return field->set(t, value, f);
	if (field->names ? parse_name(&v, value, field->names, f)
			 : parse_number(&v, value, 1, field->max, f))
		return -EINVAL;
	store(t, field, v);
	return 0;
}

_Static_assert(sizeof(fields) / sizeof(fields[0]) <= LAYOUT_FIELDS_MAX,
	       "more fields than layout.h says");

int layout_field(const char *field)
{
	for (unsigned i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (!strcmp(field, fields[i].name))
			return (int)i;
	return -ENOENT;
}

/* The fields that a kind of table takes instead: "slots: append has none; it
 * takes id, key...". */
static int has_none(const char *field, uint8_t kind, struct fault *f)
{
	char takes[256] = "";
	size_t len = 0;

	for (unsigned i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i].kinds & 1u << kind && len < sizeof(takes))
			len += (size_t)snprintf(
				takes + len, sizeof(takes) - len, "%s%s",
				len ? ", " : "", fields[i].name);
	return fault_set(f, -EINVAL, "%s: %s has none; it takes %s", field,
			 table_kind_name(kind), takes);
}

int layout_set(struct table *t, const char *field, const char *value,
	       struct fault *f)
{
	struct fault why = {""};
	int i = layout_field(field);

	if (i < 0)
		return fault_set(f, i, "%s: no such field", field);
	if (t->kind && !(fields[i].kinds & 1u << t->kind))
		return has_none(field, t->kind, f);
	if (set(t, &fields[i], value, &why) < 0)
		return fault_set(f, -EINVAL, "%s: %.400s", field, why.text);
	return 0;
}

void layout_fini(struct layout *l)
{
	for (unsigned i = 0; i < TABLE_MAX; i++) {
		free(l->values[i]);
		l->values[i] = NULL;
	}
	l->n = 0;
}
