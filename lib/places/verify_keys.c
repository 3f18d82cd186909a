/* SPDX-License-Identifier: BSD-2-Clause */
/* Key-Write, Postcard and Key-Increment against a truth, key by key. */
#include <errno.h>
#include <stdlib.h>

#include "places/ask.h"
#include "places/verify_private.h"

/* A batch of keys, with their replies. */
struct batch {
	struct reply reply[QUERY_BATCH];
	const uint8_t *key[QUERY_BATCH];
	size_t record[QUERY_BATCH]; /* numbers in the map */
	int rc[QUERY_BATCH];	    /* why there is no sum of a counter */
	size_t n;
};

static const struct truth_key *want_of(const struct verifying *w,
				       const struct batch *b, size_t i)
{
	return keymap_record(&w->truth->keys, b->record[i]);
}

static void add(const struct verifying *w, struct batch *b, size_t record)
{
	b->key[b->n] = keymap_key(&w->truth->keys, record);
	b->record[b->n++] = record;
}

/* The keys of the batch, which have their replies. -EIO as verify_table(). */
static int judge(struct verifying *w, struct batch *b)
{
	const struct table *t = w->truth->t;

	if (w->v->places->gone)
		return -EIO;
	for (size_t i = 0; i < b->n; i++) {
		const struct truth_key *want = want_of(w, b, i);

		verify_note(
			w, &(struct verify_miss){
				   .t = t,
				   .verdict = verdict_of(t, want, &b->reply[i]),
				   .key = b->key[i],
				   .want = want,
				   .got = &b->reply[i],
			   });
	}
	b->n = 0;
	return 0;
}

static int ask_batch(struct verifying *w, struct ask *ask, struct batch *b)
{
	struct reply *reply[QUERY_BATCH];

	for (size_t i = 0; i < b->n; i++)
		reply[i] = &b->reply[i];
	if (b->n)
		ask_keys(ask, &w->target, b->key, b->n, reply);
	return judge(w, b);
}

/* A path of which a hop was not reported is not asked for. */
static bool is_asked(struct verifying *w, const struct truth_key *k)
{
	const struct table *t = w->truth->t;
	bool whole;

	if (t->kind != TABLE_POSTCARD)
		return true;
	whole = truth_path_whole(k, t);
	w->s->incomplete += !whole;
	w->s->too_long += truth_path_long(k, t);
	return whole;
}

/* The keys that were stored in so many copies: no more are to be asked. */
static int ask_all(struct verifying *w, struct batch *b, unsigned copies)
{
	const struct keymap *keys = &w->truth->keys;
	struct ask ask = {.places = w->v->places, .rule = w->v->rule};
	int rc = 0;

	if (!ask.rule.copies)
		ask.rule.copies = (uint8_t)copies;
	for (size_t i = 0; i < keys->n && !*w->v->stop && !rc; i++) {
		const struct truth_key *k = keymap_record(keys, i);

		if (k->copies != copies || !is_asked(w, k))
			continue;
		add(w, b, i);
		if (b->n == QUERY_BATCH)
			rc = ask_batch(w, &ask, b);
	}
	return rc ? rc : ask_batch(w, &ask, b);
}

/* The sum over all epochs: each has counters of its own. */
static int count_one(uint64_t *sum, const struct verifying *w, unsigned copies,
		     const uint8_t *key)
{
	struct places *p = w->v->places;

	*sum = 0;
	places_of_key(p, key, w->target.t->key_len);
	for (unsigned i = 0; i < p->n; i++) {
		struct view view;
		uint64_t n;
		int rc;

		if (place_repeats(p, i) ||
		    !target_view(&view, p, &w->target, i))
			continue;
		rc = count_query(&n, &view, copies, key);
		if (rc < 0) {
			places_fell(p, p->place[i].source);
			return rc;
		}
		*sum += n;
	}
	return places_incomplete(p) ? -EHOSTUNREACH : 0;
}

static void count_round(const struct verifying *w, struct batch *b)
{
	for (size_t i = 0; i < b->n; i++) {
		unsigned copies = w->v->rule.copies;
		uint64_t sum;

		b->rc[i] = count_one(&sum, w,
				     copies ? copies : want_of(w, b, i)->copies,
				     b->key[i]);
		b->reply[i] = (struct reply){
			.answer = b->rc[i] ? ANSWER_UNREADABLE
				  : sum	   ? ANSWER_FOUND
					   : ANSWER_NOT_FOUND,
			.count = sum,
		};
	}
}

/* All keys of a batch; if a machine is lost on the way its mirror may do. */
static void count_batch(const struct verifying *w, struct batch *b)
{
	struct places *p = w->v->places;
	struct collectors *c = p->collectors;
	unsigned lost;

	do {
		lost = c ? collectors_lost(c) : 0;
		if (places_far(p)) {
			places_refresh(p);
			places_plan(p);
			count_round(w, b);
			places_fetch(p);
			count_round(w, b);
			places_done(p);
		} else {
			count_round(w, b);
		}
	} while (c && lost != collectors_lost(c));
	for (size_t i = 0; i < b->n; i++)
		if (b->rc[i] == -EHOSTUNREACH)
			collectors_failed_set(c);
}

static int count_all(struct verifying *w, struct batch *b)
{
	const struct keymap *keys = &w->truth->keys;
	int rc = 0;

	for (size_t i = 0; i < keys->n && !*w->v->stop && !rc;) {
		while (b->n < QUERY_BATCH && i < keys->n)
			add(w, b, i++);
		count_batch(w, b);
		rc = judge(w, b);
	}
	return rc;
}

int verify_keys(struct verifying *w)
{
	struct batch *b = calloc(1, sizeof(*b));
	int rc = 0;

	if (!b)
		return -ENOMEM;
	if (w->truth->t->kind == TABLE_KEYINC)
		rc = count_all(w, b);
	else
		for (unsigned c = 1; c <= HASH_COPIES && !rc; c++)
			rc = ask_all(w, b, c);
	free(b);
	return rc;
}
