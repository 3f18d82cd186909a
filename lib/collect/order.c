/* SPDX-License-Identifier: BSD-2-Clause */
/* order.c - what is done of batches one after the other, in their order. */
#include "collect/team_private.h"

/* The numbers of reports before an item, from k on. Returns the next one. */
static size_t judge_numbers(struct collect_team *c, const struct batch *b,
			    size_t k, size_t before)
{
	for (; k < b->numbers && b->number[k].item < before; k++) {
		const struct batch_number *number = &b->number[k];
		struct int_from from = b->run[number->run].from;

		from.sequence = number->sequence;
		telemetry_numbers(c->t, b->item[number->item].ts_ns, &from, 1,
				  false);
	}
	return k;
}

/* The notes whose next value is of the earliest view; NULL: there is none. */
static struct notes *earliest(struct collect_team *c, struct worker *w,
			      const size_t at[TELEMETRY_SHARDS_MAX],
			      unsigned *shard)
{
	struct notes *first = NULL;
	uint32_t item = UINT32_MAX;

	for (unsigned i = 0; i < c->o.workers; i++) {
		struct notes *l = &w->notes[i];

		if (at[i] == l->said_n || l->said[at[i]].item >= item)
			continue;
		item = l->said[at[i]].item;
		first = l;
		*shard = i;
	}
	return first;
}

/* What is told before an item. */
static void judge_values(struct collect_team *c, struct worker *w,
			 size_t at[TELEMETRY_SHARDS_MAX], uint32_t before)
{
	struct notes *l;
	unsigned shard = 0;

	while ((l = earliest(c, w, at, &shard))) {
		uint32_t item = l->said[at[shard]].item;

		if (item >= before)
			return;
		for (; at[shard] < l->said_n && l->said[at[shard]].item == item;
		     at[shard]++)
			telemetry_shard_judge(c->t, w->batch.item[item].ts_ns,
					      &l->said[at[shard]]);
	}
}

static void judge_snapshots(struct collect_team *c, const struct batch *b)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->item[i].view)
			telemetry_shard_snapshots(c->t, b->item[i].view);
}

int order_judge(struct collect_team *c, struct worker *w)
{
	const struct batch *b = &w->batch;
	size_t at[TELEMETRY_SHARDS_MAX] = {0}, number = 0;

	/* What is looked after of reporters are numbers that are missing. */
	if (!b->runs_broken && telemetry_shard_numbers(c->t, b->run, b->runs))
		number = b->numbers;
	for (size_t k = 0; k < b->looks; k++) {
		number = judge_numbers(c, b, number, b->look[k].item);
		judge_values(c, w, at, b->look[k].item);
		telemetry_tick(c->t, b->look[k].now_ns);
	}
	judge_numbers(c, b, number, b->n);
	judge_values(c, w, at, UINT32_MAX);
	if (b->snapshots)
		judge_snapshots(c, b);
	if (b->n)
		telemetry_tick(c->t, b->item[b->n - 1].now_ns);
	return is_full(w) ? telemetry_shard_error(c->t) : telemetry_pass(c->t);
}

/* Views from item i on that stand together: of one room. */
static size_t run_of(const struct batch *b, size_t i)
{
	const struct int_view *v = b->item[i].view;
	size_t n = 0;

	while (v && i + n < b->n && b->item[i + n].view == v + n)
		n++;
	return n;
}

int order_take(struct collect_team *c, struct worker *w)
{
	const struct batch *b = &w->batch;
	size_t number = 0;
	int rc = 0;

	for (size_t i = 0, n; i < b->n && !rc; i += n) {
		n = run_of(b, i);
		w->share.views += n;
		if (n) {
			rc = telemetry_take(c->t, b->item[i].view, n);
			continue;
		}
		while (b->number[number].item < i)
			number++; /* those of views were taken with them */
		judge_numbers(c, b, number, i + 1);
		n = 1;
	}
	if (!rc)
		rc = telemetry_shard_error(c->t);
	return rc || is_full(w) ? rc : telemetry_pass(c->t);
}
