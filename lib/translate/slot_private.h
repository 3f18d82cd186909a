/* SPDX-License-Identifier: BSD-2-Clause */
/* slot_private.h - the slots of Key-Write, as keywrite.c and dart.c make them.
 */
#ifndef TRANSLATE_SLOT_PRIVATE_H
#define TRANSLATE_SLOT_PRIVATE_H

#include <endian.h>

#include "translate/private.h"

/* keywrite.c: hashes the keys: t->work.slot, and t->work.sum if wanted. */
void slots_hash(struct translator *t, const struct lane *l,
		const struct jobs *j, bool sum);

/* A slot's bytes: checksum, value, zeros to len. The published system keeps
 * its checksum little-endian (wire-facts 2.4). */
static inline void slot_fill(uint8_t *p, const struct lane *l, uint32_t sum,
			     const uint8_t *value, uint32_t value_len,
			     uint32_t len)
{
	uint32_t v = l->t.hash == HASH_DTA0 ? htole32(sum) : htobe32(sum);

	memcpy(p, &v, 4);
	memcpy(p + 4, value, value_len);
	memset(p + 4 + value_len, 0, len - 4 - value_len);
}

/* The first report behind those that are made at once: as many as have room. */
static inline unsigned slot_block(struct translator *t, const struct jobs *j,
				  unsigned first, uint32_t len)
{
	uint32_t each = (len + 7) & ~7u;
	unsigned n = j->n - first;

	if (n > ARENA / each)
		n = ARENA / each;
	ops_reserve(t, n * HASH_COPIES, n * (size_t)each);
	if (t->road->stamped)
		ops_stamp(t, j, first, first + n, t->dart == DART_ONE);
	return first + n;
}

#endif
