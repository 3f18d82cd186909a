/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * answers.h - private to this room: frames that answer requests.
 *
 * They wait for each other and leave in their order, together: a sum of bytes
 * that were just stored waits for them, sums of many frames wait once. What
 * changes from one to the next is the end of what the iCRC covers, and the iCRC
 * is linear: it is that of zeros there, and the CRC of what is there instead.
 */
#ifndef RESPONDER_ANSWERS_H
#define RESPONDER_ANSWERS_H

#include <stdbool.h>

#include "packet/pkt.h"
#include "roce/template.h"
#include "wire/roce_batch.h"

enum {
	/* From the PSN on: an AETH, and perhaps an AtomicAckETH. */
	ANSWER_TAIL = 4 + ROCE_AETH_LEN + ROCE_ATOMIC_ACK_LEN,
};

struct answer_frame {
	struct template t;
	uint32_t sum; /* the iCRC without what the tail adds to it */
};

/* Answers to one requester: most queue pairs have no other. */
struct answers {
	struct roce to; /* where they go; version 0: not made yet */
	struct answer_frame ack, atomic;
};

/* Those that wait: one for each packet at hand. */
struct answers_due {
	unsigned n;
	const struct answer_frame *frame[ROCE_BATCH];
	uint64_t ts_ns[ROCE_BATCH];
	/* Behind CRC_HEADROOM bytes each. Shorter ones begin with zeros. */
	uint8_t tail[1 + ROCE_BATCH][ANSWER_TAIL];
};

/* Answers to where r is from. Returns 0 or -errno. */
int answers_make(struct answers *a, uint32_t dest_qp, const struct roce *r);
bool answers_fit(const struct answers *a, const struct roce *r);

/* aeth: syndrome and MSN. old: an atomic's old value, or NULL. frame stays as
 * it is until answers_send(), which has been called if ROCE_BATCH wait. */
void answers_add(struct answers_due *d, const struct answers *a, uint32_t psn,
		 uint32_t aeth, const uint64_t *old, uint64_t ts_ns);
int answers_send(struct answers_due *d, struct snk *to);

#endif
