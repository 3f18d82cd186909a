/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * footprint.h - which places a batch of operations touches, for workers that
 * carry out batches at the same time and leave what one alone would.
 *
 * A place is 64 bytes of a table. Two operations that share none may change
 * places; of those that share one, the later waits: a worker that holds the
 * footprints of all earlier batches that are not through yet carries out at
 * once what none of them touches, and the rest when they are. As additions
 * commute, they leave no footprint and wait for nobody, where nothing else is
 * done to their table and nobody is told what they found.
 *
 * Footprints are filters: now and then an operation waits that need not.
 */
#ifndef OP_FOOTPRINT_H
#define OP_FOOTPRINT_H

#include "op/op.h"

enum {
	FOOTPRINT_BITS = 17, /* at most */
	FOOTPRINT_WORDS = (1 << FOOTPRINT_BITS) / 64,
};

struct footprint {
	unsigned bits, words; /* in use */
	bool any;	      /* is set */
	/* The last two are 0 and all ones: for what never and always waits. */
	uint64_t word[FOOTPRINT_WORDS + 2] __attribute__((aligned(64)));
};

/* For a batch that meets so many operations of others, at most; empty. */
void footprint_init(struct footprint *f, size_t most);
void footprint_clear(struct footprint *f);

/*
 * Adds what n operations touch. place[] gets what footprint_late() wants to
 * know of each. whole: tables, a bit each, of numbers below 64, whose
 * operations all wait: they are to be carried out in order; as where there are
 * additions and others. told: somebody is told what was there before additions:
 * they touch their places as all others do.
 */
void footprint_add(struct footprint *f, const struct op *ops, size_t n,
		   uint64_t whole, bool told, uint32_t *place);

/* Adds what another has. */
void footprint_join(struct footprint *f, const struct footprint *other);

/*
 * The numbers of those of n operations that must wait, in order, to late[], and
 * how many they are: what touches a place in f; what wakes the collector; what
 * is for tables in whole. f: of the earlier batches; what waits is added, so
 * that later ones do not overtake it.
 */
unsigned footprint_late(struct footprint *f, const struct op *ops, size_t n,
			uint64_t whole, const uint32_t *place, uint16_t *late);

#endif
