/* SPDX-License-Identifier: BSD-2-Clause */
#include "ask.h"

#include <stdlib.h>
#include <string.h>

#include "crew.h"
#include "reach.h"
#include "remote.h"

enum {
	COPIES_UNKNOWN = 4, /* dta.md 3: N unknown */
};

struct ask {
	struct places *places;
	struct query_rule rule;
	bool fell; /* a collector can no longer be reached */
	uint8_t answer[QUERY_BATCH], agreed[QUERY_BATCH];
	uint8_t batch[QUERY_BATCH * TABLE_VALUE_MAX];
};

struct ask *ask_open(struct places *p, const struct query_rule *rule)
{
	struct ask *a = malloc(sizeof(*a));

	if (!a)
		cli_fail("out of memory");
	a->places = p;
	a->fell = false;
	a->rule = *rule;
	return a;
}

void ask_close(struct ask *a)
{
	free(a);
}

void ask_copies(struct ask *a, uint8_t copies)
{
	a->rule.copies = copies;
}

/* Keys asked at one place. */
struct round {
	struct view view;
	struct query_rule rule;
	const uint8_t *const *keys;
	struct reply *const *reply;
	size_t n;
};

/* One key, in full: also the number of copies that matched. */
static void keywrite_one(const struct round *r, size_t i)
{
	struct reply *out = r->reply[i];
	struct keywrite_answer one;

	keywrite_query(&one, &r->view, &r->rule, r->keys[i]);
	out->answer = one.answer;
	out->agreed = one.agreed;
	out->matched = one.matched;
	if (one.matched)
		memcpy(out->value, one.value, r->view.t->value_len);
}

static void keywrite_round(struct ask *a, const struct round *r)
{
	size_t len = r->view.t->value_len;

	if (!r->view.mem) {
		for (size_t i = 0; i < r->n; i++)
			keywrite_one(r, i);
		return;
	}
	keywrite_query_batch(&r->view, &r->rule, r->keys, r->n, a->answer,
			     a->agreed, a->batch);
	for (size_t i = 0; i < r->n; i++) {
		struct reply *out = r->reply[i];

		out->answer = (enum answer)a->answer[i];
		out->agreed = out->matched = a->agreed[i];
		if (out->answer == ANSWER_NOT_FOUND)
			continue;
		memcpy(out->value, a->batch + i * len, len);
		/* More may have matched than agreed: the batch does not tell.
		 */
		if (out->agreed < r->rule.copies)
			keywrite_one(r, i);
	}
}

static void path_round(const struct round *r)
{
	for (size_t i = 0; i < r->n; i++) {
		struct reply *out = r->reply[i];

		path_query(&out->path, &r->view, &r->rule, r->keys[i]);
		out->answer = out->path.answer;
		out->agreed = out->path.agreed;
	}
}

static void count_round(const struct round *r)
{
	for (size_t i = 0; i < r->n; i++) {
		struct reply *out = r->reply[i];

		if (count_query(&out->count, &r->view, r->rule.copies,
				r->keys[i]) < 0)
			out->answer = ANSWER_UNREADABLE;
		else /* nothing was ever counted */
			out->answer = out->count ? ANSWER_FOUND
						 : ANSWER_NOT_FOUND;
	}
}

static void ask_round(struct ask *a, struct round *r)
{
	const struct table *t = r->view.t;

	if (!r->rule.copies)
		r->rule.copies = t->kind == TABLE_KEYINC ? t->copies
							 : COPIES_UNKNOWN;
	for (size_t i = 0; i < r->n; i++)
		r->reply[i]->copies = r->rule.copies;
	if (t->kind == TABLE_KEYWRITE)
		keywrite_round(a, r);
	else if (t->kind == TABLE_POSTCARD)
		path_round(r);
	else
		count_round(r);
}

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
			if (!s->remote) /* which said which */
				r->epoch = at->epoch;
			continue;
		}
		r->unreadable |= r->answer == ANSWER_UNREADABLE;
		key[left] = key[i];
		of[left++] = r;
	}
	return left;
}

/* Where it has to be read over a network, all slots of all keys at once. */
static bool ask_reach(struct ask *a, struct round *r, unsigned source)
{
	struct reach *reach = a->places->source[source].reach;

	reach_plan(reach);
	ask_round(a, r);
	reach_fetch(reach);
	ask_round(a, r);
	reach_done(reach);
	a->fell = places_fell(a->places, source);
	return !a->fell;
}

/* Keys at one place; false if the table is not there. */
static bool ask_place(struct ask *a, const struct target *t, unsigned place,
		      const uint8_t *const *key, size_t n,
		      struct reply *const *of)
{
	const struct place *at = &a->places->place[place];
	const struct source *s = &a->places->source[at->source];
	struct round r = {.rule = a->rule, .keys = key, .reply = of, .n = n};
	struct fault f = {0};

	if (!s->remote) {
		if (!target_view(&r.view, a->places, t, place))
			return false;
		if (s->reach)
			return ask_reach(a, &r, at->source);
		ask_round(a, &r);
		return true;
	}
	if (!t->in[at->source])
		return false;
	if (remote_ask(s->remote, t->in[at->source], &a->rule, at->from,
		       at->epoch, key, n, of, &f) == 0)
		return true;
	crew_lose(a->places, at->source, f.text);
	a->fell = true;
	return false;
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
	if (!left || !crew_incomplete(p->crew))
		return;
	crew_failed_set(p->crew);
	for (size_t i = 0; i < n; i++)
		if (reply[i]->answer == ANSWER_NOT_FOUND)
			reply[i]->answer = ANSWER_UNREADABLE;
}

static void ask_crew(struct ask *a, const struct target *t,
		     const uint8_t *const *keys, size_t n,
		     struct reply *const *reply)
{
	const struct crew *crew = a->places->crew;
	uint32_t hash[QUERY_BATCH];
	bool asked[QUERY_BATCH] = {false};

	for (size_t i = 0; i < n; i++)
		hash[i] = crew_hash(crew, keys[i], t->t->key_len);
	for (size_t i = 0; i < n; i++) {
		const uint8_t *key[QUERY_BATCH];
		struct reply *of[QUERY_BATCH];
		size_t m = 0;

		for (size_t k = i; k < n && !asked[i]; k++) {
			if (asked[k] || !crew_alike(crew, hash[i], hash[k]))
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
	if (a->places->crew) {
		ask_crew(a, t, keys, n, reply);
		return;
	}
	do {
		places_refresh(a->places);
		ask_all(a, t, keys, n, reply);
		/* An epoch cleared under the queries: its answers are void. */
	} while (places_stale(a->places));
}
