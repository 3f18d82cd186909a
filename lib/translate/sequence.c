/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sequence.c - the sequence numbers of reporters (dta.md 1.1).
 *
 * A reporter, known by its source address, numbers its reports with one
 * counter, whatever tables they are for. The table of the report in hand says
 * what is done about a number that is not the next one:
 *
 *	off     nothing
 *	count   a gap and what is missing in it are counted, the report is
 *	        carried out (base/numbers.h)
 *	strict  the report is dropped; a NACK tells the last number in order,
 *	        from where the reporter sends again
 *
 * Strict tables look at tracked reports alone. A reporter that has sent them
 * some may number its other ones as it likes: those are not looked at then.
 *
 * The first number of a reporter is taken as it is.
 *
 * A gap is NACKed when it opens, and again with every NACK_EVERY reports that
 * are dropped while it is open or because they were there already. A reporter
 * that wants to know asks (sequence_ask()) and is answered at once.
 *
 * A gap ends in one of three ways: the missing report comes; the reporter says
 * that it is gone for good; or, from a reporter that does neither, a number
 * comes that is FAR ahead, when no reporter has the missing one any more. What
 * did not come is then counted, each number once, and dropped if it comes late.
 */
#include "translate/private.h"

#include <stdlib.h>

#include "resend/resend.h"

enum {
	NACK_EVERY = 64,
	/* How far ahead a report may be before the gap is given up: as many as
	 * a reporter keeps at most (resend.h); for numbers of 8 bits. */
	FAR = RESEND_WINDOW_MAX,
	FAR0 = 64,
};

static struct reporter *find(struct translator *t, const struct net_udp *u)
{
	bool own, narrow = is_dta0(u);
	struct reporter *who = reporters_find(t->reporters, u, narrow, &own);

	if (own)
		return who;
	reporter_init(t->reporters, who, u, narrow);
	return who;
}

/* A number that nothing hangs on. counted: what is missing before it. */
static void note(struct translator *t, struct reporter *who, bool counted,
		 uint16_t number)
{
	struct reporters *rs = t->reporters;
	uint64_t *expected = expected_catch_up(rs, who);
	struct numbers_count c = {0};

	numbers_note(reporter_numbers(rs, who), &c, number, counted);
	t->ctr.gaps += c.gaps;
	t->ctr.missing += c.missing;
	t->ctr.restarts += c.restarts;
	if (!who->strict)
		expected_set(rs, who, expected);
}

static bool is_counted(const struct lane *l)
{
	return !l || l->t.sequence == TABLE_SEQ_COUNT;
}

void sequence_note(struct translator *t, const struct lane *l,
		   const struct net_udp *u, const struct dta_report *r)
{
	struct reporter *who;

	if (is_dta0(u) && t->format == DTA_FORMAT_0A)
		return; /* that one has no numbers */
	who = find(t, u);
	reporter_heard(t->reporters, who);
	if (!who->strict)
		note(t, who, is_counted(l), r->sequence);
}

/* So many of them, up to n, are those that are expected. */
static unsigned expected_take(struct translator *t, uint32_t src,
			      uint16_t first, unsigned n)
{
	uint64_t *at = expected_at(t->expected, src);
	unsigned left = 65536u - first;

	if (*at != expected_word(first, src))
		return 0;
	n = n < left ? n : left;
	*at += n;
	return n;
}

void sequence_run(struct translator *t, uint32_t src, uint16_t first,
		  unsigned n, bool counted)
{
	static const uint8_t dta1 = 0x10;
	const struct net_udp u = {
		.version = 4, .src = (const uint8_t *)&src, .payload = &dta1};

	while (n) {
		unsigned done = expected_take(t, src, first, n);
		struct reporter *who;

		if (!done) {
			who = find(t, &u);
			reporter_heard(t->reporters, who);
			if (!who->strict)
				note(t, who, counted, first);
			done = 1;
		}
		first = (uint16_t)(first + done);
		n -= done;
	}
}

/* Tells the reporter, but of one gap not all the time. */
static void remind(struct translator *t, struct reporter *who,
		   const struct net_udp *u, const struct dta_report *r,
		   const struct pkt *p, bool now)
{
	if (!now && ++who->unheeded < NACK_EVERY)
		return;
	who->unheeded = 0;
	nack_send(t, u, r->table, p, who->last, DTA_NACK_GAP);
}

/* Why a good report in order must come again later, 0: it need not. */
static enum dta_nack_reason refused(struct translator *t, const struct lane *l,
				    const struct dta_report *r)
{
	if (l->busy)
		return DTA_NACK_RESYNC;
	if (t->rate.per_s && !rate_take(&t->rate, cost_of(t, l, r)))
		return DTA_NACK_RATE;
	return 0;
}

/* A number in order, for a strict table. */
static uint64_t *in_order(struct translator *t, const struct lane *l,
			  struct reporter *who, const struct net_udp *u,
			  const struct dta_report *r, const struct pkt *p,
			  bool good)
{
	enum dta_nack_reason why = good ? refused(t, l, r) : 0;

	who->unheeded = 0;
	who->gap = why != 0;
	if (!why) {
		who->last = r->sequence;
		return NULL;
	}
	nack_send(t, u, r->table, p, who->last, why);
	return why == DTA_NACK_RATE ? &t->ctr.rate_limited : &t->ctr.resyncing;
}

/* A number that is not the next one, for a strict table. */
static uint64_t *out_of_order(struct translator *t, struct reporter *who,
			      const struct net_udp *u,
			      const struct dta_report *r, const struct pkt *p,
			      int step)
{
	bool opens = step > 0 && !who->gap;

	who->gap = who->gap || opens;
	t->ctr.gaps += opens;
	remind(t, who, u, r, p, opens);
	return step > 0 ? &t->ctr.out_of_order : &t->ctr.repeated;
}

/* A tracked report for a strict table. */
static uint64_t *check_strictly(struct translator *t, const struct lane *l,
				struct reporter *who, const struct net_udp *u,
				const struct dta_report *r, const struct pkt *p,
				bool good)
{
	int step = reporter_ahead(who, r->sequence);
	uint64_t *instead;

	expected_catch_up(t->reporters, who);
	who->strict = true;
	if (step > (is_dta0(u) ? FAR0 : FAR)) {
		t->ctr.lost_reports += (unsigned)step - 1;
		who->last = (uint16_t)(r->sequence - 1);
		step = 1;
	}
	if (step != 1)
		return out_of_order(t, who, u, r, p, step);
	instead = in_order(t, l, who, u, r, p, good);
	if (!instead)
		numbers_settle(reporter_numbers(t->reporters, who),
			       r->sequence);
	return instead;
}

uint64_t *sequence_check(struct translator *t, const struct lane *l,
			 const struct net_udp *u, const struct dta_report *r,
			 const struct pkt *p, bool good)
{
	struct reporter *who = find(t, u);
	int step;

	if (!who->heard)
		who->last = (uint16_t)(r->sequence - 1);
	reporter_heard(t->reporters, who);
	if (l && l->t.sequence == TABLE_SEQ_STRICT)
		return check_strictly(t, l, who, u, r, p, good);
	step = reporter_ahead(who, r->sequence);
	if (step == 1)
		who->gap = false;
	if (who->gap)
		return NULL; /* it is the strict table's to close */
	if (step == 1 || (step > 0 && l && l->t.sequence == TABLE_SEQ_COUNT))
		who->last = r->sequence;
	note(t, who, is_counted(l), r->sequence);
	return NULL;
}

/* The last number in order, for one who asks. */
static uint16_t stand_of(struct translator *t, struct reporter *who)
{
	expected_catch_up(t->reporters, who);
	return t->strict ? who->last
			 : numbers_last(reporter_numbers(t->reporters, who));
}

uint64_t *sequence_ask(struct translator *t, const struct net_udp *u,
		       const struct dta_report *r, const struct pkt *p)
{
	struct reporter *who = find(t, u);
	bool known = who->heard;
	int step;

	who->last = known ? stand_of(t, who) : r->sequence;
	reporter_heard(t->reporters, who);
	step = r->hop == DTA_NACK_GONE ? reporter_ahead(who, r->sequence) : 0;
	if (step > 0) {
		t->ctr.lost_reports += (unsigned)step;
		who->last = r->sequence;
		who->gap = false;
		who->unheeded = 0;
	}
	if (!known || step > 0)
		numbers_settle(reporter_numbers(t->reporters, who), who->last);
	nack_send(t, u, r->table, p, who->last, DTA_NACK_STATE);
	return &t->ctr.questions;
}

int sequence_open(struct translator *t, struct fault *f)
{
	int rc = reporters_open(&t->reporters, f);

	if (rc < 0)
		return rc;
	t->expected = t->reporters->expected;
	return 0;
}

void sequence_close(struct translator *t)
{
	reporters_close(t->reporters);
	t->reporters = NULL;
	t->expected = NULL;
}
