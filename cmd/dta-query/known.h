/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * known.h - keys that somebody wrote down (--known): a memory that stores
 * checksums in their place can say nothing of others.
 */
#ifndef QUERY_KNOWN_H
#define QUERY_KNOWN_H

#include "hash/crc.h"
#include "options.h"

struct known_key {
	const struct target *target; /* the table that takes it */
	uint8_t headroom[CRC_HEADROOM];
	uint8_t key[KEY_MAX];
};

struct known {
	struct known_key *key;
	size_t n, room;
};

/*
 * Reads a file of keys, one a line; or CSV, of which o->column, or the column
 * key of what dta-gen --truth writes, has them. Each once, in the order of the
 * file. Exits on failure.
 */
void known_read(struct known *k, const struct opts *o, const char *file,
		const struct targets *t);
void known_free(struct known *k);

#endif
