/* SPDX-License-Identifier: BSD-2-Clause */
#include "packet/shelf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hash/crc.h"

enum {
	GAP = 64, /* CRC_HEADROOM, and a cache line */
};

_Static_assert((int)GAP >= (int)CRC_HEADROOM, "packets need headroom");

struct board {
	uint8_t *mem;
	size_t size;
};

struct shelf {
	unsigned n, next;
	struct board board[];
};

struct shelf *shelf_new(unsigned boards)
{
	struct shelf *s = calloc(1, sizeof(*s) + boards * sizeof(struct board));

	if (s)
		s->n = boards;
	return s;
}

static size_t room_of(const struct pkt *p)
{
	return (GAP + (size_t)p->len + GAP - 1) & ~(size_t)(GAP - 1);
}

/* What it held is not wanted any more. */
static int grow(struct board *b, size_t size)
{
	if (size <= b->size)
		return 0;
	free(b->mem);
	b->mem = aligned_alloc(GAP, (size + GAP - 1) & ~(size_t)(GAP - 1));
	b->size = b->mem ? size : 0;
	return b->mem ? 0 : -ENOMEM;
}

int shelf_put(struct shelf *s, struct pkt *pkts, int n)
{
	struct board *b = &s->board[s->next];
	size_t size = 0;
	uint8_t *p;
	int rc;

	s->next = (s->next + 1) % s->n;
	for (int i = 0; i < n; i++)
		size += room_of(&pkts[i]);
	if ((rc = grow(b, size)) < 0)
		return rc;
	p = b->mem;
	for (int i = 0; i < n; i++) {
		size = room_of(&pkts[i]);
		memset(p, 0, GAP);
		memcpy(p + GAP, pkts[i].data, pkts[i].len);
		pkts[i].data = p + GAP;
		p += size;
	}
	return 0;
}

void shelf_free(struct shelf *s)
{
	for (unsigned i = 0; s && i < s->n; i++)
		free(s->board[i].mem);
	free(s);
}
