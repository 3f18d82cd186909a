/* SPDX-License-Identifier: BSD-2-Clause */
#include "query/truth.h"

#include <stdlib.h>
#include <string.h>

#include "hash/crc.h"

enum { FIRST_CAP = 1024 }; /* records */

void keymap_init(struct keymap *m, size_t key_len, size_t record_len)
{
	record_len = (record_len + 7) & ~(size_t)7;
	*m = (struct keymap){
		.key_len = key_len,
		.record_len = record_len,
		.stride = record_len + ((key_len + 7) & ~(size_t)7),
	};
}

void keymap_fini(struct keymap *m)
{
	free(m->array);
	free(m->bucket);
}

void *keymap_record(const struct keymap *m, size_t i)
{
	return m->array + CRC_HEADROOM + i * m->stride;
}

const uint8_t *keymap_key(const struct keymap *m, size_t i)
{
	return (const uint8_t *)keymap_record(m, i) + m->record_len;
}

/* Doubles the room for records, and the index. Its buckets hold the hashes, so
 * no key is hashed again. 0 or -1. */
static int grow_map(struct keymap *m)
{
	size_t cap = m->cap ? 2 * m->cap : FIRST_CAP, mask = 2 * cap - 1;
	uint8_t *array = realloc(m->array, CRC_HEADROOM + cap * m->stride);
	uint64_t *bucket;

	if (!array)
		return -1;
	if (!m->array)
		memset(array, 0, CRC_HEADROOM);
	m->array = array;
	bucket = cap > UINT32_MAX / 2 ? NULL : calloc(2 * cap, sizeof(*bucket));
	if (!bucket)
		return -1;
	for (size_t i = 0; i < m->buckets; i++) {
		size_t at = (size_t)(m->bucket[i] >> 32) & mask;

		if (!m->bucket[i])
			continue;
		while (bucket[at])
			at = (at + 1) & mask;
		bucket[at] = m->bucket[i];
	}
	free(m->bucket);
	m->bucket = bucket;
	m->buckets = 2 * cap;
	m->cap = cap;
	return 0;
}

void *keymap_get(struct keymap *m, const uint8_t *key)
{
	uint32_t hash = crc(CRC_COLLECTOR, key, m->key_len);
	uint64_t *e;
	size_t at = hash;

	if (m->n == m->cap && grow_map(m) < 0)
		return NULL;
	/* The bucket of the key, or the empty one where it belongs. */
	while (*(e = &m->bucket[at++ & (m->buckets - 1)]) &&
	       (*e >> 32 != hash ||
		memcmp(keymap_key(m, (uint32_t)*e - 1), key, m->key_len) != 0))
		;
	if (!*e) {
		memset(keymap_record(m, m->n), 0, m->stride);
		memcpy((uint8_t *)keymap_key(m, m->n), key, m->key_len);
		*e = (uint64_t)hash << 32 | ++m->n;
	}
	return keymap_record(m, (uint32_t)*e - 1);
}
