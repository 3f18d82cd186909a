/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * best.h - the first so many of things that come in any order, by a number:
 * a heap with the last of them on top. Of equal ones the first by their own
 * number; things whose number is not known are behind all others.
 */
#ifndef SCREEN_BEST_H
#define SCREEN_BEST_H

#include <stdbool.h>
#include <stdint.h>

struct best_one {
	uint64_t key; /* the greatest is first */
	uint32_t at;  /* which thing it is */
	bool known;
};

struct best {
	struct best_one *one;
	uint32_t n, room;
};

/* 0 or -ENOMEM. */
int best_init(struct best *b, uint32_t room);
void best_fini(struct best *b);
void best_add(struct best *b, struct best_one one);
/* The first one first; nothing can be added then. */
void best_sort(struct best *b);

#endif
