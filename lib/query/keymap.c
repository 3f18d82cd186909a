/* SPDX-License-Identifier: BSD-2-Clause */
#include "query/keymap.h"

#include <stdlib.h>
#include <string.h>

enum {
	FIRST = 1024,	   /* records to begin with */
	FIRST_BUCKETS = 8, /* of a part */
	PARTS = 256,
	PART_SHIFT = 24,
};

/*
 * Of the index, which grows part by part: no one key waits for all of it. Until
 * all have twice the buckets, some are in the one before.
 */
struct keymap_part {
	uint64_t *bucket; /* hash << 32, number of the record + 1; or 0 */
	uint32_t mask;	  /* buckets - 1 */
	uint32_t room;	  /* for so many more keys */
};

static size_t stride(const struct keymap *m)
{
	return m->record_len + m->key_room;
}

void keymap_init(struct keymap *m, size_t key_len, size_t record_len,
		 uint32_t ranges)
{
	*m = (struct keymap){
		.key_len = key_len,
		.key_room = (key_len + 7) & ~(size_t)7,
		.record_len = (record_len + 7) & ~(size_t)7,
		.ranges = ranges,
	};
}

/* By the hash's uppermost bits; the lower ones say which bucket. */
static size_t part_of(const struct keymap *m, uint32_t hash)
{
	return (uint32_t)(hash * m->ranges) >> PART_SHIFT;
}

void keymap_fini(struct keymap *m)
{
	free(m->part);
	area_fini(&m->index);
	area_fini(&m->before);
	for (unsigned i = 0; i < KEYMAP_CHUNKS; i++)
		free(m->chunk[i]);
}

/* Each chunk has as many records as all before it: none ever moves. */
static unsigned chunk_of(size_t i)
{
	return i < FIRST ? 0 : 64 - (unsigned)__builtin_clzll(i / FIRST);
}

static size_t chunk_start(unsigned chunk)
{
	return chunk ? (size_t)FIRST << (chunk - 1) : 0;
}

void *keymap_record(const struct keymap *m, size_t i)
{
	unsigned chunk = chunk_of(i);

	return m->chunk[chunk] + CRC_HEADROOM +
	       (i - chunk_start(chunk)) * stride(m);
}

const uint8_t *keymap_key(const struct keymap *m, size_t i)
{
	return (const uint8_t *)keymap_record(m, i) + m->record_len;
}

uint32_t keymap_hash(const uint8_t *key, size_t len)
{
	return crc(CRC_COLLECTOR, key, len);
}

static uint64_t entry(uint32_t hash, size_t i)
{
	return (uint64_t)hash << 32 | ((uint32_t)i + 1);
}

static size_t record_of(uint64_t e)
{
	return (uint32_t)e - 1;
}

/* The bucket of a key, or the empty one where it belongs. */
static uint64_t *find(const struct keymap *m, const struct keymap_part *p,
		      const uint8_t *key, uint32_t hash)
{
	uint32_t at = hash & p->mask;
	uint64_t e;

	while ((e = p->bucket[at]) &&
	       (e >> 32 != hash ||
		memcmp(keymap_key(m, record_of(e)), key, m->key_len) != 0))
		at = (at + 1) & p->mask;
	return &p->bucket[at];
}

/* Keys that a part takes before it grows: half of its buckets, but those of one
 * part are a few more than those of another, or all would grow at once. */
static uint32_t room_in(uint64_t buckets, size_t part)
{
	return (uint32_t)(buckets * (3 * PARTS + 2 * part) / (8 * PARTS));
}

/* To the newer index. By the entries alone, which come in an order that they
 * have there, too. */
static void move(struct keymap *m, size_t part)
{
	struct keymap_part *p = &m->part[part];
	uint64_t *to = (uint64_t *)m->index.base + part * m->buckets;
	uint32_t room = room_in((uint64_t)p->mask + 1, part);
	uint32_t mask = m->buckets - 1, at;

	/* Written to before it is looked at: that costs a page one fault, not
	 * two. A part without any keys is not looked at. */
	memset(to, 0, m->buckets * sizeof(*to));
	for (uint32_t i = 0; i <= p->mask && p->room < room; i++) {
		if (!p->bucket[i])
			continue;
		at = (uint32_t)(p->bucket[i] >> 32) & mask;
		while (to[at])
			at = (at + 1) & mask;
		to[at] = p->bucket[i];
	}
	p->room += room_in(m->buckets, part) - room;
	__atomic_store_n(&p->bucket, to, __ATOMIC_RELAXED);
	__atomic_store_n(&p->mask, mask, __ATOMIC_RELAXED);
	if (!--m->left)
		area_fini(&m->before);
}

/* Another index, of twice the buckets, to which all move by and by. It is zero
 * where they have. */
static int grow_index(struct keymap *m)
{
	struct area more;

	for (size_t i = 0; m->left && i < PARTS; i++)
		if (m->part[i].mask != m->buckets - 1)
			move(m, i);
	if (m->buckets > UINT32_MAX / 2 ||
	    area_init(&more,
		      PARTS * 2 * (size_t)m->buckets * sizeof(uint64_t)) < 0)
		return -1;
	m->before = m->index;
	m->index = more;
	m->buckets *= 2;
	m->left = PARTS;
	return 0;
}

static int grow_part(struct keymap *m, size_t part)
{
	if (m->part[part].mask == m->buckets - 1 && grow_index(m) < 0)
		return -1;
	move(m, part);
	return 0;
}

static int grow_records(struct keymap *m)
{
	size_t more = m->cap ? m->cap : FIRST;
	unsigned number = chunk_of(m->cap);
	uint8_t *chunk;

	if (number == KEYMAP_CHUNKS)
		return -1;
	chunk = malloc(CRC_HEADROOM + more * stride(m));
	if (!chunk)
		return -1;
	memset(chunk, 0, CRC_HEADROOM);
	m->chunk[number] = chunk;
	m->cap += more;
	return 0;
}

static int begin(struct keymap *m)
{
	struct keymap_part *part = calloc(PARTS, sizeof(*part));

	if (!part || area_init(&m->index,
			       PARTS * FIRST_BUCKETS * sizeof(uint64_t)) < 0) {
		free(part);
		return -1;
	}
	m->buckets = FIRST_BUCKETS;
	for (size_t i = 0; i < PARTS; i++)
		part[i] = (struct keymap_part){
			.bucket = (uint64_t *)m->index.base + i * m->buckets,
			.mask = m->buckets - 1,
			.room = room_in(m->buckets, i),
		};
	__atomic_store_n(&m->part, part, __ATOMIC_RELEASE);
	return 0;
}

void *keymap_put(struct keymap *m, const uint8_t *key, uint32_t hash)
{
	struct keymap_part *p;
	uint64_t *e;

	if (!m->part && begin(m) < 0)
		return NULL;
	p = &m->part[part_of(m, hash)];
	if ((!p->room && grow_part(m, part_of(m, hash)) < 0) ||
	    (m->n == m->cap && grow_records(m) < 0))
		return NULL;
	e = find(m, p, key, hash);
	if (!*e) {
		memset(keymap_record(m, m->n), 0, stride(m));
		memcpy((uint8_t *)keymap_key(m, m->n), key, m->key_len);
		*e = entry(hash, m->n++);
		p->room--;
	}
	return keymap_record(m, record_of(*e));
}

void *keymap_get(struct keymap *m, const uint8_t *key)
{
	return keymap_put(m, key, keymap_hash(key, m->key_len));
}

void keymap_expect(const struct keymap *m, uint32_t hash)
{
	const struct keymap_part *p = __atomic_load_n(&m->part,
						      __ATOMIC_ACQUIRE);
	const uint64_t *bucket;
	uint32_t mask;

	if (!p)
		return;
	p += part_of(m, hash);
	/* They need not belong together: whatever is there is fetched. */
	bucket = __atomic_load_n(&p->bucket, __ATOMIC_RELAXED);
	mask = __atomic_load_n(&p->mask, __ATOMIC_RELAXED);
	__builtin_prefetch(bucket + (hash & mask));
}

void keymap_near(const struct keymap *m, uint32_t hash)
{
	const struct keymap_part *p = m->part;
	uint64_t e = 0;

	if (p) {
		p += part_of(m, hash);
		e = p->bucket[hash & p->mask];
	}
	if (e)
		__builtin_prefetch(keymap_key(m, record_of(e)));
}
