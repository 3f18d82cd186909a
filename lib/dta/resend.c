/* SPDX-License-Identifier: BSD-2-Clause */
/* resend.c - sends reports and probes, processes NACKs, handles timeouts. */
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
	TIMEOUT_FIRST = 20 * MS, /* until a round trip was measured */
	TIMEOUT_MIN = 2 * MS,
	TIMEOUT_MAX = 200 * MS,
	TRIES = 8, /* probes unanswered: from here on TIMEOUT_MAX */
	INTERVAL_IDLE = 100 * MS,  /* between probes that nothing waits for */
	INTERVAL_DEAF = 1000 * MS, /* between probes in PHASE_DEAF */
	BURST_FIRST = 64,	   /* sender.burst when recovery begins */
	BURST_MIN = 4,
};

enum resend_phase {
	PHASE_UNUSED,
	PHASE_OPENING, /* only probes were sent yet; no answer came */
	PHASE_OPEN,
	PHASE_DEAF, /* no answers come: reports do not wait for them */
};

enum probe {
	PROBE_NONE,
	PROBE_STATE,
	PROBE_GONE, /* with the notice that reports were given up */
};

/* A report of the window. */
struct slot {
	uint64_t ts_ns;
	uint16_t len;
	uint8_t payload[];
};

/* Recovery lasts from a return to a missing report until all reports that were
 * sent before it are confirmed. */
struct sender {
	struct snd snd;	    /* reports */
	uint64_t probe_nxt; /* snd.nxt at the last probe or return */
	uint64_t probe_ns, back_ns;
	uint64_t heard_ns;    /* the last answer; UINT64_MAX: no probe yet */
	uint64_t back;	      /* snd.una + 1 at the last return, at back_ns */
	uint64_t recover;     /* snd.max then, as in RFC 6582; 0: no recovery */
	uint32_t burst;	      /* unconfirmed reports that recovery allows */
	uint8_t *mem;	      /* window slots */
	struct sender *ready; /* the next in the list of those with packets */
	uint16_t shift;	      /* report 0's number on the wire */
	uint16_t tries;	      /* probes since the last answer */
	uint16_t probe_id;    /* of the last probe, in its field table */
	uint8_t phase, probe; /* probe: the enum probe to send next */
	bool queued;	      /* is in the list of those with packets */
	bool untold; /* no answer yet to the notice of given up reports */
	bool urgent; /* resend_room() was false */
	bool probed_since_back; /* the last probe followed the last return */
};

struct resend {
	struct resend_options o;
	struct resend_ledger ctr;
	size_t stride;
	bool finish, alone;
	uint64_t timeout_ns, rtt_ns;
	struct sender *first, **last; /* list of those with packets to send */
	struct sender reporter[];
};

/* After so long without an answer, the first or another: PHASE_DEAF. */
static const uint64_t deaf_new_ns = UINT64_C(1000) * MS;
static const uint64_t deaf_ns = UINT64_C(10000) * MS;

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
	LEDGER_FIELD(struct resend_ledger, probes, LEDGER_NOTE),
	LEDGER_FIELD(struct resend_ledger, notices, LEDGER_NOTE),
	LEDGER_FIELD(struct resend_ledger, answers, LEDGER_NOTE),
	LEDGER_FIELD(struct resend_ledger, nacks_gap, LEDGER_NOTE),
	LEDGER_FIELD(struct resend_ledger, nacks_rate, LEDGER_NOTE),
	LEDGER_FIELD(struct resend_ledger, nacks_resync, LEDGER_NOTE),
	LEDGER_FIELD(struct resend_ledger, stale, LEDGER_NOTE),
	LEDGER_FIELD(struct resend_ledger, not_nacks, LEDGER_NOTE),
	LEDGER_LEVEL(struct resend_ledger, unanswered, LEDGER_NOTE),
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

/* Reports before this may be sent now. In recovery these are few: if the first
 * is lost again, all after it were sent in vain. */
static uint64_t send_limit(const struct sender *r)
{
	if (r->phase == PHASE_OPENING)
		return 0;
	if (r->phase == PHASE_DEAF)
		return r->snd.end;
	if (r->recover && r->snd.end - r->snd.una > r->burst)
		return r->snd.una + r->burst;
	return r->snd.end;
}

static bool is_ready(const struct sender *r)
{
	return r->probe || r->snd.nxt < send_limit(r);
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

static void queue_probe(struct resend *w, struct sender *r, enum probe q)
{
	if (r->probe < q)
		r->probe = (uint8_t)q;
	queue_add(w, r);
}

/* A report waits for room if the window is full and the first answer has not
 * come, or if the caller has chosen to wait. */
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
		w->ctr.unanswered += w->alone;
		queue_probe(w, r, PROBE_STATE);
	}
	s = slot_of(w, r, r->snd.end++);
	s->ts_ns = ts_ns;
	s->len = (uint16_t)len;
	memcpy(s->payload, payload, len);
	if (r->snd.nxt < kept_from(w, r)) /* overwritten before it was sent */
		r->snd.nxt = kept_from(w, r);
	if (r->snd.max < r->snd.nxt)
		r->snd.max = r->snd.nxt;
	w->ctr.reports++;
	queue_add(w, r);
	return 0;
}

static int send_probe(struct resend *w, struct sender *r, uint64_t now_ns)
{
	bool gone = r->probe == PROBE_GONE;
	struct dta_report q = {
		.opcode = DTA_NACK,
		.hop = gone ? DTA_NACK_GONE : DTA_NACK_STATE,
		.sequence = (uint16_t)(r->snd.una + r->shift - 1),
	};
	uint8_t payload[DTA_HEADER_LEN];
	int n;

	if (r->phase != PHASE_OPENING) {
		r->probe_id += r->probe_id == UINT16_MAX ? 2 : 1;
		q.table = r->probe_id; /* 0: the reporter is new */
	}
	n = dta_encode(payload, sizeof(payload), DTA_FORMAT_1, &q);
	r->probe = PROBE_NONE;
	r->probe_nxt = r->snd.nxt;
	r->probe_ns = now_ns;
	r->probed_since_back = true;
	r->tries++;
	if (r->heard_ns == UINT64_MAX)
		r->heard_ns = now_ns;
	*(gone ? &w->ctr.notices : &w->ctr.probes) += 1;
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

/* Whether to probe at once: if reports wait at send_limit(); or if half the
 * window was sent since the last probe, so that it does not fill before the
 * answer. */
static bool wants_answer(const struct resend *w, const struct sender *r)
{
	if (r->phase != PHASE_OPEN || r->snd.nxt <= r->probe_nxt || r->tries)
		return false;
	return (r->recover && r->snd.nxt >= send_limit(r)) ||
	       (w->o.wait && r->snd.nxt - r->probe_nxt > w->o.window / 2);
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
		rc = r->probe ? send_probe(w, r, now_ns) : send_report(w, r);
		if (rc < 0)
			return rc;
		w->ctr.packets++;
		n++;
		if (wants_answer(w, r))
			r->probe = PROBE_STATE;
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

		if (r->probe || r->snd.nxt < r->snd.end ||
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

/* Goes back to the first missing report, or, if the window does not hold it any
 * more, to the oldest that it holds. Not twice to the same within the timeout,
 * unless the loss is certain. */
static void send_again(struct resend *w, struct sender *r, bool certain,
		       uint64_t now_ns)
{
	uint64_t kept = kept_from(w, r);

	if (r->back == r->snd.una + 1 && !certain &&
	    now_ns - r->back_ns < w->timeout_ns)
		return;
	if (kept > r->snd.una) {
		w->ctr.lost += kept - r->snd.una;
		r->snd.una = kept;
		r->untold = true;
		queue_probe(w, r, PROBE_GONE);
	}
	r->back = r->snd.una + 1;
	r->back_ns = now_ns;
	r->probed_since_back = false;
	snd_back(&r->snd);
	r->probe_nxt = r->snd.nxt;
	r->burst = !r->recover		      ? BURST_FIRST
		   : r->burst > 2 * BURST_MIN ? r->burst / 2
					      : BURST_MIN;
	r->recover = r->snd.max;
	queue_add(w, r);
}

/* The timeout is four round trips, smoothed. */
static void measure_rtt(struct resend *w, const struct sender *r,
			uint64_t now_ns)
{
	uint64_t rtt = now_ns - r->probe_ns;

	w->rtt_ns = w->rtt_ns ? (7 * w->rtt_ns + rtt) / 8 : rtt;
	w->timeout_ns = 4 * w->rtt_ns;
	if (w->timeout_ns < TIMEOUT_MIN)
		w->timeout_ns = TIMEOUT_MIN;
	if (w->timeout_ns > TIMEOUT_MAX)
		w->timeout_ns = TIMEOUT_MAX;
}

/* Whether the NACK answers the last probe, not one before it. */
static bool is_answer(const struct sender *r, const struct dta_report *nack)
{
	return nack->hop == DTA_NACK_STATE && nack->table == r->probe_id;
}

/* Processes a NACK of an open sequence. */
static void note_answer(struct resend *w, struct sender *r,
			const struct dta_report *nack, uint64_t now_ns)
{
	/* at: the first report that the NACK does not confirm, by 16 bits of
	 * its number the newest one sent. due: those before have had time. */
	uint16_t before = (uint16_t)(r->snd.max + r->shift - 1 -
				     nack->sequence);
	uint64_t at = r->snd.max - before, due = r->snd.max;
	bool answer = is_answer(r, nack);
	uint64_t newly;

	if (before > r->snd.max || at < r->snd.una) {
		w->ctr.stale++;
		if (before <= r->snd.max && r->untold &&
		    now_ns - r->probe_ns >= w->timeout_ns)
			queue_probe(w, r, PROBE_GONE);
		return;
	}
	if (r->phase == PHASE_DEAF) {
		r->phase = PHASE_OPEN;
		w->ctr.unanswered--;
	}
	if (answer)
		measure_rtt(w, r, now_ns);
	if (nack->hop == DTA_NACK_STATE) /* later reports may be under way */
		due = answer ? r->probe_nxt : 0;
	r->tries = 0;
	r->heard_ns = now_ns;
	r->untold = false;
	newly = at - r->snd.una;
	w->ctr.confirmed += newly;
	if (newly)
		r->urgent = false;
	snd_confirm(&r->snd, at);
	queue_add(w, r);
	if (at < due) {
		send_again(w, r, answer && r->probed_since_back, now_ns);
	} else if (r->recover) {
		/* Slow start (RFC 5681, section 3.1): each confirmed report
		 * allows one more. */
		if (r->burst < w->o.window)
			r->burst += (uint32_t)newly;
		/* A reporter that waits keeps the limit until it has grown to
		 * the window: the next loss is as likely as the last. */
		if (at >= r->recover && (!w->o.wait || r->burst >= w->o.window))
			r->recover = 0;
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
			w->ctr.not_nacks++;
			continue;
		}
		++*count[nack.hop];
		r = &w->reporter[i];
		if (r->phase != PHASE_OPENING) {
			note_answer(w, r, &nack, now_ns);
		} else if (nack.hop == DTA_NACK_STATE) {
			if (is_answer(r, &nack) && r->tries == 1)
				measure_rtt(w, r, now_ns);
			/* Numbers go on from the translator's. */
			r->shift = (uint16_t)(nack.sequence + 1);
			r->phase = PHASE_OPEN;
			r->tries = 0;
			r->heard_ns = now_ns;
			queue_add(w, r);
		}
	}
}

/* How long after the last probe the next one is due. */
static uint64_t answer_timeout(const struct resend *w, const struct sender *r)
{
	if (r->phase == PHASE_DEAF)
		return INTERVAL_DEAF;
	if (r->phase != PHASE_OPENING && !r->tries && !r->urgent &&
	    !r->recover && !w->finish)
		return INTERVAL_IDLE;
	return r->tries < TRIES ? w->timeout_ns : TIMEOUT_MAX;
}

static void give_up_answers(struct resend *w, struct sender *r)
{
	r->phase = PHASE_DEAF;
	w->ctr.unanswered++;
	queue_add(w, r);
}

static void tick_reporter(struct resend *w, struct sender *r, uint64_t now_ns)
{
	bool at_once = (r->urgent || w->finish) && r->snd.nxt == r->snd.end &&
		       !r->tries && r->probe_nxt != r->snd.nxt;
	uint64_t patience = r->phase == PHASE_OPENING && !w->o.wait
				    ? deaf_new_ns
				    : deaf_ns;

	if (r->phase == PHASE_UNUSED || r->snd.una == r->snd.end || r->probe)
		return;
	if (!at_once && now_ns - r->probe_ns < answer_timeout(w, r))
		return;
	if (r->phase != PHASE_DEAF && r->tries >= TRIES &&
	    now_ns - r->heard_ns >= patience)
		give_up_answers(w, r);
	queue_probe(w, r, r->untold ? PROBE_GONE : PROBE_STATE);
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
