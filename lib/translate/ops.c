/* SPDX-License-Identifier: BSD-2-Clause */
/* ops.c - the operations made so far, to the road. */
#include "translate/private.h"

/* Postcards and entries are charged when they are written. */
static void charge(struct translator *t)
{
	unsigned n = 0;

	for (unsigned i = 0; i < t->work.nops; i++) {
		uint8_t kind = t->lane[t->work.op[i].table].kind;

		n += kind == TABLE_POSTCARD || kind == TABLE_APPEND;
	}
	rate_charge(&t->rate, n);
}

void ops_done(struct translator *t)
{
	struct work *w = &t->work;

	t->ctr.ops += w->nops;
	w->nops = 0;
	w->used = 0;
}

void ops_hand_over(struct translator *t)
{
	struct work *w = &t->work;

	if (t->rate.per_s)
		charge(t);
	if (w->nops && !t->error)
		t->error = t->road->exec(t->road, w->op, w->nops, t->stamp_ns);
	ops_done(t);
}

void ops_run(struct translator *t)
{
	if (!t->wait)
		ops_hand_over(t);
}

void ops_make_room(struct translator *t)
{
	if (t->wait)
		t->wait(t);
	ops_hand_over(t);
}

void lane_go(struct translator *t, unsigned lane, const struct jobs *j)
{
	struct lane *l = &t->lane[lane];

	l->run(t, l, j);
	ops_run(t);
}
