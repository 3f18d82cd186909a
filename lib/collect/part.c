/* SPDX-License-Identifier: BSD-2-Clause */
/* part.c - the part that a worker's shard takes of the batches of all. */
#include <errno.h>
#include <stdlib.h>

#include "collect/team_private.h"

enum {
	LINE = 64,
	SOON = 4, /* views between asking for their flows' memory and its use */
	WORDS = 1024, /* that are told, room for so many to begin with */
};

/* Room for what n more views tell. */
static int make_room(struct notes *l, const struct int_view *v, size_t n)
{
	size_t need = l->used;
	uint32_t *word;

	for (size_t i = 0; i < n; i++)
		need += telemetry_shard_words(&v[i]);
	if (need <= l->room)
		return 0;
	need += need / 2 + WORDS;
	if (!(word = realloc(l->word, need * sizeof(*word))))
		return -ENOMEM;
	l->word = word;
	l->room = need;
	return 0;
}

/* What is to be looked after before item i. Returns the next of look[]. */
static size_t look_after(struct worker *w, const struct worker *of, size_t next,
			 uint64_t i)
{
	const struct batch *b = &of->batch;

	for (; next < b->looks && b->look[next].item <= i; next++) {
		seat_sit(w->seat, 2 * (of->before + b->look[next].item));
		telemetry_shard_time(w->shard, b->look[next].now_ns, true);
	}
	return next;
}

static void read_one(struct worker *w, const struct worker *of, size_t j,
		     const struct batch_share *p)
{
	const struct batch *b = &of->batch;
	struct telemetry_turn *turn = &w->turn[j];

	batch_view(p, &w->view[j]);
	turn->hash = p->hash;
	turn->number = of->before + p->item + 1;
	turn->now_ns = p->ts_ns > b->from_ns ? p->ts_ns : b->from_ns;
	if (p->kept & BATCH_LATE)
		turn->now_ns = b->item[p->item].now_ns;
	telemetry_shard_find(w->shard, turn->hash);
}

/* The hops of a view that is soon to be taken. */
static void want_hops(const struct batch_share *p)
{
	size_t size = (size_t)p->hops * p->len;

	if (p->kept & BATCH_KEPT)
		return;
	for (size_t at = 0; at < size; at += LINE)
		__builtin_prefetch(p->data + at);
}

/* The shard's n next views of a batch. */
static void read_some(struct worker *w, const struct worker *of,
		      const struct batch_share *p, size_t n)
{
	for (size_t j = 0; j < n; j++)
		read_one(w, of, j, &p[j]);
	for (size_t j = 0; j < n && j < SOON; j++)
		telemetry_shard_want(w->shard, &w->view[j], w->turn[j].hash);
}

/* How many of n views are of one flow, and none of them behind item `before`.
 */
static size_t train_of(const struct worker *w, const struct batch_share *p,
		       size_t j, size_t n, uint32_t before)
{
	size_t k = j + 1;

	while (k < n && w->turn[k].hash == w->turn[j].hash &&
	       p[k].item < before)
		k++;
	return k - j;
}

/* Takes those that were read; `more` views come behind them, whose hops are
 * asked for meanwhile. Returns the next of look[]. */
static size_t take_some(struct worker *w, struct worker *of,
			const struct batch_share *p, size_t n, size_t more,
			size_t looked)
{
	const struct batch *b = &of->batch;
	struct notes *l = &of->notes[w->number];
	uint32_t *word = l->word + l->used;

	for (size_t j = 0, k; j < n; j += k) {
		uint32_t i = p[j].item, before = UINT32_MAX;

		looked = look_after(w, of, looked, i);
		if (looked < b->looks)
			before = b->look[looked].item;
		seat_sit(w->seat, 2 * (of->before + i) + 1);
		k = train_of(w, p, j, n, before);
		k = telemetry_shard_take(w->shard, &w->view[j], &w->turn[j], k,
					 &word);
		for (size_t q = j; q < j + k && q < more; q++)
			want_hops(&p[n + q]);
		for (size_t q = j + SOON; q < j + SOON + k && q < n; q++)
			telemetry_shard_want(w->shard, &w->view[q],
					     w->turn[q].hash);
		w->share.views += k;
		w->share.late += w->seat->late;
		w->seat->late = false;
	}
	l->used = (size_t)(word - l->word);
	return looked;
}

int part_take(struct worker *w, struct worker *of)
{
	const struct batch *b = &of->batch;
	const struct batch_shares *p = &b->part[w->number];
	struct notes *l = &of->notes[w->number];
	size_t looked = 0, n;
	int rc = 0;

	l->used = 0;
	for (size_t k = 0; k < p->n && k < CHUNK; k++)
		want_hops(&p->share[k]);
	for (size_t k = 0; k < p->n && !rc; k += n) {
		n = p->n - k < CHUNK ? p->n - k : CHUNK;
		read_some(w, of, p->share + k, n);
		if (!(rc = make_room(l, w->view, n)))
			looked = take_some(w, of, p->share + k, n, p->n - k - n,
					   looked);
	}
	look_after(w, of, looked, UINT32_MAX);
	seat_sit(w->seat, 2 * (of->before + b->n));
	if (b->n && !is_full(of))
		telemetry_pass(w->shard);
	return rc ? rc : telemetry_shard_error(w->shard);
}

/* What the shard's views of a batch tell that is to be judged. */
static int sift_part(struct worker *w, struct worker *of)
{
	const struct batch_shares *p = &of->batch.part[w->number];
	struct notes *l = &of->notes[w->number];
	struct said *out;
	const uint32_t *word = l->word;

	if (l->said_room < l->used) {
		if (!(out = realloc(l->said, l->room * sizeof(*out))))
			return -ENOMEM;
		l->said = out;
		l->said_room = l->room;
	}
	out = l->said;
	for (size_t k = 0; k < p->n; k++)
		word = telemetry_shard_sift(w->shard, word, p->share[k].item,
					    &out);
	l->said_n = (size_t)(out - l->said);
	return 0;
}

int part_sift(struct collect_team *c, struct worker *w)
{
	bool asked;
	int rc = 0;

	telemetry_shard_compare(w->shard);
	for (unsigned i = 0; i < c->o.workers; i++) {
		const struct batch *b = &c->worker[i]->batch;

		for (size_t k = 0; k < b->looks; k++)
			telemetry_shard_look(w->shard, b->look[k].now_ns);
	}
	asked = telemetry_shard_is_asked(w->shard) && !error_of(c);
	for (unsigned i = 0; i < c->o.workers; i++) {
		c->worker[i]->notes[w->number].said_n = 0;
		if (asked && !rc)
			rc = sift_part(w, c->worker[i]);
		w->share.judged += c->worker[i]->notes[w->number].said_n;
	}
	return rc ? rc : telemetry_shard_error(w->shard);
}
