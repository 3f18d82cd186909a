/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/arena.h"

#include <stdint.h>
#include <stdlib.h>

enum {
	ALIGN = 64,
};

struct arena_chunk {
	struct arena_chunk *next;
	uint8_t byte[ARENA_CHUNK] __attribute__((aligned(ALIGN)));
};

void arena_fini(struct arena *a)
{
	while (a->first) {
		struct arena_chunk *next = a->first->next;

		free(a->first);
		a->first = next;
	}
	arena_begin(a);
}

void arena_begin(struct arena *a)
{
	a->now = NULL;
	a->used = 0;
}

void *arena_room(struct arena *a, size_t size)
{
	struct arena_chunk **next;

	if (!a->now || a->used + size > ARENA_CHUNK) {
		next = a->now ? &a->now->next : &a->first;
		if (!*next) {
			*next = aligned_alloc(ALIGN, sizeof(**next));
			if (!*next)
				return NULL;
			(*next)->next = NULL;
		}
		a->now = *next;
		a->used = 0;
	}
	return a->now->byte + a->used;
}

void arena_take(struct arena *a, size_t size)
{
	a->used += (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}
