/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * layout.h - layout files: which tables a region shall have. INI, read by inih.
 *
 *	[flows]                 ; the table's name
 *	id = 1
 *	kind = keywrite         ; keywrite, postcard, append, keyinc
 *	key = flow4             ; a key type of key.h, or hex:LENGTH
 *	value = 4               ; bytes (keywrite, append)
 *	slots = 1M              ; keywrite, keyinc; postcard: chunks; append: entries (per list) and lists
 *	memory = 4G             ; instead of slots, chunks, entries
 *	stride = pow2           ; or packed
 *	copies = 2              ; default N
 *	hash = dta1             ; or dta0
 *	hops = 5                ; postcard
 *	values = 1-262144       ; postcard: V, a range MIN-MAX or file:PATH (one number a line)
 *	cache = 32768           ; postcard: the translator's rows
 *	lists = 255             ; append
 *	batch = 16              ; append
 *	flush = 100ms           ; append
 *	sequence = count        ; off, count, strict
 *	immediate = no
 *	qp = rc                 ; or uc
 *
 * Numbers take K, M, G, T (powers of 1024).
 */
#ifndef STORE_LAYOUT_H
#define STORE_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "store/table.h"

struct layout {
	unsigned n;
	struct table table[TABLE_MAX]; /* offsets not yet assigned */
	uint32_t *values[TABLE_MAX];   /* sorted V sets, malloc'ed, or NULL */
};

/* Reads a layout file, "-" for stdin. f says FILE:LINE: reason. Returns 0 or -errno. */
int layout_read(struct layout *out, const char *path, struct fault *f);
void layout_fini(struct layout *l);

/*
 * Sets one field of a table from its text, as the file does: also for tickets
 * and for the -T ID:FIELD=VALUE of dta-translate. Returns 0, -ENOENT for an
 * unknown field, -EINVAL for a bad value.
 */
int layout_set(struct table *t, const char *field, const char *value,
	       struct fault *f);

/* A size: digits, then K, M, G or T. Returns 0 or -EINVAL, -ERANGE. */
int layout_size(uint64_t *out, const char *text);

#endif
