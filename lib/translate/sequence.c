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
#include <sys/mman.h>

#include "base/numbers.h"
#include "base/rng.h"
#include "resend/resend.h"

enum {
	REPORTERS = 65536,
	WAYS = 4, /* reporters of a set */
	NACK_EVERY = 64,
	/* How far ahead a report may be before the gap is given up: as many as
	 * a reporter keeps at most (resend.h); for numbers of 8 bits. */
	FAR = RESEND_WINDOW_MAX,
	FAR0 = 64,
	NARROW = 0x80, /* in the place of an IP version: of DTA/0, too */
};

/* No reporter's: the high bits are not 0. */
static const uint64_t nobody = UINT64_MAX;

struct reporter {
	uint8_t address[16];
	uint64_t heard;	   /* when: the count of checks; 0: nobody */
	uint16_t last;	   /* last number in order, if a table is strict */
	uint16_t unheeded; /* reports dropped since it was told */
	uint8_t version;   /* of IP, and NARROW */
	bool gap;	   /* a gap is open */
	bool strict;	   /* has sent to a strict table */
};

struct reporters {
	uint64_t checks;
	uint64_t expected[1 << EXPECTED_BITS];
	struct reporter set[REPORTERS / WAYS][WAYS];
	struct numbers numbers[REPORTERS];
};

/* The place of a reporter: its own, or the one that it may have. */
static struct reporter *place_of(struct reporters *rs, const uint8_t *src,
				 uint8_t version, bool *own)
{
	uint8_t address[16] = {0};
	struct reporter *set, *oldest;
	uint64_t a, b;

	memcpy(address, src, (version & 15) == 6 ? 16 : 4);
	memcpy(&a, address, 8);
	memcpy(&b, address + 8, 8);
	set = rs->set[rng_mix(a ^ rng_mix(b + version)) % (REPORTERS / WAYS)];
	oldest = set;
	for (unsigned i = 0; i < WAYS; i++) {
		*own = set[i].heard && set[i].version == version &&
		       !memcmp(set[i].address, address, 16);
		if (*own)
			return &set[i];
		if (set[i].heard < oldest->heard)
			oldest = &set[i];
	}
	return oldest;
}

static struct numbers *numbers_of(struct reporters *rs,
				  const struct reporter *who)
{
	return &rs->numbers[who - rs->set[0]];
}

static struct reporter *reporter_find(struct reporters *rs,
				      const struct net_udp *u)
{
	uint8_t version = u->version | (is_dta0(u) ? NARROW : 0);
	struct reporter *who;
	bool own;

	who = place_of(rs, u->src, version, &own);
	if (own)
		return who;
	*who = (struct reporter){.version = version};
	memcpy(who->address, u->src, u->version == 6 ? 16 : 4);
	*numbers_of(rs, who) = (struct numbers){.narrow = is_dta0(u)};
	return who;
}

/* Where admit.c looks for a reporter, NULL: it does not. */
static uint64_t *expected_of(struct reporters *rs, const struct reporter *who)
{
	uint32_t src;

	if (who->version != 4)
		return NULL;
	memcpy(&src, who->address, sizeof(src));
	return expected_at(rs->expected, src);
}

/* What admit.c has let pass since is made known, whoever it was from. Returns
 * expected_of(). */
static uint64_t *catch_up(struct reporters *rs, struct reporter *who)
{
	uint64_t *expected = expected_of(rs, who);
	uint32_t src;
	bool own = false;

	if (!expected || *expected == nobody)
		return expected;
	src = (uint32_t)(*expected >> 32);
	if (memcmp(who->address, &src, sizeof(src)) != 0)
		who = place_of(rs, (const uint8_t *)&src, 4, &own);
	else
		own = true;
	if (own)
		numbers_follow(numbers_of(rs, who), (uint16_t)(*expected - 1));
	*expected = nobody;
	return expected;
}

/* From now on admit.c looks for the reporter's next number. */
static void leave_to_admit(struct reporters *rs, const struct reporter *who,
			   uint64_t *expected)
{
	uint32_t src;

	if (!expected || who->strict)
		return;
	memcpy(&src, who->address, sizeof(src));
	*expected = expected_word(numbers_last(numbers_of(rs, who)) + 1U, src);
}

/* A number that nothing hangs on. */
static void note(struct translator *t, struct reporter *who,
		 const struct lane *l, uint16_t number)
{
	struct reporters *rs = t->reporters;
	uint64_t *expected = catch_up(rs, who);
	struct numbers_count c = {0};

	numbers_note(numbers_of(rs, who), &c, number,
		     !l || l->t.sequence == TABLE_SEQ_COUNT);
	t->ctr.gaps += c.gaps;
	t->ctr.missing += c.missing;
	t->ctr.restarts += c.restarts;
	leave_to_admit(rs, who, expected);
}

void sequence_note(struct translator *t, const struct lane *l,
		   const struct net_udp *u, const struct dta_report *r)
{
	struct reporter *who;

	if (is_dta0(u) && t->format == DTA_FORMAT_0A)
		return; /* that one has no numbers */
	who = reporter_find(t->reporters, u);
	who->heard = ++t->reporters->checks;
	if (!who->strict)
		note(t, who, l, r->sequence);
}

void sequence_common(struct translator *t, const uint8_t *src, uint64_t head)
{
	static const uint8_t dta1 = 0x10;
	const struct net_udp u = {.version = 4, .src = src, .payload = &dta1};
	const struct dta_report r = {.sequence = head_sequence(head)};

	sequence_note(t, &t->lane[head_lane(head)], &u, &r);
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

/* A tracked report for a strict table. */
static uint64_t *check_strictly(struct translator *t, const struct lane *l,
				struct reporter *who, const struct net_udp *u,
				const struct dta_report *r, const struct pkt *p,
				bool good)
{
	int step = ahead(u, r, who->last);
	uint64_t *instead;

	catch_up(t->reporters, who);
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
		numbers_settle(numbers_of(t->reporters, who), r->sequence);
	return instead;
}

uint64_t *sequence_check(struct translator *t, const struct lane *l,
			 const struct net_udp *u, const struct dta_report *r,
			 const struct pkt *p, bool good)
{
	struct reporter *who = reporter_find(t->reporters, u);
	int step;

	if (!who->heard)
		who->last = (uint16_t)(r->sequence - 1);
	who->heard = ++t->reporters->checks;
	if (l && l->t.sequence == TABLE_SEQ_STRICT)
		return check_strictly(t, l, who, u, r, p, good);
	step = ahead(u, r, who->last);
	if (step == 1)
		who->gap = false;
	if (who->gap)
		return NULL; /* it is the strict table's to close */
	if (step == 1 || (step > 0 && l && l->t.sequence == TABLE_SEQ_COUNT))
		who->last = r->sequence;
	note(t, who, l, r->sequence);
	return NULL;
}

/* The last number in order, for one who asks. */
static uint16_t stand_of(struct translator *t, struct reporter *who)
{
	catch_up(t->reporters, who);
	return t->strict ? who->last
			 : numbers_last(numbers_of(t->reporters, who));
}

void sequence_ask(struct translator *t, const struct net_udp *u,
		  const struct dta_report *r, const struct pkt *p)
{
	struct reporter *who = reporter_find(t->reporters, u);
	bool known = who->heard;
	int step;

	who->last = known ? stand_of(t, who) : r->sequence;
	who->heard = ++t->reporters->checks;
	step = r->hop == DTA_NACK_GONE ? ahead(u, r, who->last) : 0;
	if (step > 0) {
		t->ctr.lost_reports += (unsigned)step;
		who->last = r->sequence;
		who->gap = false;
		who->unheeded = 0;
	}
	if (!known || step > 0)
		numbers_settle(numbers_of(t->reporters, who), who->last);
	nack_send(t, u, r->table, p, who->last, DTA_NACK_STATE);
}

/* Pages come as reporters do; there are seldom many. */
int sequence_open(struct translator *t, struct fault *f)
{
	void *mem = mmap(NULL, sizeof(struct reporters), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (mem == MAP_FAILED)
		return fault_set(f, -ENOMEM, "no memory for the reporters");
	t->reporters = mem;
	t->expected = t->reporters->expected;
	memset(t->expected, 0xff, sizeof(t->reporters->expected));
	return 0;
}

void sequence_close(struct translator *t)
{
	if (t->reporters)
		munmap(t->reporters, sizeof(*t->reporters));
	t->reporters = NULL;
	t->expected = NULL;
}
