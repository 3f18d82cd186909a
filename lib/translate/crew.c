/* SPDX-License-Identifier: BSD-2-Clause */
/* crew.c - a worker's way with its batches: see crew.h for the order. */
#include "translate/crew.h"

#include <errno.h>
#include <stdlib.h>

#include "crew/crew.h"
#include "crew/turn.h"
#include "op/footprint.h"
#include "translate/private.h"

_Static_assert((int)TRANSLATE_CREW_BATCH == (int)STAGE, "a batch is a stage");
_Static_assert((int)TRANSLATE_CREW_MAX <= (int)CREW_MAX, "workers");

struct worker {
	struct translator *t; /* worker 0's is the crew's */
	struct translate_crew *crew;
	unsigned number;
	uint64_t batch; /* the one in hand, or the next */
	struct translate_share share;
	/*
	 * Of every other batch. Who is still at the footprint of the one before
	 * has not settled its own batch, so this worker cannot have come to the
	 * one behind.
	 */
	struct footprint mark[2];
	struct footprint before; /* of all that are not through */
	uint32_t place[OPS_MAX];
	uint16_t late[OPS_MAX]; /* of its operations */
} __attribute__((aligned(CREW_LINE)));

struct translate_crew {
	struct translate_crew_options o;
	struct translator *t;
	struct crew *threads;
	bool twins; /* the road has them */
	bool over;  /* in turn of take: no more batches */
	bool lent;  /* worker 0's translator has the course */
	int error;  /* the first; written in turn of settle */
	struct translate_ledger counters;
	struct turn take, turn, mark, settle;
	struct course course; /* in turn of turn */
	struct worker *worker[TRANSLATE_CREW_MAX];
};

static int error_of(const struct translate_crew *c)
{
	return __atomic_load_n(&c->error, __ATOMIC_RELAXED);
}

/* In turn of settle. */
static void fail(struct translate_crew *c, int error)
{
	if (!error_of(c))
		__atomic_store_n(&c->error, error, __ATOMIC_RELAXED);
}

/* The course so far; what the worker has counted by itself since its last batch
 * goes with it. */
static void course_take(struct worker *w)
{
	struct translate_ledger own = w->t->ctr;

	course_load(w->t, &w->crew->course);
	ledger_add(&translate_ledger, &w->t->ctr, &own);
}

static void course_give(struct worker *w)
{
	course_save(&w->crew->course, w->t);
	memset(&w->t->ctr, 0, sizeof(w->t->ctr));
}

/* The footprint of a worker's batch. */
static struct footprint *mark_of(struct translate_crew *c, uint64_t batch)
{
	struct worker *w = c->worker[batch % c->o.workers];

	return &w->mark[batch / c->o.workers % 2];
}

static void footprints_join(struct worker *w)
{
	uint32_t under_way = (uint32_t)w->batch - turn_now(&w->crew->settle);

	footprint_clear(&w->before);
	for (uint64_t k = w->batch - under_way; k < w->batch; k++)
		footprint_join(&w->before, mark_of(w->crew, k));
}

/* Operations but those whose numbers are in late, in the runs between them. */
static void exec_early(struct worker *w, unsigned late)
{
	struct translator *t = w->t;
	unsigned from = 0;

	for (unsigned i = 0; i <= late; i++) {
		unsigned end = i < late ? w->late[i] : t->work.nops;

		if (end > from && !t->error)
			t->error = t->road->exec(t->road, t->work.op + from,
						 end - from, t->stamp_ns);
		from = end + 1;
	}
}

static void exec_late(struct worker *w, unsigned late)
{
	struct translator *t = w->t;

	for (unsigned i = 0; i < late && !t->error; i++)
		t->error = t->road->exec(t->road, &t->work.op[w->late[i]], 1,
					 t->stamp_ns);
	w->share.late += late;
}

/* What of its operations no batch before can touch any more, then the others,
 * in turn. */
static void write_between(struct worker *w)
{
	struct translate_crew *c = w->crew;
	struct translator *t = w->t;
	struct footprint *mark = mark_of(c, w->batch);
	unsigned late;

	footprint_clear(mark);
	footprint_add(mark, t->work.op, t->work.nops, t->append, w->place);
	turn_wait(&c->mark, (uint32_t)w->batch);
	turn_pass(&c->mark);
	footprints_join(w);
	late = footprint_late(&w->before, t->work.op, t->work.nops, t->append,
			      w->place, w->late);
	exec_early(w, late);
	turn_wait(&c->settle, (uint32_t)w->batch);
	exec_late(w, late);
	w->share.ops += t->work.nops;
	ops_done(t);
}

/* More operations than there is room for: those before wait for their turn
 * here, as all later batches wait for this one's mark. */
static void wait_to_settle(struct translator *t)
{
	struct worker *w = t->worker;

	turn_wait(&w->crew->settle, (uint32_t)w->batch);
	w->share.ops += t->work.nops;
	w->share.late += t->work.nops;
}

/* A batch that is not full came live: what was sent must not wait for more. */
static bool is_full(size_t n)
{
	return n == TRANSLATE_CREW_BATCH;
}

/* In turn. */
static void judge(struct worker *w, const struct pkt *pkts, size_t n)
{
	struct translate_crew *c = w->crew;
	struct translator *t = w->t;

	course_take(w);
	if (c->o.look)
		c->o.look(c->o.ctx, pkts, n, &t->ctr);
	stage_begin(t);
	if (c->twins)
		stage_turn(t, n);
	else
		stage_whole(t, n);
	if (t->nacks && !is_full(n))
		snk_flush(t->nacks);
	course_give(w);
	if (!w->number)
		c->counters = c->course.ctr;
}

/* In turn of settle: the road has all of the batch. */
static void settle(struct worker *w)
{
	struct translate_crew *c = w->crew;
	struct translator *t = w->t;

	t->road->end(t->road);
	if (t->error)
		fail(c, t->error);
}

/* A road that many go at once. */
static void carry_abreast(struct worker *w, const struct pkt *pkts, size_t n)
{
	struct translate_crew *c = w->crew;

	turn_wait(&c->turn, (uint32_t)w->batch);
	judge(w, pkts, n);
	turn_pass(&c->turn);
	stage_rest(w->t);
	write_between(w);
	settle(w);
	turn_pass(&c->settle);
}

/* A road for one at a time, which has something to do between batches. */
static void carry_in_turn(struct worker *w, const struct pkt *pkts, size_t n)
{
	struct translate_crew *c = w->crew;
	struct road *road = w->t->road;
	int rc;

	turn_wait(&c->turn, (uint32_t)w->batch);
	rc = road_tick(road);
	if (!rc && !error_of(c)) {
		judge(w, pkts, n);
		settle(w);
		if (!is_full(n))
			road_flush(road);
		rc = road_tick(road);
	}
	if (rc)
		fail(c, rc);
	turn_wait(&c->mark, (uint32_t)w->batch);
	turn_pass(&c->mark);
	turn_wait(&c->settle, (uint32_t)w->batch);
	turn_pass(&c->settle);
	turn_pass(&c->turn);
}

/* Nothing was taken. */
static void carry_nothing(struct worker *w)
{
	struct translate_crew *c = w->crew;
	struct turn *turns[] = {&c->turn, &c->mark, &c->settle};

	for (unsigned i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
		turn_wait(turns[i], (uint32_t)w->batch);
		turn_pass(turns[i]);
	}
}

/* All that is made of a batch behind the taking. */
static void carry(struct worker *w, const struct pkt *pkts, size_t n)
{
	if (!n) {
		footprint_clear(mark_of(w->crew, w->batch));
		carry_nothing(w);
	} else {
		w->share.batches++; /* before it is settled: others read it */
		w->share.packets += n;
		stage_look(w->t, pkts, n);
		w->crew->twins ? carry_abreast(w, pkts, n)
			       : carry_in_turn(w, pkts, n);
	}
	w->batch += w->crew->o.workers;
}

static void work(void *ctx, unsigned number)
{
	struct translate_crew *c = ctx;
	struct worker *w = c->worker[number];
	struct pkt room[TRANSLATE_CREW_BATCH];
	const struct pkt *pkts;
	int n;

	while (turn_wait(&c->take, (uint32_t)w->batch), !c->over) {
		pkts = room;
		n = c->o.take(c->o.ctx, &pkts, room, TRANSLATE_CREW_BATCH);
		turn_pass(&c->take);
		carry(w, pkts, n > 0 ? (size_t)n : 0);
	}
	turn_pass(&c->take); /* the others are to see it, too */
}

int translate_crew_rx(struct translate_crew *c, const struct pkt *pkts,
		      size_t n)
{
	struct worker *w = c->worker[0];

	if (c->lent)
		course_give(w);
	c->lent = false;
	w->t->wait = c->twins ? wait_to_settle : NULL;
	turn_pass(&c->take);
	carry(w, pkts, n);
	turn_wait(&c->take, (uint32_t)w->batch);
	return error_of(c);
}

int translate_crew_rest(struct translate_crew *c)
{
	struct worker *first = c->worker[0];

	if (c->lent)
		return error_of(c);
	turn_wait(&c->settle, (uint32_t)first->batch);
	for (unsigned i = 0; i < c->o.workers; i++) {
		struct translator *t = c->worker[i]->t;

		ledger_add(&translate_ledger, &c->course.ctr, &t->ctr);
		memset(&t->ctr, 0, sizeof(t->ctr));
	}
	course_load(first->t, &c->course);
	c->lent = true;
	first->t->wait = NULL;
	return error_of(c);
}

const struct translate_ledger *
translate_crew_counters(const struct translate_crew *c)
{
	return c->lent ? translate_counters(c->t) : &c->counters;
}

struct translate_share translate_crew_share(const struct translate_crew *c,
					    unsigned worker)
{
	return c->worker[worker]->share;
}

/* Another worker's translator: a copy of t with work, operations and road of
 * its own. Lists, rows and reporters are t's. */
static int twin_open(struct translator **out, const struct translator *t,
		     bool twins, struct fault *f)
{
	size_t size = translator_size(t->lanes);
	struct translator *tw = aligned_alloc(64, size);
	int rc;

	if (!tw)
		return fault_set(f, -ENOMEM, "no memory for a worker");
	memcpy(tw, t, size);
	memset(&tw->ctr, 0, sizeof(tw->ctr));
	rc = steer_twin(tw);
	for (unsigned i = 0; i < tw->lanes; i++)
		rc = postcard_twin(&tw->lane[i]) ? -ENOMEM : rc;
	if (!rc && twins)
		rc = t->road->twin(t->road, &tw->road, f);
	else if (rc)
		fault_set(f, rc, "no memory for a worker");
	*out = tw;
	return rc;
}

static void twin_close(struct translator *tw, const struct translator *t)
{
	if (!tw)
		return;
	for (unsigned i = 0; i < tw->lanes; i++)
		tw->lane[i].append = NULL;
	tw->reporters = NULL;
	if (tw->road != t->road)
		tw->road->close(tw->road);
	translate_close(tw);
}

static int worker_open(struct translate_crew *c, unsigned number,
		       struct translator *t, struct fault *f)
{
	struct worker *w = aligned_alloc(CREW_LINE, sizeof(*w));
	int rc = 0;

	c->worker[number] = w;
	if (!w)
		return fault_set(f, -ENOMEM, "no memory for a worker");
	memset(w, 0, sizeof(*w));
	w->crew = c;
	w->number = number;
	w->batch = number;
	if (number)
		rc = twin_open(&w->t, t, c->twins, f);
	else
		w->t = t;
	if (!rc) {
		w->t->worker = w;
		w->t->wait = c->twins ? wait_to_settle : NULL;
	}
	return rc;
}

static void divide(struct translator *t)
{
	t->in_turn = t->in_rest = t->postcards = 0;
	for (unsigned i = 0; i < t->n; i++) {
		uint64_t bit = UINT64_C(1) << i;
		uint8_t kind = t->lane[i].kind;
		bool rest = kind == TABLE_KEYWRITE || kind == TABLE_KEYINC;

		if (kind == TABLE_POSTCARD)
			t->postcards |= bit;
		if (rest)
			t->in_rest |= bit;
		if (!rest || (kind == TABLE_KEYWRITE && t->dart == DART_ONE))
			t->in_turn |= bit;
	}
}

static void free_all(struct translate_crew *c)
{
	for (unsigned i = 0; i < c->o.workers; i++) {
		if (i && c->worker[i])
			twin_close(c->worker[i]->t, c->t);
		free(c->worker[i]);
	}
	c->t->wait = NULL;
	c->t->worker = NULL;
	free(c);
}

int translate_crew_open(struct translate_crew **out, struct translator *t,
			const struct translate_crew_options *o, struct fault *f)
{
	struct translate_crew *c;
	int rc = 0;

	if (t->rate.per_s)
		return fault_set(f, -ENOTSUP,
				 "operations under a limit go one by one");
	c = aligned_alloc(CREW_LINE, sizeof(*c));
	if (!c)
		return fault_set(f, -ENOMEM, "no memory for the crew");
	memset(c, 0, sizeof(*c));
	c->o = *o;
	c->t = t;
	c->twins = t->road->twin != NULL;
	c->lent = true;
	divide(t);
	for (unsigned i = 0; i < o->workers && !rc; i++)
		rc = worker_open(c, i, t, f);
	if (!rc && (rc = crew_start(&c->threads, o->workers, work, c)) < 0)
		fault_set(f, rc, "threads: %s", strerror(-rc));
	if (rc < 0) {
		free_all(c);
		return rc;
	}
	t->wait = NULL;
	*out = c;
	return 0;
}

void translate_crew_close(struct translate_crew *c)
{
	if (!c)
		return;
	translate_crew_rest(c);
	c->over = true;
	turn_pass(&c->take);
	crew_join(c->threads);
	free_all(c);
}
