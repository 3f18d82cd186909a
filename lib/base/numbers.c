/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/numbers.h"

#include <stdlib.h>
#include <string.h>

enum numbering_state {
	NONE,
	HEARD, /* of one number alone: nothing hangs on it yet */
	KNOWN,
};

/* How far number is ahead of last. */
static int ahead(uint16_t number, uint16_t last)
{
	return (int16_t)(number - last);
}

static bool is_near(const struct numbers *n, int step)
{
	int reach = n->narrow ? NUMBERS_NARROW : NUMBERS_RECENT;

	return step > -reach && step <= reach;
}

/* count numbers from first on came, or did not: whole words at a time. */
static void mark(struct numbering *r, uint16_t first, unsigned count, bool came)
{
	if (count >= NUMBERS_RECENT) {
		memset(r->came, came ? 0xff : 0, sizeof(r->came));
		return;
	}
	while (count) {
		unsigned bit = first % 64;
		unsigned len = count < 64 - bit ? count : 64 - bit;
		uint64_t *word = &r->came[first % NUMBERS_RECENT / 64];
		uint64_t mask = (len < 64 ? UINT64_C(1) << len : 0) - 1;

		mask <<= bit;
		*word = came ? *word | mask : *word & ~mask;
		first = (uint16_t)(first + len);
		count -= len;
	}
}

static void begin(struct numbering *r, uint16_t number, uint8_t state)
{
	*r = (struct numbering){
		.state = state, .first = number, .last = number};
	mark(r, 0, NUMBERS_RECENT, true);
}

/* The row in hand has come to a number: what that means for the other one. */
static void pass(struct numbers *n, uint16_t from, uint16_t to)
{
	struct numbering *now = &n->row[n->now], *other = &n->row[!n->now];

	if (other->state == HEARD)
		other->step = 0; /* no loss: what was before goes on */
	if (to >= from)
		return;
	/* Once around. */
	if (other->idle) {
		other->state = NONE;
		now->step = 0;
	}
	other->idle = true;
}

static void go_on(struct numbering *r, struct numbers_count *c, uint16_t number,
		  unsigned step, bool counted)
{
	if (step > 1) {
		mark(r, (uint16_t)(r->last + 1), step - 1, !counted);
		c->gaps += counted;
		c->missing += counted ? step - 1 : 0;
	}
	mark(r, number, 1, true);
	r->last = number;
	r->idle = false;
}

/* Late, or there already. */
static void look_back(struct numbering *r, struct numbers_count *c,
		      uint16_t number)
{
	uint64_t *word = &r->came[number % NUMBERS_RECENT / 64];
	uint64_t bit = UINT64_C(1) << number % 64;

	if (*word & bit)
		return;
	*word |= bit;
	c->missing--;
	if (r->step && ahead(number, r->first) < 0)
		r->step--;
}

static void take(struct numbering *r, struct numbers_count *c, uint16_t number,
		 int step, bool counted)
{
	if (step > 0)
		go_on(r, c, number, (unsigned)step, counted);
	else
		look_back(r, c, number);
}

/* The second number of a row: the first was no stray one. */
static void believe(struct numbers *n, struct numbers_count *c, bool counted)
{
	struct numbering *r = &n->row[!n->now];

	r->state = KNOWN;
	n->row[n->now].step = 0;
	if (!counted)
		r->step = 0;
	else if (!r->step)
		c->restarts++;
	if (!r->step)
		return;
	c->gaps++;
	c->missing += r->step;
	mark(r, 0, NUMBERS_RECENT, false); /* no step is shorter */
	mark(r, r->first, 1, true);
}

/* A number that goes with the row that was left. */
static void change(struct numbers *n, struct numbers_count *c, uint16_t number,
		   int step, bool counted)
{
	struct numbering *now = &n->row[n->now], *other = &n->row[!n->now];

	if (other->state == HEARD && step <= 0)
		return;
	if (other->state == HEARD) {
		believe(n, c, counted);
	} else if (step > 0 && now->step) {
		c->missing -= now->step;
		mark(now, 0, NUMBERS_RECENT, true);
		now->step = 0;
	}
	take(other, c, number, step, counted);
	if (step > 0)
		n->now = !n->now;
}

/* A number from elsewhere, this far ahead. */
static void hear(struct numbers *n, uint16_t number, int step)
{
	struct numbering *other = &n->row[!n->now];

	begin(other, number, HEARD);
	if (step > 0 && step <= NUMBERS_FAR && number > 1 && !n->narrow)
		other->step = (uint16_t)(step - 1);
}

void numbers_note(struct numbers *n, struct numbers_count *c, uint16_t number,
		  bool counted)
{
	struct numbering *now = &n->row[n->now], *other = &n->row[!n->now];
	int step, aside;

	if (now->state == NONE) {
		begin(now, number, KNOWN);
		return;
	}
	if (n->narrow)
		number = (uint16_t)(now->last + (int8_t)(number - now->last));
	step = ahead(number, now->last);
	aside = ahead(number, other->last);
	if (is_near(n, step) &&
	    (other->state != KNOWN || abs(step) <= abs(aside))) {
		if (step > 0)
			pass(n, now->last, number);
		take(now, c, number, step, counted);
	} else if (other->state != NONE && is_near(n, aside)) {
		change(n, c, number, aside, counted);
	} else {
		hear(n, number, step);
	}
}

void numbers_follow(struct numbers *n, uint16_t last)
{
	struct numbering *now = &n->row[n->now];
	uint16_t step = (uint16_t)(last - now->last);

	if (now->state == NONE)
		begin(now, last, KNOWN);
	if (now->last == last)
		return;
	pass(n, now->last, last);
	mark(now, (uint16_t)(now->last + 1), step, true);
	now->last = last;
	now->idle = false;
}

void numbers_settle(struct numbers *n, uint16_t last)
{
	begin(&n->row[n->now], last, KNOWN);
	n->row[!n->now].state = NONE;
}
