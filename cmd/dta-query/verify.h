/* SPDX-License-Identifier: BSD-2-Clause */
/* verify.h - answers against the truth: what the kinds of tables share. */
#ifndef QUERY_VERIFY_H
#define QUERY_VERIFY_H

#include "fleet/ask.h"
#include "options.h"
#include "truth.h"

enum verdict {
	VERDICT_RIGHT,
	VERDICT_WRONG,
	VERDICT_MISSING, /* also what a damaged snapshot does not tell */
	VERDICT_AMBIGUOUS,
	VERDICT_OVER, /* a counter above the sum: count-min may */
	VERDICTS,
};

/* asked is the sum of the verdicts. */
struct score {
	uint64_t asked, verdict[VERDICTS];
	uint64_t incomplete; /* paths of which not every hop was reported */
};

struct verify {
	const struct opts *o;
	struct places *p;
	struct truth *truth;
	struct rows *wrong; /* --list-wrong, or NULL */
	struct render render;
	struct rendered expected, got;
};

/* What --list-wrong tells of one. NULL and UINT64_MAX: nothing. */
struct miss {
	const char *key, *expected, *got, *source;
	uint64_t index, epoch;
};

/* Counts a verdict, and lists it if it is not right. */
void verify_count(struct verify *v, struct score *s, const struct table *t,
		  enum verdict verdict, const struct miss *m);

/* Whether a verdict is going to be listed: its texts are wanted. */
static inline bool verify_listed(const struct verify *v, enum verdict verdict)
{
	return v->wrong && verdict != VERDICT_RIGHT;
}

void verify_keys(struct verify *v, struct score *s, struct truth_table *tt);
void verify_lists(struct verify *v, struct score *s, struct truth_table *tt);

#endif
