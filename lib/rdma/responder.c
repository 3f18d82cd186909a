/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * responder.c - the software responder: decodes batches of packets, checks
 * them, and hands valid ones to their queue pairs (IBTA vol. 1, 9.7 for RC,
 * 9.8 for UC). All checks of a packet come before its first byte is
 * written.
 */
#include "rdma/responder_private.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "hash/crc.h"
#include "net/be.h"
#include "net/net.h"
#include "region/memory.h"

enum {
	FRAME_MAX = 128, /* bytes of a reply */
	HEAD_MAX = NET_ETH_LEN + NET_IP6_LEN + NET_UDP_LEN + TEMPLATE_PSN,
	ACK_TAIL = 4 + ROCE_AETH_LEN,
	AT_AETH = 4, /* offsets in a tail: PSN, AETH, value */
	AT_VALUE = AT_AETH + ROCE_AETH_LEN,
	RNR_TIMER = 1, /* 0.01 ms: the shortest (IBTA vol. 1, table 45) */
};

_Static_assert((int)CRC_HEADROOM <= (int)REPLY_TAIL, "headroom");

static int make_frame(struct reply_frame *f, const struct roce *to)
{
	static const uint8_t room[CRC_HEADROOM + REPLY_TAIL];
	const uint8_t *zeros = room + CRC_HEADROOM;
	int rc = roce_template_make(&f->t, to);

	if (rc < 0)
		return rc;
	f->sum = crc_extend(CRC_SLOT0, f->t.sum, zeros,
			    (size_t)f->t.body - f->t.psn) ^
		 crc(CRC_SLOT0, zeros, REPLY_TAIL);
	return 0;
}

static bool make_frames(struct reply_peer *peer, uint32_t qpn,
			const struct roce *r)
{
	struct roce to = {
		.version = r->version,
		.src_port = r->src_port,
		.ttl = 64,
		.opcode = ROCE_RC_ACK,
		.migreq = true,
		.pkey = 0xffff,
		.dest_qp = qpn, /* both ends use the same QP number */
	};

	memcpy(to.eth_dst, r->eth_src, 6);
	memcpy(to.eth_src, r->eth_dst, 6);
	memcpy(to.src, r->dst, 16);
	memcpy(to.dst, r->src, 16);
	peer->to = to;
	if (make_frame(&peer->ack, &to) < 0)
		return false;
	to.opcode = ROCE_RC_ATOMIC_ACK;
	return make_frame(&peer->atomic, &to) == 0;
}

static bool is_from_peer(const struct reply_peer *peer, uint32_t qpn,
			 const struct roce *r)
{
	const struct roce *to = &peer->to;

	return to->version == r->version && to->src_port == r->src_port &&
	       to->dest_qp == qpn && !memcmp(to->eth_dst, r->eth_src, 6) &&
	       !memcmp(to->eth_src, r->eth_dst, 6) &&
	       !memcmp(to->dst, r->src, 16) && !memcmp(to->src, r->dst, 16);
}

static const struct reply_peer *find_peer(struct responder_replies *replies,
					  unsigned table, uint32_t qpn,
					  const struct roce *r)
{
	struct reply_peer *peer = replies->last[table];

	if (peer && is_from_peer(peer, qpn, r))
		return peer;
	if (replies->peers == REPLY_PEERS ||
	    !make_frames(&replies->peer[replies->peers], qpn, r))
		return NULL;
	return replies->last[table] = &replies->peer[replies->peers++];
}

unsigned responder_qp_reply(const struct responder *p,
			    const struct responder_qp *q, const struct roce *r,
			    const struct verdict *v,
			    struct responder_replies *replies, uint64_t ts_ns)
{
	unsigned table = responder_qp_table(p, q);
	const struct reply_peer *to = find_peer(replies, table, q->qpn, r);
	struct pending_reply *pending = &replies->pending[replies->n];
	uint8_t *tail;

	if (!to)
		return REPLY_NO_NUMBER;
	pending->kind = v->answer;
	pending->table = (uint8_t)table;
	pending->ts_ns = ts_ns;
	pending->frame = v->answer == REPLY_ACK ? &to->ack : &to->atomic;
	tail = replies->tail[replies->n + 1];
	if (v->answer == REPLY_ACK) {
		memset(tail, 0, REPLY_TAIL - ACK_TAIL);
		tail += REPLY_TAIL - ACK_TAIL;
	}
	be32_store(tail, v->psn);
	be32_store(tail + AT_AETH, v->aeth);
	return ++replies->n;
}

static void replies_set_value(struct responder_replies *replies,
			      unsigned number, uint64_t old)
{
	be64_store(replies->tail[number] + AT_VALUE, old);
}

/* Computes the tails' CRCs of n replies, at most ROCE_BATCH. */
static void checksum_some(struct responder_replies *replies,
			  const uint16_t *which, unsigned n)
{
	const enum crc_id icrc = CRC_SLOT0;
	const uint8_t *tails[ROCE_BATCH] = {NULL};
	uint32_t sums[ROCE_BATCH], *out = sums;

	for (unsigned i = 0; i < n; i++)
		tails[i] = replies->tail[1 + which[i]];
	crc_batch(&icrc, 1, tails, REPLY_TAIL, n, &out);
	for (unsigned i = 0; i < n; i++)
		replies->pending[which[i]].sum = sums[i];
}

void replies_checksum(struct responder_replies *replies)
{
	uint16_t which[ROCE_BATCH];
	unsigned n = 0;

	for (unsigned i = 0; i < replies->n; i++) {
		if (replies->pending[i].kind != REPLY_REPEATED)
			which[n++] = (uint16_t)i;
		if (n == ROCE_BATCH || (n && i + 1 == replies->n)) {
			checksum_some(replies, which, n);
			n = 0;
		}
	}
}

static void keep_value(struct replays *r, const uint8_t *tail)
{
	r->at[r->next].psn = be32_load(tail);
	r->at[r->next].old = be64_load(tail + AT_VALUE);
	r->at[r->next].used = true;
	r->next = (r->next + 1) % REPLAYS;
}

/* Puts a kept atomic's value into a reply; false: it is no longer kept. */
static bool recall_value(struct responder_replies *replies, unsigned number,
			 const struct replays *r)
{
	uint16_t which = (uint16_t)(number - 1);
	uint32_t psn = be32_load(replies->tail[number]);

	for (unsigned i = 0; i < REPLAYS; i++)
		if (r->at[i].used && r->at[i].psn == psn) {
			replies_set_value(replies, number, r->at[i].old);
			checksum_some(replies, &which, 1);
			return true;
		}
	return false;
}

static void put_frame(uint8_t *frame, const struct reply_frame *f,
		      const uint8_t *tail, uint32_t sum)
{
	/* What is copied behind a shorter head is overwritten. */
	memcpy(frame, f->t.frame, HEAD_MAX);
	if (f->t.body == f->t.psn + ACK_TAIL)
		memcpy(frame + f->t.psn, tail + REPLY_TAIL - ACK_TAIL,
		       ACK_TAIL);
	else
		memcpy(frame + f->t.psn, tail, REPLY_TAIL);
	sum = htole32(sum ^ f->sum);
	memcpy(frame + f->t.body, &sum, sizeof(sum));
}

static int send_reply(const struct pending_reply *pending, const uint8_t *tail,
		      struct snk *to)
{
	uint8_t *frame = snk_room(to, FRAME_MAX);

	if (!frame)
		return errno ? -errno : -EIO;
	put_frame(frame, pending->frame, tail, pending->sum);
	snk_done(to, (size_t)pending->frame->t.body + ROCE_ICRC_LEN,
		 pending->ts_ns);
	return 0;
}

void replies_drop(struct responder_replies *replies)
{
	replies->n = 0;
	if (replies->peers < REPLY_PEERS)
		return;
	replies->peers = 0;
	memset(replies->last, 0, sizeof(replies->last));
}

int replies_send(struct responder_replies *replies, struct replays *replays,
		 struct snk *to, uint64_t *again)
{
	int rc = 0;

	for (unsigned i = 0; i < replies->n && !rc; i++) {
		const struct pending_reply *pending = &replies->pending[i];

		if (pending->kind == REPLY_REPEATED) {
			if (!recall_value(replies, i + 1,
					  &replays[pending->table]))
				continue;
			++*again;
		}
		if (pending->kind == REPLY_ATOMIC)
			keep_value(&replays[pending->table],
				   replies->tail[1 + i]);
		rc = send_reply(pending, replies->tail[1 + i], to);
	}
	replies_drop(replies);
	return rc;
}

enum {
	HEADER_CACHE_BITS = 6,
	/* index_of() hashes the words in which headers differ: IP length and
	 * identification, UDP ports, queue pair. */
	AT_LEN = ROCE_AT_IP + NET_IP4_AT_LEN,
	AT_QP = ROCE_AT_BTH + ROCE_BTH_AT_RESERVED,
	AT_EXT = ROCE_AT_RETH,
};

_Static_assert(1 << HEADER_CACHE_BITS == HEADER_CACHE_MAX,
	       "as many entries as indices");

static unsigned index_of(const uint8_t *frame)
{
	uint32_t v = be32_load(frame + AT_LEN) * 0x9e3779b1u ^
		     be32_load(frame + ROCE_AT_UDP);

	v = (v ^ be32_load(frame + AT_QP)) * 0x9e3779b1u;
	return v >> (32 - HEADER_CACHE_BITS);
}

static inline bool is_same_header(const uint8_t *a, const uint8_t *b)
{
	uint64_t differs = be64_load(a + HEADER_CACHE_HEAD - 8) ^
			   be64_load(b + HEADER_CACHE_HEAD - 8);

	for (unsigned i = 0; i + 8 <= HEADER_CACHE_HEAD; i += 8)
		differs |= be64_load(a + i) ^ be64_load(b + i);
	return !differs;
}

static const struct header_entry *find_entry(const struct header_cache *c,
					     const struct pkt *pkt)
{
	const struct header_entry *entry;

	if (pkt->len < AT_EXT)
		return NULL;
	entry = &c->at[index_of(pkt->data)];
	return entry->tail && is_same_header(entry->head, pkt->data) &&
			       pkt->len >= HEADER_CACHE_HEAD +
						   (size_t)entry->tail +
						   ROCE_ICRC_LEN
		       ? entry
		       : NULL;
}

/* Decodes a packet with this entry's head. */
static void fill_decoded(struct roce *out, const struct header_entry *entry,
			 const uint8_t *frame)
{
	const uint8_t *ext = frame + AT_EXT;
	uint32_t ack_psn = be32_load(frame + HEADER_CACHE_HEAD);

	*out = entry->r;
	out->ack_req = ack_psn >> 31;
	out->psn = ack_psn & ROCE_PSN_MASK;
	out->va = be64_load(ext);
	out->rkey = be32_load(ext + ROCE_RETH_AT_RKEY);
	if (entry->r.opcode == ROCE_RC_FETCH_ADD) {
		out->swap_add = be64_load(ext + ROCE_ATOMIC_AT_SWAP);
		out->compare = be64_load(ext + ROCE_ATOMIC_AT_COMPARE);
		out->payload = frame + HEADER_CACHE_HEAD + entry->tail;
	} else {
		out->dma_len = be32_load(ext + ROCE_RETH_AT_LEN);
		out->payload = frame + ROCE_AT_PAYLOAD;
	}
}

/* Checks the iCRCs of all packets whose tails are as long as packet i's, and
 * clears their places in entries[]. */
static void check_icrcs(const struct pkt *pkts,
			const struct header_entry **entries, unsigned i,
			unsigned n, struct roce *out, struct responder_qp **qps)
{
	const enum crc_id icrc = CRC_SLOT0;
	const size_t tail = entries[i]->tail;
	const uint8_t *from[ROCE_BATCH];
	uint32_t sums[ROCE_BATCH], *to = sums;
	unsigned which[ROCE_BATCH], count = 0;

	for (unsigned j = i; j < n; j++) {
		from[count] = pkts[j].data + HEADER_CACHE_HEAD;
		which[count] = j;
		count += entries[j] && entries[j]->tail == tail;
	}
	crc_batch(&icrc, 1, from, tail, count, &to);
	for (unsigned j = 0; j < count; j++) {
		const struct header_entry *entry = entries[which[j]];
		bool right = (sums[j] ^ entry->sum) ==
			     __builtin_bswap32(be32_load(from[j] + tail));

		out[which[j]].icrc_ok = right;
		qps[which[j]] = right ? entry->q : NULL;
		entries[which[j]] = NULL;
	}
}

uint32_t header_cache_match(struct header_cache *c, const struct pkt *pkts,
			    unsigned n, struct roce *out,
			    struct responder_qp **qps)
{
	const struct header_entry *entries[ROCE_BATCH];
	uint32_t taken = 0;

	for (unsigned i = 0; i < n; i++) {
		entries[i] = find_entry(c, &pkts[i]);
		if (!entries[i])
			continue;
		fill_decoded(&out[i], entries[i], pkts[i].data);
		taken |= UINT32_C(1) << i;
	}
	for (unsigned i = 0; i < n; i++)
		if (entries[i])
			check_icrcs(pkts, entries, i, n, out, qps);
	return taken;
}

/* Whether fill_decoded() finds all fields, and no checksum but the iCRC covers
 * them. */
static bool is_common(const uint8_t *frame, const struct roce *r)
{
	bool add = r->opcode == ROCE_RC_FETCH_ADD && !r->pad;
	size_t ext = add ? ROCE_ATOMIC_LEN : ROCE_RETH_LEN;

	return r->version == 4 &&
	       (add || r->opcode == ROCE_RC_WRITE_ONLY ||
		r->opcode == ROCE_UC_WRITE_ONLY) &&
	       r->payload == frame + AT_EXT + ext &&
	       !be16_load(frame + ROCE_AT_UDP + NET_UDP_AT_SUM);
}

void header_cache_add(struct header_cache *c, const struct pkt *pkt,
		      const struct roce *r, struct responder_qp *q)
{
	struct header_entry *entry = &c->at[index_of(pkt->data)];
	const uint8_t *tail = pkt->data + HEADER_CACHE_HEAD;
	size_t len = (size_t)(r->payload + r->len + r->pad - tail);

	if (!is_common(pkt->data, r))
		return;
	memcpy(entry->head, pkt->data, HEADER_CACHE_HEAD);
	entry->tail = (uint16_t)len;
	entry->sum = __builtin_bswap32(be32_load(tail + len)) ^
		     crc(CRC_SLOT0, tail, len);
	entry->q = q;
	entry->r = *r;
}

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
	uint32_t guess = qpn - t->at[0].qpn; /* usually consecutive */

	if (guess < t->n && t->at[guess].qpn == qpn)
		return &p->s->qp[guess];
	for (unsigned i = 0; i < t->n; i++)
		if (t->at[i].qpn == qpn)
			return &p->s->qp[i];
	return NULL;
}

static bool is_address(const struct responder *p, const uint8_t *ip,
		       const struct roce *r, const uint8_t *expected)
{
	return r->version == p->s->t.version &&
	       !memcmp(ip, expected, r->version == 4 ? 4 : 16);
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
		ctr->bad_opcode++; /* RoCEv2, but an opcode we do not know */
}

/* Checks what does not depend on earlier packets. NULL: invalid, and counted.
 */
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
	else if (r->opcode == ROCE_RC_ACK || r->opcode == ROCE_RC_ATOMIC_ACK ||
		 r->opcode == ROCE_RC_CMP_SWAP ||
		 is_rc(r->opcode) != p->s->rc[q - p->s->qp])
		ctr->bad_opcode++;
	else if (!is_address(p, r->src, r, p->s->t.peer_ip))
		p->ctr.bad_peer++;
	else if (!is_address(p, r->dst, r, p->s->t.ip))
		ctr->foreign++;
	else
		return q;
	return NULL;
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
	/* Caches only the last valid one, as it may never come again. */
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

	/* Entries point at queue pairs that were made anew. */
	if (p->qp_version != p->s->qp_version)
		memset(&p->headers, 0, sizeof(p->headers));
	p->qp_version = p->s->qp_version;
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

/* As a literal at its places of use it makes the loop a fifth slower. */
static struct verdict no_reply(void)
{
	return (struct verdict){.answer = REPLY_NONE};
}

/* RC: sends a NAK, and the queue pair enters its error state. UC: no reply. */
static struct verdict refuse_request(struct responder *p,
				     struct responder_qp *q,
				     const struct roce *r, uint8_t syndrome)
{
	if (syndrome == ROCE_NAK_ACCESS)
		p->ctr.access++;
	else
		p->ctr.invalid++;
	if (!is_rc(r->opcode))
		return no_reply();
	q->error = true;
	return reply_with(p, q, q->expected, syndrome);
}

/* Counts a request whose PSN is not the expected one. If its R_Key is wrong,
 * too, it comes from the ticket of a past epoch. Empty requests use no R_Key.
 */
static void count_unexpected(struct responder *p, const struct responder_qp *q,
			     const struct roce *r, uint64_t *reason)
{
	bool empty = !is_atomic(r->opcode) && !r->len;

	++*(empty || r->rkey == q->rkey ? reason : &p->ctr.old_epoch);
}

/* An atomic's reply is repeated if its value is still kept: replies_send()
 * looks for the value, and counts the reply. */
static struct verdict handle_duplicate(struct responder *p,
				       struct responder_qp *q,
				       const struct roce *r)
{
	count_unexpected(p, q, r, &p->ctr.duplicate);
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
	uint8_t syndrome;

	if (is_immediate(r->opcode) && !*receives) {
		p->ctr.rnr++;
		return is_rc(r->opcode) ? reply_with(p, q, r->psn,
						     ROCE_RNR_NAK | RNR_TIMER)
					: no_reply();
	}
	syndrome = responder_qp_access(p, q, r);
	if (syndrome)
		return refuse_request(p, q, r, syndrome);
	if (is_immediate(r->opcode) && *receives != UINT64_MAX)
		--*receives;
	v = responder_qp_accept(q, r);
	q->expected = (r->psn + 1) & ROCE_PSN_MASK;
	q->nak_sent = false;
	return v;
}

/* RC: only the expected PSN is carried out (IBTA vol. 1, 9.7). */
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
	count_unexpected(p, q, r, &p->ctr.out_of_order);
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
	responder_qp_op(p, q, r, &p->ctr, op);
	p->nops++;
	if (v.answer == REPLY_ATOMIC)
		op->immediate = number;
	if (p->mem)
		prefetch_lines(p->mem[op->table] + op->offset, op->length);
}

int responder_exec(struct responder *p, const struct op *op, size_t n,
		   struct responder_replies *replies)
{
	struct transport *transport = local_transport(p->local);
	uint64_t old[PKT_BATCH];
	size_t done;
	int rc = 0;

	if (!replies)
		return n ? transport->exec(transport, op, n, 0) : 0;
	for (; n && !rc; op += done, n -= done) {
		/* Runs atomics until another kind of operation or table. */
		done = local_fetch(p->local, op, n, old);
		for (size_t i = 0; i < done; i++)
			if (op[i].immediate != REPLY_NO_NUMBER)
				replies_set_value(replies, op[i].immediate,
						  old[i]);
		if (done)
			continue;
		while (done < n && op[done].verb != OP_FETCH_ADD)
			done++;
		rc = transport->exec(transport, op, done, 0);
	}
	return rc;
}

/* Carries out the pending operations before index end. */
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
		ticket_set_address(&at, p->region, i, epoch);
		p->s->qp[i].rkey = at.rkey;
		p->s->qp[i].address = at.address;
	}
	p->s->epoch = epoch;
}

/* Every packet is checked and counted, even if the answers' sink fails. */
int responder_rx(struct responder *p, const struct pkt *pkts, size_t n)
{
	struct transport *transport = local_transport(p->local);
	unsigned prefetched = 0;
	int rc = 0;

	responder_set_epoch(p, transport->begin(transport));
	p->nops = p->carried_out = 0;
	for (size_t at = 0; at < n && !rc; at += ROCE_BATCH) {
		size_t left = n - at;
		unsigned part = left < ROCE_BATCH ? (unsigned)left : ROCE_BATCH;

		responder_screen(p, pkts + at, part, p->decoded, p->qps);
		for (unsigned i = 0; i < part; i++)
			if (p->qps[i])
				qp_rx(p, p->qps[i], &p->decoded[i],
				      pkts[at + i].ts_ns);
		/* Those of the last ROCE_BATCH: their lines have arrived. */
		if (p->mem)
			rc = exec_pending(p, prefetched);
		prefetched = p->nops;
	}
	if (!rc)
		rc = exec_pending(p, p->nops);
	transport->end(transport);
	if (rc)
		replies_drop(&p->replies);
	if (rc || !p->replies.n)
		return rc;
	/* After the writes: an ACK says that they are done. */
	replies_checksum(&p->replies);
	return replies_send(&p->replies, p->s->replays, p->answers,
			    &p->ctr.acks);
}

/* Ticket and region must agree, or offsets would hit another table. */
static int check_ticket(const struct region *r, const struct ticket *t,
			struct error *err)
{
	if (t->n != region_tables(r))
		return error_set(err, -EINVAL,
				 "the ticket has %u tables, the region %u",
				 t->n, region_tables(r));
	for (unsigned i = 0; i < t->n; i++)
		if (t->table[i].length != region_table(r, i)->length)
			return error_set(err, -EINVAL,
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
		p->s->t.at[i].heads = NULL; /* belongs to the caller's ticket */
		p->s->qp[i] = (struct responder_qp){
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

/* New first PSNs, further from the expected ones than any sender's window and
 * its probes reach (ROCE_OUT_WINDOW_MAX). */
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
		     struct error *err)
{
	int rc = check_ticket(p->region, t, err);

	if (!rc)
		make_qps(p, t);
	return rc;
}

int responder_open(struct responder **out, struct region *r,
		   const struct ticket *t, struct snk *answers,
		   const struct responder_options *o, struct error *err)
{
	struct responder *p;
	int rc = check_ticket(r, t, err);

	if (rc < 0)
		return rc;
	p = calloc(1, sizeof(*p));
	if (!p || !(p->s = calloc(1, sizeof(*p->s))))
		rc = error_set(err, -ENOMEM, "%s", strerror(ENOMEM));
	if (!rc)
		rc = local_open(&p->local, r, err);
	if (rc < 0) {
		responder_close(p);
		return rc;
	}
	p->region = r;
	p->mem = local_transport(p->local)->mem;
	p->answers = answers;
	p->o = *o;
	p->s->receives = o->receives;
	make_qps(p, t);
	*out = p;
	return 0;
}

bool responder_is_dead(const struct responder *p)
{
	for (unsigned i = 0; i < p->s->t.n; i++)
		if (p->s->qp[i].error)
			return true;
	return false;
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
