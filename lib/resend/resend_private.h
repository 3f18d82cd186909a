/* SPDX-License-Identifier: BSD-2-Clause */
/* resend_private.h - what resend.c (out) and resend_rx.c (back) share. */
#ifndef RESEND_RESEND_PRIVATE_H
#define RESEND_RESEND_PRIVATE_H

#include "base/snd.h"
#include "resend/resend.h"

enum {
	MS = 1000000,
	TIMEOUT_FIRST = 20 * MS, /* for an answer, before one was measured */
};

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

/* The first report that can still be sent. */
static inline uint64_t kept_from(const struct resend *w, const struct sender *r)
{
	uint64_t oldest = r->snd.end > w->o.window ? r->snd.end - w->o.window
						   : 0;

	return oldest > r->snd.una ? oldest : r->snd.una;
}

/* Has something to send, or a question. */
void resend_queue(struct resend *w, struct sender *r);
void resend_ask(struct resend *w, struct sender *r, enum question q);

#endif
