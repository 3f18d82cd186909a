/* SPDX-License-Identifier: BSD-2-Clause */
#include "roce/standing.h"

#include "base/text.h"

static const uint64_t answering_ns = UINT64_C(2000000000); /* a few probes */
static const uint64_t patience_ns = UINT64_C(5000000000); /* for any progress */

const char standing_nothing[] = "nothing was acknowledged of all that was sent";

/* What is wrong with a collector, and what to do about it. */
static void complain(struct fault *f, const struct ticket *t,
		     enum standing_state state, unsigned table,
		     const char *nothing)
{
	char who[TEXT_IP_MAX], peer[TEXT_IP_MAX];

	text_of_ip(who, t->version, t->ip);
	if (state == STANDING_REFUSED)
		fault_set(f, -1,
			  "%s: table %.*s is refused: is the ticket out of "
			  "date? dta-collect writes it anew; a copy of it has "
			  "to be copied again",
			  who, TABLE_NAME_MAX, t->table[table].name);
	else if (state == STANDING_VAIN)
		fault_set(f, -1,
			  "%s: %s, though it answers: do packets with %u bytes "
			  "of payload get there? dta-collect --mtu makes them "
			  "shorter",
			  who, nothing, t->mtu);
	else
		fault_set(f, -1,
			  "%s: %s: no answer: is dta-collect running there, "
			  "with --peer-ip %s and this ticket?",
			  who, nothing,
			  text_of_ip(peer, t->version, t->peer_ip));
}

/*
 * A table that has waited too long for any progress, TABLE_MAX: none has. One
 * that is refused goes before others.
 */
static unsigned stuck_table(struct standing *st, const struct roce_out *o,
			    unsigned tables, uint64_t now, bool away)
{
	unsigned stuck = TABLE_MAX;

	for (unsigned i = 0; i < tables; i++) {
		struct roce_out_progress at = roce_out_progress(o, i);
		bool renewed = st->table[i].refused && !at.refused;

		if (away || renewed || !at.waiting ||
		    at.acked != st->table[i].acked)
			st->table[i].since_ns = now;
		else if (now - st->table[i].since_ns >= patience_ns &&
			 (stuck == TABLE_MAX || at.refused))
			stuck = i;
		st->table[i].acked = at.acked;
		st->table[i].refused = at.refused;
	}
	return stuck;
}

/* Whether an answer came of late, be it what it may. */
static bool is_answering(struct standing *st, const struct roce_out *o,
			 uint64_t now)
{
	struct requester_ledger l = roce_out_ledger(o);
	uint64_t answers = l.acks + l.naks_psn + l.naks_access +
			   l.naks_invalid + l.naks_rnr;

	if (answers != st->answers)
		st->heard_ns = now;
	st->answers = answers;
	return now - st->heard_ns < answering_ns;
}

/* What a collector that takes nothing means for what comes in. */
static const char *consequence(enum standing_state state, bool waits)
{
	return waits && state == STANDING_SILENT
		       ? " Reports are left unread while the window is full: "
			 "start it, or interrupt this"
		       : "";
}

static enum standing_state state_of(const struct standing *st,
				    const struct roce_out *o, unsigned stuck,
				    bool answering)
{
	if (stuck == TABLE_MAX) /* or nothing waits: that is no cure */
		return roce_out_progress(o, st->stuck).acked != st->acked
			       ? STANDING_WELL
			       : st->state;
	if (roce_out_progress(o, stuck).refused)
		return STANDING_REFUSED;
	if (st->state == STANDING_SILENT || st->state == STANDING_VAIN)
		return st->state; /* said is said */
	return answering ? STANDING_VAIN : STANDING_SILENT;
}

bool standing_look(struct standing *st, const struct roce_out *o,
		   uint64_t now_ns, bool away, bool waits, struct fault *f)
{
	const struct ticket *t = roce_out_ticket(o);
	unsigned stuck = stuck_table(st, o, t->n, now_ns, away);
	enum standing_state state = state_of(st, o, stuck,
					     is_answering(st, o, now_ns));
	char who[TEXT_IP_MAX];
	struct fault what;

	if (state == st->state)
		return false;
	st->state = state;
	if (state == STANDING_WELL) {
		fault_set(f, -1, "%s: requests are acknowledged now",
			  text_of_ip(who, t->version, t->ip));
		return true;
	}
	st->stuck = stuck;
	st->acked = roce_out_progress(o, stuck).acked;
	if (state == STANDING_REFUSED && roce_out_stale(o))
		return false; /* fleet_refusal() says it */
	complain(&what, t, state, stuck, "nothing is acknowledged");
	fault_set(f, -1, "%.400s%s", what.text, consequence(state, waits));
	return true;
}

bool standing_why(const struct roce_out *o, struct fault *f)
{
	const struct ticket *t = roce_out_ticket(o);

	for (unsigned k = 0; k < t->n; k++) {
		struct roce_out_progress at = roce_out_progress(o, k);

		if (!at.waiting)
			continue;
		complain(f, t, at.refused ? STANDING_REFUSED : STANDING_SILENT,
			 k, standing_nothing);
		return true;
	}
	return false;
}
