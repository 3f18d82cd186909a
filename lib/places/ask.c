/* SPDX-License-Identifier: BSD-2-Clause */
#include "places/ask.h"

/* Puts the keys that are still without an answer in front; their number. */
static size_t still_open(const struct place *at, const struct places *p,
			 const uint8_t **key, struct reply **of, size_t n)
{
	const struct source *s = &p->source[at->source];
	size_t left = 0;

	for (size_t i = 0; i < n; i++) {
		struct reply *r = of[i];

		if (r->answer == ANSWER_FOUND ||
		    r->answer == ANSWER_AMBIGUOUS) {
			r->source = s->name;
			r->epoch = at->epoch;
			continue;
		}
		r->unreadable |= r->answer == ANSWER_UNREADABLE;
		key[left] = key[i];
		of[left++] = r;
	}
	return left;
}

/* Keys at one place; false if the table is not there, or no longer. */
static bool ask_place(struct ask *a, const struct target *t, unsigned place,
		      const uint8_t *const *key, size_t n,
		      struct reply *const *of)
{
	struct view view;

	if (!target_view(&view, a->places, t, place))
		return false;
	query_keys(&view, &a->rule, key, n, of);
	a->fell = places_fell(a->places, a->places->place[place].source);
	return !a->fell;
}

/* Counters of all places: each has its own. Returns how many are 0. */
static size_t sum_all(struct ask *a, const struct target *t,
		      const uint8_t *const *keys, size_t n,
		      struct reply *const *reply)
{
	uint64_t sum[QUERY_BATCH] = {0};
	size_t left = 0;

	for (unsigned p = 0; p < a->places->n && !a->fell; p++) {
		if (place_repeats(a->places, p) ||
		    !ask_place(a, t, p, keys, n, reply))
			continue;
		for (size_t i = 0; i < n; i++) {
			reply[i]->unreadable |= reply[i]->answer ==
						ANSWER_UNREADABLE;
			if (reply[i]->answer == ANSWER_FOUND)
				sum[i] += reply[i]->count;
		}
	}
	for (size_t i = 0; i < n; i++) {
		reply[i]->count = sum[i];
		reply[i]->answer = reply[i]->unreadable ? ANSWER_UNREADABLE
				   : sum[i]		? ANSWER_FOUND
							: ANSWER_NOT_FOUND;
		left += !sum[i];
	}
	return left;
}

/* Through the places, with fewer and fewer keys. Those without an answer are
 * unreadable if something was, not found else. Returns how many they are. */
static size_t ask_all(struct ask *a, const struct target *t,
		      const uint8_t *const *keys, size_t n,
		      struct reply *const *reply)
{
	const uint8_t *key[QUERY_BATCH];
	struct reply *of[QUERY_BATCH];
	size_t left = n;

	for (size_t i = 0; i < n; i++) {
		key[i] = keys[i];
		of[i] = reply[i];
		of[i]->answer = ANSWER_NOT_FOUND;
		of[i]->agreed = of[i]->matched = of[i]->copies = 0;
		of[i]->unreadable = false;
		of[i]->source = NULL;
	}
	if (a->sum)
		return sum_all(a, t, keys, n, reply);
	for (unsigned p = 0; p < a->places->n && left && !a->fell; p++)
		if (ask_place(a, t, p, key, left, of))
			left = still_open(&a->places->place[p], a->places, key,
					  of, left);
	for (size_t i = 0; i < left; i++)
		of[i]->answer = of[i]->unreadable ? ANSWER_UNREADABLE
						  : ANSWER_NOT_FOUND;
	return left;
}

/* Keys with the same owners. What falls away on the way is asked no more. */
static void ask_alike(struct ask *a, const struct target *t,
		      const uint8_t *const *keys, size_t n,
		      struct reply *const *reply)
{
	struct places *p = a->places;
	size_t left;

	do {
		a->fell = false;
		places_of_key(p, keys[0], t->t->key_len);
		left = ask_all(a, t, keys, n, reply);
	} while (a->fell || places_stale(p));
	if ((!left && !a->sum) || !places_incomplete(p))
		return;
	collectors_failed_set(p->collectors);
	for (size_t i = 0; i < n; i++)
		if (a->sum || reply[i]->answer == ANSWER_NOT_FOUND)
			reply[i]->answer = ANSWER_UNREADABLE;
}

static void ask_cluster(struct ask *a, const struct target *t,
			const uint8_t *const *keys, size_t n,
			struct reply *const *reply)
{
	const struct collectors *c = a->places->collectors;
	uint32_t hash[QUERY_BATCH];
	bool asked[QUERY_BATCH] = {false};

	for (size_t i = 0; i < n; i++)
		hash[i] = collectors_hash(c, keys[i], t->t->key_len);
	for (size_t i = 0; i < n; i++) {
		const uint8_t *key[QUERY_BATCH];
		struct reply *of[QUERY_BATCH];
		size_t m = 0;

		for (size_t k = i; k < n && !asked[i]; k++) {
			if (asked[k] || !collectors_alike(c, hash[i], hash[k]))
				continue;
			asked[k] = k != i;
			key[m] = keys[k];
			of[m++] = reply[k];
		}
		if (m)
			ask_alike(a, t, key, m, of);
	}
}

void ask_keys(struct ask *a, const struct target *t, const uint8_t *const *keys,
	      size_t n, struct reply *const *reply)
{
	if (a->places->collectors) {
		places_refresh(a->places);
		ask_cluster(a, t, keys, n, reply);
		return;
	}
	do {
		a->fell = false;
		places_refresh(a->places);
		ask_all(a, t, keys, n, reply);
		/* An epoch cleared under the queries: its answers are void. */
	} while (!a->fell && places_stale(a->places));
}
