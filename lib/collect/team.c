/* SPDX-License-Identifier: BSD-2-Clause */
/* team.c - a worker's way with its batches. */
#include "collect/team.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/seat.h"
#include "team/relay.h"
#include "team/team.h"

_Static_assert((int)COLLECT_TEAM_MAX <= (int)TEAM_MAX, "workers");
_Static_assert((int)COLLECT_TEAM_MAX == (int)SEATS_MAX, "seats");

enum team_step {
	PASS,
	ORDER,
	STEPS,
};

enum {
	LATER = 8,    /* views between asking for one and for its flow */
	SOON = 4,     /* views between that and its use */
	WORDS = 1024, /* that are told, room for so many to begin with */
};

/* What a shard's views of a batch tell: telemetry/shard.h. */
struct notes {
	uint32_t *word;
	size_t used, room;
};

struct worker {
	struct batch batch;
	uint64_t before; /* items of the batches before this one */
	struct notes notes[COLLECT_TEAM_MAX]; /* by shard, of the batch */
	struct telemetry *shard;	      /* NULL: all is whole */
	struct turn done; /* batches of which the shard has taken its part */
	unsigned number;
	struct seat *seat;
	struct collect_share share;
	const struct pkt *pkts;
	size_t n;
	struct intake_ledger frames; /* as of its last batch; in turn of pass */
	struct pkt room[PKT_BATCH];
} __attribute__((aligned(TEAM_LINE)));

struct collect_team {
	struct relay relay;
	struct collect_team_options o;
	struct telemetry *t;
	bool resting;
	int error; /* the first; atomic */
	struct intake_ledger counters;
	/* In turn of pass: items so far, and the time. */
	uint64_t items, now_ns, keep_ns;
	struct seats seats; /* where the shards are, by worker */
	struct worker *worker[COLLECT_TEAM_MAX];
};

static int error_of(const struct collect_team *c)
{
	return __atomic_load_n(&c->error, __ATOMIC_RELAXED);
}

static int fail(struct collect_team *c, int error)
{
	if (error && !error_of(c))
		__atomic_store_n(&c->error, error, __ATOMIC_RELAXED);
	return error;
}

/* A batch that is not full came live: nobody is to wait for more of them. */
static bool is_full(const struct worker *w)
{
	return w->n == PKT_BATCH;
}

/* In turn, or at rest. */
static void count(struct collect_team *c)
{
	c->counters = (struct intake_ledger){0};
	for (unsigned i = 0; i < c->o.workers; i++)
		ledger_add(&intake_ledger, &c->counters, &c->worker[i]->frames);
}

/* In turn. */
static void pass(struct collect_team *c, unsigned number)
{
	struct worker *w = c->worker[number];

	fail(c, w->batch.error);
	if (c->o.out && !error_of(c)) {
		fail(c, batch_pass(&w->batch, c->o.out));
		if (w->n && !is_full(w))
			snk_flush(c->o.out); /* snk_close() tells of an error */
	}
	w->before = c->items;
	c->items += w->batch.n;
	batch_time(&w->batch, &c->now_ns, &c->keep_ns);
	w->frames = *intake_counters(w->batch.in);
	if (!number)
		count(c);
}

static void enter(void *seat)
{
	seat_enter(seat);
}

static void leave(void *seat)
{
	seat_leave(seat);
}

/* Room for what one more view tells. */
static int make_room(struct notes *l, const struct int_view *v)
{
	size_t need = l->used + telemetry_shard_words(v);
	uint32_t *word;

	if (need <= l->room)
		return 0;
	need += need / 2 + WORDS;
	if (!(word = realloc(l->word, need * sizeof(*word))))
		return -ENOMEM;
	l->word = word;
	l->room = need;
	return 0;
}

static const struct telemetry_item *item_at(const struct batch *b, size_t k,
					    size_t end)
{
	return k < end ? &b->item[b->which[k]] : NULL;
}

/* What is to be looked after before item i. Returns the next of look[]. */
static size_t look_after(struct worker *w, const struct worker *of, size_t next,
			 uint64_t i)
{
	const struct batch *b = &of->batch;

	for (; next < b->looks && b->look[next].item <= i; next++) {
		seat_sit(w->seat, 2 * (of->before + b->look[next].item));
		telemetry_shard_time(w->shard, b->look[next].now_ns, true);
	}
	return next;
}

/* The worker's shard's views of a batch, which is another's, too. */
static int take_part(struct worker *w, struct worker *of)
{
	const struct batch *b = &of->batch;
	unsigned shard = w->number;
	size_t end = b->first[shard + 1], looked = 0;
	struct notes *l = &of->notes[shard];
	int rc = 0;

	l->used = 0;
	for (size_t k = b->first[shard]; k < end && !rc; k++) {
		uint32_t i = b->which[k];

		telemetry_shard_want(w->shard, item_at(b, k + LATER, end),
				     item_at(b, k + SOON, end));
		looked = look_after(w, of, looked, i);
		seat_sit(w->seat, 2 * (of->before + i) + 1);
		if ((rc = make_room(l, b->item[i].view)))
			break;
		l->used = (size_t)(telemetry_shard_take(w->shard, &b->item[i],
							l->word + l->used) -
				   l->word);
		w->share.views++;
		w->share.late += w->seat->late;
		w->seat->late = false;
	}
	look_after(w, of, looked, UINT32_MAX);
	seat_sit(w->seat, 2 * (of->before + b->n));
	if (b->n && !is_full(of))
		telemetry_pass(w->shard);
	return rc ? rc : telemetry_shard_error(w->shard);
}

/* The parts of all batches that are taken by turns at the same time. */
static void take_parts(struct collect_team *c, struct worker *w, uint64_t batch)
{
	uint64_t first = batch - w->number;

	for (unsigned i = 0; i < c->o.workers; i++) {
		relay_wait(&c->relay, PASS, first + i + 1);
		fail(c, take_part(w, c->worker[i]));
		turn_pass(&w->done);
	}
	for (unsigned i = 0; i < c->o.workers; i++)
		turn_wait(&c->worker[i]->done, (uint32_t)(batch + 1));
}

/* In turn: what all shards' views of a batch tell. */
static int judge(struct collect_team *c, struct worker *w)
{
	const struct batch *b = &w->batch;
	const uint32_t *at[COLLECT_TEAM_MAX + 1] = {NULL};

	_Static_assert((int)COLLECT_TEAM_MAX == (int)BATCH_SHARDS, "shards");
	for (unsigned i = 0; i < c->o.workers; i++)
		at[i] = w->notes[i].word;
	for (size_t i = 0; i < b->n; i++)
		at[b->shard[i]] = telemetry_shard_judge(c->t, &b->item[i],
							at[b->shard[i]]);
	return is_full(w) ? telemetry_shard_error(c->t) : telemetry_pass(c->t);
}

/* Views from item i on that stand together: of one room. */
static size_t run_of(const struct batch *b, size_t i)
{
	size_t n = 0;

	while (i + n < b->n && !b->item[i + n].bare &&
	       b->item[i + n].view == b->item[i].view + n)
		n++;
	return n;
}

/* In turn. */
static int order(struct collect_team *c, struct worker *w)
{
	const struct batch *b = &w->batch;
	int rc = 0;

	for (size_t i = 0, n; i < b->n && !rc; i += n) {
		const struct int_view *v = b->item[i].view;

		n = run_of(b, i);
		w->share.views += n;
		if (n) {
			rc = telemetry_take(c->t, v, n);
		} else {
			rc = telemetry_numbers(c->t, v->ts_ns, &v->from, 1,
					       false);
			n = 1;
		}
	}
	return rc || is_full(w) ? rc : telemetry_pass(c->t);
}

static void carry(void *ctx, unsigned number, uint64_t batch, bool any)
{
	struct collect_team *c = ctx;
	struct worker *w = c->worker[number];

	if (any) {
		w->share.batches++;
		w->share.packets += w->n;
		batch_look(&w->batch, w->pkts, w->n);
	} else {
		batch_none(&w->batch);
	}
	relay_wait(&c->relay, PASS, batch);
	pass(c, number);
	relay_pass(&c->relay, PASS);
	if (w->shard)
		take_parts(c, w, batch);
	relay_wait(&c->relay, ORDER, batch);
	if (any && !error_of(c))
		fail(c, w->shard ? judge(c, w) : order(c, w));
	relay_pass(&c->relay, ORDER);
}

static bool take(void *ctx, unsigned number)
{
	struct collect_team *c = ctx;
	struct worker *w = c->worker[number];
	int n = c->o.take(c->o.ctx, w->room, PKT_BATCH);

	w->pkts = w->room;
	w->n = n > 0 ? (size_t)n : 0;
	return n > 0;
}

int collect_team_rx(struct collect_team *c, const struct pkt *pkts, size_t n)
{
	struct worker *w = c->worker[0];

	c->resting = false;
	w->pkts = pkts;
	w->n = n;
	relay_go(&c->relay, true);
	return error_of(c);
}

int collect_team_rest(struct collect_team *c)
{
	if (c->resting)
		return error_of(c);
	relay_rest(&c->relay);
	c->resting = true;
	count(c);
	return error_of(c);
}

int collect_team_set(struct collect_team *c,
		     const struct telemetry_thresholds *th)
{
	int rc;

	collect_team_rest(c);
	rc = telemetry_set_room(c->t, th);
	for (unsigned i = 0; i < c->o.workers && !rc; i++)
		if (c->worker[i]->shard)
			rc = telemetry_set_room(c->worker[i]->shard, th);
	if (rc)
		return rc; /* all have the old ones */
	for (unsigned i = 0; i < c->o.workers; i++)
		if (c->worker[i]->shard)
			telemetry_set(c->worker[i]->shard, th);
	return telemetry_set(c->t, th);
}

int collect_team_tick(struct collect_team *c, uint64_t now_ns)
{
	int rc = collect_team_rest(c);
	bool look = telemetry_time(&c->now_ns, &c->keep_ns, now_ns);

	for (unsigned i = 0; i < c->o.workers; i++)
		if (c->worker[i]->shard)
			telemetry_shard_time(c->worker[i]->shard, c->now_ns,
					     look);
	return rc ? rc : fail(c, telemetry_tick(c->t, now_ns));
}

int collect_team_pass(struct collect_team *c)
{
	int rc = collect_team_rest(c);

	for (unsigned i = 0; i < c->o.workers && !rc; i++)
		if (c->worker[i]->shard)
			rc = telemetry_pass(c->worker[i]->shard);
	return rc ? rc : fail(c, telemetry_pass(c->t));
}

int collect_team_flush(struct collect_team *c)
{
	int rc = 0, all;

	collect_team_rest(c);
	for (unsigned i = 0; i < c->o.workers; i++) {
		struct telemetry *shard = c->worker[i]->shard;

		if (!shard)
			continue;
		telemetry_shard_time(shard, c->now_ns, false);
		all = telemetry_flush(shard);
		rc = rc ? rc : all;
		telemetry_shard_fold(shard);
	}
	all = telemetry_flush(c->t);
	return rc ? rc : all;
}

void collect_team_ledgers(struct collect_team *c, struct collect_ledgers *out)
{
	collect_team_rest(c);
	*out = (struct collect_ledgers){
		.telemetry = *telemetry_counters(c->t),
		.flows = *telemetry_flows(c->t),
	};
	for (unsigned i = 0; i < c->o.workers; i++) {
		const struct worker *w = c->worker[i];

		ledger_add(&intake_ledger, &out->intake,
			   intake_counters(w->batch.in));
		ledger_add(&intake_report_ledger, &out->reports,
			   intake_report_counters(w->batch.in));
		ledger_add(&filter_ledger, &out->filtered, &w->batch.filtered);
		if (!w->shard)
			continue;
		ledger_add(&telemetry_ledger, &out->telemetry,
			   telemetry_counters(w->shard));
		ledger_add(&flows_ledger, &out->flows,
			   telemetry_flows(w->shard));
	}
}

const struct intake_ledger *collect_team_counters(const struct collect_team *c)
{
	return &c->counters;
}

struct collect_share collect_team_share(const struct collect_team *c,
					unsigned worker)
{
	return c->worker[worker]->share;
}

static int worker_open(struct collect_team *c, unsigned number)
{
	const struct batch_options bo = {.profile = c->o.profile,
					 .filter = c->o.filter,
					 .forward = c->o.out != NULL,
					 .whole = c->t,
					 .shards = c->o.sinks ? c->o.workers
							      : 0};
	struct worker *w = aligned_alloc(TEAM_LINE, sizeof(*w));
	const struct telemetry_shard_options so = {c->o.workers, enter, leave,
						   &c->seats.seat[number]};
	int rc;

	c->worker[number] = w;
	if (!w)
		return -ENOMEM;
	memset(w, 0, sizeof(*w));
	turn_init(&w->done);
	w->number = number;
	w->seat = &c->seats.seat[number];
	rc = batch_open(&w->batch, &bo);
	return rc || !c->o.sinks
		       ? rc
		       : telemetry_shard_open(&w->shard, c->t, c->o.sinks, &so);
}

static void worker_close(struct worker *w)
{
	if (!w)
		return;
	telemetry_shard_close(w->shard);
	batch_close(&w->batch);
	for (unsigned i = 0; i < COLLECT_TEAM_MAX; i++)
		free(w->notes[i].word);
	free(w);
}

static void free_all(struct collect_team *c)
{
	for (unsigned i = 0; i < c->o.workers; i++)
		worker_close(c->worker[i]);
	seats_fini(&c->seats);
	free(c);
}

int collect_team_open(struct collect_team **out, struct telemetry *t,
		      const struct collect_team_options *o, struct fault *f)
{
	struct collect_team *c = aligned_alloc(TEAM_LINE, sizeof(*c));
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
	c->t = t;
	c->resting = true;
	seats_init(&c->seats, o->workers);
	for (unsigned i = 0; i < o->workers && !rc; i++)
		rc = worker_open(c, i);
	if (rc)
		fault_set(f, rc, "no memory for a worker");
	else if ((rc = relay_open(&c->relay, &relay)) < 0)
		fault_set(f, rc, "threads: %s", strerror(-rc));
	if (rc < 0) {
		free_all(c);
		return rc;
	}
	*out = c;
	return 0;
}

void collect_team_close(struct collect_team *c)
{
	if (!c)
		return;
	collect_team_rest(c);
	relay_close(&c->relay);
	free_all(c);
}
