/* SPDX-License-Identifier: BSD-2-Clause */
#include "query/keymap.h"

#include <stdlib.h>
#include <string.h>

enum {
	FIRST = 1024, /* records to begin with */
};

static size_t stride(const struct keymap *m)
{
	return m->record_len + CRC_HEADROOM + m->key_room;
}

void keymap_init(struct keymap *m, size_t key_len, size_t record_len)
{
	*m = (struct keymap){
		.key_len = key_len,
		.key_room = (key_len + 7) & ~(size_t)7,
		.record_len = (record_len + 7) & ~(size_t)7,
	};
}

void keymap_fini(struct keymap *m)
{
	free(m->records);
	free(m->index);
}

void *keymap_record(const struct keymap *m, size_t i)
{
	return m->records + i * stride(m);
}

const uint8_t *keymap_key(const struct keymap *m, size_t i)
{
	return m->records + i * stride(m) + m->record_len + CRC_HEADROOM;
}

uint32_t keymap_hash(const uint8_t *key, size_t len)
{
	return crc(CRC_COLLECTOR, key, len);
}

/* An entry of the index: the hash, then the number of the record + 1. */
static uint64_t entry(uint32_t hash, size_t i)
{
	return (uint64_t)hash << 32 | ((uint32_t)i + 1);
}

static size_t record_of(uint64_t e)
{
	return (uint32_t)e - 1;
}

/* The bucket of a key, or the empty one where it belongs. */
static size_t find(const struct keymap *m, const uint8_t *key, uint32_t hash)
{
	size_t at = hash & (m->buckets - 1);
	uint64_t e;

	while ((e = m->index[at]) &&
	       (e >> 32 != hash ||
		memcmp(keymap_key(m, record_of(e)), key, m->key_len) != 0))
		at = (at + 1) & (m->buckets - 1);
	return at;
}

/* Twice the room; buckets stay less than half full. By the entries alone, which
 * come in an order that the new ones have, too. */
static int grow(struct keymap *m)
{
	size_t cap = m->cap ? 2 * m->cap : FIRST, at;
	uint8_t *records;
	uint64_t *index;

	if (cap > UINT32_MAX / 4)
		return -1;
	records = realloc(m->records, cap * stride(m));
	if (!records)
		return -1;
	m->records = records;
	index = calloc(4 * cap, sizeof(index[0]));
	if (!index)
		return -1;
	for (size_t i = 0; i < m->buckets; i++) {
		if (!m->index[i])
			continue;
		at = (m->index[i] >> 32) & (4 * cap - 1);
		while (index[at])
			at = (at + 1) & (4 * cap - 1);
		index[at] = m->index[i];
	}
	free(m->index);
	__atomic_store_n(&m->index, index, __ATOMIC_RELAXED);
	__atomic_store_n(&m->buckets, 4 * cap, __ATOMIC_RELAXED);
	m->cap = cap;
	return 0;
}

void *keymap_put(struct keymap *m, const uint8_t *key, uint32_t hash)
{
	size_t at, i;

	if (m->n == m->cap && grow(m) < 0)
		return NULL;
	at = find(m, key, hash);
	if (!m->index[at]) {
		i = m->n++;
		memset(keymap_record(m, i), 0, stride(m));
		memcpy((uint8_t *)keymap_key(m, i), key, m->key_len);
		m->index[at] = entry(hash, i);
	}
	return keymap_record(m, record_of(m->index[at]));
}

void *keymap_get(struct keymap *m, const uint8_t *key)
{
	return keymap_put(m, key, keymap_hash(key, m->key_len));
}

void keymap_expect(const struct keymap *m, uint32_t hash)
{
	const uint64_t *index = __atomic_load_n(&m->index, __ATOMIC_RELAXED);
	size_t buckets = __atomic_load_n(&m->buckets, __ATOMIC_RELAXED);

	__builtin_prefetch(index + (hash & (buckets - 1)));
}

void keymap_near(const struct keymap *m, uint32_t hash)
{
	uint64_t e = m->buckets ? m->index[hash & (m->buckets - 1)] : 0;

	if (e)
		__builtin_prefetch(keymap_key(m, record_of(e)));
}
