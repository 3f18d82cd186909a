/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
/*
 * sequence.c - the sequence numbers of reporters (dta(7), Flow control).
 *
 * A reporter, identified by its source address, numbers all its reports with
 * one counter. The report's table determines what happens if its number is not
 * the next one:
 *
 *	off     nothing
 *	count   the gap and the missing numbers are counted; the report is
 *	        carried out
 *	strict  the report is dropped; a NACK gives the last number in order,
 *	        after which the reporter sends again
 *
 * Strict tables check only tracked reports. The numbers of a reporter's
 * untracked reports are ignored once it has sent tracked ones.
 *
 * The first number of a reporter is always accepted.
 *
 * A gap is NACKed when it opens, and again after every NACK_EVERY reports that
 * are dropped as ahead or as duplicates. A reporter's probe is answered at once
 * (sequence_answer()).
 *
 * A gap ends when the missing report comes, or the reporter says that it is
 * gone, or a number comes that is FAR ahead, when no reporter still keeps the
 * missing one. Numbers that did not come are then counted, once each, and
 * dropped if they come late.
 *
 * Counting: a number ahead of the last by up to RECENT leaves those between
 * missing; each of them that comes late is subtracted again, and a duplicate
 * changes nothing. A number further away counts once its successor has followed
 * (RFC 3550, appendix A.1): it is a loss if it is ahead by FAR at most and is
 * not a first number (0 or 1); else the reporter has restarted, and what is
 * missing is unknown.
 */
/* clang-format on */
#include "dta/private.h"

#include <errno.h>
#include <sys/mman.h>

#include "dta/resend.h"

enum {
	NACK_EVERY = 64,
	/* How far ahead a report may be before the gap is given up: as many as
	 * a reporter keeps at most (resend.h); for numbers of 8 bits. */
	FAR = RESEND_WINDOW_MAX,
	FAR0 = 64,
	/* How many of a reporter's last numbers are remembered one by one; if
	 * they have 8 bits, FAR0 of them are used. */
	RECENT = 1024,
	/* Reporters that there is room for. Another one replaces the one of its
	 * set that was silent longest. */
	REPORTERS = 65536,
	REPORTERS_WAYS = 4, /* of a set */
};

_Static_assert(REPORTERS / REPORTERS_WAYS == 1 << EXPECTED_BITS,
	       "a set has a word");

/* No reporter's word: in those the upper bits of the number are 0. */
static const uint64_t no_source = UINT64_MAX;

/* The numbers of a reporter that came, for counting those that are missing. */
struct numbers {
	uint16_t last;	     /* the highest */
	uint16_t suspected;  /* the latest that is far from it, if `suspect' */
	bool begun, suspect; /* begun: last is set */
	uint64_t came[RECENT / 64]; /* a bit for each number up to last */
};

struct sequence_reporter {
	uint8_t address[16];
	uint64_t heard;	  /* t->heard at its last datagram; 0: unused */
	uint16_t last;	  /* last number in order, if a table is strict */
	uint16_t dropped; /* reports since the last NACK */
	uint8_t version;  /* of IP */
	bool narrow;	  /* of DTA/0, with numbers of 8 bits; the same
			     address may have one of DTA/1, too */
	bool gap;	  /* a gap is open */
	bool strict;	  /* has sent to a strict table */
	struct numbers numbers;
};

/* Large, but memory pages are used only for reporters that come. */
struct reporters {
	uint64_t expected[1 << EXPECTED_BITS];
	struct sequence_reporter set[REPORTERS / REPORTERS_WAYS]
				    [REPORTERS_WAYS];
};

/* Marks so many numbers from first on as came or not, a word at a time. */
static void mark_numbers(struct numbers *n, uint16_t first, unsigned count,
			 bool came)
{
	if (count >= RECENT) {
		memset(n->came, came ? 0xff : 0, sizeof(n->came));
		return;
	}
	while (count) {
		unsigned bit = first % 64;
		unsigned len = count < 64 - bit ? count : 64 - bit;
		uint64_t *word = &n->came[first % RECENT / 64];
		uint64_t mask = (len < 64 ? UINT64_C(1) << len : 0) - 1;

		mask <<= bit;
		*word = came ? *word | mask : *word & ~mask;
		first = (uint16_t)(first + len);
		count -= len;
	}
}

/* Nothing before this number is missing. */
static void numbers_begin(struct numbers *n, uint16_t number)
{
	*n = (struct numbers){.begun = true, .last = number};
	mark_numbers(n, 0, RECENT, true);
}

/* The last number is this one now, which is ahead. */
static void numbers_advance(struct numbers *n, struct translate_ledger *c,
			    uint16_t number, bool counted)
{
	uint16_t between = (uint16_t)(number - n->last - 1);

	mark_numbers(n, (uint16_t)(n->last + 1), between, !counted);
	if (between && counted) {
		c->gaps++;
		c->missing += between;
	}
	mark_numbers(n, number, 1, true);
	n->last = number;
	n->suspect = false;
}

/* A number came. counted: numbers missing before it are counted. */
static void numbers_note(struct numbers *n, struct translate_ledger *c,
			 uint16_t number, bool counted, bool narrow)
{
	int reach = narrow ? FAR0 : RECENT, step, ahead;
	uint64_t *word, bit;

	if (!n->begun) {
		numbers_begin(n, number);
		return;
	}
	if (narrow)
		number = (uint16_t)(n->last + (int8_t)(number - n->last));
	step = (int16_t)(number - n->last);
	if (step <= 0 && step > -reach) { /* late, or there already */
		word = &n->came[number % RECENT / 64];
		bit = UINT64_C(1) << number % 64;
		c->missing -= !(*word & bit);
		*word |= bit;
		return;
	}
	if (step <= 0 || step > reach) {
		/* Far away: does it follow another such number? */
		if (!n->suspect ||
		    (uint16_t)(number - n->suspected - 1) >= reach) {
			n->suspect = true;
			n->suspected = number;
			return;
		}
		ahead = (int16_t)(n->suspected - n->last);
		if (ahead > 0 && ahead <= FAR && n->suspected > 1 && !narrow &&
		    counted) {
			numbers_advance(n, c, n->suspected, true);
		} else {
			numbers_begin(n, n->suspected);
			c->restarts += counted;
		}
	}
	numbers_advance(n, c, number, counted);
}

/* All numbers after the last one came, in order, up to this one. */
static void numbers_follow(struct numbers *n, uint16_t last)
{
	if (!n->begun)
		numbers_begin(n, last);
	if (n->last == last)
		return;
	mark_numbers(n, (uint16_t)(n->last + 1), (uint16_t)(last - n->last),
		     true);
	n->last = last;
	n->suspect = false;
}

/* How far a number is ahead of the last in order. DTA/0's wrap at 8 bits. */
static int reporter_ahead(const struct sequence_reporter *rp, uint16_t number)
{
	return rp->narrow ? (int8_t)(number - rp->last)
			  : (int16_t)(number - rp->last);
}

unsigned reporters_set(const uint8_t *src, uint8_t version)
{
	uint64_t a, b;
	uint32_t v4;

	if (version != 6) {
		memcpy(&v4, src, 4);
		return expected_index(v4);
	}
	memcpy(&a, src, 8);
	memcpy(&b, src + 8, 8);
	return rng_mix(a ^ rng_mix(b)) >> (64 - EXPECTED_BITS);
}

/* A reporter's entry (*own true), or the one of its set that it may replace. */
static struct sequence_reporter *reporter_entry(struct reporters *rs,
						const uint8_t *src,
						uint8_t version, bool narrow,
						bool *own)
{
	struct sequence_reporter *set = rs->set[reporters_set(src, version)];
	struct sequence_reporter *oldest = set;
	uint8_t address[16] = {0};

	memcpy(address, src, version == 6 ? 16 : 4);
	for (unsigned i = 0; i < REPORTERS_WAYS; i++) {
		*own = set[i].heard && set[i].version == version &&
		       set[i].narrow == narrow &&
		       !memcmp(set[i].address, address, 16);
		if (*own)
			return &set[i];
		if (set[i].heard < oldest->heard)
			oldest = &set[i];
	}
	return oldest;
}

static uint64_t *expected_of(struct reporters *rs,
			     const struct sequence_reporter *rp)
{
	uint32_t src;

	if (rp->version != 4 || rp->narrow)
		return NULL;
	memcpy(&src, rp->address, sizeof(src));
	return expected_at(rs->expected, src);
}

/* Notes the numbers that came by way of the word of a reporter's set, for the
 * reporter that has the word now, and frees the word. Returns it; NULL: the
 * reporter is of a kind that uses none. */
static uint64_t *expected_catch_up(struct reporters *rs,
				   struct sequence_reporter *rp)
{
	uint64_t *expected = expected_of(rs, rp);
	uint32_t src;
	bool own = false;

	if (!expected || *expected == no_source)
		return expected;
	src = (uint32_t)(*expected >> 32);
	if (memcmp(rp->address, &src, sizeof(src)) != 0)
		rp = reporter_entry(rs, (const uint8_t *)&src, 4, false, &own);
	else
		own = true;
	if (own)
		numbers_follow(&rp->numbers, (uint16_t)(*expected - 1));
	*expected = no_source;
	return expected;
}

/* Makes the word expect the reporter's next number. */
static void expected_set(const struct sequence_reporter *rp, uint64_t *expected)
{
	uint32_t src;

	if (!expected)
		return;
	memcpy(&src, rp->address, sizeof(src));
	*expected = expected_word(rp->numbers.last + 1U, src);
}

/* Finds the reporter that sent a datagram, or adds it. */
static struct sequence_reporter *
find_reporter(struct translator *t, const struct net_udp *u, bool *known)
{
	bool narrow = is_dta0(u);
	struct sequence_reporter *rp = reporter_entry(
		t->reporters, u->src, u->version, narrow, known);

	if (!*known) {
		*rp = (struct sequence_reporter){.version = u->version,
						 .narrow = narrow};
		memcpy(rp->address, u->src, u->version == 6 ? 16 : 4);
	}
	rp->heard = ++t->heard;
	return rp;
}

/* Notes the number of a report that is accepted whatever its number. */
static void note_number(struct translator *t, struct sequence_reporter *rp,
			bool counted, uint16_t number)
{
	uint64_t *expected = expected_catch_up(t->reporters, rp);

	numbers_note(&rp->numbers, &t->ctr, number, counted, rp->narrow);
	if (!rp->strict)
		expected_set(rp, expected);
}

static bool is_counted(const struct table_state *state)
{
	return !state || state->t.sequence == TABLE_SEQ_COUNT;
}

void sequence_note(struct translator *t, const struct table_state *state,
		   const struct net_udp *u, const struct dta_report *r)
{
	struct sequence_reporter *rp;
	bool known;

	if (is_dta0(u) && t->format == DTA_FORMAT_0A)
		return; /* that format has no numbers */
	rp = find_reporter(t, u, &known);
	if (!rp->strict)
		note_number(t, rp, is_counted(state), r->sequence);
}

/* Takes n numbers at once if first is the expected one. Returns how many. */
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
		struct sequence_reporter *rp;
		bool known;

		if (!done) {
			rp = find_reporter(t, &u, &known);
			if (!rp->strict)
				note_number(t, rp, counted, first);
			done = 1;
		}
		first = (uint16_t)(first + done);
		n -= done;
	}
}

/* sequence_check() of a tracked report for a strict table. */
static uint64_t *
check_strictly(struct translator *t, const struct table_state *state,
	       struct sequence_reporter *rp, const struct net_udp *u,
	       const struct dta_report *r, const struct pkt *p, bool good)
{
	int step = reporter_ahead(rp, r->sequence);
	bool opens = step > 0 && !rp->gap;
	enum dta_nack_reason why = 0;

	expected_catch_up(t->reporters, rp);
	rp->strict = true;
	if (step > (is_dta0(u) ? FAR0 : FAR)) {
		t->ctr.lost_reports += (unsigned)step - 1;
		rp->last = (uint16_t)(r->sequence - 1);
		step = 1;
	}
	if (step != 1) {
		t->ctr.gaps += opens;
		rp->gap = rp->gap || opens;
		/* A gap is NACKed, but not at every report. */
		if (opens || ++rp->dropped >= NACK_EVERY) {
			rp->dropped = 0;
			nack_send(t, u, r->table, p, rp->last, DTA_NACK_GAP);
		}
		return step > 0 ? &t->ctr.out_of_order : &t->ctr.repeated;
	}
	/* In order; but if it cannot be stored now, it must come again. */
	if (good && state->busy)
		why = DTA_NACK_RESYNC;
	else if (good && t->rate.per_s &&
		 !rate_take(&t->rate, report_cost(t, state, r)))
		why = DTA_NACK_RATE;
	rp->dropped = 0;
	rp->gap = why != 0;
	if (why) {
		nack_send(t, u, r->table, p, rp->last, why);
		return why == DTA_NACK_RATE ? &t->ctr.rate_limited
					    : &t->ctr.resyncing;
	}
	rp->last = r->sequence;
	numbers_begin(&rp->numbers, r->sequence);
	return NULL;
}

uint64_t *sequence_check(struct translator *t, const struct table_state *state,
			 const struct net_udp *u, const struct dta_report *r,
			 const struct pkt *p, bool good)
{
	bool known;
	struct sequence_reporter *rp = find_reporter(t, u, &known);
	int step;

	if (!known)
		rp->last = (uint16_t)(r->sequence - 1);
	if (state && state->t.sequence == TABLE_SEQ_STRICT)
		return check_strictly(t, state, rp, u, r, p, good);
	step = reporter_ahead(rp, r->sequence);
	if (step == 1)
		rp->gap = false;
	if (rp->gap)
		return NULL; /* until the missing report comes */
	if (step == 1 ||
	    (step > 0 && state && state->t.sequence == TABLE_SEQ_COUNT))
		rp->last = r->sequence;
	note_number(t, rp, is_counted(state), r->sequence);
	return NULL;
}

uint64_t *sequence_answer(struct translator *t, const struct net_udp *u,
			  const struct dta_report *r, const struct pkt *p)
{
	bool known;
	struct sequence_reporter *rp = find_reporter(t, u, &known);
	int step;

	if (known)
		expected_catch_up(t->reporters, rp);
	if (!known)
		rp->last = r->sequence;
	else if (!t->strict)
		rp->last = rp->numbers.last;
	step = r->hop == DTA_NACK_GONE ? reporter_ahead(rp, r->sequence) : 0;
	if (step > 0) {
		t->ctr.lost_reports += (unsigned)step;
		rp->last = r->sequence;
		rp->gap = false;
		rp->dropped = 0;
	}
	if (!known || step > 0)
		numbers_begin(&rp->numbers, rp->last);
	nack_send(t, u, r->table, p, rp->last, DTA_NACK_STATE);
	return &t->ctr.probes;
}

int sequence_open(struct translator *t, struct error *err)
{
	void *mem = mmap(NULL, sizeof(struct reporters), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (mem == MAP_FAILED)
		return error_set(err, -ENOMEM, "no memory for the reporters");
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
