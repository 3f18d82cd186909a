/* SPDX-License-Identifier: BSD-2-Clause */
/* stage.c - the way of a batch's packets through the stages. */
#include "dta/private.h"

/* One table's jobs, to the lanes of their collectors. */
static void table_go(struct translator *t, unsigned table, struct jobs *j)
{
	if (t->steering)
		steer_run(t, table, j);
	else
		lane_go(t, table, j);
}

/* Of the stage's jobs [from, end) those of one lane, in their order. Without a
 * branch on the lane, which nobody could predict in mixed traffic. */
static struct jobs *pick(struct translator *t, unsigned lane, unsigned from,
			 unsigned end)
{
	struct jobs *to = &t->bucket, in = t->stage, out = *to;
	uint64_t all = UINT64_MAX, any = 0;
	unsigned n = 0;

	for (unsigned i = from; i < end; i++) {
		uint64_t head = in.head[i];
		bool ours = head_lane(head) == lane;

		out.key[n] = in.key[i];
		out.at[n] = in.at[i];
		out.head[n] = head;
		n += ours;
		all &= ours ? head : UINT64_MAX;
		any |= ours ? head : 0;
	}
	to->n = n;
	to->all = all;
	to->any = any;
	return to;
}

/* The lanes of the stage's jobs, a bit each. */
static uint64_t lanes_of(const struct jobs *j)
{
	uint64_t lanes = 0;

	if (!j->n)
		return 0;
	if (head_lane(j->all) == head_lane(j->any))
		return UINT64_C(1) << head_lane(j->any);
	for (unsigned i = 0; i < j->n; i++)
		lanes |= UINT64_C(1) << head_lane(j->head[i]);
	return lanes;
}

/* Jobs [from, end) of the stage: a lane after the other. Nearly always there is
 * but one, and they are all. */
static void lanes_go(struct translator *t, uint64_t lanes, unsigned from,
		     unsigned end)
{
	struct jobs *j = &t->stage, part = jobs_part(j, from, end);

	if (lanes && head_lane(j->all) == head_lane(j->any)) {
		if (part.n)
			table_go(t, (unsigned)__builtin_ctzll(lanes), &part);
		return;
	}
	for (; lanes && from < end; lanes &= lanes - 1) {
		unsigned lane = (unsigned)__builtin_ctzll(lanes);

		j = pick(t, lane, from, end);
		if (j->n)
			table_go(t, lane, j);
	}
}

/* Where lists wait, or will, the jobs that come before one is due are carried
 * out before it is written: nearly always they are all. */
void stage_carry(struct translator *t)
{
	const struct pkt *pkts = t->pkts;
	uint64_t lanes = lanes_of(&t->stage);
	unsigned from = 0, end;

	for (size_t k = 0, n = t->npkts; k < n; from = end) {
		clock_to(t, pkts[k].ts_ns);
		clock_flush(t);
		t->waiting = t->waiting || lanes & t->append;
		k += t->waiting ? clock_until_due(t, pkts + k, n - k) : n - k;
		clock_to(t, pkts[k - 1].ts_ns);
		end = k < n ? from : t->stage.n;
		while (end < t->stage.n && t->stage.at[end] < k)
			end++;
		lanes_go(t, lanes, from, end);
	}
}

void stage_lanes(struct translator *t, uint64_t lanes)
{
	lanes_go(t, lanes_of(&t->stage) & lanes, 0, t->stage.n);
}

/*
 * Whether jobs may be carried out before the stage's other packets are looked
 * at, and nobody sees the difference: none waits for its place among other
 * tables' (an immediate, now or later out of a row), or hangs on the time (a
 * list). And there are enough of them, or they would fall to pieces.
 */
static bool may_go(struct translator *t, uint64_t lanes)
{
	if (head_immediate(t->stage.any)) {
		t->promised |= lanes & t->postcards;
		return false;
	}
	return lanes && !(lanes & (t->promised | t->append)) &&
	       t->stage.n >=
		       STEP_ASKING * (unsigned)__builtin_popcountll(lanes);
}

/* A stage in parts, each while lines of the one before are asked for. What is
 * left of it in t->stage is for its end. */
static void admit_parts(struct translator *t, const struct pkt *pkts, size_t n)
{
	struct jobs *j = &t->stage;
	size_t k = 0, part = 0;

	do {
		size_t step = n - k < STEP_ASKING ? n - k : STEP_ASKING;
		uint64_t lanes;

		admit(t, pkts + k, step);
		k += step;
		lanes = lanes_of(j);
		if (!may_go(t, lanes))
			continue;
		lanes_go(t, lanes, 0, j->n);
		ops_ask(t, k - part);
		jobs_clear(j);
		part = k;
	} while (k < n);
}

void stage_run(struct translator *t, const struct pkt *pkts, size_t n)
{
	jobs_clear(&t->stage);
	t->pkts = pkts;
	t->npkts = n;
	t->first = t->ctr.received;
	if (t->asking)
		admit_parts(t, pkts, n);
	else
		admit(t, pkts, n);
	stage_carry(t);
}

/* A table is busy if it is so at one of the collectors: nobody knows yet where
 * a report will go. */
static void ask_busy(struct translator *t)
{
	for (unsigned i = 0; i < t->n; i++)
		t->lane[i].busy = false;
	for (unsigned i = 0; i < t->lanes; i++)
		if (t->transport->busy(t->transport, i))
			t->lane[i % t->n].busy = true;
}

void stage_begin(struct translator *t)
{
	t->error = 0;
	t->stamp_ns = t->last_ns;
	t->generation = t->transport->begin(t->transport);
	if (t->transport->busy)
		ask_busy(t);
}

int stage_end(struct translator *t)
{
	ops_hand_over(t);
	t->transport->end(t->transport);
	return t->error;
}
