/* SPDX-License-Identifier: BSD-2-Clause */
/* course.c - what one translator hands on to another. */
#include "translate/private.h"

void course_save(struct course *c, const struct translator *t)
{
	c->ctr = t->ctr;
	c->rate = t->rate;
	c->last_ns = t->last_ns;
	c->idle_ns = t->idle_ns;
	c->due_ns = t->due_ns;
	c->promised = t->promised;
	c->waiting = t->waiting;
	for (unsigned i = 0; i < t->n && t->dart == DART_ONE; i++) {
		c->draw[i].copy = t->lane[i].copy;
		c->draw[i].drawn = t->lane[i].drawn;
		c->draw[i].draws = t->lane[i].draws;
	}
}

void course_load(struct translator *t, const struct course *c)
{
	t->ctr = c->ctr;
	t->rate = c->rate;
	t->last_ns = c->last_ns;
	t->idle_ns = c->idle_ns;
	t->due_ns = c->due_ns;
	t->promised = c->promised;
	t->waiting = c->waiting;
	for (unsigned i = 0; i < t->n && t->dart == DART_ONE; i++) {
		t->lane[i].copy = c->draw[i].copy;
		t->lane[i].drawn = c->draw[i].drawn;
		t->lane[i].draws = c->draw[i].draws;
	}
}
