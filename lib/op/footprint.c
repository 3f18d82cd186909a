/* SPDX-License-Identifier: BSD-2-Clause */
#include "op/footprint.h"

#include <string.h>

enum {
	PLACE_BITS = 6,
};

static inline uint64_t first_of(const struct op *o)
{
	return o->offset >> PLACE_BITS;
}

static inline uint64_t last_of(const struct op *o)
{
	return (o->offset + (o->length ? o->length - 1 : 0)) >> PLACE_BITS;
}

/* Tables lie far from each other; the upper bits of a product depend on all
 * bits of its factor. */
static inline unsigned bit_of(const struct op *o, uint64_t place)
{
	uint64_t id = place + ((uint64_t)o->table << 48);

	return (unsigned)(id * UINT64_C(0x9e3779b97f4a7c15) >>
			  (64 - FOOTPRINT_BITS));
}

static inline void set(struct footprint *f, unsigned bit)
{
	f->word[bit / 64] |= UINT64_C(1) << bit % 64;
}

static inline bool has(const struct footprint *f, unsigned bit)
{
	return f->word[bit / 64] >> bit % 64 & 1;
}

void footprint_clear(struct footprint *f)
{
	memset(f, 0, sizeof(*f));
}

static inline void add(struct footprint *f, const struct op *o)
{
	uint64_t place = first_of(o), last = last_of(o);

	do
		set(f, bit_of(o, place));
	while (place++ < last);
}

void footprint_add(struct footprint *f, const struct op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ops[i].verb != OP_FETCH_ADD)
			add(f, &ops[i]);
}

void footprint_join(struct footprint *f, const struct footprint *other)
{
	for (unsigned i = 0; i < FOOTPRINT_WORDS; i++)
		f->word[i] |= other->word[i];
}

static inline bool touches(const struct footprint *f, const struct op *o)
{
	uint64_t place = first_of(o), last = last_of(o);
	bool any = false;

	do
		any = any || has(f, bit_of(o, place));
	while (place++ < last);
	return any;
}

static inline bool waits(const struct footprint *f, const struct op *o,
			 uint64_t whole)
{
	return o->verb != OP_FETCH_ADD &&
	       (touches(f, o) || o->verb == OP_WRITE_IMM ||
		(o->table < 64 && whole >> o->table & 1));
}

unsigned footprint_late(struct footprint *f, const struct op *ops, size_t n,
			uint64_t whole, uint16_t *late)
{
	unsigned count = 0;

	for (size_t i = 0; i < n; i++) {
		if (!waits(f, &ops[i], whole))
			continue;
		late[count++] = (uint16_t)i;
		add(f, &ops[i]);
	}
	return count;
}
