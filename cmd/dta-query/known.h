/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * known.h - keys that somebody wrote down: a memory that stores checksums in
 * their place can say nothing of others.
 */
#ifndef QUERY_KNOWN_H
#define QUERY_KNOWN_H

#include "options.h"
#include "query/keymap.h"

struct known {
	struct keymap keys[TABLE_MAX]; /* of each target */
	uint64_t malformed;	       /* lines that are no keys */
};

/*
 * Reads a file of keys, one a line; or CSV, of which o->column, or the column
 * key of what dta-gen --truth writes, has them; NULL: those that o names. Each
 * once, in their order. Exits on failure.
 */
void known_read(struct known *k, const struct opts *o, const char *file,
		const struct targets *t);
void known_free(struct known *k, const struct targets *t);

#endif
