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
#include "truth/verdict.h"

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
	/* Is told of each miss, in order; NULL: nobody is. all: of every
	 * answer.
	 */
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

/*
 * The same by several, for a table that is none of lists: each has a part, in
 * places of its own. walk: which keys are to be asked next, by one at a time.
 * ask: by anyone at any time; 0 or -EIO. judge: what was asked, into the part's
 * score, and to v->miss; in the order of the ranges, if somebody is told.
 */
struct verify_walk {
	struct truth_walk at;
	size_t keys;
	uint32_t left; /* copies, a bit each */
};

struct verify_range {
	struct truth_walk from;
	size_t keys;	 /* so many of the truth's */
	unsigned copies; /* those with so many; 0: all */
};

/* A table of places, by its numbers: others that were opened by the same
 * options have it there, too. */
struct verify_at {
	unsigned source, table;
};

struct verify_part;

struct verify_at verify_at(const struct places *p, const struct table *t);
void verify_walk_open(struct verify_walk *walk, const struct truth_table *tt);
bool verify_walk_next(struct verify_walk *walk, struct verify_range *r);

/* v->places are the part's. 0, -ENOMEM; -ENOENT: there is no such table. */
int verify_part_open(struct verify_part **out, const struct verify *v,
		     const struct truth_table *tt, struct verify_at at);
int verify_part_ask(struct verify_part *p, const struct verify_range *r);
void verify_part_judge(struct verify_part *p);
const struct score *verify_part_score(const struct verify_part *p);
void verify_part_close(struct verify_part *p);

#endif
