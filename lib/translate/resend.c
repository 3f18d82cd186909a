/* SPDX-License-Identifier: BSD-2-Clause */
#include "translate/resend.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wire/be.h"
#include "wire/dta.h"
#include "wire/net.h"

enum {
	SEQUENCE_AT = 6, /* in a DTA/1 header */
	MS = 1000000,
	TIMEOUT_FIRST = 20 * MS, /* for an answer, before one was measured */
	TIMEOUT_MIN = 2 * MS,
	TIMEOUT_MAX = 200 * MS,
	TRIES = 8,	  /* until the timeout is doubled, again and again */
	LAZY = 100 * MS, /* when nobody waits for an answer */
	DEAF = 1000 * MS,
	BURST_FIRST = 64, /* reports of a way back, before an answer */
	BURST_MIN = 4,
};

/* Without an answer for so long: nobody is there, or is any more. */
static const uint64_t opening_ns = UINT64_C(1000) * MS;
static const uint64_t open_ns = UINT64_C(10000) * MS;


enum phase {
	PHASE_UNUSED,
	PHASE_OPENING, /* nothing was sent yet but questions */
	PHASE_OPEN,
	PHASE_DEAF, /* does not wait for answers any more */
};

enum question {
	ASK_NOTHING,
	ASK_STATE,
	ASK_GONE, /* rather a notice, answered all the same */
};

struct slot {
	uint64_t ts_ns;
	uint16_t len;
	uint8_t payload[];
};

struct reporter {
	uint64_t next, sent, high, acked;
	uint64_t asked; /* sent, when the last question was */
	uint64_t asked_ns, back_ns, heard_ns;
	uint64_t back;		/* where it went back to then, plus 1 */
	uint64_t behind;	/* the way back ends there; 0: on no way back */
	uint32_t burst;		/* reports that may be under way there */
	uint8_t *mem;		/* window slots */
	struct reporter *ready; /* the next with something to send */
	uint16_t shift;		/* of number 0 on the wire */
	uint16_t tries;		/* questions since the last answer */
	uint8_t phase, question;
	bool queued;
	bool untold; /* what was given up is not known there */
	bool urgent; /* somebody waits for room */
	bool sure;   /* the last question came after the last way back began */
};

struct resend {
	struct resend_options o;
	struct resend_ledger ctr;
	size_t stride;
	bool finish, alone;
	uint64_t timeout_ns, rtt_ns;
	struct reporter *first, **last; /* those with something to send */
	struct reporter reporter[];
};

#define FIELD(name, role)                                                      \
	{                                                                      \
#name, offsetof(struct resend_ledger, name), role              \
	}

static const struct ledger_field fields[] = {
	FIELD(reports, LEDGER_IN),	FIELD(confirmed, LEDGER_DONE),
	FIELD(lost, LEDGER_DROP),	FIELD(unconfirmed, LEDGER_DROP),
	FIELD(packets, LEDGER_NOTE),	FIELD(resent, LEDGER_NOTE),
	FIELD(questions, LEDGER_NOTE),	FIELD(notices, LEDGER_NOTE),
	FIELD(answers, LEDGER_NOTE),	FIELD(nacks_gap, LEDGER_NOTE),
	FIELD(nacks_rate, LEDGER_NOTE), FIELD(nacks_resync, LEDGER_NOTE),
	FIELD(stale, LEDGER_NOTE),	FIELD(strange, LEDGER_NOTE),
	FIELD(deaf, LEDGER_NOTE),
};

_Static_assert(sizeof(fields) / sizeof(fields[0]) ==
		       sizeof(struct resend_ledger) / sizeof(uint64_t),
	       "a counter has no name");

const struct ledger resend_ledger = {
	.stage = "send",
	.unit = "reports",
	.fields = fields,
	.n = sizeof(fields) / sizeof(fields[0]),
};

int resend_open(struct resend **out, const struct resend_options *o,
		struct fault *f)
{
	struct resend *w;

	if (!o->window || o->window > RESEND_WINDOW_MAX)
		return fault_set(f, -EINVAL, "a window of %u: 1 to %d",
				 o->window, RESEND_WINDOW_MAX);
	w = calloc(1, sizeof(*w) + o->reporters * sizeof(w->reporter[0]));
	if (!w)
		return fault_set(f, -ENOMEM, "out of memory");
	w->o = *o;
	w->stride = (sizeof(struct slot) + o->payload_max + 7) & ~(size_t)7;
	w->timeout_ns = TIMEOUT_FIRST;
	w->last = &w->first;
	*out = w;
	return 0;
}

void resend_close(struct resend *w)
{
	if (!w)
		return;
	for (unsigned i = 0; i < w->o.reporters; i++)
		free(w->reporter[i].mem);
	free(w);
}

static struct slot *slot_of(const struct resend *w, const struct reporter *r,
			    uint64_t number)
{
	return (void *)(r->mem + number % w->o.window * w->stride);
}

/* The first report that can still be sent. */
static uint64_t kept_from(const struct resend *w, const struct reporter *r)
{
	uint64_t oldest = r->next > w->o.window ? r->next - w->o.window : 0;

	return oldest > r->acked ? oldest : r->acked;
}

/* What may go before there is an answer: on a way back not too much, or all of
 * it would be for nothing when the first is lost again. */
static uint64_t limit(const struct reporter *r)
{
	if (r->phase == PHASE_OPENING)
		return 0;
	if (r->behind && r->phase != PHASE_DEAF &&
	    r->next - r->acked > r->burst)
		return r->acked + r->burst;
	return r->next;
}

static bool is_ready(const struct reporter *r)
{
	return r->question || r->sent < limit(r);
}

static void queue(struct resend *w, struct reporter *r)
{
	if (r->queued || !is_ready(r))
		return;
	r->queued = true;
	r->ready = NULL;
	*w->last = r;
	w->last = &r->ready;
}

static void unqueue_first(struct resend *w)
{
	struct reporter *r = w->first;

	w->first = r->ready;
	if (!w->first)
		w->last = &w->first;
	r->queued = false;
}

static void ask(struct resend *w, struct reporter *r, enum question q)
{
	if (r->question < q)
		r->question = (uint8_t)q;
	queue(w, r);
}

/* Reports wait where they would be lost otherwise: before the first answer,
 * and if that is what the caller wants. */
bool resend_room(struct resend *w, unsigned reporter)
{
	struct reporter *r = &w->reporter[reporter];

	if (r->next - r->acked < w->o.window || r->phase == PHASE_DEAF ||
	    w->alone ||
	    (!w->o.wait && r->phase != PHASE_OPENING))
		return true;
	r->urgent = true;
	return false;
}

int resend_add(struct resend *w, unsigned reporter, const uint8_t *payload,
	       size_t len, uint64_t ts_ns)
{
	struct reporter *r = &w->reporter[reporter];
	struct slot *s;

	if (len < DTA_HEADER_LEN || len > w->o.payload_max)
		return -EINVAL;
	if (!r->mem && !(r->mem = calloc(w->o.window, w->stride)))
		return -ENOMEM;
	if (r->phase == PHASE_UNUSED) {
		r->phase = w->alone ? PHASE_DEAF : PHASE_OPENING;
		r->heard_ns = UINT64_MAX;
		ask(w, r, ASK_STATE);
	}
	s = slot_of(w, r, r->next++);
	s->ts_ns = ts_ns;
	s->len = (uint16_t)len;
	memcpy(s->payload, payload, len);
	if (r->sent < kept_from(w, r)) /* pushed out before its turn came */
		r->sent = kept_from(w, r);
	if (r->high < r->sent)
		r->high = r->sent;
	w->ctr.reports++;
	queue(w, r);
	return 0;
}

static int send_question(struct resend *w, struct reporter *r, uint64_t now_ns)
{
	bool gone = r->question == ASK_GONE;
	struct dta_report q = {
		.opcode = DTA_NACK,
		.hop = gone ? DTA_NACK_GONE : DTA_NACK_STATE,
		.table = w->o.table,
		.sequence = (uint16_t)(r->acked + r->shift - 1),
	};
	uint8_t payload[DTA_HEADER_LEN];
	int n = dta_encode(payload, sizeof(payload), DTA_FORMAT_1, &q);

	r->question = ASK_NOTHING;
	r->asked = r->sent;
	r->asked_ns = now_ns;
	r->sure = true;
	r->tries++;
	if (r->heard_ns == UINT64_MAX)
		r->heard_ns = now_ns;
	*(gone ? &w->ctr.notices : &w->ctr.questions) += 1;
	return n < 0 ? n
		     : w->o.send(w->o.ctx, (unsigned)(r - w->reporter), payload,
				 (size_t)n, 0);
}

static int send_report(struct resend *w, struct reporter *r)
{
	struct slot *s = slot_of(w, r, r->sent);
	bool again = r->sent < r->high;

	be16_store(s->payload + SEQUENCE_AT, (uint16_t)(r->sent + r->shift));
	r->sent++;
	if (!again)
		r->high = r->sent;
	w->ctr.resent += again;
	return w->o.send(w->o.ctx, (unsigned)(r - w->reporter), s->payload,
			 s->len, again ? 0 : s->ts_ns);
}

/* Asks in time, so that the window does not fill for want of an answer; and
 * where it cannot go on without one. */
static bool wants_answer(const struct resend *w, const struct reporter *r)
{
	if (r->phase != PHASE_OPEN || r->sent <= r->asked)
		return false;
	return (r->behind && r->sent == limit(r)) ||
	       (w->o.wait && r->sent - r->asked > w->o.window / 2);
}

int resend_pump(struct resend *w, unsigned max, uint64_t now_ns)
{
	unsigned n = 0;
	int rc;

	while (w->first && n < max) {
		struct reporter *r = w->first;

		if (!is_ready(r)) {
			unqueue_first(w);
			continue;
		}
		rc = r->question ? send_question(w, r, now_ns)
				 : send_report(w, r);
		if (rc < 0)
			return rc;
		w->ctr.packets++;
		n++;
		if (wants_answer(w, r))
			r->question = ASK_STATE;
	}
	return (int)n;
}

bool resend_pending(const struct resend *w)
{
	return w->first != NULL;
}

/* From the first report that is missing, or, if that is not kept any more, from
 * the first that is. Not twice to the same before an answer can have come. */
static void go_back(struct resend *w, struct reporter *r, bool sure,
		    uint64_t now_ns)
{
	uint64_t kept = kept_from(w, r);

	if (r->back == r->acked + 1 && !sure &&
	    now_ns - r->back_ns < w->timeout_ns)
		return;
	if (kept > r->acked) {
		w->ctr.lost += kept - r->acked;
		r->acked = kept;
		r->untold = true;
		ask(w, r, ASK_GONE);
	}
	r->back = r->acked + 1;
	r->back_ns = now_ns;
	r->sent = r->asked = r->acked;
	r->sure = false;
	r->burst = !r->behind		    ? BURST_FIRST
		   : r->burst > 2 * BURST_MIN ? r->burst / 2
					      : BURST_MIN;
	r->behind = r->high;
	queue(w, r);
}

/* Four round trips, smoothed; of questions that were asked once. */
static void measure(struct resend *w, const struct reporter *r, uint64_t now_ns)
{
	uint64_t rtt = now_ns - r->asked_ns;

	if (r->tries != 1)
		return;
	w->rtt_ns = w->rtt_ns ? (7 * w->rtt_ns + rtt) / 8 : rtt;
	w->timeout_ns = 4 * w->rtt_ns;
	if (w->timeout_ns < TIMEOUT_MIN)
		w->timeout_ns = TIMEOUT_MIN;
	if (w->timeout_ns > TIMEOUT_MAX)
		w->timeout_ns = TIMEOUT_MAX;
}

/* The first number that the translator has not, as it told; the newest one that
 * can be meant. */
static uint64_t told(const struct reporter *r, uint16_t last)
{
	uint16_t behind = (uint16_t)(r->high + r->shift - 1 - last);

	return r->high >= behind ? r->high - behind : UINT64_MAX;
}

/* The answer to the first question. */
static void opened(struct resend *w, struct reporter *r, uint16_t last,
		   uint64_t now_ns)
{
	r->shift = (uint16_t)(last + 1);
	r->phase = PHASE_OPEN;
	r->tries = 0;
	r->heard_ns = now_ns;
	queue(w, r);
}

/* What a NACK tells, in order. */
static void heard(struct resend *w, struct reporter *r, uint16_t last,
		  bool answer, uint64_t now_ns)
{
	uint64_t at = told(r, last);

	if (at == UINT64_MAX || at < r->acked) {
		w->ctr.stale++;
		if (at != UINT64_MAX && r->untold &&
		    now_ns - r->asked_ns >= w->timeout_ns)
			ask(w, r, ASK_GONE);
		return;
	}
	if (r->phase == PHASE_DEAF) {
		r->phase = PHASE_OPEN;
		w->ctr.deaf--;
	}
	if (answer)
		measure(w, r, now_ns);
	r->tries = 0;
	r->heard_ns = now_ns;
	r->untold = false;
	w->ctr.confirmed += at - r->acked;
	if (at > r->acked)
		r->urgent = false;
	r->acked = at;
	if (r->sent < at)
		r->sent = at;
	if (at < (answer ? r->asked : r->high)) {
		go_back(w, r, answer && r->sure, now_ns);
	} else if (r->behind) {
		r->burst *= 2;
		if (at >= r->behind)
			r->behind = 0;
		queue(w, r);
	}
}

static bool decode(const struct resend *w, const struct pkt *p,
		   struct dta_report *out, unsigned *reporter)
{
	struct net_udp u;

	if (net_udp_decode(&u, p->data, p->len) < 0 || u.version != 4 ||
	    u.dst_port != DTA_NACK_PORT ||
	    dta_decode(out, DTA_FORMAT_1, u.payload, u.len) < 0)
		return false;
	*reporter = be32_load(u.dst) - w->o.address;
	return out->opcode == DTA_NACK && out->hop <= DTA_NACK_RESYNC &&
	       *reporter < w->o.reporters &&
	       w->reporter[*reporter].phase != PHASE_UNUSED;
}

void resend_rx(struct resend *w, const struct pkt *pkts, size_t n,
	       uint64_t now_ns)
{
	uint64_t *const count[] = {&w->ctr.answers, &w->ctr.nacks_gap,
				   &w->ctr.nacks_rate, &w->ctr.nacks_resync};
	struct dta_report nack;
	unsigned i;

	for (size_t k = 0; k < n; k++) {
		struct reporter *r;

		if (!decode(w, &pkts[k], &nack, &i)) {
			w->ctr.strange++;
			continue;
		}
		++*count[nack.hop];
		r = &w->reporter[i];
		if (r->phase != PHASE_OPENING) {
			heard(w, r, nack.sequence, nack.hop == DTA_NACK_STATE,
			      now_ns);
		} else if (nack.hop == DTA_NACK_STATE) {
			measure(w, r, now_ns);
			opened(w, r, nack.sequence, now_ns);
		}
	}
}

/* How long after the last question the next one is due. */
static uint64_t patience(const struct resend *w, const struct reporter *r)
{
	uint64_t ns;

	if (r->phase == PHASE_DEAF)
		return DEAF;
	if (r->phase != PHASE_OPENING && !r->tries && !r->urgent &&
	    !r->behind && !w->finish)
		return LAZY;
	ns = w->timeout_ns << (r->tries < 8 * TRIES ? r->tries / TRIES : 8);
	return ns < TIMEOUT_MAX ? ns : TIMEOUT_MAX;
}

static void deafen(struct resend *w, struct reporter *r)
{
	r->phase = PHASE_DEAF;
	w->ctr.deaf++;
	queue(w, r);
}

static bool is_deaf(const struct reporter *r, uint64_t now_ns)
{
	uint64_t ns = r->phase == PHASE_OPENING ? opening_ns : open_ns;

	return r->phase == PHASE_DEAF ||
	       (r->tries >= TRIES && now_ns - r->heard_ns >= ns);
}

static void tick(struct resend *w, struct reporter *r, uint64_t now_ns)
{
	bool now = (r->urgent || w->finish) && r->sent == r->next &&
		   !r->tries && r->asked != r->sent;

	if (r->phase == PHASE_UNUSED || r->acked == r->next || r->question)
		return;
	if (!now && now_ns - r->asked_ns < patience(w, r))
		return;
	if (is_deaf(r, now_ns) && r->phase != PHASE_DEAF)
		deafen(w, r);
	ask(w, r, r->untold ? ASK_GONE : ASK_STATE);
}

void resend_tick(struct resend *w, uint64_t now_ns)
{
	for (unsigned i = 0; i < w->o.reporters; i++)
		tick(w, &w->reporter[i], now_ns);
}

void resend_alone(struct resend *w)
{
	w->alone = true;
	for (unsigned i = 0; i < w->o.reporters; i++) {
		struct reporter *r = &w->reporter[i];

		if (r->phase == PHASE_OPENING || r->phase == PHASE_OPEN)
			deafen(w, r);
	}
}

void resend_finish(struct resend *w)
{
	w->finish = true;
}

bool resend_settled(const struct resend *w)
{
	for (unsigned i = 0; i < w->o.reporters; i++) {
		const struct reporter *r = &w->reporter[i];

		if (r->question || r->sent < r->next ||
		    (r->acked < r->next && r->phase != PHASE_DEAF))
			return false;
	}
	return true;
}

struct resend_ledger resend_counters(const struct resend *w)
{
	struct resend_ledger c = w->ctr;

	c.unconfirmed = c.reports - c.confirmed - c.lost;
	return c;
}
