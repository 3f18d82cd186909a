/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keymap.h - keys of one length, each with a record of one size, in the order
 * in which they first came. Millions of them: records in large chunks, and an
 * index with open addressing.
 */
#ifndef QUERY_KEYMAP_H
#define QUERY_KEYMAP_H

#include <stddef.h>
#include <stdint.h>

#include "hash/crc.h"
#include "measure/area.h"

enum {
	KEYMAP_CHUNKS = 22, /* the last ends at 2^31 records */
};

struct keymap_part; /* of the index */

struct keymap {
	size_t key_len, key_room, record_len;
	uint32_t ranges;
	size_t n, cap;
	/* Of records, each with its key: headroom for a CRC before them. */
	uint8_t *chunk[KEYMAP_CHUNKS];
	struct keymap_part *part;
	/* Of the parts. It is read here and there: on huge pages. */
	struct area index, before;
	uint32_t buckets; /* of each, in index */
	unsigned left;	  /* parts in before */
};

/* All hashes will lie in one of so many ranges of the same size; 1: anywhere.
 */
void keymap_init(struct keymap *m, size_t key_len, size_t record_len,
		 uint32_t ranges);
void keymap_fini(struct keymap *m);

/*
 * The record of a key, all zero if the key is new. It stays where it is. NULL:
 * no memory.
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

/* Record and key number i < m->n. CRC_HEADROOM bytes before the key may be
 * read. */
void *keymap_record(const struct keymap *m, size_t i);
const uint8_t *keymap_key(const struct keymap *m, size_t i);

#endif
