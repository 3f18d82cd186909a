/* SPDX-License-Identifier: BSD-2-Clause */
/* stage.c - the way of a batch's packets through the stages. */
#include "translate/private.h"

/* One table's jobs, to the lanes of their collectors. */
static void table_go(struct translator *t, unsigned table, struct jobs *j)
{
	bool keywrite = t->lane[table].kind == TABLE_KEYWRITE;

	if (t->dart == DART_ONE && keywrite && t->pass != PASS_REST)
		dart_draw(&t->lane[table], j);
	if (keywrite && t->pass == PASS_TURN)
		return;
	if (t->steering)
		steer_run(t, table, j);
	else
		lane_go(t, table, j);
}

/* Of the stage's jobs [from, end) those of one lane, in their order. Without a
 * branch on the lane, which nobody could predict in mixed traffic. */
static inline __attribute__((always_inline)) struct jobs *
pick_with(struct translator *t, unsigned lane, unsigned from, unsigned end,
	  bool at)
{
	const struct jobs *all_jobs = &t->stage;
	struct jobs *to = &t->bucket, in = *all_jobs, out = *to;
	uint64_t all = UINT64_MAX, any = 0;
	unsigned n = 0;

	for (unsigned i = from; i < end; i++) {
		uint64_t head = in.head[i];
		bool ours = head_lane(head) == lane;

		out.key[n] = in.key[i];
		if (at)
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

static struct jobs *pick(struct translator *t, unsigned lane, unsigned from,
			 unsigned end)
{
	/* Who came when is for lists; and for steering and times. */
	if (t->lane[lane].kind == TABLE_APPEND || t->steering ||
	    t->road->stamped)
		return pick_with(t, lane, from, end, true);
	return pick_with(t, lane, from, end, false);
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

/* The heads of a lane's jobs, with the copies that were drawn, back to where
 * pick() found them. */
static void put_back(struct translator *t, unsigned lane, unsigned from,
		     unsigned end)
{
	uint64_t *head = t->stage.head;
	unsigned n = 0;

	for (unsigned i = from; i < end; i++)
		if (head_lane(head[i]) == lane)
			head[i] = t->bucket.head[n++];
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
		if (t->pass == PASS_TURN && t->dart == DART_ONE)
			put_back(t, lane, from, end);
	}
}

/*
 * Of the stage's packets [k, n) the jobs of some lanes, which are those from
 * `from' on; returns the first that is behind. Where lists wait, or will, those
 * that come before one is due are carried out before it is written: nearly
 * always they are all.
 */
static unsigned carry_out(struct translator *t, size_t k, size_t n,
			  unsigned from, uint64_t lanes)
{
	const struct pkt *pkts = t->pkts;
	bool lists = lanes & t->append;
	unsigned end = from;

	for (; k < n; from = end) {
		clock_to(t, pkts[k].ts_ns);
		clock_flush(t);
		t->waiting = t->waiting || lists;
		k += t->waiting ? clock_until_due(t, pkts + k, n - k) : n - k;
		clock_to(t, pkts[k - 1].ts_ns);
		if (!lanes)
			continue;
		end = k < t->npkts ? from : t->stage.n;
		while (end < t->stage.n && t->stage.at[end] < k)
			end++;
		lanes_go(t, lanes, from, end);
	}
	return from;
}

static void jobs_clear(struct jobs *j)
{
	j->n = 0;
	j->all = UINT64_MAX;
	j->any = 0;
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
	if (t->asking)
		admit_parts(t, pkts, n);
	else
		admit(t, pkts, n);
	if (t->steering)
		steer_aim(t);
	carry_out(t, 0, n, 0, lanes_of(&t->stage));
}

/* The stage's jobs of one lane that are of common reports, which have heads
 * then; n packets. */
static struct jobs *pick_common(struct translator *t, unsigned lane, size_t n)
{
	const struct jobs *from = &t->stage;
	struct jobs *to = &t->bucket;

	if (from->n == n && head_lane(from->all) == head_lane(from->any))
		return head_lane(from->any) == lane ? &t->stage : NULL;
	to->n = 0;
	for (size_t i = 0; i < n; i++) {
		to->key[to->n] = from->key[i];
		to->head[to->n] = from->head[i];
		to->n += from->head[i] && head_lane(from->head[i]) == lane;
	}
	return to;
}

void stage_look(struct translator *t, const struct pkt *pkts, size_t n)
{
	uint64_t lanes = t->wait && !t->steering ? t->postcards : 0;

	t->pkts = pkts;
	t->npkts = n;
	admit_look(t, pkts, n);
	t->grouped = 0;
	for (; lanes && t->stage.n; lanes &= lanes - 1) {
		unsigned lane = (unsigned)__builtin_ctzll(lanes);
		struct jobs *j = pick_common(t, lane, n);

		if (!j || !j->n)
			continue;
		postcard_look(t, &t->lane[lane], j);
		t->grouped |= UINT64_C(1) << lane;
	}
}

/* What admit_look() left, in order; returns the lanes of the good ones. */
static uint64_t judge(struct translator *t, size_t n)
{
	admit_judge(t, t->pkts, n);
	if (t->steering)
		steer_aim(t);
	return lanes_of(&t->stage);
}

static bool are_several(uint64_t lanes)
{
	return lanes & (lanes - 1);
}

/*
 * Immediates of several tables come in the order in which one alone makes
 * their operations. Those of postcards wait in their rows, and may come with
 * reports that ask for none.
 */
static bool wants_order(struct translator *t, uint64_t lanes)
{
	bool asked = head_immediate(t->stage.any);

	if (asked)
		t->promised |= lanes & t->postcards;
	return (asked && are_several(lanes)) ||
	       are_several(lanes & t->promised);
}

/* Whether one of the stage's jobs from this one on, of packets before the n-th,
 * is for a list. */
static bool has_lists(const struct translator *t, unsigned from, size_t n)
{
	const struct jobs *j = &t->stage;

	for (; from < j->n && j->at[from] < n; from++)
		if (t->append >> head_lane(j->head[from]) & 1)
			return true;
	return false;
}

/* In the steps in which one alone goes: where a step has nothing for lists,
 * none begins to wait in it. */
static void carry_steps(struct translator *t, size_t n, uint64_t lanes)
{
	unsigned from = 0;

	for (size_t k = 0; k < n; k += STEP) {
		size_t end = n - k < STEP ? n : k + STEP;
		bool lists = lanes & t->append && has_lists(t, from, end);

		from = carry_out(t, k, end, from,
				 lists ? lanes : lanes & ~t->append);
	}
}

/* Lanes of postcards whose jobs were grouped. */
static void turn_grouped(struct translator *t, uint64_t lanes)
{
	const struct jobs *all = &t->stage;
	bool one = head_lane(all->all) == head_lane(all->any);

	for (; lanes; lanes &= lanes - 1) {
		unsigned lane = (unsigned)__builtin_ctzll(lanes);

		postcard_turn(t, &t->lane[lane],
			      one ? all : pick(t, lane, 0, all->n));
	}
}

void stage_turn(struct translator *t, size_t n)
{
	uint64_t lanes = judge(t, n), grouped = 0;

	t->lanes_left = 0;
	if (!wants_order(t, lanes)) {
		grouped = lanes & t->grouped;
		t->lanes_left = lanes & t->in_rest;
		lanes &= t->in_turn & ~grouped;
		t->pass = PASS_TURN;
		for (uint64_t l = lanes & t->append; l; l &= l - 1)
			append_ask(&t->lane[__builtin_ctzll(l)], n);
	}
	carry_steps(t, n, lanes);
	turn_grouped(t, grouped);
}

void stage_whole(struct translator *t, size_t n)
{
	carry_steps(t, n, judge(t, n));
}

void stage_rest(struct translator *t)
{
	t->pass = PASS_REST;
	for (unsigned i = 0; i < t->lanes; i++)
		if (t->lane[i].postcards)
			postcard_emit(t, &t->lane[i], NULL);
	lanes_go(t, t->lanes_left, 0, t->stage.n);
	t->pass = PASS_WHOLE;
}

/* A table is busy if it is so at one of the collectors: nobody knows yet where
 * a report will go. */
static void ask_busy(struct translator *t)
{
	for (unsigned i = 0; i < t->n; i++)
		t->lane[i].busy = false;
	for (unsigned i = 0; i < t->lanes; i++)
		if (t->road->busy(t->road, i))
			t->lane[i % t->n].busy = true;
}

void stage_begin(struct translator *t)
{
	t->error = 0;
	t->stamp_ns = t->last_ns;
	t->generation = t->road->begin(t->road);
	if (t->road->busy)
		ask_busy(t);
}

int stage_end(struct translator *t)
{
	ops_hand_over(t);
	t->road->end(t->road);
	return t->error;
}
