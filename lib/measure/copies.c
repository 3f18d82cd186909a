/* SPDX-License-Identifier: BSD-2-Clause */
#include "measure/copies.h"

#include <errno.h>
#include <stdlib.h>

enum {
	FIRST = 256, /* room for so many numbers, to begin with */
	PLACE_MASK = (1 << COPIES_METRICS) - 1,
};

int numbers_add(struct numbers *l, uint32_t number)
{
	size_t room = l->room ? 2 * l->room : FIRST;
	uint32_t *at;

	if (l->n == l->room) {
		if (!(at = realloc(l->at, room * sizeof(*at))))
			return -ENOMEM;
		l->at = at;
		l->room = room;
	}
	l->at[l->n++] = number;
	return 0;
}

int copies_init(struct copies *c, struct objects *own, struct objects *whole)
{
	*c = (struct copies){.own = own, .whole = whole};
	c->any.watch.width = UINT32_MAX;
	c->before = calloc(own->o.objects, sizeof(*c->before));
	c->hot = calloc(own->o.objects, sizeof(*c->hot));
	return c->before && c->hot ? 0 : -ENOMEM;
}

void copies_fini(struct copies *c)
{
	free(c->asked.at);
	free(c->judged.at);
	free(c->before);
	free(c->hot);
	free(c->due);
}

/* False: it is none of the table, but `any`, `nothing` or `unplaced`. */
static bool number_of(const struct objects *os, const struct object *o,
		      uint32_t *nr)
{
	uintptr_t at = (uintptr_t)o - (uintptr_t)os->object;

	*nr = (uint32_t)(at / sizeof(*o));
	return at < (uintptr_t)os->o.objects * sizeof(*o);
}

void copies_keep(struct copies *c, const struct object *o)
{
	uint32_t nr;

	if (number_of(c->own, o, &nr))
		c->before[nr] = (struct latest){nr, o->latest, o->last_ns,
						o->pushed_ns};
}

struct object *copies_ask(struct copies *c, struct place *p, enum metric m)
{
	struct object *o = p->object[m];
	uint32_t nr;

	if (p->node->id == NODE_UNKNOWN)
		return p->object[m] = &c->any;
	if (o == &c->own->unplaced)
		return object_of(c->own, p, m);
	/* Once a round. */
	if (number_of(c->own, o, &nr) && o->id == c->stamp)
		return o;
	o->id = c->stamp;
	if (numbers_add(&c->asked, (uint32_t)(p - c->own->place) |
					   (uint32_t)m << COPIES_METRICS))
		c->error = -ENOMEM;
	return o;
}

void copies_begin(struct copies *c, uint64_t number)
{
	struct numbers was = c->judged;

	c->judged = c->asked;
	c->asked = was;
	c->asked.n = 0;
	c->round = number;
	c->stamp++;
}

/* The whole one's watch. */
static void see(struct copies *c, uint32_t nr)
{
	c->own->object[nr].watch = c->whole->object[nr].watch;
}

static void set_hot(struct copies *c, uint32_t nr)
{
	c->hot[nr] = c->stamp;
	c->any_hot = true;
}

/* What was asked has been judged, in views up to that number: now it is known,
 * and so is what was the latest, which `nothing` may have been told. */
static void learn(struct copies *c, const struct numbers *asked,
		  uint64_t number)
{
	for (size_t i = 0; i < asked->n; i++) {
		uint32_t place = asked->at[i] & PLACE_MASK, nr;
		uint32_t m = asked->at[i] >> COPIES_METRICS;
		const struct object *from = c->whole->place[place].object[m];
		struct object *o;

		if (!number_of(c->whole, from, &nr))
			continue; /* there is no room for it */
		see(c, nr);
		o = &c->own->object[nr];
		c->own->place[place].object[m] = o;
		if (o->pushed_ns > number) { /* told in this round, too */
			c->before[nr] = (struct latest){nr, from->latest,
							from->last_ns, number};
			continue;
		}
		o->latest = from->latest;
		o->last_ns = from->last_ns;
		o->pushed_ns = number;
	}
}

/* What was asked though the whole has no room for it: values are counted. */
static void give_up(struct copies *c)
{
	for (size_t i = 0; i < c->asked.n; i++) {
		uint32_t place = c->asked.at[i] & PLACE_MASK;
		uint32_t m = c->asked.at[i] >> COPIES_METRICS;
		struct place *own = &c->own->place[place];

		if (c->whole->place[place].object[m] != &c->whole->unplaced)
			continue;
		own->object[m] = &c->own->unplaced;
		object_of(c->own, own, (enum metric)m);
	}
}

static void heed(struct copies *c, const struct numbers *asked)
{
	for (size_t i = 0; i < asked->n; i++) {
		uint32_t where = asked->at[i];
		const struct place *p = &c->whole->place[where & PLACE_MASK];
		const struct object *o = object_find(c->whole, p,
						     where >> COPIES_METRICS);

		if (o)
			set_hot(c, (uint32_t)(o - c->whole->object));
	}
	c->any_hot |= asked->n > 0;
	c->asked_all += asked->n;
}

void copies_compare(struct copies *c, const struct numbers *changed,
		    struct copies *const *all, unsigned n)
{
	c->any_hot = false;
	c->asked_all = 0;
	for (size_t i = 0; i < changed->n; i++) {
		see(c, changed->at[i]);
		set_hot(c, changed->at[i]);
	}
	learn(c, &c->judged, c->round - 1);
	give_up(c);
	for (unsigned i = 0; i < n; i++)
		heed(c, &all[i]->asked);
}

/* What an object was when the round began. */
static void set_due(struct copies *c, uint32_t nr)
{
	const struct object *o = &c->own->object[nr];

	set_hot(c, nr);
	c->due[c->dues++] = o->pushed_ns < c->round
				    ? (struct latest){nr, o->latest, o->last_ns,
						      o->pushed_ns}
				    : c->before[nr];
}

bool copies_due(struct copies *c, uint64_t from, uint64_t to)
{
	size_t n = to > from ? to - from : 0;
	struct latest *due;

	c->dues = 0;
	if (n > c->due_room) {
		if (!(due = realloc(c->due, n * sizeof(*due)))) {
			c->error = -ENOMEM;
			return false;
		}
		c->due = due;
		c->due_room = n;
	}
	for (; from < to; from++)
		set_due(c, (uint32_t)from);
	return c->any_hot;
}

/* Of a place, metrics that are judged. */
static uint32_t hot_at(const struct copies *c, uint32_t place)
{
	const struct place *p = &c->own->place[place];
	uint32_t metrics = 0, nr;

	for (unsigned m = 0; m < METRIC_OF_HOP; m++)
		if (number_of(c->own, p->object[m], &nr)
			    ? c->hot[nr] == c->stamp
			    : p->object[m] == &c->own->nothing)
			metrics |= 1U << m;
	return metrics;
}

const uint32_t *copies_sift(struct copies *c, const uint32_t *telling,
			    uint32_t item, struct said **out)
{
	const uint32_t *end = telling + 1 + *telling;

	for (telling++; telling < end;) {
		uint32_t hop = *telling++, metrics = hop >> COPIES_METRICS;
		uint32_t place = hop & PLACE_MASK, hot = hot_at(c, place);

		if (!(metrics & hot)) {
			telling += __builtin_popcount(metrics);
			continue;
		}
		for (; metrics; metrics &= metrics - 1, telling++) {
			uint32_t m = (uint32_t)__builtin_ctz(metrics);

			if (hot >> m & 1)
				*(*out)++ = (struct said){
					item, place | m << COPIES_METRICS,
					*telling};
		}
	}
	return end;
}

static void set_latest(struct objects *whole, const struct latest *l)
{
	struct object *o = &whole->object[l->object];

	o->latest = l->value;
	o->last_ns = l->ns;
}

void copies_merge(struct copies *const *all, unsigned n)
{
	for (size_t k = 0; k < all[0]->dues; k++) {
		const struct latest *last = &all[0]->due[k];

		for (unsigned i = 1; i < n; i++)
			if (all[i]->due[k].number > last->number)
				last = &all[i]->due[k];
		if (last->number)
			set_latest(all[0]->whole, last);
	}
}

void copies_gather(struct copies *const *all, unsigned n, uint64_t number)
{
	struct objects *whole = all[0]->whole;

	for (unsigned i = 0; i < n; i++)
		learn(all[i], &all[i]->asked, number);
	for (uint64_t nr = 0; nr < whole->counters.objects; nr++) {
		const struct object *last = &all[0]->own->object[nr];

		for (unsigned i = 1; i < n; i++)
			if (all[i]->own->object[nr].pushed_ns > last->pushed_ns)
				last = &all[i]->own->object[nr];
		if (!last->pushed_ns)
			continue;
		whole->object[nr].latest = last->latest;
		whole->object[nr].last_ns = last->last_ns;
	}
}

void copies_renew(struct copies *c)
{
	for (uint64_t nr = 0; nr < c->whole->counters.objects; nr++)
		see(c, (uint32_t)nr);
}
