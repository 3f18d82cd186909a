/* SPDX-License-Identifier: BSD-2-Clause */
/* resend.c - reports and questions on their way out. */
#include "resend/resend_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wire/be.h"
#include "wire/dta.h"

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

static struct slot *slot_of(const struct resend *w, const struct sender *r,
			    uint64_t number)
{
	return (void *)(r->mem + number % w->o.window * w->stride);
}

/* What may go before there is an answer: on a way back not too much, or all of
 * it would be for nothing when the first is lost again. */
static uint64_t limit(const struct sender *r)
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
	return r->question || r->snd.nxt < limit(r);
}

void resend_queue(struct resend *w, struct sender *r)
{
	if (r->queued || !is_ready(r))
		return;
	r->queued = true;
	r->ready = NULL;
	*w->last = r;
	w->last = &r->ready;
}

void resend_ask(struct resend *w, struct sender *r, enum question q)
{
	if (r->question < q)
		r->question = (uint8_t)q;
	resend_queue(w, r);
}

static void unqueue_first(struct resend *w)
{
	struct sender *r = w->first;

	w->first = r->ready;
	if (!w->first)
		w->last = &w->first;
	r->queued = false;
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
		resend_ask(w, r, ASK_STATE);
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
	resend_queue(w, r);
	return 0;
}

/* 0 is that of a reporter which begins. */
static uint16_t next_id(struct sender *r)
{
	if (!++r->question_id)
		r->question_id = 1;
	return r->question_id;
}

static int send_question(struct resend *w, struct sender *r, uint64_t now_ns)
{
	bool gone = r->question == ASK_GONE;
	uint16_t id = r->phase == PHASE_OPENING ? 0 : next_id(r);
	struct dta_report q = {
		.opcode = DTA_NACK,
		.hop = gone ? DTA_NACK_GONE : DTA_NACK_STATE,
		.table = id,
		.sequence = (uint16_t)(r->snd.una + r->shift - 1),
	};
	uint8_t payload[DTA_HEADER_LEN];
	int n = dta_encode(payload, sizeof(payload), DTA_FORMAT_1, &q);

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
	return (r->behind && r->snd.nxt >= limit(r)) ||
	       (w->o.wait && r->snd.nxt - r->asked > w->o.window / 2);
}

int resend_pump(struct resend *w, unsigned max, uint64_t now_ns)
{
	unsigned n = 0;
	int rc;

	while (w->first && n < max) {
		struct sender *r = w->first;

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
