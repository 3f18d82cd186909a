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

/* The bucket of a key, or the empty one where it belongs. */
static size_t find(const struct keymap *m, const uint8_t *key)
{
	size_t at = crc(CRC_COLLECTOR, key, m->key_len) & (m->buckets - 1);

	while (m->index[at] &&
	       memcmp(keymap_key(m, m->index[at] - 1), key, m->key_len) != 0)
		at = (at + 1) & (m->buckets - 1);
	return at;
}

/* Twice the room; buckets stay less than half full. */
static int grow(struct keymap *m)
{
	size_t cap = m->cap ? 2 * m->cap : FIRST;
	uint8_t *records;
	uint32_t *index;

	if (cap > UINT32_MAX / 4)
		return -1;
	records = realloc(m->records, cap * stride(m));
	if (!records)
		return -1;
	m->records = records;
	index = calloc(4 * cap, sizeof(index[0]));
	if (!index)
		return -1;
	free(m->index);
	m->index = index;
	m->cap = cap;
	m->buckets = 4 * cap;
	for (size_t i = 0; i < m->n; i++)
		index[find(m, keymap_key(m, i))] = (uint32_t)i + 1;
	return 0;
}

void *keymap_get(struct keymap *m, const uint8_t *key)
{
	size_t at, i;

	if (m->n == m->cap && grow(m) < 0)
		return NULL;
	at = find(m, key);
	if (!m->index[at]) {
		i = m->n++;
		memset(keymap_record(m, i), 0, stride(m));
		memcpy((uint8_t *)keymap_key(m, i), key, m->key_len);
		m->index[at] = (uint32_t)i + 1;
	}
	return keymap_record(m, m->index[at] - 1);
}
