/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdma/responder_private.h"

#include <errno.h>
#include <string.h>

enum {
	FRAME_MAX = 128, /* and what is copied at once */
	HEAD_MAX = NET_ETH_LEN + NET_IP6_LEN + NET_UDP_LEN + TEMPLATE_PSN,
	ACK_TAIL = 4 + ROCE_AETH_LEN,
	AT_AETH = 4, /* in a tail */
	AT_OLD = AT_AETH + ROCE_AETH_LEN,
};

_Static_assert((int)CRC_HEADROOM <= (int)ANSWER_TAIL, "headroom");

static int make(struct answer_frame *f, const struct roce *to)
{
	static const uint8_t room[CRC_HEADROOM + ANSWER_TAIL];
	const uint8_t *zeros = room + CRC_HEADROOM;
	int rc = template_make(&f->t, to);

	if (rc < 0)
		return rc;
	f->sum = crc_extend(CRC_SLOT0, f->t.sum, zeros,
			    (size_t)f->t.body - f->t.psn) ^
		 crc(CRC_SLOT0, zeros, ANSWER_TAIL);
	return 0;
}

static bool make_both(struct answers_to *a, uint32_t qpn, const struct roce *r)
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
	if (make(&a->ack, &to) < 0)
		return false;
	to.opcode = ROCE_RC_ATOMIC_ACK;
	return make(&a->atomic, &to) == 0;
}

static bool fits(const struct answers_to *a, uint32_t qpn, const struct roce *r)
{
	return a->to.version == r->version && a->to.src_port == r->src_port &&
	       a->to.dest_qp == qpn && !memcmp(a->to.eth_dst, r->eth_src, 6) &&
	       !memcmp(a->to.eth_src, r->eth_dst, 6) &&
	       !memcmp(a->to.dst, r->src, 16) && !memcmp(a->to.src, r->dst, 16);
}

static const struct answers_to *frames_to(struct answers_due *d,
					  const struct answer_new *n,
					  const struct roce *r)
{
	struct answers_to *a = d->last[n->table];

	if (a && fits(a, n->qpn, r))
		return a;
	if (d->made == ANSWERS_TO || !make_both(&d->to[d->made], n->qpn, r))
		return NULL;
	return d->last[n->table] = &d->to[d->made++];
}

unsigned answers_add(struct answers_due *d, const struct answer_new *a,
		     const struct roce *r)
{
	const struct answers_to *to = frames_to(d, a, r);
	struct answer_due *due = &d->due[d->n];
	uint8_t *tail;

	if (!to)
		return ANSWERS_NONE;
	due->kind = (uint8_t)a->kind;
	due->table = (uint8_t)a->table;
	due->ts_ns = a->ts_ns;
	due->frame = a->kind == ANSWER_PLAIN ? &to->ack : &to->atomic;
	tail = d->tail[d->n + 1];
	if (a->kind == ANSWER_PLAIN) {
		memset(tail, 0, ANSWER_TAIL - ACK_TAIL);
		tail += ANSWER_TAIL - ACK_TAIL;
	}
	be32_store(tail, a->psn);
	be32_store(tail + AT_AETH, a->aeth);
	return ++d->n;
}

void answers_tell(struct answers_due *d, unsigned number, uint64_t old)
{
	be64_store(d->tail[number] + AT_OLD, old);
}

/* n <= ROCE_BATCH */
static void sum_some(struct answers_due *d, const uint16_t *which, unsigned n)
{
	const enum crc_id icrc = CRC_SLOT0;
	const uint8_t *tails[ROCE_BATCH] = {NULL};
	uint32_t sums[ROCE_BATCH], *out = sums;

	for (unsigned i = 0; i < n; i++)
		tails[i] = d->tail[1 + which[i]];
	crc_batch(&icrc, 1, tails, ANSWER_TAIL, n, &out);
	for (unsigned i = 0; i < n; i++)
		d->due[which[i]].sum = sums[i];
}

void answers_sum(struct answers_due *d)
{
	uint16_t which[ROCE_BATCH];
	unsigned n = 0;

	for (unsigned i = 0; i < d->n; i++) {
		if (d->due[i].kind != ANSWER_AGAIN)
			which[n++] = (uint16_t)i;
		if (n == ROCE_BATCH || (n && i + 1 == d->n)) {
			sum_some(d, which, n);
			n = 0;
		}
	}
}

static void keep(struct replays *r, const uint8_t *tail)
{
	r->at[r->next].psn = be32_load(tail);
	r->at[r->next].old = be64_load(tail + AT_OLD);
	r->at[r->next].used = true;
	r->next = (r->next + 1) % REPLAYS;
}

/* False: it is too old to be known. */
static bool recall(struct answers_due *d, unsigned number,
		   const struct replays *r)
{
	uint16_t which = (uint16_t)(number - 1);
	uint32_t psn = be32_load(d->tail[number]);

	for (unsigned i = 0; i < REPLAYS; i++)
		if (r->at[i].used && r->at[i].psn == psn) {
			answers_tell(d, number, r->at[i].old);
			sum_some(d, &which, 1);
			return true;
		}
	return false;
}

static void put(uint8_t *frame, const struct answer_frame *f,
		const uint8_t *tail, uint32_t sum)
{
	memcpy(frame, f->t.frame, HEAD_MAX); /* or less: the tail is behind */
	if (f->t.body == f->t.psn + ACK_TAIL)
		memcpy(frame + f->t.psn, tail + ANSWER_TAIL - ACK_TAIL,
		       ACK_TAIL);
	else
		memcpy(frame + f->t.psn, tail, ANSWER_TAIL);
	sum = htole32(sum ^ f->sum);
	memcpy(frame + f->t.body, &sum, sizeof(sum));
}

static int send_one(const struct answer_due *due, const uint8_t *tail,
		    struct snk *to)
{
	uint8_t *frame = snk_room(to, FRAME_MAX);

	if (!frame)
		return errno ? -errno : -EIO;
	put(frame, due->frame, tail, due->sum);
	snk_done(to, (size_t)due->frame->t.body + ROCE_ICRC_LEN, due->ts_ns);
	return 0;
}

void answers_drop(struct answers_due *d)
{
	d->n = 0;
	if (d->made < ANSWERS_TO)
		return;
	d->made = 0;
	memset(d->last, 0, sizeof(d->last));
}

int answers_send(struct answers_due *d, struct replays *replays, struct snk *to,
		 uint64_t *again)
{
	int rc = 0;

	for (unsigned i = 0; i < d->n && !rc; i++) {
		const struct answer_due *due = &d->due[i];

		if (due->kind == ANSWER_AGAIN) {
			if (!recall(d, i + 1, &replays[due->table]))
				continue;
			++*again;
		}
		if (due->kind == ANSWER_OLD)
			keep(&replays[due->table], d->tail[1 + i]);
		rc = send_one(due, d->tail[1 + i], to);
	}
	answers_drop(d);
	return rc;
}
