/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arena.h - memory that is taken piece by piece and forgotten all at once. What
 * was taken stays where it is until then; chunks are kept for the next time.
 */
#ifndef COLLECT_ARENA_H
#define COLLECT_ARENA_H

#include <stddef.h>

enum {
	ARENA_CHUNK = 64 << 10, /* bytes: the largest piece */
};

struct arena_chunk;

/* Zeros: nothing was taken. */
struct arena {
	struct arena_chunk *first, *now;
	size_t used; /* bytes of now */
};

void arena_fini(struct arena *a);

/* All that was taken is forgotten. */
void arena_begin(struct arena *a);

/* Room for so many bytes, aligned to 64, which are taken only by arena_take();
 * until then the same may be handed out again. NULL: no memory. */
void *arena_room(struct arena *a, size_t size);

/* So many of the bytes that arena_room() gave last. */
void arena_take(struct arena *a, size_t size);

#endif
