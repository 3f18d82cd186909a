/* SPDX-License-Identifier: BSD-2-Clause */
/* verify_private.h - what verifying keys and lists shares. */
#ifndef PLACES_VERIFY_PRIVATE_H
#define PLACES_VERIFY_PRIVATE_H

#include "places/verify.h"

/* A table under verification. */
struct verifying {
	const struct verify *v;
	const struct truth_table *truth;
	struct target target;
	struct score *s;
};

/* Counts an answer, and tells of it if it is not right. */
static inline void verify_note(const struct verifying *w,
			       const struct verify_miss *m)
{
	w->s->asked++;
	w->s->verdict[m->verdict]++;
	if (w->v->miss && (w->v->all || m->verdict != VERDICT_RIGHT))
		w->v->miss(w->v->ctx, m);
}

/* 0, -ENOMEM, -EIO. */
int verify_keys(const struct verify *v, const struct truth_table *tt,
		struct verify_at at, struct score *s);
int verify_lists(struct verifying *w);

#endif
