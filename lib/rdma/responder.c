/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * responder.c - the software responder: decodes batches of packets, checks
 * them, and hands valid ones to their queue pairs (IBTA, Volume 1, 9.7 for
 * RC, 9.8 for UC). All checks of a packet come before its first byte is
 * written.
 */
#include "rdma/responder_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "region/prefetch.h"
#include "net/net.h"

enum {
	RNR_TIMER = 1,	  /* 0.01 ms: the shortest (InfiniBand table 45) */
	EPOCHS_BACK = 64, /* past epochs whose R_Keys are recognized */
};

static const struct ledger_field fields[] = {
	LEDGER_FIELD(struct responder_ledger, received, LEDGER_IN),
	LEDGER_FIELD(struct responder_ledger, executed, LEDGER_DONE),
	LEDGER_FIELD(struct responder_ledger, duplicate, LEDGER_HARMLESS),
	LEDGER_FIELD(struct responder_ledger, foreign, LEDGER_HARMLESS),
	LEDGER_FIELD(struct responder_ledger, malformed, LEDGER_LOSS),
	LEDGER_FIELD(struct responder_ledger, bad_icrc, LEDGER_LOSS),
	LEDGER_FIELD(struct responder_ledger, bad_pkey, LEDGER_LOSS),
	LEDGER_FIELD(struct responder_ledger, bad_tver, LEDGER_LOSS),
	LEDGER_FIELD(struct responder_ledger, bad_opcode, LEDGER_LOSS),
	LEDGER_FIELD(struct responder_ledger, bad_qp, LEDGER_LOSS),
	LEDGER_FIELD(struct responder_ledger, bad_peer, LEDGER_LOSS),
	LEDGER_FIELD(struct responder_ledger, qp_error, LEDGER_LOSS),
	LEDGER_FIELD(struct responder_ledger, out_of_order, LEDGER_LOSS),
	LEDGER_FIELD(struct responder_ledger, old_epoch, LEDGER_LOSS),
	LEDGER_FIELD(struct responder_ledger, invalid, LEDGER_LOSS),
	LEDGER_FIELD(struct responder_ledger, access, LEDGER_LOSS),
	LEDGER_FIELD(struct responder_ledger, rnr, LEDGER_LOSS),
	LEDGER_FIELD(struct responder_ledger, writes, LEDGER_NOTE),
	LEDGER_FIELD(struct responder_ledger, atomics, LEDGER_NOTE),
	LEDGER_FIELD(struct responder_ledger, immediates, LEDGER_NOTE),
	LEDGER_FIELD(struct responder_ledger, bytes, LEDGER_NOTE),
	LEDGER_FIELD(struct responder_ledger, acks, LEDGER_NOTE),
	LEDGER_FIELD(struct responder_ledger, naks, LEDGER_NOTE),
};

LEDGER_COMPLETE(fields, struct responder_ledger);

const struct ledger responder_ledger = {
	.stage = "responder",
	.unit = "packets",
	.fields = fields,
	.n = sizeof(fields) / sizeof(fields[0]),
};

/* Does not read the queue pair: another thread may be changing it. */
static struct responder_qp *find_qp(struct responder *p, uint32_t qpn)
{
	const struct ticket *t = &p->s->t;
	uint32_t guess = qpn - t->at[0].qpn; /* they are numbered in a row */

	if (guess < t->n && t->at[guess].qpn == qpn)
		return &p->s->qp[guess];
	for (unsigned i = 0; i < t->n; i++)
		if (t->at[i].qpn == qpn)
			return &p->s->qp[i];
	return NULL;
}

static bool from_peer(const struct responder *p, const struct roce *r)
{
	return r->version == p->s->t.version &&
	       !memcmp(r->src, p->s->t.peer_ip, r->version == 4 ? 4 : 16);
}

static void note_unknown_peer(struct responder *p, const struct roce *r)
{
	p->ctr.bad_peer++;
	if (p->unknown_peer.version)
		return;
	p->unknown_peer.version = r->version;
	memcpy(p->unknown_peer.ip, r->src, sizeof(r->src));
}

static bool to_us(const struct responder *p, const struct roce *r)
{
	return r->version == p->s->t.version &&
	       !memcmp(r->dst, p->s->t.ip, r->version == 4 ? 4 : 16);
}

/* Counts a packet that roce_decode() refused. */
static void count_undecoded(struct responder_ledger *ctr, const struct pkt *pkt,
			    int rc)
{
	struct net_udp u;

	if (rc != -ENOTSUP)
		ctr->malformed++;
	else if (net_udp_decode(&u, pkt->data, pkt->len) ||
		 u.dst_port != ROCE_PORT ||
		 (u.version == 6 &&
		  u.payload != u.ip + NET_IP6_LEN + NET_UDP_LEN))
		ctr->foreign++;
	else
		ctr->bad_opcode++; /* RoCEv2, but none of ours */
}

/* Checks what does not depend on earlier packets; NULL: not valid, counted. */
static struct responder_qp *screen_packet(struct responder *p,
					  const struct roce *r)
{
	struct responder_ledger *ctr = &p->ctr;
	struct responder_qp *q = find_qp(p, r->dest_qp);

	if (!r->icrc_ok)
		ctr->bad_icrc++;
	else if (memcmp(r->eth_dst, p->s->t.mac, 6) != 0)
		ctr->foreign++;
	else if ((r->pkey & 0x7fff) != 0x7fff)
		ctr->bad_pkey++;
	else if (r->tver)
		ctr->bad_tver++;
	else if (!q)
		ctr->bad_qp++;
	else if (is_reply(r->opcode) ||
		 is_rc(r->opcode) != p->s->rc[q - p->s->qp])
		ctr->bad_opcode++;
	else if (!from_peer(p, r))
		note_unknown_peer(p, r);
	else if (!to_us(p, r))
		ctr->foreign++;
	else
		return q;
	return NULL;
}

/* Empties the header cache after queue pairs were made anew. */
static void reset_header_cache(struct responder *p)
{
	if (p->qp_version == p->s->qp_version)
		return;
	p->qp_version = p->s->qp_version;
	memset(&p->headers, 0, sizeof(p->headers));
}

/* Decodes n packets whose headers are not in the cache. */
static void screen_unknown(struct responder *p, const struct pkt *pkts,
			   unsigned n, struct roce *decoded,
			   struct responder_qp **qps)
{
	unsigned last = n;

	for (unsigned i = 0; i < n; i++) {
		struct responder_qp *q = NULL;
		int rc = roce_decode(&decoded[i], pkts[i].data, pkts[i].len);

		if (rc < 0)
			count_undecoded(&p->ctr, &pkts[i], rc);
		else
			q = screen_packet(p, &decoded[i]);
		qps[i] = q;
	}
	/* Only one is cached: headers that never come again cost little. */
	while (last && !qps[last - 1])
		last--;
	if (last--)
		header_cache_add(&p->headers, &pkts[last], &decoded[last],
				 qps[last]);
}

void responder_screen(struct responder *p, const struct pkt *pkts, unsigned n,
		      struct roce *decoded, struct responder_qp **qps)
{
	uint32_t known;
	unsigned end;

	reset_header_cache(p);
	known = header_cache_match(&p->headers, pkts, n, decoded, qps);
	p->ctr.received += n;
	for (unsigned i = 0; i < n; i = end) {
		end = i + 1;
		if (known >> i & 1) {
			p->ctr.bad_icrc += !qps[i];
			continue;
		}
		while (end < n && !(known >> end & 1))
			end++;
		screen_unknown(p, pkts + i, end - i, decoded + i, qps + i);
	}
}

static uint64_t epoch_of_rkey(const struct responder *p, unsigned table,
			      uint32_t rkey)
{
	uint64_t now = p->s->epoch;
	struct ticket_table at;

	for (uint64_t e = now; e-- > 1 && now - e <= EPOCHS_BACK;) {
		ticket_place(&at, p->region, table, e);
		if (at.rkey == rkey)
			return e;
	}
	return 0;
}

/* A reply to a request that is not carried out. */
static struct verdict reply_with(struct responder *p,
				 const struct responder_qp *q, uint32_t psn,
				 uint8_t syndrome)
{
	if (syndrome == ROCE_ACK)
		p->ctr.acks++;
	else
		p->ctr.naks++;
	return (struct verdict){
		.answer = REPLY_ACK,
		.psn = psn,
		.aeth = (uint32_t)syndrome << 24 |
			responder_qp_msn(q, q->expected),
	};
}

static struct verdict no_reply(void)
{
	return (struct verdict){.answer = REPLY_NONE};
}

/* RC: a NAK, and the queue pair is dead. UC: no reply, and it goes on. */
static struct verdict refuse_request(struct responder *p,
				     struct responder_qp *q,
				     const struct roce *r, uint8_t syndrome)
{
	if (syndrome == ROCE_NAK_ACCESS)
		p->ctr.access++;
	else
		p->ctr.invalid++;
	q->refused = true;
	q->refused_rkey = r->rkey;
	if (!is_rc(r->opcode))
		return no_reply();
	q->error = true;
	return reply_with(p, q, q->expected, syndrome);
}

/* Whether a request was made for a past epoch. Empty ones never are: their
 * R_Key does not matter. */
static bool is_outdated(struct responder *p, struct responder_qp *q,
			const struct roce *r)
{
	if (r->rkey == q->rkey || (!is_atomic(r->opcode) && !r->len))
		return false;
	if (r->rkey != q->other_rkey) {
		q->other_rkey = r->rkey;
		q->other_epoch = epoch_of_rkey(p, responder_qp_table(p, q),
					       r->rkey);
	}
	return q->other_epoch;
}

/* Counts a request with another PSN than expected. */
static void count_other(struct responder *p, struct responder_qp *q,
			const struct roce *r, uint64_t *reason)
{
	if (!is_outdated(p, q, r)) {
		++*reason;
		return;
	}
	p->ctr.old_epoch++;
	if (p->answers) /* it is sent again under another ticket */
		return;
	q->refused = true;
	q->refused_rkey = r->rkey;
}

/* An atomic's answer is repeated, and counted, if its value is still kept,
 * which replies_send() finds out. */
static struct verdict handle_duplicate(struct responder *p,
				       struct responder_qp *q,
				       const struct roce *r)
{
	count_other(p, q, r, &p->ctr.duplicate);
	if (!is_atomic(r->opcode))
		return reply_with(p, q, (q->expected - 1) & ROCE_PSN_MASK,
				  ROCE_ACK);
	return (struct verdict){
		.answer = REPLY_REPEATED,
		.psn = r->psn,
		.aeth = (uint32_t)ROCE_ACK << 24 |
			responder_qp_msn(q, q->expected),
	};
}

/* Checks the expected packet of a live queue pair. */
static inline __attribute__((always_inline)) struct verdict
judge_expected(struct responder *p, struct responder_qp *q,
	       const struct roce *r)
{
	uint64_t *receives = &p->s->receives;
	struct verdict v;
	uint8_t why;

	if (is_immediate(r->opcode) && !*receives) {
		p->ctr.rnr++;
		return is_rc(r->opcode) ? reply_with(p, q, r->psn,
						     ROCE_RNR_NAK | RNR_TIMER)
					: no_reply();
	}
	why = responder_qp_access(p, q, r);
	if (why)
		return refuse_request(p, q, r, why);
	if (is_immediate(r->opcode) && *receives != UINT64_MAX)
		--*receives;
	if (q->refused && (is_atomic(r->opcode) || r->len))
		q->refused = false;
	v = responder_qp_accept(q, r);
	q->expected = (r->psn + 1) & ROCE_PSN_MASK;
	q->nak_sent = false;
	return v;
}

/* RC: only the expected PSN is carried out (InfiniBand 9.7.3). */
static inline __attribute__((always_inline)) struct verdict
judge_request(struct responder *p, struct responder_qp *q, const struct roce *r)
{
	uint32_t ahead = (r->psn - q->expected) & ROCE_PSN_MASK;

	if (q->error) {
		p->ctr.qp_error++;
		return no_reply();
	}
	if (!is_rc(r->opcode) || !ahead)
		return judge_expected(p, q, r);
	if (ahead >= ROCE_PSN_HALF)
		return handle_duplicate(p, q, r);
	count_other(p, q, r, &p->ctr.out_of_order);
	if (q->nak_sent)
		return no_reply();
	q->nak_sent = true;
	return reply_with(p, q, q->expected, ROCE_NAK_PSN);
}

struct verdict responder_qp_judge(struct responder *p, struct responder_qp *q,
				  const struct roce *r)
{
	return judge_request(p, q, r);
}

unsigned responder_qp_reply(const struct responder *p,
			    const struct responder_qp *q, const struct roce *r,
			    const struct verdict *v,
			    struct responder_replies *d, uint64_t ts_ns)
{
	const struct reply_request a = {
		.kind = v->answer,
		.table = responder_qp_table(p, q),
		.qpn = q->qpn,
		.psn = v->psn,
		.aeth = v->aeth,
		.ts_ns = ts_ns,
	};

	return replies_add(d, &a, r);
}

static void qp_rx(struct responder *p, struct responder_qp *q,
		  const struct roce *r, uint64_t ts_ns)
{
	struct verdict v = judge_request(p, q, r);
	struct op *op = &p->op[p->nops];
	unsigned number = REPLY_NO_NUMBER;

	if (v.answer && p->answers)
		number = responder_qp_reply(p, q, r, &v, &p->replies, ts_ns);
	if (!v.good)
		return;
	responder_qp_op(p, q, r, &p->ctr, p->operand[p->nops++], op);
	if (v.answer == REPLY_ATOMIC)
		op->immediate = number;
	if (p->prefetch)
		prefetch_lines(local_mem(p->local, op->table) + op->offset,
			       op->length);
}

static bool is_atomic_op(const struct op *op)
{
	return op->verb == OP_FETCH_ADD || op->verb == OP_CMP_SWAP;
}

/* Carries out atomics up to the first other operation or table. */
static size_t exec_atomics(struct responder *p, const struct op *op, size_t n,
			   struct responder_replies *d)
{
	uint64_t old[PKT_BATCH];
	size_t done = local_fetch(p->local, op, n, old);

	for (size_t i = 0; i < done; i++)
		if (op[i].immediate != REPLY_NO_NUMBER)
			replies_set_value(d, op[i].immediate, old[i]);
	return done;
}

int responder_exec(struct responder *p, const struct op *op, size_t n,
		   struct responder_replies *d)
{
	struct transport *transport = local_transport(p->local);
	size_t done;
	int rc = 0;

	if (!d)
		return n ? transport->exec(transport, op, n, 0) : 0;
	for (; n && !rc; op += done, n -= done) {
		done = exec_atomics(p, op, n, d);
		if (done)
			continue;
		while (done < n && !is_atomic_op(&op[done]))
			done++;
		rc = transport->exec(transport, op, done, 0);
	}
	return rc;
}

/* Carries out pending operations, those before end. */
static int exec_pending(struct responder *p, unsigned end)
{
	unsigned from = p->carried_out;

	p->carried_out = end;
	return responder_exec(p, p->op + from, end - from,
			      p->answers ? &p->replies : NULL);
}

void responder_set_epoch(struct responder *p, uint64_t epoch)
{
	struct ticket_table at;

	if (epoch == p->s->epoch)
		return;
	for (unsigned i = 0; i < p->s->t.n; i++) {
		ticket_place(&at, p->region, i, epoch);
		p->s->qp[i].rkey = at.rkey;
		p->s->qp[i].address = at.address;
	}
	p->s->epoch = epoch;
}

/* Called after the writes: an ACK says that they are done. */
static int send_replies(struct responder *p)
{
	replies_checksum(&p->replies);
	return replies_send(&p->replies, p->s->replays, p->answers,
			    &p->ctr.acks);
}

/* Every packet is checked and counted, even if the answers' sink fails. */
int responder_rx(struct responder *p, const struct pkt *pkts, size_t n)
{
	struct transport *transport = local_transport(p->local);
	unsigned asked = 0;
	int rc = 0;

	responder_set_epoch(p, transport->begin(transport));
	p->nops = p->carried_out = 0;
	for (size_t at = 0; at < n && !rc; at += ROCE_BATCH) {
		size_t left = n - at;
		unsigned m = left < ROCE_BATCH ? (unsigned)left : ROCE_BATCH;

		responder_screen(p, pkts + at, m, p->decoded, p->qps);
		for (unsigned i = 0; i < m; i++)
			if (p->qps[i])
				qp_rx(p, p->qps[i], &p->decoded[i],
				      pkts[at + i].ts_ns);
		/* The operations of the packets before these. */
		if (p->prefetch)
			rc = exec_pending(p, asked);
		asked = p->nops;
	}
	if (!rc)
		rc = exec_pending(p, p->nops);
	transport->end(transport);
	if (rc)
		replies_drop(&p->replies);
	return rc || !p->replies.n ? rc : send_replies(p);
}

/* The ticket says what the region says, or offsets would be another table's. */
static int check_ticket(const struct region *r, const struct ticket *t,
			struct fault *f)
{
	if (t->n != region_tables(r))
		return fault_set(f, -EINVAL,
				 "the ticket has %u tables, the region %u",
				 t->n, region_tables(r));
	for (unsigned i = 0; i < t->n; i++)
		if (t->table[i].length != region_table(r, i)->length)
			return fault_set(f, -EINVAL,
					 "table %s: the ticket is another "
					 "region's",
					 region_table(r, i)->name);
	return 0;
}

static void make_qps(struct responder *p, const struct ticket *t)
{
	p->s->t = *t;
	p->s->epoch = t->epoch;
	p->s->qp_version++;
	for (unsigned i = 0; i < t->n; i++) {
		p->s->t.at[i].heads = NULL; /* the ticket's own */
		const struct responder_qp *old = &p->s->qp[i];

		p->s->qp[i] = (struct responder_qp){
			.refused = old->refused,
			.reported = old->reported,
			.refused_rkey = old->refused_rkey,
			.table = region_table(p->region, i),
			.qpn = t->at[i].qpn,
			.rkey = t->at[i].rkey,
			.address = t->at[i].address,
			.expected = t->at[i].psn,
			.first = t->at[i].psn,
		};
		p->s->replays[i] = (struct replays){0};
		p->s->rc[i] = region_table(p->region, i)->qp == TABLE_QP_RC;
	}
}

/* Further away than windows and their probes reach (ROCE_OUT_WINDOW_MAX). */
void responder_renumber(const struct responder *p, struct ticket *t)
{
	struct rng rng = {.state = rng_seed()};
	const uint32_t away = ROCE_PSN_HALF / 2;

	for (unsigned i = 0; i < t->n; i++)
		t->at[i].psn = (p->s->qp[i].expected + away +
				(uint32_t)rng_below(&rng, ROCE_PSN_HALF)) &
			       ROCE_PSN_MASK;
}

int responder_reopen(struct responder *p, const struct ticket *t,
		     struct fault *f)
{
	int rc = check_ticket(p->region, t, f);

	if (!rc)
		make_qps(p, t);
	return rc;
}

int responder_open(struct responder **out, struct region *r,
		   const struct ticket *t, struct snk *answers,
		   const struct responder_options *o, struct fault *f)
{
	struct responder *p;
	int rc = check_ticket(r, t, f);

	if (rc < 0)
		return rc;
	p = calloc(1, sizeof(*p));
	if (!p || !(p->s = calloc(1, sizeof(*p->s))))
		rc = fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	if (!rc)
		rc = local_open(&p->local, r, f);
	if (rc < 0) {
		responder_close(p);
		return rc;
	}
	p->region = r;
	p->prefetch = local_transport(p->local)->mem != NULL;
	p->answers = answers;
	p->o = *o;
	p->s->receives = o->receives;
	make_qps(p, t);
	*out = p;
	return 0;
}

bool responder_unknown_peer(struct responder *p,
			    struct responder_unknown_peer *out)
{
	if (!p->unknown_peer.version || p->unknown_peer.reported)
		return false;
	p->unknown_peer.reported = true;
	out->version = p->unknown_peer.version;
	memcpy(out->ip, p->unknown_peer.ip, 16);
	out->peer_version = p->s->t.version;
	memcpy(out->peer_ip, p->s->t.peer_ip, 16);
	return true;
}

bool responder_refused(struct responder *p, struct responder_refusal *out)
{
	for (unsigned i = 0; i < p->s->t.n; i++) {
		struct responder_qp *q = &p->s->qp[i];

		if (q->refused == q->reported)
			continue;
		q->reported = q->refused;
		out->table = i;
		out->over = !q->refused;
		out->epoch = epoch_of_rkey(p, i, q->refused_rkey);
		return true;
	}
	return false;
}

bool responder_is_dead(const struct responder *p)
{
	for (unsigned i = 0; i < p->s->t.n; i++)
		if (p->s->qp[i].error)
			return true;
	return false;
}

bool responder_has_events(const struct responder *p)
{
	const struct responder_state *s = p->s;

	for (unsigned i = 0; i < s->t.n; i++)
		if (s->qp[i].error || s->qp[i].refused != s->qp[i].reported)
			return true;
	return s->epoch != s->t.epoch;
}

uint64_t responder_epoch(const struct responder *p)
{
	return p->s->t.epoch;
}

const struct responder_ledger *responder_counters(const struct responder *p)
{
	return &p->ctr;
}

void responder_close(struct responder *p)
{
	if (!p)
		return;
	local_close(p->local);
	free(p->s);
	free(p);
}
