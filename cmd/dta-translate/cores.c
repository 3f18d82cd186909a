/* SPDX-License-Identifier: BSD-2-Clause */
/* cores.c - the translator on several cores (-j). */
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "translate/crew.h"

struct cores {
	struct translate_crew *crew;			  /* NULL: closed */
	struct translate_share share[TRANSLATE_CREW_MAX]; /* of closed ones */
	bool busy; /* batches are under way, and the main thread is with them */
};

/* For a worker, in turn of taking: what is there. An end, and what is wrong,
 * the main thread finds, too. */
static int take(void *ctx, const struct pkt **pkts, struct pkt *room, int max)
{
	struct run *r = ctx;
	struct fault f;
	int n;

	(void)pkts;
	max = cli_limit_room(&r->loop.limit, max);
	if (cli_stop || !max)
		return 0;
	n = src_rx_now(r->loop.s, room, max, &f);
	cli_limit_took(&r->loop.limit, n);
	if (n > 0)
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
		struct translate_share *sum = &r->cores->share[i];
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
	static const struct row_field field[] = {
		{"core", ROW_U64, 6, ROW_TAG}, {"batches", ROW_U64, 10},
		{"packets", ROW_U64, 12},      {"operations", ROW_U64, 12},
		{"waited", ROW_U64, 10},
	};
	static const struct schema schema = {"cores", field,
					     sizeof(field) / sizeof(field[0])};
	struct rows *rows;

	if (!r->cores || !r->o.live.stats_ns)
		return;
	rows = rows_print(stderr, r->o.format, &schema, true);
	for (unsigned i = 0; rows && i < r->o.cores; i++) {
		const struct translate_share *s = &r->cores->share[i];
		const uint64_t value[] = {i, s->batches, s->packets, s->ops,
					  s->late};

		for (unsigned k = 0; k < schema.n; k++)
			row_u64(rows, k, value[k]);
		row_end(rows);
	}
	rows_close(rows);
}
