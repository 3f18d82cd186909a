/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * requester.c - the requester of an RC queue pair (IBTA vol. 1, 9.7). It relies
 * on nothing that the responders of NICs and of soft-RoCE do not do.
 *
 * An answer gives the PSN that the collector expects next: all requests before
 * it have been carried out (IBTA vol. 1, 9.7.5.1.2). A window never drops a
 * request that was sent, so a request keeps its PSN while a connection lasts,
 * and an answer about a PSN is about one request.
 */
#include "rdma/requester_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	TIMEOUT_MIN = 1 * 1000000, /* ns */
	TIMEOUT_MAX = 500 * 1000000,
	DOUBLINGS_MAX = 5, /* of the timeout */
	/* Requests sent behind a lost one are wasted. So at most one SHARE-th
	 * of the requests that get through between two losses is under way. */
	SHARE = 16,
	BURST_MIN = 8, /* if fewer are under way, often all of them are lost */
	BURST_FIRST = 128, /* of a new connection */
	/* Probes before those counted in probed, which a new connection may
	 * have executed, too. */
	PROBES_EARLIER = 4,
};

/* A refused R_Key is tried again after this time, ns. */
static const uint64_t stale_ns = UINT64_C(5000000000);

/* Kinds of answers, by their syndrome (IBTA vol. 1, 9.7). */
enum ack_class {
	CLASS_ACK,
	CLASS_SEQUENCE_NAK,
	CLASS_RNR,
	CLASS_REFUSED,
	CLASS_UNKNOWN,
};

/* Bytes that op->data points at. */
static inline size_t op_payload(const struct op *op)
{
	return op->verb == OP_FETCH_ADD ? 0 : op->length;
}

int request_window_open(struct request_window *w, uint64_t size, size_t payload)
{
	size_t align = _Alignof(struct requester_request);

	*w = (struct request_window){.mask = size - 1, .longest = payload};
	w->stride = (sizeof(struct requester_request) + payload + align - 1) &
		    ~(align - 1);
	w->mem = calloc(size, w->stride);
	return w->mem ? 0 : -ENOMEM;
}

static inline bool request_window_is_full(const struct request_window *w)
{
	return w->snd.end - w->snd.una > w->mask;
}

/* Adds a request; its payload is copied. There is room. */
static inline void request_window_add(struct request_window *w,
				      const struct op *op, uint8_t opcode)
{
	struct requester_request *r = request_window_at(w, w->snd.end++);
	size_t len = op_payload(op);

	r->op = *op;
	r->opcode = opcode;
	if (!len)
		return;
	r->op.data = r->payload;
	memcpy(r->payload, op->data, len);
}

uint64_t request_window_drop_atomics(struct request_window *w)
{
	uint64_t to = w->snd.una, gone;

	for (uint64_t i = w->snd.una; i < w->snd.end; i++) {
		const struct requester_request *r = request_window_at(w, i);
		struct requester_request *kept = request_window_at(w, to);

		if (i < w->snd.max && r->op.verb == OP_FETCH_ADD)
			continue;
		to++;
		if (kept == r)
			continue;
		memcpy(kept, r, w->stride);
		if (op_payload(&kept->op))
			kept->op.data = kept->payload;
	}
	gone = w->snd.end - to;
	w->snd.end = to;
	w->snd.nxt = w->snd.max = w->snd.una;
	return gone;
}

/* Starts to wait for an answer: sets when it is overdue. */
static void set_deadline(const struct roce_out *o, struct requester *q)
{
	unsigned doublings = q->tries < DOUBLINGS_MAX ? q->tries
						      : DOUBLINGS_MAX;
	uint64_t wait = q->timeout << doublings;

	if (wait > TIMEOUT_MAX)
		wait = TIMEOUT_MAX;
	q->deadline = o->now_ns + (q->phase == REQUESTER_DEAD && q->stale
					   ? stale_ns
					   : wait);
}

void requester_restart(struct requester *q, uint32_t psn)
{
	q->phase = REQUESTER_PROBING;
	q->probe = psn;
	q->checking = q->doubted = q->guessed = q->stale = false;
	q->tries = q->probed = 0;
	q->deadline = q->resume = q->timed_at = 0;
	q->w.snd.nxt = q->w.snd.max = q->w.snd.una;
}

/* Four round trips, smoothed with the 1/8 of RFC 6298, 2.3. Its RTTVAR is not
 * used: four of it on top would be too long here. */
static void measure_rtt(const struct roce_out *o, struct requester *q)
{
	uint64_t rtt = o->now_ns - q->timed_at, timeout;

	if (!q->timed_at)
		return;
	timeout = q->timeout - q->timeout / 8 + rtt / 2;
	q->timeout = timeout < TIMEOUT_MIN   ? TIMEOUT_MIN
		     : timeout > TIMEOUT_MAX ? TIMEOUT_MAX
					     : timeout;
	q->timed_at = 0;
}

static void set_burst(struct requester *q)
{
	uint64_t size = q->w.mask + 1;
	uint64_t gap = q->since_loss > q->loss_gap ? q->since_loss
						   : q->loss_gap;
	uint64_t burst = gap / SHARE < BURST_MIN ? BURST_MIN : gap / SHARE;

	q->burst = (uint32_t)(burst < size ? burst : size);
}

/* A loss lowers the burst. Two losses with nothing confirmed between them may
 * be an outage, which says nothing about the rate of losses. */
static void note_loss(struct requester *q)
{
	uint64_t most = (q->w.mask + 1) * SHARE;
	uint64_t gap = q->since_loss < most ? q->since_loss : most;

	if (!gap)
		return;
	q->loss_gap = (q->loss_gap * 3 + gap) / 4;
	q->since_loss = 0;
	set_burst(q);
}

/* The n oldest requests have been carried out. */
static void confirm_requests(struct roce_out *o, struct requester *q,
			     uint32_t n)
{
	struct request_window *w = &q->w;

	if (!n)
		return;
	q->stale = false; /* its R_Key is good, or good again */
	o->ctr.acked += n;
	snd_confirm(&w->snd, w->snd.una + n);
	if (w->snd.una > q->timed)
		measure_rtt(o, q);
	q->deadline = 0;
	if (snd_under_way(&w->snd))
		set_deadline(o, q);
	q->since_loss += n;
	set_burst(q);
}

/* Sends everything again that is not confirmed. */
static void go_back(const struct roce_out *o, struct requester *q)
{
	struct request_window *w = &q->w;

	if (!snd_under_way(&w->snd))
		return;
	note_loss(q);
	snd_back(&w->snd);
	q->timed_at = 0;
	set_deadline(o, q);
}

/* How long an RNR NAK asks to wait, ns (IBTA vol. 1, table 45). */
static uint64_t rnr_ns(uint8_t syndrome)
{
	static const uint32_t ten_us[32] = {
		65536, 1,    2,	   3,	  4,	 6,	8,     12,
		16,    24,   32,   48,	  64,	 96,	128,   192,
		256,   384,  512,  768,	  1024,	 1536,	2048,  3072,
		4096,  6144, 8192, 12288, 16384, 24576, 32768, 49152,
	};

	return ten_us[syndrome & 31] * UINT64_C(10000);
}

/* Processes an answer on an open connection: the n oldest requests have been
 * carried out. */
static void process_ack(struct roce_out *o, struct requester *q, uint32_t n,
			enum ack_class class, uint8_t syndrome)
{
	struct request_window *w = &q->w;
	bool checking = q->checking;

	if (class == CLASS_ACK && !n && !checking)
		o->ctr.late++;
	else if (checking && !n)
		measure_rtt(o, q);
	q->tries = 0;
	confirm_requests(o, q, n);
	switch (class) {
	case CLASS_SEQUENCE_NAK:
		/* A responder NAKs a gap once: a second NAK is a duplicate. */
		if (checking || q->gone_back != w->snd.una)
			go_back(o, q);
		q->gone_back = w->snd.una;
		break;
	case CLASS_RNR:
		snd_back(&w->snd);
		q->timed_at = 0;
		q->resume = o->now_ns + rnr_ns(syndrome);
		q->deadline = 0;
		break;
	case CLASS_REFUSED:
		requester_restart(q, psn_of(q, w->snd.una));
		q->phase = REQUESTER_DEAD;
		/* The same R_Key would kill a queue pair that is made anew. */
		q->stale = syndrome == ROCE_NAK_ACCESS;
		set_deadline(o, q);
		break;
	default:
		/* An answer that confirms requests need not be the probe's. */
		if (checking && !n && w->snd.una < q->max_at_probe)
			go_back(o, q);
		q->checking = checking && n && w->snd.una < q->max_at_probe;
		return;
	}
	q->checking = false;
}

/*
 * How a requester finds the PSN that its collector expects.
 *
 * When no answer comes, it sends a probe: an empty WRITE, which touches
 * nothing, with a PSN that is long past. A responder answers every duplicate
 * with the last PSN that it has carried out; a PSN ahead it NAKs only once.
 * Half of all PSNs are past, so of two probes 2^23 apart one is always
 * answered.
 *
 * A new connection, or one that was lost, begins with a probe of the PSN that
 * the ticket gives. If it was right, that PSN comes back. Any other answer
 * gives a better PSN, or is late and of an earlier run. So the requester pauses
 * until no more answers come, and then probes the PSN of the last one. Until
 * the expected PSN is known no request is sent: it could be taken for a
 * duplicate. Every third unanswered probe has the ticket's PSN again, since the
 * first may have been lost, and a queue pair that has had no request may answer
 * others wrongly.
 */

static int send_probe(struct roce_out *o, unsigned table, uint32_t psn)
{
	static const uint8_t nothing[1];
	const struct op op = {
		.verb = OP_WRITE,
		.table = (uint16_t)table,
		.data = nothing,
	};
	struct requester *q = &o->qp[table].q;

	q->probe = psn & ROCE_PSN_MASK;
	o->ctr.probes++;
	set_deadline(o, q);
	return roce_out_emit(o, &op, ROCE_RC_WRITE_ONLY, q->probe | ack_req,
			     o->ts_ns);
}

/* Probes an open queue pair. The three PSNs are so far apart that one is past,
 * whatever the responder expects: its queue pair may have been made anew. */
static int probe_connection(struct roce_out *o, unsigned table)
{
	struct requester *q = &o->qp[table].q;
	uint32_t oldest = psn_of(q, q->w.snd.una);
	uint32_t far = ROCE_PSN_HALF + (uint32_t)q->w.mask + 1;

	q->checking = true;
	q->max_at_probe = q->w.snd.max;
	/* The round trip of a second probe could be that of the first. */
	q->timed = q->w.snd.una;
	q->timed_at = q->tries ? 0 : o->now_ns;
	switch (q->tries++ % 3) {
	case 0:
		return send_probe(o, table, oldest - 1);
	case 1:
		return send_probe(o, table, oldest + far);
	default:
		return send_probe(o, table, oldest + far / 2);
	}
}

/* Probes while the expected PSN is unknown. */
static int probe_unknown(struct roce_out *o, unsigned table)
{
	struct requester *q = &o->qp[table].q;

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
	return send_probe(o, table, q->probe);
}

/* Probes before more is sent: requests under way may be executed or lost. */
void requester_doubt(struct requester *q)
{
	q->phase = REQUESTER_PROBING;
	q->doubted = true;
	q->probe = psn_of(q, q->w.snd.una) - 1;
	q->max_at_probe = q->w.snd.max;
	q->guessed = false;
	q->tries = q->probed = 0;
	q->deadline = q->resume = q->timed_at = 0;
}

/* The collector expects psn: the connection is new, or was lost. */
static void open_connection(struct roce_out *o, struct requester *q,
			    uint32_t psn)
{
	struct request_window *w = &q->w;

	/* Atomics that may have been carried out are not repeated. */
	o->ctr.unanswered += request_window_drop_atomics(w);
	if (q->was_open)
		o->ctr.resyncs++;
	q->was_open = true;
	q->phase = REQUESTER_OPEN;
	q->doubted = q->guessed = false;
	q->base = psn - (uint32_t)w->snd.una;
	q->unused = psn;
	q->since_loss = 0; /* as if losses were far apart */
	q->loss_gap = BURST_FIRST * SHARE;
	set_burst(q);
	q->checking = false;
	q->gone_back = UINT64_MAX;
	q->tries = 0;
	q->deadline = q->resume = q->timed_at = 0;
}

/* An answer says which PSN is expected: once no more answers come, that is
 * probed. But if it is the PSN of the last probe, the responder did not execute
 * that (soft-RoCE answers so before its first request), nor would it again. */
static void note_expected(const struct roce_out *o, struct requester *q,
			  uint32_t expected)
{
	q->guessed |= expected != q->probe;
	q->probe = expected;
	q->deadline = o->now_ns + q->timeout;
}

/*
 * A probe of the expected PSN was answered. A new connection has executed
 * nothing but our probes, which its MSN counts. A higher MSN is the old
 * connection's: that is still alive, or this is its late answer to a request
 * with the PSN that was probed. No late answer is about a PSN that no request
 * had. So probes take the places of lost requests, up to such a PSN.
 *
 * On a connection that was never open, probes may be under way whose PSNs came
 * from late answers; one of them could take a request's place. So probes fill
 * the PSNs up to the last of these.
 */
static int process_probe_reply(struct roce_out *o, unsigned table,
			       uint32_t expected, uint32_t msn)
{
	struct requester *q = &o->qp[table].q;
	uint32_t to = q->was_open ? q->unused : q->farthest;
	uint32_t left = (to - q->probe) & ROCE_PSN_MASK;
	bool is_new = q->was_open ? msn <= q->probed + PROBES_EARLIER
				  : left > q->w.mask + 1;
	int rc = 0;

	q->tries = 0;
	if (is_new || !left || left >= ROCE_PSN_HALF)
		open_connection(o, q, expected);
	else if (snd_under_way(&q->w.snd))
		o->ctr.late++; /* the old connection has requests under way */
	else if (left > q->w.mask + 1)
		note_expected(o, q, expected);
	else
		for (; left && !rc; left--)
			rc = send_probe(o, table, q->probe + 1);
	return rc;
}

/* Processes an answer while the expected PSN is unknown. */
static int process_ack_unknown(struct roce_out *o, unsigned table,
			       uint32_t expected, bool ack, uint32_t msn)
{
	struct requester *q = &o->qp[table].q;
	uint32_t n = (expected - psn_of(q, q->w.snd.una)) & ROCE_PSN_MASK;

	/* The connection that was doubted. */
	if (q->doubted && n <= snd_under_way(&q->w.snd)) {
		q->phase = REQUESTER_OPEN;
		q->checking = true;
		q->doubted = q->guessed = false;
		process_ack(o, q, n, CLASS_ACK, 0);
	} else if (ack && !q->guessed &&
		   expected == ((q->probe + 1) & ROCE_PSN_MASK)) {
		return process_probe_reply(o, table, expected, msn);
	} else {
		note_expected(o, q, expected);
	}
	return 0;
}

/* How many requests may be under way. Atomics: no more than the collector can
 * store answers of. */
static uint32_t flight_limit(const struct roce_out *o, unsigned table)
{
	uint32_t burst = o->qp[table].q.burst;

	if (table_counts(&o->t->table[table]) && o->t->atomics &&
	    o->t->atomics < burst)
		return o->t->atomics;
	return burst;
}

/* Sends requests from next on, as many as may be under way. */
static int send_some(struct roce_out *o, unsigned table)
{
	struct requester *q = &o->qp[table].q;
	struct request_window *w = &q->w;
	uint32_t flight = flight_limit(o, table);
	uint64_t until = w->snd.una + flight < w->snd.end ? w->snd.una + flight
							  : w->snd.end;
	uint32_t every = o->ack_every, psn;
	int rc = 0;

	if (!every || every > (flight + 3) / 4)
		every = (flight + 3) / 4;
	while (w->snd.nxt < until && !rc) {
		const struct requester_request *r = request_window_at(
			w, w->snd.nxt);

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
	struct requester *q = &o->qp[table].q;
	struct request_window *w = &q->w;
	uint64_t first = w->snd.max;
	int rc;

	if (q->phase != REQUESTER_OPEN)
		return q->deadline || w->snd.end == w->snd.una
			       ? 0
			       : probe_unknown(o, table);
	if (q->resume || w->snd.nxt == w->snd.end)
		return 0;
	rc = send_some(o, table);
	if (w->snd.max > first && !q->timed_at) {
		q->timed = w->snd.max - 1;
		q->timed_at = o->now_ns;
	}
	if (!q->deadline && w->snd.una < w->snd.max)
		set_deadline(o, q);
	return rc;
}

static void drop_request(struct roce_out *o, struct requester *q,
			 unsigned table)
{
	bool refused = q->phase == REQUESTER_DEAD || q->stale;
	uint64_t *reason = q->dropping ? q->dropping
			   : refused   ? &o->ctr.refused
				       : &o->ctr.window_full;

	(*reason)++;
	/* A list's count must not cover entries that are missing: the rest of
	 * this list's batch is dropped, too, and the next takes its place. */
	if (o->t->table[table].kind == TABLE_APPEND) {
		q->dropping = reason;
		o->generation++;
	}
}

int requester_add(struct roce_out *o, const struct op *op, uint8_t opcode,
		  bool *taken)
{
	struct requester *q = &o->qp[op->table].q;
	int rc = 0;

	if (op_payload(op) > q->w.longest)
		return -EMSGSIZE;
	*taken = false;
	while (request_window_is_full(&q->w) && !q->dropping) {
		if ((rc = requester_push(o, op->table)) < 0)
			break;
		rc = (q->phase == REQUESTER_DEAD && !q->stale) || !o->wait
			     ? 0
			     : o->wait(o->ctx);
		if (rc <= 0)
			break;
	}
	/* Counted only now: the ledger must balance while wait() runs, too. */
	o->ctr.requests++;
	if (q->dropping || request_window_is_full(&q->w)) {
		drop_request(o, q, op->table);
		return rc < 0 ? rc : 0;
	}
	request_window_add(&q->w, op, opcode);
	*taken = true;
	return 0;
}

static enum ack_class classify_syndrome(struct requester_ledger *ctr,
					uint8_t syndrome)
{
	switch (syndrome >> 5 & 3) {
	case 0:
		ctr->acks++;
		return CLASS_ACK;
	case 1:
		ctr->naks_rnr++;
		return CLASS_RNR;
	case 3:
		break;
	default:
		ctr->unmatched++;
		return CLASS_UNKNOWN;
	}
	switch (syndrome) {
	case ROCE_NAK_PSN:
		ctr->naks_psn++;
		return CLASS_SEQUENCE_NAK;
	case ROCE_NAK_ACCESS:
		ctr->naks_access++;
		return CLASS_REFUSED;
	default: /* invalid request, or an error of its own */
		ctr->naks_invalid++;
		return CLASS_REFUSED;
	}
}

int requester_judge(struct roce_out *o, unsigned table, const struct roce *r)
{
	struct requester *q = &o->qp[table].q;
	enum ack_class class = classify_syndrome(&o->ctr, r->syndrome);
	uint32_t expected = (r->psn + (class == CLASS_ACK)) & ROCE_PSN_MASK;
	uint32_t n = (expected - psn_of(q, q->w.snd.una)) & ROCE_PSN_MASK;
	bool within = n <= snd_under_way(&q->w.snd);
	/* Probes are WRITEs, so the answer to an atomic, which has its own PSN
	 * if the atomic was a duplicate, is no answer to a probe. */
	bool answers_probe = r->opcode == ROCE_RC_ACK;
	int rc = 0;

	if (class == CLASS_UNKNOWN)
		return 0;
	if (q->phase == REQUESTER_OPEN && within) {
		process_ack(o, q, n, class, r->syndrome);
	} else if (q->phase != REQUESTER_OPEN && class <= CLASS_SEQUENCE_NAK &&
		   (answers_probe || within) &&
		   (q->deadline || q->phase == REQUESTER_DEAD)) {
		rc = process_ack_unknown(o, table, expected, class == CLASS_ACK,
					 r->msn);
	} else if (q->phase == REQUESTER_OPEN && q->checking && answers_probe &&
		   class <= CLASS_SEQUENCE_NAK) {
		/* The probe was answered by a queue pair that is made anew. */
		q->phase = REQUESTER_PROBING;
		q->doubted = true;
		q->probed = 0;
		note_expected(o, q, expected);
	} else {
		if (n >= ROCE_PSN_HALF)
			o->ctr.late++;
		else
			o->ctr.unmatched++;
		/* The collector may have begun anew: probe. */
		if (q->phase == REQUESTER_OPEN && class == CLASS_SEQUENCE_NAK &&
		    !q->checking)
			rc = probe_connection(o, table);
	}
	return rc ? rc : requester_push(o, table);
}

int requester_tick(struct roce_out *o, unsigned table)
{
	struct requester *q = &o->qp[table].q;

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
	if (q->phase != REQUESTER_OPEN &&
	    (q->guessed || q->w.snd.una == q->w.snd.max))
		return probe_unknown(o, table);
	return probe_connection(o, table);
}
