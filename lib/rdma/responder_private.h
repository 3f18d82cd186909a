/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * responder_private.h - what the responder's own files share. responder.c
 * judges a packet by itself, then by those before it; responder_team.c has both
 * done by several cores.
 */
#ifndef RDMA_RESPONDER_PRIVATE_H
#define RDMA_RESPONDER_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "rdma/local.h"
#include "packet/pkt.h"
#include "rdma/responder.h"
#include "rdma/roce_template.h"
#include "region/table.h"
#include "net/roce.h"

struct queue_pair;

/*
 * responder_answers.c: frames that answer requests.
 *
 * They wait for each other and leave in their order, together: a sum of bytes
 * that were just stored waits for them, sums of many frames wait once. What an
 * atomic's answer tells may come later than what others do. What
 * changes from one to the next is the end of what the iCRC covers, and the iCRC
 * is linear: it is that of zeros there, and the CRC of what is there instead.
 */
enum {
	/* From the PSN on: an AETH, and perhaps an AtomicAckETH. */
	ANSWER_TAIL = 4 + ROCE_AETH_LEN + ROCE_ATOMIC_ACK_LEN,
	/* Requesters that packets at hand are from: most queue pairs have one.
	 * More get no answer, and ask again. */
	ANSWERS_TO = TABLE_MAX + 16,
	ANSWERS_NONE = 0, /* no answer's number: they begin at 1 */
	REPLAYS = 16,	  /* atomics whose answer is kept, as NICs do */
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

/*
 * responder_known.c: requests that begin as one did that was found good.
 *
 * Of the common requests of one requester to one queue pair, of one length, all
 * that comes before the PSN is the same, and with it all that a packet is
 * judged by on its own, but for the iCRC. That one is linear: of two frames
 * that begin alike, it differs by as much as the CRCs of what follows do.
 * Common: IPv4 without options, no VLAN tag, no UDP checksum, WRITE Only (RC or
 * UC) or FETCH_ADD.
 */
enum {
	KNOWN_HEAD = ROCE_AT_ACK_REQ, /* bytes in front of AckReq and the PSN */
	KNOWN_MAX = 64,
};

struct known {
	uint8_t head[KNOWN_HEAD];
	uint16_t tail; /* bytes from there to the iCRC; 0: nothing is known */
	uint32_t sum;  /* the iCRC without what the tail adds to it */
	struct queue_pair *q;
	struct roce r;
};

/* The last ones, by what tells them from each other. */
struct knowns {
	struct known at[KNOWN_MAX];
};

/*
 * Takes those of n <= ROCE_BATCH packets that are known: out is what
 * roce_decode() makes of them, whose the queue pair, or NULL if the iCRC
 * is wrong. Returns a bit for each.
 */
uint32_t known_take(struct knowns *k, const struct pkt *pkts, unsigned n,
		    struct roce *out, struct queue_pair **whose);

/* A packet for q with which nothing is wrong; it is kept if it is common. */
void known_learn(struct knowns *k, const struct pkt *pkt, const struct roce *r,
		 struct queue_pair *q);

struct queue_pair {
	const struct table *table;
	uint32_t qpn, rkey;
	uint64_t address;
	uint32_t expected, first; /* PSNs */
	bool error, nak_sent;
	bool refused;	       /* a request, and none was carried out since */
	bool told;	       /* what responder_refused() has told of that */
	uint32_t refused_rkey; /* that it had */
	uint32_t other_rkey;   /* the last that was not its own, and of which */
	uint64_t other_epoch;  /* epoch it is; 0: of none that went by */
};

/* What packets leave for those that come after them. */
struct responder_state {
	struct ticket t;    /* addresses; R_Keys of the epoch */
	bool rc[TABLE_MAX]; /* not UC */
	uint64_t made;	    /* how often the queue pairs were */
	uint64_t epoch;
	uint64_t receives;
	struct queue_pair qp[TABLE_MAX];
	struct replays replays[TABLE_MAX];
};

/* Of several cores each has one, with one state. */
struct responder {
	struct region *region;
	struct local_transport *local;
	struct snk *answers;
	struct responder_options o;
	struct responder_state *s;
	struct responder_ledger ctr;
	/* The first sender that is not the ticket's peer; version 0: none. */
	struct {
		uint8_t version, ip[16];
		bool told;
	} stranger;
	uint64_t made; /* that known is about */
	struct knowns known;
	/* What waits, of one core. */
	bool asks; /* for the lines of operations: prefetch.h */
	unsigned nops, carried_out;
	struct op op[PKT_BATCH];
	uint64_t operand[PKT_BATCH][2]; /* of those that compare and swap */
	/* The packets at hand; those for a queue pair of ours have one. */
	struct roce seen[ROCE_BATCH];
	struct queue_pair *whose[ROCE_BATCH];
	struct answers_due due;
};

static inline bool is_rc(uint8_t opcode)
{
	return opcode < ROCE_UC_WRITE_ONLY;
}

static inline bool is_atomic(uint8_t opcode)
{
	return opcode == ROCE_RC_FETCH_ADD || opcode == ROCE_RC_CMP_SWAP;
}

static inline bool is_immediate(uint8_t opcode)
{
	return opcode == ROCE_RC_WRITE_ONLY_IMM ||
	       opcode == ROCE_UC_WRITE_ONLY_IMM;
}

static inline bool is_answer(uint8_t opcode)
{
	return opcode == ROCE_RC_ACK || opcode == ROCE_RC_ATOMIC_ACK;
}

static inline unsigned pair_table(const struct responder *p,
				  const struct queue_pair *q)
{
	return (unsigned)(q - p->s->qp);
}

/* What becomes of a request. */
struct verdict {
	bool good;	/* it is to be carried out */
	uint8_t answer; /* enum answer */
	uint32_t psn, aeth;
};

/* As a device's queue pairs do, verbs.h: max_dest_rd_atomic is 0 where
 * nobody needs atomics. */
static inline bool takes_atomics(const struct table *t)
{
	return t->kind == TABLE_KEYINC || t->kind == TABLE_KEYWRITE;
}

/* 0 if a request may be carried out by what it asks for, else the syndrome that
 * says why not. */
static inline __attribute__((always_inline)) uint8_t
pair_access(const struct responder *p, const struct queue_pair *q,
	    const struct roce *r)
{
	uint64_t len = is_atomic(r->opcode) ? 8 : r->len;
	uint64_t offset = r->va - q->address;

	if (is_atomic(r->opcode)) {
		if (r->pad || (r->va & 7) || !takes_atomics(q->table))
			return ROCE_NAK_INVALID;
	} else if (r->dma_len != r->len || r->pad != (-r->len & 3) ||
		   r->len > p->s->t.mtu) {
		return ROCE_NAK_INVALID;
	}
	if (!len)
		return 0; /* touches nothing: not even a key is needed */
	if (r->rkey != q->rkey || r->va < q->address ||
	    offset > q->table->length || q->table->length - offset < len)
		return ROCE_NAK_ACCESS;
	return 0;
}

/* Requests carried out before that PSN, of RC: each has one (the MSN). */
static inline uint32_t pair_msn(const struct queue_pair *q, uint32_t psn)
{
	return (psn - q->first) & ROCE_PSN_MASK;
}

/* The verdict of a good one. */
static inline struct verdict pair_good(const struct queue_pair *q,
				       const struct roce *r)
{
	bool acked = is_rc(r->opcode) && r->ack_req;

	return (struct verdict){
		.good = true,
		.answer = is_atomic(r->opcode) ? ANSWER_OLD
			  : acked	       ? ANSWER_PLAIN
					       : ANSWER_NONE,
		.psn = r->psn,
		.aeth = (uint32_t)ROCE_ACK << 24 | pair_msn(q, r->psn + 1),
	};
}

/* The next packet of a queue pair: what is wrong with it is counted. */
struct verdict pair_judge(struct responder *p, struct queue_pair *q,
			  const struct roce *r);

/* Counts a good one, and says its operation, whose length may be 0. operand:
 * room for what it compares and swaps. */
static inline __attribute__((always_inline)) void
pair_op(const struct responder *p, const struct queue_pair *q,
	const struct roce *r, struct responder_ledger *ctr, uint64_t operand[2],
	struct op *op)
{
	bool imm = is_immediate(r->opcode);

	ctr->executed++;
	op->table = (uint16_t)pair_table(p, q);
	op->immediate = r->imm;
	if (!is_atomic(r->opcode)) {
		ctr->writes++;
		ctr->bytes += r->len;
		ctr->immediates += imm;
		ctr->acks += is_rc(r->opcode) && r->ack_req;
		op->verb = imm ? OP_WRITE_IMM : OP_WRITE;
		op->offset = r->len ? r->va - q->address : 0;
		op->length = (uint32_t)r->len;
		op->data = r->payload;
		return;
	}
	ctr->atomics++;
	ctr->bytes += 8;
	ctr->acks++;
	op->offset = r->va - q->address;
	op->length = 8;
	if (r->opcode == ROCE_RC_FETCH_ADD) {
		op->verb = OP_FETCH_ADD;
		op->add = r->swap_add;
	} else {
		op->verb = OP_CMP_SWAP;
		operand[0] = r->compare;
		operand[1] = r->swap_add;
		op->data = (const uint8_t *)operand;
	}
}

/* An answer that is due, for a sink. Returns its number among d's, or
 * ANSWERS_NONE. */
unsigned pair_answer(const struct responder *p, const struct queue_pair *q,
		     const struct roce *r, const struct verdict *v,
		     struct answers_due *d, uint64_t ts_ns);

/*
 * Carries out n operations that were judged. d: answers are told what atomics
 * find, by an operation's immediate, which is a number or ANSWERS_NONE; or
 * NULL. 0 or -errno.
 */
int pair_exec(struct responder *p, const struct op *op, size_t n,
	      struct answers_due *d);

/*
 * responder.c, for responder_team.c. look: what can be said of n <= ROCE_BATCH
 * packets without knowing what came before; they are decoded to seen, and those
 * for a queue pair have it in whose. An epoch has R_Keys of its own.
 */
void responder_look(struct responder *p, const struct pkt *pkts, unsigned n,
		    struct roce *seen, struct queue_pair **whose);
void responder_follow(struct responder *p, uint64_t epoch);

/* Whether somebody is to be told of a refusal, a dead queue pair, or another
 * epoch. */
bool responder_has_news(const struct responder *p);

#endif
