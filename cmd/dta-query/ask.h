/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ask.h - keys in batches, asked of one table in all places: the newest answer
 * wins. A key that an epoch does not have is looked for in the next; one that
 * cannot be read there, too, and stays "unreadable" if no other has it.
 */
#ifndef QUERY_ASK_H
#define QUERY_ASK_H

#include "place.h"

struct ask;

/* p outlives it. rule: copies 0 is the kind's default. Exits without memory. */
struct ask *ask_open(struct places *p, const struct query_rule *rule);
void ask_close(struct ask *a);

/* Slots to read from now on. */
void ask_copies(struct ask *a, uint8_t copies);

/*
 * n <= QUERY_BATCH keys with CRC_HEADROOM bytes before each. *reply[i] is
 * filled in. The kind is the table's: keywrite, postcard or keyinc.
 */
void ask_keys(struct ask *a, const struct target *t, const uint8_t *const *keys,
	      size_t n, struct reply *const *reply);

#endif
