/* SPDX-License-Identifier: BSD-2-Clause */
/* team.c - a worker's way with its batches. */
#include "collect/team.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/team_private.h"
#include "team/team.h"

_Static_assert((int)TELEMETRY_SHARDS_MAX <= (int)TEAM_MAX, "workers");

static int fail(struct collect_team *c, int error)
{
	if (error && !error_of(c))
		__atomic_store_n(&c->error, error, __ATOMIC_RELAXED);
	return error;
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

/* The parts of all batches that are taken by turns at the same time: a round.
 */
static void take_parts(struct collect_team *c, struct worker *w, uint64_t batch)
{
	unsigned n = c->o.workers;
	uint64_t first = batch - w->number;

	for (unsigned i = 0; i < n; i++) {
		relay_wait(&c->relay, PASS, first + i + 1);
		if (!i)
			telemetry_shard_begin(w->shard,
					      c->worker[0]->before + 1);
		fail(c, part_take(w, c->worker[i]));
		turn_pass(&w->done);
	}
	for (unsigned i = 0; i < n; i++)
		turn_wait(&c->worker[i]->done, (uint32_t)(first + n));
	/* All of them have judged their batches of the round before, too. */
	fail(c, part_sift(c, w));
	turn_pass(&w->sifted);
	for (unsigned i = 0; i < n; i++)
		turn_wait(&c->worker[i]->sifted, (uint32_t)(first / n + 1));
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
	/* Without memory a shard does not know of all that are due. */
	if (w->shard && !number && !error_of(c))
		telemetry_shard_merge(c->t);
	if (any && !error_of(c))
		fail(c, w->shard ? order_judge(c, w) : order_take(c, w));
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
	for (unsigned i = 0; i < c->shards && !rc; i++)
		rc = telemetry_set_room(c->shard[i], th);
	if (rc)
		return rc; /* all have the old ones */
	rc = telemetry_set(c->t, th);
	for (unsigned i = 0; i < c->shards; i++) {
		telemetry_set(c->shard[i], th);
		telemetry_shard_renew(c->shard[i]);
	}
	return rc;
}

int collect_team_tick(struct collect_team *c, uint64_t now_ns)
{
	int rc = collect_team_rest(c);
	bool look = telemetry_time(&c->now_ns, &c->keep_ns, now_ns);

	for (unsigned i = 0; i < c->shards; i++)
		telemetry_shard_time(c->shard[i], c->now_ns, look);
	if (look && c->shards && c->gathered != c->items) {
		telemetry_shard_gather(c->t, c->items);
		c->gathered = c->items;
	}
	return rc ? rc : fail(c, telemetry_tick(c->t, now_ns));
}

int collect_team_pass(struct collect_team *c)
{
	int rc = collect_team_rest(c);

	for (unsigned i = 0; i < c->shards && !rc; i++)
		rc = telemetry_pass(c->shard[i]);
	return rc ? rc : fail(c, telemetry_pass(c->t));
}

int collect_team_flush(struct collect_team *c)
{
	int rc = 0, all;

	collect_team_rest(c);
	for (unsigned i = 0; i < c->shards; i++) {
		telemetry_shard_time(c->shard[i], c->now_ns, false);
		all = telemetry_flush(c->shard[i]);
		rc = rc ? rc : all;
		telemetry_shard_fold(c->shard[i]);
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
	turn_init(&w->sifted);
	rc = batch_open(&w->batch, &bo);
	if (rc || !c->o.sinks ||
	    (rc = telemetry_shard_open(&w->shard, c->t, c->o.sinks, &so)))
		return rc;
	c->shard[c->shards++] = w->shard;
	return 0;
}

static void worker_close(struct worker *w)
{
	if (!w)
		return;
	telemetry_shard_close(w->shard);
	batch_close(&w->batch);
	for (unsigned i = 0; i < TELEMETRY_SHARDS_MAX; i++) {
		free(w->notes[i].word);
		free(w->notes[i].said);
	}
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
	else
		rc = relay_open(&c->relay, &relay, f);
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
