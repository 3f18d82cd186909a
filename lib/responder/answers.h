/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * answers.h - private to this room: frames that answer requests.
 *
 * They wait for each other and leave in their order, together: a sum of bytes
 * that were just stored waits for them, sums of many frames wait once. What an
 * atomic's answer tells may come later than what others do. What
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
	const struct answer_frame *frame[PKT_BATCH];
	uint64_t ts_ns[PKT_BATCH];
	uint32_t sum[PKT_BATCH]; /* of the tail */
	/* Behind CRC_HEADROOM bytes each. Shorter ones begin with zeros. */
	uint8_t tail[1 + PKT_BATCH][ANSWER_TAIL];
	unsigned whole; /* of which all is known, but the sum: */
	uint16_t which[PKT_BATCH];
};

/* Answers to where r is from. Returns 0 or -errno. */
int answers_make(struct answers *a, uint32_t dest_qp, const struct roce *r);
bool answers_fit(const struct answers *a, const struct roce *r);

/* aeth: syndrome and MSN. old: an atomic's old value, or NULL. a stays as it is
 * until answers_send(), which has been called if PKT_BATCH wait. */
void answers_add(struct answers_due *d, const struct answers *a, uint32_t psn,
		 uint32_t aeth, const uint64_t *old, uint64_t ts_ns);

/* An atomic's, whose old value is to come. Returns its number among those that
 * wait. */
unsigned answers_promise(struct answers_due *d, const struct answers *a,
			 uint32_t psn, uint32_t aeth, uint64_t ts_ns);
void answers_tell(struct answers_due *d, unsigned number, uint64_t old);
uint32_t answers_psn(const struct answers_due *d, unsigned number);
uint64_t answers_old(const struct answers_due *d, unsigned number);

/* The sums of those of which all else is known. */
void answers_sum(struct answers_due *d);
/* All that wait; of each all is known. Returns 0 or -errno. */
int answers_send(struct answers_due *d, struct snk *to);
void answers_drop(struct answers_due *d);

#endif
