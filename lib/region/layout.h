/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
/*
 * layout.h - layout files: which tables a region shall have. INI (ini.h).
 *
 *	; fabric.ini: a comment
 *	[flows]                 ; the table's name: letters, digits, _ - .
 *	kind = keywrite         ; keywrite, postcard, append, keyinc
 *	id = 1                  ; the reports' table field; else: order in file
 *	key = flow4             ; a key type of key.h, or hex:LENGTH
 *	value = 4               ; bytes of a value or entry, 1 to 1020
 *	slots = 1Mi             ; so many slots or counters; postcard: chunks;
 *	                        ; append: entries, that each list keeps
 *	ring = 1Mi              ; append: or the entries of a list's ring, which
 *	                        ; keeps a batch less
 *	memory = 4Gi            ; or: as many as fit into so many bytes
 *	stride = pow2           ; bytes from slot to slot, the next power of 2;
 *	                        ; or packed (to 4); or a number that is either
 *	copies = 2              ; N when a report does not say; append has 1
 *	hash = dta1             ; or dta0
 *	hops = 5                ; postcard: entries of a chunk, 1 to 8
 *	values = 1-262144       ; postcard: V, as MIN-MAX, or a set 1,2,7, which
 *	                        ; may go on in further, indented lines
 *	cache = 32768           ; postcard: translator's rows, a power of two
 *	lists = 255             ; append
 *	batch = 16              ; append: entries per write, 1 to 64
 *	flush = 100ms           ; append: a partial batch waits: ms, s, m, h
 *	sequence = count        ; off, count, strict
 *	immediate = no          ; yes: every report wakes the collector
 *	qp = rc                 ; or uc
 *	protocol = tcp          ; flow keys: of those written without one
 *	show = flow4, u32:bytes ; what a value is made of, for people
 *
 * Required: kind; slots (chunks, entries or ring) or memory; key, but for
 * append; value (keywrite, append); values (postcard); lists (append). The
 * others have the defaults shown. A field that a kind does not have is an
 * error, and so is one given twice. memory counts one epoch of one table.
 * Numbers take K, M, G, T (powers of 1000) and Ki, Mi, Gi, Ti (powers of 1024).
 */
/* clang-format on */
#ifndef REGION_LAYOUT_H
#define REGION_LAYOUT_H

#include <stdint.h>

#include "base/error.h"
#include "region/table.h"

enum {
	LAYOUT_FIELDS_MAX = 32,
};

struct layout {
	unsigned n;
	struct table table[TABLE_MAX]; /* offsets not yet assigned */
	uint32_t *values[TABLE_MAX];   /* sorted V sets, malloc'ed, or NULL */
};

/* Reads a layout file, "-" for stdin, or an installed example. err says
 * FILE:LINE: reason. Returns 0, or -errno with nothing to free. Tables are
 * complete but for their place. */
int layout_read(struct layout *out, const char *path, struct error *err);
void layout_fini(struct layout *l);

/*
 * Sets one field of a table from its text, as the file does: also for tickets
 * and for the -T ID:FIELD=VALUE of dta-translate. Fields may come in any order;
 * table_finish() then completes the geometry and checks it. Set kind first to
 * have fields refused that the kind does not have. values: a range or a set, of
 * which the bounds and the size are kept.
 * entries is stored as if it were ring: call table_set_kept() to correct that.
 * Returns 0, -ENOENT for an unknown field, -EINVAL for a bad value.
 */
int layout_set(struct table *t, const char *field, const char *value,
	       struct error *err);

/* The number of a field, below LAYOUT_FIELDS_MAX, by which a caller can mark
 * which were given; or -ENOENT. */
int layout_field(const char *field);

#endif
