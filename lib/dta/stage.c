/* SPDX-License-Identifier: BSD-2-Clause */
/* stage.c - the way of a batch's packets through the stages. */
#include "dta/private.h"

/* One table's reports, to the lanes of their collectors. */
static void run_on_collectors(struct translator *t, unsigned table,
			      struct report_batch *j)
{
	if (t->steering)
		steer_run(t, table, j);
	else
		run_table(t, table, j);
}

/* Of the stage's reports [from, end) those of one lane, in their order. Without
 * a branch on the lane, which nobody could predict in mixed traffic. */
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

/* The lanes of the stage's reports, a bit each. */
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

/* Jobs [from, end) of the stage: a lane after the other. Nearly always there is
 * but one, and they are all. */
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

/* Where lists wait, or will, the reports that come before one is due are
 * carried out before it is written: nearly always they are all. */
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
 * Whether reports may be carried out before the stage's other packets are
 * looked at, and nobody sees the difference: none waits for its place among
 * other tables' (an immediate, now or later out of a row), or hangs on the time
 * (a list). And there are enough of them, or they would fall to pieces.
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

/* A stage in parts, each while lines of the one before are asked for. What is
 * left of it in t->stage is for its end. */
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

/* A table is busy if it is so at one of the collectors: nobody knows yet where
 * a report will go. */
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
