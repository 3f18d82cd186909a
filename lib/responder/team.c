/* SPDX-License-Identifier: BSD-2-Clause */
/* team.c - a worker's way with its batches. */
#include "responder/team.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "team/team.h"
#include "op/abreast.h"
#include "responder/pair.h"

_Static_assert((int)RESPONDER_TEAM_MAX <= (int)TEAM_MAX, "workers");

enum step {
	ACT,
	MARK,
	SETTLE,
	STEPS,
};

struct worker {
	struct responder *p; /* worker 0's is the team's */
	struct responder_team *team;
	unsigned number;
	uint64_t batch; /* the one in hand */
	struct responder_share share;
	const struct pkt *pkts; /* of it */
	size_t n;
	uint64_t whole; /* tables with additions and others: in their order */
	struct roce seen[PKT_BATCH];
	struct queue_pair *whose[PKT_BATCH];
	struct pkt room[PKT_BATCH];
} __attribute__((aligned(TEAM_LINE)));

struct responder_team {
	struct relay relay;
	struct abreast *abreast;
	struct responder_team_options o;
	struct responder *p;
	bool lent;			  /* p has all that was counted */
	bool news;			  /* atomic */
	int error;			  /* the first; atomic */
	uint64_t unsent;		  /* atomic */
	struct responder_ledger all;	  /* in turn of act */
	struct responder_ledger counters; /* of them, for worker 0 */
	struct worker *worker[RESPONDER_TEAM_MAX];
};

static int error_of(const struct responder_team *c)
{
	return __atomic_load_n(&c->error, __ATOMIC_RELAXED);
}

static void fail(struct responder_team *c, int error)
{
	if (error && !error_of(c))
		__atomic_store_n(&c->error, error, __ATOMIC_RELAXED);
}

/* How many packets of the batch are in the run from at on. */
static unsigned run_at(const struct worker *w, size_t at)
{
	return w->n - at < ROCE_BATCH ? (unsigned)(w->n - at) : ROCE_BATCH;
}

static void look(struct worker *w)
{
	for (size_t at = 0; at < w->n; at += ROCE_BATCH)
		responder_look(w->p, w->pkts + at, run_at(w, at), w->seen + at,
			       w->whose + at);
}

/* To what was counted by all. In turn of act. */
static void count(struct responder_team *c, struct responder *p)
{
	ledger_add(&responder_ledger, &c->all, &p->ctr);
	memset(&p->ctr, 0, sizeof(p->ctr));
}

/* In turn. */
static void act(struct responder_team *c, unsigned worker)
{
	struct worker *w = c->worker[worker];
	struct responder *p = w->p;
	int rc = 0, some;

	if (c->o.look)
		c->o.look(c->o.ctx, w->pkts, w->n, &c->all);
	responder_begin(p);
	for (size_t at = 0; at < w->n; at += ROCE_BATCH) {
		some = responder_act(p, w->pkts + at, run_at(w, at),
				     w->seen + at, w->whose + at);
		rc = rc ? rc : some;
	}
	w->whole = p->s->added & p->s->written;
	fail(c, rc);
	count(c, p);
	if (!worker)
		c->counters = c->all;
	if (responder_has_news(p))
		__atomic_store_n(&c->news, true, __ATOMIC_RELEASE);
}

/* Until all batches before are through. */
static void wait_to_settle(struct responder *p)
{
	abreast_wait(p->worker->team->abreast, p->worker->batch);
}

static uint64_t sink_drops(const struct responder *p)
{
	return p->answers ? snk_drops(p->answers) : 0;
}

/* In turn of settle. They leave with the batch: who sent it may wait for them.
 */
static void answer(struct worker *w)
{
	struct responder_team *c = w->team;
	struct responder *p = w->p;

	if (!error_of(c))
		fail(c, pair_answer(p));
	if (error_of(c))
		pair_drop(p);
	snk_flush(p->answers); /* snk_close() tells of an error */
	__atomic_store_n(&c->unsent, sink_drops(p), __ATOMIC_RELAXED);
}

/* Operations, and the answers that tell what they found. */
static void carry_out(struct worker *w)
{
	struct responder *p = w->p;
	struct road *road = local_road(p->local);
	struct abreast_work work = {
		.worker = w->number,
		.batch = w->batch,
		.road = pair_road(p),
		.op = p->op,
		.n = p->nops,
		.whole = p->answers ? 0 : w->whole,
		.told = p->answers,
		.ts_ns = p->ts_ns,
	};

	w->share.late += abreast_exec(w->team->abreast, &work) + p->waited;
	w->share.ops += work.n + p->waited;
	p->nops = p->waited = 0;
	fail(w->team, work.error);
	if (p->answers)
		answer(w);
	road->end(road);
}

static void carry(void *ctx, unsigned worker, uint64_t batch, bool any)
{
	struct responder_team *c = ctx;
	struct worker *w = c->worker[worker];

	w->batch = batch;
	if (any) {
		w->share.batches++; /* before it is through: others read it */
		w->share.packets += w->n;
		look(w);
	}
	relay_wait(&c->relay, ACT, batch);
	if (any && error_of(c)) { /* the end: nor would one core take it */
		memset(&w->p->ctr, 0, sizeof(w->p->ctr));
		any = false;
	}
	if (any)
		act(c, worker);
	relay_pass(&c->relay, ACT);
	if (!any) {
		abreast_skip(c->abreast, batch);
		return;
	}
	carry_out(w);
	relay_pass(&c->relay, SETTLE);
}

static bool take(void *ctx, unsigned worker)
{
	struct responder_team *c = ctx;
	struct worker *w = c->worker[worker];
	int n = c->o.take(c->o.ctx, w->room, PKT_BATCH);

	w->pkts = w->room;
	w->n = n > 0 ? (size_t)n : 0;
	return n > 0;
}

int responder_team_rx(struct responder_team *c, const struct pkt *pkts,
		      size_t n)
{
	struct worker *w = c->worker[0];

	if (c->lent)
		count(c, c->p);
	c->lent = false;
	c->p->wait = c->p->answers ? wait_to_settle : NULL;
	w->pkts = pkts;
	w->n = n;
	relay_go(&c->relay, true);
	return error_of(c);
}

int responder_team_rest(struct responder_team *c)
{
	if (c->lent)
		return error_of(c);
	relay_rest(&c->relay);
	for (unsigned i = 0; i < c->o.workers; i++)
		count(c, c->worker[i]->p);
	c->p->ctr = c->all;
	memset(&c->all, 0, sizeof(c->all));
	c->lent = true;
	c->p->wait = NULL;
	__atomic_store_n(&c->news, false, __ATOMIC_RELAXED);
	return error_of(c);
}

const struct responder_ledger *
responder_team_counters(const struct responder_team *c)
{
	return c->lent ? &c->p->ctr : &c->counters;
}

bool responder_team_news(const struct responder_team *c)
{
	return __atomic_load_n(&c->news, __ATOMIC_ACQUIRE);
}

uint64_t responder_team_unsent(const struct responder_team *c)
{
	return c->lent ? sink_drops(c->p)
		       : __atomic_load_n(&c->unsent, __ATOMIC_RELAXED);
}

struct responder_share responder_team_share(const struct responder_team *c,
					    unsigned worker)
{
	return c->worker[worker]->share;
}

/* Another worker's responder: the state is p's, the road its own. */
static int twin_open(struct responder **out, const struct responder *p,
		     struct fault *f)
{
	struct responder *tw = calloc(1, sizeof(*tw));
	int rc;

	if (!tw)
		return fault_set(f, -ENOMEM, "no memory for a worker");
	rc = local_open(&tw->local, p->region, f);
	if (rc < 0) {
		free(tw);
		return rc;
	}
	tw->region = p->region;
	tw->asks = p->asks;
	tw->answers = p->answers;
	tw->o = p->o;
	tw->s = p->s;
	tw->wait = p->answers ? wait_to_settle : NULL;
	*out = tw;
	return 0;
}

static void twin_close(struct responder *tw)
{
	if (tw)
		local_close(tw->local);
	free(tw);
}

static int worker_open(struct responder_team *c, unsigned number,
		       struct fault *f)
{
	struct worker *w = aligned_alloc(TEAM_LINE, sizeof(*w));
	int rc = 0;

	c->worker[number] = w;
	if (!w)
		return fault_set(f, -ENOMEM, "no memory for a worker");
	memset(w, 0, sizeof(*w));
	w->team = c;
	w->number = number;
	w->p = c->p;
	if (number && (rc = twin_open(&w->p, c->p, f)) < 0)
		w->p = NULL;
	else
		w->p->worker = w;
	return rc;
}

static void free_all(struct responder_team *c)
{
	for (unsigned i = 0; i < c->o.workers; i++) {
		if (i && c->worker[i])
			twin_close(c->worker[i]->p);
		free(c->worker[i]);
	}
	abreast_close(c->abreast);
	free(c);
}

int responder_team_open(struct responder_team **out, struct responder *p,
			const struct responder_team_options *o, struct fault *f)
{
	struct responder_team *c = aligned_alloc(TEAM_LINE, sizeof(*c));
	const struct relay_options relay = {.workers = o->workers,
					    .steps = STEPS,
					    .take = take,
					    .carry = carry,
					    .ctx = c};
	int rc = 0;

	if (!c)
		return fault_set(f, -ENOMEM, "no memory for the team");
	memset(c, 0, sizeof(*c));
	c->o = *o;
	c->p = p;
	c->lent = true;
	for (unsigned i = 0; i < o->workers && !rc; i++)
		rc = worker_open(c, i, f);
	if (!rc)
		rc = abreast_open(&c->abreast, &c->relay, o->workers, PKT_BATCH,
				  f);
	if (!rc)
		rc = relay_open(&c->relay, &relay, f);
	if (rc < 0) {
		free_all(c);
		return rc;
	}
	*out = c;
	return 0;
}

void responder_team_close(struct responder_team *c)
{
	if (!c)
		return;
	responder_team_rest(c);
	relay_close(&c->relay);
	free_all(c);
}
