/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keymap.h - keys of one length, each with a record of one size, in the order
 * in which they first came: an array of records, and an index with open
 * addressing.
 */
#ifndef QUERY_KEYMAP_H
#define QUERY_KEYMAP_H

#include <stddef.h>
#include <stdint.h>

struct keymap {
	size_t key_len, record_len;
	size_t stride;	/* of a record with its key behind it */
	size_t n, cap;	/* records: that there are, and have room */
	uint8_t *array; /* headroom for a CRC of the first key, then records */
	uint64_t *bucket; /* hash << 32, number of the record + 1; or 0 */
	size_t buckets;	  /* a power of two: twice cap; 0: none yet */
};

void keymap_init(struct keymap *m, size_t key_len, size_t record_len);
void keymap_fini(struct keymap *m);

/*
 * The record of a key, all zero if the key is new; it is valid until the next
 * call. NULL: no memory.
 */
void *keymap_get(struct keymap *m, const uint8_t *key);

/* Record and key number i < m->n. CRC_HEADROOM bytes before the key may be
 * read. */
void *keymap_record(const struct keymap *m, size_t i);
const uint8_t *keymap_key(const struct keymap *m, size_t i);

#endif
