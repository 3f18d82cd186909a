/* SPDX-License-Identifier: BSD-2-Clause */
#include "op/footprint.h"

#include <string.h>

enum {
	PLACE_BITS = 6,
	/* Bits for each operation that a batch meets: a footprint goes from
	 * core to core line by line, and one in so many waits that need not, of
	 * those that touch one place. */
	BITS_EACH = 32,
	BITS_MIN = 9, /* a line */
	/* Bits of the words behind. */
	NEVER = FOOTPRINT_WORDS * 64,
	ALWAYS = NEVER + 64,
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
static inline unsigned bit_of(const struct footprint *f, const struct op *o,
			      uint64_t place)
{
	uint64_t id = place + ((uint64_t)o->table << 48);

	return (unsigned)(id * UINT64_C(0x9e3779b97f4a7c15) >> (64 - f->bits));
}

static inline void set(struct footprint *f, unsigned bit)
{
	f->word[bit / 64] |= UINT64_C(1) << bit % 64;
}

static inline bool has(const struct footprint *f, unsigned bit)
{
	return f->word[bit / 64] >> bit % 64 & 1;
}

void footprint_init(struct footprint *f, size_t most)
{
	memset(f, 0, sizeof(*f));
	f->word[FOOTPRINT_WORDS + 1] = UINT64_MAX;
	f->bits = BITS_MIN;
	while (f->bits < FOOTPRINT_BITS &&
	       UINT64_C(1) << f->bits < most * BITS_EACH)
		f->bits++;
	f->words = 1u << f->bits >> 6;
}

void footprint_clear(struct footprint *f)
{
	if (f->any)
		memset(f->word, 0, f->words * sizeof(f->word[0]));
	f->any = false;
}

static inline bool is_single(const struct op *o)
{
	return (o->offset & ((1 << PLACE_BITS) - 1)) + o->length <=
	       1 << PLACE_BITS;
}

static void add_all(struct footprint *f, const struct op *o)
{
	f->any = true;
	for (uint64_t place = first_of(o); place <= last_of(o); place++)
		set(f, bit_of(f, o, place));
}

static inline bool is_whole(uint64_t whole, const struct op *o)
{
	return o->table < 64 && whole >> o->table & 1;
}

/* An operation that is not one write to one place. */
static unsigned add_other(struct footprint *f, const struct op *o, bool all,
			  bool told)
{
	if (o->verb == OP_FETCH_ADD && !all && !told)
		return NEVER;
	add_all(f, o);
	if (o->verb == OP_WRITE_IMM || !is_single(o) || all)
		return ALWAYS; /* or to be looked at again */
	return bit_of(f, o, first_of(o));
}

void footprint_add(struct footprint *f, const struct op *ops, size_t n,
		   uint64_t whole, bool told, uint32_t *place)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		const struct op *o = &ops[i];
		bool all = is_whole(whole, o);
		unsigned bit;

		if (__builtin_expect(
			    o->verb == OP_WRITE && is_single(o) && !all, 1)) {
			bit = bit_of(f, o, first_of(o));
			set(f, bit);
			any = true;
		} else {
			bit = add_other(f, o, all, told);
		}
		place[i] = bit;
	}
	f->any |= any;
}

void footprint_join(struct footprint *f, const struct footprint *other)
{
	if (!other->any)
		return;
	f->any = true;
	for (unsigned i = 0; i < f->words; i++)
		f->word[i] |= other->word[i];
}

static bool touches(const struct footprint *f, const struct op *o)
{
	bool any = false;

	for (uint64_t place = first_of(o); place <= last_of(o); place++)
		any = any || has(f, bit_of(f, o, place));
	return any;
}

/* Whether what may wait does. */
static bool waits(const struct footprint *f, const struct op *o, bool whole)
{
	return whole || o->verb == OP_WRITE_IMM || touches(f, o);
}

unsigned footprint_late(struct footprint *f, const struct op *ops, size_t n,
			uint64_t whole, const uint32_t *place, uint16_t *late)
{
	unsigned count = 0;

	for (size_t i = 0; i < n; i++) {
		const struct op *o = &ops[i];

		if (__builtin_expect(!has(f, place[i]), 1))
			continue;
		if (!waits(f, o, is_whole(whole, o)))
			continue;
		late[count++] = (uint16_t)i;
		add_all(f, o);
	}
	return count;
}
