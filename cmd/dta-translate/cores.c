/* SPDX-License-Identifier: BSD-2-Clause */
/* cores.c - the translator on several cores (-j). */
#include <stdlib.h>

#include "run.h"

#include "base/clock.h"
#include "dta/cores.h"

struct cores {
	struct translate_cores *open;	/* NULL: closed */
	struct translate_ledger ledger; /* as of the last look */
	/* Batches are under way, and the main thread is with them: it may be
	 * asked for ledgers where it waits for the transport. */
	bool busy;
};

/* Of every batch, in order, before it is translated: what is wanted of it
 * beside that. */
static void look_at_batch(void *ctx, const struct pkt *pkts, size_t n)
{
	struct run *r = ctx;

	__atomic_store_n(&r->since_ns, clock_ns(), __ATOMIC_RELAXED);
	if (r->keylog)
		keylog_rx(r->keylog, pkts, n);
	if (r->cores && r->keylog && n < (size_t)r->loop.most)
		keylog_flush(r->keylog);
	why_look(&r->why, r->o.dta, pkts, n); /* up to the first report */
}

/* For a worker, in turn of taking. None where SIGHUP wants a rest between two
 * batches. */
static int take_more(void *ctx, const struct pkt **pkts, struct pkt *room,
		     int max)
{
	struct run *r = ctx;

	(void)pkts;
	return __atomic_load_n(&r->transport->again, __ATOMIC_RELAXED)
		       ? 0
		       : cli_loop_more(&r->loop, room, max);
}

static bool is_open(const struct run *r)
{
	return r->cores && r->cores->open;
}

void cores_open(struct run *r)
{
	if (r->o.cores == 1)
		return;
	r->cores = calloc(1, sizeof(*r->cores));
	if (!r->cores ||
	    src_hold_batches(r->loop.s, r->o.cores * THREADS_PLACES) < 0)
		cli_fail("out of memory");
	r->loop.most = TRANSLATE_CORES_BATCH;
	cores_go(r);
}

void cores_go(struct run *r)
{
	const struct translate_cores_options o = {
		.workers = r->o.cores,
		.take = take_more,
		.look = look_at_batch,
		.ctx = r,
	};
	struct error err = {0};

	if (r->cores &&
	    translate_cores_open(&r->cores->open, r->t, &o, &err) < 0)
		cli_fail("-j: %s", err.text);
}

void cores_rest(struct run *r)
{
	if (!is_open(r) || r->cores->busy)
		return;
	/* What is wrong comes up with the next batch, or the flush. */
	r->cores->busy = true;
	translate_cores_rest(r->cores->open);
	r->cores->busy = false;
}

int cores_rx(struct run *r, const struct pkt *pkts, size_t n)
{
	int rc;

	if (!r->cores) {
		look_at_batch(r, pkts, n);
		return translate_rx(r->t, pkts, n);
	}
	r->cores->busy = true;
	rc = translate_cores_rx(r->cores->open, pkts, n);
	r->cores->busy = false;
	return rc;
}

int cores_idle(struct run *r, uint64_t ns)
{
	int rc;

	if (!is_open(r))
		return translate_idle(r->t, ns);
	r->cores->busy = true;
	rc = translate_cores_idle(r->cores->open, ns);
	r->cores->busy = false;
	return rc;
}

const struct translate_ledger *cores_counters(const struct run *r)
{
	if (!is_open(r))
		return translate_counters(r->t);
	r->cores->ledger = translate_cores_counters(r->cores->open);
	return &r->cores->ledger;
}

uint64_t cores_unsent(const struct run *r)
{
	if (is_open(r))
		return translate_cores_unsent(r->cores->open);
	return r->t_options.nacks ? snk_drops(r->t_options.nacks) : 0;
}

int cores_stop(struct run *r)
{
	int rc;

	if (!is_open(r))
		return 0;
	r->cores->busy = true;
	rc = translate_cores_rest(r->cores->open);
	translate_cores_close(r->cores->open);
	r->cores->open = NULL;
	r->cores->busy = false;
	return rc;
}
