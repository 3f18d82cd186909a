/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * known.h - keys that somebody wrote down: a memory that stores checksums in
 * their place can say nothing of others.
 */
#ifndef READING_KNOWN_H
#define READING_KNOWN_H

#include "reading/keys.h"
#include "query/keymap.h"

struct known {
	struct keymap keys[TABLE_MAX]; /* of each target */
	uint64_t malformed;	       /* lines that are no keys */
};

/* Reads all keys, each once, in their order. Exits on failure. */
void known_read(struct known *k, const struct keys_from *from,
		const struct targets *t);
void known_free(struct known *k, const struct targets *t);

#endif
