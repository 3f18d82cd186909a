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
	const struct truth_key *want[QUERY_BATCH];
	int rc[QUERY_BATCH]; /* why there is no sum of a counter */
	size_t n;
};

enum {
	BATCHES = 4,
	PART = BATCHES * QUERY_BATCH,
};

struct verify_part {
	struct verifying w;
	struct score score;
	unsigned used; /* batches */
	struct batch batch[BATCHES];
};

static void add(struct batch *b, const struct truth_key *want,
		const uint8_t *key)
{
	b->key[b->n] = key;
	b->want[b->n++] = want;
}

static void judge(struct verifying *w, struct batch *b)
{
	const struct table *t = w->truth->t;

	for (size_t i = 0; i < b->n; i++) {
		const struct truth_key *want = b->want[i];

		verify_note(
			w, &(struct verify_miss){
				   .t = t,
				   .verdict = verdict_of(t, want, &b->reply[i]),
				   .key = b->key[i],
				   .want = want,
				   .got = &b->reply[i],
			   });
	}
}

static void ask_batch(struct verifying *w, unsigned copies, struct batch *b)
{
	struct ask ask = {.places = w->v->places, .rule = w->v->rule};
	struct reply *reply[QUERY_BATCH];

	if (!ask.rule.copies)
		ask.rule.copies = (uint8_t)copies;
	for (size_t i = 0; i < b->n; i++)
		reply[i] = &b->reply[i];
	ask_keys(&ask, &w->target, b->key, b->n, reply);
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
				     copies ? copies : b->want[i]->copies,
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

void verify_walk_open(struct verify_walk *walk, const struct truth_table *tt)
{
	*walk = (struct verify_walk){.keys = truth_keys(tt)};
	truth_walk_open(&walk->at, tt);
	/* Of counters, they are asked together. */
	walk->left = tt->t->kind == TABLE_KEYINC ? walk->keys > 0
						 : truth_copies(tt);
}

bool verify_walk_next(struct verify_walk *walk, struct verify_range *r)
{
	size_t keys = walk->keys - walk->at.at;

	if (!walk->left)
		return false;
	*r = (struct verify_range){
		.copies = (unsigned)__builtin_ctz(walk->left),
		.from = walk->at,
		.keys = keys < PART ? keys : PART,
	};
	if (r->keys < keys) {
		truth_walk_skip(&walk->at, r->keys);
	} else {
		truth_walk_open(&walk->at, walk->at.tt);
		walk->left &= walk->left - 1;
	}
	return true;
}

/* The keys that were stored in so many copies: no more are to be asked. */
static bool is_among(struct verifying *w, const struct truth_key *k,
		     unsigned copies)
{
	return !copies || (k->copies == copies && is_asked(w, k));
}

int verify_part_ask(struct verify_part *p, const struct verify_range *r)
{
	struct truth_walk walk = r->from;
	struct batch *b = p->batch;

	for (unsigned i = 0; i < BATCHES; i++)
		b[i].n = 0;
	for (size_t i = 0; i < r->keys; i++) {
		const uint8_t *key;
		const struct truth_key *want = truth_walk_next(&walk, &key);

		if (!is_among(&p->w, want, r->copies))
			continue;
		add(b, want, key);
		b += b->n == QUERY_BATCH;
	}
	for (b = p->batch; b < p->batch + BATCHES && b->n; b++) {
		if (r->copies)
			ask_batch(&p->w, r->copies, b);
		else
			count_batch(&p->w, b);
		if (p->w.v->places->gone)
			return -EIO;
	}
	return 0;
}

void verify_part_judge(struct verify_part *p)
{
	for (unsigned i = 0; i < BATCHES; i++)
		judge(&p->w, &p->batch[i]);
}

const struct score *verify_part_score(const struct verify_part *p)
{
	return &p->score;
}

int verify_part_open(struct verify_part **out, const struct verify *v,
		     const struct truth_table *tt, struct verify_at at)
{
	struct verify_part *p = calloc(1, sizeof(*p));
	const struct source *s = &v->places->source[at.source];

	if (!p)
		return -ENOMEM;
	p->w = (struct verifying){.v = v, .truth = tt, .s = &p->score};
	if (at.source >= v->places->sources || at.table >= source_tables(s)) {
		free(p);
		return -ENOENT;
	}
	target_of(&p->w.target, v->places, at.source,
		  source_table(s, at.table));
	*out = p;
	return 0;
}

void verify_part_close(struct verify_part *p)
{
	free(p);
}

int verify_keys(const struct verify *v, const struct truth_table *tt,
		struct verify_at at, struct score *s)
{
	struct verify_walk walk;
	struct verify_range r;
	struct verify_part *p;
	int rc = verify_part_open(&p, v, tt, at);

	if (rc < 0)
		return rc;
	verify_walk_open(&walk, tt);
	while (!rc && !*v->stop && verify_walk_next(&walk, &r)) {
		rc = verify_part_ask(p, &r);
		if (!rc)
			verify_part_judge(p);
	}
	score_add(s, &p->score);
	verify_part_close(p);
	return rc;
}
