/* SPDX-License-Identifier: BSD-2-Clause */
#include "op/abreast.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a worker needs of it. */
struct side {
	/*
	 * Of every other batch. Who is still at the footprint of the one before
	 * has not settled its own batch, so this worker cannot have come to the
	 * one behind.
	 */
	struct footprint mark[2];
	struct footprint before; /* of all that are not through */
	uint32_t *place;
	uint16_t *late;	    /* numbers of its operations that wait */
	struct op *waiting; /* these operations */
} __attribute__((aligned(TEAM_LINE)));

struct abreast {
	struct relay *relay;
	unsigned workers;
	struct side *side;
};

int abreast_open(struct abreast **out, struct relay *r, unsigned workers,
		 size_t most, struct fault *f)
{
	struct abreast *a = calloc(1, sizeof(*a));
	size_t met = most * (workers > 1 ? workers - 1 : 1);
	bool ok = a != NULL;

	if (ok)
		a->side = aligned_alloc(TEAM_LINE, workers * sizeof(*a->side));
	ok = ok && a->side;
	if (ok) {
		a->relay = r;
		a->workers = workers;
		memset(a->side, 0, workers * sizeof(*a->side));
	}
	for (unsigned i = 0; ok && i < workers; i++) {
		a->side[i].place = calloc(most, sizeof(*a->side[i].place));
		a->side[i].late = calloc(most, sizeof(*a->side[i].late));
		a->side[i].waiting = calloc(most, sizeof(struct op));
		footprint_init(&a->side[i].mark[0], met);
		footprint_init(&a->side[i].mark[1], met);
		footprint_init(&a->side[i].before, met);
		ok = a->side[i].place && a->side[i].late && a->side[i].waiting;
	}
	if (!ok) {
		abreast_close(a);
		return fault_set(f, -ENOMEM, "no memory for the team");
	}
	*out = a;
	return 0;
}

void abreast_close(struct abreast *a)
{
	if (!a)
		return;
	for (unsigned i = 0; a->side && i < a->workers; i++) {
		free(a->side[i].place);
		free(a->side[i].late);
		free(a->side[i].waiting);
	}
	free(a->side);
	free(a);
}

static unsigned settle_of(const struct abreast *a)
{
	return a->relay->o.steps - 1;
}

/* The footprint of a batch. */
static struct footprint *mark_of(struct abreast *a, uint64_t batch)
{
	return &a->side[batch % a->workers].mark[batch / a->workers % 2];
}

static void join(struct abreast *a, struct footprint *before, uint64_t batch)
{
	unsigned under_way = relay_under_way(a->relay, batch);

	footprint_clear(before);
	for (uint64_t k = batch - under_way; k < batch; k++)
		footprint_join(before, mark_of(a, k));
}

static void exec(struct abreast_work *w, const struct op *op, unsigned n)
{
	if (n && !w->error)
		w->error = w->road->exec(w->road, op, n, w->ts_ns);
}

/* Operations but those whose numbers are in late, in the runs between them. */
static void exec_early(struct abreast_work *w, const uint16_t *late, unsigned n)
{
	unsigned from = 0;

	for (unsigned i = 0; i < n; i++) {
		exec(w, w->op + from, late[i] - from);
		from = late[i] + 1u;
	}
	exec(w, w->op + from, w->n - from);
}

/* All at once: lines that are missed one by one take many times as long. */
static void exec_late(struct abreast_work *w, const struct side *s, unsigned n)
{
	const struct op *op = s->waiting;

	if (n == w->n)
		op = w->op;
	else
		for (unsigned i = 0; i < n; i++)
			s->waiting[i] = w->op[s->late[i]];
	exec(w, op, n);
}

static void make_mark(struct abreast *a, uint64_t batch)
{
	relay_wait(a->relay, settle_of(a) - 1, batch);
	relay_pass(a->relay, settle_of(a) - 1);
}

unsigned abreast_exec(struct abreast *a, struct abreast_work *w)
{
	struct side *s = &a->side[w->worker];
	struct footprint *mark = mark_of(a, w->batch);
	unsigned late = 0;

	footprint_clear(mark);
	footprint_add(mark, w->op, w->n, w->whole, w->told, s->place);
	make_mark(a, w->batch);
	if (mark->any) {
		join(a, &s->before, w->batch);
		late = footprint_late(&s->before, w->op, w->n, w->whole,
				      s->place, s->late);
	}
	exec_early(w, s->late, late);
	abreast_wait(a, w->batch);
	exec_late(w, s, late);
	return late;
}

void abreast_skip(struct abreast *a, uint64_t batch)
{
	footprint_clear(mark_of(a, batch));
	make_mark(a, batch);
	abreast_wait(a, batch);
	relay_pass(a->relay, settle_of(a));
}

void abreast_wait(struct abreast *a, uint64_t batch)
{
	relay_wait(a->relay, settle_of(a), batch);
}
