/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * made.h - operations that are gathered for a road, in their order, with their
 * payloads; and how their lines of memory are asked for, one by one between
 * other work: in a burst, requests would only wait for each other.
 */
#ifndef OP_MADE_H
#define OP_MADE_H

#include "hash/family.h"
#include "op/op.h"
#include "store/prefetch.h"

enum {
	OPS_MAX = 18432,   /* operations handed to a road at once, at most */
	ARENA = 256 << 10, /* their payloads; a whole Append batch fits */
};

struct made {
	unsigned n;
	size_t used; /* bytes of the arena */
	struct op op[OPS_MAX];
	/* Their times, where the road is stamped; with room for the most copies
	 * behind the last. */
	uint64_t stamp[OPS_MAX + HASH_COPIES];
	uint8_t arena[ARENA] __attribute__((aligned(64)));
};

/* What was made in an earlier stage, and waits for its lines. */
struct asking {
	struct made *made;
	const struct op *next, *end; /* that are not asked for yet */
	unsigned each;		     /* asked for at once */
	uint8_t *const *mem;	     /* of the road */
};

struct made *made_new(void);	 /* NULL: no memory; to be freed */
struct asking *asking_new(void); /* the same, with nothing made */
void asking_free(struct asking *a);

/* What is made, for what was; nothing is asked for any more. */
void asking_swap(struct asking *a, struct made **made);
/* To ask for all of it, by asking_next() so many times. r has mem. */
void asking_start(struct asking *a, const struct road *r, size_t times);

static inline void asking_next(struct asking *a)
{
	const struct op *op = a->next, *end = a->end;
	unsigned left = a->each;

	for (; left && op < end; left--, op++)
		prefetch_lines(a->mem[op->table] + op->offset, op->length);
	a->next = op;
}

/* A write; the fields one by one, which compilers do best with. */
static inline void op_fill(struct op *o, uint16_t table, uint64_t offset,
			   const uint8_t *data, uint32_t len)
{
	o->offset = offset;
	o->data = data;
	o->length = len;
	o->immediate = 0;
	o->table = table;
	o->verb = OP_WRITE;
}

/* len bytes of the arena, which has room; payloads start 8-byte aligned. */
static inline uint8_t *made_take(struct made *m, size_t len)
{
	uint8_t *p = m->arena + m->used;

	m->used += (len + 7) & ~(size_t)7;
	return p;
}

#endif
