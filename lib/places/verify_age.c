/* SPDX-License-Identifier: BSD-2-Clause */
#include "places/verify_age.h"

#include <errno.h>
#include <stdlib.h>

#include "model/plan.h"

enum {
	CHECKSUM_BITS = 32, /* of slots, and of hops */
};

/* A key, by its last report; and the slots that it and the keys before it have
 * written, of those that did not come again. */
struct verify_when {
	uint64_t last;
	uint64_t written;
	unsigned copies;
};

static int by_last(const void *a, const void *b)
{
	const struct verify_when *x = a, *y = b;

	return (x->last > y->last) - (x->last < y->last);
}

static void put_in_order(struct verify_age *a, const struct truth_table *tt)
{
	uint64_t written = 0;
	struct truth_walk walk;
	const uint8_t *key;

	truth_walk_open(&walk, tt);
	for (size_t i = 0; i < a->n; i++) {
		const struct truth_key *k = truth_walk_next(&walk, &key);

		a->when[i] = (struct verify_when){
			.last = k->last,
			.copies = (unsigned)k->copies,
		};
		if (i == 0)
			a->copies = a->when[i].copies;
		else if (a->copies != a->when[i].copies)
			a->copies = 0;
	}
	qsort(a->when, a->n, sizeof(*a->when), by_last);
	for (size_t i = 0; i < a->n; i++) {
		written += a->when[i].copies;
		a->when[i].written = written;
	}
}

int verify_age_open(struct verify_age *a, const struct truth_table *tt,
		    const struct query_rule *rule, double values, unsigned bins)
{
	const struct table *t = tt->t;
	size_t n = truth_keys(tt);

	*a = (struct verify_age){
		.t = t,
		.load = (double)n / (double)t->units,
		.bins = bins,
		.bin = calloc(bins, sizeof(*a->bin)),
		.pass = t->kind == TABLE_POSTCARD
				? plan_pass_postcard(CHECKSUM_BITS, values,
						     t->hops)
				: plan_pass_keywrite(CHECKSUM_BITS),
		.asked = rule->copies,
		.n = n,
		.when = calloc(n + 1, sizeof(*a->when)),
	};
	if (!a->bin || !a->when)
		return -ENOMEM;
	put_in_order(a, tt);
	return 0;
}

void verify_age_close(struct verify_age *a)
{
	free(a->bin);
	free(a->when);
	a->bin = NULL;
	a->when = NULL;
}

void verify_age_note(struct verify_age *a, const struct verify_miss *m)
{
	const struct verify_when key = {.last = m->want->last};
	const struct verify_when *w = bsearch(&key, a->when, a->n,
					      sizeof(*a->when), by_last);
	size_t younger;
	struct verify_bin *b;
	unsigned copies;
	double after;

	if (!w)
		return;
	younger = a->n - 1 - (size_t)(w - a->when);
	b = &a->bin[younger * a->bins / a->n];
	copies = a->asked && a->asked < w->copies ? a->asked : w->copies;
	/* Slots written since, for each slot. plan_at() multiplies by the
	 * copies, which need not be those of the others. */
	after = (double)(a->when[a->n - 1].written - w->written) /
		(double)a->t->units;
	b->score.asked++;
	b->score.verdict[m->verdict]++;
	b->planned += plan_at(copies, after / copies, a->pass).success;
}
