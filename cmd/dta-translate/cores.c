/* SPDX-License-Identifier: BSD-2-Clause */
/* cores.c - the translator on several cores (-j). */
#include <stdlib.h>
#include <string.h>

#include "cli/shares.h"
#include "run.h"
#include "translate/crew.h"

struct cores {
	struct translate_crew *crew;		    /* NULL: closed */
	struct cli_share share[TRANSLATE_CREW_MAX]; /* of closed ones */
	bool busy; /* batches are under way, and the main thread is with them */
};

/* For a worker, in turn of taking. */
static int take(void *ctx, const struct pkt **pkts, struct pkt *room, int max)
{
	struct run *r = ctx;
	int n = cli_loop_more(&r->loop, room, max);

	(void)pkts;
	if (n)
		r->silent = false;
	return n;
}

static void look(void *ctx, const struct pkt *pkts, size_t n,
		 const struct translate_ledger *before)
{
	run_look(ctx, pkts, n, before);
}

static void crew_open(struct run *r)
{
	const struct translate_crew_options o = {
		.workers = r->o.cores,
		.take = take,
		.look = look,
		.ctx = r,
	};
	struct fault f = {0};

	if (translate_crew_open(&r->cores->crew, r->t, &o, &f) < 0)
		cli_fail("-j: %s", f.text);
}

void cores_open(struct run *r)
{
	if (r->o.cores == 1 || r->o.op_rate)
		return;
	r->cores = calloc(1, sizeof(*r->cores));
	if (!r->cores || src_keep(r->loop.s, r->o.cores) < 0)
		cli_fail("out of memory");
	r->loop.most = TRANSLATE_CREW_BATCH;
	cores_go(r);
}

void cores_rest(struct run *r)
{
	/* What is wrong comes up with the next batch, or the flush. */
	if (r->cores && r->cores->crew && !r->cores->busy)
		translate_crew_rest(r->cores->crew);
}

int cores_rx(struct run *r, const struct pkt *pkts, size_t n)
{
	int rc;

	if (!r->cores) {
		run_look(r, pkts, n, translate_counters(r->t));
		return translate_rx(r->t, pkts, n);
	}
	r->cores->busy = true;
	rc = translate_crew_rx(r->cores->crew, pkts, n);
	/* A road for one at a time is looked after by this thread. */
	if (!r->road->twin && !rc)
		rc = translate_crew_rest(r->cores->crew);
	r->cores->busy = false;
	return rc;
}

const struct translate_ledger *cores_counters(const struct run *r)
{
	return r->cores && r->cores->crew
		       ? translate_crew_counters(r->cores->crew)
		       : translate_counters(r->t);
}

static void add_shares(struct run *r)
{
	for (unsigned i = 0; i < r->o.cores; i++) {
		struct cli_share *sum = &r->cores->share[i];
		struct translate_share s = translate_crew_share(r->cores->crew,
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

	if (!r->cores || !r->cores->crew)
		return 0;
	rc = translate_crew_rest(r->cores->crew);
	add_shares(r);
	translate_crew_close(r->cores->crew);
	r->cores->crew = NULL;
	return rc;
}

void cores_go(struct run *r)
{
	if (r->cores)
		crew_open(r);
}

void cores_print(const struct run *r)
{
	if (r->cores && r->o.live.stats_ns)
		cli_shares(r->cores->share, r->o.cores, r->o.format);
}
