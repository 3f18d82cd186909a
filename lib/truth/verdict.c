/* SPDX-License-Identifier: BSD-2-Clause */
#include "truth/verdict.h"

#include <string.h>

const char *verdict_name(enum verdict v)
{
	static const char *const name[VERDICTS] = {
		[VERDICT_RIGHT] = "right",
		[VERDICT_WRONG] = "wrong",
		[VERDICT_MISSING] = "missing",
		[VERDICT_AMBIGUOUS] = "ambiguous",
		[VERDICT_OVER] = "over",
	};

	return name[v];
}

static bool same_path(const struct table *t, const struct truth_key *want,
		      const struct path_answer *got)
{
	unsigned len = truth_path_len(want, t);

	return got->len == len && !got->holes &&
	       !memcmp(got->value, want->hop, len * sizeof(want->hop[0]));
}

static enum verdict of_count(uint64_t want, uint64_t got)
{
	if (got == want)
		return VERDICT_RIGHT;
	return got > want ? VERDICT_OVER
	       : got	  ? VERDICT_WRONG
			  : VERDICT_MISSING;
}

enum verdict verdict_of(const struct table *t, const struct truth_key *want,
			const struct reply *r)
{
	bool same;

	if (r->answer == ANSWER_AMBIGUOUS)
		return VERDICT_AMBIGUOUS;
	if (t->kind == TABLE_KEYINC && r->answer != ANSWER_UNREADABLE)
		return of_count(want->sum, r->count);
	if (r->answer != ANSWER_FOUND)
		return VERDICT_MISSING;
	same = t->kind == TABLE_POSTCARD
		       ? same_path(t, want, &r->path)
		       : !memcmp(r->value, want->value, t->value_len);
	return same ? VERDICT_RIGHT : VERDICT_WRONG;
}

void score_add(struct score *to, const struct score *s)
{
	to->asked += s->asked;
	to->incomplete += s->incomplete;
	to->too_long += s->too_long;
	to->overwritten += s->overwritten;
	for (int i = 0; i < VERDICTS; i++)
		to->verdict[i] += s->verdict[i];
}
