/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control_ports.c - ports that are silent, Pro (paper 004, algorithm 3), ports
 * that are forgotten.
 *
 * Each port is looked at when something is due of it, and not before. What the
 * paper asks for each time round its loop, more than k * T ago, begins to hold
 * right behind the k * T: what is due at a time is done when that is over, and
 * a label that comes just then is in time. All waits for silence, and all for
 * a step of S, are as long as each other: who began to wait first is first in a
 * line, and a label is no more than a move to the end of one.
 */
#include "label/control_private.h"

/* When it was heard of, and could have been. */
static uint64_t since(const struct label_control *c,
		      const struct label_record *r)
{
	return r->seen_ns > c->begun_ns ? r->seen_ns : c->begun_ns;
}

static uint64_t forget_after(const struct label_control *c,
			     const struct label_record *r)
{
	return r->labels > 1 ? c->o.forget_ns : c->o.forget_once_ns;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* A port of an earlier run is listened for before it is forgotten. */
static uint64_t forget_due(const struct label_control *c,
			   const struct label_record *r)
{
	uint64_t after = forget_after(c, r), least = after;

	if (!after || !r->silent)
		return DUE_NEVER;
	if (c->o.forget_once_ns)
		least = sooner(least, c->o.forget_once_ns);
	return later(r->seen_ns + after,
		     since(c, r) + later(least, c->patience_ns));
}

static void keep(struct label_control *c, int rc)
{
	if (rc < 0)
		c->err = rc;
}

static void tell_silence(struct label_control *c, uint32_t place, bool silent,
			 uint64_t now_ns, uint64_t since_ns)
{
	struct label_record *r = label_db_at(c->db, place);

	r->silent = silent;
	if (silent) {
		c->silent++;
		c->ctr.silent++;
		chain_drop(&c->heard, place);
	} else {
		c->silent--;
		c->ctr.heard++;
	}
	keep(c, dues_set(&c->forget, place, forget_due(c, r)));
	if (c->o.calls.silent)
		c->o.calls.silent(c->o.calls.ctx, r, silent, now_ns, since_ns);
}

static void set_s(struct label_control *c, uint32_t place, uint8_t s,
		  enum label_reason reason, uint64_t now_ns)
{
	struct label_record *r = label_db_at(c->db, place);
	struct label_decision d = {.now_ns = now_ns,
				   .reason = reason,
				   .port = r,
				   .from = r->s,
				   .lost = label_lost(r) - r->reported};

	if (reason == LABEL_RESUMED)
		c->ctr.resumed++;
	else if (s > r->s)
		c->ctr.raised++;
	else
		c->ctr.lowered++;
	c->with_s[r->s]--;
	c->with_s[s]++;
	r->s = s;
	r->changed_ns = now_ns;
	r->reported = label_lost(r);
	keep(c, chain_put(&c->steps, place));
	if (c->o.calls.decision)
		c->o.calls.decision(c->o.calls.ctx, &d);
}

/* Algorithm 3, for one port. One that stays as it is need not be looked at
 * before it is heard, or silent. */
static void step(struct label_control *c, uint32_t place, uint64_t at_ns)
{
	const struct label_record *r = label_db_at(c->db, place);

	if (!c->o.pro || at_ns - r->changed_ns < c->patience_ns)
		return;
	chain_drop(&c->steps, place);
	if (r->silent && r->s < c->o.s_max)
		set_s(c, place, (uint8_t)(r->s + 1), LABEL_SILENT, at_ns);
	else if (!r->silent && r->s > 0)
		set_s(c, place, (uint8_t)(r->s - 1), LABEL_HEARD, at_ns);
}

/* Should it come back its S is 0, here as there. */
static void forget(struct label_control *c, uint32_t place, uint64_t at_ns)
{
	const struct label_record *r = label_db_at(c->db, place);
	uint32_t last = label_db_ports(c->db) - 1;

	if (c->o.pro && r->s)
		set_s(c, place, 0, LABEL_FORGOTTEN, at_ns);
	c->with_s[r->s]--;
	c->silent--;
	c->ctr.forgotten++;
	if (c->o.calls.forgotten)
		c->o.calls.forgotten(c->o.calls.ctx, r, at_ns);
	label_db_forget(c->db, place);
	chain_move(&c->heard, last, place);
	chain_move(&c->steps, last, place);
	dues_move(&c->forget, last, place);
}

static uint64_t silence_due(const struct label_control *c)
{
	uint32_t place = chain_first(&c->heard);

	if (place == CHAIN_NOBODY)
		return DUE_NEVER;
	return since(c, label_db_at(c->db, place)) + c->patience_ns;
}

static uint64_t step_due(const struct label_control *c)
{
	uint32_t place = chain_first(&c->steps);

	if (place == CHAIN_NOBODY || !c->o.pro)
		return DUE_NEVER;
	return label_db_at(c->db, place)->changed_ns + c->patience_ns;
}

uint64_t control_due(const struct label_control *c)
{
	return sooner(sooner(silence_due(c), step_due(c)),
		      dues_first(&c->forget).ns);
}

/* The one that will be first next but one is asked for from memory. */
static void expect(struct label_control *c, const struct chain *q)
{
	uint32_t place = chain_second(q);

	if (place != CHAIN_NOBODY)
		__builtin_prefetch(label_db_at(c->db, place), 1);
}

void control_look(struct label_control *c)
{
	uint64_t at_ns = control_due(c);
	uint32_t place;

	if (silence_due(c) == at_ns) {
		expect(c, &c->heard);
		place = chain_first(&c->heard);
		tell_silence(c, place, true, at_ns,
			     label_db_at(c->db, place)->seen_ns);
		step(c, place, at_ns);
	} else if (step_due(c) == at_ns) {
		expect(c, &c->steps);
		step(c, chain_first(&c->steps), at_ns);
	} else {
		forget(c, dues_first(&c->forget).who, at_ns);
	}
}

void control_reset(struct label_control *c, uint32_t place)
{
	if (label_db_at(c->db, place)->s)
		set_s(c, place, 0, LABEL_RESET, c->now_ns);
}

void control_heard(struct label_control *c, uint32_t place)
{
	struct label_record *r = label_db_at(c->db, place);

	if (r->interval != c->number) {
		r->interval = c->number;
		c->sum.covered++;
	}
	keep(c, chain_put(&c->heard, place));
	if (r->silent) {
		tell_silence(c, place, false, c->now_ns, r->before_ns);
		step(c, place, c->now_ns);
	}
	if (c->o.calls.port)
		c->o.calls.port(c->o.calls.ctx, r);
}

/* S of an earlier run. Whether the switch has that one nobody knows: it may
 * have begun anew, or S may have been moved since the state was saved. It is
 * told again, 0 as well. */
static void resume_s(struct label_control *c, uint32_t place)
{
	struct label_record *r = label_db_at(c->db, place);
	uint8_t s = r->s < c->o.s_max ? r->s : c->o.s_max;

	if (!c->o.pro) {
		c->with_s[r->s]++;
		return;
	}
	c->with_s[0]++;
	r->s = 0;
	set_s(c, place, s, LABEL_RESUMED, c->now_ns);
}

/* How long they have been silent while nobody listened, nobody knows. */
void control_resume(struct label_control *c)
{
	for (uint32_t i = 0; i < label_db_ports(c->db); i++) {
		struct label_record *r = label_db_at(c->db, i);

		c->silent += r->silent;
		resume_s(c, i);
		keep(c, chain_put(r->silent ? &c->steps : &c->heard, i));
	}
	control_wait_anew(c);
}

void control_wait_anew(struct label_control *c)
{
	for (uint32_t i = 0; i < label_db_ports(c->db); i++) {
		struct label_record *r = label_db_at(c->db, i);

		if (r->seen_ns > c->now_ns) /* the clock was set back */
			r->seen_ns = r->before_ns = c->now_ns;
		if (r->first_ns > c->now_ns)
			r->first_ns = c->now_ns;
		r->changed_ns = c->now_ns;
		r->unheard = true;
		keep(c, dues_set(&c->forget, i, forget_due(c, r)));
	}
}
