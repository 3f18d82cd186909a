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
#include "store/table.h"
#include "wire/roce.h"

enum {
	/* From the PSN on: an AETH, and perhaps an AtomicAckETH. */
	ANSWER_TAIL = 4 + ROCE_AETH_LEN + ROCE_ATOMIC_ACK_LEN,
	/* Requesters that packets at hand are from: most queue pairs have one.
	 * More get no answer, and ask again. */
	ANSWERS_TO = TABLE_MAX + 16,
	ANSWERS_NONE = PKT_BATCH, /* no answer's number */
	REPLAYS = 16,		  /* atomics whose answer is kept, as NICs do */
};

enum answer {
	ANSWER_NONE,
	ANSWER_PLAIN, /* an ACK or a NAK */
	ANSWER_OLD,   /* an atomic's: tells what was there before */
	ANSWER_AGAIN, /* the same once more, if it is still known */
};

/* What the last atomics of a queue pair found: the answer to one that comes
 * again. */
struct replays {
	unsigned next;
	struct {
		uint32_t psn;
		bool used;
		uint64_t old;
	} at[REPLAYS];
};

struct answer_frame {
	struct template t;
	uint32_t sum; /* the iCRC without what the tail adds to it */
};

/* Answers to one requester. */
struct answers_to {
	struct roce to;
	struct answer_frame ack, atomic;
};

struct answer_due {
	const struct answer_frame *frame;
	uint64_t ts_ns;
	uint32_t sum; /* of the tail */
	uint8_t kind, table;
};

/* Those that wait: one for each packet at hand. */
struct answers_due {
	unsigned n;
	struct answer_due due[PKT_BATCH];
	/* Behind CRC_HEADROOM bytes each. Shorter ones begin with zeros. */
	uint8_t tail[1 + PKT_BATCH][ANSWER_TAIL];
	unsigned made;
	struct answers_to to[ANSWERS_TO];
	struct answers_to *last[TABLE_MAX]; /* to[] of each table */
};

/* An answer that the queue pair qpn of a table is to send. aeth: syndrome and
 * MSN. */
struct answer_new {
	enum answer kind;
	unsigned table;
	uint32_t qpn, psn, aeth;
	uint64_t ts_ns;
};

/* To where r is from. Returns its number, or ANSWERS_NONE. There are no more of
 * them than PKT_BATCH before answers_send(). */
unsigned answers_add(struct answers_due *d, const struct answer_new *a,
		     const struct roce *r);

/* What an atomic found. */
void answers_tell(struct answers_due *d, unsigned number, uint64_t old);

/* Makes all sums, but of ANSWER_AGAIN: all is told. */
void answers_sum(struct answers_due *d);

/*
 * Sends all that wait, in their order. replays: of each table; they are kept
 * here, and given again. Returns 0 or -errno; *again: of ANSWER_AGAIN, those
 * that were known.
 */
int answers_send(struct answers_due *d, struct replays *replays, struct snk *to,
		 uint64_t *again);
void answers_drop(struct answers_due *d);

#endif
