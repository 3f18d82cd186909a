/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copies.h - the objects of a whole, as one of several knows them who note down
 * what they are told, in rounds: a table of its own with the numbers of the
 * whole one's, and with copies of their watches.
 *
 * A value in its object's range is no event; it changes only what is the
 * latest. So of what was told in a round the whole needs, in order, no more
 * than what was told of objects
 *
 *	of which somebody was told a value outside of the range that he knew;
 *	whose watches are others than the copies were in that round;
 *	which are due to be pushed in it, and so get another watch,
 *
 * and what the latter were before the round. Each finds out for himself, and
 * all alike, which objects these are (copies_compare(), copies_due()).
 *
 * A place's metric whose object one has not heard of yet leads to `nothing`,
 * whose range is empty: every value is asked about; until it is known that the
 * whole has no room for it, which stays so: then values are only counted.
 *
 * Threads: copies are one thread's; others may read what was asked while no
 * round is going on.
 */
#ifndef MEASURE_COPIES_H
#define MEASURE_COPIES_H

#include "measure/objects.h"

enum {
	COPIES_METRICS = 24, /* words: a place, and from this bit on metrics */
};

/* As many numbers as there is memory for. Zeros: none. */
struct numbers {
	uint32_t *at;
	size_t n, room;
};

/* 0 or -ENOMEM. */
int numbers_add(struct numbers *l, uint32_t number);

/* The value of an object, which a view of that number told; 0: none did. */
struct latest {
	uint32_t object, value;
	uint64_t ns, number;
};

/* A value to be judged. */
struct said {
	uint32_t item;	/* whatever the caller calls the view */
	uint32_t where; /* place, and number of the metric */
	uint32_t value;
};

struct copies {
	struct objects *own, *whole;
	struct object any; /* every value is in its range: of no node */
	uint64_t number;   /* of the view in hand, from 1 */
	uint64_t round;	   /* the number with which the round began */
	uint32_t stamp;	   /* of the round */
	/* Places and metrics of values outside of their ranges: of this round,
	 * and of the one before. */
	struct numbers asked, judged;
	size_t asked_all;      /* by all of them, in this round */
	struct latest *before; /* by object, if this round told of it */
	uint32_t *hot;	       /* by object: the stamp, if it is judged */
	bool any_hot;
	struct latest *due; /* what those that are due were before */
	size_t dues, due_room;
	int error; /* 0 or -ENOMEM */
};

/* Both outlive it. 0 or -ENOMEM. */
int copies_init(struct copies *c, struct objects *own, struct objects *whole);
void copies_fini(struct copies *c); /* of zeros is fine */

/* A round begins, with the view of that number. */
void copies_begin(struct copies *c, uint64_t number);

/* A value is outside of its object's range; which of the own ones it is. */
struct object *copies_ask(struct copies *c, struct place *p, enum metric m);

/* For copies_told(). */
void copies_keep(struct copies *c, const struct object *o);

/* The view in hand is about to change what is the latest of one of the own. */
static inline void copies_told(struct copies *c, struct object *o)
{
	if (o->pushed_ns < c->round)
		copies_keep(c, o);
	o->pushed_ns = c->number;
}

/* At the end of the round; the whole has judged those before it. changed: its
 * objects whose watches have changed since the last time; all: everybody. */
void copies_compare(struct copies *c, const struct numbers *changed,
		    struct copies *const *all, unsigned n);
/* Behind it: objects from that number to below the other are due. Whether there
 * is something to be judged. */
bool copies_due(struct copies *c, uint64_t from, uint64_t to);
/* Then, of what a view has told: a number of words; a word of a place and its
 * metrics, then their values, and so on. What is to be judged goes to *out,
 * which has room for as many as there are words. Returns their end. */
const uint32_t *copies_sift(struct copies *c, const uint32_t *telling,
			    uint32_t item, struct said **out);

/* The whole one's, before it judges the round: what those that are due were. */
void copies_merge(struct copies *const *all, unsigned n);
/* No round is going on, and all views up to that number have been judged: what
 * is the latest of each. */
void copies_gather(struct copies *const *all, unsigned n, uint64_t number);
/* All watches. */
void copies_renew(struct copies *c);

#endif
