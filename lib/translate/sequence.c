/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sequence.c - the sequence numbers of tracked reports (dta.md 1.1).
 *
 * A reporter, known by its source address, numbers all its tracked reports with
 * one counter, whatever tables they are for. The table of the report in hand
 * says what is done about a number that is not the next one:
 *
 *	off     nothing; only the next number in order is noted
 *	count   a gap is counted, the report is carried out; what comes late
 *	        or again is carried out and not a gap
 *	strict  the report is dropped; a NACK tells the last number in order,
 *	        from where the reporter sends again
 *
 * The first number of a reporter is taken as it is. There is room for
 * REPORTERS; one more takes the place of the one of its set that was silent
 * longest.
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

#include <errno.h>
#include <stdlib.h>

#include "base/rng.h"
#include "translate/resend.h"

enum {
	REPORTERS = 65536,
	WAYS = 4, /* reporters of a set */
	NACK_EVERY = 64,
	/* How far ahead a report may be before the gap is given up: as many as
	 * a reporter keeps at most (resend.h); for numbers of 8 bits. */
	FAR = RESEND_WINDOW_MAX,
	FAR0 = 64,
};

struct reporter {
	uint8_t address[16];
	uint64_t heard;	   /* when: the count of checks; 0: nobody */
	uint16_t last;	   /* last number in order */
	uint16_t unheeded; /* reports dropped since it was told */
	uint8_t version;   /* of IP */
	bool gap;	   /* a gap is open */
};

struct reporters {
	uint64_t checks;
	struct reporter set[REPORTERS / WAYS][WAYS];
};

static struct reporter *reporter_find(struct reporters *rs,
				      const struct net_udp *u)
{
	uint8_t address[16] = {0}, version = u->version;
	struct reporter *set, *oldest;
	uint64_t a, b;

	memcpy(address, u->src, version == 6 ? 16 : 4);
	memcpy(&a, address, 8);
	memcpy(&b, address + 8, 8);
	set = rs->set[rng_mix(a ^ rng_mix(b + version)) % (REPORTERS / WAYS)];
	oldest = set;
	for (unsigned i = 0; i < WAYS; i++) {
		if (set[i].heard && set[i].version == version &&
		    !memcmp(set[i].address, address, 16))
			return &set[i];
		if (set[i].heard < oldest->heard)
			oldest = &set[i];
	}
	*oldest = (struct reporter){.version = version};
	memcpy(oldest->address, address, 16);
	return oldest;
}

/* How far seq is ahead of last, numbers wrapping at 8 or 16 bits. */
static int ahead(const struct net_udp *u, const struct dta_report *r,
		 uint16_t last)
{
	if (is_dta0(u))
		return (int8_t)(r->sequence - last);
	return (int16_t)(r->sequence - last);
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

uint64_t *sequence_check(struct translator *t, const struct lane *l,
			 const struct net_udp *u, const struct dta_report *r,
			 const struct pkt *p, bool good)
{
	uint8_t mode = l ? l->t.sequence : TABLE_SEQ_OFF;
	struct reporter *who = reporter_find(t->reporters, u);
	int step = who->heard ? ahead(u, r, who->last) : 1;

	if (!who->heard)
		who->last = (uint16_t)(r->sequence - 1);
	who->heard = ++t->reporters->checks;
	if (mode == TABLE_SEQ_STRICT) {
		if (step > (is_dta0(u) ? FAR0 : FAR)) {
			t->ctr.lost_reports += (unsigned)step - 1;
			who->last = (uint16_t)(r->sequence - 1);
			step = 1;
		}
		return step == 1 ? in_order(t, l, who, u, r, p, good)
				 : out_of_order(t, who, u, r, p, step);
	}
	if (step == 1) {
		who->last = r->sequence;
		who->gap = false;
	} else if (mode == TABLE_SEQ_COUNT && step > 0 && !who->gap) {
		/* A gap that a strict table opened is that one's to close. */
		t->ctr.gaps++;
		who->last = r->sequence;
	}
	return NULL;
}

void sequence_ask(struct translator *t, const struct net_udp *u,
		  const struct dta_report *r, const struct pkt *p)
{
	struct reporter *who = reporter_find(t->reporters, u);
	int step = who->heard ? ahead(u, r, who->last) : 0;

	if (!who->heard)
		who->last = r->sequence;
	who->heard = ++t->reporters->checks;
	if (r->hop == DTA_NACK_GONE && step > 0) {
		t->ctr.lost_reports += (unsigned)step;
		who->last = r->sequence;
		who->gap = false;
		who->unheeded = 0;
	}
	nack_send(t, u, r->table, p, who->last, DTA_NACK_STATE);
}

int sequence_open(struct translator *t, struct fault *f)
{
	t->reporters = calloc(1, sizeof(*t->reporters));
	if (!t->reporters)
		return fault_set(f, -ENOMEM, "no memory for the reporters");
	return 0;
}

void sequence_close(struct translator *t)
{
	free(t->reporters);
	t->reporters = NULL;
}
