/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control_ports.c - ports that are silent, Pro (paper 004, algorithm 3), ports
 * that are forgotten.
 *
 * Each port is looked at when something is due of it, and not before: its place
 * waits in c->due. What the paper asks for each time round its loop, more than
 * k * T ago, begins to hold right behind the k * T: what is due at a time is
 * done when that is over, and a label that comes just then is in time. A label
 * does not change what waits: whoever is looked at too early waits again.
 */
#include <errno.h>

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

/* When S is to be moved, if all stays as it is. */
static uint64_t step_due(const struct label_control *c,
			 const struct label_record *r)
{
	if (!c->o.pro)
		return DUE_NEVER;
	if (!r->silent)
		return r->s ? r->changed_ns + c->patience_ns : DUE_NEVER;
	if (r->s >= c->o.s_max)
		return DUE_NEVER;
	return later(r->changed_ns, since(c, r)) + c->patience_ns;
}

static uint64_t forget_due(const struct label_control *c,
			   const struct label_record *r)
{
	uint64_t after = forget_after(c, r);

	if (!after || !r->silent)
		return DUE_NEVER;
	return later(r->seen_ns + after, since(c, r) + c->patience_ns);
}

static void wait(struct label_control *c, uint32_t place)
{
	const struct label_record *r = label_db_at(c->db, place);
	uint64_t due = sooner(step_due(c, r), forget_due(c, r));

	if (!r->silent)
		due = sooner(due, since(c, r) + c->patience_ns);
	if (dues_set(&c->due, place, due) < 0)
		c->err = -ENOMEM;
}

static void tell_silence(struct label_control *c, struct label_record *r,
			 bool silent, uint64_t now_ns, uint64_t since_ns)
{
	r->silent = silent;
	if (silent) {
		c->silent++;
		c->ctr.silent++;
	} else {
		c->silent--;
		c->ctr.heard++;
	}
	if (c->o.calls.silent)
		c->o.calls.silent(c->o.calls.ctx, r, silent, now_ns, since_ns);
}

static void set_s(struct label_control *c, struct label_record *r, uint8_t s,
		  enum label_reason reason, uint64_t now_ns)
{
	struct label_decision d = {.now_ns = now_ns,
				   .reason = reason,
				   .port = r,
				   .from = r->s,
				   .lost = label_lost(r) - r->reported};

	if (s > r->s)
		c->ctr.raised++;
	else
		c->ctr.lowered++;
	c->with_s[r->s]--;
	c->with_s[s]++;
	r->s = s;
	r->changed_ns = now_ns;
	r->reported = label_lost(r);
	if (c->o.calls.decision)
		c->o.calls.decision(c->o.calls.ctx, &d);
}

/* Algorithm 3, for one port. */
static void step(struct label_control *c, struct label_record *r, bool silent,
		 uint64_t at_ns)
{
	if (!c->o.pro || at_ns - r->changed_ns < c->patience_ns)
		return;
	if (silent && r->s < c->o.s_max)
		set_s(c, r, (uint8_t)(r->s + 1), LABEL_SILENT, at_ns);
	else if (!silent && r->s > 0)
		set_s(c, r, (uint8_t)(r->s - 1), LABEL_HEARD, at_ns);
}

/* Should it come back its S is 0, here as there. */
static void forget(struct label_control *c, uint32_t place, uint64_t at_ns)
{
	struct label_record *r = label_db_at(c->db, place);
	uint32_t last = label_db_ports(c->db) - 1;

	if (c->o.pro && r->s)
		set_s(c, r, 0, LABEL_FORGOTTEN, at_ns);
	c->with_s[r->s]--;
	c->silent -= r->silent;
	c->ctr.forgotten++;
	if (c->o.calls.forgotten)
		c->o.calls.forgotten(c->o.calls.ctx, r, at_ns);
	label_db_forget(c->db, place);
	dues_move(&c->due, last, place);
}

void control_look(struct label_control *c, uint32_t place, uint64_t at_ns)
{
	struct label_record *r = label_db_at(c->db, place);
	bool silent = at_ns - since(c, r) >= c->patience_ns;

	if (silent && !r->silent)
		tell_silence(c, r, true, at_ns, r->seen_ns);
	if (silent && forget_due(c, r) <= at_ns) {
		forget(c, place, at_ns);
		return;
	}
	step(c, r, silent, at_ns);
	wait(c, place);
}

void control_new(struct label_control *c, uint32_t place)
{
	c->with_s[0]++;
	wait(c, place);
}

void control_reset(struct label_control *c, uint32_t place)
{
	struct label_record *r = label_db_at(c->db, place);

	if (!r->s)
		return;
	set_s(c, r, 0, LABEL_RESET, c->now_ns);
	wait(c, place);
}

void control_heard(struct label_control *c, uint32_t place)
{
	struct label_record *r = label_db_at(c->db, place);

	if (r->interval != c->number) {
		r->interval = c->number;
		c->sum.covered++;
	}
	if (r->silent) {
		tell_silence(c, r, false, c->now_ns, r->before_ns);
		step(c, r, false, c->now_ns);
		wait(c, place);
	}
	if (c->o.calls.port)
		c->o.calls.port(c->o.calls.ctx, r);
}

/* S of an earlier run. Whether the switch still has it nobody knows: it is told
 * again. */
static void resume_s(struct label_control *c, struct label_record *r)
{
	uint8_t s = r->s < c->o.s_max ? r->s : c->o.s_max;

	if (!c->o.pro || !s) {
		c->with_s[r->s]++;
		return;
	}
	c->with_s[0]++;
	r->s = 0;
	set_s(c, r, s, LABEL_RESUMED, c->now_ns);
}

/* How long they have been silent while nobody listened, nobody knows. */
void control_resume(struct label_control *c)
{
	for (uint32_t i = 0; i < label_db_ports(c->db); i++) {
		struct label_record *r = label_db_at(c->db, i);

		if (r->seen_ns > c->now_ns) /* of a later capture */
			r->seen_ns = r->before_ns = c->now_ns;
		if (r->first_ns > c->now_ns)
			r->first_ns = c->now_ns;
		r->changed_ns = c->now_ns;
		c->silent += r->silent;
		resume_s(c, r);
		wait(c, i);
	}
}
