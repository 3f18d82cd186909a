/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * requester_ask.c - how a requester finds out what its collector expects.
 *
 * Silence is broken by a probe: an empty WRITE, which touches nothing, of a PSN
 * that is long past. A responder answers it, as it does every duplicate, with
 * the last PSN it has carried out, also where it would not say a word about a
 * PSN that lies ahead (it does that once only). Half the PSNs are past, so of
 * two probes that are 2^23 apart one is always answered.
 *
 * A new connection, or one that was lost, begins with a probe of the PSN that
 * the ticket says is expected. That PSN comes back when it was right. Any other
 * answer tells a better one, or is a late one of another run: so there is a
 * pause until no more come, and then a probe of what the last one told. Until
 * then nothing that matters is sent: it might be taken for a duplicate. A third
 * of what is sent into silence is the ticket's PSN again: it may have been
 * lost, and a queue pair that has had no request need not say the truth about
 * others.
 */
#include "roce/requester_private.h"

enum {
	PROBES_MORE = 4, /* that were sent before the connection was doubted */
};

static bool is_write(const struct request *r)
{
	return has_payload(r->op.verb);
}

static int probe(struct roce_out *o, unsigned table, uint32_t psn)
{
	static const uint8_t nothing[1];
	const struct op op = {
		.verb = OP_WRITE,
		.table = (uint16_t)table,
		.data = nothing,
	};
	struct requester *q = &o->pair[table].q;

	q->probe = psn & ROCE_PSN_MASK;
	o->ctr.probes++;
	requester_expect(o, q);
	return roce_out_emit(o, &op, ROCE_RC_WRITE_ONLY, q->probe | ack_req,
			     o->ts_ns);
}

/*
 * Asks an open queue pair for what it expects. The PSNs differ so much that one
 * of them is past, whatever it expects: it may have been made anew.
 */
int requester_ask(struct roce_out *o, unsigned table)
{
	struct requester *q = &o->pair[table].q;
	uint32_t oldest = psn_of(q, q->w.snd.una);
	uint32_t far = ROCE_PSN_HALF + (uint32_t)q->w.mask + 1;

	q->asked = true;
	q->asked_about = q->w.snd.max;
	/* The round trip of a second probe could be that of the first. */
	q->timed = q->w.snd.una;
	q->timed_at = q->tries ? 0 : o->now_ns;
	switch (q->tries++ % 3) {
	case 0:
		return probe(o, table, oldest - 1);
	case 1:
		return probe(o, table, oldest + far);
	default:
		return probe(o, table, oldest + far / 2);
	}
}

/* The same while nothing is known. */
int requester_ask_anew(struct roce_out *o, unsigned table)
{
	struct requester *q = &o->pair[table].q;

	if (q->guessed || !q->tries) {
		q->guessed = false;
		if (((q->probe - q->farthest) & ROCE_PSN_MASK) < ROCE_PSN_HALF)
			q->farthest = q->probe;
	} else if (q->tries % 3 == 0 && !snd_under_way(&q->w.snd)) {
		q->probe = o->t->at[table].psn;
	} else {
		q->probe += ROCE_PSN_HALF;
	}
	q->tries++;
	q->probed++;
	return probe(o, table, q->probe);
}

/* Asks before more is sent: what is under way may be carried out, or lost. */
void requester_doubt(struct requester *q)
{
	q->phase = PHASE_ASKING;
	q->doubted = true;
	q->probe = psn_of(q, q->w.snd.una) - 1;
	q->asked_about = q->w.snd.max;
	q->guessed = false;
	q->tries = q->probed = 0;
	q->deadline = q->resume = q->timed_at = 0;
}

/* The collector expects psn: a new connection, or one that it forgot. */
static void meet(struct roce_out *o, struct requester *q, uint32_t psn)
{
	struct window *w = &q->w;

	/* Those that it may have carried out. */
	o->ctr.unanswered += window_thin(w, w->snd.max, is_write);
	if (q->met)
		o->ctr.resyncs++;
	q->met = true;
	q->phase = PHASE_OPEN;
	q->doubted = q->guessed = false;
	q->base = psn - (uint32_t)w->snd.una;
	q->unused = psn;
	requester_begin_burst(q);
	q->asked = false;
	q->gone_back = UINT64_MAX;
	q->tries = 0;
	q->deadline = q->resume = q->timed_at = 0;
}

/*
 * Somebody says what is expected: asks about that when all have spoken. If that
 * is what it was asked about, it did not take it for what it expects: soft-RoCE
 * answers so before its first request. To ask the same again leads nowhere.
 */
void requester_guess(const struct roce_out *o, struct requester *q,
		     uint32_t expected)
{
	q->guessed |= expected != q->probe;
	q->probe = expected;
	q->deadline = o->now_ns + q->timeout;
}

/*
 * What a probe of the expected PSN brought back. A connection that takes the
 * place of one we had has carried out no more than our probes: a higher MSN is
 * of the old one, which lives, or of its late answers, which may well be about
 * the PSN that was asked about. Those cannot be about a PSN that no request
 * had. So the connection is led there, by probes in the place of requests that
 * did not get through.
 *
 * One that was never met may have probes under way to it, of PSNs that others'
 * late answers told: one that came later would take a request's place. So it is
 * led past them.
 */
static int answered(struct roce_out *o, unsigned table, uint32_t expected,
		    uint32_t msn)
{
	struct requester *q = &o->pair[table].q;
	uint32_t to = q->met ? q->unused : q->farthest;
	uint32_t left = (to - q->probe) & ROCE_PSN_MASK;
	bool is_new = q->met ? msn <= q->probed + PROBES_MORE
			     : left > q->w.mask + 1;
	int rc = 0;

	q->tries = 0;
	if (is_new || !left || left >= ROCE_PSN_HALF)
		meet(o, q, expected);
	else if (snd_under_way(&q->w.snd))
		o->ctr.late++; /* it lives: requests under way have their PSNs
				*/
	else if (left > q->w.mask + 1)
		requester_guess(o, q, expected);
	else
		for (; left && !rc; left--)
			rc = probe(o, table, q->probe + 1);
	return rc;
}

/* An answer while the expected PSN is unknown. */
int requester_listen(struct roce_out *o, unsigned table, uint32_t expected,
		     bool ack, uint32_t msn)
{
	struct requester *q = &o->pair[table].q;
	uint32_t n = (expected - psn_of(q, q->w.snd.una)) & ROCE_PSN_MASK;

	/* The connection that was doubted. */
	if (q->doubted && n <= snd_under_way(&q->w.snd)) {
		q->phase = PHASE_OPEN;
		q->asked = true;
		q->doubted = q->guessed = false;
		requester_heed(o, q, n, MEANS_ACK, 0);
	} else if (ack && !q->guessed &&
		   expected == ((q->probe + 1) & ROCE_PSN_MASK)) {
		return answered(o, table, expected, msn);
	} else {
		requester_guess(o, q, expected);
	}
	return 0;
}
