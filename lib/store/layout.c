/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/layout.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/field.h"
#include "base/text.h"
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
#define NS_OF_MS  UINT64_C(1000000)

static int set_key(const struct field *field, void *object, const char *value,
		   struct fault *f)
{
	struct table *t = object;
	uint64_t len;
	int type;

	(void)field;
	if (!strncmp(value, "hex:", 4)) {
		if (text_size(&len, value + 4) < 0 || !len || len > KEY_MAX)
			return fault_set(f, -EINVAL, "%s is not 1 to %d",
					 value + 4, KEY_MAX);
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

static int set_stride(const struct field *field, void *object,
		      const char *value, struct fault *f)
{
	struct table *t = object;
	uint64_t v = TABLE_STRIDE_PACKED;

	(void)field;
	(void)f;
	if (!strcmp(value, "pow2"))
		v = 0;
	else if (strcmp(value, "packed") != 0 &&
		 (text_size(&v, value) < 0 || v < 4 || v > 1024))
		return -EINVAL;
	t->stride = (uint32_t)v;
	return 0;
}

static int set_values(const struct field *field, void *object,
		      const char *value, struct fault *f)
{
	(void)field;
	if (layout_values_is_file(value))
		return fault_set(f, -EINVAL,
				 "a file can only be named in a layout file");
	return layout_values_parse(NULL, object, value, f);
}

static int set_flush(const struct field *field, void *object, const char *value,
		     struct fault *f)
{
	struct table *t = object;
	uint64_t ns;

	(void)field;
	(void)f;
	/* With its unit: 100 might be taken for milliseconds. */
	if (!text_duration_ns(&ns, value) || !strpbrk(value, "smh") ||
	    ns % NS_OF_MS || !ns || ns > 3600000 * NS_OF_MS)
		return -EINVAL;
	t->flush_ms = (uint32_t)(ns / NS_OF_MS);
	return 0;
}

static int set_show(const struct field *field, void *object, const char *value,
		    struct fault *f)
{
	char show[TABLE_SHOW_MAX] = "";
	struct table *t = object;
	size_t n = 0;

	(void)field;
	for (; *value; value++)
		if (*value != ' ' && *value != '\t' && n < sizeof(show))
			show[n++] = *value;
	if (n == sizeof(show) || !n || !table_show_ok(show))
		return fault_set(f, -EINVAL,
				 "is not a list of types of 1 to %d characters",
				 TABLE_SHOW_MAX - 1);
	memcpy(t->show, show, sizeof(show));
	return 0;
}

static int set_protocol(const struct field *field, void *object,
			const char *value, struct fault *f)
{
	struct table *t = object;
	int protocol = key_protocol_of(value);

	(void)field;
	if (protocol <= 0)
		return fault_set(f, -EINVAL,
				 "'%s' is no protocol: tcp, udp, icmp, icmp6, "
				 "sctp, gre, esp or a number from 1 to 255",
				 value);
	t->protocol = (uint8_t)protocol;
	return 0;
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
#define SIZE(member, width) FIELD_SIZE, width, offsetof(struct table, member), 1
#define NAME(member, list) \
	FIELD_NAME, 1, offsetof(struct table, member), .names = list

static const struct field fields[] = {
	{ "kind", NAME(kind, kind_names), .use = FOR_ALL },
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
	{ "sequence", NAME(sequence, sequence_names), .use = FOR_ALL },
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

/* The fields that a kind of table takes instead: "slots: append has none; it
 * takes id, key...". */
int layout_suits(const struct table *t, int field, struct fault *f)
{
	uint32_t kind = 1u << t->kind;
	char takes[256] = "";
	size_t len = 0;

	if (fields[field].use & kind)
		return 0;
	for (unsigned i = 0; fields[i].name; i++)
		if (fields[i].use & kind && len < sizeof(takes))
			len += (size_t)snprintf(
				takes + len, sizeof(takes) - len, "%s%s",
				len ? ", " : "", fields[i].name);
	return fault_set(f, -EINVAL, "%s: %s has none; it takes %s",
			 fields[field].name, table_kind_name(t->kind), takes);
}

int layout_set(struct table *t, const char *field, const char *value,
	       struct fault *f)
{
	int i = layout_field(field);
	struct guess g;

	if (i < 0)
		return fault_set(f, i, "%s: no such field%s", field,
				 field_hint(fields, field, &g));
	if (t->kind && layout_suits(t, i, f) < 0)
		return -EINVAL;
	return field_set(&fields[i], t, value, f);
}

void layout_fini(struct layout *l)
{
	for (unsigned i = 0; i < TABLE_MAX; i++) {
		free(l->values[i]);
		l->values[i] = NULL;
	}
	l->n = 0;
}
