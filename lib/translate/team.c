/* SPDX-License-Identifier: BSD-2-Clause */
/* team.c - a worker's way with its batches: see team.h for the order. */
#include "translate/team.h"

#include <errno.h>
#include <stdlib.h>

#include "team/team.h"
#include "op/abreast.h"
#include "translate/private.h"

_Static_assert((int)TRANSLATE_TEAM_BATCH == (int)STAGE, "a batch is a stage");
_Static_assert((int)TRANSLATE_TEAM_MAX <= (int)TEAM_MAX, "workers");

enum step {
	TURN,
	MARK,
	SETTLE,
	STEPS,
};

struct worker {
	struct translator *t; /* worker 0's is the team's */
	struct translate_team *team;
	unsigned number;
	uint64_t batch; /* the one in hand */
	struct translate_share share;
	const struct pkt *pkts; /* of it */
	size_t n;
	struct pkt room[TRANSLATE_TEAM_BATCH];
} __attribute__((aligned(TEAM_LINE)));

struct translate_team {
	struct relay relay;
	struct abreast *abreast;
	struct translate_team_options o;
	struct translator *t;
	bool twins; /* the road has them */
	bool lent;  /* worker 0's translator has the course */
	int error;  /* the first; written in turn of settle */
	struct translate_ledger counters;
	struct course course; /* in turn of turn */
	struct worker *worker[TRANSLATE_TEAM_MAX];
};

static int error_of(const struct translate_team *c)
{
	return __atomic_load_n(&c->error, __ATOMIC_RELAXED);
}

/* In turn of settle. */
static void fail(struct translate_team *c, int error)
{
	if (!error_of(c))
		__atomic_store_n(&c->error, error, __ATOMIC_RELAXED);
}

/* The course so far; what the worker has counted by itself since its last batch
 * goes with it. */
static void course_take(struct worker *w)
{
	struct translate_ledger own = w->t->ctr;

	course_load(w->t, &w->team->course);
	ledger_add(&translate_ledger, &w->t->ctr, &own);
}

static void course_give(struct worker *w)
{
	course_save(&w->team->course, w->t);
	memset(&w->t->ctr, 0, sizeof(w->t->ctr));
}

/* What of its operations no batch before can touch any more, then the others,
 * in turn. */
static void write_between(struct worker *w)
{
	struct translator *t = w->t;
	struct abreast_work work = {
		.worker = w->number,
		.batch = w->batch,
		.road = t->road,
		.op = t->made->op,
		.n = t->made->n,
		.whole = t->append,
		.ts_ns = t->last_ns,
		.error = t->error,
	};

	w->share.late += abreast_exec(w->team->abreast, &work);
	t->error = work.error;
	w->share.ops += work.n;
	ops_done(t);
}

/* More operations than there is room for: those before wait for their turn
 * here, as all later batches wait for this one's mark. */
static void wait_to_settle(struct translator *t)
{
	struct worker *w = t->worker;

	abreast_wait(w->team->abreast, w->batch);
	w->share.ops += t->made->n;
	w->share.late += t->made->n;
}

/* A batch that is not full came live: what was sent must not wait for more. */
static bool is_full(size_t n)
{
	return n == TRANSLATE_TEAM_BATCH;
}

/* In turn. */
static void judge(struct worker *w)
{
	struct translate_team *c = w->team;
	struct translator *t = w->t;

	course_take(w);
	if (c->o.look)
		c->o.look(c->o.ctx, w->pkts, w->n, &t->ctr);
	stage_begin(t);
	if (c->twins)
		stage_turn(t, w->n);
	else
		stage_whole(t, w->n);
	if (t->nacks && !is_full(w->n))
		snk_flush(t->nacks);
	course_give(w);
	if (!w->number)
		c->counters = c->course.ctr;
}

/* In turn of settle: the road has all of the batch. */
static void settle(struct worker *w)
{
	struct translate_team *c = w->team;
	struct translator *t = w->t;

	t->road->end(t->road);
	if (t->error)
		fail(c, t->error);
}

/* A road that many go at once. */
static void carry_abreast(struct worker *w)
{
	struct translate_team *c = w->team;

	relay_wait(&c->relay, TURN, w->batch);
	judge(w);
	relay_pass(&c->relay, TURN);
	stage_rest(w->t);
	write_between(w);
	settle(w);
	relay_pass(&c->relay, SETTLE);
}

/* A road for one at a time, which has something to do between batches. */
static void carry_in_turn(struct worker *w)
{
	struct translate_team *c = w->team;
	struct road *road = w->t->road;
	int rc;

	relay_wait(&c->relay, TURN, w->batch);
	rc = road_tick(road);
	if (!rc && !error_of(c)) {
		judge(w);
		settle(w);
		if (!is_full(w->n))
			road_flush(road);
		rc = road_tick(road);
	}
	if (rc)
		fail(c, rc);
	abreast_skip(c->abreast, w->batch);
	relay_pass(&c->relay, TURN);
}

/* All that is made of a batch behind the taking. */
static void carry(void *ctx, unsigned worker, uint64_t batch, bool any)
{
	struct translate_team *c = ctx;
	struct worker *w = c->worker[worker];

	w->batch = batch;
	if (!any) {
		relay_wait(&c->relay, TURN, batch);
		relay_pass(&c->relay, TURN);
		abreast_skip(c->abreast, batch);
		return;
	}
	w->share.batches++; /* before it is settled: others read it */
	w->share.packets += w->n;
	stage_look(w->t, w->pkts, w->n);
	c->twins ? carry_abreast(w) : carry_in_turn(w);
}

static bool take(void *ctx, unsigned worker)
{
	struct translate_team *c = ctx;
	struct worker *w = c->worker[worker];
	int n;

	w->pkts = w->room;
	n = c->o.take(c->o.ctx, &w->pkts, w->room, TRANSLATE_TEAM_BATCH);
	w->n = n > 0 ? (size_t)n : 0;
	return n > 0;
}

int translate_team_rx(struct translate_team *c, const struct pkt *pkts,
		      size_t n)
{
	struct worker *w = c->worker[0];

	if (c->lent)
		course_give(w);
	c->lent = false;
	w->t->wait = c->twins ? wait_to_settle : NULL;
	w->pkts = pkts;
	w->n = n;
	relay_go(&c->relay, n > 0);
	return error_of(c);
}

int translate_team_rest(struct translate_team *c)
{
	struct worker *first = c->worker[0];

	if (c->lent)
		return error_of(c);
	relay_rest(&c->relay);
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
translate_team_counters(const struct translate_team *c)
{
	return c->lent ? translate_counters(c->t) : &c->counters;
}

struct translate_share translate_team_share(const struct translate_team *c,
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
	jobs_place(tw);
	rc = steer_twin(tw);
	for (unsigned i = 0; i < tw->lanes; i++)
		rc = postcard_team(&tw->lane[i], true, twins) ? -ENOMEM : rc;
	rc = ops_open(tw, false) ? -ENOMEM : rc;
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

static int worker_open(struct translate_team *c, unsigned number,
		       struct translator *t, struct fault *f)
{
	struct worker *w = aligned_alloc(TEAM_LINE, sizeof(*w));
	int rc = 0;

	c->worker[number] = w;
	if (!w)
		return fault_set(f, -ENOMEM, "no memory for a worker");
	memset(w, 0, sizeof(*w));
	w->team = c;
	w->number = number;
	if (number)
		rc = twin_open(&w->t, t, c->twins, f);
	else
		w->t = t;
	for (unsigned i = 0; i < t->lanes && c->twins && !number; i++)
		if (postcard_team(&t->lane[i], false, true) < 0)
			rc = fault_set(f, -ENOMEM, "no memory for a worker");
	if (!rc) {
		w->t->worker = w;
		w->t->wait = c->twins ? wait_to_settle : NULL;
	}
	return rc;
}

static void divide(struct translator *t)
{
	t->in_turn = t->in_rest = 0;
	for (unsigned i = 0; i < t->n; i++) {
		uint64_t bit = UINT64_C(1) << i;
		uint8_t kind = t->lane[i].kind;
		bool rest = kind == TABLE_KEYWRITE || kind == TABLE_KEYINC;

		if (rest)
			t->in_rest |= bit;
		if (!rest || (kind == TABLE_KEYWRITE && t->dart == DART_ONE))
			t->in_turn |= bit;
	}
}

static void free_all(struct translate_team *c)
{
	for (unsigned i = 0; i < c->o.workers; i++) {
		if (i && c->worker[i])
			twin_close(c->worker[i]->t, c->t);
		free(c->worker[i]);
	}
	for (unsigned i = 0; i < c->t->lanes; i++)
		postcard_alone(&c->t->lane[i]);
	abreast_close(c->abreast);
	c->t->wait = NULL;
	c->t->worker = NULL;
	free(c);
}

int translate_team_open(struct translate_team **out, struct translator *t,
			const struct translate_team_options *o, struct fault *f)
{
	struct translate_team *c;
	struct relay_options relay = {.workers = o->workers,
				      .steps = STEPS,
				      .take = take,
				      .carry = carry};
	int rc = 0;

	if (t->rate.per_s)
		return fault_set(f, -ENOTSUP,
				 "operations under a limit go one by one");
	relay.ctx = c = aligned_alloc(TEAM_LINE, sizeof(*c));
	if (!c)
		return fault_set(f, -ENOMEM, "no memory for the team");
	memset(c, 0, sizeof(*c));
	c->o = *o;
	c->t = t;
	c->twins = t->road->twin != NULL;
	c->lent = true;
	divide(t);
	for (unsigned i = 0; i < o->workers && !rc; i++)
		rc = worker_open(c, i, t, f);
	if (!rc)
		rc = abreast_open(&c->abreast, &c->relay, o->workers, OPS_MAX,
				  f);
	if (!rc)
		rc = relay_open(&c->relay, &relay, f);
	if (rc < 0) {
		free_all(c);
		return rc;
	}
	t->wait = NULL;
	*out = c;
	return 0;
}

void translate_team_close(struct translate_team *c)
{
	if (!c)
		return;
	translate_team_rest(c);
	relay_close(&c->relay);
	free_all(c);
}
