/* SPDX-License-Identifier: BSD-2-Clause */
/* verify: Key-Write, Postcard and Key-Increment, key by key. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sources.h"
#include "verify.h"

/* A batch of keys, with their replies. */
struct batch {
	struct reply reply[QUERY_BATCH];
	const uint8_t *key[QUERY_BATCH];
	size_t record[QUERY_BATCH]; /* numbers in the map */
	uint64_t sum[QUERY_BATCH];  /* of counters, */
	int rc[QUERY_BATCH];	    /* or why there is none */
	size_t n;
	char text[KEY_TEXT_MAX];
};

static enum verdict verdict_of(const struct reply *r, bool same)
{
	switch (r->answer) {
	case ANSWER_FOUND:
		return same ? VERDICT_RIGHT : VERDICT_WRONG;
	case ANSWER_AMBIGUOUS:
		return VERDICT_AMBIGUOUS;
	default:
		return VERDICT_MISSING;
	}
}

static struct miss miss_of(struct batch *b, const struct table *t,
			   const uint8_t *key, const struct reply *r)
{
	key_format(b->text, (enum key_type)t->key_type, key, t->key_len);
	return (struct miss){
		.key = b->text,
		.index = UINT64_MAX,
		.source = r->source,
		.epoch = r->source ? r->epoch : 0,
	};
}

static void judge_keywrite(struct verify *v, struct score *s,
			   const struct truth_table *tt, struct batch *b,
			   size_t i)
{
	const struct table *t = tt->target.t;
	const struct truth_key *want = keymap_record(&tt->keys, b->record[i]);
	const struct reply *r = &b->reply[i];
	enum verdict verdict = verdict_of(
		r, !memcmp(r->value, want->value, t->value_len));
	struct miss m = {0};

	if (verify_listed(v, verdict)) {
		m = miss_of(b, t, b->key[i], r);
		m.expected = render_text(&v->render, &v->expected, want->value,
					 t->value_len);
		if (r->answer == ANSWER_FOUND)
			m.got = render_text(&v->render, &v->got, r->value,
					    t->value_len);
	}
	verify_count(v, s, t, verdict, &m);
}

/* Hops that a path must have to be whole; all of the chunk, if untold. */
static unsigned path_hops(const struct truth_key *p, const struct table *t)
{
	return p->path_len ? p->path_len : t->hops;
}

static bool path_is_whole(const struct truth_key *p, const struct table *t)
{
	unsigned all = (1u << path_hops(p, t)) - 1;

	return (p->seen & all) == all;
}

static const char *path_text(struct rendered *room, const uint32_t *value,
			     unsigned n)
{
	size_t at = 0;

	room->text[0] = '\0';
	for (unsigned i = 0; i < n; i++)
		at += (size_t)snprintf(room->text + at, sizeof(room->text) - at,
				       "%s%u", i ? "," : "", value[i]);
	return room->text;
}

static void judge_path(struct verify *v, struct score *s,
		       const struct truth_table *tt, struct batch *b, size_t i)
{
	const struct table *t = tt->target.t;
	const struct truth_key *want = keymap_record(&tt->keys, b->record[i]);
	const struct reply *r = &b->reply[i];
	unsigned hops = path_hops(want, t);
	bool same = r->answer == ANSWER_FOUND && r->path.len == hops &&
		    !r->path.holes &&
		    !memcmp(r->path.value, want->hop, 4u * hops);
	enum verdict verdict = verdict_of(r, same);
	struct miss m = {0};

	if (verify_listed(v, verdict)) {
		m = miss_of(b, t, b->key[i], r);
		m.expected = path_text(&v->expected, want->hop, hops);
		if (r->answer == ANSWER_FOUND)
			m.got = path_text(&v->got, r->path.value, r->path.len);
	}
	verify_count(v, s, t, verdict, &m);
}

static void ask_batch(struct verify *v, struct score *s, struct ask *ask,
		      struct truth_table *tt, struct batch *b)
{
	struct reply *reply[QUERY_BATCH];

	for (size_t i = 0; i < b->n; i++)
		reply[i] = &b->reply[i];
	ask_keys(ask, &tt->target, b->key, b->n, reply);
	sources_check(v->p);
	for (size_t i = 0; i < b->n; i++) {
		if (tt->target.t->kind == TABLE_KEYWRITE)
			judge_keywrite(v, s, tt, b, i);
		else
			judge_path(v, s, tt, b, i);
	}
	b->n = 0;
}

/* The keys that were stored in so many copies: no more are to be asked. */
static void ask_all(struct verify *v, struct score *s, struct truth_table *tt,
		    struct batch *b, struct ask *ask, unsigned copies)
{
	const struct table *t = tt->target.t;

	if (!v->o->rule.copies)
		ask->rule.copies = (uint8_t)copies;
	for (size_t i = 0; i < tt->keys.n && !cli_stop; i++) {
		const struct truth_key *k = keymap_record(&tt->keys, i);

		if (k->copies != copies)
			continue;
		if (t->kind == TABLE_POSTCARD && !path_is_whole(k, t)) {
			s->incomplete++;
			continue;
		}
		b->key[b->n] = keymap_key(&tt->keys, i);
		b->record[b->n++] = i;
		if (b->n == QUERY_BATCH)
			ask_batch(v, s, ask, tt, b);
	}
	if (b->n)
		ask_batch(v, s, ask, tt, b);
}

/* The sum over all epochs: each has counters of its own. */
static int count_one(uint64_t *sum, const struct verify *v,
		     const struct truth_table *tt, unsigned copies,
		     const uint8_t *key)
{
	*sum = 0;
	places_of_key(v->p, key, tt->target.t->key_len);
	for (unsigned p = 0; p < v->p->n; p++) {
		struct view view;
		uint64_t n;
		int rc;

		if (place_repeats(v->p, p) ||
		    !target_view(&view, v->p, &tt->target, p))
			continue;
		rc = count_query(&n, &view, copies, key);
		if (rc < 0) {
			places_fell(v->p, v->p->place[p].source);
			return rc;
		}
		*sum += n;
	}
	return places_incomplete(v->p) ? -EHOSTUNREACH : 0;
}

static unsigned copies_of(const struct verify *v, const struct truth_key *k)
{
	return v->o->rule.copies ? v->o->rule.copies : k->copies;
}

static void count_round(const struct verify *v, const struct truth_table *tt,
			struct batch *b)
{
	for (size_t i = 0; i < b->n; i++)
		b->rc[i] = count_one(
			&b->sum[i], v, tt,
			copies_of(v, keymap_record(&tt->keys, b->record[i])),
			b->key[i]);
}

/* All keys of a batch; if a machine is lost on the way its mirror may do. */
static void count_batch(const struct verify *v, const struct truth_table *tt,
			struct batch *b)
{
	struct collectors *c = v->p->collectors;
	unsigned lost;

	do {
		lost = c ? collectors_lost(c) : 0;
		if (places_far(v->p)) {
			places_refresh(v->p);
			places_plan(v->p);
			count_round(v, tt, b);
			places_fetch(v->p);
			count_round(v, tt, b);
			places_done(v->p);
		} else {
			count_round(v, tt, b);
		}
	} while (c && lost != collectors_lost(c));
	sources_check(v->p);
	for (size_t i = 0; i < b->n; i++)
		if (b->rc[i] == -EHOSTUNREACH)
			collectors_failed_set(c);
}

static void judge_count(struct verify *v, struct score *s,
			const struct truth_table *tt, struct batch *b, size_t i)
{
	const struct truth_key *want = keymap_record(&tt->keys, b->record[i]);
	enum verdict verdict = VERDICT_MISSING;
	uint64_t got = b->sum[i];
	struct miss m = {0};

	if (!b->rc[i])
		verdict = got == want->sum  ? VERDICT_RIGHT
			  : got > want->sum ? VERDICT_OVER
			  : got		    ? VERDICT_WRONG
					    : VERDICT_MISSING;
	if (verify_listed(v, verdict)) {
		m = miss_of(b, tt->target.t, b->key[i], &(struct reply){0});
		snprintf(v->expected.text, sizeof(v->expected.text), "%llu",
			 (unsigned long long)want->sum);
		snprintf(v->got.text, sizeof(v->got.text), "%llu",
			 (unsigned long long)got);
		m.expected = v->expected.text;
		if (verdict != VERDICT_MISSING)
			m.got = v->got.text;
	}
	verify_count(v, s, tt->target.t, verdict, &m);
}

static void judge_counts(struct verify *v, struct score *s,
			 const struct truth_table *tt, struct batch *b)
{
	for (size_t i = 0; i < tt->keys.n && !cli_stop;) {
		for (b->n = 0; b->n < QUERY_BATCH && i < tt->keys.n; i++) {
			b->key[b->n] = keymap_key(&tt->keys, i);
			b->record[b->n++] = i;
		}
		count_batch(v, tt, b);
		for (size_t k = 0; k < b->n; k++)
			judge_count(v, s, tt, b, k);
	}
}

void verify_keys(struct verify *v, struct score *s, struct truth_table *tt)
{
	struct batch *b = calloc(1, sizeof(*b));
	struct ask ask = {.places = v->p, .rule = v->o->rule};

	if (!b)
		cli_fail("out of memory");
	if (tt->target.t->kind == TABLE_KEYINC)
		judge_counts(v, s, tt, b);
	else
		for (unsigned c = 1; c <= HASH_COPIES; c++)
			ask_all(v, s, tt, b, &ask, c);
	free(b);
}
