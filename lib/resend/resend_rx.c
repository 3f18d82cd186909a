/* SPDX-License-Identifier: BSD-2-Clause */
/* resend_rx.c - what comes back, and what is done when nothing does. */
#include "resend/resend_private.h"

#include "wire/be.h"
#include "wire/dta.h"
#include "wire/net.h"

enum {
	TIMEOUT_MIN = 2 * MS,
	TIMEOUT_MAX = 200 * MS,
	TRIES = 8,	 /* until the timeout is doubled, again and again */
	LAZY = 100 * MS, /* when nobody waits for an answer */
	DEAF = 1000 * MS,
	BURST_FIRST = 64, /* reports of a way back, before an answer */
	BURST_MIN = 4,
};

/* Without an answer for so long: nobody is there, or is any more. */
static const uint64_t opening_ns = UINT64_C(1000) * MS;
static const uint64_t open_ns = UINT64_C(10000) * MS;

/* All from there on. */
static void go_back(struct sender *r)
{
	r->snd.nxt = r->asked = r->snd.una;
	r->burst = !r->behind		      ? BURST_FIRST
		   : r->burst > 2 * BURST_MIN ? r->burst / 2
					      : BURST_MIN;
	r->behind = r->snd.max;
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
		resend_ask(w, r, ASK_GONE);
	}
	r->back = r->snd.una + 1;
	r->back_ns = now_ns;
	r->sure = false;
	go_back(r);
	resend_queue(w, r);
}

/* Four round trips, smoothed. */
static void measure(struct resend *w, const struct sender *r, uint64_t now_ns)
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

/* The first number that the translator has not, as it told; the newest one that
 * can be meant. */
static uint64_t told(const struct sender *r, uint16_t last)
{
	uint16_t behind = (uint16_t)(r->snd.max + r->shift - 1 - last);

	return r->snd.max >= behind ? r->snd.max - behind : UINT64_MAX;
}

/* The answer to the first question. */
static void opened(struct resend *w, struct sender *r, uint16_t last,
		   uint64_t now_ns)
{
	r->shift = (uint16_t)(last + 1);
	r->phase = PHASE_OPEN;
	r->tries = 0;
	r->heard_ns = now_ns;
	resend_queue(w, r);
}

/* What a NACK tells, in order. */
static void heard(struct resend *w, struct sender *r,
		  const struct dta_report *nack, uint64_t now_ns)
{
	uint64_t at = told(r, nack->sequence), missing = r->snd.max;
	bool answer = is_answer(r, nack);
	uint64_t come;

	if (at == UINT64_MAX || at < r->snd.una) {
		w->ctr.stale++;
		if (at != UINT64_MAX && r->untold &&
		    now_ns - r->asked_ns >= w->timeout_ns)
			resend_ask(w, r, ASK_GONE);
		return;
	}
	if (r->phase == PHASE_DEAF) {
		r->phase = PHASE_OPEN;
		w->ctr.deaf--;
	}
	if (answer)
		measure(w, r, now_ns);
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
	resend_queue(w, r);
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
		resend_queue(w, r);
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
		struct sender *r;

		if (!decode(w, &pkts[k], &nack, &i)) {
			w->ctr.strange++;
			continue;
		}
		++*count[nack.hop];
		r = &w->reporter[i];
		if (r->phase != PHASE_OPENING) {
			heard(w, r, &nack, now_ns);
		} else if (nack.hop == DTA_NACK_STATE) {
			if (is_answer(r, &nack) && r->tries == 1)
				measure(w, r, now_ns);
			opened(w, r, nack.sequence, now_ns);
		}
	}
}

/* How long after the last question the next one is due. */
static uint64_t patience(const struct resend *w, const struct sender *r)
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

static void deafen(struct resend *w, struct sender *r)
{
	r->phase = PHASE_DEAF;
	w->ctr.deaf++;
	resend_queue(w, r);
}

static bool is_deaf(const struct resend *w, const struct sender *r,
		    uint64_t now_ns)
{
	uint64_t ns = r->phase == PHASE_OPENING && !w->o.wait ? opening_ns
							      : open_ns;

	return r->phase == PHASE_DEAF ||
	       (r->tries >= TRIES && now_ns - r->heard_ns >= ns);
}

static void tick(struct resend *w, struct sender *r, uint64_t now_ns)
{
	bool now = (r->urgent || w->finish) && r->snd.nxt == r->snd.end &&
		   !r->tries && r->asked != r->snd.nxt;

	if (r->phase == PHASE_UNUSED || r->snd.una == r->snd.end || r->question)
		return;
	if (!now && now_ns - r->asked_ns < patience(w, r))
		return;
	if (is_deaf(w, r, now_ns) && r->phase != PHASE_DEAF)
		deafen(w, r);
	resend_ask(w, r, r->untold ? ASK_GONE : ASK_STATE);
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
		struct sender *r = &w->reporter[i];

		if (r->phase == PHASE_OPENING || r->phase == PHASE_OPEN)
			deafen(w, r);
	}
}
