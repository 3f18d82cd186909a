/* SPDX-License-Identifier: BSD-2-Clause */
/* ops.c - the operations made so far, to the transport. */
#include "dta/private.h"

#include <errno.h>
#include <stdlib.h>

static struct made *made_new(void)
{
	struct made *m = aligned_alloc(_Alignof(struct made), sizeof(*m));

	if (m)
		m->n = m->used = 0;
	return m;
}

static struct asking *asking_new(void)
{
	struct asking *a = calloc(1, sizeof(*a));

	if (a && !(a->made = made_new())) {
		free(a);
		return NULL;
	}
	return a;
}

static void asking_free(struct asking *a)
{
	if (a)
		free(a->made);
	free(a);
}

/* What is made, for what was; nothing is asked for any more. */
static void asking_swap(struct asking *a, struct made **made)
{
	struct made *m = *made;

	*made = a->made;
	a->made = m;
	a->next = a->end;
}

/* To ask for all of it, by asking_next() so many times. r has mem. */
static void asking_start(struct asking *a, const struct transport *r,
			 size_t times)
{
	a->mem = r->mem;
	a->next = a->made->op;
	a->end = a->next + a->made->n;
	a->each = (unsigned)((a->made->n + times - 1) / times);
}

unsigned cost_of(const struct translator *t, const struct lane *l,
		 const struct dta_report *r)
{
	if (l->kind == TABLE_POSTCARD || l->kind == TABLE_APPEND)
		return 0;
	if (l->kind == TABLE_KEYWRITE && t->dart != DART_OFF)
		return t->dart == DART_ONE ? 1 : 2;
	return r->copies ? r->copies : l->copies;
}

/* Postcards and entries are charged when they are written. */
static void charge(struct translator *t)
{
	unsigned n = 0;

	for (unsigned i = 0; i < t->made->n; i++) {
		uint8_t kind = t->lane[t->made->op[i].table].kind;

		n += kind == TABLE_POSTCARD || kind == TABLE_APPEND;
	}
	rate_charge(&t->rate, n);
}

static void ops_done(struct translator *t)
{
	struct made *m = t->made;

	t->ctr.ops += m->n;
	m->n = 0;
	m->used = 0;
}

static void hand_over(struct translator *t)
{
	struct made *m = t->made;

	if (t->send) {
		t->send(t);
		ops_done(t);
		return;
	}
	if (t->rate.per_s)
		charge(t);
	t->transport->stamps = t->transport->stamped ? m->stamp : NULL;
	if (m->n && !t->error)
		t->error = t->transport->exec(t->transport, m->op, m->n,
					      t->last_ns);
	t->transport->stamps = NULL;
	ops_done(t);
}

static void earlier_hand_over(struct translator *t)
{
	asking_swap(t->asking, &t->made);
	hand_over(t);
	asking_swap(t->asking, &t->made);
}

void ops_hand_over(struct translator *t)
{
	if (t->asking)
		earlier_hand_over(t);
	hand_over(t);
}

void ops_ask(struct translator *t, size_t packets)
{
	earlier_hand_over(t);
	asking_swap(t->asking, &t->made);
	asking_start(t->asking, t->transport, packets);
}

void ops_run(struct translator *t)
{
	if (!t->asking)
		hand_over(t);
}

void ops_stamp(struct translator *t, const struct jobs *j, unsigned first,
	       unsigned end, bool one)
{
	uint64_t *to = t->made->stamp + t->made->n;

	for (unsigned i = first; i < end; i++) {
		uint64_t ns = t->pkts[j->at[i]].ts_ns;

		for (unsigned c = 0; c < HASH_COPIES; c++)
			to[c] = ns;
		to += one ? 1 : head_copies(j->head[i]);
	}
}

void ops_make_room(struct translator *t)
{
	ops_hand_over(t);
}

void lane_go(struct translator *t, unsigned lane, const struct jobs *j)
{
	struct lane *l = &t->lane[lane];

	l->run(t, l, j);
	ops_run(t);
}

int ops_open(struct translator *t, bool asking)
{
	t->made = made_new();
	t->asking = asking ? asking_new() : NULL;
	return t->made && (t->asking || !asking) ? 0 : -ENOMEM;
}

void ops_close(struct translator *t)
{
	asking_free(t->asking);
	free(t->made);
}
