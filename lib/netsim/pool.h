/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pool.h - small things of one size, known by their numbers: there are as many
 * as were ever in use at once. A pointer to one holds until the next is taken.
 */
#ifndef NETSIM_POOL_H
#define NETSIM_POOL_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum {
	POOL_NONE = UINT32_MAX,
	POOL_FIRST = 1024, /* how many there is room for to begin with */
};

struct pool {
	uint8_t *at;
	size_t size; /* of one, at least 4 */
	uint32_t made, room, free, used;
};

static inline void pool_init(struct pool *p, size_t size)
{
	*p = (struct pool){.size = size, .free = POOL_NONE};
}

static inline void *pool_get(const struct pool *p, uint32_t i)
{
	return p->at + (size_t)i * p->size;
}

/* POOL_NONE: no memory. What is in it is not cleared. */
static inline uint32_t pool_take(struct pool *p)
{
	uint32_t i = p->free;

	if (i != POOL_NONE) {
		p->free = *(uint32_t *)pool_get(p, i);
	} else {
		if (p->made == p->room) {
			uint32_t room = p->room ? 2 * p->room : POOL_FIRST;
			uint8_t *at = realloc(p->at, room * p->size);

			if (!at)
				return POOL_NONE;
			p->at = at;
			p->room = room;
		}
		i = p->made++;
	}
	p->used++;
	return i;
}

static inline void pool_give(struct pool *p, uint32_t i)
{
	*(uint32_t *)pool_get(p, i) = p->free;
	p->free = i;
	p->used--;
}

static inline void pool_fini(struct pool *p)
{
	free(p->at);
}

#endif
