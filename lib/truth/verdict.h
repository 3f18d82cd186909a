/* SPDX-License-Identifier: BSD-2-Clause */
/* verdict.h - an answer against the truth. */
#ifndef TRUTH_VERDICT_H
#define TRUTH_VERDICT_H

#include "query/query.h"
#include "truth/truth.h"

enum verdict {
	VERDICT_RIGHT,
	VERDICT_WRONG,
	VERDICT_MISSING, /* also what a damaged snapshot does not tell */
	VERDICT_AMBIGUOUS,
	VERDICT_OVER, /* a counter above the sum: count-min may */
	VERDICTS,
};

/* "right", "wrong", "missing", "ambiguous", "over". */
const char *verdict_name(enum verdict v);

/*
 * Of a key of any table but Append. A path is right if it is whole, and no
 * shorter or longer than the one that was reported: a chunk too short for it
 * holds none that is right.
 */
enum verdict verdict_of(const struct table *t, const struct truth_key *want,
			const struct reply *r);

/* asked is the sum of the verdicts. */
struct score {
	uint64_t asked, verdict[VERDICTS];
	uint64_t incomplete;  /* paths not asked for: a hop was not reported */
	uint64_t too_long;    /* paths, of both, above the table's hops */
	uint64_t overwritten; /* list entries not asked for: the rings have room
				 for newer ones only */
};

void score_add(struct score *to, const struct score *s);

#endif
