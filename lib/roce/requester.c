/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The requester of an RC queue pair: InfiniBand Architecture 9.7, as measured
 * in rdma.md. One that asks no more of the other side than any responder does.
 *
 * An answer tells the PSN that the collector expects next: all before it has
 * been carried out. A window never gives up what was sent, so the PSN of a
 * request stays the same while a connection lasts, and what is told about a PSN
 * is told about one request.
 */
#include "roce/requester_private.h"

#include <errno.h>

/* How many requests may be under way: additions, as many as the collector has
 * room to remember the answers of. */
static uint32_t flight_of(const struct roce_out *o, unsigned table)
{
	uint32_t burst = o->pair[table].q.burst;

	if (o->t->table[table].kind == TABLE_KEYINC && o->t->atomics &&
	    o->t->atomics < burst)
		return o->t->atomics;
	return burst;
}

/* Sends requests from next on, as many as may be under way. */
static int send_some(struct roce_out *o, unsigned table)
{
	struct requester *q = &o->pair[table].q;
	struct window *w = &q->w;
	uint32_t flight = flight_of(o, table);
	uint64_t until = w->snd.una + flight < w->snd.end ? w->snd.una + flight
							  : w->snd.end;
	uint32_t every = o->ack_every, psn;
	int rc = 0;

	if (!every || every > (flight + 3) / 4)
		every = (flight + 3) / 4;
	while (w->snd.nxt < until && !rc) {
		const struct request *r = window_at(w, w->snd.nxt);

		psn = psn_of(q, w->snd.nxt);
		if (++q->since_ack >= every || w->snd.nxt + 1 == until) {
			q->since_ack = 0;
			psn |= ack_req;
		}
		if (snd_next(&w->snd))
			q->unused = (psn + 1) & ROCE_PSN_MASK;
		else
			o->ctr.resent++;
		rc = roce_out_emit(o, &r->op, r->opcode, psn, o->ts_ns);
	}
	return rc;
}

int requester_push(struct roce_out *o, unsigned table)
{
	struct requester *q = &o->pair[table].q;
	struct window *w = &q->w;
	uint64_t first = w->snd.max;
	int rc;

	if (q->phase != PHASE_OPEN)
		return q->deadline || w->snd.end == w->snd.una
			       ? 0
			       : requester_ask_anew(o, table);
	if (q->resume || w->snd.nxt == w->snd.end)
		return 0;
	rc = send_some(o, table);
	if (w->snd.max > first && !q->timed_at) {
		q->timed = w->snd.max - 1;
		q->timed_at = o->now_ns;
	}
	if (!q->deadline && w->snd.una < w->snd.max)
		requester_expect(o, q);
	return rc;
}

static void drop(struct roce_out *o, struct requester *q, unsigned table)
{
	bool refused = q->phase == PHASE_DEAD || q->stale;
	uint64_t *as = q->dropping ? q->dropping
		       : refused   ? &o->ctr.refused
				   : &o->ctr.window_full;

	(*as)++;
	/* Readers must not be told of entries that are not there: what is left
	 * of this list's batch goes, too, and the next one takes its place. */
	if (o->t->table[table].kind == TABLE_APPEND) {
		q->dropping = as;
		o->generation++;
	}
}

int requester_add(struct roce_out *o, const struct op *op, uint8_t opcode,
		  bool *taken)
{
	struct requester *q = &o->pair[op->table].q;
	int rc = 0;

	if (op_payload(op) > q->w.longest)
		return -EMSGSIZE;
	*taken = false;
	while (window_full(&q->w) && !q->dropping) {
		if ((rc = requester_push(o, op->table)) < 0)
			break;
		rc = (q->phase == PHASE_DEAD && !q->stale) || !o->wait
			     ? 0
			     : o->wait(o->ctx);
		if (rc <= 0)
			break;
	}
	o->ctr.requests++; /* not before: it adds up while waiting, too */
	if (q->dropping || window_full(&q->w)) {
		drop(o, q, op->table);
		return rc < 0 ? rc : 0;
	}
	window_add(&q->w, op, opcode);
	*taken = true;
	return 0;
}

static enum meaning meaning_of(struct requester_ledger *ctr, uint8_t syndrome)
{
	switch (syndrome >> 5 & 3) { /* InfiniBand table 43 */
	case 0:
		ctr->acks++;
		return MEANS_ACK;
	case 1:
		ctr->naks_rnr++;
		return MEANS_LATER;
	case 3:
		break;
	default:
		ctr->strangers++;
		return MEANS_NOTHING;
	}
	switch (syndrome) {
	case ROCE_NAK_PSN:
		ctr->naks_psn++;
		return MEANS_GAP;
	case ROCE_NAK_ACCESS:
		ctr->naks_access++;
		return MEANS_REFUSED;
	default: /* invalid request, or an error of its own */
		ctr->naks_invalid++;
		return MEANS_REFUSED;
	}
}

int requester_judge(struct roce_out *o, unsigned table, const struct roce *r)
{
	struct requester *q = &o->pair[table].q;
	enum meaning m = meaning_of(&o->ctr, r->syndrome);
	uint32_t expected = (r->psn + (m == MEANS_ACK)) & ROCE_PSN_MASK;
	uint32_t n = (expected - psn_of(q, q->w.snd.una)) & ROCE_PSN_MASK;
	bool within = n <= snd_under_way(&q->w.snd);
	/* Probes are WRITEs: the answer to an addition, which comes with its
	 * own old PSN when it was sent twice, is none to a probe. */
	bool tells = r->opcode == ROCE_RC_ACK;
	int rc = 0;

	if (m == MEANS_NOTHING)
		return 0;
	if (q->phase == PHASE_OPEN && within) {
		requester_heed(o, q, n, m, r->syndrome);
	} else if (q->phase != PHASE_OPEN && m <= MEANS_GAP &&
		   (tells || within) &&
		   (q->deadline || q->phase == PHASE_DEAD)) {
		rc = requester_listen(o, table, expected, m == MEANS_ACK,
				      r->msn);
	} else if (q->phase == PHASE_OPEN && q->asked && tells &&
		   m <= MEANS_GAP) {
		/* We asked, and this is all it says. */
		q->phase = PHASE_ASKING;
		q->doubted = true;
		q->probed = 0;
		requester_guess(o, q, expected);
	} else {
		if (n >= ROCE_PSN_HALF)
			o->ctr.late++;
		else
			o->ctr.strangers++;
		/* Or the collector has begun anew: it is asked. */
		if (q->phase == PHASE_OPEN && m == MEANS_GAP && !q->asked)
			rc = requester_ask(o, table);
	}
	return rc ? rc : requester_push(o, table);
}

int requester_tick(struct roce_out *o, unsigned table)
{
	struct requester *q = &o->pair[table].q;

	if (!q->on)
		return 0;
	if (q->resume && o->now_ns >= q->resume) {
		q->resume = 0;
		return requester_push(o, table);
	}
	if (!q->deadline || o->now_ns < q->deadline)
		return 0;
	if (!q->guessed)
		o->ctr.timeouts++;
	if (q->phase != PHASE_OPEN &&
	    (q->guessed || q->w.snd.una == q->w.snd.max))
		return requester_ask_anew(o, table);
	return requester_ask(o, table);
}
