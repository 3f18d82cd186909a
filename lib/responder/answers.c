/* SPDX-License-Identifier: BSD-2-Clause */
#include "responder/answers.h"

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

int answers_make(struct answers *a, uint32_t dest_qp, const struct roce *r)
{
	struct roce to = {
		.version = r->version,
		.src_port = r->src_port,
		.ttl = 64,
		.opcode = ROCE_RC_ACK,
		.migreq = true,
		.pkey = 0xffff,
		.dest_qp = dest_qp,
	};
	int rc;

	memcpy(to.eth_dst, r->eth_src, 6);
	memcpy(to.eth_src, r->eth_dst, 6);
	memcpy(to.src, r->dst, 16);
	memcpy(to.dst, r->src, 16);
	a->to.version = 0;
	if ((rc = make(&a->ack, &to)) < 0)
		return rc;
	to.opcode = ROCE_RC_ATOMIC_ACK;
	if ((rc = make(&a->atomic, &to)) < 0)
		return rc;
	a->to = to;
	return 0;
}

bool answers_fit(const struct answers *a, const struct roce *r)
{
	return a->to.version == r->version && a->to.src_port == r->src_port &&
	       !memcmp(a->to.eth_dst, r->eth_src, 6) &&
	       !memcmp(a->to.eth_src, r->eth_dst, 6) &&
	       !memcmp(a->to.dst, r->src, 16) && !memcmp(a->to.src, r->dst, 16);
}

/* The next one's place. */
static uint8_t *place(struct answers_due *d, const struct answer_frame *f,
		      uint64_t ts_ns)
{
	d->frame[d->n] = f;
	d->ts_ns[d->n] = ts_ns;
	return d->tail[1 + d->n++];
}

static void is_whole(struct answers_due *d, unsigned number)
{
	d->which[d->whole++] = (uint16_t)number;
}

unsigned answers_promise(struct answers_due *d, const struct answers *a,
			 uint32_t psn, uint32_t aeth, uint64_t ts_ns)
{
	uint8_t *tail = place(d, &a->atomic, ts_ns);

	be32_store(tail, psn);
	be32_store(tail + AT_AETH, aeth);
	return d->n - 1;
}

void answers_tell(struct answers_due *d, unsigned number, uint64_t old)
{
	be64_store(d->tail[1 + number] + AT_OLD, old);
	is_whole(d, number);
}

uint32_t answers_psn(const struct answers_due *d, unsigned number)
{
	return be32_load(d->tail[1 + number]);
}

uint64_t answers_old(const struct answers_due *d, unsigned number)
{
	return be64_load(d->tail[1 + number] + AT_OLD);
}

void answers_add(struct answers_due *d, const struct answers *a, uint32_t psn,
		 uint32_t aeth, const uint64_t *old, uint64_t ts_ns)
{
	uint8_t *tail;

	if (old) {
		answers_tell(d, answers_promise(d, a, psn, aeth, ts_ns), *old);
		return;
	}
	tail = place(d, &a->ack, ts_ns);
	memset(tail, 0, ANSWER_TAIL - ACK_TAIL);
	be32_store(tail + ANSWER_TAIL - ACK_TAIL, psn);
	be32_store(tail + ANSWER_TAIL - ROCE_AETH_LEN, aeth);
	is_whole(d, d->n - 1);
}

/* n <= ROCE_BATCH */
static void sum_some(struct answers_due *d, const uint16_t *which, unsigned n)
{
	const enum crc_id icrc = CRC_SLOT0;
	const uint8_t *tails[ROCE_BATCH];
	uint32_t sums[ROCE_BATCH], *out = sums;

	for (unsigned i = 0; i < n; i++)
		tails[i] = d->tail[1 + which[i]];
	crc_batch(&icrc, 1, tails, ANSWER_TAIL, n, &out);
	for (unsigned i = 0; i < n; i++)
		d->sum[which[i]] = sums[i];
}

void answers_sum(struct answers_due *d)
{
	for (unsigned at = 0; at < d->whole; at += ROCE_BATCH) {
		unsigned left = d->whole - at;

		sum_some(d, d->which + at,
			 left < ROCE_BATCH ? left : ROCE_BATCH);
	}
	d->whole = 0;
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

void answers_drop(struct answers_due *d)
{
	d->n = d->whole = 0;
}

int answers_send(struct answers_due *d, struct snk *to)
{
	const unsigned n = d->n;
	uint8_t *frame;

	answers_sum(d);
	d->n = 0;
	for (unsigned i = 0; i < n; i++) {
		frame = snk_room(to, FRAME_MAX);
		if (!frame)
			return errno ? -errno : -EIO;
		put(frame, d->frame[i], d->tail[1 + i], d->sum[i]);
		snk_done(to, (size_t)d->frame[i]->t.body + ROCE_ICRC_LEN,
			 d->ts_ns[i]);
	}
	return 0;
}
