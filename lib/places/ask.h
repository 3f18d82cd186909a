/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ask.h - keys in batches, asked of one table in all places: the newest answer
 * wins. A key that an epoch does not have is looked for in the next; one that
 * cannot be read there, too, and stays "unreadable" if no other has it.
 */
#ifndef PLACES_ASK_H
#define PLACES_ASK_H

#include "places/places.h"
#include "query/query.h"

struct ask {
	struct places *places;
	struct query_rule rule; /* copies 0: the kind's default */
	bool sum;		/* counters: over all places */
	bool fell;		/* a collector can no longer be reached */
};

/*
 * n <= QUERY_BATCH keys with CRC_HEADROOM bytes before each. *reply[i] is
 * filled in. The kind is the table's: keywrite, postcard or keyinc. Without a
 * cluster, look at places->gone afterwards.
 */
void ask_keys(struct ask *a, const struct target *t, const uint8_t *const *keys,
	      size_t n, struct reply *const *reply);

#endif
