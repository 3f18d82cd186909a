/* SPDX-License-Identifier: BSD-2-Clause */
#include "responder/answers.h"

#include <errno.h>
#include <string.h>

enum {
	FRAME_MAX = 128, /* and what is copied at once */
	HEAD_MAX = NET_ETH_LEN + NET_IP6_LEN + NET_UDP_LEN + TEMPLATE_PSN,
	ACK_TAIL = 4 + ROCE_AETH_LEN,
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

void answers_add(struct answers_due *d, const struct answers *a, uint32_t psn,
		 uint32_t aeth, const uint64_t *old, uint64_t ts_ns)
{
	uint8_t *tail = d->tail[1 + d->n];

	if (old) {
		be32_store(tail, psn);
		be32_store(tail + 4, aeth);
		be64_store(tail + 4 + ROCE_AETH_LEN, *old);
	} else {
		memset(tail, 0, ANSWER_TAIL - ACK_TAIL);
		be32_store(tail + ANSWER_TAIL - ACK_TAIL, psn);
		be32_store(tail + ANSWER_TAIL - ROCE_AETH_LEN, aeth);
	}
	d->frame[d->n] = old ? &a->atomic : &a->ack;
	d->ts_ns[d->n++] = ts_ns;
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

int answers_send(struct answers_due *d, struct snk *to)
{
	const enum crc_id icrc = CRC_SLOT0;
	const uint8_t *tails[ROCE_BATCH];
	uint32_t sums[ROCE_BATCH], *out = sums;
	const unsigned n = d->n;
	uint8_t *frame;

	if (!n)
		return 0;
	for (unsigned i = 0; i < n; i++)
		tails[i] = d->tail[1 + i];
	crc_batch(&icrc, 1, tails, ANSWER_TAIL, n, &out);
	d->n = 0;
	for (unsigned i = 0; i < n; i++) {
		frame = snk_room(to, FRAME_MAX);
		if (!frame)
			return errno ? -errno : -EIO;
		put(frame, d->frame[i], tails[i], sums[i]);
		snk_done(to, (size_t)d->frame[i]->t.body + ROCE_ICRC_LEN,
			 d->ts_ns[i]);
	}
	return 0;
}
