/* SPDX-License-Identifier: BSD-2-Clause */
/* region_check.c - the static part of a region's file: made, and judged. */
#include <errno.h>
#include <string.h>

#include "hash/crc.h"
#include "store/region_file.h"

const char region_magic[8] = {'D', 'T', 'A', 'R', 'E', 'G', 'N', '\n'};
const char snapshot_magic[8] = {'D', 'T', 'A', 'S', 'N', 'A', 'P', '\n'};

uint32_t region_header_crc(const struct region_header *h)
{
	static const uint8_t zero[sizeof(h->crc)];
	size_t at = offsetof(struct region_header, crc);
	size_t rest = at + sizeof(h->crc);
	uint32_t sum = crc(CRC_CHECKSUM, h, at);

	sum = crc_extend(CRC_CHECKSUM, sum, zero, sizeof(zero));
	return crc_extend(CRC_CHECKSUM, sum, (const uint8_t *)h + rest,
			  sizeof(*h) - rest);
}

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

/* Large things lie on huge pages, small ones on ordinary ones. */
static uint64_t align_of(uint64_t len)
{
	return len >= REGION_HUGE ? REGION_HUGE : REGION_ALIGN;
}

static int check_identity(const struct region_header *h, struct fault *f)
{
	if (!memcmp(h->magic, snapshot_magic, sizeof(h->magic)))
		return fault_set(f, -EBADMSG, "a snapshot, not a region");
	if (memcmp(h->magic, region_magic, sizeof(h->magic)) != 0)
		return fault_set(f, -EBADMSG, "not a region");
	if (h->order != REGION_ORDER)
		return fault_set(f, -EPROTONOSUPPORT,
				 "a region of another byte order");
	if (h->version != REGION_VERSION)
		return fault_set(f, -EPROTONOSUPPORT,
				 "a region of version %u; this program knows "
				 "version %d",
				 h->version, REGION_VERSION);
	if (h->length != REGION_STATIC_LEN || region_header_crc(h) != h->crc)
		return fault_set(
			f, -EBADMSG,
			"the header is damaged: its checksum is wrong");
	return 0;
}

/* a + b <= max, without overflow. */
static bool within(uint64_t a, uint64_t b, uint64_t max)
{
	return a <= max && b <= max - a;
}

static int check_places(const struct region_header *h, uint64_t file_size,
			struct fault *f)
{
	uint64_t sets;

	if (!h->tables || h->tables > TABLE_MAX || !h->epochs ||
	    h->epochs > REGION_EPOCHS_MAX || h->seats != REGION_WRITERS)
		return fault_set(f, -EBADMSG,
				 "the header is damaged: tables, epochs or "
				 "seats");
	if (file_size < h->file_size)
		return fault_set(f, -ESTALE,
				 "the file shrank: %llu bytes of %llu",
				 (unsigned long long)file_size,
				 (unsigned long long)h->file_size);
	if (h->values_at != REGION_HEAD_LEN ||
	    !within(h->values_at, h->values_len, h->set_at) ||
	    h->set_at % REGION_ALIGN || !h->set_len ||
	    h->set_len % REGION_ALIGN ||
	    __builtin_mul_overflow(h->set_len, (uint64_t)h->epochs, &sets) ||
	    !within(h->set_at, sets, h->file_size))
		return fault_set(f, -EBADMSG,
				 "the header is damaged: its parts overlap");
	return 0;
}

/* A table lies in the set, its V set among the V sets. */
static bool table_placed(const struct region_header *h, const struct table *t)
{
	if (t->offset < h->set_at || t->offset % 64 ||
	    !within(t->offset - h->set_at, t->length, h->set_len))
		return false;
	if (!t->values)
		return true;
	return t->values <= h->values_len / sizeof(uint32_t) &&
	       t->values_at % sizeof(uint32_t) == 0 &&
	       t->values_at >= h->values_at &&
	       within(t->values_at - h->values_at, t->values * sizeof(uint32_t),
		      h->values_len);
}

static bool tables_apart(const struct table *a, const struct table *b)
{
	return (a->offset + a->length <= b->offset ||
		b->offset + b->length <= a->offset) &&
	       a->id != b->id && strcmp(a->name, b->name) != 0;
}

int region_check(const struct region_header *h, uint64_t file_size,
		 struct fault *f)
{
	struct fault why = {""};
	int rc;

	if ((rc = check_identity(h, f)) < 0 ||
	    (rc = check_places(h, file_size, f)) < 0)
		return rc;
	for (unsigned i = 0; i < h->tables; i++) {
		if (table_check(&h->table[i], &why) < 0)
			return fault_set(f, -EBADMSG, "table %u: %.400s", i,
					 why.text);
		if (!table_placed(h, &h->table[i]))
			return fault_set(f, -EBADMSG,
					 "table %u lies outside the region", i);
	}
	for (unsigned i = 0; i < h->tables; i++)
		for (unsigned j = 0; j < i; j++)
			if (!tables_apart(&h->table[i], &h->table[j]))
				return fault_set(f, -EBADMSG,
						 "tables %u and %u collide", j,
						 i);
	return 0;
}

int region_check_values(const struct region_header *h, const uint8_t *values,
			struct fault *f)
{
	if (crc(CRC_CHECKSUM, values, h->values_len) != h->values_crc)
		return fault_set(f, -EBADMSG,
				 "the sets of values are damaged: their "
				 "checksum is wrong");
	for (unsigned i = 0; i < h->tables; i++) {
		const struct table *t = &h->table[i];
		uint64_t at = t->values_at - h->values_at;

		for (uint64_t k = 1; k < t->values; k++) {
			uint32_t pair[2];

			memcpy(pair, values + at + (k - 1) * sizeof(uint32_t),
			       sizeof(pair));
			if (pair[0] >= pair[1])
				return fault_set(f, -EBADMSG,
						 "table %u: values are not "
						 "sorted",
						 i);
		}
	}
	return 0;
}

static int plan_tables(struct region_header *h, const struct layout *l,
		       struct fault *f)
{
	struct fault why = {""};

	for (unsigned i = 0; i < l->n; i++) {
		struct table *t = &h->table[i];

		*t = l->table[i];
		if (!t->id)
			t->id = (uint16_t)(i + 1);
		memset(t->reserved, 0, sizeof(t->reserved));
		if (table_finish(t, &why) < 0)
			return fault_set(f, -EINVAL, "table %.31s: %.400s",
					 t->name, why.text);
		if (t->values && !l->values[i])
			return fault_set(f, -EINVAL,
					 "table %s: the set of values is "
					 "not at hand",
					 t->name);
		for (unsigned j = 0; j < i; j++)
			if (t->id == h->table[j].id ||
			    !strcmp(t->name, h->table[j].name))
				return fault_set(f, -EINVAL,
						 "tables %s and %s have one "
						 "name or id",
						 h->table[j].name, t->name);
	}
	return 0;
}

int region_plan(struct region_header *h, const struct layout *l,
		unsigned epochs, struct fault *f)
{
	uint64_t at = REGION_HEAD_LEN, size;
	int rc;

	if (!l->n || l->n > TABLE_MAX)
		return fault_set(f, -EINVAL, "%u tables; 1 to %d can be", l->n,
				 TABLE_MAX);
	if (!epochs || epochs > REGION_EPOCHS_MAX)
		return fault_set(f, -EINVAL, "%u epochs; 1 to %d can be",
				 epochs, REGION_EPOCHS_MAX);
	memset(h, 0, sizeof(*h));
	rc = plan_tables(h, l, f);
	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < l->n; i++) {
		struct table *t = &h->table[i];

		t->values_at = t->values ? at : 0;
		at = round_up(at + t->values * sizeof(uint32_t), 64);
	}
	h->values_at = REGION_HEAD_LEN;
	h->values_len = at - h->values_at;
	size = 0;
	for (unsigned i = 0; i < l->n; i++)
		size += h->table[i].length;
	at = h->set_at = round_up(at, align_of(size));
	for (unsigned i = 0; i < l->n; i++) {
		struct table *t = &h->table[i];

		t->offset = round_up(at, align_of(t->length));
		at = t->offset + t->length;
	}
	h->set_len = round_up(at - h->set_at, align_of(size));
	memcpy(h->magic, region_magic, sizeof(h->magic));
	h->order = REGION_ORDER;
	h->version = REGION_VERSION;
	h->length = REGION_STATIC_LEN;
	h->tables = l->n;
	h->epochs = epochs;
	h->seats = REGION_WRITERS;
	h->file_size = h->set_at + h->set_len * epochs;
	return 0;
}
