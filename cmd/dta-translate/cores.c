/* SPDX-License-Identifier: BSD-2-Clause */
/* cores.c - the translator on several cores (-j). */
#include <stdlib.h>
#include <string.h>

#include "cli/live.h"
#include "run.h"
#include "translate/team.h"

struct cores {
	struct translate_team *team;		    /* NULL: closed */
	struct cli_share share[TRANSLATE_TEAM_MAX]; /* of closed ones */
	bool busy; /* batches are under way, and the main thread is with them */
	uint64_t unsent; /* atomic: cores_unsent(), as of the last batch */
};

static uint64_t unsent(const struct run *r)
{
	return r->t_options.nacks ? snk_drops(r->t_options.nacks) : 0;
}

/* In turn, or at rest: the sink is nobody else's then. */
static void note_unsent(struct run *r)
{
	__atomic_store_n(&r->cores->unsent, unsent(r), __ATOMIC_RELAXED);
}

/* For a worker, in turn of taking. None where SIGHUP wants a rest between two
 * batches. */
static int take(void *ctx, const struct pkt **pkts, struct pkt *room, int max)
{
	struct run *r = ctx;
	int n = r->road->again ? 0 : cli_loop_more(&r->loop, room, max);

	(void)pkts;
	if (n)
		r->silent = false;
	return n;
}

/* In turn. */
static void look(void *ctx, const struct pkt *pkts, size_t n,
		 const struct translate_ledger *before)
{
	note_unsent(ctx);
	run_look(ctx, pkts, n, before);
}

static void team_open(struct run *r)
{
	const struct translate_team_options o = {
		.workers = r->o.cores,
		.take = take,
		.look = look,
		.ctx = r,
	};
	struct fault f = {0};

	if (translate_team_open(&r->cores->team, r->t, &o, &f) < 0)
		cli_fail("-j: %s", f.text);
}

void cores_open(struct run *r)
{
	if (r->o.cores == 1)
		return;
	r->cores = calloc(1, sizeof(*r->cores));
	if (!r->cores || src_keep(r->loop.s, r->o.cores) < 0)
		cli_fail("out of memory");
	r->loop.most = TRANSLATE_TEAM_BATCH;
	cores_go(r);
}

void cores_rest(struct run *r)
{
	/* What is wrong comes up with the next batch, or the flush. */
	if (!r->cores || !r->cores->team || r->cores->busy)
		return;
	translate_team_rest(r->cores->team);
	note_unsent(r);
}

int cores_rx(struct run *r, const struct pkt *pkts, size_t n)
{
	int rc;

	if (!r->cores) {
		run_look(r, pkts, n, translate_counters(r->t));
		return translate_rx(r->t, pkts, n);
	}
	r->cores->busy = true;
	rc = translate_team_rx(r->cores->team, pkts, n);
	/* A road for one at a time is looked after by this thread. */
	if (!r->road->twin && !rc)
		rc = translate_team_rest(r->cores->team);
	r->cores->busy = false;
	return rc;
}

const struct translate_ledger *cores_counters(const struct run *r)
{
	return r->cores && r->cores->team
		       ? translate_team_counters(r->cores->team)
		       : translate_counters(r->t);
}

uint64_t cores_unsent(const struct run *r)
{
	return r->cores && r->cores->team
		       ? __atomic_load_n(&r->cores->unsent, __ATOMIC_RELAXED)
		       : unsent(r);
}

static void add_shares(struct run *r)
{
	for (unsigned i = 0; i < r->o.cores; i++) {
		struct cli_share *sum = &r->cores->share[i];
		struct translate_share s = translate_team_share(r->cores->team,
								i);

		sum->batches += s.batches;
		sum->packets += s.packets;
		sum->ops += s.ops;
		sum->late += s.late;
	}
}

int cores_stop(struct run *r)
{
	int rc;

	if (!r->cores || !r->cores->team)
		return 0;
	rc = translate_team_rest(r->cores->team);
	add_shares(r);
	translate_team_close(r->cores->team);
	r->cores->team = NULL;
	return rc;
}

void cores_go(struct run *r)
{
	if (r->cores)
		team_open(r);
}

void cores_print(const struct run *r)
{
	if (r->cores && r->o.live.stats_ns)
		cli_shares(r->cores->share, r->o.cores, NULL, r->o.format);
}
