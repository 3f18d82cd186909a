/* SPDX-License-Identifier: BSD-2-Clause */
/* list: entries of Append lists, oldest first, or how many there are. */
#include <stdlib.h>

#include "follow.h"
#include "list.h"
#include "run.h"

enum {
	LISTS_PER_LOOK = 256, /* at which epochs there are, on other machines */
};

enum count_field {
	COUNT_LIST,
	COUNT_WRITTEN,
	COUNT_KEPT,
	COUNT_LOST,
	COUNT_EPOCH,
	COUNT_SOURCE,
	COUNT_TABLE,
	COUNT_FIELDS,
};

static const struct row_field count_fields[COUNT_FIELDS] = {
	[COUNT_LIST] = {"list", ROW_U64, 6},
	[COUNT_WRITTEN] = {"written", ROW_U64, 12},
	[COUNT_KEPT] = {"kept", ROW_U64, 10},
	[COUNT_LOST] = {"lost", ROW_U64, 12, .good = "0"},
	[COUNT_EPOCH] = {"epoch", ROW_U64, 5},
	[COUNT_SOURCE] = {"source", ROW_STR, 8, ROW_TAG},
	[COUNT_TABLE] = {"table", ROW_STR, 8, ROW_TAG},
};

static const struct schema counts = {"list", count_fields, COUNT_FIELDS};

/* Entries that can be read now. */
static uint64_t kept(const struct view *v, uint64_t count)
{
	return count - list_oldest(v->t, count);
}

static void print_count(struct entries *e, unsigned place, const struct view *v,
			uint32_t list)
{
	const struct place *at = &e->p->place[place];
	uint64_t count = entries_count(e, place, v, list),
		 have = kept(v, count);
	struct rows *r = e->rows;

	if (!count && !e->lists)
		return;
	row_u64(r, COUNT_LIST, list);
	row_u64(r, COUNT_WRITTEN, count);
	row_u64(r, COUNT_KEPT, have);
	row_u64(r, COUNT_LOST, count - have);
	row_u64(r, COUNT_EPOCH, at->epoch);
	row_str(r, COUNT_SOURCE, e->p->source[at->source].name);
	row_str(r, COUNT_TABLE, v->t->name);
	row_write(r);
	e->printed += have;
	e->lost += count - have;
}

/*
 * Whether a place is to be listed. --from counts in one epoch: the newest, if
 * none is named.
 */
static bool place_listed(const struct entries *e, unsigned place)
{
	return !place_repeats(e->p, place) && !(e->o->from_given && place);
}

static bool list_view(struct view *v, const struct entries *e, unsigned target,
		      unsigned place, uint32_t list)
{
	return place_listed(e, place) &&
	       target_view(v, e->p, &e->targets.target[target], place) &&
	       list < v->t->lists;
}

/* Where to begin in each place: --last takes from the newest first. */
static void find_begins(struct entries *e, unsigned target, uint32_t list,
			uint64_t *begin, uint64_t *count)
{
	uint64_t left = e->o->last_given ? e->o->last : UINT64_MAX;

	for (unsigned i = 0; i < e->p->n; i++) {
		struct view v;
		uint64_t have;

		begin[i] = count[i] = 0;
		if (!list_view(&v, e, target, i, list))
			continue;
		count[i] = entries_count(e, i, &v, list);
		have = kept(&v, count[i]);
		if (!e->o->last_given) {
			begin[i] = e->o->first;
			continue;
		}
		begin[i] = count[i] - (have < left ? have : left);
		left -= count[i] - begin[i];
	}
}

/*
 * Goes to a list's places, and finds where to begin in each. A machine that
 * turns out to be lost is asked no more: its mirror may do.
 */
static void locate(struct entries *e, unsigned target, uint32_t list,
		   uint64_t **begin)
{
	do {
		e->fell = false;
		entries_of_list(e, list);
		*begin = realloc(*begin, (e->p->n + 1) * 2 * sizeof(**begin));
		if (!*begin)
			cli_fail("out of memory");
		if (!e->o->count_only || e->p->collectors)
			find_begins(e, target, list, *begin, *begin + e->p->n);
	} while (e->fell && !cli_stop);
	if (places_incomplete(e->p))
		collectors_failed_set(e->p->collectors);
}

/* One list in all epochs, oldest first: the order in which it was written. */
static void print_places(struct entries *e, unsigned target, uint32_t list)
{
	uint64_t *begin = NULL, *count;
	struct view v;

	locate(e, target, list, &begin);
	count = begin + e->p->n;
	for (unsigned i = e->p->n; i-- > 0 && !cli_stop;) {
		if (!list_view(&v, e, target, i, list))
			continue;
		if (e->o->count_only) {
			print_count(e, i, &v, list);
			continue;
		}
		if (e->o->last_given) /* what was lost is not gone through */
			e->lost += list_oldest(v.t, count[i]);
		entries_print(e, target, i, &v, list, begin[i], count[i],
			      &e->lost);
	}
	e->damaged |= e->fell;
	free(begin);
}

static void print_all(struct entries *e)
{
	for (unsigned i = 0; i < e->targets.n; i++) {
		uint32_t at = 0, list;

		for (unsigned n = 0;
		     !cli_stop &&
		     entries_next_list(e, e->targets.target[i].t, &at, &list);
		     n++) {
			if (e->p->collectors && n % LISTS_PER_LOOK == 0)
				places_refresh(e->p);
			print_places(e, i, list);
		}
	}
}

void list_each(const struct opts *o, struct places *p, const struct targets *t,
	       void (*take)(void *ctx, unsigned target, const uint8_t *entry),
	       void *ctx)
{
	struct entries *e = calloc(1, sizeof(*e));

	if (!e)
		cli_fail("out of memory");
	e->o = o;
	e->p = p;
	e->targets = *t;
	e->take = take;
	e->ctx = ctx;
	print_all(e);
	free(e->buf);
	free(e);
}

int run_list(const struct opts *o, struct places *p)
{
	struct entries *e = calloc(1, sizeof(*e));
	int rc = CLI_OK;

	if (!e)
		cli_fail("out of memory");
	entries_open(e, o, p, o->count_only ? &counts : NULL);
	if (o->follow)
		rc = entries_follow(e);
	else
		print_all(e);
	entries_close(e);
	if (!o->follow)
		rc = e->damaged ? CLI_FAIL : e->printed ? CLI_OK : CLI_NOTHING;
	free(e);
	return rc;
}
