/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * held.c - held reports, when the gap before them has ended (sequence.c): up to
 * the next gap they are stages of their own, as if they came in then.
 */
#include "translate/private.h"

#include "resend/resend.h"
#include "wire/be.h"

enum {
	ROW = 64, /* that are looked up at once */
};

_Static_assert((int)REPORTERS <= (int)HOLD_OWNERS, "each may have some held");

/* Some held reports that are next, as a stage. False: there are none. */
static bool take_row(struct translator *t, const struct reporter *who,
		     uint64_t now_ns)
{
	uint16_t owner = reporter_index(t->reporters, who);
	uint16_t first = (uint16_t)(who->last + 1);
	struct pkt row[ROW];
	unsigned n = hold_row(t->hold, owner, first, row, ROW, now_ns);

	if (!n)
		return false;
	n = (unsigned)stage_run(t, row, n);
	t->ctr.received -= n; /* they were counted when they came */
	t->ctr.held -= n;
	hold_release(t->hold, owner, first, n);
	return true;
}

/* The numbers behind the last one, up to so many or to one that is held, will
 * not come. */
static void give_up(struct translator *t, struct reporter *who, unsigned max)
{
	unsigned n = hold_missing(t->hold, reporter_index(t->reporters, who),
				  (uint16_t)(who->last + 1), max);

	t->ctr.lost_reports += n;
	who->last = (uint16_t)(who->last + n);
	who->gap = false;
	numbers_settle(reporter_numbers(t->reporters, who), who->last);
}

/* As if the next held report, which is behind a gap, came now. */
static void tell_next(struct translator *t, const struct reporter *who,
		      uint64_t now_ns)
{
	uint16_t owner = reporter_index(t->reporters, who), at = who->last + 1;
	struct net_udp u;
	struct pkt p;

	at += hold_missing(t->hold, owner, at, RESEND_WINDOW_MAX);
	if (hold_row(t->hold, owner, at, &p, 1, now_ns) &&
	    net_udp_decode(&u, p.data, p.len) == 0)
		nack_send(t, &u, be16_load(u.payload + DTA_AT_TABLE), &p,
			  who->last, DTA_NACK_GAP);
}

void held_go_on(struct translator *t, const struct pkt *next)
{
	bool before = t->halt == HALT_BEFORE;
	const struct pkt *p = before ? next : next - 1;
	struct reporter *who = t->next.who;
	uint16_t gone = t->next.gone;
	int left;

	t->next.going_on = true;
	while ((left = (int16_t)(gone - who->last)) > 0 || has_held(t, who)) {
		if (take_row(t, who, p->ts_ns))
			continue;
		if (left <= 0)
			break;
		give_up(t, who, (unsigned)left);
	}
	t->next.going_on = false;
	if (!has_held(t, who) || who->gap)
		return;
	who->gap = true;
	t->ctr.gaps++;
	if (!before) /* one who gave notice is answered now */
		tell_next(t, who, p->ts_ns);
}
