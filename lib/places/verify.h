/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify.h - everything that a truth says was reported, asked for in its
 * places, and judged. Keys are asked in as many copies as their reports were
 * stored in; counters are summed over all epochs. Of lists, the entries that
 * the rings still hold are the newest: they are compared, in order, with the
 * newest of the truth.
 */
#ifndef PLACES_VERIFY_H
#define PLACES_VERIFY_H

#include <stdatomic.h>

#include "places/places.h"
#include "truth/truth.h"

/* An answer; as a rule one that is not right. */
struct verify_miss {
	const struct table *t;
	enum verdict verdict;
	/* A key: what was reported of it, and the answer. */
	const uint8_t *key; /* NULL: an entry of a list */
	const struct truth_key *want;
	const struct reply *got;
	/* An entry: its number in the truth; value_len bytes each, or NULL:
	 * the truth has let go of it, there is none. */
	uint32_t list;
	uint64_t index;
	const uint8_t *want_entry, *got_entry;
};

struct verify {
	struct places *places;
	struct query_rule rule; /* copies 0: those of the truth */
	const atomic_int *stop;
	/* Is told of each miss; NULL: nobody is. all: of every answer. */
	void (*miss)(void *ctx, const struct verify_miss *m);
	bool all;
	void *ctx;
};

/*
 * The tables of the places, for truth_init(): *out is to be freed. Returns how
 * many, or -ENOMEM.
 */
int verify_tables(const struct table *const **out, const struct places *p);

/*
 * What the truth has of a table, which is one of the places'. Adds to *s.
 * Returns 0; -ENOMEM; -EIO: the only source can no longer be read, see
 * places->gone.
 */
int verify_table(const struct verify *v, const struct truth_table *tt,
		 struct score *s);

#endif
