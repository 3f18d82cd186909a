/* SPDX-License-Identifier: BSD-2-Clause */
/* stage.c - sorts the reports of a stage by table and processes them. */
#include "dta/private.h"

/* Runs one table's reports, each at its collector. */
static void run_on_collectors(struct translator *t, unsigned table,
			      struct report_batch *j)
{
	if (t->steering)
		steer_run(t, table, j);
	else
		run_table(t, table, j);
}

/* Selects the stage's reports [from, end) of one table, in order. Without a
 * branch on the table, which could not be predicted in mixed traffic. */
static struct report_batch *select_table(struct translator *t, unsigned state,
					 unsigned from, unsigned end)
{
	struct report_batch *to = &t->bucket, in = t->stage, out = *to;
	uint64_t all = UINT64_MAX, any = 0;
	unsigned n = 0;

	for (unsigned i = from; i < end; i++) {
		uint64_t desc = in.desc[i];
		bool ours = desc_table(desc) == state;

		out.key[n] = in.key[i];
		out.at[n] = in.at[i];
		out.desc[n] = desc;
		n += ours;
		all &= ours ? desc : UINT64_MAX;
		any |= ours ? desc : 0;
	}
	to->n = n;
	to->all = all;
	to->any = any;
	return to;
}

/* The tables of the reports, a bit each. */
static uint64_t tables_of(const struct report_batch *j)
{
	uint64_t states = 0;

	if (!j->n)
		return 0;
	if (desc_table(j->all) == desc_table(j->any))
		return UINT64_C(1) << desc_table(j->any);
	for (unsigned i = 0; i < j->n; i++)
		states |= UINT64_C(1) << desc_table(j->desc[i]);
	return states;
}

/* Runs the stage's reports [from, end), table by table. Nearly always there is
 * only one table, and they are all. */
static void run_tables(struct translator *t, uint64_t states, unsigned from,
		       unsigned end)
{
	struct report_batch *j = &t->stage,
			    part = report_batch_part(j, from, end);

	if (states && desc_table(j->all) == desc_table(j->any)) {
		if (part.n)
			run_on_collectors(t, (unsigned)__builtin_ctzll(states),
					  &part);
		return;
	}
	for (; states && from < end; states &= states - 1) {
		unsigned state = (unsigned)__builtin_ctzll(states);

		j = select_table(t, state, from, end);
		if (j->n)
			run_on_collectors(t, state, j);
	}
}

/* While lists hold entries, the reports that come before a list is due are run
 * before it is written: nearly always they are all. */
void stage_finish(struct translator *t)
{
	const struct pkt *pkts = t->pkts;
	uint64_t states = tables_of(&t->stage);
	unsigned from = 0, end;

	for (size_t k = 0, n = t->npkts; k < n; from = end) {
		clock_to(t, pkts[k].ts_ns);
		clock_flush(t);
		t->waiting = t->waiting || states & t->append;
		k += t->waiting ? clock_until_due(t, pkts + k, n - k) : n - k;
		clock_to(t, pkts[k - 1].ts_ns);
		end = k < n ? from : t->stage.n;
		while (end < t->stage.n && t->stage.at[end] < k)
			end++;
		run_tables(t, states, from, end);
	}
}

void stage_run_tables(struct translator *t, uint64_t states)
{
	run_tables(t, tables_of(&t->stage) & states, 0, t->stage.n);
}

/*
 * Whether reports may be run before the stage's other packets are decoded, with
 * the same result: none must keep its place among other tables' operations (an
 * immediate, now or later from a row) or depends on the time (a list). And
 * there are enough of them for each table.
 */
static bool may_run_early(struct translator *t, uint64_t states)
{
	if (desc_immediate(t->stage.any)) {
		t->pending_immediates |= states & t->postcards;
		return false;
	}
	return states && !(states & (t->pending_immediates | t->append)) &&
	       t->stage.n >=
		       STEP_PREFETCH * (unsigned)__builtin_popcountll(states);
}

/* Admits a stage in parts; the lines of each are prefetched during the next.
 * What is left in t->stage is for stage_finish(). */
static void admit_in_parts(struct translator *t, const struct pkt *pkts,
			   size_t n)
{
	struct report_batch *j = &t->stage;
	size_t k = 0, part = 0;

	do {
		size_t step = n - k < STEP_PREFETCH ? n - k : STEP_PREFETCH;
		uint64_t states;

		admit(t, pkts + k, step);
		k += step;
		states = tables_of(j);
		if (!may_run_early(t, states))
			continue;
		run_tables(t, states, 0, j->n);
		ops_prefetch(t, k - part);
		report_batch_clear(j);
		part = k;
	} while (k < n);
}

void stage_run(struct translator *t, const struct pkt *pkts, size_t n)
{
	report_batch_clear(&t->stage);
	t->pkts = pkts;
	t->npkts = n;
	t->first = t->ctr.received;
	if (t->prefetching)
		admit_in_parts(t, pkts, n);
	else
		admit(t, pkts, n);
	stage_finish(t);
}

/* A table is busy if it is busy at any collector: a report's collector is not
 * known yet. */
static void update_busy(struct translator *t)
{
	for (unsigned i = 0; i < t->n; i++)
		t->state[i].busy = false;
	for (unsigned i = 0; i < t->states; i++)
		if (t->transport->busy(t->transport, i))
			t->state[i % t->n].busy = true;
}

void stage_begin(struct translator *t)
{
	t->error = 0;
	t->stamp_ns = t->last_ns;
	t->generation = t->transport->begin(t->transport);
	if (t->transport->busy)
		update_busy(t);
}

int stage_end(struct translator *t)
{
	ops_hand_over(t);
	t->transport->end(t->transport);
	return t->error;
}
