/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdma/responder_private.h"

#include <errno.h>
#include <string.h>

enum {
	FRAME_MAX = 128, /* and what is copied at once */
	HEAD_MAX = NET_ETH_LEN + NET_IP6_LEN + NET_UDP_LEN + TEMPLATE_PSN,
	ACK_TAIL = 4 + ROCE_AETH_LEN,
	AT_AETH = 4, /* in a tail */
	AT_VALUE = AT_AETH + ROCE_AETH_LEN,
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

static bool make_frames(struct reply_peer *a, uint32_t qpn,
			const struct roce *r)
{
	struct roce to = {
		.version = r->version,
		.src_port = r->src_port,
		.ttl = 64,
		.opcode = ROCE_RC_ACK,
		.migreq = true,
		.pkey = 0xffff,
		.dest_qp = qpn, /* the translator's has the same number */
	};

	memcpy(to.eth_dst, r->eth_src, 6);
	memcpy(to.eth_src, r->eth_dst, 6);
	memcpy(to.src, r->dst, 16);
	memcpy(to.dst, r->src, 16);
	a->to = to;
	if (make_frame(&a->ack, &to) < 0)
		return false;
	to.opcode = ROCE_RC_ATOMIC_ACK;
	return make_frame(&a->atomic, &to) == 0;
}

static bool is_from_peer(const struct reply_peer *a, uint32_t qpn,
			 const struct roce *r)
{
	return a->to.version == r->version && a->to.src_port == r->src_port &&
	       a->to.dest_qp == qpn && !memcmp(a->to.eth_dst, r->eth_src, 6) &&
	       !memcmp(a->to.eth_src, r->eth_dst, 6) &&
	       !memcmp(a->to.dst, r->src, 16) && !memcmp(a->to.src, r->dst, 16);
}

static const struct reply_peer *find_peer(struct responder_replies *d,
					  const struct reply_request *n,
					  const struct roce *r)
{
	struct reply_peer *a = d->last[n->table];

	if (a && is_from_peer(a, n->qpn, r))
		return a;
	if (d->made == REPLY_PEERS || !make_frames(&d->to[d->made], n->qpn, r))
		return NULL;
	return d->last[n->table] = &d->to[d->made++];
}

unsigned replies_add(struct responder_replies *d, const struct reply_request *a,
		     const struct roce *r)
{
	const struct reply_peer *to = find_peer(d, a, r);
	struct pending_reply *pending = &d->pending[d->n];
	uint8_t *tail;

	if (!to)
		return REPLY_NO_NUMBER;
	pending->kind = (uint8_t)a->kind;
	pending->table = (uint8_t)a->table;
	pending->ts_ns = a->ts_ns;
	pending->frame = a->kind == REPLY_ACK ? &to->ack : &to->atomic;
	tail = d->tail[d->n + 1];
	if (a->kind == REPLY_ACK) {
		memset(tail, 0, REPLY_TAIL - ACK_TAIL);
		tail += REPLY_TAIL - ACK_TAIL;
	}
	be32_store(tail, a->psn);
	be32_store(tail + AT_AETH, a->aeth);
	return ++d->n;
}

void replies_set_value(struct responder_replies *d, unsigned number,
		       uint64_t old)
{
	be64_store(d->tail[number] + AT_VALUE, old);
}

/* n <= ROCE_BATCH */
static void checksum_some(struct responder_replies *d, const uint16_t *which,
			  unsigned n)
{
	const enum crc_id icrc = CRC_SLOT0;
	const uint8_t *tails[ROCE_BATCH] = {NULL};
	uint32_t sums[ROCE_BATCH], *out = sums;

	for (unsigned i = 0; i < n; i++)
		tails[i] = d->tail[1 + which[i]];
	crc_batch(&icrc, 1, tails, REPLY_TAIL, n, &out);
	for (unsigned i = 0; i < n; i++)
		d->pending[which[i]].sum = sums[i];
}

void replies_checksum(struct responder_replies *d)
{
	uint16_t which[ROCE_BATCH];
	unsigned n = 0;

	for (unsigned i = 0; i < d->n; i++) {
		if (d->pending[i].kind != REPLY_REPEATED)
			which[n++] = (uint16_t)i;
		if (n == ROCE_BATCH || (n && i + 1 == d->n)) {
			checksum_some(d, which, n);
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

/* False: it is too old to be known. */
static bool recall_value(struct responder_replies *d, unsigned number,
			 const struct replays *r)
{
	uint16_t which = (uint16_t)(number - 1);
	uint32_t psn = be32_load(d->tail[number]);

	for (unsigned i = 0; i < REPLAYS; i++)
		if (r->at[i].used && r->at[i].psn == psn) {
			replies_set_value(d, number, r->at[i].old);
			checksum_some(d, &which, 1);
			return true;
		}
	return false;
}

static void put_frame(uint8_t *frame, const struct reply_frame *f,
		      const uint8_t *tail, uint32_t sum)
{
	memcpy(frame, f->t.frame, HEAD_MAX); /* or less: the tail is behind */
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

void replies_drop(struct responder_replies *d)
{
	d->n = 0;
	if (d->made < REPLY_PEERS)
		return;
	d->made = 0;
	memset(d->last, 0, sizeof(d->last));
}

int replies_send(struct responder_replies *d, struct replays *replays,
		 struct snk *to, uint64_t *again)
{
	int rc = 0;

	for (unsigned i = 0; i < d->n && !rc; i++) {
		const struct pending_reply *pending = &d->pending[i];

		if (pending->kind == REPLY_REPEATED) {
			if (!recall_value(d, i + 1, &replays[pending->table]))
				continue;
			++*again;
		}
		if (pending->kind == REPLY_ATOMIC)
			keep_value(&replays[pending->table], d->tail[1 + i]);
		rc = send_reply(pending, d->tail[1 + i], to);
	}
	replies_drop(d);
	return rc;
}
