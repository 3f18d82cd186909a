/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keymap.h - keys of one length, each with a record of one size, in the order
 * in which they first came. Millions of them: one array of records, and an
 * index with open addressing.
 */
#ifndef QUERY_KEYMAP_H
#define QUERY_KEYMAP_H

#include <stddef.h>
#include <stdint.h>

#include "hash/crc.h"

struct keymap {
	size_t key_len, key_room, record_len;
	size_t n, cap;
	uint8_t *records; /* record, headroom for the CRC, key */
	uint64_t *index;  /* hash << 32, number of the record + 1; or 0 */
	size_t buckets;	  /* a power of two */
};

void keymap_init(struct keymap *m, size_t key_len, size_t record_len);
void keymap_fini(struct keymap *m);

/*
 * The record of a key, all zero if the key is new. Valid until the next call.
 * NULL: no memory.
 */
void *keymap_get(struct keymap *m, const uint8_t *key);

/*
 * The same in steps, for many keys: expect, by any thread at any time, and
 * near, by who may call put, have memory look for what put needs of a key.
 */
uint32_t keymap_hash(const uint8_t *key, size_t len);
void keymap_expect(const struct keymap *m, uint32_t hash);
void keymap_near(const struct keymap *m, uint32_t hash);
void *keymap_put(struct keymap *m, const uint8_t *key, uint32_t hash);

/* Record and key number i < m->n; the key has CRC_HEADROOM before it. */
void *keymap_record(const struct keymap *m, size_t i);
const uint8_t *keymap_key(const struct keymap *m, size_t i);

#endif
