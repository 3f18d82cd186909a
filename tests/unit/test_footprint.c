/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Footprints: what may not change places with what came before waits, and what
 * comes behind it on the same 64 bytes, too.
 */
#include <string.h>

#include "base/rng.h"
#include "op/footprint.h"
#include "test.h"

enum {
	OPS = 600,
	PLACES = 4000,
};

static struct op op(uint8_t verb, uint16_t table, uint64_t offset,
		    uint32_t length)
{
	return (struct op){.verb = verb,
			   .table = table,
			   .offset = offset,
			   .length = length};
}

static uint32_t place[OPS];
static uint16_t late[OPS];
static bool told;

/* Which of ops wait for those before; a bit each. */
static unsigned waiting(const struct op *before, size_t m, const struct op *ops,
			size_t n, uint64_t whole)
{
	static struct footprint f, own;
	unsigned bits = 0, count;

	footprint_init(&f, OPS);
	footprint_init(&own, OPS);
	footprint_add(&own, before, m, whole, told, place);
	footprint_join(&f, &own);
	footprint_clear(&own);
	footprint_add(&own, ops, n, whole, told, place);
	count = footprint_late(&f, ops, n, whole, place, late);
	for (unsigned i = 0; i < count; i++)
		bits |= 1u << late[i];
	return bits;
}

static void rules(void)
{
	const struct op before[] = {op(OP_WRITE, 1, 640, 8)};
	const struct op ops[] = {
		op(OP_WRITE, 1, 696, 8),     /* the same 64 bytes */
		op(OP_WRITE, 1, 704, 8),     /* the next ones */
		op(OP_WRITE, 2, 640, 8),     /* another table */
		op(OP_FETCH_ADD, 1, 640, 8), /* commutes */
		op(OP_CMP_SWAP, 1, 640, 8),  /* does not */
		op(OP_WRITE, 1, 632, 16),    /* reaches into them */
		op(OP_WRITE, 1, 576, 8),     /* behind one that waits */
		op(OP_WRITE_IMM, 3, 0, 8),   /* wakes somebody */
		op(OP_WRITE, 3, 8, 8),	     /* behind it */
		op(OP_WRITE, 4, 0, 8),	     /* wanted in order */
	};

	TEST(waiting(before, 1, ops, 10, 1u << 4) == 0x3f1);
	TEST(waiting(before, 0, ops, 10, 0) == 0x180);
	TEST(waiting(before, 1, ops, 1, 1u << 1) == 1);
	/* Additions beside writes. */
	TEST(waiting(before, 1, ops + 3, 1, 1u << 1) == 1);
	/* Additions that somebody is told of. */
	TEST(waiting(ops + 3, 1, ops + 3, 2, 0) == 0);
	told = true;
	TEST(waiting(ops + 3, 1, ops + 3, 2, 0) == 3);
	TEST(waiting(ops + 3, 1, ops + 1, 1, 0) == 0);
	told = false;
}

/* Nothing that touches what is there goes ahead; of the rest, few wait. */
static void at_random(void)
{
	static struct op before[OPS], ops[OPS];
	static bool touched[PLACES];
	struct rng r = {5};
	unsigned needless = 0, n = 0;
	struct footprint f, own;
	bool missed = false;

	for (unsigned i = 0; i < OPS; i++) {
		before[i] = op(OP_WRITE, 1, rng_below(&r, PLACES) * 64, 64);
		ops[i] = op(OP_WRITE, 1, rng_below(&r, PLACES) * 64, 64);
		touched[before[i].offset / 64] = true;
	}
	footprint_init(&f, OPS);
	footprint_init(&own, OPS);
	footprint_add(&f, before, OPS, 0, false, place);
	footprint_add(&own, ops, OPS, 0, false, place);
	n = footprint_late(&f, ops, OPS, 0, place, late);
	for (unsigned i = 0, k = 0; i < OPS; i++) {
		bool waits = k < n && late[k] == i;

		k += waits;
		missed = missed || (touched[ops[i].offset / 64] && !waits);
		needless += waits && !touched[ops[i].offset / 64];
	}
	TEST(!missed && needless < OPS / 20);
}

int main(void)
{
	rules();
	at_random();
	return test_end();
}
