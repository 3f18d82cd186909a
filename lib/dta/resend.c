/* SPDX-License-Identifier: BSD-2-Clause */
/* resend.c - sends reports and probes, processes NACKs, and handles timeouts.
 */
#include "dta/resend.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/snd.h"
#include "net/be.h"
#include "net/dta.h"
#include "net/net.h"

enum {
	MS = 1000000,
	TIMEOUT_FIRST = 20 * MS, /* for an answer, before one was measured */
	TIMEOUT_MIN = 2 * MS,
	TIMEOUT_MAX = 200 * MS,
	TRIES = 8,	 /* until the timeout is the longest */
	LAZY = 100 * MS, /* when no report waits for an answer */
	DEAF = 1000 * MS,
	BURST_FIRST = 64, /* reports sent again before an answer */
	BURST_MIN = 4,
};

enum resend_phase {
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

struct sender {
	struct snd snd; /* reports */
	uint64_t asked; /* snd.nxt, when the last question was */
	uint64_t asked_ns, back_ns, heard_ns;
	uint64_t back;	      /* where it went back to then, plus 1 */
	uint64_t behind;      /* the way back ends there; 0: on no way back */
	uint32_t burst;	      /* reports that may be under way there */
	uint8_t *mem;	      /* window slots */
	struct sender *ready; /* the next with something to send */
	uint16_t shift;	      /* of number 0 on the wire */
	uint16_t tries;	      /* questions since the last answer */
	uint16_t question_id; /* of the last one: its table */
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
	struct sender *first, **last; /* those with something to send */
	struct sender reporter[];
};

/* Without an answer for so long: nobody is there, or is any more. */
static const uint64_t opening_ns = UINT64_C(1000) * MS;
static const uint64_t open_ns = UINT64_C(10000) * MS;

/* The first report that can still be sent. */
static uint64_t kept_from(const struct resend *w, const struct sender *r)
{
	uint64_t oldest = r->snd.end > w->o.window ? r->snd.end - w->o.window
						   : 0;

	return oldest > r->snd.una ? oldest : r->snd.una;
}

static const struct ledger_field fields[] = {
	LEDGER_FIELD(struct resend_ledger, reports, LEDGER_IN),
	LEDGER_FIELD(struct resend_ledger, confirmed, LEDGER_DONE),
	LEDGER_FIELD(struct resend_ledger, lost, LEDGER_LOSS),
	LEDGER_LEVEL(struct resend_ledger, unconfirmed, LEDGER_HARMLESS),
	LEDGER_FIELD(struct resend_ledger, packets, LEDGER_NOTE),
	LEDGER_FIELD(struct resend_ledger, resent, LEDGER_NOTE),
	LEDGER_FIELD(struct resend_ledger, questions, LEDGER_NOTE),
	LEDGER_FIELD(struct resend_ledger, notices, LEDGER_NOTE),
	LEDGER_FIELD(struct resend_ledger, answers, LEDGER_NOTE),
	LEDGER_FIELD(struct resend_ledger, nacks_gap, LEDGER_NOTE),
	LEDGER_FIELD(struct resend_ledger, nacks_rate, LEDGER_NOTE),
	LEDGER_FIELD(struct resend_ledger, nacks_resync, LEDGER_NOTE),
	LEDGER_FIELD(struct resend_ledger, stale, LEDGER_NOTE),
	LEDGER_FIELD(struct resend_ledger, strange, LEDGER_NOTE),
	LEDGER_LEVEL(struct resend_ledger, deaf, LEDGER_NOTE),
};

LEDGER_COMPLETE(fields, struct resend_ledger);

const struct ledger resend_ledger = {
	.stage = "send",
	.unit = "reports",
	.fields = fields,
	.n = sizeof(fields) / sizeof(fields[0]),
};

int resend_open(struct resend **out, const struct resend_options *o,
		struct error *err)
{
	struct resend *w;

	if (!o->window || o->window > RESEND_WINDOW_MAX)
		return error_set(err, -EINVAL, "a window of %u: 1 to %d",
				 o->window, RESEND_WINDOW_MAX);
	w = calloc(1, sizeof(*w) + o->reporters * sizeof(w->reporter[0]));
	if (!w)
		return error_set(err, -ENOMEM, "out of memory");
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

static struct slot *slot_of(const struct resend *w, const struct sender *r,
			    uint64_t number)
{
	return (void *)(r->mem + number % w->o.window * w->stride);
}

/* What may go before there is an answer: on a way back not too much, or all of
 * it would be for nothing when the first is lost again. */
static uint64_t send_limit(const struct sender *r)
{
	if (r->phase == PHASE_OPENING)
		return 0;
	if (r->phase == PHASE_DEAF)
		return r->snd.end;
	if (r->behind && r->snd.end - r->snd.una > r->burst)
		return r->snd.una + r->burst;
	return r->snd.end;
}

static bool is_ready(const struct sender *r)
{
	return r->question || r->snd.nxt < send_limit(r);
}

static void queue_add(struct resend *w, struct sender *r)
{
	if (r->queued || !is_ready(r))
		return;
	r->queued = true;
	r->ready = NULL;
	*w->last = r;
	w->last = &r->ready;
}

static void send_probe(struct resend *w, struct sender *r, enum question q)
{
	if (r->question < q)
		r->question = (uint8_t)q;
	queue_add(w, r);
}

/* Reports wait where they would be lost otherwise: before the first answer,
 * and if that is what the caller wants. */
bool resend_room(struct resend *w, unsigned reporter)
{
	struct sender *r = &w->reporter[reporter];

	if (r->snd.end - r->snd.una < w->o.window || r->phase == PHASE_DEAF ||
	    w->alone || (!w->o.wait && r->phase != PHASE_OPENING))
		return true;
	r->urgent = true;
	return false;
}

int resend_add(struct resend *w, unsigned reporter, const uint8_t *payload,
	       size_t len, uint64_t ts_ns)
{
	struct sender *r = &w->reporter[reporter];
	struct slot *s;

	if (len < DTA_HEADER_LEN || len > w->o.payload_max)
		return -EINVAL;
	if (!r->mem && !(r->mem = calloc(w->o.window, w->stride)))
		return -ENOMEM;
	if (r->phase == PHASE_UNUSED) {
		r->phase = w->alone ? PHASE_DEAF : PHASE_OPENING;
		r->heard_ns = UINT64_MAX;
		send_probe(w, r, ASK_STATE);
	}
	s = slot_of(w, r, r->snd.end++);
	s->ts_ns = ts_ns;
	s->len = (uint16_t)len;
	memcpy(s->payload, payload, len);
	if (r->snd.nxt < kept_from(w, r)) /* pushed out before its turn came */
		r->snd.nxt = kept_from(w, r);
	if (r->snd.max < r->snd.nxt)
		r->snd.max = r->snd.nxt;
	w->ctr.reports++;
	queue_add(w, r);
	return 0;
}

static int send_question(struct resend *w, struct sender *r, uint64_t now_ns)
{
	bool gone = r->question == ASK_GONE;
	struct dta_report q = {
		.opcode = DTA_NACK,
		.hop = gone ? DTA_NACK_GONE : DTA_NACK_STATE,
		.sequence = (uint16_t)(r->snd.una + r->shift - 1),
	};
	uint8_t payload[DTA_HEADER_LEN];
	int n;

	if (r->phase != PHASE_OPENING) {
		r->question_id += r->question_id == UINT16_MAX ? 2 : 1;
		q.table = r->question_id; /* 0: of a reporter that begins */
	}
	n = dta_encode(payload, sizeof(payload), DTA_FORMAT_1, &q);
	r->question = ASK_NOTHING;
	r->asked = r->snd.nxt;
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

static int send_report(struct resend *w, struct sender *r)
{
	uint64_t number = r->snd.nxt;
	struct slot *s = slot_of(w, r, number);
	bool again = !snd_next(&r->snd);

	be16_store(s->payload + DTA_AT_SEQUENCE, (uint16_t)(number + r->shift));
	w->ctr.resent += again;
	return w->o.send(w->o.ctx, (unsigned)(r - w->reporter), s->payload,
			 s->len, again ? 0 : s->ts_ns);
}

/* Asks in time, so that the window does not fill for want of an answer; and
 * where it cannot go on without one. */
static bool wants_answer(const struct resend *w, const struct sender *r)
{
	if (r->phase != PHASE_OPEN || r->snd.nxt <= r->asked || r->tries)
		return false;
	return (r->behind && r->snd.nxt >= send_limit(r)) ||
	       (w->o.wait && r->snd.nxt - r->asked > w->o.window / 2);
}

int resend_pump(struct resend *w, unsigned max, uint64_t now_ns)
{
	unsigned n = 0;
	int rc;

	while (w->first && n < max) {
		struct sender *r = w->first;

		if (!is_ready(r)) {
			w->first = r->ready;
			if (!w->first)
				w->last = &w->first;
			r->queued = false;
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

void resend_finish(struct resend *w)
{
	w->finish = true;
}

bool resend_settled(const struct resend *w)
{
	for (unsigned i = 0; i < w->o.reporters; i++) {
		const struct sender *r = &w->reporter[i];

		if (r->question || r->snd.nxt < r->snd.end ||
		    (r->snd.una < r->snd.end && r->phase != PHASE_DEAF))
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

/* From the first report that is missing, or, if that is not kept any more, from
 * the first that is. Not twice to the same before an answer can have come. */
static void send_again(struct resend *w, struct sender *r, bool sure,
		       uint64_t now_ns)
{
	uint64_t kept = kept_from(w, r);

	if (r->back == r->snd.una + 1 && !sure &&
	    now_ns - r->back_ns < w->timeout_ns)
		return;
	if (kept > r->snd.una) {
		w->ctr.lost += kept - r->snd.una;
		r->snd.una = kept;
		r->untold = true;
		send_probe(w, r, ASK_GONE);
	}
	r->back = r->snd.una + 1;
	r->back_ns = now_ns;
	r->sure = false;
	snd_back(&r->snd);
	r->asked = r->snd.nxt;
	r->burst = !r->behind		      ? BURST_FIRST
		   : r->burst > 2 * BURST_MIN ? r->burst / 2
					      : BURST_MIN;
	r->behind = r->snd.max;
	queue_add(w, r);
}

/* Four round trips, smoothed. */
static void measure_rtt(struct resend *w, const struct sender *r,
			uint64_t now_ns)
{
	uint64_t rtt = now_ns - r->asked_ns;

	w->rtt_ns = w->rtt_ns ? (7 * w->rtt_ns + rtt) / 8 : rtt;
	w->timeout_ns = 4 * w->rtt_ns;
	if (w->timeout_ns < TIMEOUT_MIN)
		w->timeout_ns = TIMEOUT_MIN;
	if (w->timeout_ns > TIMEOUT_MAX)
		w->timeout_ns = TIMEOUT_MAX;
}

/* Whether it answers the last question, and not one before. */
static bool is_answer(const struct sender *r, const struct dta_report *nack)
{
	return nack->hop == DTA_NACK_STATE && nack->table == r->question_id;
}

/* Processes a NACK of an open sequence. */
static void note_answer(struct resend *w, struct sender *r,
			const struct dta_report *nack, uint64_t now_ns)
{
	/* The first number after the NACK's, of those with its lower 16 bits
	 * the newest that was sent. */
	uint16_t before = (uint16_t)(r->snd.max + r->shift - 1 -
				     nack->sequence);
	uint64_t at = r->snd.max - before, missing = r->snd.max;
	bool answer = is_answer(r, nack);
	uint64_t come;

	if (before > r->snd.max || at < r->snd.una) {
		w->ctr.stale++;
		if (before <= r->snd.max && r->untold &&
		    now_ns - r->asked_ns >= w->timeout_ns)
			send_probe(w, r, ASK_GONE);
		return;
	}
	if (r->phase == PHASE_DEAF) {
		r->phase = PHASE_OPEN;
		w->ctr.deaf--;
	}
	if (answer)
		measure_rtt(w, r, now_ns);
	if (nack->hop == DTA_NACK_STATE) /* what came later may be under way */
		missing = answer ? r->asked : 0;
	r->tries = 0;
	r->heard_ns = now_ns;
	r->untold = false;
	come = at - r->snd.una;
	w->ctr.confirmed += come;
	if (come)
		r->urgent = false;
	snd_confirm(&r->snd, at);
	queue_add(w, r);
	if (at < missing) {
		send_again(w, r, answer && r->sure, now_ns);
	} else if (r->behind) {
		/* As many more as got through: an answer that tells nothing new
		 * is no reason to send more. */
		if (r->burst < w->o.window)
			r->burst += (uint32_t)come;
		/* A reporter that waits goes on with little under way until
		 * that has grown: the next loss is no rarer than the last. */
		if (at >= r->behind && (!w->o.wait || r->burst >= w->o.window))
			r->behind = 0;
		queue_add(w, r);
	}
}

static bool decode_nack(const struct resend *w, const struct pkt *p,
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
		struct sender *r;

		if (!decode_nack(w, &pkts[k], &nack, &i)) {
			w->ctr.strange++;
			continue;
		}
		++*count[nack.hop];
		r = &w->reporter[i];
		if (r->phase != PHASE_OPENING) {
			note_answer(w, r, &nack, now_ns);
		} else if (nack.hop == DTA_NACK_STATE) {
			if (is_answer(r, &nack) && r->tries == 1)
				measure_rtt(w, r, now_ns);
			/* reports can be sent */
			r->shift = (uint16_t)(nack.sequence + 1);
			r->phase = PHASE_OPEN;
			r->tries = 0;
			r->heard_ns = now_ns;
			queue_add(w, r);
		}
	}
}

/* How long after the last question the next one is due. */
static uint64_t answer_timeout(const struct resend *w, const struct sender *r)
{
	if (r->phase == PHASE_DEAF)
		return DEAF;
	if (r->phase != PHASE_OPENING && !r->tries && !r->urgent &&
	    !r->behind && !w->finish)
		return LAZY;
	return r->tries < TRIES ? w->timeout_ns : TIMEOUT_MAX;
}

static void give_up_answers(struct resend *w, struct sender *r)
{
	r->phase = PHASE_DEAF;
	w->ctr.deaf++;
	queue_add(w, r);
}

static void tick_reporter(struct resend *w, struct sender *r, uint64_t now_ns)
{
	bool now = (r->urgent || w->finish) && r->snd.nxt == r->snd.end &&
		   !r->tries && r->asked != r->snd.nxt;
	uint64_t patience = r->phase == PHASE_OPENING && !w->o.wait ? opening_ns
								    : open_ns;

	if (r->phase == PHASE_UNUSED || r->snd.una == r->snd.end || r->question)
		return;
	if (!now && now_ns - r->asked_ns < answer_timeout(w, r))
		return;
	if (r->phase != PHASE_DEAF && r->tries >= TRIES &&
	    now_ns - r->heard_ns >= patience)
		give_up_answers(w, r);
	send_probe(w, r, r->untold ? ASK_GONE : ASK_STATE);
}

void resend_tick(struct resend *w, uint64_t now_ns)
{
	for (unsigned i = 0; i < w->o.reporters; i++)
		tick_reporter(w, &w->reporter[i], now_ns);
}

void resend_alone(struct resend *w)
{
	w->alone = true;
	for (unsigned i = 0; i < w->o.reporters; i++) {
		struct sender *r = &w->reporter[i];

		if (r->phase == PHASE_OPENING || r->phase == PHASE_OPEN)
			give_up_answers(w, r);
	}
}

bool backoff_cut(struct backoff *b, double at, uint64_t now_ns)
{
	if (b->cuts && now_ns - b->since_ns < BACKOFF_STEP_NS)
		return false;
	if (b->rate > 0 && b->rate < at)
		at = b->rate;
	b->rate = at / 2 > 1 ? at / 2 : 1;
	b->step = b->rate / BACKOFF_STEPS;
	b->since_ns = now_ns;
	b->cuts++;
	return true;
}

bool backoff_grow(struct backoff *b, uint64_t now_ns)
{
	uint64_t steps = (now_ns - b->since_ns) / BACKOFF_STEP_NS;

	if (!b->cuts || !steps || b->rate == b->ceiling)
		return false;
	b->rate += (double)steps * b->step;
	if (b->ceiling > 0 && b->rate > b->ceiling)
		b->rate = b->ceiling;
	b->since_ns += steps * BACKOFF_STEP_NS;
	return true;
}
