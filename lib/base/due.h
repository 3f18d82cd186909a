/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * due.h - who is to be seen to next: a heap of times, one for each of those who
 * wait, whom small numbers tell apart. Of one time the lowest number is first,
 * so that a run is the same each time.
 */
#ifndef BASE_DUE_H
#define BASE_DUE_H

#include "base/heap.h"

#define DUE_NEVER UINT64_MAX

/* Zeros to begin with. */
struct dues {
	struct due *heap;
	uint32_t *place; /* of who: in heap, from 1; 0: does not wait */
	uint32_t n, room, whos;
};

/* At another time, or DUE_NEVER. 0 or -ENOMEM. */
int dues_set(struct dues *q, uint32_t who, uint64_t ns);
/* When; DUE_NEVER: not at all. */
uint64_t dues_of(const struct dues *q, uint32_t who);
/* The first one; ns DUE_NEVER: nobody waits. */
struct due dues_first(const struct dues *q);
/* Who has the last number is known by another one now, who has gone. */
void dues_move(struct dues *q, uint32_t last, uint32_t who);
/* All times are so much later, or earlier, but not before 0. */
void dues_shift(struct dues *q, int64_t by_ns);
void dues_fini(struct dues *q);

#endif
