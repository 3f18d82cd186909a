/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys of any kind of table, in batches. */
#include <string.h>

#include "query/query.h"

enum {
	COPIES_UNKNOWN = 4, /* dta.md 3: N unknown */
	VALUES_ROOM = 16384,
};

/* Keys asked of one table. */
struct round {
	const struct view *view;
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

	keywrite_query(&one, r->view, &r->rule, r->keys[i]);
	out->answer = one.answer;
	out->agreed = one.agreed;
	out->matched = one.matched;
	out->unreadable |= one.unreadable > 0;
	if (one.matched)
		memcpy(out->value, one.value, r->view->t->value_len);
}

/* Keys [from, from + n) of mapped memory. */
static void keywrite_some(const struct round *r, size_t from, size_t n)
{
	uint8_t answer[QUERY_BATCH], agreed[QUERY_BATCH], values[VALUES_ROOM];
	size_t len = r->view->t->value_len;

	keywrite_query_batch(r->view, &r->rule, r->keys + from, n, answer,
			     agreed, values);
	for (size_t i = 0; i < n; i++) {
		struct reply *out = r->reply[from + i];

		out->answer = (enum answer)answer[i];
		out->agreed = out->matched = agreed[i];
		if (out->answer == ANSWER_NOT_FOUND)
			continue;
		memcpy(out->value, values + i * len, len);
		/* More may have matched than agreed: the batch does not tell.
		 */
		if (out->agreed < r->rule.copies)
			keywrite_one(r, from + i);
	}
}

static void keywrite_round(const struct round *r)
{
	size_t most = VALUES_ROOM / r->view->t->value_len;

	if (most > QUERY_BATCH)
		most = QUERY_BATCH;
	for (size_t i = 0; i < r->n && r->view->mem; i += most)
		keywrite_some(r, i, r->n - i < most ? r->n - i : most);
	for (size_t i = 0; i < r->n && !r->view->mem; i++)
		keywrite_one(r, i);
}

static void path_round(const struct round *r)
{
	for (size_t i = 0; i < r->n; i++) {
		struct reply *out = r->reply[i];

		path_query(&out->path, r->view, &r->rule, r->keys[i]);
		out->answer = out->path.answer;
		out->agreed = out->path.agreed;
		out->unreadable |= out->path.unreadable > 0;
	}
}

static void count_round(const struct round *r)
{
	for (size_t i = 0; i < r->n; i++) {
		struct reply *out = r->reply[i];

		if (count_query(&out->count, r->view, r->rule.copies,
				r->keys[i]) < 0)
			out->answer = ANSWER_UNREADABLE;
		else /* nothing was ever counted */
			out->answer = out->count ? ANSWER_FOUND
						 : ANSWER_NOT_FOUND;
	}
}

static void ask(const struct round *r)
{
	if (r->view->t->kind == TABLE_KEYWRITE)
		keywrite_round(r);
	else if (r->view->t->kind == TABLE_POSTCARD)
		path_round(r);
	else
		count_round(r);
}

void query_keys(const struct view *v, const struct query_rule *rule,
		const uint8_t *const *keys, size_t n,
		struct reply *const *reply)
{
	struct round r = {v, *rule, keys, reply, n};

	if (!r.rule.copies)
		r.rule.copies = v->t->kind == TABLE_KEYINC ? v->t->copies
							   : COPIES_UNKNOWN;
	for (size_t i = 0; i < n; i++)
		reply[i]->copies = r.rule.copies;
	if (v->mem || !v->memory->far) {
		ask(&r);
		return;
	}
	/* Where the slots of a key are does not depend on what is in them. */
	memory_plan(v->memory);
	ask(&r);
	memory_fetch(v->memory);
	ask(&r);
	memory_done(v->memory);
}
